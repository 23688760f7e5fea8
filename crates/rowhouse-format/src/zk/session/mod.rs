//! One ZooKeeper connection's server side, without the socket.

use std::collections::BTreeMap;
use std::time::Duration;

use bytes::{BufMut, Bytes, BytesMut};
use rowhouse_model::{Error, ErrorKind, Result};

use super::jute::{JuteReader, malformed, put_buffer, put_frame};
use super::op::{EVENT_XID, Op};
use super::znodes::check_path;
use super::{FRAME_LEN_MAX, ZkError, Znode, Znodes};
use crate::rpc::FrameDecoder;

/// Bounds for the session timeout in milliseconds: ZooKeeper's 2 and 20 ticks, 2 s each.
const TIMEOUT_MS: std::ops::RangeInclusive<i32> = 4_000..=40_000;
/// How many watches a session has at most.
const WATCHES_MAX: usize = 4_096;
/// The read permission in an access control list.
const PERMISSION_READ: i32 = 1;

/// The first bytes that HBase's RPC clients send.
const RPC_PREAMBLES: [&[u8]; 3] = [b"HBas", b"Regi", b"Secu"];

/// One client's session.
///
/// ```
/// use bytes::BytesMut;
/// use rowhouse_format::zk::{Session, SessionStatus, Znodes, client};
///
/// let nodes = Znodes::new(1);
/// let mut session = Session::new(7, [1; 16]);
/// let (mut input, mut output) = (BytesMut::new(), BytesMut::new());
/// client::put_connect(&mut input, 30_000);
/// assert_eq!(session.feed(&mut input, &nodes, &mut output)?, SessionStatus::Open);
/// assert_eq!(session.timeout().as_secs(), 30);
/// # Ok::<(), rowhouse_model::Error>(())
/// ```
#[derive(Debug)]
pub struct Session {
    id: i64,
    password: [u8; 16],
    timeout_ms: i32,
    connected: bool,
    /// For each data watch, the zxid of the last change it saw; 0 if the node did not exist.
    data_watches: BTreeMap<String, i64>,
    /// For each child watch, the zxid of the last change to the children it saw.
    child_watches: BTreeMap<String, i64>,
}

/// Whether a session continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionStatus {
    /// The session continues.
    Open,
    /// Write the output, then close the connection.
    Closed,
}

/// How a watched node has changed.
#[derive(Clone, Copy)]
enum Event {
    Created = 1,
    Deleted = 2,
    DataChanged = 3,
    ChildrenChanged = 4,
}

impl Session {
    /// Creates a session with this id, which applies unless the client brings one, and this
    /// password.
    pub fn new(id: i64, password: [u8; 16]) -> Self {
        Self {
            id,
            password,
            timeout_ms: *TIMEOUT_MS.end(),
            connected: false,
            data_watches: BTreeMap::new(),
            child_watches: BTreeMap::new(),
        }
    }

    /// Returns true if the client has opened the session.
    pub fn is_connected(&self) -> bool {
        self.connected
    }

    /// Returns the session timeout. A client that is silent for longer counts as gone.
    pub fn timeout(&self) -> Duration {
        Duration::from_millis(self.timeout_ms as u64)
    }

    /// Answers every complete frame in `input`; appends the responses to `output`.
    ///
    /// # Errors
    /// `Protocol` if the client violates the protocol; the connection must then close.
    pub fn feed(
        &mut self,
        input: &mut BytesMut,
        nodes: &Znodes,
        output: &mut BytesMut,
    ) -> Result<SessionStatus> {
        if !self.connected && RPC_PREAMBLES.iter().any(|preamble| input.starts_with(preamble)) {
            return Err(Error::new(
                ErrorKind::Protocol,
                "an HBase RPC client connected to the ZooKeeper port: it needs the port that --listen names",
            ));
        }
        let frames = FrameDecoder::new(FRAME_LEN_MAX);
        while let Some(frame) = frames.next(input)? {
            let mut record = JuteReader::new(frame);
            if !self.connected {
                self.connect(&mut record, output)?;
            } else if self.answer(&mut record, nodes, output)? == SessionStatus::Closed {
                return Ok(SessionStatus::Closed);
            }
        }
        Ok(SessionStatus::Open)
    }

    /// Appends an event to `output` for each watched node that has changed, and removes the watch.
    pub fn notify(&mut self, nodes: &Znodes, output: &mut BytesMut) {
        self.data_watches.retain(|path, &mut seen| {
            let event = match nodes.get(path) {
                Some(_) if seen == 0 => Event::Created,
                Some(node) if node.modified_zxid() != seen => Event::DataChanged,
                None if seen != 0 => Event::Deleted,
                Some(_) | None => return true,
            };
            put_event(output, event, path);
            false
        });
        self.child_watches.retain(|path, &mut seen| {
            let event = match nodes.get(path) {
                None => Event::Deleted,
                Some(node) if node.children_zxid() != seen => Event::ChildrenChanged,
                Some(_) => return true,
            };
            put_event(output, event, path);
            false
        });
    }

    fn connect(&mut self, record: &mut JuteReader, output: &mut BytesMut) -> Result<()> {
        let _protocol = record.i32()?;
        let _last_zxid = record.i64()?;
        let timeout_ms = record.i32()?;
        let id = record.i64()?;
        let password = record.buffer()?;
        let knows_read_only = !record.is_empty();
        self.timeout_ms = timeout_ms.clamp(*TIMEOUT_MS.start(), *TIMEOUT_MS.end());
        if id != 0 {
            // A session from before a reconnect or a restart. It held only watches, which clients
            // register again.
            self.id = id;
            self.password = password[..].try_into().unwrap_or(self.password);
        }
        self.connected = true;
        put_frame(output, |out| {
            out.put_i32(0);
            out.put_i32(self.timeout_ms);
            out.put_i64(self.id);
            put_buffer(out, &self.password);
            if knows_read_only {
                out.put_u8(0);
            }
        });
        Ok(())
    }

    fn answer(
        &mut self,
        record: &mut JuteReader,
        nodes: &Znodes,
        output: &mut BytesMut,
    ) -> Result<SessionStatus> {
        let xid = record.i32()?;
        let op = Op::from_code(record.i32()?);
        let mut body = BytesMut::new();
        let error = match self.operate(op, record, nodes, &mut body) {
            Ok(()) => 0,
            Err(error) => {
                body.clear();
                error.code()
            }
        };
        put_frame(output, |out| {
            out.put_i32(xid);
            out.put_i64(nodes.zxid());
            out.put_i32(error);
            out.put_slice(&body);
        });
        if matches!(op, Op::SetWatches | Op::SetWatches2) {
            self.notify(nodes, output);
        }
        if self.data_watches.len() + self.child_watches.len() > WATCHES_MAX {
            return Err(malformed(format!("too many watches: max={WATCHES_MAX}")));
        }
        let closed = op == Op::CloseSession || error == ZkError::AuthFailed.code();
        Ok(if closed { SessionStatus::Closed } else { SessionStatus::Open })
    }

    fn operate(
        &mut self,
        op: Op,
        record: &mut JuteReader,
        nodes: &Znodes,
        body: &mut BytesMut,
    ) -> Result<(), ZkError> {
        match op {
            Op::Exists => {
                let (path, watch) = path_and_watch(record)?;
                let node = nodes.get(&path);
                if watch {
                    self.watch_data(path, node);
                }
                node.ok_or(ZkError::NoNode)?.put_stat(body);
            }
            Op::GetData => {
                let (path, watch) = path_and_watch(record)?;
                let node = nodes.get(&path).ok_or(ZkError::NoNode)?;
                put_buffer(body, &node.data);
                node.put_stat(body);
                if watch {
                    self.watch_data(path, Some(node));
                }
            }
            Op::GetChildren | Op::GetChildren2 => {
                let (path, watch) = path_and_watch(record)?;
                let node = nodes.get(&path).ok_or(ZkError::NoNode)?;
                let names: Vec<_> = nodes.children(&path).collect();
                body.put_i32(names.len() as i32);
                names.iter().for_each(|name| put_buffer(body, name.as_bytes()));
                if op == Op::GetChildren2 {
                    node.put_stat(body);
                }
                if watch {
                    self.child_watches.insert(path, node.children_zxid());
                }
            }
            Op::GetAcl => {
                let path = path(record)?;
                let node = nodes.get(&path).ok_or(ZkError::NoNode)?;
                body.put_i32(1);
                body.put_i32(PERMISSION_READ);
                put_buffer(body, b"world");
                put_buffer(body, b"anyone");
                node.put_stat(body);
            }
            Op::Sync => put_buffer(body, path(record)?.as_bytes()),
            Op::SetWatches | Op::SetWatches2 => self.set_watches(op, record, nodes)?,
            Op::Auth => authenticate(record)?,
            Op::Ping | Op::CloseSession => {}
            Op::Create => {
                let path = path(record)?;
                let there = nodes.get(&path).is_some();
                return Err(if there { ZkError::NodeExists } else { ZkError::NoAuth });
            }
            Op::Write => return Err(ZkError::NoAuth),
            Op::Unknown => return Err(ZkError::Unimplemented),
        }
        Ok(())
    }

    fn watch_data(&mut self, path: String, node: Option<&Znode>) {
        self.data_watches.insert(path, node.map_or(0, Znode::modified_zxid));
    }

    /// Restores the watches for a client that reconnects. Watches on nodes that changed after the
    /// zxid that the client has seen are stored as outdated, and fire after the response.
    fn set_watches(
        &mut self,
        op: Op,
        record: &mut JuteReader,
        nodes: &Znodes,
    ) -> Result<(), ZkError> {
        let mut lists = || -> Result<_> {
            let seen = record.i64()?;
            let lists = [record.texts()?, record.texts()?, record.texts()?];
            let persistent = match op {
                Op::SetWatches2 => [record.texts()?, record.texts()?],
                _ => Default::default(),
            };
            Ok((seen, lists, persistent))
        };
        let (seen, [data, existence, children], persistent) =
            lists().map_err(|_| ZkError::Marshalling)?;
        if !persistent.iter().all(Vec::is_empty) {
            return Err(ZkError::Unimplemented);
        }
        // -1 equals no node's zxid, so the watch fires.
        let seen_of = |zxid: Option<i64>| match zxid {
            Some(zxid) if zxid <= seen => zxid,
            Some(_) | None => -1,
        };
        for path in data {
            let zxid = seen_of(nodes.get(&path).map(Znode::modified_zxid));
            self.data_watches.insert(path, zxid);
        }
        for path in existence {
            self.data_watches.insert(path, 0);
        }
        for path in children {
            let zxid = seen_of(nodes.get(&path).map(Znode::children_zxid));
            self.child_watches.insert(path, zxid);
        }
        Ok(())
    }
}

fn path(record: &mut JuteReader) -> Result<String, ZkError> {
    let path = record.text().map_err(|_| ZkError::Marshalling)?;
    check_path(&path).map_err(|_| ZkError::BadArguments)?;
    Ok(path)
}

fn path_and_watch(record: &mut JuteReader) -> Result<(String, bool), ZkError> {
    let path = path(record)?;
    Ok((path, record.bool().map_err(|_| ZkError::Marshalling)?))
}

/// Accepts digest authentication, which identifies the client; no node requires it.
fn authenticate(record: &mut JuteReader) -> Result<(), ZkError> {
    let mut scheme = || -> Result<(String, Bytes)> {
        record.i32()?;
        Ok((record.text()?, record.buffer()?))
    };
    match scheme() {
        Ok((scheme, _)) if scheme == "digest" => Ok(()),
        Ok(_) => Err(ZkError::AuthFailed),
        Err(_) => Err(ZkError::Marshalling),
    }
}

fn put_event(output: &mut BytesMut, event: Event, path: &str) {
    /// SyncConnected: the client is connected.
    const STATE: i32 = 3;
    put_frame(output, |out| {
        out.put_i32(EVENT_XID);
        out.put_i64(-1);
        out.put_i32(0);
        out.put_i32(event as i32);
        out.put_i32(STATE);
        put_buffer(out, path.as_bytes());
    });
}

#[cfg(test)]
mod tests;
