//! Transactions over rows of any tables.

use std::sync::Arc;
use std::time::Duration;

use rowhouse_model::{Error, ErrorKind, Get, Mutation, MutationOutcome, Result, Row, Scan};

use super::Store;
use crate::table::{Table, TableScanner};
use crate::write::transaction::{Ended, Transaction};

/// The maximum number of attempts of a transaction.
const TRIES_MAX: u32 = 100;
/// The number of attempts without a wait before the next.
const TRIES_AT_ONCE: u32 = 10;
/// The wait after a later attempt, multiplied by the number of attempts: half a second in total.
const WAIT: Duration = Duration::from_micros(100);

impl Store {
    /// Runs a serializable transaction over rows of any tables. `run` reads at one read point and
    /// sees its own writes. When it returns, the writes are committed atomically, unless another
    /// writer has changed a row or range that it read, or a row that it wrote; `run` is then called
    /// again at a later read point. It must therefore have no effects outside of the transaction.
    /// An error of `run` ends the transaction without a change.
    ///
    /// Other writers do not wait for a transaction before it commits. A transaction over many rows
    /// that others write all the time may never commit.
    ///
    /// ```
    /// use rowhouse_model::{FamilyDescriptor, Get, Put, TableDescriptor, TableName};
    /// use rowhouse_store::Store;
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// let store = Store::open(dir.path())?;
    /// let name = TableName::parse("accounts")?;
    /// let family = FamilyDescriptor::new("cf")?;
    /// store.create_table(TableDescriptor::new(name.clone()).family(family), &[])?;
    /// let accounts = store.table(&name)?;
    ///
    /// let closed = store.transact(|transaction| {
    ///     let account = transaction.get(&accounts, &Get::new("bob")?)?;
    ///     if account.value("cf", "balance").is_some() {
    ///         return Ok(false);
    ///     }
    ///     transaction.mutate(&accounts, Put::new("bob")?.add("cf", "state", "closed")?)?;
    ///     transaction.mutate(&accounts, Put::new("log")?.add("cf", "last", "bob")?)?;
    ///     Ok(true)
    /// })?;
    /// assert!(closed);
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    ///
    /// # Errors
    /// Errors of `run`; `Conflict` after 100 conflicting attempts; as [`Region::mutate`] for the
    /// commit.
    ///
    /// [`Region::mutate`]: crate::Region::mutate
    pub fn transact<T>(&self, mut run: impl FnMut(&mut Transaction) -> Result<T>) -> Result<T> {
        let engine = &self.inner.engine;
        for tried in 1..=TRIES_MAX {
            engine.check_open()?;
            let catalog = &self.inner.tables.catalog;
            let mut transaction =
                Transaction::begin(engine, |sequence| catalog.read_point_at(engine, sequence));
            let done = run(&mut transaction)?;
            if transaction.commit()? == Ended::Committed {
                return Ok(done);
            }
            if tried > TRIES_AT_ONCE {
                std::thread::sleep(WAIT * tried);
            }
        }
        Err(Error::new(
            ErrorKind::Conflict,
            format!(
                "others wrote what a transaction had read, each time it was tried: tries={TRIES_MAX}"
            ),
        ))
    }
}

impl Transaction {
    /// Reads one row.
    ///
    /// # Errors
    /// As [`Table::get_at`].
    pub fn get(&mut self, table: &Table, get: &Get) -> Result<Row> {
        let row = table.get_at(get, self.read_point())?;
        self.touch_row(table.region_of(get.row()), get.row());
        Ok(row)
    }

    /// Reads a range of rows, in key order. The entire range counts as read, even if the caller
    /// stops early, so a narrower range conflicts with fewer commits. The transaction's writes
    /// while the scanner is open may or may not be visible to it.
    ///
    /// # Errors
    /// As [`Table::scan_at`].
    pub fn scan(&mut self, table: &Arc<Table>, scan: Scan) -> Result<TableScanner> {
        // Commits are recorded under the current regions, not those of the table that was looked
        // up.
        for region in table.regions_now() {
            let range = scan.range.intersect(&region.info().range);
            if !range.is_empty() {
                self.touch_range(region, range);
            }
        }
        table.scan_at(scan, self.read_point())
    }

    /// Changes a row. The transaction sees the change at once, others once it is committed. Returns
    /// the new cells of an increment or append.
    ///
    /// A row that others write meanwhile counts as read: the transaction is retried. A cell without
    /// a timestamp replaces the current one, even if that is newer than the clock, and is not
    /// hidden by a delete of the same transaction. (Frequent increments advance a counter's
    /// timestamp past the clock.)
    ///
    /// # Errors
    /// As [`Region::mutate`], except for errors that only the commit can find.
    pub fn mutate(
        &mut self,
        table: &Table,
        mutation: impl Into<Mutation>,
    ) -> Result<MutationOutcome> {
        let mutation = mutation.into();
        table.check_enabled()?;
        let served = table.at(mutation.row(), |region| region.check_serving().map(|()| region))?;
        let region = served.at_point(self.read_point(), mutation.row());
        self.mutate_region(region, &mutation)
    }
}
