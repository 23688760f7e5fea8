//! Reads and writes of rows of any tables, as one.

use rowhouse_model::{
    Append, Delete, Get, Increment, Mutation, MutationOutcome, Put, Result, Row, Scan,
};

use crate::backend::EmbeddedTransaction;
use crate::table::Table;

/// What is read and written within one [`Database::transact`]. Nothing in it waits for anything but the
/// disk, so nothing is asynchronous.
///
/// [`Database::transact`]: crate::Database::transact
pub struct Transaction<'a> {
    inner: EmbeddedTransaction<'a>,
}

impl<'a> Transaction<'a> {
    pub(crate) fn new(inner: EmbeddedTransaction<'a>) -> Self {
        Self { inner }
    }

    /// Reads one row, as it was when the transaction began or as the transaction has left it; it is empty
    /// when there is none.
    ///
    /// # Errors
    /// As [`Table::get`].
    pub fn get(&mut self, table: &Table, get: &Get) -> Result<Row> {
        self.inner.get(table.name(), get)
    }

    /// Reads a range of rows, in key order, all at once. All of the range counts as read, so narrow it: by
    /// [`Scan::range`], and the rows that come back by [`Scan::limit`].
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

    /// Deletes cells of one row. What the transaction puts behind it is not hidden by it.
    ///
    /// # Errors
    /// As [`Table::delete`].
    pub fn delete(&mut self, table: &Table, delete: Delete) -> Result<()> {
        self.mutate(table, delete.into()).map(|_| ())
    }

    /// Adds to counters of one row and returns them as they are then.
    ///
    /// # Errors
    /// As [`Table::increment`].
    pub fn increment(&mut self, table: &Table, increment: Increment) -> Result<Row> {
        self.mutate(table, increment.into()).map(|outcome| outcome.row)
    }

    /// Adds bytes to values of one row and returns them as they are then.
    ///
    /// # Errors
    /// As [`Table::append`].
    pub fn append(&mut self, table: &Table, append: Append) -> Result<Row> {
        self.mutate(table, append.into()).map(|outcome| outcome.row)
    }

    /// Changes one row.
    ///
    /// # Errors
    /// As [`Table::mutate`].
    pub fn mutate(&mut self, table: &Table, mutation: Mutation) -> Result<MutationOutcome> {
        self.inner.mutate(table.name(), mutation)
    }
}
