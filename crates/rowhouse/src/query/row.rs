//! A row returned by a query.

use std::borrow::Cow;
use std::sync::Arc;

use rowhouse_model::{Bytes, Error, Result, Row};
use rowhouse_query::MatchingRow;
use rowhouse_schema::{CellMismatch, FromRowKey, KeyMismatch, NamedCell, Value, Values};

#[cfg(feature = "search")]
use super::search::SearchTexts;
use crate::declared::DeclaredColumns;
use crate::table::Table;

/// A row returned by a query: the cells and the decoded key.
///
/// ```
/// # async fn example(mail: rowhouse::Table) -> rowhouse::Result<()> {
/// for row in mail.query("user = 'bob'").page(10).await?.rows {
///     let at = row.key("at").and_then(|at| at.as_time());
///     println!("{at:?} {}", row.text("d", "subject").unwrap_or_default());
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct QueryRow {
    pub(super) found: MatchingRow,
    pub(super) columns: Arc<DeclaredColumns>,
    /// The score, in a query by score.
    #[cfg(feature = "search")]
    pub(super) score: Option<f32>,
    /// The words that the query looked for.
    #[cfg(feature = "search")]
    pub(super) texts: Option<Arc<SearchTexts>>,
}

impl QueryRow {
    /// Creates a row that no full-text index found.
    pub(super) fn new(found: MatchingRow, columns: Arc<DeclaredColumns>) -> Self {
        Self {
            found,
            columns,
            #[cfg(feature = "search")]
            score: None,
            #[cfg(feature = "search")]
            texts: None,
        }
    }

    /// Returns a key field, or `None` if the template has no such field or the key does not fit it.
    ///
    /// ```
    /// # fn example(row: rowhouse::query::QueryRow) -> rowhouse::Result<()> {
    /// let user = row.key("user").and_then(|user| user.as_str());
    /// # Ok(())
    /// # }
    /// ```
    pub fn key(&self, field: &str) -> Option<&Value> {
        self.found.values.as_ref().ok()?.get(field)
    }

    /// Returns all key fields.
    ///
    /// ```
    /// # fn example(row: rowhouse::query::QueryRow) -> rowhouse::Result<()> {
    /// match row.values() {
    ///     Ok(values) => values.iter().for_each(|(name, value)| println!("{name}={value}")),
    ///     Err(why) => println!("{why}"),
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// If the key does not fit the template: the position of the first byte that does not fit, and
    /// the expected field.
    pub fn values(&self) -> Result<&Values, &KeyMismatch> {
        self.found.values.as_ref()
    }

    /// Decodes the key into a struct, which can borrow from the row.
    ///
    /// ```
    /// # #[cfg(feature = "derive")] {
    /// # use rowhouse::{Result, RowKey, query::QueryRow};
    /// #[derive(RowKey)]
    /// #[key("[user string][n u32]")]
    /// struct Note<'a> {
    ///     user: std::borrow::Cow<'a, str>,
    ///     n: u32,
    /// }
    ///
    /// # fn example(row: QueryRow) -> Result<()> {
    /// let Note { user, n } = row.key_as()?;
    /// println!("{user} {n}");
    /// # Ok(())
    /// # }
    /// # }
    /// ```
    ///
    /// # Errors
    /// `InvalidRequest` if the key does not fit the template, with the [`KeyMismatch`] as the
    /// source, and if the struct's template differs from the table's.
    pub fn key_as<'r, K: FromRowKey<'r>>(&'r self) -> Result<K> {
        let declared = self.found.values.as_ref().map_err(|why| Error::from(why.clone()))?.schema();
        if declared != K::schema() {
            return Err(Error::invalid(format!(
                "the struct is a key of another template than the table's: struct={}, table={declared}",
                K::schema()
            )));
        }
        Ok(K::decode_key(self.key_bytes())?)
    }

    /// Returns the key bytes.
    ///
    /// ```
    /// # fn example(row: rowhouse::query::QueryRow) -> rowhouse::Result<()> {
    /// println!("{}", rowhouse::key::escape(row.key_bytes()));
    /// # Ok(())
    /// # }
    /// ```
    pub fn key_bytes(&self) -> &[u8] {
        self.found.key()
    }

    /// Returns a column's newest value.
    ///
    /// ```
    /// # fn example(row: rowhouse::query::QueryRow) -> rowhouse::Result<()> {
    /// let photo: Option<rowhouse::Bytes> = row.bytes("u", "photo");
    /// # Ok(())
    /// # }
    /// ```
    pub fn bytes(&self, family: &str, qualifier: &str) -> Option<Bytes> {
        self.found.row.value(family, qualifier)
    }

    /// Returns a column's newest value as text; invalid UTF-8 becomes U+FFFD.
    ///
    /// ```
    /// # fn example(row: rowhouse::query::QueryRow) -> rowhouse::Result<()> {
    /// println!("{}", row.text("d", "subject").unwrap_or_default());
    /// # Ok(())
    /// # }
    /// ```
    pub fn text(&self, family: &str, qualifier: &str) -> Option<Cow<'_, str>> {
        self.found.row.cell(family, qualifier).map(|cell| String::from_utf8_lossy(cell.value()))
    }

    /// Returns a counter's newest value.
    ///
    /// ```
    /// # fn example(row: rowhouse::query::QueryRow) -> rowhouse::Result<()> {
    /// let visits = row.counter("n", "visits")?.unwrap_or(0);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `InvalidRequest` for a column that does not hold a counter.
    pub fn counter(&self, family: &str, qualifier: &str) -> Result<Option<i64>> {
        self.found.row.counter(family, qualifier)
    }

    /// Returns a declared column's newest value, or `None` if the row has no such cell or it was
    /// not read.
    ///
    /// ```
    /// # fn example(row: rowhouse::query::QueryRow) -> rowhouse::Result<()> {
    /// // Declared: d:n size u32
    /// let size = row.column("size")?.and_then(|size| size.as_u64());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `InvalidRequest` if `name` is not a declared column with a single qualifier, or if the cell
    /// does not fit the column's type (the source is then a [`CellMismatch`]). Also errors as for
    /// [`Table::column_schema`].
    ///
    /// [`Table::column_schema`]: crate::Table::column_schema
    pub fn column(&self, name: &str) -> Result<Option<Value>> {
        let column = self.columns.schema()?.column(name)?;
        let qualifier = column.qualifier().ok_or_else(|| {
            Error::invalid(format!("column `{name}` has many qualifiers: go through its cells"))
        })?;
        let cell = self.found.row.cell(column.family(), qualifier);
        Ok(cell.map(|cell| column.decode_value(cell.value())).transpose()?)
    }

    /// Returns the cells in a declared column whose qualifiers have fields: for each qualifier the
    /// fields and the newest value, ordered by qualifier.
    ///
    /// ```
    /// # use rowhouse::query::QueryRow;
    /// # use rowhouse::Result;
    /// # fn example(row: QueryRow) -> Result<()> {
    /// // Declared: f:[at millis desc] price f64
    /// for price in row.columns("price")? {
    ///     let (fields, price) = price?;
    ///     println!("{} {price}", fields["at"]);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `InvalidRequest` if `name` is not such a column, and errors as for [`Table::column_schema`].
    /// An item is an error if a cell's qualifier has the column's prefix but the cell does not fit.
    ///
    /// [`Table::column_schema`]: crate::Table::column_schema
    pub fn columns<'r>(
        &'r self,
        name: &'r str,
    ) -> Result<impl Iterator<Item = Result<(Values, Value), CellMismatch>> + 'r> {
        let columns = self.columns.schema()?;
        let column = columns.column(name)?;
        if column.template().is_none() {
            let why = format!("column `{name}` has one qualifier: ask for its value");
            return Err(Error::invalid(why));
        }
        let cells = self.found.row.cells().filter(|cell| cell.family() == column.family());
        let mut last = None;
        // Versions in a column are adjacent, newest first.
        let newest = cells.filter(move |cell| {
            let qualifier = Some(cell.qualifier());
            std::mem::replace(&mut last, qualifier) != qualifier
        });
        Ok(newest.filter_map(move |cell| {
            match columns.decode(cell.family(), cell.qualifier(), cell.value()) {
                Ok(NamedCell { column, fields: Some(fields), value }) if column.name() == name => {
                    Some(Ok((fields, value)))
                }
                Err(why) if why.column() == Some(name) => Some(Err(why)),
                _ => None,
            }
        }))
    }

    /// Returns the row with the cells.
    ///
    /// ```
    /// # fn example(row: rowhouse::query::QueryRow) -> rowhouse::Result<()> {
    /// row.row().cells().for_each(|cell| println!("{} {:?}", cell.timestamp(), cell.value()));
    /// # Ok(())
    /// # }
    /// ```
    pub fn row(&self) -> &Row {
        &self.found.row
    }

    /// Converts into the row with the cells.
    ///
    /// ```
    /// # fn example(row: rowhouse::query::QueryRow) -> rowhouse::Result<()> {
    /// let cells = row.into_row().to_cells();
    /// # Ok(())
    /// # }
    /// ```
    pub fn into_row(self) -> Row {
        self.found.row
    }
}

impl Table {
    /// Returns a row from [`Table::get`] or [`Table::scan`] as queries return rows, with key fields
    /// and declared columns by name.
    ///
    /// ```
    /// use rowhouse::{Get, TableSpec};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> rowhouse::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let database = rowhouse::open(dir.path().to_string_lossy()).await?;
    /// let spec = TableSpec::new("notes").family("n").key("[user string][id u32]");
    /// let notes = database.create_table(spec.columns("n:s stars u8")).await?;
    /// let key = [("user", "bob".into()), ("id", 7.into())];
    /// notes.row(&key).set_named("stars", 5).put().await?;
    ///
    /// let row = notes.get(&Get::new(notes.key(&key)?)?).await?;
    /// let note = notes.query_row(row)?;
    /// assert_eq!(note.key("id"), Some(&7_u32.into()));
    /// assert_eq!(note.column("stars")?, Some(5_u8.into()));
    /// # database.close().await
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Table::key_schema`]. A key that does not fit the template is reported by
    /// [`QueryRow::values`].
    pub fn query_row(&self, row: Row) -> Result<QueryRow> {
        let values = self.key_schema()?.decode(row.key());
        Ok(QueryRow::new(MatchingRow::new(row, values), Arc::clone(self.declared_columns())))
    }
}

impl std::fmt::Display for QueryRow {
    /// Writes the key fields, or the key bytes in HBase's notation.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.found.values {
            Ok(values) => write!(f, "{values}"),
            Err(_) => f.write_str(&rowhouse_model::escape(self.key_bytes())),
        }
    }
}
