//! Observers: program code that sees each change to a table's rows before it is committed, and may
//! refuse it or add to it. HBase's coprocessors in the role of a trigger.
//!
//! ```
//! use rowhouse::observer::{Additions, Observer, RowChange};
//! use rowhouse::{Append, Database, Get, Put, Result, Table, TableSpec};
//!
//! /// Appends each new name of a user to the user's history.
//! struct History(Table);
//!
//! impl Observer for History {
//!     fn name(&self) -> &str {
//!         "history"
//!     }
//!
//!     fn row_changes(&self, change: &RowChange, additions: &mut Additions<'_>) -> Result<()> {
//!         let name = change.after.value("u", "name");
//!         if name == change.before.value("u", "name") {
//!             return Ok(());
//!         }
//!         let name = [&name.unwrap_or_default()[..], b";"].concat();
//!         additions.mutate(&self.0, Append::new(change.row.clone())?.add("h", "names", name)?)
//!     }
//! }
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<()> {
//! # let dir = tempfile::tempdir().unwrap();
//! # let database = rowhouse::open(dir.path().to_string_lossy()).await?;
//! let history = database.create_table(TableSpec::new("history").family("h")).await?;
//! let users = TableSpec::new("users").family("u").observers(["history"]);
//! let users = database.create_table(users).await?;
//!
//! let eve = Put::new("7")?.add("u", "name", "Eve")?;
//! // Without its observers, the table is not written.
//! assert!(users.put(eve.clone()).await.is_err());
//!
//! database.observe("users", History(history.clone())).await?;
//! users.put(eve).await?;
//! users.put(Put::new("7")?.add("u", "name", "Eva")?).await?;
//! assert_eq!(history.get(&Get::new("7")?).await?.value("h", "names").unwrap(), "Eve;Eva;");
//! # database.close().await
//! # }
//! ```

use std::sync::{Arc, Weak};

use rowhouse_model::{Columns, Error, Get, Mutation, Result, Row, TableName};

pub use rowhouse_store::{RowChange, TableChange};

use crate::backend::Backend;
use crate::table::Table;

/// Sees each change to a table's rows before it is committed. Registered by [`Database::observe`].
///
/// [`Observer::row_changes`] is called once for each row that a write changes, with the row locked.
/// It is called again if the commit is attempted again, and a commit may still fail after the call,
/// so it must have no effects itself: it adds mutations instead, which are committed in the same
/// log record. Flushes, compactions and expiry are not changes: cells that expire are gone without
/// a write.
///
/// An observer that holds a [`Table`] keeps the database open until [`Database::close`].
///
/// [`Database::observe`]: crate::Database::observe
/// [`Database::close`]: crate::Database::close
pub trait Observer: Send + Sync + 'static {
    /// Returns the name by which tables require the observer ([`TableSpec::observers`]); empty if
    /// none does.
    ///
    /// [`TableSpec::observers`]: crate::TableSpec::observers
    fn name(&self) -> &str {
        ""
    }

    /// Returns the columns that [`RowChange::before`] and [`RowChange::after`] contain; by default
    /// all. A change to other columns is reported, too.
    fn columns(&self) -> Columns {
        Columns::all()
    }

    /// Called before a change to one row is committed.
    ///
    /// # Errors
    /// An error refuses the change: the caller gets the error, and nothing from the change is
    /// written. Independent mutations in a batch that share a log record are refused together.
    fn row_changes(&self, change: &RowChange, additions: &mut Additions<'_>) -> Result<()>;

    /// Called after a table change that does not go row by row: a file load, a truncation, an
    /// alteration, a snapshot restore, a drop. Other writers may already have written to the table.
    fn table_changes(&self, table: &TableName, change: TableChange) {
        let _ = (table, change);
    }
}

/// The mutations that an observer adds to a change.
pub struct Additions<'a> {
    inner: &'a mut rowhouse_store::Additions,
    backend: &'a Weak<Backend>,
}

impl Additions<'_> {
    /// Adds a mutation to a row in any table in the database. It becomes visible, and survives a
    /// crash, together with the observed change, and sees the effects of this change and of earlier
    /// additions. No observer sees it; indexes do.
    ///
    /// ```
    /// # use rowhouse::observer::{Additions, RowChange};
    /// # use rowhouse::{Increment, Result, Table};
    /// # fn example(change: &RowChange, additions: &mut Additions, counts: &Table) -> Result<()> {
    /// if change.before.is_empty() && !change.after.is_empty() {
    ///     additions.mutate(counts, Increment::new("rows")?.add("n", "n", 1)?)?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `TableNotFound`; `InvalidRequest` for a table from another database. Errors in the mutation
    /// itself refuse the change.
    pub fn mutate(&mut self, table: &Table, mutation: impl Into<Mutation>) -> Result<()> {
        let store_table = self.backend(table)?.store_table(table.id())?;
        self.inner.mutate(&store_table, mutation);
        Ok(())
    }

    /// Reads a row in any table in the database as it is now, without the observed change. If the
    /// observer also mutates the row, nobody else changes it before the commit.
    ///
    /// ```
    /// # use rowhouse::observer::{Additions, RowChange};
    /// # use rowhouse::{Error, Get, Result, Table};
    /// # fn example(change: &RowChange, additions: &mut Additions, users: &Table) -> Result<()> {
    /// let author = change.after.value("p", "author").unwrap_or_default();
    /// if additions.get(users, &Get::new(author)?)?.is_empty() {
    ///     return Err(Error::invalid("the author is not known"));
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Table::get`]; `InvalidRequest` for a table from another database.
    pub fn get(&self, table: &Table, get: &Get) -> Result<Row> {
        self.backend(table)?.store_table(table.id())?.get(get)
    }

    fn backend<'t>(&self, table: &'t Table) -> Result<&'t Backend> {
        let backend = table.backend();
        if std::ptr::eq(self.backend.as_ptr(), backend) {
            return Ok(backend);
        }
        Err(Error::invalid(format!("a table of another database: table={}", table.name())))
    }
}

/// A library observer as a store observer.
pub(crate) struct OfStore<O> {
    observer: O,
    /// Not an `Arc`: the store holds the observer.
    backend: Weak<Backend>,
}

impl<O: Observer> OfStore<O> {
    pub(crate) fn new(observer: O, backend: &Arc<Backend>) -> Self {
        Self { observer, backend: Arc::downgrade(backend) }
    }
}

impl<O: Observer> rowhouse_store::Observer for OfStore<O> {
    fn name(&self) -> &str {
        self.observer.name()
    }

    fn columns(&self) -> Columns {
        self.observer.columns()
    }

    fn row_changes(
        &self,
        change: &RowChange,
        additions: &mut rowhouse_store::Additions,
    ) -> Result<()> {
        let mut additions = Additions { inner: additions, backend: &self.backend };
        self.observer.row_changes(change, &mut additions)
    }

    fn table_changes(&self, table: &TableName, change: TableChange) {
        self.observer.table_changes(table, change);
    }
}
