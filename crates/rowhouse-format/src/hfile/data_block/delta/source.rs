//! A bounds-checked reader of an encoded block's untrusted bytes.

/// A byte slice that is consumed front to back.
pub(super) struct Source<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Source<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Returns how many bytes are consumed.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    pub(super) fn is_end(&self) -> bool {
        self.at == self.bytes.len()
    }

    /// Returns the remaining bytes.
    pub(super) fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    /// Consumes the next `len` bytes.
    pub(super) fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let taken = self.bytes.get(self.at..self.at.checked_add(len)?)?;
        self.at += len;
        Some(taken)
    }

    /// Consumes the next byte.
    pub(super) fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|byte| byte[0])
    }

    /// Consumes a variable-length number: seven bits per byte, least significant first; the top bit
    /// is set if more bytes follow.
    pub(super) fn number(&mut self) -> Option<usize> {
        let mut number = 0u64;
        for at in 0..5 {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7F) << (7 * at);
            if byte & 0x80 == 0 {
                return usize::try_from(number).ok().filter(|&number| number <= i32::MAX as usize);
            }
        }
        None
    }

    /// Consumes a little-endian number with `len` bytes.
    pub(super) fn little_endian(&mut self, len: usize) -> Option<u64> {
        let bytes = self.take(len)?;
        Some(bytes.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
    }
}

/// Appends a number in the [`Source::number`] format.
pub(super) fn write_number(out: &mut Vec<u8>, mut number: usize) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}
