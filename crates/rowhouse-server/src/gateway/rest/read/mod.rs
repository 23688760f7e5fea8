//! Bodies of requests: rows, scanners, schemas and properties of namespaces, in JSON, XML and
//! protobuf.

mod filter;
mod json;
mod namespace;
mod protobuf;
mod scanner;
mod schema;
mod xml;

pub(super) use self::namespace::properties;
pub(super) use self::scanner::scanner;
pub(super) use self::schema::{SchemaModel, schema};
pub(super) use self::xml::xml_cells;

use bytes::Bytes;
use rowhouse_model::{Error, ErrorKind, Result};

use super::media::Media;
use super::model::{Budget, CellSet};

/// Reads rows.
///
/// # Errors
/// `InvalidRequest` for what is not of the media type; `ResponseTooLarge` beyond the budget.
pub(super) fn cells(media: Media, body: &Bytes, budget: &mut Budget) -> Result<CellSet> {
    match media {
        Media::Json => json::cells(body, budget),
        Media::Xml => xml_cells(body, budget),
        Media::Protobuf | Media::ProtobufIetf => protobuf::cells(body, budget),
        Media::Text | Media::Binary => Err(unreadable(media)),
    }
}

fn unreadable(media: Media) -> Error {
    Error::new(ErrorKind::Unsupported, format!("not readable from {}", media.name()))
}

/// Returns a body as text.
///
/// # Errors
/// `InvalidRequest` for what is not UTF-8.
fn text(body: &[u8]) -> Result<&str> {
    std::str::from_utf8(body).map_err(|error| Error::invalid(format!("not UTF-8: {error}")))
}

/// Decodes Base64 in JSON or XML.
///
/// # Errors
/// `InvalidRequest`.
fn base64(text: &str) -> Result<Bytes> {
    use base64::Engine;
    let decoded = super::row_spec::BASE64.decode(text.trim());
    decoded.map(Bytes::from).map_err(|error| Error::invalid(format!("not Base64: {error}")))
}
