//! Length-prefixed messages, as protobuf delimits them.

use bytes::{Buf, Bytes};
use prost::Message;
use rowhouse_model::Result;

use crate::exception::malformed;

/// Decodes a whole message; the byte fields share `bytes`.
///
/// # Errors
/// `Protocol` if the bytes are not such a message.
pub fn decode_message<M: Message + Default>(bytes: Bytes) -> Result<M> {
    let len = bytes.len();
    M::decode(bytes).map_err(|error| malformed(format!("malformed message: {error}, len={len}")))
}

/// Takes a varint length and that many bytes off the front of `bytes`.
pub(super) fn take_delimited(bytes: &mut Bytes) -> Result<Bytes> {
    let available = bytes.len();
    let len = prost::decode_length_delimiter(&mut *bytes)
        .map_err(|_| malformed(format!("malformed length: available={available}")))?;
    if len > bytes.remaining() {
        return Err(malformed(format!(
            "message longer than its frame: len={len}, available={}",
            bytes.remaining()
        )));
    }
    Ok(bytes.split_to(len))
}

/// Returns how long `message` is, in bytes, varint length prefix included.
pub(super) fn delimited_len(message: &impl Message) -> usize {
    let len = message.encoded_len();
    prost::length_delimiter_len(len) + len
}
