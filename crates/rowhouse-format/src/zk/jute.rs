//! Jute, ZooKeeper's encoding for numbers, text and lists.

use bytes::{Buf, BufMut, Bytes, BytesMut};
use rowhouse_model::{Error, ErrorKind, Result};

/// A record reader; the values it returns share the record's bytes.
#[derive(Clone, Debug)]
pub(super) struct JuteReader(Bytes);

impl JuteReader {
    pub(super) fn new(bytes: Bytes) -> Self {
        Self(bytes)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn i32(&mut self) -> Result<i32> {
        self.need(4)?;
        Ok(self.0.get_i32())
    }

    pub(super) fn i64(&mut self) -> Result<i64> {
        self.need(8)?;
        Ok(self.0.get_i64())
    }

    pub(super) fn bool(&mut self) -> Result<bool> {
        self.need(1)?;
        Ok(self.0.get_u8() != 0)
    }

    /// Reads a buffer; a null buffer is returned as empty.
    pub(super) fn buffer(&mut self) -> Result<Bytes> {
        let len = self.i32()?.max(0) as usize;
        self.need(len)?;
        Ok(self.0.split_to(len))
    }

    pub(super) fn text(&mut self) -> Result<String> {
        String::from_utf8(self.buffer()?.into())
            .map_err(|_| malformed("text is not UTF-8".to_owned()))
    }

    pub(super) fn texts(&mut self) -> Result<Vec<String>> {
        let count = self.i32()?.max(0) as usize;
        // Reject an impossible count before allocating: each text has at least a length.
        self.need(count.saturating_mul(4))?;
        (0..count).map(|_| self.text()).collect()
    }

    fn need(&self, len: usize) -> Result<()> {
        if self.0.len() < len {
            let left = self.0.len();
            return Err(malformed(format!("record ends early: len={len}, left={left}")));
        }
        Ok(())
    }
}

pub(super) fn malformed(message: String) -> Error {
    Error::new(ErrorKind::Protocol, format!("malformed zookeeper record: {message}"))
}

pub(super) fn put_buffer(out: &mut BytesMut, bytes: &[u8]) {
    out.put_i32(bytes.len() as i32);
    out.put_slice(bytes);
}

/// Writes a frame: a length prefix and the output from `body`.
pub(super) fn put_frame(out: &mut BytesMut, body: impl FnOnce(&mut BytesMut)) {
    let at = out.len();
    out.put_u32(0);
    body(out);
    let len = (out.len() - at - 4) as u32;
    out[at..at + 4].copy_from_slice(&len.to_be_bytes());
}
