//! Writing a row whose key is given by its fields.

use rowhouse_model::{Durability, Put, Result, Timestamp};

use crate::table::Table;

/// A row to be written: made by [`Table::row`], filled by [`RowPut::set`], written by
/// [`RowPut::put`]. The first mistake, in the key or in a column, is told by the put.
#[must_use = "nothing is written before `put`"]
pub struct RowPut<'t> {
    table: &'t Table,
    put: Result<Put>,
}

impl<'t> RowPut<'t> {
    pub(crate) fn new(table: &'t Table, put: Result<Put>) -> Self {
        Self { table, put }
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

    /// The put itself, for a [`Table::batch`].
    ///
    /// # Errors
    /// What is wrong with the key or a column.
    pub fn into_put(self) -> Result<Put> {
        self.put
    }
}
