//! Copies whole stores into other directories: a checkpoint and a backup made from an open store,
//! and a copy made from a store that is not open, which also restores a backup.

mod closed;
mod open;
mod target;

pub use closed::copy_store;

use rowhouse_model::{Error, Result};

use crate::check::CheckReport;

/// A copy's totals.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct CopyReport {
    /// Tables, without system tables.
    pub tables: usize,
    /// Table snapshots.
    pub snapshots: usize,
    /// HFiles for tables and snapshots.
    pub files: usize,
    /// Bytes in these HFiles.
    pub file_bytes: u64,
    /// Bytes in the write-ahead log; 0 if all cells are in HFiles.
    pub log_bytes: u64,
}

/// Refuses a damaged store.
fn whole(report: CheckReport, what: &str) -> Result<CheckReport> {
    match report.problems.first() {
        None => Ok(report),
        Some(first) => Err(Error::corruption(format!(
            "{what} is damaged, nothing was written: {first}; problems={}",
            report.problems.len()
        ))),
    }
}
