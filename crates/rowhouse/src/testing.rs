//! Databases for tests, with the feature `testing`.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> rowhouse::Result<()> {
//! use rowhouse::{Put, TableSpec};
//!
//! let database = rowhouse::testing::open().await?;
//! let table = database.create_table(TableSpec::new("t").family("f")).await?;
//! table.put(Put::new("r")?.add("f", "q", "v")?).await?;
//! database.close().await
//! # }
//! ```

use std::ops::Deref;
use std::path::Path;

use rowhouse_model::{Error, Result};
use tempfile::TempDir;

use crate::{Database, DatabaseBuilder};

/// A database in a temporary directory, which goes when this value is dropped.
pub struct TestDatabase {
    // Fields are dropped in this order.
    database: Database,
    directory: TempDir,
}

/// Opens a new database with the default settings.
///
/// # Errors
/// `Io` if there is no place for temporary files; errors as for [`rowhouse::open`](crate::open).
pub async fn open() -> Result<TestDatabase> {
    open_with(|builder| builder).await
}

/// Opens a new database with other settings, such as less memory for many databases at once.
///
/// # Errors
/// As [`open`]; errors as for [`DatabaseBuilder::open`].
pub async fn open_with(
    settings: impl FnOnce(DatabaseBuilder) -> DatabaseBuilder,
) -> Result<TestDatabase> {
    let directory = tempfile::Builder::new().prefix("rowhouse-").tempdir();
    let directory = directory
        .map_err(|source| Error::io("cannot make a temporary directory for a test", source))?;
    let url = format!("file:{}", directory.path().display());
    let database = settings(Database::builder(url)).open().await?;
    Ok(TestDatabase { database, directory })
}

impl TestDatabase {
    /// Returns the data directory.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Closes the database, as [`Database::close`], and removes the directory.
    ///
    /// # Errors
    /// Errors as for [`Database::close`]; `Io` if the directory cannot be removed.
    pub async fn close(self) -> Result<()> {
        self.database.close().await?;
        let place = self.directory.path().display().to_string();
        self.directory
            .close()
            .map_err(|source| Error::io(format_args!("cannot remove {place}"), source))
    }
}

impl Deref for TestDatabase {
    type Target = Database;

    fn deref(&self) -> &Database {
        &self.database
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Get, Put, TableSpec};

    #[tokio::test]
    async fn databases_of_tests_share_nothing_and_leave_nothing() {
        let first = open().await.unwrap();
        let second = open_with(|builder| builder.memstore_bytes_max(16 << 20)).await.unwrap();
        assert_ne!(first.directory(), second.directory());
        for database in [&first, &second] {
            let table = database.create_table(TableSpec::new("t").family("f")).await.unwrap();
            let put = Put::new("r").unwrap().add("f", "q", "v").unwrap();
            table.put(put).await.unwrap();
            assert_eq!(table.get(&Get::new("r").unwrap()).await.unwrap().len(), 1);
        }
        for database in [first, second] {
            let directory = database.directory().to_owned();
            assert!(directory.exists());
            database.close().await.unwrap();
            assert!(!directory.exists());
        }
    }
}
