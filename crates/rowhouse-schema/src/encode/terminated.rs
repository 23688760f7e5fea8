//! `string` and `blob`: bytes in which 00 is written 00 FF, with the terminator 00 01 behind them.
//!
//! A value that goes on is greater than one that ends, whatever it goes on with, because nothing
//! that can stand at the place of the terminator is less than it. `desc` complements every byte.

use std::borrow::Cow;

use crate::error::NotFitting;

/// Bytes that end by themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Terminated {
    pub(crate) desc: bool,
}

const ESCAPED: u8 = 0xFF;
const END: u8 = 0x01;

impl Terminated {
    /// Appends a value: every value has some bytes.
    #[inline]
    pub(crate) fn put(self, value: &[u8], out: &mut Vec<u8>) {
        self.start(value, out);
        let flip = self.flip();
        out.extend_from_slice(&[flip, END ^ flip]);
    }

    /// Appends the bytes with which all values begin that start with `start`.
    #[inline]
    pub(crate) fn start(self, start: &[u8], out: &mut Vec<u8>) {
        let flip = self.flip();
        if flip == 0 && !start.contains(&0) {
            return out.extend_from_slice(start);
        }
        for byte in start {
            out.push(byte ^ flip);
            if *byte == 0 {
                out.push(ESCAPED ^ flip);
            }
        }
    }

    /// Reads the value that begins at `at` and says where it ends.
    #[inline]
    pub(crate) fn decode(
        self,
        key: &[u8],
        at: usize,
    ) -> Result<(Cow<'_, [u8]>, usize), NotFitting> {
        match self.decode_plain(key, at) {
            Some((value, next)) => Ok((value.into(), next)),
            None => self.decode_escaped(key, at),
        }
    }

    fn decode_escaped(self, key: &[u8], at: usize) -> Result<(Cow<'_, [u8]>, usize), NotFitting> {
        let flip = self.flip();
        let mut value = Vec::new();
        let mut next = at;
        // A run without zeros is taken as a whole.
        while let Some(len) = key[next..].iter().position(|byte| *byte == flip) {
            value.extend(key[next..next + len].iter().map(|byte| byte ^ flip));
            next += len + 1;
            match key.get(next).map(|byte| byte ^ flip) {
                Some(ESCAPED) => value.push(0),
                Some(END) => return Ok((value.into(), next + 1)),
                _ => return Err(NotFitting::new(next, "neither an escaped zero nor a terminator")),
            }
            next += 1;
        }
        Err(NotFitting::new(key.len(), "the terminator is missing"))
    }

    /// Reads the value that begins at `at`, if it stands there as it is: ascending and without zeros.
    #[inline]
    pub(crate) fn decode_plain(self, key: &[u8], at: usize) -> Option<(&[u8], usize)> {
        if self.desc {
            return None;
        }
        let len = key[at..].iter().position(|byte| *byte == 0)?;
        let ends = key.get(at + len + 1) == Some(&END);
        ends.then(|| (&key[at..at + len], at + len + 2))
    }

    fn flip(self) -> u8 {
        if self.desc { 0xFF } else { 0 }
    }
}
