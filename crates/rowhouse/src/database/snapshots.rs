//! Snapshots of tables.

use rowhouse_model::{Result, Snapshot, TableName};

use super::Database;
use crate::table::Table;

impl Database {
    /// Takes a snapshot of a table: what was written to it, over all of its regions, under a name. Whoever reads and
    /// writes the table goes on. In a store it costs a flush and one edit, whatever the table holds, and is of one moment;
    /// a cluster takes the regions one by one.
    ///
    /// ```
    /// # use rowhouse::{Database, Result, Snapshot, TableName};
    /// # async fn example(database: Database) -> Result<()> {
    /// let mut snapshot = Snapshot::new("before-the-import", TableName::parse("blog")?)?;
    /// snapshot.ttl = Some(std::time::Duration::from_secs(7 * 24 * 3600));
    /// database.take_snapshot(snapshot).await?;
    /// let then = database.clone_snapshot("before-the-import", "blog-then").await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `SnapshotExists`; `SnapshotCreation` where there is no such table.
    pub async fn take_snapshot(&self, snapshot: Snapshot) -> Result<()> {
        self.backend.take_snapshot(snapshot).await
    }

    /// Every snapshot, by name.
    pub async fn snapshots(&self) -> Result<Vec<Snapshot>> {
        self.backend.snapshots().await
    }

    /// Whether snapshots are removed when their time has passed.
    ///
    /// # Errors
    /// `Connection` of a cluster.
    pub async fn snapshot_cleanup(&self) -> Result<bool> {
        self.backend.snapshot_cleanup().await
    }

    /// Says whether snapshots are removed when their time has passed, until it is said otherwise; whether they were. One whose time
    /// has passed meanwhile is listed and can be deleted, no table is made of it, and it goes once this is on again.
    ///
    /// # Errors
    /// As [`Database::snapshot_cleanup`]; `Io`.
    pub async fn set_snapshot_cleanup(&self, on: bool) -> Result<bool> {
        self.backend.set_snapshot_cleanup(on).await
    }

    /// Deletes a snapshot; tables that were made of it stay.
    ///
    /// # Errors
    /// `SnapshotNotFound`.
    pub async fn delete_snapshot(&self, name: &str) -> Result<()> {
        self.backend.delete_snapshot(name).await
    }

    /// Makes a table of a snapshot: declared as that one was, with its cells. It knows nothing of the snapshot and of the
    /// table that this is of from then on.
    ///
    /// # Errors
    /// `SnapshotNotFound`, `SnapshotExpired`, `TableExists`, `NamespaceNotFound`.
    pub async fn clone_snapshot(&self, name: &str, table: &str) -> Result<Table> {
        self.backend.clone_snapshot(name, &TableName::parse(table)?).await?;
        self.table(table).await
    }

    /// Makes a disabled table what it was when the snapshot was taken of it, its declaration included; it stays disabled.
    /// A table that is not there any more is made anew, and enabled.
    ///
    /// In a store that is done at once or not at all. On a cluster another snapshot is taken first, which is restored if
    /// this fails, as HBase's own client does.
    ///
    /// # Errors
    /// `SnapshotNotFound`, `SnapshotExpired`, `TableNotDisabled`.
    pub async fn restore_snapshot(&self, name: &str) -> Result<()> {
        self.backend.restore_snapshot(name).await
    }
}
