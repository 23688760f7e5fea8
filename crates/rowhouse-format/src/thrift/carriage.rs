//! How a connection's messages are encoded and delimited.

use rowhouse_model::Result;

use super::extent::MESSAGE_BYTES_MAX;
use super::wire::Protocol;
use crate::exception::malformed;

/// How a connection's messages are encoded and delimited. A server that is started with the options
/// of HBase's accepts one kind; here the first five bytes of a connection tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carriage {
    /// How they are encoded.
    pub protocol: Protocol,
    /// Whether a length of four bytes stands before each.
    pub is_framed: bool,
}

/// The first byte of a strict binary message.
const BINARY: u8 = 0x80;
/// The first byte of a compact message.
const COMPACT: u8 = 0x82;
/// The first byte of the longest frame's length.
const LEN_FIRST_MAX: u8 = (MESSAGE_BYTES_MAX >> 24) as u8;

impl Carriage {
    /// Returns how the messages come of which these are the first bytes, or `None` as long as the
    /// bytes do not tell.
    ///
    /// ```text
    ///  80 …                     binary
    ///  82 …                     compact
    ///  length (4), 80 or 82 …   the same in frames
    ///  length (4), 00 …         binary without a version, in frames: the name's length follows
    ///  length (4), letter …     binary without a version: the name follows
    /// ```
    ///
    /// # Errors
    /// `Protocol` if no message of a client begins so.
    pub fn detect(input: &[u8]) -> Result<Option<Self>> {
        let (protocol, is_framed) = match *input {
            [] => return Ok(None),
            [BINARY, ..] => (Protocol::Binary, false),
            [COMPACT, ..] => (Protocol::Compact, false),
            [0..=LEN_FIRST_MAX, _, _, _, BINARY | 0, ..] => (Protocol::Binary, true),
            [0..=LEN_FIRST_MAX, _, _, _, COMPACT, ..] => (Protocol::Compact, true),
            [0, 0, _, _, letter, ..] if letter.is_ascii_alphabetic() => (Protocol::Binary, false),
            [0..=LEN_FIRST_MAX]
            | [0..=LEN_FIRST_MAX, _]
            | [0..=LEN_FIRST_MAX, _, _]
            | [0..=LEN_FIRST_MAX, _, _, _] => return Ok(None),
            _ => {
                let first: Vec<_> =
                    input.iter().take(5).map(|byte| format!("{byte:02x}")).collect();
                let message = format!("not a message of Thrift: first bytes {}", first.join(" "));
                return Err(malformed(message));
            }
        };
        Ok(Some(Self { protocol, is_framed }))
    }
}
