//! A row that a query found.

use std::borrow::Cow;

use rowhouse_model::{Bytes, Error, Result, Row};
use rowhouse_schema::{FromRowKey, NotFitting, Value, Values};

/// A row of a query: its cells, and its key taken apart.
#[derive(Clone, Debug)]
pub struct QueryRow {
    pub(super) row: Row,
    pub(super) values: Result<Values, NotFitting>,
}

impl QueryRow {
    /// A field of the key; `None` if the template has no such field or the key does not fit it.
    pub fn key(&self, field: &str) -> Option<&Value> {
        self.values.as_ref().ok()?.get(field)
    }

    /// All fields of the key, or why it does not fit the template.
    ///
    /// # Errors
    /// The byte at which the key does not fit, and what the template asks for there.
    pub fn values(&self) -> Result<&Values, &NotFitting> {
        self.values.as_ref()
    }

    /// The key as a struct, which can borrow from the row.
    ///
    /// # Errors
    /// `InvalidRequest` when the key does not fit the template, with the [`NotFitting`] as its source, and when
    /// the struct's template is not the table's.
    pub fn key_as<'r, K: FromRowKey<'r>>(&'r self) -> Result<K> {
        let declared = self.values.as_ref().map_err(|why| Error::from(why.clone()))?.schema();
        if declared != K::schema() {
            return Err(Error::invalid(format!(
                "the struct is a key of another template than the table's: struct={}, table={declared}",
                K::schema()
            )));
        }
        Ok(K::decode_key(self.key_bytes())?)
    }

    /// The key's bytes.
    pub fn key_bytes(&self) -> &[u8] {
        self.row.key()
    }

    /// The newest value of a column.
    pub fn bytes(&self, family: &str, qualifier: &str) -> Option<Bytes> {
        self.row.value(family, qualifier)
    }

    /// The newest value of a column as text; bytes that are not UTF-8 become U+FFFD.
    pub fn text(&self, family: &str, qualifier: &str) -> Option<Cow<'_, str>> {
        self.row.cell(family, qualifier).map(|cell| String::from_utf8_lossy(cell.value()))
    }

    /// The newest value of a column that holds a counter.
    ///
    /// # Errors
    /// `InvalidRequest` for a column that holds something else.
    pub fn counter(&self, family: &str, qualifier: &str) -> Result<Option<i64>> {
        self.row.counter(family, qualifier)
    }

    /// The cells.
    pub fn row(&self) -> &Row {
        &self.row
    }

    /// The cells, taken.
    pub fn into_row(self) -> Row {
        self.row
    }
}

impl std::fmt::Display for QueryRow {
    /// The fields of the key, or its bytes as HBase prints them.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.values {
            Ok(values) => write!(f, "{values}"),
            Err(_) => f.write_str(&rowhouse_model::escape(self.key_bytes())),
        }
    }
}
