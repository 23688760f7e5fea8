//! Writing a row whose key is given by its fields.

use rowhouse_model::{Durability, Error, Put, Result, Timestamp};
use rowhouse_schema::{CellBytes, NamedValues, Value};

use crate::table::Table;

/// A row to be written: made by [`Table::row`], filled by [`RowPut::set`], written by
/// [`RowPut::put`] or [`RowPut::insert`]. The first mistake, in the key or in a column, is told by the put.
#[must_use = "nothing is written before `put`"]
pub struct RowPut<'t> {
    table: &'t Table,
    put: Result<Put>,
    /// Whether a salt of the key was drawn at random.
    is_drawn: bool,
}

impl<'t> RowPut<'t> {
    pub(crate) fn new(table: &'t Table, put: Result<Put>, is_drawn: bool) -> Self {
        Self { table, put, is_drawn }
    }

    /// Sets a column, at the time the write is taken.
    pub fn set(self, family: &str, qualifier: &str, value: impl AsRef<[u8]>) -> Self {
        self.set_at(family, qualifier, Timestamp::LATEST, value)
    }

    /// Sets a column at `timestamp`.
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

    /// Sets a declared column by its name, at the time the write is taken.
    ///
    /// That the table declares no such column, or that it cannot hold the value, is told by the put.
    pub fn set_named(self, name: &str, value: impl Into<Value>) -> Self {
        let columns = self.table.column_schema();
        let cell = columns.and_then(|columns| columns.encode(name, value));
        self.set_cell(cell)
    }

    /// Sets a column whose qualifier has these fields, by the name that all such columns have.
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

    /// How the write is made durable.
    pub fn durability(mut self, durability: Durability) -> Self {
        if let Ok(put) = &mut self.put {
            put.durability = durability;
        }
        self
    }

    /// Writes the row.
    ///
    /// # Errors
    /// What is wrong with the key or a column; as [`Table::put`].
    pub async fn put(self) -> Result<()> {
        self.table.put(self.put?).await
    }

    /// Writes the row if it is not there yet.
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
    /// `RowExists`, naming the key by its fields; `InvalidRequest` for a key with a salt that was not given:
    /// the same values may then stand in another row; what is wrong with the key or a column; as
    /// [`Table::insert`], which says what is checked.
    pub async fn insert(self) -> Result<()> {
        let put = self.put?;
        if self.is_drawn {
            return Err(Error::invalid(format!(
                "a key with a random salt cannot be inserted, the same values may stand in another row: \
                 use bucket, or give the salt: table={}",
                self.table.name()
            )));
        }
        self.table.insert(put).await
    }

    /// The put itself, for a [`Table::batch`].
    ///
    /// # Errors
    /// What is wrong with the key or a column.
    pub fn into_put(self) -> Result<Put> {
        self.put
    }
}
