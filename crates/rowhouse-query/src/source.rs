//! Where rows are read.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use rowhouse_model::{Bytes, Error, Get, Result, Row, Scan};

use crate::row::MatchingRow;

/// A read that may have to be waited for.
pub type Reading<T> = Pin<Box<dyn Future<Output = Result<T>> + Send + Sync>>;

/// A table, or the table of the entries of one of its indexes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadFrom {
    /// The rows of the table.
    Rows,
    /// The entries of the index.
    Entries,
}

/// Where the rows of a table, and the entries of one of its indexes, are read: all at one read
/// point, or each row as it is when it is read.
pub trait Source: Clone + Send + Sync + 'static {
    /// The rows of a scan.
    type Rows: SourceRows;

    /// Opens a scan. It reports the errors of the table.
    fn scan(&self, from: ReadFrom, scan: Scan) -> Reading<Self::Rows>;

    /// Reads the rows to which entries lead, and judges them: by [`JudgeRows::rows_at_point`] or
    /// [`JudgeRows::rows_of`].
    fn judge(&self, judge: Arc<dyn JudgeRows>, found: Vec<Found>) -> Reading<Judged>;

    /// Returns the time by which cells expire, in milliseconds since 1970; `None` if reads are not
    /// at one read point.
    fn now_millis(&self) -> Option<i64>;

    /// Returns the families of the table at the read point; none if reads are not at one.
    fn families(&self) -> Vec<Bytes>;

    /// Returns the most bytes of entries that are collected to be sorted.
    fn sorted_bytes_max(&self) -> usize;

    /// Whether scans of the table return only rows that match the query.
    fn returns_only_matching(&self) -> bool {
        false
    }

    /// Takes an error of a read of the entries: an index with damaged entries is put off.
    fn report_damage(&self, _error: &Error) {}
}

/// The rows of a scan, in its order.
pub trait SourceRows: Send + Sync {
    /// Returns the next row, or `None` after the last.
    fn poll_row(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<Row>>>;
}

/// An entry, and the key of its row.
pub struct Found {
    pub(crate) row: Bytes,
    pub(crate) entry: Row,
    /// Whether the entry was computed from a row that the transaction has written.
    pub(crate) is_own: bool,
}

/// The rows of a batch of entries.
#[derive(Default)]
pub struct Judged {
    pub(crate) rows: Vec<MatchingRow>,
    /// The number of rows with an invalid value in a column that decides.
    pub(crate) unreadable: u64,
}

/// Decides which entries lead to rows of the answer. It has no effects; the source reads.
pub trait JudgeRows: Send + Sync {
    /// Returns the reads of the rows to which entries lead, for [`JudgeRows::rows_of`].
    ///
    /// # Errors
    /// Those of keys of gets.
    fn gets_of(&self, found: &[Found]) -> Result<Vec<Get>>;

    /// Judges entries by the answers to [`JudgeRows::gets_of`].
    ///
    /// # Errors
    /// The first of the answers that is one; `Corruption`.
    fn rows_of(&self, found: Vec<Found>, rows: Vec<Result<Row>>) -> Result<Judged>;

    /// Judges entries, and reads the rows of those that are not the answer themselves by `get`, at
    /// the read point of the entries.
    ///
    /// # Errors
    /// Those of `get`; `Corruption`.
    fn rows_at_point(&self, found: Vec<Found>, get: &dyn Fn(&Get) -> Result<Row>)
    -> Result<Judged>;
}
