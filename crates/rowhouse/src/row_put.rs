//! Writes a row whose key is given by fields.

use std::hash::{BuildHasher, RandomState};

use rowhouse_model::{Durability, Error, Put, Result, Timestamp};
use rowhouse_schema::{CellBytes, NamedValues, RowKey, Value};

use crate::table::Table;

/// A row to write: created by [`Table::row`], filled by [`RowPut::set`], written by [`RowPut::put`]
/// or [`RowPut::insert`]. The put reports the first mistake in the key or a column.
///
/// ```
/// # use rowhouse::{Durability, Result, Table};
/// # async fn example(mail: Table) -> Result<()> {
/// let key = [("user", "bob".into()), ("at", "2022-12-24T18:00".into())];
/// let row = mail.row(&key).set("d", "subject", "Christmas").set_named("size", 20_000);
/// row.durability(Durability::FsyncWal).put().await
/// # }
/// ```
#[must_use = "nothing is written before `put`"]
pub struct RowPut<'t> {
    table: &'t Table,
    put: Result<Put>,
    /// Whether a salt in the key was generated randomly.
    has_random_salt: bool,
}

impl<'t> RowPut<'t> {
    pub(crate) fn new(table: &'t Table, put: Result<Put>, has_random_salt: bool) -> Self {
        Self { table, put, has_random_salt }
    }

    /// Sets a column; the timestamp is the time at which the write is accepted.
    ///
    /// ```
    /// # use rowhouse::{Result, Table};
    /// # async fn example(mail: Table) -> Result<()> {
    /// let key = [("user", "bob".into()), ("at", "2022-12-24T18:00".into())];
    /// mail.row(&key).set("d", "subject", "Christmas").put().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn set(self, family: &str, qualifier: &str, value: impl AsRef<[u8]>) -> Self {
        self.set_at(family, qualifier, Timestamp::LATEST, value)
    }

    /// Sets a column with this timestamp.
    ///
    /// ```
    /// # use rowhouse::{Result, Table, Timestamp};
    /// # async fn example(mail: Table) -> Result<()> {
    /// let key = [("user", "bob".into()), ("at", "2022-12-24T18:00".into())];
    /// let then = Timestamp::from_millis(1_671_904_800_000)?;
    /// mail.row(&key).set_at("d", "subject", then, "Christmas").put().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn set_at(
        self,
        family: &str,
        qualifier: &str,
        timestamp: Timestamp,
        value: impl AsRef<[u8]>,
    ) -> Self {
        let put = self.put.and_then(|put| put.add_at(family, qualifier, timestamp, value));
        Self { put, ..self }
    }

    /// Sets a declared column by name; the timestamp is the time at which the write is accepted.
    ///
    /// The put reports an undeclared column, and a value that does not fit the column.
    ///
    /// ```
    /// # use rowhouse::{Result, Table};
    /// # async fn example(mail: Table) -> Result<()> {
    /// // Declared: d:n size u32
    /// let key = [("user", "bob".into()), ("at", "2022-12-24T18:00".into())];
    /// mail.row(&key).set_named("size", 20_000).put().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn set_named(self, name: &str, value: impl Into<Value>) -> Self {
        let columns = self.table.column_schema();
        let cell = columns.and_then(|columns| columns.encode(name, value));
        self.set_cell(cell)
    }

    /// Sets a declared column whose qualifier contains data, by name and the qualifier's fields.
    ///
    /// ```
    /// # use rowhouse::{Result, Table};
    /// # async fn example(stocks: Table) -> Result<()> {
    /// // Declared: f:[at millis desc] price f64
    /// let at = [("at", "2022-12-24T18:00".into())];
    /// stocks.row(&[("stock", "ACME".into())]).set_named_with("price", &at, 9.99).put().await
    /// # }
    /// ```
    pub fn set_named_with<V: NamedValues + ?Sized>(
        self,
        name: &str,
        fields: &V,
        value: impl Into<Value>,
    ) -> Self {
        let columns = self.table.column_schema();
        let cell = columns.and_then(|columns| columns.encode_with(name, fields, value));
        self.set_cell(cell)
    }

    fn set_cell(self, cell: Result<CellBytes>) -> Self {
        let put = self.put.and_then(|put| {
            let CellBytes { family, qualifier, value } = cell?;
            put.add(family, qualifier, value)
        });
        Self { put, ..self }
    }

    /// Sets the write durability; the default is what the database or the table sets.
    ///
    /// ```
    /// # use rowhouse::Durability;
    /// # async fn example(mail: rowhouse::Table) -> rowhouse::Result<()> {
    /// let key = [("user", "bob".into()), ("at", "2022-12-24T18:00".into())];
    /// let row = mail.row(&key).set("d", "subject", "Christmas");
    /// row.durability(Durability::FsyncWal).put().await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn durability(mut self, durability: Durability) -> Self {
        if let Ok(put) = &mut self.put {
            put.durability = durability;
        }
        self
    }

    /// Writes the row. Columns that are not set stay as they are.
    ///
    /// ```
    /// # async fn example(mail: rowhouse::Table) -> rowhouse::Result<()> {
    /// let key = [("user", "bob".into()), ("at", "2022-12-24T18:00".into())];
    /// mail.row(&key).set("d", "subject", "Christmas").set("d", "body", "Dear Bob").put().await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The first mistake in the key or a column; as [`Table::put`].
    pub async fn put(self) -> Result<()> {
        self.table.put(self.put?).await
    }

    /// Writes the row if it does not exist.
    ///
    /// ```
    /// # use rowhouse::{ErrorKind, Result, Table};
    /// # async fn example(blog: Table) -> Result<()> {
    /// let key = [("blogger", "123".into()), ("at", "2022-12-24T18:00".into())];
    /// blog.row(&key).set("cf", "title", "first").insert().await?;
    /// let again = blog.row(&key).set("cf", "title", "of the same millisecond").insert().await;
    /// assert_eq!(again.unwrap_err().kind(), ErrorKind::RowExists);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `RowExists` with the key fields; `InvalidRequest` for a key with a generated salt, since
    /// another row may have the same values; the first mistake in the key or a column; as
    /// [`Table::insert`], which defines when a row exists.
    pub async fn insert(self) -> Result<()> {
        let put = self.put?;
        if self.has_random_salt {
            return Err(Error::invalid(format!(
                "a key with a random salt cannot be inserted, the same values may be in another \
                 row: use bucket, or give the salt: table={}",
                self.table.name()
            )));
        }
        self.table.insert(put).await
    }

    /// Returns the put, for a [`Table::batch`].
    ///
    /// ```
    /// # use rowhouse::{Result, Table};
    /// # async fn example(mail: Table) -> Result<()> {
    /// let put = |n: u32| {
    ///     let key = [("user", "bob".into()), ("at", n.into())];
    ///     mail.row(&key).set("d", "subject", "Christmas").into_put().map(Into::into)
    /// };
    /// let puts = (0..100).map(put).collect::<Result<Vec<_>>>()?;
    /// for outcome in mail.batch(puts).await {
    ///     outcome?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The first mistake in the key or a column.
    pub fn into_put(self) -> Result<Put> {
        self.put
    }
}

impl Table {
    /// Starts a put for the row with this key: call [`RowPut::set`] for the columns, then
    /// [`RowPut::put`], which also reports mistakes in the key.
    ///
    /// A `salt` field without a given value is generated randomly, so putting the same values twice
    /// may create two rows. A `bucket` field is computed from other fields and avoids this.
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
        let key = if drawn {
            schema.encode_salted(values, RandomState::new().hash_one(()))
        } else {
            given
        };
        RowPut::new(self, key.and_then(Put::new), drawn)
    }

    /// As [`Table::row`], with the key given as a struct. The put fails if the struct's template
    /// differs from the table's.
    ///
    /// ```
    /// # #[cfg(feature = "derive")] {
    /// # use rowhouse::{Result, RowKey, Table};
    /// #[derive(RowKey)]
    /// #[key("[user string][n u32]")]
    /// struct Note {
    ///     user: String,
    ///     n: u32,
    /// }
    ///
    /// # async fn example(notes: Table) -> Result<()> {
    /// notes.row_of(&Note { user: "bob".into(), n: 7 }).set("n", "text", "Hello").put().await
    /// # }
    /// # }
    /// ```
    pub fn row_of<K: RowKey>(&self, key: &K) -> RowPut<'_> {
        let drawn = K::schema().has_salt();
        let encoded = self.check_row_key::<K>().and_then(|()| {
            let mut encoded = Vec::new();
            if drawn {
                key.encode_key_salted(RandomState::new().hash_one(()), &mut encoded)?;
            } else {
                key.encode_key(&mut encoded)?;
            }
            Ok(encoded)
        });
        RowPut::new(self, encoded.and_then(Put::new), drawn)
    }
}
