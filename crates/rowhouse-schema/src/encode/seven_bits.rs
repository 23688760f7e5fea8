//! `ordered.blob_var`: seven bits in each byte, and a continuation bit.
//!
//! No encoded value is a prefix of another, but they are not in order, contrary to OrderedBytes'
//! documentation: the continuation bit comes before the value bits, so `00ff` comes after `01`.

use crate::error::KeyMismatch;

/// The codec for bytes stored seven bits in each byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SevenBits {
    pub(crate) desc: bool,
}

const MORE: u8 = 0x80;

impl SevenBits {
    /// Appends a value.
    pub(crate) fn put(self, value: &[u8], out: &mut Vec<u8>) {
        let flip = self.flip();
        let count = (8 * value.len()).div_ceil(7).max(1);
        // The nth group's seven bits; bits after the end are zero.
        let group = |nth: usize| {
            let at = nth * 7 / 8;
            let shift = nth * 7 % 8;
            let byte = |at: usize| u16::from(value.get(at).copied().unwrap_or(0));
            let pair = byte(at) << 8 | byte(at + 1);
            (pair << shift >> 9) as u8 & !MORE
        };
        out.extend((0..count).map(|nth| {
            let more = if nth + 1 < count { MORE } else { 0 };
            (more | group(nth)) ^ flip
        }));
    }

    /// Decodes the value at `at`; returns it and the end offset.
    pub(crate) fn decode(self, key: &[u8], at: usize) -> Result<(Vec<u8>, usize), KeyMismatch> {
        let flip = self.flip();
        let last = key[at..].iter().position(|byte| (byte ^ flip) & MORE == 0);
        let last =
            last.ok_or_else(|| KeyMismatch::new(key.len(), "the last seven bits are missing"))?;
        let groups = &key[at..=at + last];
        let len = groups.len() * 7 / 8;
        let mut value = Vec::with_capacity(len);
        let mut bits = 0_u32;
        let mut count = 0;
        for group in groups {
            bits = bits << 7 | u32::from((group ^ flip) & !MORE);
            count += 7;
            if count >= 8 {
                count -= 8;
                value.push((bits >> count) as u8);
                bits &= (1 << count) - 1;
            }
        }
        let mut again = Vec::with_capacity(groups.len());
        self.put(&value, &mut again);
        if again == groups {
            return Ok((value, at + groups.len()));
        }
        Err(KeyMismatch::new(at, "bits that belong to no byte"))
    }

    fn flip(self) -> u8 {
        if self.desc { 0xFF } else { 0 }
    }
}
