//! The rows that queries find.

use rowhouse_model::{Bytes, Result, Row};
use rowhouse_schema::{KeyMismatch, Values};

/// A row that matches a query.
#[derive(Clone, Debug)]
pub struct MatchingRow {
    /// The requested cells. Without any, only the key was requested, and is that of an entry.
    pub row: Row,
    pub(crate) key: Option<Bytes>,
    /// The fields of its key, or why the key does not fit the template.
    pub values: Result<Values, KeyMismatch>,
    /// The key of the entry that is its position, if the order of the rows is that of an index.
    pub entry: Option<Bytes>,
}

impl MatchingRow {
    /// Creates a row with cells.
    pub fn new(row: Row, values: Result<Values, KeyMismatch>) -> Self {
        Self { row, key: None, values, entry: None }
    }

    /// The key of the row.
    pub fn key(&self) -> &[u8] {
        self.key.as_deref().unwrap_or_else(|| self.row.key())
    }
}
