//! Transactions on the embedded store.

use std::collections::BTreeSet;
use std::sync::Arc;

use rowhouse_model::{
    Bytes, Durability, Error, Get, Mutation, MutationOutcome, Result, Row, RowRange, Scan,
    TableName,
};
use rowhouse_schema::Index;
use rowhouse_store::{Store, Table};

use super::find;
use super::read_point::{IndexReadPoint, TableReadPoint};
use crate::backend::table_id::TableId;

/// A store transaction that takes tables by name.
pub(crate) struct EmbeddedTransaction<'a> {
    pub(super) store: &'a Store,
    pub(super) inner: &'a mut rowhouse_store::Transaction,
    /// The durability for mutations that name none.
    pub(super) durability: Durability,
}

impl EmbeddedTransaction<'_> {
    pub(crate) fn get(&mut self, table: &TableId, get: &Get) -> Result<Row> {
        self.inner.get(&*self.table(table)?, get)
    }

    pub(crate) fn scan(&mut self, table: &TableId, scan: Scan) -> Result<Vec<Row>> {
        let mut scanner = self.inner.scan(&self.table(table)?, scan)?;
        std::iter::from_fn(|| scanner.next().transpose()).collect()
    }

    pub(crate) fn mutate(
        &mut self,
        table: &TableId,
        mutation: Mutation,
    ) -> Result<MutationOutcome> {
        let mutation = mutation.with_default_durability(self.durability);
        self.inner.mutate(&*self.table(table)?, mutation)
    }

    /// Returns the transaction's table view. Its reads count only once they are noted.
    pub(crate) fn view(&self, table: &TableId) -> Result<TableReadPoint> {
        Ok(TableReadPoint { table: self.table(table)?, point: self.inner.read_point() })
    }

    /// As [`EmbeddedTransaction::view`], for a table and an index's entries, which do not show the
    /// transaction's writes; `None` if the index was not ready at the read point, or has been
    /// declared anew.
    pub(crate) fn index_view(
        &self,
        table: &TableId,
        index: &Index,
    ) -> Result<Option<IndexReadPoint>> {
        let Some(read) = self.inner.index_read(table, index.name())? else { return Ok(None) };
        table.check(read.table.descriptor())?;
        IndexReadPoint::new(self.store, read, index)
    }

    /// Returns the rows in a table that the transaction has written.
    pub(crate) fn written_rows(&self, table: &TableName) -> BTreeSet<Bytes> {
        self.inner.written_rows(table)
    }

    /// Counts ranges as read.
    pub(crate) fn note_read(&mut self, read: &TableReadPoint, ranges: &[RowRange]) {
        ranges.iter().for_each(|range| self.inner.note_read(&read.table, range));
    }

    /// Counts rows as read.
    pub(crate) fn note_rows_read(&mut self, read: &TableReadPoint, rows: &[Bytes]) {
        rows.iter().for_each(|row| self.inner.note_row_read(&read.table, row));
    }

    fn table(&self, table: &TableId) -> Result<Arc<Table>> {
        if table.is_system() {
            return Err(Error::unsupported(format!("{} cannot be part of a transaction", **table)));
        }
        find(self.store, table)
    }
}
