//! Transactions over rows of any tables.

use rowhouse_model::{
    Append, Delete, Get, Increment, Mutation, MutationOutcome, Put, Result, Row, Scan,
};

use crate::backend::EmbeddedTransaction;
use crate::table::Table;

/// The reads and writes of one [`Database::transact`] call. They wait for nothing but the disk, so
/// they are not asynchronous.
///
/// [`Database::transact`]: crate::Database::transact
pub struct Transaction<'a> {
    inner: EmbeddedTransaction<'a>,
}

impl<'a> Transaction<'a> {
    pub(crate) fn new(inner: EmbeddedTransaction<'a>) -> Self {
        Self { inner }
    }

    /// Reads one row at the transaction's read point, with the transaction's own writes applied.
    /// The result is empty if the row does not exist.
    ///
    /// # Errors
    /// As [`Table::get`].
    pub fn get(&mut self, table: &Table, get: &Get) -> Result<Row> {
        self.inner.get(table.name(), get)
    }

    /// Reads a range of rows, in key order, into memory. The whole range counts as read for
    /// conflict detection, so keep it narrow with [`Scan::range`], and bound the result with
    /// [`Scan::limit`].
    ///
    /// # Errors
    /// As [`Table::scan`].
    pub fn scan(&mut self, table: &Table, scan: Scan) -> Result<Vec<Row>> {
        self.inner.scan(table.name(), scan)
    }

    /// Writes cells of one row.
    ///
    /// # Errors
    /// As [`Table::put`].
    pub fn put(&mut self, table: &Table, put: Put) -> Result<()> {
        self.mutate(table, put.into()).map(|_| ())
    }

    /// Deletes cells of one row. Cells that the transaction puts later are not hidden by it.
    ///
    /// # Errors
    /// As [`Table::delete`].
    pub fn delete(&mut self, table: &Table, delete: Delete) -> Result<()> {
        self.mutate(table, delete.into()).map(|_| ())
    }

    /// Adds to counters of one row and returns their new values.
    ///
    /// # Errors
    /// As [`Table::increment`].
    pub fn increment(&mut self, table: &Table, increment: Increment) -> Result<Row> {
        self.mutate(table, increment.into()).map(|outcome| outcome.row)
    }

    /// Appends bytes to values of one row and returns the new values.
    ///
    /// # Errors
    /// As [`Table::append`].
    pub fn append(&mut self, table: &Table, append: Append) -> Result<Row> {
        self.mutate(table, append.into()).map(|outcome| outcome.row)
    }

    /// Applies a mutation to one row.
    ///
    /// # Errors
    /// As [`Table::mutate`].
    pub fn mutate(&mut self, table: &Table, mutation: Mutation) -> Result<MutationOutcome> {
        self.inner.mutate(table.name(), mutation)
    }
}
