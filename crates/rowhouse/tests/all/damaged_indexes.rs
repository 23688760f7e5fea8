//! Queries over damaged indexes: they are answered by the key, from wherever the damage is met, and
//! an index that a query names reports why it cannot serve.

use std::fs;
use std::path::{Path, PathBuf};

use rowhouse::query::Query;
use rowhouse::schema::IndexState;
use rowhouse::{Database, ErrorKind, Mutation, Table, TableSpec};
use rowhouse_server::Server;

use crate::support::loopback;

const ROWS: u32 = 3_000;
/// Entries in several blocks, some of which are in key order.
const INDEXES: &str = "by_sender [sender] covers subject; by_n [n][user] covers *; \
                       large [size desc] covers subject where size > 10; text search subject simple";
const FILES: [&str; 3] = ["by_sender", "by_n", "large"];

async fn filled(dir: &Path) -> Vec<(&'static str, PathBuf)> {
    let database = open(dir).await;
    let spec = TableSpec::new("mail").family("d").key("[user string][n u32]");
    let spec = spec.columns("d:s sender string; d:t subject string; d:z size u32");
    let mail = database.create_table(spec.indexes(INDEXES)).await.unwrap();
    let puts = (0..ROWS).map(|n| -> Mutation {
        let key = [("user", format!("user{:02}", n % 30).into()), ("n", n.into())];
        let row = mail.row(&key).set_named("subject", format!("mail {n} {}", "x".repeat(250)));
        let row = row.set_named("sender", if n % 2 == 0 { "eve" } else { "bob" });
        row.set_named("size", n % 100).into_put().unwrap().into()
    });
    for outcome in mail.batch(puts.collect()).await {
        outcome.unwrap();
    }
    let admin = database.admin();
    admin.flush("mail").await.unwrap();
    let files = || -> Vec<PathBuf> {
        let entries = fs::read_dir(dir.join("files")).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    };
    let mut made = Vec::new();
    for index in FILES {
        let before = files();
        admin.flush(&format!("mail.{index}")).await.unwrap();
        let new = files().into_iter().find(|file| !before.contains(file)).unwrap();
        made.push((index, new));
    }
    database.close().await.unwrap();
    made
}

async fn open(dir: &Path) -> Database {
    rowhouse::open(dir.to_str().unwrap()).await.unwrap()
}

fn copy(from: &Path) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for sub in ["", "wal", "files"] {
        fs::create_dir_all(dir.path().join(sub)).unwrap();
        for entry in fs::read_dir(from.join(sub)).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                fs::copy(&path, dir.path().join(sub).join(path.file_name().unwrap())).unwrap();
            }
        }
    }
    dir
}

fn flip(path: &Path, at: usize) {
    let mut bytes = fs::read(path).unwrap();
    bytes[at] ^= 0x10;
    fs::write(path, bytes).unwrap();
}

async fn ns(query: Query<'_>) -> Vec<u64> {
    let rows = query.rows().await.unwrap().collect().await.unwrap();
    rows.iter().map(|row| row.key("n").unwrap().as_u64().unwrap()).collect()
}

/// The queries that the indexes serve.
fn queries(mail: &Table) -> Vec<(&'static str, Query<'_>)> {
    let covered = || mail.query("sender = 'eve'").column("d", "t");
    vec![
        ("by_sender", covered()),
        ("by_sender", covered().reversed()),
        ("by_sender", covered().limit(1_400)),
        ("by_sender", covered().offset(700).limit(500)),
        ("large", mail.query("size = 77").column("d", "t")),
        ("large", mail.query("size > 60 and size < 70").column("d", "t").reversed()),
        ("by_n", mail.query("n >= 100 and n < 160")),
    ]
}

async fn answers(mail: &Table) -> Vec<Vec<u64>> {
    let mut answers = Vec::new();
    for (_, query) in queries(mail) {
        answers.push(ns(query).await);
    }
    answers
}

#[tokio::test]
async fn a_query_that_meets_damage_of_its_index_goes_on_by_the_key() {
    let dir = tempfile::tempdir().unwrap();
    let files = filled(dir.path()).await;
    let expected = {
        let database = open(dir.path()).await;
        let mail = database.table("mail").await.unwrap();
        let mut expected = Vec::new();
        for (index, query) in queries(&mail) {
            let access = query.explain_access().await.unwrap().to_string();
            assert_eq!(query.rows().await.unwrap().index(), Some(index), "{access}");
        }
        for (_, query) in queries(&mail) {
            expected.push(ns(query.using_key()).await);
        }
        assert_eq!(answers(&mail).await, expected);
        database.close().await.unwrap();
        expected
    };
    let mut met = 0;
    for (index, file) in &files {
        let len = fs::metadata(file).unwrap().len() as usize;
        for nth in 0..8 {
            let damaged = copy(dir.path());
            flip(&damaged.path().join("files").join(file.file_name().unwrap()), len / 8 * nth + 70);
            let database = open(damaged.path()).await;
            let mail = database.table("mail").await.unwrap();
            assert_eq!(answers(&mail).await, expected, "{index} {nth}");
            let state = database.admin().index_state("mail", index).await.unwrap();
            met += usize::from(state != IndexState::Ready);
            while database.admin().index_state("mail", index).await.unwrap() != IndexState::Ready {
                tokio::time::sleep(std::time::Duration::from_millis(2)).await;
            }
            assert_eq!(answers(&mail).await, expected, "{index} {nth}");
            database.close().await.unwrap();
        }
    }
    assert!(met > 0);
}

#[tokio::test]
async fn pages_and_transactions_over_a_damaged_index_have_all_rows() {
    let dir = tempfile::tempdir().unwrap();
    let files = filled(dir.path()).await;
    let (_, file) = &files[0];
    let len = fs::metadata(file).unwrap().len() as usize;
    flip(file, len / 2);
    let database = open(dir.path()).await;
    let mail = database.table("mail").await.unwrap();
    let expected = ns(mail.query("sender = 'eve'").using_key()).await;
    let inside = mail.clone();
    let transacted = database.transact(move |transaction| {
        let rows = transaction.query(inside.query("sender = 'eve'").column("d", "t"))?;
        Ok(rows.iter().map(|row| row.key("n").unwrap().as_u64().unwrap()).collect::<Vec<_>>())
    });
    assert_eq!(transacted.await.unwrap(), expected);
    let mut paged = Vec::new();
    let mut token: Option<String> = None;
    loop {
        let mut query = mail.query("sender = 'eve'").column("d", "t");
        if let Some(token) = &token {
            query = query.after(token);
        }
        let page = query.page(400).await.unwrap();
        paged.extend(page.rows.iter().map(|row| row.key("n").unwrap().as_u64().unwrap()));
        token = page.next;
        if token.is_none() {
            break;
        }
    }
    assert_eq!(paged, expected);
    database.close().await.unwrap();
}

#[tokio::test]
async fn a_query_that_names_a_damaged_index_says_why_it_cannot_serve() {
    let dir = tempfile::tempdir().unwrap();
    let files = filled(dir.path()).await;
    // A table whose own data is damaged is not read for a new index.
    let (_, file) = &files[0];
    let of_table = {
        let mut all: Vec<_> = fs::read_dir(dir.path().join("files")).unwrap().collect();
        let paths = all.drain(..).map(|entry| entry.unwrap().path());
        paths.filter(|path| files.iter().all(|(_, file)| file != path)).min().unwrap()
    };
    let len = fs::metadata(file).unwrap().len() as usize;
    flip(file, len / 4 * 3);
    flip(&of_table, 100);
    let database = open(dir.path()).await;
    let mail = database.table("mail").await.unwrap();
    assert!(mail.query("n >= 0").using_key().page(5_000).await.is_err());
    let name = file.file_name().unwrap().to_str().unwrap();
    for nth in 0..2 {
        let query = mail.query("sender = 'eve'").column("d", "t");
        let rows = match query.using("by_sender").rows().await {
            Ok(rows) => rows.collect().await,
            Err(error) => Err(error),
        };
        let error = rows.err().unwrap();
        assert!(error.message().contains(name), "{nth}: {error}");
        let admin = database.admin();
        while admin.index_state("mail", "by_sender").await.unwrap() == IndexState::Ready {
            tokio::time::sleep(std::time::Duration::from_millis(2)).await;
        }
    }
    let access = mail.query("sender = 'eve'").explain_access().await.unwrap().to_string();
    assert!(access.contains("off its data is damaged"), "{access}");
    let error = database.admin().repair_index("mail", "by_sender").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corruption, "{error}");
    database.close().await.unwrap();
}

#[tokio::test]
async fn a_query_through_a_server_is_answered_despite_any_damaged_index() {
    let dir = tempfile::tempdir().unwrap();
    let files = filled(dir.path()).await;
    let expected = {
        let database = open(dir.path()).await;
        let mail = database.table("mail").await.unwrap();
        let expected = answers(&mail).await;
        database.close().await.unwrap();
        expected
    };
    for (_, file) in &files {
        let len = fs::metadata(file).unwrap().len() as usize;
        flip(file, len / 2);
    }
    let server = Server::start(loopback(dir.path())).await.unwrap();
    let database = rowhouse::open(format!("hbase://{}", server.address())).await.unwrap();
    let mail = database.table("mail").await.unwrap();
    for _ in 0..3 {
        assert_eq!(answers(&mail).await, expected);
    }
    for index in FILES {
        while database.admin().index_state("mail", index).await.unwrap() != IndexState::Ready {
            tokio::time::sleep(std::time::Duration::from_millis(2)).await;
        }
        // A block that no query has read.
        let verified = loop {
            match database.admin().verify_index("mail", index).await {
                Ok(verified) if verified.is_clean() => break verified,
                // It is being built.
                Ok(_) => {}
                Err(error) => assert!(error.message().contains("files/"), "{index}: {error}"),
            }
        };
        assert_eq!(verified.rows, u64::from(ROWS));
    }
    assert_eq!(answers(&mail).await, expected);
    server.stop().await.unwrap();
}
