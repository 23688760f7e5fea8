//! Filters, identified by Java class name.

mod from;
mod fuzzy;
mod to;

use bytes::Bytes;
use prost::Message;
use rowhouse_model::{Error, Result};

pub use from::from_proto;
pub use to::to_proto;

/// The Java package for HBase's filters and comparators.
pub(super) const PACKAGE: &str = "org.apache.hadoop.hbase.filter.";

/// Decodes a class's message.
pub(super) fn read<M: Message + Default>(name: &str, bytes: Bytes) -> Result<M> {
    M::decode(bytes).map_err(|source| {
        Error::invalid(format!("{name} cannot be read: {source}")).with_source(source)
    })
}

/// Returns the error for a missing field that HBase requires.
pub(super) fn missing(name: &str, field: &str) -> Error {
    Error::invalid(format!("{name} cannot be read: missing={field}"))
}

#[cfg(test)]
mod tests;
