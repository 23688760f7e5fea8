//! The report at the end of an import.

use std::fmt::Write;
use std::path::PathBuf;

use rowhouse::schema::TableName;
use rowhouse::{Error, Result};
use serde_json::{Value as Json, json};

use super::ImportArgs;
use super::journal::Progress;
use super::rows::Inputs;
use super::survey::Counts;
use crate::counted::counted;

/// The outcome for the rows.
pub(super) struct Summary {
    table: String,
    files: usize,
    is_dry_run: bool,
    /// Whether this dry run found that the import would be refused.
    pub(super) is_refused: bool,
    /// Bytes of the files.
    pub(super) bytes: u64,
    pub(super) counts: Counts,
    /// The first rows that have the key of another, if nothing was to be written.
    pub(super) examples: Vec<String>,
    /// How times were recognized, if they are not in the printed form.
    pub(super) times: Vec<String>,
    /// Files of rejected rows.
    pub(super) rejects: Vec<PathBuf>,
    pub(super) written: u64,
    /// Whether it resumed an earlier import.
    pub(super) is_resumed: bool,
    pub(super) seconds: f64,
}

impl Summary {
    pub(super) fn new(args: &ImportArgs, table: &TableName, inputs: &Inputs) -> Self {
        Self {
            table: table.to_string(),
            files: inputs.len(),
            is_dry_run: args.rows.dry_run,
            is_refused: false,
            bytes: inputs.bytes(),
            counts: Counts::default(),
            examples: Vec::new(),
            times: Vec::new(),
            rejects: Vec::new(),
            written: 0,
            is_resumed: false,
            seconds: 0.0,
        }
    }

    /// Returns the report of a dry run for an interrupted import.
    pub(super) fn dry_run_of_resumed(self, reached: Progress) -> Self {
        let Progress { counts, rejects, written, .. } = reached;
        Self { counts, rejects, written, is_resumed: true, ..self }
    }

    /// Returns an error if the number of written rows is not the expected one.
    pub(super) fn check_all_written(&self) -> Result<()> {
        let want = self.counts.rows - self.counts.rejected;
        match self.written == want {
            true => Ok(()),
            false => Err(Error::invalid(format!(
                "a file changed while it was imported: rows to write={want}, written={}",
                self.written
            ))),
        }
    }

    /// Returns the report as text.
    pub(super) fn text(&self) -> String {
        let Counts { rows, rejected, same_key, in_table } = self.counts;
        let mut text = format!(
            "{} of {}: {rejected} rejected, {same_key} with the key of one before, {in_table} in the table already\n",
            counted(rows, "row"),
            counted(self.files as u64, "file"),
        );
        // Writing to a string does not fail.
        for example in &self.examples {
            let _ = writeln!(text, "  {example}");
        }
        for times in &self.times {
            let _ = writeln!(text, "{times}");
        }
        for path in &self.rejects {
            let _ = writeln!(text, "rejected rows are in {}", path.display());
        }
        let written = counted(self.written, "row");
        let _ = match (self.is_dry_run, self.is_resumed) {
            (true, _) if self.is_refused => {
                writeln!(
                    text,
                    "nothing was written, and nothing would be without --duplicates merge"
                )
            }
            (true, true) => writeln!(
                text,
                "nothing was written; the import would go on where one that was not ended came to: {written} of it written"
            ),
            (true, false) => writeln!(text, "nothing was written"),
            (false, true) => {
                writeln!(text, "{written} written to {}, going on where it was", self.table)
            }
            (false, false) => writeln!(text, "{written} written to {}", self.table),
        };
        text
    }

    /// Returns the report as JSON.
    pub(super) fn json(&self) -> Json {
        let rejects: Vec<_> = self.rejects.iter().map(|path| path.to_string_lossy()).collect();
        json!({
            "table": self.table,
            "files": self.files,
            "bytes": self.bytes,
            "rows": self.counts.rows,
            "rejected": self.counts.rejected,
            "same_key": self.counts.same_key,
            "in_table": self.counts.in_table,
            "written": self.written,
            "resumed": self.is_resumed,
            "dry_run": self.is_dry_run,
            "refused": self.is_refused,
            "times": self.times,
            "rejects": rejects,
            "seconds": self.seconds,
        })
    }
}
