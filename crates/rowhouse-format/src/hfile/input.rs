//! A bounds-checked decoder of untrusted bytes.

use rowhouse_model::{Error, Result};

use super::varint::read_vint;

/// A reader over a byte slice, front to back. Missing bytes are an error that names the offset.
pub(super) struct Input<'a> {
    what: &'static str,
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Input<'a> {
    /// Starts reading `bytes`; errors refer to them as `what`.
    pub(super) fn new(what: &'static str, bytes: &'a [u8]) -> Self {
        Self { what, bytes, at: 0 }
    }

    /// Returns how many bytes are consumed.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// Returns how many bytes remain.
    pub(super) fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// Consumes and returns the next `len` bytes.
    pub(super) fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        if len > self.left() {
            return Err(Error::corruption(format!(
                "{} ends early: offset={}, wanted={len}, left={}",
                self.what,
                self.at,
                self.left()
            )));
        }
        let taken = &self.bytes[self.at..self.at + len];
        self.at += len;
        Ok(taken)
    }

    /// Consumes a big-endian 32-bit number.
    pub(super) fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_be_bytes(self.take(4)?.try_into().expect("four bytes were taken")))
    }

    /// Consumes a big-endian 64-bit number.
    pub(super) fn u64(&mut self) -> Result<u64> {
        Ok(u64::from_be_bytes(self.take(8)?.try_into().expect("eight bytes were taken")))
    }

    /// Consumes a vint length and that many bytes; returns the bytes.
    pub(super) fn vint_bytes(&mut self) -> Result<&'a [u8]> {
        let (len, end) = read_vint(self.bytes, self.at).ok_or_else(|| {
            Error::corruption(format!("{} ends inside a vint: offset={}", self.what, self.at))
        })?;
        self.at = end;
        let len = usize::try_from(len).map_err(|_| {
            Error::corruption(format!("negative length in {}: offset={end}, len={len}", self.what))
        })?;
        self.take(len)
    }

    /// Returns an error if bytes remain.
    pub(super) fn end(&self) -> Result<()> {
        if self.left() > 0 {
            return Err(Error::corruption(format!(
                "{} has bytes after its end: offset={}, left={}",
                self.what,
                self.at,
                self.left()
            )));
        }
        Ok(())
    }
}
