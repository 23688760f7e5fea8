//! Transactions over rows in any tables.

use std::time::Duration;

use rowhouse_model::{Error, ErrorKind, Result};

use super::Store;
use crate::write::transaction::{Ended, Transaction};

/// The maximum number of attempts of a transaction.
const TRIES_MAX: u32 = 100;
/// The number of attempts without a wait before the next.
const TRIES_AT_ONCE: u32 = 10;
/// The wait after a later attempt, multiplied by the attempt count: half a second in total.
const WAIT: Duration = Duration::from_micros(100);

impl Store {
    /// Runs a serializable transaction over rows in any tables. `run` reads at one read point and
    /// sees the transaction's own writes. When it returns, the writes are committed atomically,
    /// unless another writer has changed a row or range that it read, or a row that it wrote; `run`
    /// is then called again at a later read point. It must therefore have no effects outside the
    /// transaction. An error from `run` ends the transaction without a change, unless it has read a
    /// table that was created, truncated or restored after the transaction began: then it is called
    /// again, too.
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
    /// Errors from `run`; `Conflict` after 100 conflicting attempts; as [`Region::mutate`] for the
    /// commit.
    ///
    /// [`Region::mutate`]: crate::Region::mutate
    pub fn transact<T>(&self, mut run: impl FnMut(&mut Transaction) -> Result<T>) -> Result<T> {
        for tried in 1..=TRIES_MAX {
            self.inner.engine.check_open()?;
            let mut transaction =
                Transaction::begin(&self.inner.engine, &self.inner.tables.catalog);
            let done = run(&mut transaction);
            if !transaction.has_missed_table() {
                let done = done?;
                if transaction.commit()? == Ended::Committed {
                    return Ok(done);
                }
            }
            if tried > TRIES_AT_ONCE {
                std::thread::sleep(WAIT * tried);
            }
        }
        Err(Error::new(
            ErrorKind::Conflict,
            format!(
                "a transaction conflicted with other commits in each attempt: tries={TRIES_MAX}"
            ),
        ))
    }
}
