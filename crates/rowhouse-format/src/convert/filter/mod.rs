//! Filters, each by the name of its Java class.

mod from;
mod fuzzy;
mod to;

use bytes::Bytes;
use prost::Message;
use rowhouse_model::{Error, Result};

pub use from::from_proto;
pub use to::to_proto;

/// Where HBase's filters and comparators are.
pub(super) const PACKAGE: &str = "org.apache.hadoop.hbase.filter.";

/// Reads what a class has written.
pub(super) fn read<M: Message + Default>(name: &str, bytes: Bytes) -> Result<M> {
    M::decode(bytes).map_err(|source| {
        Error::invalid(format!("{name} cannot be read: {source}")).with_source(source)
    })
}

/// A field without which HBase does not read a class.
pub(super) fn missing(name: &str, field: &str) -> Error {
    Error::invalid(format!("{name} cannot be read: missing={field}"))
}

#[cfg(test)]
mod tests;
