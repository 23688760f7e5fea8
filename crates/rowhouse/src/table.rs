//! A table handle.

use std::sync::Arc;

use rowhouse_model::{
    Append, Bytes, CellHistory, Columns, Condition, Delete, Error, ErrorKind, Get, Increment,
    Mutation, MutationOutcome, Put, RegionInfo, Result, Row, RowMutations, RowRange, Scan,
    ServerName, TableDescriptor, TableName, TableState, check_row, escape,
};
use rowhouse_schema::{ColumnSchema, INDEXES_ATTRIBUTE, KeySchema, NamedValues, RowKey};
use rowhouse_store::RangeEstimate;

use crate::backend::{Backend, ReadAhead, TableId, TableReadPoint};
use crate::declared::DeclaredColumns;
use crate::rows::Rows;

/// A table in a database. A clone is another handle to the same table.
///
/// The handle refers to the table by name: if the table is dropped and created again, the handle
/// reads the new one. It retains the key template and the columns that the table had when the
/// handle was created. If an index is promoted
/// ([`promote_index`](crate::admin::Admin::promote_index)), the handle encodes keys for another
/// layout: every call fails with `LayoutChanged`, and the table must be taken from the database
/// again.
///
/// ```
/// use rowhouse::TableSpec;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> rowhouse::Result<()> {
/// # let dir = tempfile::tempdir().unwrap();
/// # let database = rowhouse::open(dir.path().to_string_lossy()).await?;
/// let spec = TableSpec::new("mail").family("d").key("[user string][at millis desc]");
/// let mail = database.create_table(spec).await?;
///
/// // A typed row, and a typed query.
/// let key = [("user", "bob".into()), ("at", "2022-12-24T18:00".into())];
/// mail.row(&key).set("d", "subject", "Christmas").put().await?;
/// let page = mail.query("user = 'bob' and at during 2022-12").page(10).await?;
/// assert_eq!(page.rows[0].text("d", "subject").as_deref(), Some("Christmas"));
/// # database.close().await
/// # }
/// ```
#[derive(Clone)]
pub struct Table {
    inner: Arc<Inner>,
}

struct Inner {
    backend: Arc<Backend>,
    id: TableId,
    key: Key,
    columns: Arc<DeclaredColumns>,
    /// Whether the table declared indexes when the handle was made.
    has_indexes: bool,
}

/// The key declaration in a table's descriptor.
enum Key {
    Undeclared,
    Declared(KeySchema),
    /// A template that this version cannot parse; only calls that need it fail.
    Unreadable(Error),
}

impl Table {
    pub(crate) fn new(backend: Arc<Backend>, descriptor: &TableDescriptor) -> Self {
        let id = TableId::of(descriptor);
        let key = match KeySchema::of_table(descriptor) {
            Ok(None) => Key::Undeclared,
            Ok(Some(schema)) => Key::Declared(schema),
            Err(error) => Key::Unreadable(error),
        };
        let columns = Arc::new(DeclaredColumns::of(descriptor));
        let has_indexes = descriptor.attributes.contains_key(INDEXES_ATTRIBUTE.as_bytes());
        Self { inner: Arc::new(Inner { backend, id, key, columns, has_indexes }) }
    }

    /// Returns a handle for scans over another table in the database.
    pub(crate) fn scans_of(&self, name: TableName) -> Self {
        let columns = Arc::new(DeclaredColumns::none(&name));
        let backend = Arc::clone(&self.inner.backend);
        let id = TableId::any_layout(name);
        let key = Key::Undeclared;
        let has_indexes = false;
        Self { inner: Arc::new(Inner { backend, id, key, columns, has_indexes }) }
    }

    pub(crate) fn backend(&self) -> &Backend {
        &self.inner.backend
    }

    /// Returns the table name.
    ///
    /// ```
    /// # fn example(orders: rowhouse::Table) {
    /// println!("{} in {}", orders.name(), orders.name().namespace());
    /// # }
    /// ```
    pub fn name(&self) -> &TableName {
        &self.inner.id
    }

    pub(crate) fn id(&self) -> &TableId {
        &self.inner.id
    }

    /// Returns the table's key template.
    ///
    /// ```
    /// // Which fields does a key have?
    /// # fn example(mail: rowhouse::Table) -> rowhouse::Result<()> {
    /// for field in mail.key_schema()?.fields() {
    ///     println!("{} {}", field.name(), field.field_type());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `InvalidRequest` if the table has none, with a hint how to declare one; `Unsupported` if a
    /// newer version declared it.
    pub fn key_schema(&self) -> Result<&KeySchema> {
        match &self.inner.key {
            Key::Declared(schema) => Ok(schema),
            Key::Undeclared => Err(Error::invalid(format!(
                "table {name} declares no key; declare one when it is created: \
                 TableSpec::new(\"{name}\").key(\"[user text]_[at millis desc]\"), or in the \
                 shell: alter '{name}', KEY => '[user text]_[at millis desc]'",
                name = self.name()
            ))),
            Key::Unreadable(error) => {
                Err(error.clone().with_context(format_args!("key of table {}", self.name())))
            }
        }
    }

    /// Returns the table's declared columns.
    ///
    /// ```
    /// // How is the cell of a named column written with a plain put?
    /// # use rowhouse::{Put, Result, Table};
    /// # async fn example(mail: Table) -> Result<()> {
    /// let size = mail.column_schema()?.encode("size", 20_000)?;
    /// let key = mail.key(&[("user", "bob".into()), ("at", "2022-12-24T18:00".into())])?;
    /// mail.put(Put::new(key)?.add(size.family, size.qualifier, size.value)?).await
    /// # }
    /// ```
    ///
    /// # Errors
    /// `InvalidRequest` if the table declares none, with a hint how to declare them; `Unsupported`
    /// if a newer version declared them.
    pub fn column_schema(&self) -> Result<&ColumnSchema> {
        self.inner.columns.schema()
    }

    pub(crate) fn declared_columns(&self) -> &Arc<DeclaredColumns> {
        &self.inner.columns
    }

    /// Encodes these values as a row key with the table's template.
    ///
    /// ```
    /// # use rowhouse::{Get, Result, Table};
    /// # async fn example(mail: Table) -> Result<()> {
    /// let key = mail.key(&[("user", "bob".into()), ("at", "2022-12-24T18:00".into())])?;
    /// let row = mail.get(&Get::new(key)?).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Table::key_schema`] and [`KeySchema::encode`].
    pub fn key<V: NamedValues + ?Sized>(&self, values: &V) -> Result<Bytes> {
        self.key_schema()?.encode(values)
    }

    /// Encodes a struct as a row key, for a [`Get`] or [`Delete`].
    ///
    /// ```
    /// # #[cfg(feature = "derive")] {
    /// # use rowhouse::{Delete, Get, Result, RowKey, Table};
    /// #[derive(RowKey)]
    /// #[key("[user string][n u32]")]
    /// struct Note<'a> {
    ///     user: &'a str,
    ///     n: u32,
    /// }
    ///
    /// # async fn example(notes: Table) -> Result<()> {
    /// let key = notes.key_of(&Note { user: "bob", n: 7 })?;
    /// let note = notes.get(&Get::new(key.clone())?).await?;
    /// notes.delete(Delete::new(key)?).await
    /// # }
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Table::key_schema`] and [`RowKey::encode_key`]; `InvalidRequest` if the struct's
    /// template differs from the table's.
    pub fn key_of<K: RowKey>(&self, key: &K) -> Result<Bytes> {
        self.check_row_key::<K>()?;
        key.to_key()
    }

    pub(crate) fn check_row_key<K: RowKey>(&self) -> Result<()> {
        let declared = self.key_schema()?;
        if declared == K::schema() {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "the struct is a key of another template than that of table {}: struct={}, table={declared}",
            self.name(),
            K::schema()
        )))
    }

    /// Reads one row; the result is empty if the row does not exist.
    ///
    /// ```
    /// # use rowhouse::{Get, Result, Table};
    /// # async fn example(users: Table) -> Result<()> {
    /// let bob = users.get(&Get::new("bob")?.column("u", "name")).await?;
    /// if let Some(name) = bob.value("u", "name") {
    ///     println!("{}", String::from_utf8_lossy(&name));
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `TableNotFound`, `TableNotEnabled`, `NoSuchColumnFamily`; `InvalidRequest` for a get with
    /// `existence_only`, see [`Table::exists`]; errors from the backend.
    pub async fn get(&self, get: &Get) -> Result<Row> {
        self.inner.backend.get(self.id(), get).await
    }

    /// Returns true if any cell matches a get, without reading the row's cells.
    ///
    /// ```
    /// # use rowhouse::{Get, Result, Table};
    /// # async fn example(users: Table) -> Result<()> {
    /// if !users.exists(&Get::new("bob")?).await? {
    ///     println!("the name is free");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Table::get`].
    pub async fn exists(&self, get: &Get) -> Result<bool> {
        self.inner.backend.exists(self.id(), get).await
    }

    /// Reads many rows; returns one result for each get, in the order in which the gets are given.
    /// The row for a missing key is empty; a get that fails does not affect the others.
    ///
    /// A cluster gets one call for each region server at a time, all servers in parallel, with at
    /// most 1,000 gets. The rows are read one by one, not at one point in time.
    ///
    /// ```
    /// use rowhouse::{Get, Put, TableSpec};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> rowhouse::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let database = rowhouse::open(dir.path().to_string_lossy()).await?;
    /// let users = database.create_table(TableSpec::new("users").family("u")).await?;
    /// users.put(Put::new("bob")?.add("u", "name", "Bob")?).await?;
    ///
    /// // Which of these users are there?
    /// let gets = vec![Get::new("alice")?, Get::new("bob")?];
    /// let mut found = Vec::new();
    /// for row in users.get_many(gets).await {
    ///     found.push(!row?.is_empty());
    /// }
    /// assert_eq!(found, [false, true]);
    /// # database.close().await
    /// # }
    /// ```
    ///
    /// # Errors
    /// Each result as [`Table::get`].
    pub async fn get_many(&self, gets: Vec<Get>) -> Vec<Result<Row>> {
        self.inner.backend.get_many(self.id(), gets).await
    }

    /// Explains a get for one column: returns every stored cell in the column and whether the get
    /// returns it. If not, the entry contains the reason: the delete marker that hides it, the
    /// expiry time, too many versions, or a newer write.
    ///
    /// ```
    /// # use rowhouse::{Get, Result, Table};
    /// # async fn example(blog: Table) -> Result<()> {
    /// let get = Get::new("1")?.column("cf", "title");
    /// for entry in blog.explain_cell(&get).await?.entries {
    ///     println!("{} in {}: {}", entry.cell.timestamp(), entry.place, entry.fate);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Table::get`]; `InvalidRequest` unless the get names exactly one column and has neither
    /// filter nor limit; `Unsupported` on a cluster, since HBase has no such call.
    pub async fn explain_cell(&self, get: &Get) -> Result<CellHistory> {
        self.inner.backend.explain_cell(self.id(), get).await
    }

    /// Reads a row range, in key order.
    ///
    /// ```
    /// # use rowhouse::{Result, RowRange, Scan, Table};
    /// // Which are the last ten rows before a key?
    /// # async fn example(users: Table) -> Result<()> {
    /// let before = Scan::new(RowRange::new("", "bob")).reversed().limit(10);
    /// let mut rows = users.scan(before).await?;
    /// while let Some(row) = rows.next().await? {
    ///     println!("{row:?}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Table::get`]; `Unsupported` for options that the backend does not support.
    pub async fn scan(&self, scan: Scan) -> Result<Rows> {
        self.scan_with(scan, &ReadAhead::new(1)).await
    }

    /// As [`Table::scan`]; the threads in `ahead` read ahead.
    pub(crate) async fn scan_with(&self, scan: Scan, ahead: &Arc<ReadAhead>) -> Result<Rows> {
        self.inner.backend.scan(self.id(), scan, ahead).await
    }

    /// Whether the table declared indexes when the handle was made.
    pub(crate) fn has_indexes(&self) -> bool {
        self.inner.has_indexes
    }

    pub(crate) async fn read_point(&self) -> Result<Option<TableReadPoint>> {
        self.inner.backend.read_point(self.id()).await
    }

    /// Estimates how much data is in ranges; `None` on a cluster.
    pub(crate) async fn estimate(
        &self,
        ranges: &[RowRange],
        columns: &Columns,
    ) -> Result<Option<RangeEstimate>> {
        self.inner.backend.estimate(self.name(), ranges, columns).await
    }

    /// Writes cells to one row atomically.
    ///
    /// ```
    /// # use rowhouse::{Durability, Put, Result, Table};
    /// # async fn example(users: Table) -> Result<()> {
    /// let mut bob = Put::new("bob")?.add("u", "name", "Bob")?.add("u", "city", "Leeds")?;
    /// bob.durability = Durability::FsyncWal;
    /// users.put(bob).await
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Table::mutate`].
    pub async fn put(&self, put: Put) -> Result<()> {
        self.mutate(put.into()).await.map(|_| ())
    }

    /// Writes a row if it does not exist. A row with any visible cell exists and stays unchanged.
    ///
    /// An embedded store checks and writes atomically. HBase can check only one column atomically
    /// with a write, so on a cluster the row is read first, and then the put checks its first
    /// column (by family and qualifier): among concurrent inserts for a row with the same first
    /// column exactly one succeeds. That column must have a non-empty value.
    ///
    /// As after any delete, a cell inserted in the same millisecond as a delete, or with a
    /// timestamp that the delete covers, is hidden by the delete marker: then the row still does
    /// not exist.
    ///
    /// ```
    /// # use rowhouse::{ErrorKind, Put, Result, Table};
    /// # async fn example(users: Table) -> Result<()> {
    /// match users.insert(Put::new("bob")?.add("u", "name", "Bob")?).await {
    ///     Err(error) if error.kind() == ErrorKind::RowExists => println!("the name is taken"),
    ///     inserted => inserted?,
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `RowExists`, with the key fields if the table has a template; `Unsupported` on a cluster if
    /// the first column's value is empty; as [`Table::mutate`].
    pub async fn insert(&self, put: Put) -> Result<()> {
        let row = put.row().clone();
        if self.inner.backend.insert(self.id(), put).await? {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::RowExists,
            format!("the row exists already: table={}, row={}", self.name(), self.key_text(&row)),
        ))
    }

    /// Formats a key for messages: the key bytes, followed by the template fields if the key fits
    /// it.
    fn key_text(&self, key: &[u8]) -> String {
        let bytes = escape(key);
        match &self.inner.key {
            Key::Declared(schema) => match schema.decode(key) {
                Ok(values) => format!("{bytes} ({values})"),
                Err(_) => bytes,
            },
            Key::Undeclared | Key::Unreadable(..) => bytes,
        }
    }

    /// Deletes cells in one row.
    ///
    /// ```
    /// # use rowhouse::{Delete, Result, Table, Timestamp};
    /// # async fn example(users: Table) -> Result<()> {
    /// // A column, and a whole row.
    /// users.delete(Delete::new("bob")?.column("u", "city", Timestamp::LATEST)?).await?;
    /// users.delete(Delete::new("bob")?).await
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Table::mutate`].
    pub async fn delete(&self, delete: Delete) -> Result<()> {
        self.mutate(delete.into()).await.map(|_| ())
    }

    /// Adds to counters in one row and returns their new values.
    ///
    /// ```
    /// # use rowhouse::{Increment, Result, Table};
    /// # async fn example(pages: Table) -> Result<()> {
    /// let counted = pages.increment(Increment::new("home")?.add("n", "visits", 1)?).await?;
    /// println!("{:?}", counted.counter("n", "visits")?);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Table::mutate`]; `InvalidRequest` for a column that does not hold a counter.
    pub async fn increment(&self, increment: Increment) -> Result<Row> {
        self.mutate(increment.into()).await.map(|outcome| outcome.row)
    }

    /// Applies a mutation to one row.
    ///
    /// ```
    /// # use rowhouse::{Mutation, Result, Table};
    /// # async fn example(users: Table, received: Mutation) -> Result<()> {
    /// let outcome = users.mutate(received).await?;
    /// println!("{:?}", outcome.row);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `TableNotFound`, `TableNotEnabled`, `NoSuchColumnFamily`; `InvalidRequest` for a mutation
    /// without columns; `RegionTooBusy`, `ReadOnly`, `OutcomeUnknown`.
    pub async fn mutate(&self, mutation: Mutation) -> Result<MutationOutcome> {
        self.inner.backend.mutate(self.id(), mutation).await
    }

    /// Appends bytes to values in one row and returns the new values.
    ///
    /// ```
    /// # use rowhouse::{Append, Result, Table};
    /// # async fn example(logs: Table) -> Result<()> {
    /// let grown = logs.append(Append::new("bob")?.add("l", "text", "logged in; ")?).await?;
    /// println!("{:?}", grown.value("l", "text"));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Table::mutate`].
    pub async fn append(&self, append: Append) -> Result<Row> {
        self.mutate(append.into()).await.map(|outcome| outcome.row)
    }

    /// Applies a mutation to one row if `condition` holds for the row; otherwise changes nothing
    /// and returns `None`. The check and the mutation are atomic.
    ///
    /// ```
    /// # use rowhouse::filter::CompareOperator;
    /// # use rowhouse::{Condition, Put, Result, Table};
    /// # async fn example(accounts: Table) -> Result<()> {
    /// let open = Condition::value("cf", "state", CompareOperator::Equal, "open");
    /// let close = Put::new("bob")?.add("cf", "state", "closed")?;
    /// if accounts.mutate_if(&open, close.into()).await?.is_none() {
    ///     println!("somebody else has closed it");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Table::mutate`]; `Unsupported` on a cluster for [`Condition::NoRow`]: see
    /// [`Table::insert`].
    pub async fn mutate_if(
        &self,
        condition: &Condition,
        mutation: Mutation,
    ) -> Result<Option<MutationOutcome>> {
        self.inner.backend.mutate_if(self.id(), condition.clone(), mutation).await
    }

    /// Applies several mutations to one row atomically: all become visible and durable, or none.
    /// Returns the new cells from the increments and appends, in the same order.
    ///
    /// ```
    /// # use rowhouse::{Delete, Put, Result, RowMutations, Table, Timestamp};
    /// // How is a column renamed in a row, without a moment with both or none?
    /// # async fn example(users: Table) -> Result<()> {
    /// let town = Put::new("bob")?.add("u", "town", "Leeds")?;
    /// let city = Delete::new("bob")?.column("u", "city", Timestamp::LATEST)?;
    /// users.mutate_row(RowMutations::new("bob")?.with(town)?.with(city)?).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Table::mutate`], for the first mutation that fails; then nothing is changed.
    pub async fn mutate_row(&self, mutations: RowMutations) -> Result<MutationOutcome> {
        let outcome = self.inner.backend.mutate_row(self.id(), None, mutations).await?;
        Ok(outcome.unwrap_or_default())
    }

    /// As [`Table::mutate_row`], if `condition` holds for the row; otherwise returns `None`.
    ///
    /// ```
    /// # use rowhouse::{Condition, Increment, Put, Result, RowMutations, Table};
    /// # async fn example(seats: Table) -> Result<()> {
    /// let take = Put::new("12A")?.add("s", "passenger", "bob")?;
    /// let count = Increment::new("12A")?.add("s", "taken", 1)?;
    /// let both = RowMutations::new("12A")?.with(take)?.with(count)?;
    /// let taken = seats.mutate_row_if(&Condition::no_value("s", "passenger"), both).await?;
    /// println!("{}", if taken.is_some() { "yours" } else { "taken already" });
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Table::mutate_row`] and [`Table::mutate_if`].
    pub async fn mutate_row_if(
        &self,
        condition: &Condition,
        mutations: RowMutations,
    ) -> Result<Option<MutationOutcome>> {
        let condition = Some(condition.clone());
        self.inner.backend.mutate_row(self.id(), condition, mutations).await
    }

    /// Applies mutations independently and returns one result each. Mutations to the same row are
    /// applied in the given order.
    ///
    /// ```
    /// # use rowhouse::{Mutation, Put, Result, Table};
    /// # async fn example(users: Table, lines: Vec<(String, String)>) -> Result<()> {
    /// let puts: Result<Vec<Mutation>> = lines
    ///     .into_iter()
    ///     .map(|(user, name)| Ok(Put::new(user)?.add("u", "name", name)?.into()))
    ///     .collect();
    /// let failed = users.batch(puts?).await.into_iter().filter_map(Result::err);
    /// for error in failed {
    ///     eprintln!("{error}");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn batch(&self, mutations: Vec<Mutation>) -> Vec<Result<MutationOutcome>> {
        self.inner.backend.batch(self.id(), mutations).await
    }

    /// Returns the table's regions, ordered by start row.
    ///
    /// ```
    /// # use rowhouse::{Result, Scan, Table};
    /// // How is a whole table read in parallel?
    /// # async fn example(users: Table) -> Result<()> {
    /// let mut tasks = tokio::task::JoinSet::new();
    /// for region in users.regions().await? {
    ///     let users = users.clone();
    ///     tasks.spawn(async move { users.scan(Scan::new(region.range)).await?.collect().await });
    /// }
    /// for rows in tasks.join_all().await {
    ///     println!("{}", rows?.len());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `TableNotFound`.
    pub async fn regions(&self) -> Result<Vec<RegionInfo>> {
        let regions = self.regions_with_servers().await?;
        Ok(regions.into_iter().map(|(region, _)| region).collect())
    }

    /// As [`Table::regions`], with the server for each region that is assigned: see
    /// [`Table::locate`].
    ///
    /// ```
    /// # use rowhouse::{Result, Table};
    /// # async fn example(users: Table) -> Result<()> {
    /// for (region, server) in users.regions_with_servers().await? {
    ///     println!("{} on {server:?}", region.name());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `TableNotFound`.
    pub async fn regions_with_servers(&self) -> Result<Vec<(RegionInfo, Option<ServerName>)>> {
        self.inner.backend.regions(self.name()).await
    }

    /// Returns the region whose range contains a row, with the server if it is assigned. An
    /// embedded database is one server named `localhost`, port 0.
    ///
    /// ```
    /// # use rowhouse::{Result, Table};
    /// # async fn example(users: Table) -> Result<()> {
    /// let (region, server) = users.locate(b"bob").await?;
    /// println!("{} on {server:?}", region.name());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `TableNotFound`; `TableNotEnabled`; `InvalidRequest` for an invalid row key.
    pub async fn locate(&self, row: &[u8]) -> Result<(RegionInfo, Option<ServerName>)> {
        check_row(row)?;
        if self.inner.backend.table_state(self.name()).await? == TableState::Disabled {
            return Err(Error::new(ErrorKind::TableNotEnabled, self.name().to_string()));
        }
        let mut regions = self.inner.backend.regions(self.name()).await?.into_iter();
        let found = regions.find(|(region, _)| region.range.contains(row));
        found.ok_or_else(|| Error::new(ErrorKind::UnknownRegion, self.name().to_string()))
    }

    /// Returns a counter's value, or `None` if the column does not exist.
    ///
    /// ```
    /// # use rowhouse::{Result, Table};
    /// # async fn example(pages: Table) -> Result<()> {
    /// let visits = pages.counter("home", "n", "visits").await?.unwrap_or(0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Table::get`]; `InvalidRequest` for a column that does not hold a counter.
    pub async fn counter(
        &self,
        row: impl Into<Bytes>,
        family: &str,
        qualifier: &str,
    ) -> Result<Option<i64>> {
        let get = Get::new(row)?.column(family.to_owned(), qualifier.to_owned());
        self.get(&get).await?.counter(family, qualifier)
    }
}
