//! Whole stores in other directories: a checkpoint and a backup of one that is open, and a copy of one that nobody has
//! open, which is also how a backup comes back.

mod closed;
mod open;
mod target;

pub use closed::copy_store;

use rowhouse_model::{Error, Result};

use crate::check::CheckReport;

/// What was copied.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct CopyReport {
    /// Tables, without those of the system.
    pub tables: usize,
    /// Snapshots of tables.
    pub snapshots: usize,
    /// HFiles of tables and snapshots.
    pub files: usize,
    /// Bytes of those.
    pub file_bytes: u64,
    /// Bytes of the write-ahead log; 0 where everything is in HFiles.
    pub log_bytes: u64,
}

/// Refuses what is not whole.
fn whole(report: CheckReport, what: &str) -> Result<CheckReport> {
    match report.problems.first() {
        None => Ok(report),
        Some(first) => Err(Error::corruption(format!(
            "{what} is not whole, nothing was made: {first}; problems={}",
            report.problems.len()
        ))),
    }
}
