//! Transactions over rows in any tables.

use rowhouse_model::{
    Append, Delete, Get, Increment, Mutation, MutationOutcome, Put, Result, Row, Scan,
};

use crate::backend::{EmbeddedTransaction, block_on};
use crate::query::{Query, QueryRow};
use crate::table::Table;

/// The reads and writes in one [`Database::transact`] call. They wait for nothing but the disk, so
/// they are not asynchronous.
///
/// ```
/// use rowhouse::{Error, Get, Increment, TableSpec};
///
/// // How is an amount moved from one account to another?
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> rowhouse::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let database = rowhouse::open(dir.path().to_string_lossy()).await?;
/// let accounts = database.create_table(TableSpec::new("accounts").family("a")).await?;
/// accounts.increment(Increment::new("alice")?.add("a", "balance", 150)?).await?;
///
/// let inside = accounts.clone();
/// let moved = database.transact(move |transaction| {
///     let from = transaction.get(&inside, &Get::new("alice")?)?;
///     if from.counter("a", "balance")?.unwrap_or(0) < 100 {
///         return Err(Error::invalid("not enough"));
///     }
///     for (account, amount) in [("alice", -100), ("bob", 100)] {
///         let change = Increment::new(account)?.add("a", "balance", amount)?;
///         transaction.increment(&inside, change)?;
///     }
///     Ok(())
/// });
/// moved.await?;
/// assert_eq!(accounts.counter("alice", "a", "balance").await?, Some(50));
/// assert_eq!(accounts.counter("bob", "a", "balance").await?, Some(100));
/// # database.close().await
/// # }
/// ```
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
    /// ```
    /// # use rowhouse::{Get, Result, Table, Transaction};
    /// # fn example(transaction: &mut Transaction<'_>, accounts: &Table) -> Result<()> {
    /// let alice = transaction.get(accounts, &Get::new("alice")?)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Table::get`].
    pub fn get(&mut self, table: &Table, get: &Get) -> Result<Row> {
        self.inner.get(table.id(), get)
    }

    /// Reads a row range, in key order, into memory. The whole range counts as read for conflict
    /// detection, so keep it narrow with [`Scan::range`], and bound the result with
    /// [`Scan::limit`].
    ///
    /// ```
    /// # use rowhouse::{Result, RowRange, Scan, Table, Transaction};
    /// # fn example(transaction: &mut Transaction<'_>, accounts: &Table) -> Result<()> {
    /// let of_alice = Scan::new(RowRange::new("alice/", "alice0")).limit(100);
    /// for row in transaction.scan(accounts, of_alice)? {
    ///     println!("{row:?}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Table::scan`].
    pub fn scan(&mut self, table: &Table, scan: Scan) -> Result<Vec<Row>> {
        self.inner.scan(table.id(), scan)
    }

    /// Reads a query's rows into memory: a query from [`Table::query`], with all settings. It is
    /// read by the key or by an index, as outside a transaction, and shows the transaction's own
    /// writes either way.
    ///
    /// For conflict detection, all ranges that the query reads in the table or in the index count
    /// as read, even if a limit ends it early, and the rows to which entries in the index led. So a
    /// query conflicts with every commit that would have changed the answer, also by new rows.
    ///
    /// ```
    /// use rowhouse::{Error, TableSpec};
    ///
    /// // How is a room booked once, for hours that do not overlap?
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> rowhouse::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let database = rowhouse::open(dir.path().to_string_lossy()).await?;
    /// let spec = TableSpec::new("bookings").family("b").key("[id u32]");
    /// let spec = spec.columns("b:r room string; b:f from u8; b:t to u8").index("by_room [room]");
    /// let bookings = database.create_table(spec).await?;
    /// let book = async |id: u32, room: &'static str, from: u8, to: u8| {
    ///     let bookings = bookings.clone();
    ///     let booking = database.transact(move |transaction| {
    ///         let others = format!("room = '{room}' and from < {to} and to > {from}");
    ///         if !transaction.query(bookings.query(&others))?.is_empty() {
    ///             return Err(Error::invalid("the room is taken"));
    ///         }
    ///         let row = bookings.row(&[("id", id.into())]).set_named("room", room);
    ///         let row = row.set_named("from", from).set_named("to", to);
    ///         transaction.put(&bookings, row.into_put()?)
    ///     });
    ///     booking.await
    /// };
    /// book(1, "blue", 9, 11).await?;
    /// assert!(book(2, "blue", 10, 12).await.is_err());
    /// book(3, "blue", 11, 12).await?;
    /// # database.close().await
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Query::rows`]. An index that the query names must have been ready when the transaction
    /// began.
    ///
    /// [`Query::rows`]: crate::query::Query::rows
    pub fn query(&mut self, query: Query<'_>) -> Result<Vec<QueryRow>> {
        block_on(query.rows_in(&mut self.inner))
    }

    /// Writes cells to one row.
    ///
    /// ```
    /// # use rowhouse::{Put, Result, Table, Transaction};
    /// # fn example(transaction: &mut Transaction<'_>, accounts: &Table) -> Result<()> {
    /// transaction.put(accounts, Put::new("alice")?.add("a", "name", "Alice")?)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Table::put`].
    pub fn put(&mut self, table: &Table, put: Put) -> Result<()> {
        self.mutate(table, put.into()).map(|_| ())
    }

    /// Deletes cells in one row. Cells that the transaction puts later are not hidden by it.
    ///
    /// ```
    /// # use rowhouse::{Delete, Result, Table, Transaction};
    /// # fn example(transaction: &mut Transaction<'_>, accounts: &Table) -> Result<()> {
    /// transaction.delete(accounts, Delete::new("alice")?)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Table::delete`].
    pub fn delete(&mut self, table: &Table, delete: Delete) -> Result<()> {
        self.mutate(table, delete.into()).map(|_| ())
    }

    /// Adds to counters in one row and returns their new values.
    ///
    /// ```
    /// # use rowhouse::{Increment, Result, Table, Transaction};
    /// # fn example(transaction: &mut Transaction<'_>, accounts: &Table) -> Result<()> {
    /// let add = Increment::new("bob")?.add("a", "balance", 5)?;
    /// let grown = transaction.increment(accounts, add)?;
    /// println!("{:?}", grown.counter("a", "balance")?);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Table::increment`].
    pub fn increment(&mut self, table: &Table, increment: Increment) -> Result<Row> {
        self.mutate(table, increment.into()).map(|outcome| outcome.row)
    }

    /// Appends bytes to values in one row and returns the new values.
    ///
    /// ```
    /// # use rowhouse::{Append, Result, Table, Transaction};
    /// # fn example(transaction: &mut Transaction<'_>, accounts: &Table) -> Result<()> {
    /// transaction.append(accounts, Append::new("bob")?.add("a", "log", "+5; ")?)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Table::append`].
    pub fn append(&mut self, table: &Table, append: Append) -> Result<Row> {
        self.mutate(table, append.into()).map(|outcome| outcome.row)
    }

    /// Applies a mutation to one row.
    ///
    /// ```
    /// # use rowhouse::{Put, Result, Table, Transaction};
    /// # fn example(transaction: &mut Transaction<'_>, accounts: &Table) -> Result<()> {
    /// let name = Put::new("bob")?.add("a", "name", "Bob")?;
    /// transaction.mutate(accounts, name.into())?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Table::mutate`].
    pub fn mutate(&mut self, table: &Table, mutation: Mutation) -> Result<MutationOutcome> {
        self.inner.mutate(table.id(), mutation)
    }
}
