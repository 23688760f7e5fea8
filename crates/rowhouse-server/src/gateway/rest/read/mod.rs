//! Bodies of requests: rows, scanners, schemas and properties of namespaces, in JSON, XML and
//! protobuf.

mod decoded;
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
use rowhouse_model::Result;

use self::decoded::unreadable;
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
