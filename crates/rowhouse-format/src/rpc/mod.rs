//! The RPC protocol around the messages (`docs/formats/rpc.md`).
//!
//! Server side: [`ServerConnection`] turns one connection's bytes into [`ServerEvent`]s;
//! [`encode_response`] and [`encode_exception`] write the responses. Client side:
//! [`ConnectionHead::encode_opening`] starts a connection, [`encode_request`] writes requests,
//! [`FrameDecoder`] and [`Response::decode`] parse the responses.

mod call;
mod cell_block;
mod connection;
mod frame;
mod header;
mod preamble;
mod request;
mod response;
mod shape;
mod wire;

pub use call::{Call, Method, Service, Side};
pub use cell_block::{CellBlock, CellCodec, CellReader};
pub use connection::{Authentication, SaslReply, ServerConnection, ServerEvent};
pub use frame::{FRAME_LEN_MAX, FrameDecoder, FrameTooLong};
pub use header::ConnectionHead;
pub use preamble::{PREAMBLE_LEN, Preamble};
pub use request::{Request, RequestError, RequestHead, encode_request};
pub use response::{Body, FATAL_CALL_ID, Response, encode_exception, encode_response};
pub use wire::decode_message;
