//! The client side: reading HBase's nodes.

use bytes::{BufMut, Bytes, BytesMut};
use rowhouse_model::{Error, ErrorKind, Result};

use super::jute::{JuteReader, put_buffer, put_frame};
use super::op::{PING_XID, code};
use super::{FRAME_LEN_MAX, ZkError};
use crate::rpc::FrameDecoder;

/// Returns the decoder for the server's frames.
pub fn frames() -> FrameDecoder {
    FrameDecoder::new(FRAME_LEN_MAX)
}

/// Writes a session's opening, which requests `timeout_ms` milliseconds as the session timeout.
pub fn put_connect(out: &mut BytesMut, timeout_ms: i32) {
    put_frame(out, |out| {
        out.put_i32(0);
        out.put_i64(0);
        out.put_i32(timeout_ms);
        out.put_i64(0);
        put_buffer(out, &[0; 16]);
        out.put_u8(0);
    });
}

/// Parses the response to [`put_connect`]. Returns the granted session timeout in milliseconds.
///
/// # Errors
/// `Protocol` for a malformed response; `Connection` if the server rejects the session.
pub fn read_connected(frame: Bytes) -> Result<i32> {
    let mut record = JuteReader::new(frame);
    record.i32()?;
    let timeout_ms = record.i32()?;
    if timeout_ms <= 0 {
        return Err(Error::new(ErrorKind::Connection, "zookeeper refuses the session"));
    }
    Ok(timeout_ms)
}

/// Writes a request for a node's data.
pub fn put_get_data(out: &mut BytesMut, xid: i32, path: &str) {
    put_path(out, xid, code::GET_DATA, path);
}

/// Writes a request for the names of a node's children.
pub fn put_get_children(out: &mut BytesMut, xid: i32, path: &str) {
    put_path(out, xid, code::GET_CHILDREN, path);
}

/// Writes a ping.
pub fn put_ping(out: &mut BytesMut) {
    put_frame(out, |out| {
        out.put_i32(PING_XID);
        out.put_i32(code::PING);
    });
}

/// Writes the request that closes the session.
pub fn put_close(out: &mut BytesMut, xid: i32) {
    put_frame(out, |out| {
        out.put_i32(xid);
        out.put_i32(code::CLOSE_SESSION);
    });
}

fn put_path(out: &mut BytesMut, xid: i32, op: i32, path: &str) {
    put_frame(out, |out| {
        out.put_i32(xid);
        out.put_i32(op);
        put_buffer(out, path.as_bytes());
        out.put_u8(0); // no watch
    });
}

/// A response.
#[derive(Clone, Debug)]
pub struct Reply {
    /// The request id; −2 for a ping, −1 for an event.
    pub xid: i32,
    /// The response body, or ZooKeeper's error code.
    outcome: Result<JuteReader, i32>,
}

impl Reply {
    /// Decodes a response.
    ///
    /// # Errors
    /// `Protocol` for a malformed response.
    pub fn decode(frame: Bytes) -> Result<Self> {
        let mut record = JuteReader::new(frame);
        let xid = record.i32()?;
        record.i64()?;
        let error = record.i32()?;
        Ok(Self { xid, outcome: if error == 0 { Ok(record) } else { Err(error) } })
    }

    /// Returns a node's data; `None` if the node does not exist.
    ///
    /// # Errors
    /// `Protocol` for a malformed body, `Connection` for any other error code.
    pub fn data(self) -> Result<Option<Bytes>> {
        self.existing()?.map(|mut record| record.buffer()).transpose()
    }

    /// Returns the names of a node's children; `None` if the node does not exist.
    ///
    /// # Errors
    /// As [`Reply::data`].
    pub fn children(self) -> Result<Option<Vec<String>>> {
        self.existing()?.map(|mut record| record.texts()).transpose()
    }

    fn existing(self) -> Result<Option<JuteReader>> {
        match self.outcome {
            Ok(record) => Ok(Some(record)),
            Err(error) if error == ZkError::NoNode.code() => Ok(None),
            Err(error) => Err(Error::new(
                ErrorKind::Connection,
                format!("zookeeper refuses to read: error={error}"),
            )),
        }
    }
}
