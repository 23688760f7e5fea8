//! The feed of a table's changes, embedded and through a server.

use std::collections::BTreeMap;
use std::time::Duration;

use rowhouse::changes::{ChangesFrom, TableChange, TableChanges};
use rowhouse::{Database, Durability, ErrorKind, Table, TableSpec};

use crate::support::on_both;

#[path = "../../examples/copy_to_another.rs"]
#[expect(dead_code, reason = "the example's own run is another test")]
mod copy_to_another;

const WAIT: Duration = Duration::from_secs(30);

async fn mail(database: &Database) -> Table {
    let spec =
        TableSpec::new("mail").family("d").key("[user string][n u8]").columns("d:n size u32");
    database.create_table(spec).await.unwrap()
}

async fn put(mail: &Table, n: u8, size: u32) {
    let key = [("user", "bob".into()), ("n", n.into())];
    let row = mail.row(&key).set_named("size", size).durability(Durability::FsyncWal);
    row.put().await.unwrap();
}

/// Reads so many changes as texts; returns the position after the last, too.
async fn read(changes: &mut TableChanges, count: usize) -> (Vec<String>, String) {
    let mut texts = Vec::new();
    let mut position = String::new();
    for _ in 0..count {
        let change = changes.next_within(WAIT).await.unwrap().expect("there is a change");
        position = change.position().to_string();
        texts.push(match change {
            TableChange::Row(row) | TableChange::Copied(row) => {
                let n = row.key("n").and_then(|n| n.as_u64()).unwrap();
                let cell = row.puts().next();
                let value = cell.and_then(|cell| row.column_of(cell));
                let value = value.map(|(name, value)| format!("{name}={value}"));
                format!("{n} {}", value.unwrap_or_else(|| format!("-{}", row.deletes().count())))
            }
            TableChange::CopyEnded(_) => "copied".to_owned(),
            TableChange::Whole { kind, .. } => kind.word().to_owned(),
        });
    }
    (texts, position)
}

#[tokio::test]
async fn a_copy_is_followed_by_changes_and_goes_on_where_it_ended() {
    on_both(async |database, _| {
        let mail = mail(&database).await;
        put(&mail, 1, 10).await;
        put(&mail, 2, 20).await;
        let mut changes = mail.changes(ChangesFrom::Copy).await.unwrap();
        assert_eq!(read(&mut changes, 3).await.0, ["1 size=10", "2 size=20", "copied"]);
        put(&mail, 1, 11).await;
        let key = mail.key(&[("user", "bob".into()), ("n", 2u8.into())]).unwrap();
        let mut delete = rowhouse::Delete::new(key).unwrap();
        delete.durability = Durability::FsyncWal;
        mail.delete(delete).await.unwrap();
        let (texts, position) = read(&mut changes, 2).await;
        assert_eq!(texts, ["1 size=11", "2 -1"]);
        drop(changes);
        put(&mail, 3, 30).await;
        let from = ChangesFrom::Position(position.parse().unwrap());
        let mut changes = mail.changes(from).await.unwrap();
        assert_eq!(read(&mut changes, 1).await.0, ["3 size=30"]);
    })
    .await;
}

#[tokio::test]
async fn a_table_that_changes_as_a_whole_is_copied_again() {
    on_both(async |database, _| {
        let mail = mail(&database).await;
        put(&mail, 1, 10).await;
        let mut changes = mail.changes(ChangesFrom::Copy).await.unwrap();
        assert_eq!(read(&mut changes, 2).await.0, ["1 size=10", "copied"]);
        let admin = database.admin();
        admin.disable_table("mail").await.unwrap();
        admin.truncate_table("mail", false).await.unwrap();
        put(&mail, 2, 20).await;
        let texts = read(&mut changes, 3).await.0;
        // The row may be in the copy, or come after it.
        let in_copy = ["truncated", "2 size=20", "copied"];
        let after = ["truncated", "copied", "2 size=20"];
        assert!(texts == in_copy || texts == after, "{texts:?}");
    })
    .await;
}

#[tokio::test]
async fn a_follower_continues_where_it_saved_its_position_and_is_listed() {
    on_both(async |database, _| {
        let mail = mail(&database).await;
        let saved = mail.changes_as("sums", ChangesFrom::Saved).await;
        assert_eq!(saved.err().unwrap().kind(), ErrorKind::InvalidRequest);
        let mut changes = mail.changes_as("sums", ChangesFrom::Now).await.unwrap();
        for n in 1..4 {
            put(&mail, n, n.into()).await;
        }
        let (texts, position) = read(&mut changes, 2).await;
        assert_eq!(texts, ["1 size=1", "2 size=2"]);
        changes.save(&position.parse().unwrap()).await.unwrap();
        drop(changes);
        let followers = database.admin().list_followers().await.unwrap();
        assert_eq!(followers.len(), 1);
        assert_eq!((&*followers[0].name, followers[0].is_lost), ("sums", false));
        assert_eq!(followers[0].position.to_string(), position);
        assert!(followers[0].lag_bytes > 0);
        let mut changes = mail.changes_as("sums", ChangesFrom::Saved).await.unwrap();
        assert_eq!(read(&mut changes, 1).await.0, ["3 size=3"]);
        drop(changes);
        database.admin().drop_follower("sums").await.unwrap();
        assert!(database.admin().list_followers().await.unwrap().is_empty());
        assert!(database.admin().drop_follower("sums").await.is_err());
    })
    .await;
}

#[tokio::test]
async fn a_position_of_another_store_is_a_lost_place() {
    on_both(async |database, _| {
        let mail = mail(&database).await;
        let from = ChangesFrom::Position("1-40-0-00000000000000aa".parse().unwrap());
        let error = mail.changes(from).await.err().unwrap();
        assert_eq!(error.kind(), ErrorKind::PositionLost, "{error}");
    })
    .await;
}

#[tokio::test]
async fn concurrent_writers_are_followed_without_a_gap() {
    on_both(async |database, _| {
        let mail = mail(&database).await;
        let mut changes = mail.changes(ChangesFrom::Copy).await.unwrap();
        let writers = (0..4u8).map(|writer| {
            let mail = mail.clone();
            tokio::spawn(async move {
                for n in 0..25 {
                    put(&mail, writer * 25 + n, u32::from(n)).await;
                }
            })
        });
        let writers: Vec<_> = writers.collect();
        let mut seen: BTreeMap<u64, u32> = BTreeMap::new();
        while seen.len() < 100 {
            match changes.next_within(WAIT).await.unwrap().expect("there is a change") {
                TableChange::Row(row) | TableChange::Copied(row) => {
                    *seen.entry(row.key("n").unwrap().as_u64().unwrap()).or_default() += 1;
                }
                TableChange::CopyEnded(_) => {}
                TableChange::Whole { kind, .. } => panic!("{}", kind.word()),
            }
        }
        for writer in writers {
            writer.await.unwrap();
        }
    })
    .await;
}

#[tokio::test]
async fn the_example_of_a_copy_has_the_rows_of_a_restored_snapshot() {
    let dirs = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let first = rowhouse::open(dirs[0].path().to_str().unwrap()).await.unwrap();
    let second = rowhouse::open(dirs[1].path().to_str().unwrap()).await.unwrap();
    let spec = || TableSpec::new("notes").family("n");
    let source = first.create_table(spec()).await.unwrap();
    let target = second.create_table(spec()).await.unwrap();
    for row in ["a", "b"] {
        let put = rowhouse::Put::new(row).unwrap().add("n", "text", row).unwrap();
        source.put(put).await.unwrap();
    }
    let mut changes = source.changes_as("copy", ChangesFrom::Copy).await.unwrap();
    copy_to_another::follow(&mut changes, &second, &target).await.unwrap();
    let notes = rowhouse::schema::TableName::parse("notes").unwrap();
    let monday = rowhouse::admin::Snapshot::new("monday", notes).unwrap();
    first.admin().take_snapshot(monday).await.unwrap();
    source.delete(rowhouse::Delete::new("a").unwrap()).await.unwrap();
    first.admin().disable_table("notes").await.unwrap();
    first.admin().restore_snapshot("monday").await.unwrap();
    first.admin().enable_table("notes").await.unwrap();
    copy_to_another::follow(&mut changes, &second, &target).await.unwrap();
    let rows = target.scan(rowhouse::Scan::all()).await.unwrap().collect().await.unwrap();
    let keys: Vec<_> = rows.iter().map(|row| row.key().to_vec()).collect();
    assert_eq!(keys, [b"a", b"b"]);
}
