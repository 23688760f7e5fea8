//! The three questions that ZooKeeper answers. A session lives for one question: the answers are
//! remembered, so the next one comes when a server has failed.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::{Buf, BufMut, Bytes, BytesMut};
use rowhouse_format::convert::region::PBUF;
use rowhouse_format::proto;
use rowhouse_format::rpc::{FrameDecoder, decode_message};
use rowhouse_model::{Error, ErrorKind, Result};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout, timeout_at};

use crate::Settings;
use crate::connection::Address;
use crate::retry::Failure;

/// The session timeout that is asked for, in milliseconds; HBase's `zookeeper.session.timeout`.
const SESSION_TIMEOUT_MS: u32 = 90_000;
/// The longest frame that is read, in bytes: ZooKeeper's `jute.maxbuffer`, doubled.
const FRAME_LEN_MAX: usize = 2 * 1024 * 1024;
const GET_DATA: i32 = 4;
const CLOSE_SESSION: i32 = -11;
const NO_NODE: i32 = -101;
/// What is before the data in a znode of HBase: this, a length, and so many bytes of an id.
const ID_MAGIC: u8 = 0xFF;

/// A ZooKeeper ensemble, and where the cluster's znodes stand in it.
pub(super) struct Ensemble {
    addresses: Vec<Address>,
    znode: String,
    settings: Arc<Settings>,
    first: AtomicUsize,
}

impl Ensemble {
    pub(super) fn new(addresses: Vec<Address>, znode: String, settings: Arc<Settings>) -> Self {
        Self { addresses, znode, settings, first: AtomicUsize::new(0) }
    }

    pub(super) async fn cluster_id(&self, deadline: Instant) -> Result<String, Failure> {
        let id: Option<proto::ClusterId> = self.message("hbaseid", deadline).await?;
        let missing = || {
            let message = format!("no cluster is registered: znode={}/hbaseid", self.znode);
            Failure::before(Error::new(ErrorKind::ServerNotRunning, message))
        };
        Ok(id.ok_or_else(missing)?.cluster_id)
    }

    pub(super) async fn active_master(
        &self,
        deadline: Instant,
    ) -> Result<Option<proto::ServerName>, Failure> {
        let master: Option<proto::Master> = self.message("master", deadline).await?;
        Ok(master.map(|master| master.master))
    }

    /// The server of `hbase:meta`, while it is open there.
    pub(super) async fn meta_server(
        &self,
        deadline: Instant,
    ) -> Result<Option<proto::ServerName>, Failure> {
        use proto::region_state::State;
        let meta: Option<proto::MetaRegionServer> =
            self.message("meta-region-server", deadline).await?;
        Ok(meta.filter(|meta| meta.state() == State::Open).map(|meta| meta.server))
    }

    async fn message<M: prost::Message + Default>(
        &self,
        name: &str,
        deadline: Instant,
    ) -> Result<Option<M>, Failure> {
        let path = format!("{}/{name}", self.znode);
        let Some(data) = self.data(&path, deadline).await? else { return Ok(None) };
        let message = payload(data).and_then(decode_message).map_err(|error| {
            let message = format!("znode {path}: {}", error.message());
            Failure::unknown(Error::new(ErrorKind::Protocol, message))
        })?;
        Ok(Some(message))
    }

    /// What a znode holds; `None` if there is none.
    async fn data(&self, path: &str, deadline: Instant) -> Result<Option<Bytes>, Failure> {
        let count = self.addresses.len();
        let first = self.first.load(Ordering::Relaxed);
        let mut failed = Error::invalid("no address of ZooKeeper");
        for at in (0..count).map(|step| (first + step) % count) {
            match timeout_at(deadline, self.ask(&self.addresses[at], path)).await {
                Ok(Ok(data)) => {
                    self.first.store(at, Ordering::Relaxed);
                    return Ok(data);
                }
                Ok(Err(error)) => failed = error,
                Err(_) => {
                    let message =
                        format!("ZooKeeper did not answer: address={}", self.addresses[at]);
                    failed = Error::new(ErrorKind::Timeout, message);
                }
            }
            tracing::debug!(address = %self.addresses[at], error = %failed, "no answer");
        }
        Err(Failure::before(failed))
    }

    async fn ask(&self, address: &Address, path: &str) -> Result<Option<Bytes>> {
        let asking = async {
            let mut session = Session::open(address).await?;
            let data = session.get_data(path).await;
            session.close().await;
            data
        };
        let limit = self.settings.connect_timeout;
        timeout(limit, asking).await.unwrap_or_else(|_| {
            let message = format!("ZooKeeper did not answer in {limit:?}: address={address}");
            Err(Error::new(ErrorKind::Timeout, message))
        })
    }
}

/// A session with one server.
struct Session {
    address: Address,
    stream: TcpStream,
    input: BytesMut,
}

impl Session {
    async fn open(address: &Address) -> Result<Self> {
        let stream = TcpStream::connect((&*address.host, address.port)).await.map_err(|error| {
            let message = format!("cannot connect to ZooKeeper: {error}, address={address}");
            Error::new(ErrorKind::Connection, message).with_source(error)
        })?;
        let mut session = Self { address: address.clone(), stream, input: BytesMut::new() };
        session.send(&connect_request()).await?;
        let mut answer = session.receive().await?;
        // Protocol version and timeout; a timeout of 0 is how a server refuses a session.
        if answer.len() < 8 || answer.split_to(8).slice(4..).get_i32() <= 0 {
            return Err(session.malformed("session refused"));
        }
        Ok(session)
    }

    async fn get_data(&mut self, path: &str) -> Result<Option<Bytes>> {
        const XID: i32 = 1;
        self.send(&get_data_request(XID, path)).await?;
        loop {
            let mut answer = self.receive().await?;
            if answer.len() < 16 {
                return Err(self.malformed("answer too short"));
            }
            let (xid, _zxid, code) = (answer.get_i32(), answer.get_i64(), answer.get_i32());
            // Anything else is a notice that was not asked for.
            if xid != XID {
                continue;
            }
            return match code {
                0 => buffer(&mut answer).map(Some).ok_or_else(|| self.malformed("data cut off")),
                NO_NODE => Ok(None),
                _ => {
                    let address = &self.address;
                    let message = format!("ZooKeeper error {code}: path={path}, address={address}");
                    Err(Error::new(ErrorKind::ServerNotRunning, message))
                }
            };
        }
    }

    /// Ends the session, so that the server does not keep it until it expires.
    async fn close(&mut self) {
        let mut request = BytesMut::new();
        request.put_i32(8);
        request.put_i32(2);
        request.put_i32(CLOSE_SESSION);
        if self.send(&request).await.is_ok() {
            // The server answers and closes; closing first would reset what it still writes.
            let _ = self.receive().await;
        }
    }

    async fn send(&mut self, bytes: &[u8]) -> Result<()> {
        self.stream.write_all(bytes).await.map_err(|error| self.broken(error))
    }

    async fn receive(&mut self) -> Result<Bytes> {
        let frames = FrameDecoder::new(FRAME_LEN_MAX);
        loop {
            if let Some(frame) = frames.next(&mut self.input)? {
                return Ok(frame);
            }
            match self.stream.read_buf(&mut self.input).await {
                Ok(0) => return Err(self.broken(std::io::ErrorKind::UnexpectedEof.into())),
                Ok(_) => {}
                Err(error) => return Err(self.broken(error)),
            }
        }
    }

    fn broken(&self, error: std::io::Error) -> Error {
        let message = format!("connection to ZooKeeper broke: {error}, address={}", self.address);
        Error::new(ErrorKind::Connection, message).with_source(error)
    }

    fn malformed(&self, what: &str) -> Error {
        let message = format!("ZooKeeper: {what}, address={}", self.address);
        Error::new(ErrorKind::Protocol, message)
    }
}

/// Protocol version, last transaction seen, timeout, no session, no password, not read-only.
fn connect_request() -> BytesMut {
    let mut request = BytesMut::new();
    request.put_i32(45);
    request.put_i32(0);
    request.put_i64(0);
    request.put_u32(SESSION_TIMEOUT_MS);
    request.put_i64(0);
    request.put_i32(16);
    request.put_bytes(0, 16);
    request.put_u8(0);
    request
}

/// Request number, operation, path, no watch.
fn get_data_request(xid: i32, path: &str) -> BytesMut {
    let mut request = BytesMut::new();
    request.put_i32(4 + 4 + 4 + path.len() as i32 + 1);
    request.put_i32(xid);
    request.put_i32(GET_DATA);
    request.put_i32(path.len() as i32);
    request.put_slice(path.as_bytes());
    request.put_u8(0);
    request
}

/// A length and so many bytes; no bytes for a negative one.
fn buffer(bytes: &mut Bytes) -> Option<Bytes> {
    if bytes.len() < 4 {
        return None;
    }
    let len = usize::try_from(bytes.get_i32()).unwrap_or(0);
    (len <= bytes.len()).then(|| bytes.split_to(len))
}

/// The message in a znode of HBase.
fn payload(mut data: Bytes) -> Result<Bytes> {
    let len = data.len();
    let malformed = |what| Error::new(ErrorKind::Protocol, format!("{what}: len={len}"));
    if data.first() == Some(&ID_MAGIC) {
        data.advance(1);
        buffer(&mut data).ok_or_else(|| malformed("id cut off"))?;
    }
    match data.strip_prefix(PBUF) {
        Some(message) => Ok(data.slice_ref(message)),
        None => Err(malformed("not written by HBase")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_those_of_the_stock_client() {
        let request = connect_request();
        assert_eq!(request.len(), 4 + 45);
        assert_eq!(&request[4 + 12..4 + 16], b"\0\x01\x5f\x90");
        assert_eq!(
            &get_data_request(1, "/hbase/master")[..],
            b"\0\0\0\x1a\0\0\0\x01\0\0\0\x04\0\0\0\x0d/hbase/master\0"
        );
    }

    #[test]
    fn znodes_of_hbase_are_read_whatever_their_id() {
        for id in [&b"x"[..], b"master:16000\x01\x02\x03\x04\x05\x06\x07\x08"] {
            let mut data = BytesMut::from(&b"\xff"[..]);
            data.put_i32(id.len() as i32);
            data.put_slice(id);
            data.put_slice(b"PBUFmessage");
            assert_eq!(payload(data.freeze()).unwrap(), "message");
        }
        assert_eq!(payload("PBUF".into()).unwrap(), "");
        for bad in [&b""[..], b"\xff", b"\xff\0\0\0\x09x", b"\xff\0\0\0\x01xPBU", b"text"] {
            assert!(payload(Bytes::from_static(bad)).is_err(), "{bad:?}");
        }
    }
}
