//! Encodes and decodes requests.

use bytes::{BufMut, Bytes, BytesMut};
use prost::Message;
use rowhouse_model::{Cell, Error, Result};

use super::wire::{decode_message, delimited_len, take_delimited};
use super::{Call, CellCodec, CellReader, Method, Service, shape};
use crate::exception::malformed;
use crate::proto;

/// A received request with the message undecoded.
///
/// Two header fields are ignored: the tracing context, and the attributes, which serve extensions.
#[derive(Clone, Debug)]
pub struct Request {
    /// The client's id for the call, repeated in the response.
    pub call_id: u32,
    /// The requested method.
    pub method: Method,
    /// 0 for ordinary calls, 200 for calls about `hbase:meta`.
    pub priority: u32,
    /// The client's timeout in milliseconds; `None` if it sent none.
    pub timeout_ms: Option<u32>,
    /// The message, undecoded.
    pub message: Bytes,
    /// The cell block; empty if there is none.
    pub cells: Bytes,
}

/// The reason a request could not be decoded.
#[derive(Debug)]
pub struct RequestError {
    /// The call to answer with the error; if `None`, the connection must close.
    pub call_id: Option<u32>,
    /// The error.
    pub error: Error,
}

impl Request {
    /// Decodes a frame on a connection to `service`. The request shares the frame's bytes.
    ///
    /// # Errors
    /// A malformed envelope, a method that `service` does not have, or a message with too many
    /// parts to decode.
    pub fn decode(mut frame: Bytes, service: Service) -> Result<Self, RequestError> {
        let header: proto::RequestHeader = take_delimited(&mut frame)
            .and_then(decode_message)
            .map_err(|error| RequestError { call_id: None, error })?;
        let call_id = header.call_id.unwrap_or_default();
        Self::decode_call(call_id, header, frame, service)
            .map_err(|error| RequestError { call_id: Some(call_id), error })
    }

    fn decode_call(
        call_id: u32,
        header: proto::RequestHeader,
        mut frame: Bytes,
        service: Service,
    ) -> Result<Self> {
        if header.request_param != Some(true) {
            return Err(malformed("Invalid request header: should have param set in it"));
        }
        let name = header.method_name.as_deref().unwrap_or_default();
        let method = Method::from_name(service, name).ok_or_else(|| {
            Error::unsupported(format!("unknown method: service={}, method={name}", service.name()))
        })?;
        let message = take_delimited(&mut frame)?;
        shape::check(method, &message)?;
        let block_len = header.cell_block_meta.and_then(|meta| meta.length).unwrap_or(0) as usize;
        if block_len > frame.len() {
            return Err(malformed(format!(
                "cell block longer than its frame: len={block_len}, available={}",
                frame.len()
            )));
        }
        frame.truncate(block_len);
        Ok(Self {
            call_id,
            method,
            priority: header.priority.unwrap_or(0),
            timeout_ms: header.timeout.filter(|&ms| ms > 0),
            message,
            cells: frame,
        })
    }

    /// Decodes the message as the type that belongs to [`Request::method`].
    ///
    /// # Errors
    /// `Protocol` if the bytes are not such a message.
    pub fn message<M: Message + Default>(&self) -> Result<M> {
        decode_message(self.message.clone())
    }

    /// Returns the cells in the cell block, in the connection's codec.
    pub fn cells(&self, codec: Option<CellCodec>) -> CellReader {
        CellReader::new(codec.unwrap_or_default(), self.cells.clone())
    }
}

/// The header fields that a client sends with the message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestHead {
    /// The client's id for the call.
    pub call_id: u32,
    /// 0 for ordinary calls, 200 for calls about `hbase:meta`.
    pub priority: u32,
    /// The client's timeout in milliseconds.
    pub timeout_ms: Option<u32>,
}

/// Writes a request, with `cells` as the cell block if there are any.
///
/// # Errors
/// `InvalidRequest` if the frame exceeds the length field.
pub fn encode_request<'a, M: Call>(
    out: &mut BytesMut,
    head: RequestHead,
    message: &M,
    codec: Option<CellCodec>,
    cells: impl IntoIterator<Item = &'a Cell, IntoIter: Clone>,
) -> Result<()> {
    let codec = codec.unwrap_or_default();
    let cells = cells.into_iter().map(Cell::as_key_value);
    let block_len: usize = cells.clone().map(|cell| codec.len_of(cell)).sum();
    let header = proto::RequestHeader {
        call_id: Some(head.call_id),
        method_name: Some(M::METHOD.name().to_owned()),
        request_param: Some(true),
        cell_block_meta: super::response::cell_block_meta(block_len)?,
        priority: (head.priority != 0).then_some(head.priority),
        timeout: head.timeout_ms,
        ..Default::default()
    };
    let len = delimited_len(&header) + delimited_len(message) + block_len;
    out.reserve(4 + len);
    out.put_u32(super::response::frame_len(len)?);
    header.encode_length_delimited(out).expect("a BytesMut grows");
    message.encode_length_delimited(out).expect("a BytesMut grows");
    cells.for_each(|cell| codec.put(out, cell));
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn rubbish_never_panics(bytes: Vec<u8>) {
            let _ = Request::decode(bytes.into(), Service::Client);
        }

        #[test]
        fn damaged_requests_never_panic(at: prop::sample::Index, flip in 1u8.., cut: prop::sample::Index) {
            let mut out = BytesMut::new();
            let message = proto::GetRequest::default();
            encode_request(&mut out, RequestHead::default(), &message, None, []).unwrap();
            let mut frame = out.split_off(4);
            let at = at.index(frame.len());
            frame[at] ^= flip;
            frame.truncate(cut.index(frame.len()) + 1);
            if let Ok(request) = Request::decode(frame.freeze(), Service::Client) {
                let _ = request.message::<proto::GetRequest>();
            }
        }
    }

    #[test]
    fn an_unknown_method_is_answered_under_its_call_id() {
        let mut out = BytesMut::new();
        let head = RequestHead { call_id: 9, ..Default::default() };
        encode_request(&mut out, head, &proto::GetRequest::default(), None, []).unwrap();
        let refusal = Request::decode(out.split_off(4).freeze(), Service::Admin).unwrap_err();
        assert_eq!(refusal.call_id, Some(9));
        assert_eq!(refusal.error.message(), "unknown method: service=AdminService, method=Get");
    }
}
