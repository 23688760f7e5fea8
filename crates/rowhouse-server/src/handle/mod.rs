//! Call handlers, one module per method group.

pub(crate) mod admin;
pub(crate) mod bulk_load;
pub(crate) mod endpoint;
pub(crate) mod get;
pub(crate) mod hbck;
pub(crate) mod master;
pub(crate) mod multi;
pub(crate) mod mutate;
pub(crate) mod registry;
pub(crate) mod replicate;
pub(crate) mod scan;
pub(crate) mod server;
pub(crate) mod slow_log;

use rowhouse_model::Row;

/// Returns the bytes in a row's cells, the unit for the limits on answers.
fn bytes_of(row: &Row) -> u64 {
    row.cells().map(|cell| cell.as_bytes().len() as u64).sum()
}
