//! Table snapshots.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rowhouse_format::convert::snapshot;
use rowhouse_format::proto;
use rowhouse_model::{Error, ErrorKind, Result, Snapshot, TableName, TableState, Timestamp};
use tokio::time::{Instant, sleep};

use super::{Admin, POLL_WAIT_MAX, POLL_WAIT_MIN};
use crate::retry::from_now;

impl Admin {
    /// Takes a table snapshot and waits until it is complete. The cluster sets the creation time,
    /// unless `snapshot` has one.
    ///
    /// # Errors
    /// `SnapshotExists`; `SnapshotCreation` if the table does not exist; `Timeout` if it takes
    /// longer than the cluster announced.
    pub async fn take_snapshot(&self, snapshot: &Snapshot) -> Result<()> {
        let (nonce_group, nonce) = self.nonce();
        let snapshot = snapshot::to_proto(snapshot);
        let message = proto::SnapshotRequest { snapshot: snapshot.clone(), nonce_group, nonce };
        let answer = self.call(message).await?;
        match answer.proc_id {
            Some(id) => self.wait_for(Some(id.unsigned_abs())).await,
            // Clusters before HBase 2.6 return no procedure.
            None => self.wait_for_snapshot(snapshot, answer.expected_timeout).await,
        }
    }

    async fn wait_for_snapshot(
        &self,
        snapshot: proto::SnapshotDescription,
        expected_millis: i64,
    ) -> Result<()> {
        let limit = Duration::from_millis(expected_millis.unsigned_abs());
        let end = from_now(limit);
        let mut wait = POLL_WAIT_MIN;
        loop {
            let message = proto::IsSnapshotDoneRequest { snapshot: Some(snapshot.clone()) };
            if self.call(message).await?.done() {
                return Ok(());
            }
            if Instant::now() + wait > end {
                let message =
                    format!("snapshot not finished: snapshot={}, limit={limit:?}", snapshot.name);
                return Err(Error::new(ErrorKind::Timeout, message));
            }
            sleep(wait).await;
            wait = (wait * 2).min(POLL_WAIT_MAX);
        }
    }

    /// Returns true if expired snapshots are deleted automatically.
    ///
    /// # Errors
    /// The master's error.
    pub async fn snapshot_cleanup(&self) -> Result<bool> {
        Ok(self.call(proto::IsSnapshotCleanupEnabledRequest {}).await?.enabled)
    }

    /// Sets whether expired snapshots are deleted automatically; returns the previous setting. When
    /// it returns, no deletion is under way any more.
    ///
    /// # Errors
    /// The master's error.
    pub async fn set_snapshot_cleanup(&self, on: bool) -> Result<bool> {
        let message = proto::SetSnapshotCleanupRequest { enabled: on, synchronous: Some(true) };
        Ok(self.call(message).await?.prev_snapshot_cleanup)
    }

    /// Returns all snapshots, ordered by name.
    ///
    /// # Errors
    /// As [`Admin::tables`].
    pub async fn snapshots(&self) -> Result<Vec<Snapshot>> {
        let answer = self.call(proto::GetCompletedSnapshotsRequest {}).await?;
        let snapshots = answer.snapshots.into_iter().map(|mut listed| {
            // These fields in a listed snapshot are internal to the cluster.
            listed.max_file_size = None;
            listed.users_and_permissions = None;
            snapshot::from_proto(listed)
        });
        let mut snapshots = snapshots.collect::<Result<Vec<_>>>()?;
        snapshots.sort_by(|a, b| a.name().cmp(b.name()));
        Ok(snapshots)
    }

    /// Deletes a snapshot. Tables cloned from it stay.
    ///
    /// # Errors
    /// `SnapshotNotFound`.
    pub async fn delete_snapshot(&self, name: &str) -> Result<()> {
        let name = name.to_owned();
        let snapshot = proto::SnapshotDescription { name, ..Default::default() };
        self.call(proto::DeleteSnapshotRequest { snapshot }).await.map(|_| ())
    }

    /// Creates a table from a snapshot and waits until it accepts reads and writes.
    ///
    /// # Errors
    /// `SnapshotNotFound`, `SnapshotExpired`, `TableExists`, `NamespaceNotFound`.
    pub async fn clone_snapshot(&self, name: &str, table: &TableName) -> Result<()> {
        // If the table exists, a cluster would restore the snapshot's table instead.
        if self.table_exists(table).await? {
            return Err(Error::new(ErrorKind::TableExists, table.to_string()));
        }
        self.restore_or_clone(name, table).await
    }

    /// Resets a disabled table to a snapshot's state; creates the table if it no longer exists. As
    /// HBase's own client does, it first takes another snapshot, restores that one if the operation
    /// fails, and deletes it at the end.
    ///
    /// # Errors
    /// `SnapshotNotFound`, `SnapshotExpired`, `TableNotDisabled`.
    pub async fn restore_snapshot(&self, name: &str) -> Result<()> {
        let snapshots = self.snapshots().await?;
        let existing = snapshots.into_iter().find(|snapshot| snapshot.name() == name);
        let table = existing.map(|snapshot| snapshot.table).ok_or_else(|| {
            let message = format!("Snapshot '{name}' doesn't exist on the filesystem");
            Error::new(ErrorKind::SnapshotNotFound, message)
        })?;
        match self.client.table_state(&table).await? {
            None => return self.restore_or_clone(name, &table).await,
            Some(TableState::Enabled) => {
                return Err(Error::new(ErrorKind::TableNotDisabled, table.to_string()));
            }
            Some(TableState::Disabled) => {}
        }
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let failsafe = format!("hbase-failsafe-{name}-{}", now.as_millis());
        let mut before = Snapshot::new(&failsafe, table.clone())?;
        before.created = Timestamp::MIN;
        self.take_snapshot(&before).await?;
        let restored = self.restore_or_clone(name, &table).await;
        if let Err(error) = &restored {
            // If this fails too, the failsafe snapshot remains for manual recovery.
            self.restore_or_clone(&failsafe, &table).await.map_err(|again| {
                let message = format!(
                    "restore failed, and so did the rollback; the previous data is in snapshot \
                     {failsafe}: {error}; {again}"
                );
                error.clone().with_message(message)
            })?;
        }
        self.delete_snapshot(&failsafe).await?;
        restored
    }

    /// Restores or clones a snapshot. HBase has one call for both; it restores if the table exists.
    async fn restore_or_clone(&self, name: &str, table: &TableName) -> Result<()> {
        let (nonce_group, nonce) = self.nonce();
        let snapshot = proto::SnapshotDescription {
            name: name.to_owned(),
            table: Some(table.to_string()),
            ..Default::default()
        };
        let message = proto::RestoreSnapshotRequest {
            snapshot,
            nonce_group,
            nonce,
            restore_acl: None,
            custom_sft: None,
        };
        let answer = self.call(message).await?;
        self.wait_for(Some(answer.proc_id)).await?;
        self.client.locator().forget_table(table);
        Ok(())
    }
}
