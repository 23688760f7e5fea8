//! Declared indexes: their language, their entries, and the plans for queries that they serve.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod draw;
mod entries;
mod language;
mod laws;
mod plans;
mod search;
mod search_laws;

use rowhouse_model::{Cell, CellKind, Result, Row, Timestamp};
use rowhouse_schema::{CellBytes, ColumnSchema, IndexSchema, KeySchema};

/// Creates a row from cells in any order, each with a timestamp.
fn row(key: &[u8], cells: impl IntoIterator<Item = (CellBytes, i64)>) -> Row {
    let cell = |(CellBytes { family, qualifier, value }, at): (CellBytes, i64)| {
        let at = Timestamp::from_millis(at).unwrap();
        Cell::new(key, family, qualifier, at, CellKind::Put, value).unwrap()
    };
    let mut cells: Vec<_> = cells.into_iter().map(cell).collect();
    cells.sort_by(|a, b| a.key().cmp(&b.key()));
    Row::new(cells)
}

/// Creates a cell in a column with one qualifier from the value text.
fn cell(columns: &ColumnSchema, name: &str, value: &str) -> CellBytes {
    columns.encode(name, columns.column(name).unwrap().parse_value(value).unwrap()).unwrap()
}

/// Parses index declarations for a table with these columns and this key; an empty text is no key.
fn parse(key: &str, columns: &str, text: &str) -> Result<IndexSchema> {
    let key = Some(key).filter(|key| !key.is_empty()).map(|key| KeySchema::parse(key).unwrap());
    IndexSchema::parse(text, key.as_ref(), Some(&ColumnSchema::parse(columns).unwrap()))
}
