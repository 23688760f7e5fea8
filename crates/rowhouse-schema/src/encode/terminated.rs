//! `string` and `blob`: bytes in which 00 is written 00 FF, with the terminator 00 01 behind them.
//!
//! A value that goes on is greater than one that ends, whatever it goes on with, because nothing
//! that can stand at the place of the terminator is less than it. `desc` complements every byte.

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
    pub(crate) fn put(self, value: &[u8], out: &mut Vec<u8>) {
        self.start(value, out);
        let flip = self.flip();
        out.extend_from_slice(&[flip, END ^ flip]);
    }

    /// Appends the bytes with which all values begin that start with `start`.
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
    pub(crate) fn decode(self, key: &[u8], at: usize) -> Result<(Vec<u8>, usize), NotFitting> {
        let flip = self.flip();
        let mut value = Vec::new();
        let mut next = at;
        // A run without zeros is taken as a whole.
        while let Some(len) = key[next..].iter().position(|byte| *byte == flip) {
            value.extend(key[next..next + len].iter().map(|byte| byte ^ flip));
            next += len + 1;
            match key.get(next).map(|byte| byte ^ flip) {
                Some(ESCAPED) => value.push(0),
                Some(END) => return Ok((value, next + 1)),
                _ => return Err(NotFitting::new(next, "neither an escaped zero nor a terminator")),
            }
            next += 1;
        }
        Err(NotFitting::new(key.len(), "the terminator is missing"))
    }

    fn flip(self) -> u8 {
        if self.desc { 0xFF } else { 0 }
    }
}
