//! A table, by its name.

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use rowhouse_model::{
    Append, Bytes, CellHistory, Condition, Delete, Error, ErrorKind, Get, Increment, Mutation,
    MutationOutcome, Put, RegionInfo, Result, Row, RowMutations, Scan, ServerName, TableDescriptor,
    TableName, TableState, check_row, escape,
};
use rowhouse_schema::{ColumnSchema, KeySchema, NamedValues, Predicate, RowKey};

use crate::backend::{Backend, ReadAhead, TableReadPoint};
use crate::declared::DeclaredColumns;
use crate::query::Query;
use crate::row_put::RowPut;
use crate::rows::Rows;

/// A table of a database. Cloning it gives another handle on the same one.
///
/// It stands for the name: of a table that has been dropped and made again it reads the new one.
/// The template of the key and the columns are those that the table had when the handle was got.
#[derive(Clone)]
pub struct Table {
    inner: Arc<Inner>,
}

struct Inner {
    backend: Arc<Backend>,
    name: TableName,
    key: Key,
    columns: Arc<DeclaredColumns>,
}

/// What the table's descriptor says of its key.
enum Key {
    Undeclared,
    Declared(KeySchema),
    /// There is a template, and this version cannot read it: only what needs it is refused.
    Unreadable(ErrorKind, String),
}

impl Table {
    pub(crate) fn new(backend: Arc<Backend>, descriptor: &TableDescriptor) -> Self {
        let name = descriptor.name().clone();
        let key = match KeySchema::of_table(descriptor) {
            Ok(None) => Key::Undeclared,
            Ok(Some(schema)) => Key::Declared(schema),
            Err(error) => Key::Unreadable(error.kind(), error.message().to_owned()),
        };
        let columns = Arc::new(DeclaredColumns::of(descriptor));
        Self { inner: Arc::new(Inner { backend, name, key, columns }) }
    }

    /// Its name.
    pub fn name(&self) -> &TableName {
        &self.inner.name
    }

    /// The template of its key.
    ///
    /// # Errors
    /// `InvalidRequest` when the table has none, saying how one is declared; `Unsupported` when it
    /// was written by a newer version.
    pub fn key_schema(&self) -> Result<&KeySchema> {
        match &self.inner.key {
            Key::Declared(schema) => Ok(schema),
            Key::Undeclared => Err(Error::invalid(format!(
                "table {name} declares no key; declare one when it is made: \
                 TableSpec::new(\"{name}\").key(\"[user text]_[at millis desc]\"), \
                 or in the shell: alter '{name}', KEY => '[user text]_[at millis desc]'",
                name = self.name()
            ))),
            Key::Unreadable(kind, message) => {
                Err(Error::new(*kind, format!("key of table {}: {message}", self.name())))
            }
        }
    }

    /// The columns that it declares.
    ///
    /// # Errors
    /// `InvalidRequest` when it declares none, saying how they are declared; `Unsupported` when a newer
    /// version did.
    pub fn column_schema(&self) -> Result<&ColumnSchema> {
        self.inner.columns.schema()
    }

    pub(crate) fn declared_columns(&self) -> &Arc<DeclaredColumns> {
        &self.inner.columns
    }

    /// The row key of these values, by the table's template.
    ///
    /// # Errors
    /// As [`Table::key_schema`] and [`KeySchema::encode`].
    pub fn key<V: NamedValues + ?Sized>(&self, values: &V) -> Result<Bytes> {
        self.key_schema()?.encode(values)
    }

    /// A new version of the row with this key: `set` its columns, then `put` it. What is wrong with
    /// the key is told by the put.
    ///
    /// A `salt` of the template for which no value is given is drawn at random: then the same values put
    /// twice may be two rows. A `bucket` has none of this.
    ///
    /// ```
    /// # use rowhouse::{Result, Table};
    /// # async fn example(blog: Table) -> Result<()> {
    /// let key = [("blogger", "123".into()), ("at", "2022-12-24T18:00".into())];
    /// blog.row(&key).set("cf", "title", "圣诞快乐").put().await
    /// # }
    /// ```
    pub fn row<V: NamedValues + ?Sized>(&self, values: &V) -> RowPut<'_> {
        let schema = match self.key_schema() {
            Ok(schema) => schema,
            Err(error) => return RowPut::new(self, Err(error), false),
        };
        let given = schema.encode(values);
        let drawn = given.is_err() && schema.has_salt();
        let key = match drawn {
            true => schema.encode_salted(values, RandomState::new().hash_one(())),
            false => given,
        };
        RowPut::new(self, key.and_then(Put::new), drawn)
    }

    /// The row key of a struct: what a [`Get`] or [`Delete`] of one row takes.
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
    /// As [`Table::key_schema`] and [`RowKey::encode_key`]; `InvalidRequest` when the struct's template is not
    /// the table's.
    pub fn key_of<K: RowKey>(&self, key: &K) -> Result<Bytes> {
        self.check_row_key::<K>()?;
        key.to_key()
    }

    /// As [`Table::row`], of a key that is a struct. That its template is not the table's is told by the put.
    pub fn row_of<K: RowKey>(&self, key: &K) -> RowPut<'_> {
        let drawn = K::schema().has_salt();
        let encoded = self.check_row_key::<K>().and_then(|()| {
            let mut encoded = Vec::new();
            match drawn {
                true => key.encode_key_salted(RandomState::new().hash_one(()), &mut encoded)?,
                false => key.encode_key(&mut encoded)?,
            }
            Ok(encoded)
        });
        RowPut::new(self, encoded.and_then(Put::new), drawn)
    }

    fn check_row_key<K: RowKey>(&self) -> Result<()> {
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

    /// Asks for rows by the fields of their keys, and by declared columns:
    /// `blogger = '123' and at during 2022-12 and likes > 5`; and for a part of wide rows by the fields of
    /// qualifiers: `price.at during 2022-12`. What is wrong with the question is told when it
    /// is run.
    pub fn query(&self, query: &str) -> Query<'_> {
        Query::new(self, Predicate::parse(query))
    }

    /// Asks for rows by the fields of their keys, with conditions made of values.
    pub fn query_where(&self, predicate: Predicate) -> Query<'_> {
        Query::new(self, Ok(predicate))
    }

    /// Reads one row; it is empty when there is none.
    ///
    /// # Errors
    /// `TableNotFound`, `TableNotEnabled`, `NoSuchColumnFamily`.
    pub async fn get(&self, get: &Get) -> Result<Row> {
        self.inner.backend.get(self.name(), get).await
    }

    /// Tells of everything that is stored of the column that `get` names whether the get shows it, and why or
    /// why not: deleted by which marker, expired since when, surplus, overwritten.
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
    /// As [`Table::get`]; `InvalidRequest` unless the get names one column and has neither filter nor limit;
    /// `Unsupported` on a cluster: HBase has no such call.
    pub async fn explain_cell(&self, get: &Get) -> Result<CellHistory> {
        self.inner.backend.explain_cell(self.name(), get).await
    }

    /// Reads a range of rows, in key order.
    ///
    /// # Errors
    /// As [`Table::get`]; `Unsupported` for what the backend does not do.
    pub async fn scan(&self, scan: Scan) -> Result<Rows> {
        self.scan_beside(scan, &ReadAhead::new(1)).await
    }

    /// As [`Table::scan`], read ahead by the threads of `ahead`.
    pub(crate) async fn scan_beside(&self, scan: Scan, ahead: &Arc<ReadAhead>) -> Result<Rows> {
        self.inner.backend.scan(self.name(), scan, ahead).await
    }

    pub(crate) async fn moment(&self) -> Result<Option<TableReadPoint>> {
        self.inner.backend.moment(self.name()).await
    }

    /// Writes cells of one row, all or none.
    ///
    /// # Errors
    /// As [`Table::mutate`].
    pub async fn put(&self, put: Put) -> Result<()> {
        self.mutate(put.into()).await.map(|_| ())
    }

    /// Writes a row that is not there yet: a row that has any cell is left as it is.
    ///
    /// In a store of this process the check and the write are one. HBase can check one column together
    /// with a write, so on a cluster the row is looked at first, and the first column that is set (by
    /// family and qualifier) is checked with the write: of those who insert a row at one time and set the
    /// same first column, exactly one does. That column needs a value there that is not empty.
    ///
    /// As after every delete, what is inserted in the millisecond of the delete, or at a timestamp that it
    /// covers, is hidden by it: then the row is still not there.
    ///
    /// # Errors
    /// `RowExists`, which names the row by the fields of its key if the table has a template;
    /// `Unsupported` for an empty value in the first column on a cluster; as [`Table::mutate`].
    pub async fn insert(&self, put: Put) -> Result<()> {
        let row = put.row().clone();
        if self.inner.backend.insert(self.name(), put).await? {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::RowExists,
            format!("the row exists already: table={}, row={}", self.name(), self.key_text(&row)),
        ))
    }

    /// A key as messages name it: by the fields of the template, with its bytes behind them, or its bytes
    /// alone where there is no template or the key does not fit.
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

    /// Deletes cells of one row.
    ///
    /// # Errors
    /// As [`Table::mutate`].
    pub async fn delete(&self, delete: Delete) -> Result<()> {
        self.mutate(delete.into()).await.map(|_| ())
    }

    /// Adds to counters of one row and returns them as they are then.
    ///
    /// # Errors
    /// As [`Table::mutate`]; `InvalidRequest` for a column that holds something else.
    pub async fn increment(&self, increment: Increment) -> Result<Row> {
        self.mutate(increment.into()).await.map(|outcome| outcome.row)
    }

    /// Changes one row.
    ///
    /// # Errors
    /// `TableNotFound`, `TableNotEnabled`, `NoSuchColumnFamily`; `InvalidRequest` for a mutation
    /// without columns; `RegionTooBusy`, `ReadOnly`, `OutcomeUnknown`.
    pub async fn mutate(&self, mutation: Mutation) -> Result<MutationOutcome> {
        self.inner.backend.mutate(self.name(), mutation).await
    }

    /// Adds bytes to values of one row and returns them as they are then.
    ///
    /// # Errors
    /// As [`Table::mutate`].
    pub async fn append(&self, append: Append) -> Result<Row> {
        self.mutate(append.into()).await.map(|outcome| outcome.row)
    }

    /// Changes one row if `condition` holds for it; `None` if it does not, and nothing is changed then.
    /// Nobody else changes the row between the two.
    ///
    /// ```
    /// # use rowhouse::{CompareOperator, Condition, Put, Result, Table};
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
    /// As [`Table::mutate`]; `Unsupported` on a cluster for [`Condition::NoRow`]: see [`Table::insert`].
    pub async fn mutate_if(
        &self,
        condition: &Condition,
        mutation: Mutation,
    ) -> Result<Option<MutationOutcome>> {
        self.inner.backend.mutate_if(self.name(), condition.clone(), mutation).await
    }

    /// Changes one row in several ways as one: all of it is seen, and survives, or none. Gives back the
    /// new cells of the increments and appends among them, in their order.
    ///
    /// # Errors
    /// As [`Table::mutate`], for the first that cannot be done; then nothing is changed.
    pub async fn mutate_row(&self, mutations: RowMutations) -> Result<MutationOutcome> {
        let outcome = self.inner.backend.mutate_row(self.name(), None, mutations).await?;
        Ok(outcome.unwrap_or_default())
    }

    /// As [`Table::mutate_row`], if `condition` holds for the row; `None` if it does not.
    ///
    /// # Errors
    /// As [`Table::mutate_row`] and [`Table::mutate_if`].
    pub async fn mutate_row_if(
        &self,
        condition: &Condition,
        mutations: RowMutations,
    ) -> Result<Option<MutationOutcome>> {
        let condition = Some(condition.clone());
        self.inner.backend.mutate_row(self.name(), condition, mutations).await
    }

    /// Changes rows, each by itself, and says of each how it went. Mutations of one row are done in
    /// the order given.
    pub async fn batch(&self, mutations: Vec<Mutation>) -> Vec<Result<MutationOutcome>> {
        self.inner.backend.batch(self.name(), mutations).await
    }

    /// The regions of the table, in the order of their rows.
    ///
    /// # Errors
    /// `TableNotFound`.
    pub async fn regions(&self) -> Result<Vec<RegionInfo>> {
        let regions = self.inner.backend.regions(self.name()).await?;
        Ok(regions.into_iter().map(|(region, _)| region).collect())
    }

    /// The region that has a row, or would have it, and who serves it, if anybody does. A database in this process
    /// is one server by the name of `localhost`, port 0.
    ///
    /// # Errors
    /// `TableNotFound`; `TableNotEnabled`; `InvalidRequest` for a key that cannot be one.
    pub async fn locate(&self, row: &[u8]) -> Result<(RegionInfo, Option<ServerName>)> {
        check_row(row)?;
        if self.inner.backend.table_state(self.name()).await? == TableState::Disabled {
            return Err(Error::new(ErrorKind::TableNotEnabled, self.name().to_string()));
        }
        let mut regions = self.inner.backend.regions(self.name()).await?.into_iter();
        let found = regions.find(|(region, _)| region.range.contains(row));
        found.ok_or_else(|| Error::new(ErrorKind::UnknownRegion, self.name().to_string()))
    }

    /// The value of a counter; `None` where there is no such column.
    ///
    /// # Errors
    /// As [`Table::get`]; `InvalidRequest` for a column that holds something else.
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
