//! Full-text search in a table on a cluster: a copy with the searched cells, in a database in this
//! process.
//!
//! [`build`] scans the table and stores the cells in the columns that a full-text index names, with
//! the index, in a table with the same name. That table is searched as any other, and answers with
//! the row keys; [`fetch`] reads the rows at the source. The copy is as old as the last build, and
//! is read-only.
//!
//! ```
//! use rowhouse::{Columns, TableSpec, search_copy};
//!
//! // How is a table of Apache HBase searched?
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> rowhouse::Result<()> {
//! # let (dir, at) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
//! # let url = at.path().to_string_lossy().into_owned();
//! # let path = dir.path().to_string_lossy().into_owned();
//! let cluster = rowhouse::open(url).await?; // hbase+zk://zk1,zk2/hbase
//! # let spec = TableSpec::new("mail").family("d").key("[user string][n u32]");
//! # let mail = cluster.create_table(spec.columns("d:b body string; d:s subject string")).await?;
//! # let key = [("user", "bob".into()), ("n", 1.into())];
//! # mail.row(&key).set_named("body", "Row keys").set_named("subject", "hi").put().await?;
//! let here = rowhouse::open(path).await?;
//! search_copy::build(&cluster, "mail", &here)
//!     .key("[user string][n u32]")
//!     .columns("d:b body string; d:s subject string")
//!     .index("text search body english chinese")
//!     .run()
//!     .await?;
//!
//! let best = here.table("mail").await?.query("body matches 'key'").by_score().page(10).await?;
//! let keys = best.rows.iter().map(|row| row.row().key().to_vec().into());
//! let mail = cluster.table("mail").await?;
//! for row in search_copy::fetch(&mail, keys, &Columns::all()).await? {
//!     // `None` is a row that is gone since the build.
//!     let subject = row.and_then(|row| row.value("d", "s"));
//!     assert_eq!(subject.as_deref(), Some(&b"hi"[..]));
//! }
//! # here.close().await?;
//! # cluster.close().await
//! # }
//! ```

mod build;
mod declared;
mod scan;

use rowhouse_model::{Bytes, Columns, Error, Get, Result, Row, TableDescriptor};

use crate::table::Table;

pub use build::{BuildProgress, BuildStep, Built, SearchBuild, build};

/// The attribute that holds the source's URL in a copy's table.
pub const SOURCE_ATTRIBUTE: &str = "rowhouse.search.source";

/// The attribute that holds, in a copy's table, the time at which scanning the source began.
pub const SCANNED_ATTRIBUTE: &str = "rowhouse.search.scanned";

/// Rows that are fetched by one call.
const FETCHED_AT_ONCE: usize = 100;

/// The table that another one copies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The database with the table, which has the same name as the copy: an argument to
    /// [`open`](crate::open).
    pub url: String,
    /// When scanning the table began, in milliseconds since 1970: changes from then on may be
    /// missing in the copy.
    pub scanned_millis: i64,
}

impl Origin {
    /// Returns a copy's origin; `None` for every other table.
    ///
    /// ```
    /// use rowhouse::search_copy::Origin;
    ///
    /// # async fn example(here: rowhouse::Database) -> rowhouse::Result<()> {
    /// if let Some(origin) = Origin::of_table(&here.admin().describe("mail").await?)? {
    ///     let mail = rowhouse::open(&origin.url).await?.table("mail").await?;
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `InvalidRequest` for a time that is no number.
    pub fn of_table(table: &TableDescriptor) -> Result<Option<Self>> {
        let attribute = |name: &str| {
            let stored = table.attributes.get(name.as_bytes())?;
            Some(String::from_utf8_lossy(stored).into_owned())
        };
        let Some(url) = attribute(SOURCE_ATTRIBUTE) else { return Ok(None) };
        let scanned = attribute(SCANNED_ATTRIBUTE).unwrap_or_default();
        let Ok(scanned_millis) = scanned.parse() else {
            return Err(Error::invalid(format!(
                "{SCANNED_ATTRIBUTE} is not a time in milliseconds: table={}, value={scanned}",
                table.name()
            )));
        };
        Ok(Some(Self { url, scanned_millis }))
    }
}

/// Reads rows at a copy's source, in the order in which the keys are listed; `None` is a row that
/// no longer shows any such column. A row may have changed since the copy was built, and no longer
/// have the words.
///
/// # Errors
/// As [`Table::get_many`], with the first row that cannot be read.
pub async fn fetch(
    source: &Table,
    keys: impl IntoIterator<Item = Bytes>,
    columns: &Columns,
) -> Result<Vec<Option<Row>>> {
    let keys: Vec<Bytes> = keys.into_iter().collect();
    let mut rows = Vec::with_capacity(keys.len());
    for keys in keys.chunks(FETCHED_AT_ONCE) {
        let mut gets = keys.iter().cloned().map(Get::new).collect::<Result<Vec<_>>>()?;
        gets.iter_mut().for_each(|get| get.columns = columns.clone());
        for row in source.get_many(gets).await {
            rows.push(Some(row?).filter(|row| !row.is_empty()));
        }
    }
    Ok(rows)
}
