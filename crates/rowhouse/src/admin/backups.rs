//! Backups for the whole database.

use std::path::PathBuf;

use rowhouse_model::{BackupStatus, Result};

use super::Admin;
use crate::backend::Side;

impl Admin<'_> {
    /// Writes a backup that holds the whole database at one point in time over all tables, and
    /// reads it back to verify the checksums. Reads and writes continue. `progress` is called
    /// meanwhile, on any thread.
    ///
    /// `into` is a new directory on this machine for an embedded database. A rowhouse server writes
    /// on its own machine: `into` is then a name in the server's backup directory, or a path
    /// directly inside it. `rowhouse restore` makes a data directory from a backup.
    ///
    /// ```
    /// use rowhouse::TableSpec;
    ///
    /// // How is a backup written, and is it readable?
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> rowhouse::Result<()> {
    /// # let dir = tempfile::tempdir().unwrap();
    /// # let path = |name: &str| dir.path().join(name).display().to_string();
    /// # let [data, backup] = ["data", "backup"].map(path);
    /// let database = rowhouse::open(&data).await?;
    /// database.create_table(TableSpec::new("blog").family("cf")).await?;
    ///
    /// let written = database.admin().backup(&backup, |_| ()).await?;
    /// assert_eq!(written.tables, 1);
    /// # database.close().await
    /// # }
    /// ```
    ///
    /// # Errors
    /// `InvalidRequest` if `into` exists; `Corruption` if the database is damaged; `Io`. On a
    /// cluster: `Unsupported` if the server has no backup directory or is not a rowhouse server;
    /// `InvalidRequest` for a path outside that directory; `InUse` while another backup is under
    /// way.
    pub async fn backup(
        self,
        into: &str,
        progress: impl FnMut(&BackupStatus) + Send + 'static,
    ) -> Result<BackupStatus> {
        match self.side() {
            Side::Embedded(it) => {
                let into = PathBuf::from(into);
                it.run(move |store| store.backup(into, progress)).await
            }
            Side::Cluster(it) => it.admin().backup(into, progress).await,
        }
    }
}
