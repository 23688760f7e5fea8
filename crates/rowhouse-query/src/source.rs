//! Where rows are read.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use rowhouse_model::{Bytes, Error, Get, Result, Row, Scan};

use crate::row::MatchingRow;

/// A read that may have to be waited for.
pub type Reading<T> = Pin<Box<dyn Future<Output = Result<T>> + Send + Sync>>;

/// A table, or the table that holds the entries of one index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadFrom {
    /// The table's rows.
    Rows,
    /// The index's entries.
    Entries,
}

/// Where a table's rows, and the entries of one index, are read: all at one read point, or each row
/// as it is when it is read.
pub trait Source: Clone + Send + Sync + 'static {
    /// The rows that a scan returns.
    type Rows: SourceRows;

    /// Opens a scan. It reports the table's errors.
    fn scan(&self, from: ReadFrom, scan: Scan) -> Reading<Self::Rows>;

    /// Reads the rows to which entries lead, and judges them: by [`JudgeRows::rows_at_point`] or
    /// [`JudgeRows::rows_of`].
    fn judge(&self, judge: Arc<dyn JudgeRows>, hits: Vec<EntryHit>) -> Reading<Judged>;

    /// Returns the time by which cells expire, in milliseconds since 1970; `None` if reads are not
    /// at one read point.
    fn now_millis(&self) -> Option<i64>;

    /// Returns the table's families at the read point; none if reads are not at one.
    fn families(&self) -> Vec<Bytes>;

    /// Returns how many entry bytes are collected for sorting at most.
    fn sorted_bytes_max(&self) -> usize;

    /// True if table scans return only rows that match the query.
    fn returns_only_matching(&self) -> bool {
        false
    }

    /// Takes an error from an entry read: an index with damaged entries is put off.
    fn report_damage(&self, _error: &Error) {}
}

/// The rows that a scan returns, in scan order.
pub trait SourceRows: Send + Sync {
    /// Returns the next row, or `None` after the last.
    fn poll_row(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<Row>>>;
}

/// An entry, and the row key.
pub struct EntryHit {
    pub(crate) row: Bytes,
    pub(crate) entry: Row,
    /// Whether the entry was computed from a row that the transaction has written.
    pub(crate) is_own: bool,
}

/// The rows for a batch of entries.
#[derive(Default)]
pub struct Judged {
    pub(crate) rows: Vec<MatchingRow>,
    /// How many rows have an invalid value in a column that decides.
    pub(crate) unreadable: u64,
}

/// Decides which entries lead to rows in the answer. It has no effects; the source reads.
pub trait JudgeRows: Send + Sync {
    /// Returns the reads for the rows to which entries lead, for [`JudgeRows::rows_of`].
    ///
    /// # Errors
    /// As for the keys of gets.
    fn gets_of(&self, hits: &[EntryHit]) -> Result<Vec<Get>>;

    /// Judges entries by the answers to [`JudgeRows::gets_of`].
    ///
    /// # Errors
    /// The first answer that is an error; `Corruption`.
    fn rows_of(&self, hits: Vec<EntryHit>, rows: Vec<Result<Row>>) -> Result<Judged>;

    /// Judges entries and, for each that is not itself the answer, reads the row by `get` at the
    /// read point of the entries.
    ///
    /// # Errors
    /// As `get`; `Corruption`.
    fn rows_at_point(
        &self,
        hits: Vec<EntryHit>,
        get: &dyn Fn(&Get) -> Result<Row>,
    ) -> Result<Judged>;
}
