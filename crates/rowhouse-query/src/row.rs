//! The rows that queries find.

use rowhouse_model::{Bytes, Result, Row};
use rowhouse_schema::{KeyMismatch, Values};

/// A row that matches a query.
#[derive(Clone, Debug)]
pub struct MatchingRow {
    /// The requested cells. Without any, only the key was requested, and it is an entry's key.
    pub row: Row,
    pub(crate) key: Option<Bytes>,
    /// The key fields, or why the key does not fit the template.
    pub values: Result<Values, KeyMismatch>,
    /// The key of the entry that is the position, if the rows are in index order.
    pub entry: Option<Bytes>,
}

impl MatchingRow {
    /// Creates a row with cells.
    pub fn new(row: Row, values: Result<Values, KeyMismatch>) -> Self {
        Self { row, key: None, values, entry: None }
    }

    /// The row key.
    pub fn key(&self) -> &[u8] {
        self.key.as_deref().unwrap_or_else(|| self.row.key())
    }
}
