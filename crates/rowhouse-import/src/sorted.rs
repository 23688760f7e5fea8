//! Sorted rows, to be loaded as store files.

use std::path::Path;

use rowhouse::Result;

use crate::load::load;
use crate::progress::Reporter;
use crate::sort::Sorter;
use crate::summary::Summary;

/// An import's sorted rows; [`Import::sort`](crate::Import::sort) returns them.
pub struct SortedRows {
    pub(crate) sorter: Sorter,
    pub(crate) summary: Summary,
    pub(crate) reporter: Reporter,
}

impl SortedRows {
    /// Writes the rows to files in the table's regions and adds these to the table, atomically.
    /// `dir` is the data directory for the store that has the table. Nothing may have it open:
    /// close the database first. It blocks the thread.
    ///
    /// # Errors
    /// `InUse` if something has the store open; otherwise as `rowhouse_store::Store::load_rows`.
    pub fn load(self, dir: impl AsRef<Path>) -> Result<Summary> {
        let Self { mut sorter, mut summary, mut reporter } = self;
        reporter.restart();
        load(dir.as_ref(), &summary.table, &mut sorter, &mut reporter, summary.bytes)?;
        summary.elapsed += reporter.elapsed();
        summary.written = summary.counts.rows - summary.counts.rejected;
        Ok(summary)
    }
}
