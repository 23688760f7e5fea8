//! `string`: UTF-8 in which 00 is written 00 FF, with the terminator 00 01 behind it.
//!
//! A value that goes on is greater than one that ends, whatever it goes on with, because nothing
//! that can stand at the place of the terminator is less than it. `desc` complements every byte.

use crate::error::NotFitting;
use crate::value::Value;

/// The codec of `string`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Terminated {
    pub(crate) desc: bool,
}

const ESCAPED: u8 = 0xFF;
const END: u8 = 0x01;

impl Terminated {
    /// Appends the bytes of a text: every text has some.
    pub(crate) fn put(self, text: &str, out: &mut Vec<u8>) {
        self.start(text, out);
        let flip = self.flip();
        out.extend_from_slice(&[flip, END ^ flip]);
    }

    /// Appends the bytes with which all values begin that start with `text`.
    pub(crate) fn start(self, text: &str, out: &mut Vec<u8>) {
        let flip = self.flip();
        for byte in text.bytes() {
            out.push(byte ^ flip);
            if byte == 0 {
                out.push(ESCAPED ^ flip);
            }
        }
    }

    pub(crate) fn decode(self, key: &[u8], at: usize) -> Result<(Value, usize), NotFitting> {
        let flip = self.flip();
        let mut text = Vec::new();
        let mut next = at;
        while let Some(byte) = key.get(next).map(|byte| byte ^ flip) {
            next += 1;
            if byte != 0 {
                text.push(byte);
                continue;
            }
            match key.get(next).map(|byte| byte ^ flip) {
                Some(ESCAPED) => text.push(0),
                Some(END) => return Ok((super::utf8(text, at)?, next + 1)),
                _ => return Err(NotFitting::new(next, "neither an escaped zero nor a terminator")),
            }
            next += 1;
        }
        Err(NotFitting::new(key.len(), "the string's terminator is missing"))
    }

    fn flip(self) -> u8 {
        if self.desc { 0xFF } else { 0 }
    }
}
