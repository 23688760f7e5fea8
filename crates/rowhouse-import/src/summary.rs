//! An import's outcome.

use std::path::PathBuf;
use std::time::Duration;

use rowhouse::schema::TableName;
use rowhouse::{Error, Result};

use crate::journal::Progress;
use crate::rows::Inputs;
use crate::survey::Counts;

/// An import's outcome.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Summary {
    /// The table.
    pub table: TableName,
    /// The file count.
    pub files: usize,
    /// Bytes in the files.
    pub bytes: u64,
    /// Rows by kind.
    pub counts: Counts,
    /// Whether the rows were only checked.
    pub is_dry_run: bool,
    /// Whether a check found that the import would be refused, because rows have the same key as
    /// another row.
    pub is_refused: bool,
    /// The first rows with the same key as another row; only for a check.
    pub examples: Vec<String>,
    /// A remark for each field in a file whose times were recognized in another form than the one
    /// in which times are printed.
    pub times: Vec<String>,
    /// The first rejected row, by file and line, and the reason; not for an import that was
    /// resumed.
    pub first_rejected: Option<String>,
    /// The files with rejected rows.
    pub rejects: Vec<PathBuf>,
    /// Rows that are written, also those by an earlier, interrupted import that this one resumed.
    pub written: u64,
    /// Whether it resumed an interrupted import.
    pub is_resumed: bool,
    /// The time that it took.
    pub elapsed: Duration,
}

impl Summary {
    pub(crate) fn new(table: &TableName, inputs: &Inputs, is_dry_run: bool) -> Self {
        Self {
            table: table.clone(),
            files: inputs.len(),
            bytes: inputs.bytes(),
            counts: Counts::default(),
            is_dry_run,
            is_refused: false,
            examples: Vec::new(),
            times: Vec::new(),
            first_rejected: None,
            rejects: Vec::new(),
            written: 0,
            is_resumed: false,
            elapsed: Duration::ZERO,
        }
    }

    /// Returns the dry run summary for an interrupted import.
    pub(crate) fn dry_run_of_resumed(self, reached: Progress) -> Self {
        let Progress { counts, rejects, written, .. } = reached;
        Self { counts, rejects, written, is_resumed: true, ..self }
    }

    /// Returns an error if the written row count is not the expected one.
    pub(crate) fn check_all_written(&self) -> Result<()> {
        let want = self.counts.rows - self.counts.rejected;
        if self.written == want {
            Ok(())
        } else {
            Err(Error::invalid(format!(
                "a file changed while it was imported: rows to write={want}, written={}",
                self.written
            )))
        }
    }
}
