//! Backups for a whole database, embedded and through a server.

use rowhouse::admin::BackupStatus;
use rowhouse::{Database, ErrorKind, Get, Put, TableSpec};
use rowhouse_server::{Options, Server};

use crate::support::loopback;

async fn fill(database: &Database) {
    let table = database.create_table(TableSpec::new("t").family("f")).await.unwrap();
    table.put(Put::new("r").unwrap().add("f", "q", "v").unwrap()).await.unwrap();
}

/// Opens a backup and finds the row.
async fn check(backup: &str) {
    let database = Database::builder(backup).only_existing().open().await.unwrap();
    let table = database.table("t").await.unwrap();
    assert_eq!(table.get(&Get::new("r").unwrap()).await.unwrap().len(), 1);
    database.close().await.unwrap();
}

fn assert_whole(done: &BackupStatus) {
    assert!(done.is_done && done.tables == 1 && done.files == 1 && done.file_bytes > 0, "{done:?}");
}

#[tokio::test]
async fn a_backup_of_an_embedded_database_is_a_database() {
    let dir = tempfile::tempdir().unwrap();
    let [data, copy] = ["data", "copy"].map(|name| dir.path().join(name).display().to_string());
    let database = rowhouse::open(&data).await.unwrap();
    fill(&database).await;
    let (sender, receiver) = std::sync::mpsc::channel();
    let progress = move |status: &BackupStatus| sender.send(status.bytes_done).unwrap();
    assert_whole(&database.admin().backup(&copy, progress).await.unwrap());
    let reported: Vec<_> = receiver.iter().collect();
    assert!(!reported.is_empty() && reported.is_sorted(), "{reported:?}");
    let again = database.admin().backup(&copy, |_| ()).await.unwrap_err();
    assert_eq!(again.kind(), ErrorKind::InvalidRequest);
    database.close().await.unwrap();
    check(&copy).await;
}

#[tokio::test]
async fn a_server_writes_a_backup_into_its_own_directory_of_backups() {
    let dir = tempfile::tempdir().unwrap();
    let backups = dir.path().join("backups");
    std::fs::create_dir(&backups).unwrap();
    let options = Options { backups: Some(backups.clone()), ..loopback(dir.path().join("data")) };
    let server = Server::start(options).await.unwrap();
    let database = rowhouse::open(format!("hbase://{}", server.address())).await.unwrap();
    fill(&database).await;
    assert_whole(&database.admin().backup("monday", |_| ()).await.unwrap());
    let elsewhere = dir.path().join("elsewhere").display().to_string();
    let refused = database.admin().backup(&elsewhere, |_| ()).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidRequest);
    server.stop().await.unwrap();
    check(&backups.join("monday").display().to_string()).await;
}
