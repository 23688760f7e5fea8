//! `text N`, `bytes N`, `uuid`, `hex N` and digests: bytes with a fixed width, padded on the right
//! if they may be shorter. `desc` complements every byte, `hex` writes two characters for each.

use std::borrow::Cow;

use rowhouse_model::escape;

use crate::error::KeyMismatch;

/// The codec for bytes with a fixed width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fixed {
    /// The width before `hex`, in bytes.
    pub(crate) width: u16,
    /// The byte with which shorter values are padded.
    pub(crate) pad: Option<u8>,
    pub(crate) desc: bool,
    pub(crate) hex: bool,
    /// True if `hex` writes each byte's low digit first. With bytes in reverse order, all digits
    /// are then in reverse order.
    pub(crate) low_first: bool,
}

impl Fixed {
    /// Creates a codec for values with exactly `width` bytes.
    pub(crate) fn new(width: u16) -> Self {
        Self { width, pad: None, desc: false, hex: false, low_first: false }
    }

    /// Creates a codec for values with at most `width` bytes, padded on the right.
    pub(crate) const fn padded(width: u16, pad: u8) -> Self {
        Self { width, pad: Some(pad), desc: false, hex: false, low_first: false }
    }

    /// The width in the key, in bytes.
    pub(crate) fn width(self) -> usize {
        usize::from(self.width) * if self.hex { 2 } else { 1 }
    }

    /// Checks that a value has the right length, and can be told from the padding.
    pub(crate) fn check(self, value: &[u8]) -> Result<(), String> {
        let width = usize::from(self.width);
        match self.pad {
            None if value.len() != width => {
                Err(format!("takes exactly {width} bytes: len={}", value.len()))
            }
            Some(_) if value.len() > width => Err(format!(
                "the value is too long: value='{}', len={}, max={width}",
                String::from_utf8_lossy(value),
                value.len()
            )),
            Some(pad) if value.last() == Some(&pad) => Err(format!(
                "a value cannot end in the byte it is padded with: value='{}', pad={}",
                String::from_utf8_lossy(value),
                escape(&[pad])
            )),
            _ => Ok(()),
        }
    }

    /// Returns true if keys hold values as they are, followed by padding.
    pub(crate) fn is_plainly_padded(self) -> bool {
        self.pad.is_some() && !self.desc && !self.hex
    }

    /// Appends a value that [needs no conversion](Self::is_plainly_padded). Returns false, with
    /// nothing appended, if it is too long or ends in the padding byte.
    #[inline(always)]
    pub(crate) fn put_plainly(self, value: &[u8], out: &mut Vec<u8>) -> bool {
        let Some(pad) = self.pad else { return false };
        let Some(padding) = usize::from(self.width).checked_sub(value.len()) else { return false };
        if value.last() == Some(&pad) {
            return false;
        }
        out.extend_from_slice(value);
        out.resize(out.len() + padding, pad);
        true
    }

    /// Returns the bytes without the padding at their end.
    #[inline(always)]
    pub(crate) fn without_padding(self, bytes: &[u8]) -> &[u8] {
        // Padded values are never written as hex.
        let Some(pad) = self.pad.map(|pad| if self.desc { !pad } else { pad }) else {
            return bytes;
        };
        let last = bytes.iter().rposition(|byte| *byte != pad);
        &bytes[..last.map_or(0, |last| last + 1)]
    }

    /// Appends a value that has been checked.
    pub(crate) fn put(self, value: &[u8], out: &mut Vec<u8>) {
        let start = out.len();
        self.write(value, out);
        let padded = start + self.width();
        if let Some(pad) = self.pad {
            // Padded values are never written as hex.
            out.resize(padded, if self.desc { !pad } else { pad });
        }
    }

    /// Appends bytes as keys hold them, without padding.
    pub(crate) fn write(self, bytes: &[u8], out: &mut Vec<u8>) {
        let flip = if self.desc { 0xFF } else { 0 };
        match (self.hex, self.desc) {
            (false, false) => out.extend_from_slice(bytes),
            (false, true) => out.extend(bytes.iter().map(|byte| byte ^ flip)),
            (true, _) => out.extend(bytes.iter().flat_map(|byte| {
                let byte = byte ^ flip;
                let byte = if self.low_first { byte.rotate_left(4) } else { byte };
                [byte >> 4, byte & 15].map(|digit| b"0123456789abcdef"[usize::from(digit)])
            })),
        }
    }

    /// Decodes the value at `at`, without the padding.
    pub(crate) fn decode(self, key: &[u8], at: usize) -> Result<Cow<'_, [u8]>, KeyMismatch> {
        let width = self.width();
        let bytes = key[at..].get(..width).ok_or_else(|| {
            let why = format!("needs {width} bytes, {} are left", key.len() - at);
            KeyMismatch::new(at, why)
        })?;
        let bytes = self.without_padding(bytes);
        if !self.hex && !self.desc {
            return Ok(bytes.into());
        }
        let mut value = if self.hex {
            from_hex(bytes).ok_or_else(|| {
                let why = format!("{} is not {width} hex digits in lower case", escape(bytes));
                KeyMismatch::new(at, why)
            })?
        } else {
            bytes.to_vec()
        };
        if self.low_first {
            value.iter_mut().for_each(|byte| *byte = byte.rotate_left(4));
        }
        if self.desc {
            value.iter_mut().for_each(|byte| *byte = !*byte);
        }
        Ok(value.into())
    }
}

fn from_hex(digits: &[u8]) -> Option<Vec<u8>> {
    let lower = digits.iter().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f'));
    std::str::from_utf8(digits).ok().filter(|_| lower).and_then(crate::value::parse_hex)
}
