//! An import's progress, for the caller.

use std::fmt;
use std::time::{Duration, Instant};

/// An import's progress.
#[derive(Clone, Copy, Debug)]
pub struct ImportProgress {
    /// The current step.
    pub step: Step,
    /// Rows that this step has done.
    pub rows: u64,
    /// About how many file bytes these rows are.
    pub bytes_done: u64,
    /// Bytes in all files.
    pub bytes_total: u64,
    /// Time since the import began, or since sorted rows began to be loaded.
    pub elapsed: Duration,
}

/// An import step. Every file is read twice: to check the rows, and to write them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Recognizes the time form; only for files with times in an undeclared form.
    Times,
    /// Checks the rows.
    Reading,
    /// Compares the rows' keys with each other and with the table's keys.
    Comparing,
    /// Writes the rows to the table.
    Writing,
    /// Writes sorted rows to store files.
    Loading,
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Times => "checking times",
            Self::Reading => "reading",
            Self::Comparing => "comparing",
            Self::Writing => "writing",
            Self::Loading => "loading",
        })
    }
}

/// A function that is called with the progress.
pub(crate) type OnProgress = Box<dyn FnMut(&ImportProgress) + Send>;

/// Reports progress to the caller.
pub(crate) struct Reporter {
    on_progress: Option<OnProgress>,
    bytes_total: u64,
    started: Instant,
}

impl Reporter {
    /// Creates a reporter for files with that many bytes in all.
    pub(crate) fn new(on_progress: Option<OnProgress>, bytes_total: u64) -> Self {
        Self { on_progress, bytes_total, started: Instant::now() }
    }

    /// Reports the progress, for one row in `ROWS_BETWEEN`.
    pub(crate) fn report(&mut self, step: Step, rows: u64, bytes_done: u64) {
        // A clock read for every row would cost more than many rows.
        if rows.is_multiple_of(ROWS_BETWEEN) {
            self.report_now(step, rows, bytes_done);
        }
    }

    /// As [`Reporter::report`], for callers that do not call it for every row.
    pub(crate) fn report_now(&mut self, step: Step, rows: u64, bytes_done: u64) {
        if let Some(on_progress) = &mut self.on_progress {
            let bytes_total = self.bytes_total;
            let elapsed = self.started.elapsed();
            on_progress(&ImportProgress { step, rows, bytes_done, bytes_total, elapsed });
        }
    }

    /// Returns the time since the reporter was created or restarted.
    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// Begins to measure the time anew.
    pub(crate) fn restart(&mut self) {
        self.started = Instant::now();
    }
}

const ROWS_BETWEEN: u64 = 256;
