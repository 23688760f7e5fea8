//! Authentication by a token when a connection begins: SASL with DIGEST-MD5 (RFC 2831), as HBase's
//! clients do it.
//!
//! The preamble announces it ([`Preamble::Digest`](crate::rpc::Preamble::Digest)). Then, before the
//! connection header:
//!
//! ```text
//! client ─▶ 4 bytes: 0                      an empty frame
//! server ─▶ 4 bytes: 0 │ 4 bytes: len │ challenge         realm, nonce, qop
//! client ─▶ 4 bytes: len │ response                       user name, digest of the password
//! server ─▶ 4 bytes: 0 │ 4 bytes: len │ rspauth           the server knows the password, too
//!        or 4 bytes: 1 │ 4 bytes: len │ class │ 4 bytes: len │ message
//!        or 4 bytes: 0 │ 4 bytes: -88                     go on without authentication
//! ```
//!
//! The user name is the token's identifier in Base64, the password the token's password in Base64.

mod digest;
mod directives;
mod frame;

pub use digest::{Challenge, DigestResponse};
pub use frame::{
    MESSAGE_LEN_MAX, SaslAnswer, encode_client_frame, encode_refusal, encode_server_frame,
    encode_switch_to_simple, take_answer,
};
