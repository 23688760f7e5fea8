//! Snapshots through the cluster's master.

use std::time::Duration;

use rowhouse_client::Table;
use rowhouse_model::{ErrorKind, Get, Put, Snapshot, SnapshotKind, TableName};

use crate::{create, drop_table, on_cluster, unique};

async fn put(table: &Table, value: &'static str) {
    table.mutate(Put::new("r").unwrap().add("cf", "q", value).unwrap()).await.unwrap();
}

async fn value(table: &Table) -> Vec<u8> {
    table.get(&Get::new("r").unwrap()).await.unwrap().value("cf", "q").unwrap().to_vec()
}

#[test]
fn a_snapshot_lives_from_taking_to_deleting() {
    on_cluster(|client| async move {
        let admin = client.admin();
        let table = create(&client, "snapped", &[b"m"]).await;
        let name = unique("snapshot");
        put(&table, "then").await;
        let mut snapshot = Snapshot::new(&name, table.name().clone()).unwrap();
        snapshot.ttl = Some(Duration::from_secs(100_000));
        admin.take_snapshot(&snapshot).await.unwrap();
        let listed = admin.snapshots().await.unwrap();
        let listed = listed.iter().find(|listed| listed.name() == name).unwrap();
        assert_eq!((&listed.table, listed.kind), (table.name(), SnapshotKind::Flush));
        assert_eq!(listed.ttl, snapshot.ttl);
        assert!(listed.created.as_millis() > 0);
        let error = admin.take_snapshot(&snapshot).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::SnapshotExists, "{error}");

        put(&table, "later").await;
        let clone = TableName::parse(&unique("clone")).unwrap();
        admin.clone_snapshot(&name, &clone).await.unwrap();
        let clone = client.table(&clone);
        assert_eq!(value(&clone).await, b"then");
        assert_eq!(clone.regions().await.unwrap().len(), 2);
        let error = admin.clone_snapshot(&name, clone.name()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TableExists, "{error}");

        let error = admin.restore_snapshot(&name).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TableNotDisabled, "{error}");
        admin.disable_table(table.name()).await.unwrap();
        admin.restore_snapshot(&name).await.unwrap();
        assert!(admin.is_disabled(table.name()).await.unwrap());
        admin.enable_table(table.name()).await.unwrap();
        assert_eq!(value(&table).await, b"then");
        let left = admin.snapshots().await.unwrap();
        let is_failsafe = |snapshot: &&Snapshot| snapshot.table == *table.name();
        assert_eq!(left.iter().filter(is_failsafe).count(), 1, "{left:?}");

        drop_table(&client, &table).await;
        admin.restore_snapshot(&name).await.unwrap();
        assert_eq!(value(&table).await, b"then");
        admin.delete_snapshot(&name).await.unwrap();
        let error = admin.delete_snapshot(&name).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::SnapshotNotFound, "{error}");
        let error = admin.restore_snapshot(&name).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::SnapshotNotFound, "{error}");
        let nowhere = Snapshot::new(&name, TableName::parse(&unique("nowhere")).unwrap()).unwrap();
        let error = admin.take_snapshot(&nowhere).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::SnapshotCreation, "{error}");
        drop_table(&client, &clone).await;
        drop_table(&client, &table).await;
    });
}
