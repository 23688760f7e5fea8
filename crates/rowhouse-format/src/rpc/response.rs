//! Encodes and decodes responses.

use bytes::{BufMut, Bytes, BytesMut};
use prost::Message;
use rowhouse_model::{Error, KeyValue, Result};

use super::wire::{decode_message, delimited_len, take_delimited};
use super::{CellCodec, CellReader};
use crate::exception::{Exception, malformed};
use crate::proto;

/// The call id, −1, in server messages that answer no call.
pub const FATAL_CALL_ID: u32 = u32::MAX;

/// Writes a response, with `cells` as the cell block if there are any. The cells are copied
/// directly into `out`.
///
/// # Errors
/// `InvalidRequest` if the frame exceeds the length field; `out` is then unchanged.
pub fn encode_response<'a>(
    out: &mut BytesMut,
    call_id: u32,
    message: &impl Message,
    codec: CellCodec,
    cells: impl IntoIterator<Item = KeyValue<'a>, IntoIter: Clone>,
) -> Result<()> {
    let cells = cells.into_iter();
    let block_len = cells.clone().map(|cell| codec.len_of(cell)).sum();
    encode_envelope(out, call_id, message, block_len)?;
    cells.for_each(|cell| codec.put(out, cell));
    Ok(())
}

/// Writes a response up to the cell block, which has `block_len` bytes.
fn encode_envelope(
    out: &mut BytesMut,
    call_id: u32,
    message: &impl Message,
    block_len: usize,
) -> Result<()> {
    let header = proto::ResponseHeader {
        call_id: Some(call_id),
        exception: None,
        cell_block_meta: cell_block_meta(block_len)?,
    };
    let len = delimited_len(&header) + delimited_len(message) + block_len;
    let prefix = frame_len(len)?;
    out.reserve(4 + len);
    out.put_u32(prefix);
    header.encode_length_delimited(out).expect("a BytesMut grows");
    message.encode_length_delimited(out).expect("a BytesMut grows");
    Ok(())
}

/// Writes the response to a failed call.
pub fn encode_exception(out: &mut BytesMut, call_id: u32, exception: &Exception) {
    let header = proto::ResponseHeader {
        call_id: Some(call_id),
        exception: Some(exception.to_response()),
        cell_block_meta: None,
    };
    out.put_u32(delimited_len(&header) as u32);
    header.encode_length_delimited(out).expect("a BytesMut grows");
}

/// Returns the header field that describes a cell block; `None` for an empty one.
pub(super) fn cell_block_meta(block_len: usize) -> Result<Option<proto::CellBlockMeta>> {
    if block_len == 0 {
        return Ok(None);
    }
    Ok(Some(proto::CellBlockMeta { length: Some(frame_len(block_len)?) }))
}

/// Checks that a frame's length fits a signed 32-bit number.
pub(super) fn frame_len(len: usize) -> Result<u32> {
    i32::try_from(len).map(|len| len as u32).map_err(|_| {
        Error::invalid(format!("message with cells too long: len={len}, max={}", i32::MAX))
    })
}

/// A received response with the message undecoded.
#[derive(Debug)]
pub struct Response {
    /// The call it answers, or [`FATAL_CALL_ID`].
    pub call_id: u32,
    /// The message, or the exception.
    pub outcome: Result<Body, Exception>,
}

/// A response's message and cells.
#[derive(Clone, Debug)]
pub struct Body {
    message: Bytes,
    cells: Bytes,
}

impl Response {
    /// Decodes a frame. The response shares the frame's bytes.
    ///
    /// # Errors
    /// `Protocol` for a malformed envelope.
    pub fn decode(mut frame: Bytes) -> Result<Self> {
        let header: proto::ResponseHeader = take_delimited(&mut frame).and_then(decode_message)?;
        let call_id = header.call_id.unwrap_or_default();
        if let Some(exception) = header.exception {
            return Ok(Self { call_id, outcome: Err(Exception::from_response(exception)) });
        }
        let message = take_delimited(&mut frame)?;
        let block_len = header.cell_block_meta.and_then(|meta| meta.length).unwrap_or(0) as usize;
        if block_len > frame.len() {
            return Err(malformed(format!(
                "cell block longer than its frame: len={block_len}, available={}",
                frame.len()
            )));
        }
        frame.truncate(block_len);
        Ok(Self { call_id, outcome: Ok(Body { message, cells: frame }) })
    }
}

impl Body {
    /// Decodes the message as the type that belongs to the call.
    ///
    /// # Errors
    /// `Protocol` if the bytes are not such a message.
    pub fn message<M: Message + Default>(&self) -> Result<M> {
        decode_message(self.message.clone())
    }

    /// Returns the undecoded message.
    pub fn message_bytes(&self) -> &Bytes {
        &self.message
    }

    /// Returns the cells in the cell block, in the connection's codec.
    pub fn cells(&self, codec: Option<CellCodec>) -> CellReader {
        CellReader::new(codec.unwrap_or_default(), self.cells.clone())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rowhouse_model::{Cell, CellKind, ErrorKind, Timestamp};

    use super::*;

    #[test]
    fn the_registry_answer_is_apaches() {
        // Recorded: a response with call id −1 and the cluster id.
        let cluster_id = "0123456789abcdef0123456789abcdef0123";
        let message = proto::GetConnectionRegistryResponse { cluster_id: cluster_id.into() };
        let mut out = BytesMut::new();
        encode_response(&mut out, FATAL_CALL_ID, &message, CellCodec::KeyValue, []).unwrap();
        let expected =
            [&b"\0\0\0\x2e\x06\x08\xff\xff\xff\xff\x0f\x26\x0a\x24"[..], cluster_id.as_bytes()];
        assert_eq!(&out[..], expected.concat());
    }

    #[test]
    fn cells_come_back() {
        let cells = [1, 2, 3].map(|millis| {
            let at = Timestamp::from_millis(millis).unwrap();
            Cell::new("row", "cf", "q", at, CellKind::Put, "value").unwrap()
        });
        let mut out = BytesMut::new();
        let message = proto::GetResponse::default();
        encode_response(
            &mut out,
            5,
            &message,
            CellCodec::KeyValue,
            cells.iter().map(Cell::as_key_value),
        )
        .unwrap();
        let response = Response::decode(out.split_off(4).freeze()).unwrap();
        assert_eq!(response.call_id, 5);
        let body = response.outcome.unwrap();
        assert_eq!(body.message::<proto::GetResponse>().unwrap(), message);
        assert_eq!(body.cells(None).take_cells(3).unwrap(), cells);
    }

    #[test]
    fn exceptions_come_back() {
        let error = Error::new(ErrorKind::TableNotFound, "t");
        let mut out = BytesMut::new();
        encode_exception(&mut out, 5, &Exception::from(&error));
        let response = Response::decode(out.split_off(4).freeze()).unwrap();
        let read = response.outcome.unwrap_err().into_error();
        assert_eq!((read.kind(), read.message()), (ErrorKind::TableNotFound, "t"));
    }

    proptest! {
        #[test]
        fn rubbish_never_panics(bytes: Vec<u8>) {
            let _ = Response::decode(bytes.into());
        }
    }
}
