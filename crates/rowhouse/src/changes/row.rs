//! A changed row.

use std::sync::Arc;

use rowhouse_model::{Bytes, Cell, ChangePosition, RowOfChange, Timestamp};
use rowhouse_schema::{KeyMismatch, KeySchema, Value, Values};

use crate::declared::DeclaredColumns;

/// A row with cells that were written or deleted, and the decoded key.
#[derive(Clone, Debug)]
pub struct ChangedRow {
    change: RowOfChange,
    /// `None` if the table declares no key.
    values: Option<Result<Values, KeyMismatch>>,
    columns: Arc<DeclaredColumns>,
}

impl ChangedRow {
    pub(super) fn new(
        change: RowOfChange,
        key: Option<&KeySchema>,
        columns: &Arc<DeclaredColumns>,
    ) -> Self {
        let values = key.map(|key| key.decode(&change.row));
        Self { change, values, columns: Arc::clone(columns) }
    }

    /// Returns the position after the row.
    pub fn position(&self) -> &ChangePosition {
        &self.change.position
    }

    /// Returns when the commit was made; `None` for a row of a copy, and for a commit from before
    /// the store had followers.
    pub fn time(&self) -> Option<Timestamp> {
        self.change.time
    }

    /// Returns the key bytes.
    pub fn key_bytes(&self) -> &Bytes {
        &self.change.row
    }

    /// Returns a key field; `None` if the table declares no key, the template has no such field, or
    /// the key does not fit it.
    pub fn key(&self, field: &str) -> Option<&Value> {
        self.values.as_ref()?.as_ref().ok()?.get(field)
    }

    /// Returns all key fields; `None` if the table declares no key.
    ///
    /// # Errors
    /// If the key does not fit the template.
    pub fn values(&self) -> Option<Result<&Values, &KeyMismatch>> {
        self.values.as_ref().map(Result::as_ref)
    }

    /// Returns the cells and delete markers, in the order in which they were written.
    pub fn cells(&self) -> &[Cell] {
        &self.change.cells
    }

    /// Returns the cells that were put.
    pub fn puts(&self) -> impl Iterator<Item = &Cell> {
        self.change.cells.iter().filter(|cell| !cell.kind().is_delete())
    }

    /// Returns the delete markers.
    pub fn deletes(&self) -> impl Iterator<Item = &Cell> {
        self.change.cells.iter().filter(|cell| cell.kind().is_delete())
    }

    /// Returns the name of a put cell's declared column, and the decoded value; `None` if the table
    /// declares no such column or the value does not fit it.
    pub fn column_of(&self, cell: &Cell) -> Option<(&str, Value)> {
        let schema = self.columns.declared()?;
        let column = schema.find(cell.family(), cell.qualifier())?;
        let value = column.decode_value(cell.value()).ok()?;
        Some((column.name(), value))
    }

    /// Returns the change as the store has it, for [`rowhouse_store::Store::row_before`].
    pub fn change(&self) -> &RowOfChange {
        &self.change
    }
}
