//! Transactions over rows of any tables.

use std::time::Duration;

use rowhouse_model::{Error, ErrorKind, Result};

use super::Store;
use crate::write::transaction::{Ended, Transaction};

/// How often a transaction is tried.
const TRIES_MAX: u32 = 100;
/// After so many tries it waits a little before the next.
const TRIES_AT_ONCE: u32 = 10;
/// What it waits then, times the tries: half a second in all.
const WAIT: Duration = Duration::from_micros(100);

impl Store {
    /// Reads and writes rows of any tables as if nobody else did meanwhile. `run` reads at one moment
    /// and sees its own writes; when it returns they are made, all as one, unless somebody else has
    /// written meanwhile a row or range that it has read, or a row that it has written: then it is run
    /// again at a later moment. So it must have no other effects than those on the transaction. An error
    /// of `run` ends it and leaves nothing.
    ///
    /// Nobody waits for a transaction before it is committed; one of many rows that others write all the
    /// time may never come to that.
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
    /// What `run` gives; `Conflict` when others were faster 100 times; as [`Region::mutate`] for the
    /// commit.
    ///
    /// [`Region::mutate`]: crate::Region::mutate
    pub fn transact<T>(&self, mut run: impl FnMut(&mut Transaction) -> Result<T>) -> Result<T> {
        for tried in 1..=TRIES_MAX {
            self.inner.engine.check_open()?;
            let mut transaction =
                Transaction::begin(&self.inner.engine, &self.inner.tables.catalog);
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
