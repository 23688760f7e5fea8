//! One client connection: reads requests, answers calls, writes responses.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;

use bytes::BytesMut;
use rowhouse_format::exception::Exception;
use rowhouse_format::rpc::{self, Request, ServerConnection, ServerEvent};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc;

use crate::answer;
use crate::call::{Caller, Client};
use crate::cap::Admission;
use crate::limits::{
    ANSWERS_BYTES_MAX, BUFFER_KEEP_BYTES, HANDSHAKE_WAIT, INPUT_BYTES_MAX, INPUT_BYTES_MIN,
    INPUT_KEEP_BYTES, LONG_CALLS_MAX, SHORT_CALL_WAIT,
};
use crate::server::Context;

/// Serves a connection until either side closes it.
pub(crate) async fn serve(stream: TcpStream, peer: SocketAddr, context: Context) {
    let mut connection = Connection::new(stream, peer, context);
    match connection.run().await {
        Ok(()) => tracing::debug!(%peer, "connection ended"),
        Err(error) => tracing::info!(%peer, %error, "connection lost"),
    }
}

struct Connection {
    stream: TcpStream,
    peer: SocketAddr,
    context: Arc<Context>,
    protocol: ServerConnection,
    input: BytesMut,
    output: BytesMut,
    /// Answers of long calls arrive on this channel.
    answers: mpsc::Receiver<BytesMut>,
    answer: mpsc::Sender<BytesMut>,
    long_calls: usize,
    connected: bool,
    caller: Arc<Caller>,
}

/// The next step of a connection after it has processed its input.
#[derive(Clone, Copy, PartialEq)]
enum Next {
    /// Write the answers, then process more input: it may contain further complete calls.
    Write,
    Read,
    Close,
}

impl Connection {
    fn new(stream: TcpStream, peer: SocketAddr, context: Context) -> Self {
        let (answer, answers) = mpsc::channel(LONG_CALLS_MAX);
        let protocol = ServerConnection::new(peer.to_string(), context.cluster.id.clone())
            .with_frame_len_max(context.cluster.frame_len_max);
        Self {
            stream,
            peer,
            context: Arc::new(context),
            protocol,
            input: BytesMut::new(),
            output: BytesMut::new(),
            answers,
            answer,
            long_calls: 0,
            connected: false,
            caller: Arc::new(Caller { address: peer.to_string(), user: String::new() }),
        }
    }

    async fn run(&mut self) -> std::io::Result<()> {
        let handshake = tokio::time::sleep(HANDSHAKE_WAIT);
        tokio::pin!(handshake);
        let mut stop = self.context.server.stopping();
        let stopped = stop.wait_for(|is_stopping| *is_stopping);
        tokio::pin!(stopped);
        let mut next = Next::Read;
        while next == Next::Read && !self.context.server.is_stopping() {
            self.make_room();
            tokio::select! {
                biased;
                Some(answer) = self.answers.recv(), if self.long_calls > 0 => {
                    self.take_answer(&answer);
                }
                read = self.stream.read_buf(&mut self.input), if self.long_calls < LONG_CALLS_MAX => {
                    if read? == 0 {
                        self.report_unfinished();
                        break;
                    }
                }
                _ = &mut stopped => break,
                () = &mut handshake, if !self.connected => {
                    tracing::warn!(peer = %self.peer, "no connection header in time, closed");
                    break;
                }
            }
            // An answer frees a slot for another long call, whose request may already be in the
            // input.
            next = self.process_input();
            self.write().await?;
            while next == Next::Write {
                tokio::task::yield_now().await;
                next = self.process_input();
                self.write().await?;
            }
        }
        self.finish().await
    }

    /// Makes room for the next read, which takes no more than there is room for.
    fn make_room(&mut self) {
        let missing = self.protocol.missing_bytes(&self.input);
        self.input.reserve(missing.clamp(INPUT_BYTES_MIN, INPUT_BYTES_MAX));
        if self.input.is_empty() && self.input.capacity() > INPUT_KEEP_BYTES {
            self.input = BytesMut::with_capacity(INPUT_BYTES_MIN);
        }
    }

    /// Answers all complete requests in the input. Stops early when enough output has collected or
    /// this connection has run for [`SHORT_CALL_WAIT`], so that other connections get a turn.
    fn process_input(&mut self) -> Next {
        let began = Instant::now();
        let mut now = began;
        while self.long_calls < LONG_CALLS_MAX {
            if self.output.len() > ANSWERS_BYTES_MAX || now - began > SHORT_CALL_WAIT {
                return Next::Write;
            }
            match self.protocol.next(&mut self.input, &mut self.output) {
                None => break,
                Some(ServerEvent::Connected(head)) => {
                    self.connected = true;
                    let (address, user) = (self.peer.to_string(), head.user.unwrap_or_default());
                    self.caller = Arc::new(Caller { address, user });
                    tracing::debug!(
                        peer = %self.peer,
                        service = head.service.name(),
                        client = head.client_version,
                        "connected"
                    );
                }
                Some(ServerEvent::Request(request)) => {
                    self.take_request(request, now);
                    now = Instant::now();
                }
                Some(ServerEvent::Close(why)) => {
                    if let Some(why) = why {
                        tracing::warn!(peer = %self.peer, why, "the client was refused, closed");
                    }
                    return Next::Close;
                }
            }
        }
        Next::Read
    }

    fn take_request(&mut self, request: Request, arrived: Instant) {
        let client = Client {
            codec: self.protocol.codec(),
            release: self.protocol.client_release(),
            caller: Arc::clone(&self.caller),
        };
        if let Some(cap) = &self.context.server.cap {
            match cap.admit(&request, arrived) {
                Admission::Now => {}
                Admission::At(at) => return self.answer_later(client, request, arrived, at),
                Admission::Refused => {
                    let full = Exception::call_queue_full();
                    return rpc::encode_exception(&mut self.output, request.call_id, &full);
                }
            }
        }
        let output = &mut self.output;
        let Some(call) = answer::answer(&self.context, client, request, arrived, output) else {
            return;
        };
        self.long_calls += 1;
        let (server, answers) = (Arc::clone(&self.context.server), self.answer.clone());
        tokio::spawn(async move {
            // Sending fails only if the connection has ended.
            let _ = answers.send(server.workers.run(call).await).await;
        });
    }

    /// Answers a call once the limit of the region server permits it.
    fn answer_later(&mut self, client: Client, request: Request, arrived: Instant, at: Instant) {
        self.long_calls += 1;
        let (context, answers) = (Arc::clone(&self.context), self.answer.clone());
        tokio::spawn(async move {
            tokio::time::sleep_until(at.into()).await;
            if let Some(cap) = &context.server.cap {
                cap.end_wait();
            }
            let mut output = BytesMut::new();
            if let Some(call) = answer::answer(&context, client, request, arrived, &mut output) {
                output = context.server.workers.run(call).await;
            }
            // Sending fails only if the connection has ended.
            let _ = answers.send(output).await;
        });
    }

    fn take_answer(&mut self, answer: &BytesMut) {
        self.long_calls -= 1;
        self.output.extend_from_slice(answer);
    }

    async fn write(&mut self) -> std::io::Result<()> {
        if !self.output.is_empty() {
            self.stream.write_all(&self.output).await?;
            self.output.clear();
            if self.output.capacity() > BUFFER_KEEP_BYTES {
                self.output = BytesMut::new();
            }
        }
        Ok(())
    }

    /// Waits for the calls still running, writes their answers and closes the stream.
    async fn finish(&mut self) -> std::io::Result<()> {
        while self.long_calls > 0 {
            let Some(answer) = self.answers.recv().await else { break };
            self.take_answer(&answer);
        }
        self.write().await?;
        self.stream.shutdown().await
    }

    fn report_unfinished(&self) {
        if !self.input.is_empty() {
            let bytes = self.input.len();
            tracing::info!(peer = %self.peer, bytes, "the client left in the middle of a frame");
        }
    }
}
