//! An open database.

use std::sync::Arc;

use rowhouse_model::{
    Bytes, ErrorKind, Mutation, MutationOutcome, Result, TableDescriptor, TableName,
};

use crate::backend::{Backend, Side, no_observers};
use crate::observer::{Observer, OfStore};
use crate::spec::TableSpec;
use crate::table::Table;
use crate::transaction::Transaction;

/// An open database with the tables. A clone is another handle to the same database.
///
/// ```
/// use rowhouse::{Get, Put, TableSpec};
///
/// // How is a row written and read?
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> rowhouse::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let url = dir.path().display().to_string();
/// let database = rowhouse::open(&url).await?;
/// let notes = database.create_table(TableSpec::new("notes").family("n")).await?;
/// notes.put(Put::new("bob")?.add("n", "text", "Hello")?).await?;
/// let bob = notes.get(&Get::new("bob")?).await?;
/// assert_eq!(bob.value("n", "text").as_deref(), Some(&b"Hello"[..]));
/// database.close().await
/// # }
/// ```
#[derive(Clone)]
pub struct Database {
    backend: Arc<Backend>,
}

impl Database {
    pub(crate) fn new(backend: Backend) -> Self {
        Self { backend: Arc::new(backend) }
    }

    pub(crate) fn backend(&self) -> &Backend {
        &self.backend
    }

    /// Returns the argument to [`crate::open`] with which another process opens the same database:
    /// for a directory it has the whole path.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> rowhouse::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let url = dir.path().display().to_string();
    /// let database = rowhouse::open(&url).await?;
    /// assert_eq!(database.url(), format!("file:{url}"));
    /// # database.close().await
    /// # }
    /// ```
    pub fn url(&self) -> &str {
        self.backend.url()
    }

    /// Creates a table.
    ///
    /// ```
    /// use rowhouse::TableSpec;
    ///
    /// # async fn example(database: rowhouse::Database) -> rowhouse::Result<()> {
    /// let spec = TableSpec::new("mail").family("d").key("[user string][at millis desc]");
    /// let mail = database.create_table(spec).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `TableExists`, `NamespaceNotFound`, and errors as for [`TableSpec::check`].
    pub async fn create_table(&self, spec: TableSpec) -> Result<Table> {
        let (descriptor, splits) = spec.into_parts()?;
        self.create_declared(descriptor, splits).await
    }

    /// Creates a table from a descriptor, split at these rows.
    pub(crate) async fn create_declared(
        &self,
        descriptor: TableDescriptor,
        splits: Vec<Bytes>,
    ) -> Result<Table> {
        match self.backend.side() {
            Side::Embedded(it) => {
                let descriptor = descriptor.clone();
                it.run(move |store| store.create_table(descriptor, &splits)).await?;
            }
            Side::Cluster(it) => it.maintainer().create_table(&descriptor, &splits).await?,
        }
        Ok(Table::new(Arc::clone(&self.backend), &descriptor))
    }

    /// Returns the table `name`, written as `table` or `namespace:table`.
    ///
    /// ```
    /// # async fn example(database: rowhouse::Database) -> rowhouse::Result<()> {
    /// let orders = database.table("shop:orders").await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `TableNotFound`.
    pub async fn table(&self, name: &str) -> Result<Table> {
        let descriptor = self.backend.describe(&TableName::parse(name)?).await?;
        Ok(Table::new(Arc::clone(&self.backend), &descriptor))
    }

    /// Returns all user table names, in order.
    ///
    /// ```
    /// # async fn example(database: rowhouse::Database) -> rowhouse::Result<()> {
    /// for name in database.tables().await? {
    ///     println!("{name}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn tables(&self) -> Result<Vec<TableName>> {
        match self.backend.side() {
            Side::Embedded(it) => {
                Ok(it.store().tables().iter().map(|table| table.name().clone()).collect())
            }
            Side::Cluster(it) => it.admin().tables().await,
        }
    }

    /// Returns true if the table `name` exists.
    ///
    /// ```
    /// use rowhouse::{Database, Result, Table, TableSpec};
    ///
    /// // How is a table created at the first start only?
    /// # async fn example(database: Database) -> Result<Table> {
    /// if database.table_exists("blog").await? {
    ///     database.table("blog").await
    /// } else {
    ///     database.create_table(TableSpec::new("blog").family("cf")).await
    /// }
    /// # }
    /// ```
    ///
    /// # Errors
    /// `InvalidRequest` for an invalid table name.
    pub async fn table_exists(&self, name: &str) -> Result<bool> {
        match self.backend.describe(&TableName::parse(name)?).await {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == ErrorKind::TableNotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Runs a serializable transaction over rows in any tables. `run` reads at one read point and
    /// sees its own writes. When it returns `Ok`, its writes commit atomically. If another writer
    /// has meanwhile changed a row or range that `run` has read, or a row that it has written,
    /// `run` is called again with a newer read point, so it must have no side effects beyond the
    /// transaction. If `run` returns an error, the transaction ends without effect.
    ///
    /// `run` executes on a thread for blocking work. It holds no locks before the commit, so no
    /// other writer waits for it; a transaction whose rows others change all the time may never
    /// commit.
    ///
    /// ```
    /// # use rowhouse::{Database, Delete, Get, Put, Result, Table};
    /// # async fn example(database: Database, drafts: Table, posts: Table) -> Result<()> {
    /// let published = database
    ///     .transact(move |transaction| {
    ///         let draft = transaction.get(&drafts, &Get::new("7")?)?;
    ///         let Some(text) = draft.value("cf", "text") else {
    ///             return Ok(false);
    ///         };
    ///         transaction.put(&posts, Put::new("7")?.add("cf", "text", text)?)?;
    ///         transaction.delete(&drafts, Delete::new("7")?)?;
    ///         Ok(true)
    ///     })
    ///     .await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The error from `run`; `Unsupported` on a cluster; `Conflict` after 100 attempts that all met
    /// concurrent changes; for the commit as [`Table::mutate`].
    pub async fn transact<T: Send + 'static>(
        &self,
        mut run: impl FnMut(&mut Transaction<'_>) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        self.backend.transact(move |inner| run(&mut Transaction::new(inner))).await
    }

    /// Applies mutations to any tables atomically: all become visible and durable, or none. Returns
    /// one outcome per mutation, in order. For changes that depend on existing values use
    /// [`Database::transact`].
    ///
    /// ```
    /// # use rowhouse::{Database, Put, Result, Table};
    /// // How do two tables stay consistent?
    /// # async fn example(database: Database, follows: Table, fans: Table) -> Result<()> {
    /// let follow = Put::new("alice,bob")?.add("f", "at", "2022-12-24")?;
    /// let fan = Put::new("bob,alice")?.add("f", "at", "2022-12-24")?;
    /// database.commit([(follows, follow.into()), (fans, fan.into())]).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `Unsupported` on a cluster. As [`Table::mutate`], for the first mutation that fails; then
    /// nothing is changed. `InvalidRequest` for an increment, an append or a delete of a row's
    /// newest version after another mutation to that row.
    pub async fn commit(
        &self,
        mutations: impl IntoIterator<Item = (Table, Mutation)>,
    ) -> Result<Vec<MutationOutcome>> {
        let placed = mutations.into_iter().map(|(table, mutation)| (table.id().clone(), mutation));
        self.backend.commit(placed.collect()).await
    }

    /// Adds an observer for a table's changes, until the table is dropped or the database is
    /// closed. It sees every change that is committed after this call returns. Several observers on
    /// a table are called in the order in which they were added.
    ///
    /// ```
    /// use rowhouse::observer::{Additions, Observer, RowChange};
    /// use rowhouse::{Error, Put, Result, TableSpec};
    ///
    /// /// Refuses to remove rows.
    /// struct RetainRows;
    ///
    /// impl Observer for RetainRows {
    ///     fn row_changes(&self, change: &RowChange, _: &mut Additions<'_>) -> Result<()> {
    ///         if change.after.is_empty() && !change.before.is_empty() {
    ///             return Err(Error::invalid("rows of this table cannot be removed"));
    ///         }
    ///         Ok(())
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let database = rowhouse::open(dir.path().to_string_lossy()).await?;
    /// let log = database.create_table(TableSpec::new("log").family("l")).await?;
    /// database.observe("log", RetainRows).await?;
    /// log.put(Put::new("1")?.add("l", "text", "begun")?).await?;
    /// assert!(log.delete(rowhouse::Delete::new("1")?).await.is_err());
    /// # database.close().await
    /// # }
    /// ```
    ///
    /// # Errors
    /// `TableNotFound`; `Unsupported` on a cluster and for a system table.
    pub async fn observe(&self, table: &str, observer: impl Observer) -> Result<()> {
        let observer = Arc::new(OfStore::new(observer, &self.backend));
        let table = TableName::parse(table)?;
        match self.backend.side() {
            Side::Embedded(it) => it.run(move |store| store.observe(&table, observer)).await,
            Side::Cluster(_) => Err(no_observers()),
        }
    }

    /// Closes the database: finishes writes under way and releases the directory. All other
    /// handles, and tables, refuse every call from then on.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> rowhouse::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let url = dir.path().display().to_string();
    /// // Can the directory be opened again at once?
    /// rowhouse::open(&url).await?.close().await?;
    /// rowhouse::open(&url).await?.close().await
    /// # }
    /// ```
    ///
    /// # Errors
    /// `Io` if the last writes cannot be synced.
    pub async fn close(self) -> Result<()> {
        self.backend.close().await
    }
}
