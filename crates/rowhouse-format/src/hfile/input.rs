//! Bytes being taken apart, none of them trusted.

use rowhouse_model::{Error, Result};

use super::varint::read_vint;

/// A run of bytes read from front to back; what is missing is an error that names the place.
pub(super) struct Input<'a> {
    what: &'static str,
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Input<'a> {
    /// Bytes of a thing that errors call `what`.
    pub(super) fn new(what: &'static str, bytes: &'a [u8]) -> Self {
        Self { what, bytes, at: 0 }
    }

    /// How many bytes were taken.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// How many bytes are left.
    pub(super) fn left(&self) -> usize {
        self.bytes.len() - self.at
    }

    /// The next `len` bytes.
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

    /// The next four bytes.
    pub(super) fn u32(&mut self) -> Result<u32> {
        Ok(u32::from_be_bytes(self.take(4)?.try_into().expect("four bytes were taken")))
    }

    /// The next eight bytes.
    pub(super) fn u64(&mut self) -> Result<u64> {
        Ok(u64::from_be_bytes(self.take(8)?.try_into().expect("eight bytes were taken")))
    }

    /// As many bytes as the vint in front of them says.
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

    /// Refuses bytes that are left over.
    pub(super) fn end(&self) -> Result<()> {
        if self.left() > 0 {
            return Err(Error::corruption(format!(
                "{} has bytes behind its end: offset={}, left={}",
                self.what,
                self.at,
                self.left()
            )));
        }
        Ok(())
    }
}
