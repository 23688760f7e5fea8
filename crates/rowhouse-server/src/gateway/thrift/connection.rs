//! A connection: whole messages in, answers out, one call at a time.

use std::io::{Error, ErrorKind, Result};
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

use bytes::{Buf, BufMut, Bytes, BytesMut};
use rowhouse_format::thrift::{
    ApplicationKind, Args, Carriage, Extent, Failure, MESSAGE_BYTES_MAX, MessageHead, MessageKind,
    Method, Reader, Writer, write_answer,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::{Semaphore, watch};
use tokio::time::Instant;

use super::call::{Caller, Returned, reads_on, takes_large_arguments};
use super::scanners::Scanners;
use crate::access::Stream;
use crate::connection::Pace;
use crate::gateway::Session;
use crate::limits::{
    BUFFER_KEEP_BYTES, CLOSED_LOOK, INPUT_BYTES_MAX, INPUT_BYTES_MIN, THRIFT_FIRST_WAIT,
};
use crate::memory::{CALL_BYTES, Reserved, SMALL_REQUEST_BYTES, TURN_BYTES};

/// The bytes before a message in a frame.
const LENGTH_BYTES: usize = 4;

pub(super) struct Connection<'a> {
    pub(super) stream: Stream,
    pub(super) peer: SocketAddr,
    pub(super) session: &'a Session,
    pub(super) scanners: &'a Scanners,
    /// Kilobytes of messages that have come in part and wait for memory.
    pub(super) waiting: &'a Semaphore,
    pub(super) stop: watch::Receiver<bool>,
    /// When a client that has sent nothing is late.
    first_end: Instant,
    input: Input,
    output: BytesMut,
    /// The connection's open scanners.
    scanner_count: Arc<AtomicUsize>,
}

/// The part of a message that has come.
#[derive(Default)]
struct Input {
    bytes: BytesMut,
    carriage: Option<Carriage>,
    extent: Option<Extent>,
    /// For the message, once it is not small.
    memory: Option<Reserved>,
    /// How much was requested for that.
    memory_bytes: u64,
}

/// A whole message.
struct Message {
    bytes: Bytes,
    carriage: Carriage,
    memory: Option<Reserved>,
}

impl<'a> Connection<'a> {
    pub(super) fn new(
        stream: Stream,
        peer: SocketAddr,
        session: &'a Session,
        scanners: &'a Scanners,
        waiting: &'a Semaphore,
        stop: watch::Receiver<bool>,
    ) -> Self {
        Self {
            stream,
            peer,
            session,
            scanners,
            waiting,
            stop,
            first_end: Instant::now() + THRIFT_FIRST_WAIT,
            input: Input::default(),
            output: BytesMut::new(),
            scanner_count: Arc::default(),
        }
    }

    /// Answers calls until the client ends the connection, or the server stops.
    pub(super) async fn run(&mut self) -> Result<()> {
        while let Some(read) = self.message().await? {
            self.answer(read).await?;
            self.write().await?;
            // A client that sends calls without reading answers lets others have a turn.
            tokio::task::consume_budget().await;
        }
        self.stream.shutdown().await
    }

    /// Returns the next message; `None` when the client or the server ends the connection.
    async fn message(&mut self) -> Result<Option<Message>> {
        let mut pace = Pace::default();
        loop {
            let missing = match self.input.next() {
                Ok(Progress::Whole(message)) => return Ok(Some(message)),
                Ok(Progress::Missing(missing)) => missing,
                Err(error) => return self.refuse_input(&error).await,
            };
            if self.reserve(missing).await? {
                // The client could not send while the connection waited.
                pace = Pace::default();
            }
            let room = missing.clamp(INPUT_BYTES_MIN, INPUT_BYTES_MAX);
            self.input.bytes.reserve(room);
            let is_paced = self.input.memory.is_some();
            let read = tokio::select! {
                read = self.stream.read_buf(&mut self.input.bytes) => read?,
                _ = self.stop.wait_for(|is_stopping| *is_stopping) => return Ok(None),
                () = tokio::time::sleep_until(self.first_end), if self.input.carriage.is_none() => {
                    return Err(Error::new(ErrorKind::TimedOut, "no message in time"));
                }
                () = pace.passed(), if is_paced => {
                    if pace.is_slow() && self.session.share().memory.process().waiting() > 0 {
                        let message = "a message comes too slowly while others wait for memory";
                        return Err(Error::new(ErrorKind::TimedOut, message));
                    }
                    continue;
                }
            };
            pace.note(read);
            if read == 0 {
                if !self.input.bytes.is_empty() {
                    tracing::info!(peer = %self.peer, bytes = self.input.bytes.len(), "the client left within a message");
                }
                return Ok(None);
            }
        }
    }

    /// Reserves memory for the message, of which at least so many bytes are missing. One whose
    /// length is not known gets more as it comes. Returns true if some was reserved.
    async fn reserve(&mut self, missing: usize) -> Result<bool> {
        let Input { bytes, extent, memory, memory_bytes, .. } = &mut self.input;
        let values = extent.as_ref().map_or(0, Extent::value_bytes);
        let required = bytes.len() + missing + values;
        if required <= INPUT_BYTES_MIN || required as u64 <= *memory_bytes {
            return Ok(false);
        }
        let share = &self.session.share().memory;
        // Twice: as values, and as the cells that are sent on. Growing doubles it.
        let target = required.next_power_of_two() as u64;
        let total = |bytes: u64| 2 * bytes + CALL_BYTES + TURN_BYTES;
        let grown = match memory {
            None => {
                *memory = Some(share.reserve(total(target)).await);
                true
            }
            Some(memory) => share.grow(memory, 2 * (target - *memory_bytes)),
        };
        if !grown {
            // A message that waits for memory holds none, and is counted apart.
            let units = (bytes.len() >> 10) as u32 + 1;
            let full = |_| Error::new(ErrorKind::TimedOut, "too many messages wait for memory");
            let _waiting = self.waiting.try_acquire_many(units).map_err(full)?;
            *memory = None;
            *memory = Some(share.reserve(total(target)).await);
        }
        // A connection that has all that one may have gets no more, and goes on alone.
        let has_all = memory.as_ref().is_some_and(|memory| memory.bytes() < total(target));
        *memory_bytes = if has_all { u64::MAX } else { target };
        Ok(true)
    }

    /// Answers a call.
    async fn answer(&mut self, message: Message) -> Result<()> {
        let Message { bytes, carriage, memory } = message;
        let len = bytes.len();
        let mut reader = Reader::new(bytes, carriage.protocol);
        let head = reader.head().map_err(Error::other)?;
        let mut held = Vec::new();
        let outcome = match self.parse(&head, &mut reader, len) {
            Ok((method, args)) => {
                drop(reader);
                let memory = memory.filter(|_| takes_large_arguments(method));
                let caller = Caller {
                    session: self.session,
                    scanners: self.scanners,
                    scanner_count: &self.scanner_count,
                };
                let call = caller.call(method, args, memory);
                let returned = if reads_on(method) { self.watched(call).await } else { call.await };
                returned.map(|Returned { answer, memory }| {
                    held = memory;
                    answer
                })
            }
            Err(failure) => Err(failure),
        };
        self.encode(carriage, &head, &outcome);
        drop(outcome);
        if !held.is_empty() {
            self.write().await?;
        }
        Ok(())
    }

    /// Waits for a call that reads. If the client closes the connection meanwhile, whatever it has
    /// sent before, the connection's calls end.
    async fn watched<T>(&self, call: impl Future<Output = T>) -> T {
        let share = self.session.share();
        let mut call = pin!(call);
        loop {
            tokio::select! {
                returned = &mut call => return returned,
                () = tokio::time::sleep(CLOSED_LOOK), if !share.is_closed() => {
                    if self.stream.is_read_closed().await {
                        share.close();
                    }
                }
            }
        }
    }

    /// Reads a call's arguments.
    fn parse(
        &self,
        head: &MessageHead,
        reader: &mut Reader,
        len: usize,
    ) -> std::result::Result<(Method, Args), Failure> {
        let refused = |kind, message| Failure::Application { kind, message };
        if head.kind != MessageKind::Call {
            let message = format!("not a call: {:?}", head.kind);
            return Err(refused(ApplicationKind::InvalidMessageType, message));
        }
        let Some(method) = Method::from_name(&head.name) else {
            let message = format!("Invalid method name: '{}'", head.name);
            return Err(refused(ApplicationKind::UnknownMethod, message));
        };
        let max = SMALL_REQUEST_BYTES;
        if len as u64 > max && !takes_large_arguments(method) {
            let message = format!("message too long for {}: len={len}, max={max}", head.name);
            return Err(refused(ApplicationKind::ProtocolError, message));
        }
        let args = Args::read(method, reader);
        let args = args
            .map_err(|error| refused(ApplicationKind::ProtocolError, error.message().to_owned()))?;
        tracing::trace!(peer = %self.peer, method = method.name(), "a call");
        Ok((method, args))
    }

    fn encode(
        &mut self,
        carriage: Carriage,
        head: &MessageHead,
        outcome: &std::result::Result<rowhouse_format::thrift::Answer, Failure>,
    ) {
        let start = self.output.len();
        if carriage.is_framed {
            self.output.put_u32(0);
        }
        write_answer(head, outcome, &mut Writer::new(&mut self.output, carriage.protocol));
        if carriage.is_framed {
            let len = self.output.len() - start - LENGTH_BYTES;
            self.output[start..start + LENGTH_BYTES].copy_from_slice(&(len as u32).to_be_bytes());
        }
    }

    /// Ends a connection whose input is no message, with an answer if the call is known.
    async fn refuse_input(&mut self, error: &rowhouse_model::Error) -> Result<Option<Message>> {
        tracing::info!(peer = %self.peer, %error, "malformed input, closed");
        let Some(carriage) = self.input.carriage else { return Ok(None) };
        let mut bytes = std::mem::take(&mut self.input.bytes).freeze();
        if carriage.is_framed {
            bytes.advance(LENGTH_BYTES.min(bytes.len()));
        }
        if let Ok(head) = Reader::new(bytes, carriage.protocol).head() {
            let kind = ApplicationKind::ProtocolError;
            let message = error.message().to_owned();
            self.encode(carriage, &head, &Err(Failure::Application { kind, message }));
            self.write().await?;
        }
        Ok(None)
    }

    /// Writes the answer. A client that takes it too slowly while others wait for memory is cut.
    async fn write(&mut self) -> Result<()> {
        if let Ok(written) = self.stream.try_write(&self.output) {
            self.output.advance(written);
        }
        let mut pace = Pace::default();
        while self.output.has_remaining() {
            tokio::select! {
                written = self.stream.write_buf(&mut self.output) => match written? {
                    0 => return Err(ErrorKind::WriteZero.into()),
                    written => pace.note(written),
                },
                () = pace.passed() => {
                    if pace.is_slow() && self.session.share().memory.process().waiting() > 0 {
                        let message = "the client takes an answer too slowly while others wait \
                                       for memory";
                        return Err(Error::new(ErrorKind::TimedOut, message));
                    }
                }
            }
        }
        if self.output.capacity() > BUFFER_KEEP_BYTES {
            self.output = BytesMut::new();
        }
        self.stream.flush().await
    }
}

enum Progress {
    Whole(Message),
    /// So many bytes are missing, at least.
    Missing(usize),
}

impl Input {
    /// Takes a whole message from the input.
    fn next(&mut self) -> rowhouse_model::Result<Progress> {
        let carriage = match self.carriage {
            Some(carriage) => carriage,
            None => match Carriage::detect(&self.bytes)? {
                Some(carriage) => *self.carriage.insert(carriage),
                None => return Ok(Progress::Missing(1)),
            },
        };
        let extent = self.extent.get_or_insert_with(|| Extent::new(carriage.protocol));
        if !carriage.is_framed {
            return match extent.pass(&self.bytes)? {
                Some(len) => Ok(self.take(0, len, carriage)),
                None => Ok(Progress::Missing(extent.missing(&self.bytes))),
            };
        }
        let Some(len) = self.bytes.first_chunk() else {
            return Ok(Progress::Missing(LENGTH_BYTES - self.bytes.len()));
        };
        let len = u32::from_be_bytes(*len) as usize;
        if len > MESSAGE_BYTES_MAX {
            let message = format!("frame too long: len={len}, max={MESSAGE_BYTES_MAX}");
            return Err(rowhouse_model::Error::invalid(message));
        }
        let Some(frame) = self.bytes.get(LENGTH_BYTES..LENGTH_BYTES + len) else {
            return Ok(Progress::Missing(LENGTH_BYTES + len - self.bytes.len()));
        };
        match extent.pass(frame)? {
            Some(end) if end == len => Ok(self.take(LENGTH_BYTES, len, carriage)),
            end => {
                let end = end.map_or("none".into(), |end| end.to_string());
                let message = format!("a frame is not one message: len={len}, end={end}");
                Err(rowhouse_model::Error::invalid(message))
            }
        }
    }

    fn take(&mut self, before: usize, len: usize, carriage: Carriage) -> Progress {
        self.bytes.advance(before);
        let bytes = self.bytes.split_to(len).freeze();
        self.extent = None;
        self.memory_bytes = 0;
        let memory = self.memory.take();
        if memory.is_some() {
            // The rest must not hold the message's buffer.
            self.bytes = BytesMut::from(&self.bytes[..]);
        }
        Progress::Whole(Message { bytes, carriage, memory })
    }
}
