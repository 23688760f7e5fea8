//! The frames around SASL's messages.

use bytes::{Buf, BufMut, Bytes, BytesMut};
use rowhouse_model::Result;

use crate::exception::{Exception, malformed};

/// The longest message of DIGEST-MD5: RFC 2831 has responses of less than 4096 bytes.
pub const MESSAGE_LEN_MAX: usize = 4095;

const SUCCESS: u32 = 0;
const ERROR: u32 = 1;
/// In place of a length: the server does without authentication.
const SWITCH_TO_SIMPLE: i32 = -88;
/// The longest class name or message of a refusal.
const REFUSAL_LEN_MAX: usize = 64 << 10;

/// A server's frame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SaslAnswer {
    /// A message of the mechanism.
    Message(Bytes),
    /// The server does without authentication.
    SwitchToSimple,
    /// The server refuses the client, and closes the connection.
    Refused(Exception),
}

/// Writes a client's message.
pub fn encode_client_frame(out: &mut BytesMut, message: &[u8]) {
    out.put_u32(message.len() as u32);
    out.put_slice(message);
}

/// Writes a server's message.
pub fn encode_server_frame(out: &mut BytesMut, message: &[u8]) {
    out.put_u32(SUCCESS);
    encode_client_frame(out, message);
}

/// Writes that the connection goes on without authentication.
pub fn encode_switch_to_simple(out: &mut BytesMut) {
    out.put_u32(SUCCESS);
    out.put_i32(SWITCH_TO_SIMPLE);
}

/// Writes why a client is refused.
pub fn encode_refusal(out: &mut BytesMut, refusal: &Exception) {
    out.put_u32(ERROR);
    encode_client_frame(out, refusal.class.as_bytes());
    // Java's client reads no empty message.
    let message = if refusal.message.is_empty() { "refused" } else { &refusal.message };
    encode_client_frame(out, message.as_bytes());
}

/// Takes a server's frame off the front of `input`; `None` until it is complete.
///
/// # Errors
/// `Protocol` for bytes that are no such frame.
pub fn take_answer(input: &mut BytesMut) -> Result<Option<SaslAnswer>> {
    let mut rest = &input[..];
    let answer = match rest.try_get_u32() {
        Err(_) => return Ok(None),
        Ok(SUCCESS) => match rest.try_get_i32() {
            Err(_) => return Ok(None),
            Ok(SWITCH_TO_SIMPLE) => SaslAnswer::SwitchToSimple,
            Ok(len) => match take(&mut rest, len, MESSAGE_LEN_MAX)? {
                None => return Ok(None),
                Some(message) => SaslAnswer::Message(Bytes::copy_from_slice(message)),
            },
        },
        Ok(ERROR) => {
            let Some(class) = take_text(&mut rest)? else { return Ok(None) };
            let Some(message) = take_text(&mut rest)? else { return Ok(None) };
            SaslAnswer::Refused(Exception { class: class.into(), message, do_not_retry: true })
        }
        Ok(status) => return Err(malformed(format!("unknown SASL status: {status}"))),
    };
    let taken = input.len() - rest.len();
    input.advance(taken);
    Ok(Some(answer))
}

fn take_text(rest: &mut &[u8]) -> Result<Option<String>> {
    let Ok(len) = rest.try_get_i32() else { return Ok(None) };
    // Hadoop writes -1 for a text that is null.
    let text = take(rest, len.max(0), REFUSAL_LEN_MAX)?;
    Ok(text.map(|text| String::from_utf8_lossy(text).into_owned()))
}

fn take<'a>(rest: &mut &'a [u8], len: i32, max: usize) -> Result<Option<&'a [u8]>> {
    let len = usize::try_from(len).ok().filter(|len| *len <= max);
    let len =
        len.ok_or_else(|| malformed(format!("a SASL frame has a wrong length: max={max}")))?;
    if rest.len() < len {
        return Ok(None);
    }
    let taken;
    (taken, *rest) = rest.split_at(len);
    Ok(Some(taken))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn answers_are_read_whole_as_written() {
        let refusal = Exception::access_denied("no");
        let mut bytes = BytesMut::new();
        encode_server_frame(&mut bytes, b"challenge");
        encode_switch_to_simple(&mut bytes);
        encode_refusal(&mut bytes, &refusal);
        let expected = [
            SaslAnswer::Message("challenge".into()),
            SaslAnswer::SwitchToSimple,
            SaslAnswer::Refused(refusal),
        ];
        for piece in 1..bytes.len() {
            let mut input = BytesMut::new();
            let mut answers = Vec::new();
            for part in bytes.chunks(piece) {
                input.extend_from_slice(part);
                while let Some(answer) = take_answer(&mut input).unwrap() {
                    answers.push(answer);
                }
            }
            assert_eq!(answers, expected);
        }
    }

    #[test]
    fn over_long_and_unknown_answers_are_refused_at_once() {
        for bytes in [&b"\0\0\0\x02"[..], b"\0\0\0\0\0\0\x10\0", b"\0\0\0\0\xFF\xFF\xFF\xA9"] {
            assert!(take_answer(&mut BytesMut::from(bytes)).is_err(), "{bytes:?}");
        }
    }

    proptest! {
        #[test]
        fn rubbish_never_panics(bytes: Vec<u8>) {
            let _ = take_answer(&mut BytesMut::from(&bytes[..]));
        }
    }
}
