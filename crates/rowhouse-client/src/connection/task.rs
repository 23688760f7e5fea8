//! The task that owns a connection's socket.
//!
//! It reads and writes concurrently. Otherwise a server that waits for its answers to be read, and
//! stops reading requests meanwhile, would deadlock with this client.

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use rowhouse_format::rpc::{Body, ConnectionHead, FATAL_CALL_ID, FrameDecoder, Response};
use rowhouse_model::{Error, ErrorKind, Result};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio::time::{Instant, MissedTickBehavior, interval, timeout};

use super::open::{late, open};
use super::{Address, QueuedCall};
use crate::Settings;
use crate::retry::Failure;
use crate::transport::{Reader, Transport, Writer, login};

/// Bytes per read.
const READ_LEN: usize = 64 * 1024;
/// Maximum bytes in an answer. A row is returned in one piece, and the server limits cell sizes.
const ANSWER_LEN_MAX: usize = i32::MAX as usize;
/// Bytes pending in the output at which no more calls are taken from the queue.
const WRITE_LEN: usize = 256 * 1024;
/// Maximum calls taken from the queue at a time.
const TAKEN_MAX: usize = 64;
/// Shorter frames are copied, so that a retained cell does not keep the whole read buffer alive.
const COPIED_LEN_MAX: usize = 16 * 1024;
/// How long a connection that ends waits until the server takes the end of TLS.
const CLOSE_WAIT: Duration = Duration::from_secs(1);
/// How often abandoned calls are removed.
const SWEEP_INTERVAL: Duration = Duration::from_secs(1);

/// Closes the connection's semaphore when the task ends for any reason.
pub(super) struct Ended {
    pub(super) room: Arc<Semaphore>,
    /// The error for later calls.
    pub(super) why: Arc<OnceLock<Error>>,
}

impl Drop for Ended {
    fn drop(&mut self) {
        self.room.close();
    }
}

/// Opens the connection and serves it until it breaks or is no longer needed.
pub(super) async fn run(
    (address, mut head, transport): (Address, ConnectionHead, Transport),
    settings: Arc<Settings>,
    mut queue: mpsc::Receiver<QueuedCall>,
    ended: Ended,
) {
    let service = head.service;
    let why = match connect(&address, &settings, &transport).await {
        Ok((stream, input)) => {
            tracing::debug!(%address, ?service, "connected");
            let mut served = Served::new(address.clone(), settings.call_timeout);
            match input {
                None => head.encode_opening(&mut served.output),
                Some(input) => {
                    served.input = input;
                    // The token names the user.
                    head.user = None;
                    head.encode(&mut served.output);
                }
            }
            let why = served.serve(stream, &mut queue).await;
            served.fail(&why);
            why
        }
        Err(error) => error,
    };
    tracing::debug!(%address, ?service, reason = %why, "disconnected");
    // Set before the end becomes visible. It is set only once.
    let _ = ended.why.set(why.clone());
    // Queued calls were never sent.
    queue.close();
    while let Ok(call) = queue.try_recv() {
        call.answer.map(|answer| answer.send(Err(Failure::before(why.clone()))));
    }
}

/// Connects. After authentication by a token, returns the bytes that followed it.
async fn connect(
    address: &Address,
    settings: &Settings,
    transport: &Transport,
) -> Result<((Reader, Writer), Option<BytesMut>)> {
    let (mut reader, mut writer) = open(address, settings, transport).await?;
    let Some(token) = transport.token() else { return Ok(((reader, writer), None)) };
    let login = timeout(settings.connect_timeout, login(&mut reader, &mut writer, token)).await;
    let input = login.map_err(|_| late(address, settings))?.map_err(|error| {
        let message = format!("{}, address={address}", error.message());
        error.with_message(message)
    })?;
    Ok(((reader, writer), Some(input)))
}

/// Writes part of the output, or flushes what TLS holds back. Returns true if something may have to
/// be flushed.
async fn write(writer: &mut Writer, output: &mut BytesMut) -> std::io::Result<bool> {
    if output.is_empty() {
        writer.flush().await?;
        return Ok(false);
    }
    writer.write_buf(output).await?;
    Ok(writer.may_hold_back())
}

/// An open connection's state.
struct Served {
    address: Address,
    silence_max: Duration,
    frames: FrameDecoder,
    pending: HashMap<u32, Pending>,
    input: BytesMut,
    output: BytesMut,
    heard: Instant,
}

/// A call that was sent and not yet answered.
struct Pending {
    answer: oneshot::Sender<Result<Body, Failure>>,
    sent: Instant,
    _room: OwnedSemaphorePermit,
}

impl Served {
    fn new(address: Address, silence_max: Duration) -> Self {
        Self {
            address,
            silence_max,
            frames: FrameDecoder::new(ANSWER_LEN_MAX),
            pending: HashMap::new(),
            input: BytesMut::new(),
            output: BytesMut::new(),
            heard: Instant::now(),
        }
    }

    /// Serves the connection until it ends; returns the reason.
    async fn serve(
        &mut self,
        (mut reader, mut writer): (Reader, Writer),
        queue: &mut mpsc::Receiver<QueuedCall>,
    ) -> Error {
        // Bytes that TLS holds back of what was written.
        let mut unflushed = false;
        let mut sweep = interval(SWEEP_INTERVAL);
        sweep.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut taken = Vec::new();
        let mut needed = true;
        while needed || unflushed || !self.output.is_empty() {
            self.input.reserve(READ_LEN);
            let outcome = tokio::select! {
                read = reader.read_buf(&mut self.input) => match read {
                    Ok(0) => Err(self.broken("closed by the server")),
                    Ok(_) => self.take_frames(),
                    Err(error) => Err(self.broken(&error.to_string()).with_source(error)),
                },
                written = write(&mut writer, &mut self.output),
                    if unflushed || !self.output.is_empty() =>
                {
                    match written {
                        Ok(may_hold_back) => {
                            unflushed = may_hold_back;
                            Ok(())
                        }
                        Err(error) => Err(self.broken(&error.to_string()).with_source(error)),
                    }
                }
                count = queue.recv_many(&mut taken, TAKEN_MAX),
                    if needed && self.output.len() < WRITE_LEN =>
                {
                    needed = count > 0;
                    taken.drain(..).for_each(|call| self.take_call(call));
                    Ok(())
                }
                _ = sweep.tick(), if !self.pending.is_empty() => self.sweep(),
            };
            if let Err(why) = outcome {
                return why;
            }
        }
        if writer.may_hold_back() {
            // A server takes a TLS connection without an end for one that was cut.
            let _ = timeout(CLOSE_WAIT, writer.shutdown()).await;
        }
        self.broken("no longer needed")
    }

    fn take_call(&mut self, call: QueuedCall) {
        let Some(answer) = call.answer else {
            self.output.extend_from_slice(&call.frame);
            return;
        };
        // Skip a call whose caller has given up while it was queued.
        if !answer.is_closed() {
            self.output.extend_from_slice(&call.frame);
            let pending = Pending { answer, sent: Instant::now(), _room: call.room };
            self.pending.insert(call.call_id, pending);
        }
    }

    fn take_frames(&mut self) -> Result<()> {
        self.heard = Instant::now();
        while let Some(frame) = self.frames.next(&mut self.input)? {
            let frame =
                if frame.len() < COPIED_LEN_MAX { Bytes::copy_from_slice(&frame) } else { frame };
            let response = Response::decode(frame)?;
            let outcome = response.outcome.map_err(|exception| exception.into_error());
            if response.call_id == FATAL_CALL_ID {
                return match outcome {
                    Ok(_) => Err(self.broken("a response to an unknown call")),
                    Err(error) => Err(error),
                };
            }
            // An answer without a pending call is dropped.
            if let Some(call) = self.pending.remove(&response.call_id) {
                let _ = call.answer.send(outcome.map_err(Failure::answered));
            }
        }
        Ok(())
    }

    /// Removes abandoned calls. Breaks the connection if a call timed out and the server has sent
    /// nothing since before that call.
    fn sweep(&mut self) -> Result<()> {
        let dead = self.pending.values().any(|call| {
            call.answer.is_closed()
                && call.sent >= self.heard
                && call.sent.elapsed() >= self.silence_max
        });
        if dead {
            return Err(self.broken(&format!("silent for {:?}", self.heard.elapsed())));
        }
        let silence_max = self.silence_max;
        let heard = self.heard;
        self.pending.retain(|_, call| {
            // An abandoned call is retained while nothing was received after it, as evidence that
            // the server is silent.
            !call.answer.is_closed() || (call.sent >= heard && call.sent.elapsed() < silence_max)
        });
        Ok(())
    }

    /// Fails all pending calls.
    fn fail(&mut self, why: &Error) {
        for (_, call) in self.pending.drain() {
            let _ = call.answer.send(Err(Failure::unknown(why.clone())));
        }
    }

    fn broken(&self, why: &str) -> Error {
        let message = format!("connection lost: {why}, address={}", self.address);
        Error::new(ErrorKind::Connection, message)
    }
}
