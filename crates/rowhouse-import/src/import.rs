//! Builds an import.

use std::path::PathBuf;

use rowhouse::key::KeySchema;
use rowhouse::schema::{ColumnSchema, TableName};
use rowhouse::{Database, Error, ErrorKind, Result};
use tokio::runtime::Handle;

use crate::making::Declaration;
use crate::mapping::Mapping;
use crate::progress::{ImportProgress, OnProgress};
use crate::run::{Duplicates, Mode, Outcome, Plan, Run};
use crate::sorted::SortedRows;
use crate::source::Reading;
use crate::summary::Summary;
use crate::targets::Targets;
use crate::times::TimeForm;

/// An import that reads row files into a table.
///
/// Each field in a file goes to the key field, or the column, with the same name; [`Import::map`],
/// [`Import::set`] and [`Import::skip`] are for other names. A row without a value for a column has
/// no cell there.
///
/// Files are read twice: all rows are checked before any is written. Rows that do not fit are
/// rejected, to a file for each input file with `.rejected` appended to the name. While rows are
/// being written, a file records the progress: the same import, run again after an interruption,
/// resumes there.
///
/// Error messages name the `rowhouse import` options; the methods here have the same names.
pub struct Import {
    database: Database,
    plan: Plan,
    on_progress: Option<OnProgress>,
}

impl Import {
    /// Creates an import into a table in a database.
    pub fn new(database: &Database, table: TableName) -> Self {
        let plan = Plan {
            table,
            files: Vec::new(),
            reading: Reading::default(),
            mapping: Mapping::default(),
            declared: None,
            duplicates: Duplicates::default(),
            rejects_dir: ".".into(),
            rejects_max: u64::MAX,
            progress_file: None,
            batch_rows: BATCH_ROWS,
            memory_bytes: MEMORY_BYTES,
        };
        Self { database: database.clone(), plan, on_progress: None }
    }

    /// Adds a file. The name determines the format (.csv, .tsv, .tab, .jsonl, .ndjson, .parquet),
    /// unless [`Reading::format`] does. A text file may be compressed by gzip or zstd.
    #[must_use]
    pub fn file(mut self, path: impl Into<PathBuf>) -> Self {
        self.plan.files.push(path.into());
        self
    }

    /// Adds files.
    #[must_use]
    pub fn files(mut self, paths: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        self.plan.files.extend(paths.into_iter().map(Into::into));
        self
    }

    /// Sets how files are read.
    #[must_use]
    pub fn reading(mut self, reading: Reading) -> Self {
        self.plan.reading = reading;
        self
    }

    /// Creates the table if it is missing: with this key, these columns and their families, and
    /// that many regions if the key is distributed evenly. An existing table must declare the same
    /// key and columns.
    #[must_use]
    pub fn declare(
        mut self,
        key: KeySchema,
        columns: ColumnSchema,
        regions: Option<usize>,
    ) -> Self {
        self.plan.declared = Some(Declaration { targets: Targets { key, columns }, regions });
        self
    }

    /// Writes a file field to the field or column `to`.
    #[must_use]
    pub fn map(mut self, from: impl Into<String>, to: impl Into<String>) -> Self {
        self.plan.mapping.maps.push((from.into(), to.into()));
        self
    }

    /// Composes the values for the field or column `to` from the file's fields: `{NAME}` is a
    /// field's value, `{NAME:02}` fills it with leading zeros up to two characters, `{NAME:.14}`
    /// cuts it after 14 characters; `{{` and `}}` are braces. A row in which any such field has no
    /// value has none here. A text without fields is a constant.
    #[must_use]
    pub fn set(mut self, to: impl Into<String>, text: impl Into<String>) -> Self {
        self.plan.mapping.sets.push((to.into(), text.into()));
        self
    }

    /// Leaves out a file field.
    #[must_use]
    pub fn skip(mut self, name: impl Into<String>) -> Self {
        self.plan.mapping.skips.push(name.into());
        self
    }

    /// Leaves out all file fields that the table does not have. Without this they are an error.
    #[must_use]
    pub fn skip_unknown(mut self) -> Self {
        self.plan.mapping.skip_unknown = true;
        self
    }

    /// Sets the time form for a field or column. Without this it is recognized from all values in a
    /// file.
    #[must_use]
    pub fn times(mut self, name: impl Into<String>, form: TimeForm) -> Self {
        self.plan.mapping.times.push((name.into(), form));
        self
    }

    /// Sets how to treat rows with the same key as another row: [`Duplicates::Refuse`] by default.
    #[must_use]
    pub fn duplicates(mut self, duplicates: Duplicates) -> Self {
        self.plan.duplicates = duplicates;
        self
    }

    /// Sets the directory for rejected rows: the current one by default.
    #[must_use]
    pub fn rejects(mut self, dir: impl Into<PathBuf>) -> Self {
        self.plan.rejects_dir = dir.into();
        self
    }

    /// Stops before anything is written if more rows than this are rejected. No limit by default.
    #[must_use]
    pub fn rejects_max(mut self, rows: u64) -> Self {
        self.plan.rejects_max = rows;
        self
    }

    /// Sets the file that records the progress while rows are written: by default the first file's
    /// name with `.progress` appended, in the current directory.
    #[must_use]
    pub fn progress(mut self, file: impl Into<PathBuf>) -> Self {
        self.plan.progress_file = Some(file.into());
        self
    }

    /// Sets how many rows are written at once: 1,000 by default, 1 to 100,000.
    #[must_use]
    pub fn batch_rows(mut self, rows: usize) -> Self {
        self.plan.batch_rows = rows;
        self
    }

    /// Sets how many key bytes, and for [`Import::sort`] row bytes, are sorted in memory, before
    /// temporary files are used: 256,000,000 by default.
    #[must_use]
    pub fn memory_bytes(mut self, bytes: usize) -> Self {
        self.plan.memory_bytes = bytes;
        self
    }

    /// Calls this function with the progress, some thousand times a second.
    #[must_use]
    pub fn on_progress(
        mut self,
        on_progress: impl FnMut(&ImportProgress) + Send + 'static,
    ) -> Self {
        self.on_progress = Some(Box::new(on_progress));
        self
    }

    /// Checks all rows and writes those that are not rejected.
    ///
    /// It runs on a runtime thread that may block, and goes on if the future is dropped.
    ///
    /// # Errors
    /// `TableNotFound`; `InvalidRequest` for files, fields or declarations that do not fit, for
    /// rows with the same key as another row ([`Duplicates`]), and for too many rejected rows; `Io`
    /// and `Corruption` for a file; `Unsupported` for a Parquet file without the feature `parquet`,
    /// or with a Parquet feature that is not supported; and write errors.
    pub async fn run(self) -> Result<Summary> {
        self.done(Mode { is_dry_run: false, is_sorted: false }).await
    }

    /// Checks all rows as [`Import::run`] does, and writes none. Rejected rows are written to
    /// their files.
    ///
    /// # Errors
    /// As [`Import::run`], but rows with the same key as another row are no error:
    /// [`Summary::is_refused`] reports them.
    pub async fn check(self) -> Result<Summary> {
        self.done(Mode { is_dry_run: true, is_sorted: false }).await
    }

    /// As [`Import::check`], for [`Import::sort`], which does not resume an interrupted import.
    ///
    /// # Errors
    /// As [`Import::check`].
    pub async fn check_sort(self) -> Result<Summary> {
        self.done(Mode { is_dry_run: true, is_sorted: true }).await
    }

    /// Checks all rows, creates the table if it is missing, and sorts the rows that are not
    /// rejected. [`SortedRows::load`] then writes them as store files, which is faster than
    /// [`Import::run`] and atomic.
    ///
    /// # Errors
    /// As [`Import::run`].
    pub async fn sort(self) -> Result<SortedRows> {
        match self.start(Mode { is_dry_run: false, is_sorted: true }).await? {
            Outcome::Sorted(rows) => Ok(rows),
            Outcome::Done(_) => unreachable!("this mode returns the sorted rows"),
        }
    }

    async fn done(self, mode: Mode) -> Result<Summary> {
        match self.start(mode).await? {
            Outcome::Done(summary) => Ok(summary),
            Outcome::Sorted(_) => unreachable!("only Import::sort returns sorted rows"),
        }
    }

    async fn start(self, mode: Mode) -> Result<Outcome> {
        let Self { database, plan, on_progress } = self;
        if plan.files.is_empty() {
            return Err(Error::invalid("an import needs a file: files=0"));
        }
        if plan.batch_rows == 0 || plan.batch_rows > BATCH_ROWS_MAX {
            return Err(Error::invalid(format!(
                "rows written at once: batch_rows={}, min=1, max={BATCH_ROWS_MAX}",
                plan.batch_rows
            )));
        }
        let run = Run { database, plan, mode };
        let runtime = Handle::current();
        // Files are read and rows are sorted synchronously.
        let ran = tokio::task::spawn_blocking(move || runtime.block_on(run.run(on_progress)));
        match ran.await {
            Ok(outcome) => outcome,
            Err(ended) => match ended.try_into_panic() {
                Ok(panic) => std::panic::resume_unwind(panic),
                Err(_) => Err(Error::new(
                    ErrorKind::ServerNotRunning,
                    "the runtime of the import is shutting down",
                )),
            },
        }
    }
}

const BATCH_ROWS: usize = 1_000;
const BATCH_ROWS_MAX: usize = 100_000;
const MEMORY_BYTES: usize = 256_000_000;
