//! Texts and Base64 in bodies.

use base64::Engine;
use bytes::Bytes;
use rowhouse_model::{Error, ErrorKind, Result};

use crate::gateway::rest::media::Media;
use crate::gateway::rest::row_spec::BASE64;

/// Returns the error for a media type that a body of this kind does not have.
pub(super) fn unreadable(media: Media) -> Error {
    Error::new(ErrorKind::Unsupported, format!("not readable from {}", media.name()))
}

/// Returns a body as text.
///
/// # Errors
/// `InvalidRequest` for what is not UTF-8.
pub(super) fn text(body: &[u8]) -> Result<&str> {
    std::str::from_utf8(body).map_err(|error| Error::invalid(format!("not UTF-8: {error}")))
}

/// Decodes Base64 in JSON or XML, whose lines may be wrapped.
///
/// # Errors
/// `InvalidRequest`.
pub(super) fn base64(text: &str) -> Result<Bytes> {
    let is_wrapped = text.bytes().any(|byte| byte.is_ascii_whitespace());
    let decoded = if is_wrapped {
        BASE64.decode(text.split_ascii_whitespace().collect::<String>())
    } else {
        BASE64.decode(text)
    };
    decoded.map(Bytes::from).map_err(|error| Error::invalid(format!("not Base64: {error}")))
}
