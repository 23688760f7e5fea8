//! One file for each thing that clients ask for.

pub(crate) mod admin;
pub(crate) mod bulk_load;
pub(crate) mod endpoint;
pub(crate) mod get;
pub(crate) mod hbck;
pub(crate) mod master;
pub(crate) mod multi;
pub(crate) mod mutate;
pub(crate) mod registry;
pub(crate) mod scan;
pub(crate) mod server;
pub(crate) mod slow_log;

use rowhouse_model::Row;

/// Bytes of cells, as answers are bounded by.
fn bytes_of(row: &Row) -> u64 {
    row.cells().map(|cell| cell.as_bytes().len() as u64).sum()
}

/// Whether what would wait or may take long is done, or left to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum WaitMode {
    NonBlocking,
    Blocking,
}
