//! One client connection: reads requests, answers calls, writes responses.

mod faulted;
mod output;

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Instant;

use bytes::{BufMut, BytesMut};
use rowhouse_format::exception::Exception;
use rowhouse_format::rpc::{
    self, ConnectionHead, Request, SaslReply, ServerConnection, ServerEvent,
};
use rowhouse_format::token::TokenIdentifier;
use rowhouse_model::FaultEffect;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::{JoinError, JoinSet};

use self::output::Output;
use crate::access::{
    CertificateUser, Claim, Identity, Login, Opened, Proof, Protocol, Stream, decide, now_ms,
};
use crate::answer::Answer;
use crate::call::{Caller, Client, Share};
use crate::cap::Admission;
use crate::context::Context;
use crate::dispatch;
use crate::limits::{
    BUFFER_KEEP_BYTES, BUFFER_KEEP_WAIT, CLOSED_LOOK, FAILED_LOGIN_WAIT, HANDSHAKE_WAIT,
    INPUT_BYTES_MAX, INPUT_BYTES_MIN, LONG_CALLS_MAX, PACE_BYTES, PACE_WAIT, SHORT_CALL_WAIT,
};
use crate::memory::{CALL_BYTES, ConnectionMemory, Reserved, SMALL_REQUEST_BYTES, TURN_BYTES};

/// Serves a connection until either side closes it.
pub(crate) async fn serve(socket: TcpStream, peer: SocketAddr, context: Context) {
    let mut stop = context.server.stopping();
    let opened = tokio::select! {
        opened = context.cluster.access.open(socket, peer, Protocol::Rpc) => opened,
        _ = stop.wait_for(|is_stopping| *is_stopping) => return,
    };
    let opened = match opened {
        Ok(opened) => opened,
        Err(error) => return tracing::info!(%peer, %error, "connection not opened"),
    };
    let mut connection = Connection::new(opened, peer, context);
    match connection.run().await {
        Ok(()) => tracing::debug!(%peer, "connection ended"),
        Err(error) => tracing::info!(%peer, %error, "connection lost"),
    }
}

struct Connection {
    stream: Stream,
    peer: SocketAddr,
    context: Arc<Context>,
    share: Arc<Share>,
    protocol: ServerConnection,
    input: BytesMut,
    /// What the request at the start of the input has reserved, also for the answer.
    request_memory: Option<Reserved>,
    /// Waits for that, at most once at a time.
    admission: JoinSet<Reserved>,
    output: Output,
    /// Long calls, which end with the connection unless they run.
    calls: JoinSet<Answer>,
    connected: bool,
    certificate: Option<Result<CertificateUser, String>>,
    login: Option<Login>,
    token: Option<TokenIdentifier>,
    /// The answer to a failed authentication, which waits.
    refusal: Option<SaslReply>,
    /// Ends with the token's life, if the client has one.
    token_end: Option<TokenEnd>,
    /// When a client that has not sent a connection header is late.
    handshake_end: tokio::time::Instant,
    /// The client was denied, and logged.
    is_denied: bool,
    caller: Arc<Caller>,
    /// A fault on demand cuts the connection.
    is_cut: bool,
}

/// Returns why a token is not accepted any more, once it is not.
type TokenEnd = Pin<Box<dyn Future<Output = String> + Send + Sync>>;

/// A connection's next step after it has processed the input.
#[derive(Clone, Copy, PartialEq)]
enum Next {
    /// Write the answers, then process more input: it may contain further complete calls.
    Write,
    Read,
    Close,
}

/// What a connection waited for.
enum Event {
    Answered(Result<Answer, JoinError>),
    /// Memory for the request at the start of the input.
    Admitted(Result<Reserved, JoinError>),
    Read(usize),
    /// Time has passed in which the client should have sent something.
    Pace,
    /// The server stops.
    End,
}

impl Connection {
    fn new(opened: Opened, peer: SocketAddr, context: Context) -> Self {
        let Opened { stream, refusal, certificate } = opened;
        let users = &context.cluster.access.users;
        let protocol = ServerConnection::new(peer.to_string(), context.cluster.id.clone())
            .with_frame_len_max(context.cluster.frame_len_max)
            .with_authentication(users.authentication(certificate.is_some()));
        let protocol = match refusal {
            Some(why) => protocol.refusing(why),
            None => protocol,
        };
        let memory = ConnectionMemory::new(&context.cluster.call_memory);
        Self {
            stream,
            peer,
            context: Arc::new(context),
            share: Arc::new(Share::new(memory)),
            protocol,
            input: BytesMut::new(),
            request_memory: None,
            admission: JoinSet::new(),
            output: Output::default(),
            calls: JoinSet::new(),
            connected: false,
            certificate,
            login: None,
            token: None,
            refusal: None,
            token_end: None,
            handshake_end: tokio::time::Instant::now() + HANDSHAKE_WAIT,
            is_denied: false,
            caller: Arc::new(Caller { address: peer.to_string(), identity: Identity::default() }),
            is_cut: false,
        }
    }

    async fn run(&mut self) -> std::io::Result<()> {
        let mut stop = self.context.server.stopping();
        let stopped = stop.wait_for(|is_stopping| *is_stopping);
        tokio::pin!(stopped);
        // For a request whose memory is reserved, while it is read.
        let mut pace: Option<Pace> = None;
        let mut next = Next::Read;
        while next == Next::Read && !self.context.server.is_stopping() {
            let missing = self.protocol.missing_bytes(&self.input);
            let has_slot = self.calls.len() < LONG_CALLS_MAX;
            let needs_memory = has_slot && missing > 0 && !self.has_memory(missing);
            let waits = needs_memory || has_slot && !self.admission.is_empty();
            let reads = has_slot && !waits;
            if reads {
                self.make_room(missing);
            }
            if !reads || missing == 0 || self.request_memory.is_none() {
                pace = None;
            } else if pace.is_none() {
                pace = Some(Pace::default());
            }
            let room = missing.max(INPUT_BYTES_MIN);
            let event = tokio::select! {
                biased;
                // First: a client that always sends would hold it up.
                why = ended(&mut self.token_end) => {
                    self.end_calls();
                    return Err(token_ended(&self.caller, &why));
                }
                Some(answer) = self.calls.join_next(), if !self.calls.is_empty() => {
                    Event::Answered(answer)
                }
                Some(reserved) = self.admission.join_next(), if waits => Event::Admitted(reserved),
                event = from_client(&mut self.stream, &mut self.input, reads.then_some(room)) => event?,
                () = async { tokio::time::sleep(BUFFER_KEEP_WAIT).await }, if self.output.has_spare() => {
                    self.output.free_spare();
                    continue;
                }
                () = async { pace.as_ref().expect("a pace").passed().await }, if pace.is_some() => {
                    Event::Pace
                }
                _ = &mut stopped => Event::End,
                error = header_late(self.handshake_end), if !self.connected => return Err(error),
            };
            match event {
                Event::Answered(answer) => self.take_answer(answer),
                Event::Admitted(Ok(reserved)) => self.request_memory = Some(reserved),
                Event::Admitted(Err(error)) => {
                    return Err(std::io::Error::other(error));
                }
                Event::Read(0) => {
                    self.report_unfinished();
                    self.share.close();
                    break;
                }
                Event::Read(bytes) => {
                    if let Some(pace) = &mut pace {
                        pace.note(bytes);
                    }
                }
                Event::Pace => {
                    let is_slow = pace.as_mut().is_some_and(Pace::is_slow);
                    if is_slow && self.share.memory.process().waiting() > 0 {
                        let bytes = self.input.len();
                        tracing::warn!(peer = %self.peer, bytes, "a request comes too slowly while others wait for memory, closed");
                        self.share.close();
                        break;
                    }
                    continue;
                }
                Event::End => break,
            }
            // An answer frees a slot for another long call, whose request may already be in the
            // input.
            next = self.answer(&mut pace).await?;
            while next == Next::Write {
                tokio::task::yield_now().await;
                next = self.answer(&mut pace).await?;
            }
        }
        // The connection's calls may wait for what a request in the input holds.
        self.admission.abort_all();
        self.request_memory = None;
        self.input = BytesMut::new();
        self.finish().await
    }

    /// Returns true if there is memory for the request at the start of the input, which lacks so
    /// many bytes, and for the answer. Requests memory if it has to be waited for.
    fn has_memory(&mut self, missing: usize) -> bool {
        if self.request_memory.is_some() {
            return true;
        }
        let request_bytes = if missing > 0 { self.input.len() + missing } else { 0 };
        // A short one is read without.
        if missing > 0 && request_bytes <= INPUT_BYTES_MIN {
            return true;
        }
        if !self.admission.is_empty() {
            return false;
        }
        let memory = self.share.memory.process();
        if request_bytes == 0 {
            self.request_memory = memory.try_small(TURN_BYTES);
            if self.request_memory.is_some() {
                return true;
            }
        }
        // In a separate task: a place in the queue that nobody looks after would hold up others.
        self.admission.spawn(admission(Arc::clone(&self.share), request_bytes as u64));
        false
    }

    /// Makes room for the next read. Memory for a request that lacks more than
    /// [`INPUT_BYTES_MIN`] is reserved.
    fn make_room(&mut self, missing: usize) {
        if self.input.is_empty() && self.input.capacity() > BUFFER_KEEP_BYTES {
            self.input = BytesMut::new();
        }
        self.input.reserve(missing.clamp(INPUT_BYTES_MIN, INPUT_BYTES_MAX));
    }

    /// Answers the complete requests in the input, if there is memory for that, and writes the
    /// answers. Where the client lets them wait, the request pace begins again.
    async fn answer(&mut self, pace: &mut Option<Pace>) -> std::io::Result<Next> {
        // No answer waits for the memory of others.
        let mut waited = self.write().await?;
        let mut next = Next::Read;
        let is_complete = !self.input.is_empty() && self.protocol.missing_bytes(&self.input) == 0;
        if is_complete && self.calls.len() < LONG_CALLS_MAX && self.has_memory(0) {
            let turn = self.request_memory.as_mut().map(|memory| memory.split_off(TURN_BYTES));
            self.output.reserve(turn);
            next = self.process_input();
        }
        waited |= self.write().await?;
        if self.is_cut {
            return Err(std::io::Error::new(ErrorKind::ConnectionAborted, "cut on demand"));
        }
        if waited {
            *pace = None;
        }
        Ok(next)
    }

    /// Answers all complete requests in the input. Stops early when enough output has collected or
    /// this connection has run for [`SHORT_CALL_WAIT`], so that other connections get a turn.
    fn process_input(&mut self) -> Next {
        let began = Instant::now();
        let mut now = began;
        while self.calls.len() < LONG_CALLS_MAX && !self.is_cut {
            if self.output.is_full() || now - began > SHORT_CALL_WAIT {
                return Next::Write;
            }
            match self.protocol.next(&mut self.input, self.output.small()) {
                None => {
                    // Memory for a request that could not be read.
                    self.request_memory = None;
                    break;
                }
                Some(ServerEvent::Sasl(message)) => {
                    if self.authenticate(&message) == Next::Close {
                        return Next::Close;
                    }
                }
                Some(ServerEvent::Connected(head)) => self.admit(&head),
                Some(ServerEvent::Request(request)) => {
                    self.take_request(request, now);
                    now = Instant::now();
                }
                Some(ServerEvent::Close(why)) => {
                    if let Some(why) = why.filter(|_| !self.is_denied) {
                        tracing::warn!(peer = %self.peer, why, "the client was refused, closed");
                    }
                    return Next::Close;
                }
            }
        }
        Next::Read
    }

    /// Answers the client's message of SASL. A refusal waits until the connection ends.
    fn authenticate(&mut self, message: &[u8]) -> Next {
        let users = &self.context.cluster.access.users;
        let mut login = match self.login.take().map_or_else(|| users.begin_login(), Ok) {
            Ok(login) => login,
            Err(error) => {
                tracing::error!(peer = %self.peer, %error, "no authentication is possible");
                return Next::Close;
            }
        };
        let step = users.step(&mut login, message, self.peer);
        match &step.reply {
            SaslReply::Refused(_) => {
                self.refusal = Some(step.reply);
                return Next::Close;
            }
            SaslReply::Message(_) => self.login = Some(login),
            SaslReply::Accepted(_) => self.token = step.token,
        }
        self.protocol.reply_sasl(&step.reply, self.output.small());
        Next::Read
    }

    /// Decides which user the connection acts for. A client that is refused learns it by the next
    /// call.
    fn admit(&mut self, head: &ConnectionHead) {
        let users = &self.context.cluster.access.users;
        let claim = Claim { user: head.user.as_deref(), real_user: head.real_user.as_deref() };
        let certificate = self.certificate.as_ref();
        let decided = decide(users.sources, certificate, self.token.as_ref(), claim, now_ms());
        let identity = match decided {
            Ok(identity) => identity,
            Err(why) => {
                users.log_failure(self.peer, claim.user, &why);
                self.is_denied = true;
                return self.protocol.deny(Exception::access_denied(why));
            }
        };
        self.connected = true;
        if let Proof::Token(token) = &identity.proof {
            let token = token.clone();
            let cluster = Arc::clone(&self.context.cluster);
            self.token_end =
                Some(Box::pin(async move { cluster.access.users.ended(&token).await.to_string() }));
        }
        tracing::debug!(
            peer = %self.peer,
            service = head.service.name(),
            client = head.client_version,
            user = identity.user,
            proof = identity.proof.method(),
            "connected"
        );
        self.caller = Arc::new(Caller { address: self.peer.to_string(), identity });
    }

    fn take_request(&mut self, request: Request, arrived: Instant) {
        let client = Client {
            codec: self.protocol.codec(),
            release: self.protocol.client_release(),
            caller: Arc::clone(&self.caller),
            share: Arc::clone(&self.share),
        };
        let memory = self.request_memory.take().filter(|memory| memory.bytes() > 0);
        if memory.is_some() {
            // The remaining input must not hold the request's buffer.
            self.input = BytesMut::from(&self.input[..]);
        }
        if let Some(effect) = faulted::fault_of(&self.context, &request, arrived) {
            return self.answer_faulted(effect, client, request, memory, arrived);
        }
        if let Some(cap) = &self.context.server.cap {
            match cap.admit(&request, arrived) {
                Admission::Now => {}
                Admission::At(at) => {
                    return self.answer_later(client, request, memory, arrived, at);
                }
                Admission::Refused => {
                    let full = Exception::call_queue_full();
                    return rpc::encode_exception(self.output.small(), request.call_id, &full);
                }
            }
        }
        let output = self.output.small();
        let Some(call) = dispatch::answer(&self.context, client, request, memory, arrived, output)
        else {
            return;
        };
        let server = Arc::clone(&self.context.server);
        self.calls.spawn(async move { call.finish(&server.workers).await });
    }

    /// Answers a call once the region server's limit permits it.
    fn answer_later(
        &mut self,
        client: Client,
        request: Request,
        memory: Option<Reserved>,
        arrived: Instant,
        at: Instant,
    ) {
        let context = Arc::clone(&self.context);
        self.calls.spawn(async move {
            if let Some(cap) = &context.server.cap {
                cap.wait(at).await;
            }
            answered(&context, client, request, memory, arrived).await
        });
    }

    /// Lets a call fail on demand.
    fn answer_faulted(
        &mut self,
        effect: FaultEffect,
        client: Client,
        request: Request,
        memory: Option<Reserved>,
        arrived: Instant,
    ) {
        if faulted::cuts_before(effect) {
            self.is_cut = true;
            return;
        }
        if faulted::refuse(&self.context, effect, request.call_id, self.output.small()) {
            return;
        }
        let context = Arc::clone(&self.context);
        if effect == FaultEffect::LostScanner {
            faulted::lose_scanner(&context, &request);
        }
        self.calls.spawn(async move {
            let share = Arc::clone(&client.share);
            let answer = answered(&context, client, request, memory, arrived);
            faulted::fail(effect, &share, answer).await
        });
    }

    fn take_answer(&mut self, answer: Result<Answer, JoinError>) {
        match answer {
            Ok(answer) if answer.is_cut => self.is_cut = true,
            Ok(answer) => self.output.push(answer),
            // Calls are not cancelled while the connection runs, and a panic in one is answered.
            Err(error) => tracing::error!(peer = %self.peer, %error, "a call ended without answer"),
        }
    }

    /// Writes all answers. Where the client takes them too slowly while others wait for memory, the
    /// connection ends. Returns true if it had to wait for the client.
    async fn write(&mut self) -> std::io::Result<bool> {
        let mut pace: Option<Pace> = None;
        while let Some(bytes) = self.output.first() {
            let written = match self.stream.try_write(bytes) {
                Ok(written) => written,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    self.output.shrink();
                    self.writable(pace.get_or_insert_default()).await?;
                    continue;
                }
                Err(error) => return Err(error),
            };
            self.output.advance(written);
            if let Some(pace) = &mut pace {
                pace.note(written);
            }
            // Other connections get a turn while a client takes a large answer.
            tokio::task::coop::consume_budget().await;
        }
        while let Err(error) = self.stream.try_flush() {
            if error.kind() != ErrorKind::WouldBlock {
                return Err(error);
            }
            self.writable(pace.get_or_insert_default()).await?;
        }
        Ok(pace.is_some())
    }

    /// Waits until the client takes more bytes. The wait ends with the token's life, too.
    async fn writable(&mut self, pace: &mut Pace) -> std::io::Result<()> {
        loop {
            tokio::select! {
                biased;
                why = ended(&mut self.token_end) => {
                    self.end_calls();
                    return Err(token_ended(&self.caller, &why));
                }
                error = header_late(self.handshake_end), if !self.connected => return Err(error),
                writable = self.stream.writable() => return writable,
                () = pace.passed() => {}
            }
            if pace.is_slow() && self.share.memory.process().waiting() > 0 {
                let message = "the client takes answers too slowly while others wait for memory";
                return Err(std::io::Error::new(ErrorKind::TimedOut, message));
            }
        }
    }

    /// Waits for the calls still running, writes their answers and closes the stream.
    async fn finish(&mut self) -> std::io::Result<()> {
        loop {
            let answer = tokio::select! {
                biased;
                why = ended(&mut self.token_end) => {
                    self.end_calls();
                    return Err(token_ended(&self.caller, &why));
                }
                answer = self.calls.join_next() => answer,
            };
            let Some(answer) = answer else { break };
            self.take_answer(answer);
            self.write().await?;
        }
        if let Some(refusal) = self.refusal.take() {
            // Passwords are not tried fast.
            let mut stop = self.context.server.stopping();
            let stopped = stop.wait_for(|is_stopping| *is_stopping);
            let _ = tokio::time::timeout(FAILED_LOGIN_WAIT, stopped).await;
            self.protocol.reply_sasl(&refusal, self.output.small());
        }
        self.write().await?;
        self.stream.shutdown().await
    }

    /// Ends the calls without answers: those that wait do not begin.
    fn end_calls(&mut self) {
        self.calls.abort_all();
        self.share.close();
    }

    fn report_unfinished(&self) {
        if !self.input.is_empty() {
            let bytes = self.input.len();
            tracing::info!(peer = %self.peer, bytes, "the client left in the middle of a frame");
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.share.close();
    }
}

/// Returns why a client's token is not accepted any more, once it is not. Without a token it never
/// returns.
async fn ended(token_end: &mut Option<TokenEnd>) -> String {
    match token_end {
        Some(end) => end.await,
        None => std::future::pending().await,
    }
}

fn token_ended(caller: &Caller, why: &str) -> std::io::Error {
    let user = &caller.identity.user;
    let message = format!("the token was ended: user={user}, why={why}");
    std::io::Error::new(ErrorKind::PermissionDenied, message)
}

/// Returns the error for a client that has not sent a connection header, at the end of the time.
async fn header_late(end: tokio::time::Instant) -> std::io::Error {
    tokio::time::sleep_until(end).await;
    std::io::Error::new(ErrorKind::TimedOut, "no connection header in time")
}

/// Answers a call that no connection in HBase's protocol has sent, as one that did: with faults on
/// demand, and within the region server's limits. `turn` is reserved for a small answer.
#[cfg(any(feature = "rest", feature = "thrift"))]
pub(crate) async fn answer_call(
    context: &Arc<Context>,
    client: Client,
    request: Request,
    memory: Option<Reserved>,
    turn: Option<Reserved>,
) -> Answer {
    let arrived = Instant::now();
    let effect = faulted::fault_of(context, &request, arrived);
    if effect.is_some_and(faulted::cuts_before) {
        return Answer { is_cut: true, ..Answer::default() };
    }
    let mut bytes = BytesMut::new();
    if effect.is_some_and(|effect| faulted::refuse(context, effect, request.call_id, &mut bytes)) {
        return Answer::small(bytes, turn);
    }
    if effect == Some(FaultEffect::LostScanner) {
        faulted::lose_scanner(context, &request);
    }
    if let Some(effect) = effect {
        let share = Arc::clone(&client.share);
        let answer = answered_with(context, client, request, memory, turn, arrived);
        return faulted::fail(effect, &share, answer).await;
    }
    if let Some(cap) = &context.server.cap {
        match cap.admit(&request, arrived) {
            Admission::Now => {}
            Admission::At(at) => cap.wait(at).await,
            Admission::Refused => {
                let full = Exception::call_queue_full();
                rpc::encode_exception(&mut bytes, request.call_id, &full);
                return Answer::small(bytes, turn);
            }
        }
    }
    answered_with(context, client, request, memory, turn, arrived).await
}

/// Answers a call in a task of its own.
async fn answered(
    context: &Arc<Context>,
    client: Client,
    request: Request,
    memory: Option<Reserved>,
    arrived: Instant,
) -> Answer {
    // What waits here would wait while it holds the request's memory.
    let turn = context.cluster.call_memory.try_small(TURN_BYTES);
    answered_with(context, client, request, memory, turn, arrived).await
}

/// As [`answered`], with what is reserved for a small answer.
async fn answered_with(
    context: &Arc<Context>,
    client: Client,
    request: Request,
    memory: Option<Reserved>,
    memory_of_answer: Option<Reserved>,
    arrived: Instant,
) -> Answer {
    let mut bytes = BytesMut::new();
    match dispatch::answer(context, client, request, memory, arrived, &mut bytes) {
        Some(call) => {
            drop(memory_of_answer);
            call.finish(&context.server.workers).await
        }
        None => Answer::small(bytes, memory_of_answer),
    }
}

/// Waits for the memory that a request with so many bytes needs; 0 if the whole request is in the
/// input. What answers it is reserved at once, for a large request with what the call needs, so
/// that what holds memory for a request waits for no more.
async fn admission(share: Arc<Share>, bytes: u64) -> Reserved {
    if bytes <= SMALL_REQUEST_BYTES {
        share.memory.process().small(bytes + TURN_BYTES).await
    } else {
        // The request's cells are in memory as they were sent and as they are written.
        share.memory.reserve(2 * bytes + CALL_BYTES + TURN_BYTES).await
    }
}

/// Reads at most so many bytes, or else looks, after a moment, whether the client has closed the
/// connection, whatever it has sent before.
async fn from_client(
    stream: &mut Stream,
    input: &mut BytesMut,
    max: Option<usize>,
) -> std::io::Result<Event> {
    if let Some(max) = max {
        return match stream.read_buf(&mut input.limit(max)).await {
            // With TLS, a client that was killed: without it, that would be a read of 0 bytes, too.
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(Event::Read(0)),
            read => read.map(Event::Read),
        };
    }
    tokio::time::sleep(CLOSED_LOOK).await;
    Ok(if stream.is_read_closed().await { Event::Read(0) } else { Event::Pace })
}

/// How fast a request comes whose memory is reserved.
pub(crate) struct Pace {
    bytes: usize,
    until: tokio::time::Instant,
}

impl Default for Pace {
    fn default() -> Self {
        Self { bytes: 0, until: tokio::time::Instant::now() + PACE_WAIT }
    }
}

impl Pace {
    pub(crate) fn note(&mut self, bytes: usize) {
        self.bytes += bytes;
    }

    /// Waits until the pace can be judged.
    pub(crate) async fn passed(&self) {
        tokio::time::sleep_until(self.until).await;
    }

    /// Returns true if it is time for another judgement and too little has come since the last one.
    pub(crate) fn is_slow(&mut self) -> bool {
        if tokio::time::Instant::now() < self.until {
            return false;
        }
        let bytes = std::mem::take(self).bytes;
        bytes < PACE_BYTES
    }
}
