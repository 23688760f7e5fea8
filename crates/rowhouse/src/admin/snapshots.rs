//! Table snapshots.

use rowhouse_model::{Result, Snapshot, TableName};

use super::Admin;
use crate::backend::Side;
use crate::table::Table;

impl Admin<'_> {
    /// Takes a named table snapshot, across all regions. Reads and writes continue. An embedded
    /// store takes it at one read point, at the cost of a flush and one manifest edit, however
    /// large the table is; a cluster snapshots the regions one by one.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use rowhouse::admin::Snapshot;
    /// use rowhouse::schema::TableName;
    ///
    /// // How is a table kept as it was before an import, for a week?
    /// # async fn example(database: rowhouse::Database) -> rowhouse::Result<()> {
    /// let mut snapshot = Snapshot::new("before_the_import", TableName::parse("blog")?)?;
    /// snapshot.ttl = Some(Duration::from_secs(7 * 24 * 3600));
    /// database.admin().take_snapshot(snapshot).await
    /// # }
    /// ```
    ///
    /// # Errors
    /// `SnapshotExists`; `SnapshotCreation` if the table does not exist.
    pub async fn take_snapshot(self, snapshot: Snapshot) -> Result<()> {
        match self.side() {
            Side::Embedded(it) => {
                it.run(move |store| store.take_snapshot(snapshot).map(drop)).await
            }
            Side::Cluster(it) => it.admin().take_snapshot(&snapshot).await,
        }
    }

    /// Returns all snapshots, ordered by name.
    ///
    /// ```
    /// # async fn example(database: rowhouse::Database) -> rowhouse::Result<()> {
    /// for snapshot in database.admin().snapshots().await? {
    ///     println!("{} of {}", snapshot.name(), snapshot.table);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub async fn snapshots(self) -> Result<Vec<Snapshot>> {
        match self.side() {
            Side::Embedded(it) => Ok(it.store().snapshots()),
            Side::Cluster(it) => it.admin().snapshots().await,
        }
    }

    /// Returns true if expired snapshots are deleted automatically.
    ///
    /// ```
    /// # async fn example(database: rowhouse::Database) -> rowhouse::Result<()> {
    /// if !database.admin().snapshot_cleanup().await? {
    ///     println!("expired snapshots stay");
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `Connection` from a cluster.
    pub async fn snapshot_cleanup(self) -> Result<bool> {
        match self.side() {
            Side::Embedded(it) => Ok(it.store().snapshot_cleanup()),
            Side::Cluster(it) => it.admin().snapshot_cleanup().await,
        }
    }

    /// Sets permanently whether expired snapshots are deleted automatically; returns the previous
    /// setting. While this is off, an expired snapshot is listed and can be deleted, but not
    /// restored or cloned; it is deleted once the setting is on again.
    ///
    /// ```
    /// # async fn example(database: rowhouse::Database) -> rowhouse::Result<()> {
    /// let was_on = database.admin().set_snapshot_cleanup(false).await?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Admin::snapshot_cleanup`]; `Io`.
    pub async fn set_snapshot_cleanup(self, on: bool) -> Result<bool> {
        match self.side() {
            Side::Embedded(it) => it.run(move |store| store.set_snapshot_cleanup(on)).await,
            Side::Cluster(it) => it.admin().set_snapshot_cleanup(on).await,
        }
    }

    /// Deletes a snapshot. Tables cloned from it stay.
    ///
    /// ```
    /// # async fn example(database: rowhouse::Database) -> rowhouse::Result<()> {
    /// database.admin().delete_snapshot("before_the_import").await
    /// # }
    /// ```
    ///
    /// # Errors
    /// `SnapshotNotFound`.
    pub async fn delete_snapshot(self, name: &str) -> Result<()> {
        match self.side() {
            Side::Embedded(it) => {
                let name = name.to_owned();
                it.run(move |store| store.delete_snapshot(&name)).await
            }
            Side::Cluster(it) => it.admin().delete_snapshot(name).await,
        }
    }

    /// Creates a table with a snapshot's declaration and cells. The new table does not depend on
    /// the snapshot or on the snapshot's table.
    ///
    /// ```
    /// use rowhouse::Get;
    ///
    /// // What was in a row before?
    /// # async fn example(database: rowhouse::Database) -> rowhouse::Result<()> {
    /// let then = database.admin().clone_snapshot("before_the_import", "blog_then").await?;
    /// println!("{:?}", then.get(&Get::new("bob")?).await?);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `SnapshotNotFound`, `SnapshotExpired`, `TableExists`, `NamespaceNotFound`.
    pub async fn clone_snapshot(self, name: &str, table: &str) -> Result<Table> {
        let clone = TableName::parse(table)?;
        match self.side() {
            Side::Embedded(it) => {
                let name = name.to_owned();
                it.run(move |store| store.clone_snapshot(&name, &clone)).await?;
            }
            Side::Cluster(it) => {
                it.admin().clone_snapshot(name, &clone).await?;
                it.maintainer().build_all(&clone).await?;
            }
        }
        self.database.table(table).await
    }

    /// Resets a disabled table to a snapshot's state, including the declaration; the table stays
    /// disabled. If the table no longer exists, it is created and enabled.
    ///
    /// An embedded store restores atomically. On a cluster, as in HBase's own client, another
    /// snapshot is taken first and restored if the operation fails.
    ///
    /// ```
    /// # async fn example(database: rowhouse::Database) -> rowhouse::Result<()> {
    /// let admin = database.admin();
    /// admin.disable_table("blog").await?;
    /// admin.restore_snapshot("before_the_import").await?;
    /// admin.enable_table("blog").await
    /// # }
    /// ```
    ///
    /// # Errors
    /// `SnapshotNotFound`, `SnapshotExpired`, `TableNotDisabled`.
    pub async fn restore_snapshot(self, name: &str) -> Result<()> {
        match self.side() {
            Side::Embedded(it) => {
                let name = name.to_owned();
                it.run(move |store| store.restore_snapshot(&name)).await
            }
            Side::Cluster(it) => {
                let snapshots = it.admin().snapshots().await?;
                if let Some(snapshot) = snapshots.iter().find(|it| it.name() == name) {
                    it.maintainer().suspend(&snapshot.table).await?;
                }
                it.admin().restore_snapshot(name).await
            }
        }
    }
}
