//! Bodies of answers: rows, which are written part by part, and descriptions.

mod cluster;
mod describe;
mod key;
mod row_body;
mod row_writer;
mod tables;

pub(super) use self::cluster::{ClusterStatus, ClusterVersion, Version};
pub(super) use self::describe::description;
pub(super) use self::key::decoded_keys;
pub(super) use self::row_body::{OpenScan, RowAnswer};
pub(super) use self::row_writer::Form;
pub(super) use self::tables::{NamespaceNames, Properties, Regions, Schema, TableNames};

use base64::Engine;

/// Encodes Base64 as Java does, with padding.
pub(super) fn base64(bytes: &[u8]) -> String {
    super::row_spec::BASE64.encode(bytes)
}
