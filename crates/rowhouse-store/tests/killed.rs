//! Real processes, killed in the middle of their writes: acknowledged batches are there, and no
//! batch is there in part. Two writers write batches over two tables and two families, with
//! counters and deletes.
//!
//! ```text
//! ROWHOUSE_KILLS=200 cargo test -p rowhouse-store --release --test killed
//! ```

#![expect(clippy::unwrap_used, reason = "a test may")]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use rowhouse_model::{
    Delete, FamilyDescriptor, Get, Increment, Mutation, Nonce, Put, Scan, TableDescriptor,
    TableName, Timestamp,
};
use rowhouse_store::{Settings, Store, Table};

const KILLS: u64 = 15;
const WRITERS: usize = 2;
const ROWS: u64 = 40;

#[test]
fn acknowledged_writes_survive_kill_9_whole() {
    if let Some(dir) = std::env::var_os("ROWHOUSE_CHILD") {
        return write_until_killed(&PathBuf::from(dir));
    }
    let kills = std::env::var("ROWHOUSE_KILLS").map_or(KILLS, |text| text.parse().unwrap());
    let dir = tempfile::tempdir().unwrap();
    let mut acknowledged = [0; WRITERS];
    let mut writes = 0;
    for kill in 0..kills {
        // Sometimes before it has opened the store, sometimes long after.
        let lives = Duration::from_millis(20 + kill * 7919 % 400);
        let before = acknowledged;
        live_and_die(dir.path(), lives, &mut acknowledged);
        writes += acknowledged.iter().zip(before).map(|(now, then)| now - then).sum::<u64>();
    }
    let store = open(dir.path());
    check(&store, acknowledged);
    println!("{kills} kills, {writes} batches acknowledged");
    assert!(writes > kills, "the writers hardly came to write");
}

/// Runs a process that writes, and kills it. Notes the batches that it printed as written.
fn live_and_die(dir: &Path, lives: Duration, acknowledged: &mut [u64; WRITERS]) {
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "acknowledged_writes_survive_kill_9_whole", "--nocapture"])
        .env("ROWHOUSE_CHILD", dir)
        .env("ROWHOUSE_ACKNOWLEDGED", acknowledged.map(|number| number.to_string()).join(" "))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap());
    let reader = std::thread::spawn(move || {
        let lines = lines.lines().map_while(Result::ok);
        let written = lines.filter_map(|line| {
            let (writer, number) = line.strip_prefix("wrote ")?.split_once(' ')?;
            // The last line may be incomplete and then does not count.
            Some((writer.parse::<usize>().ok()?, number.strip_suffix('.')?.parse::<u64>().ok()?))
        });
        written.collect::<Vec<_>>()
    });
    std::thread::sleep(lives);
    child.kill().unwrap();
    let status = child.wait().unwrap();
    assert!(status.code().is_none(), "the writing process ended by itself: {status}");
    for (writer, number) in reader.join().unwrap() {
        acknowledged[writer] = acknowledged[writer].max(number);
    }
}

fn write_until_killed(dir: &Path) {
    let text = std::env::var("ROWHOUSE_ACKNOWLEDGED").unwrap();
    let mut acknowledged = [0; WRITERS];
    for (slot, number) in acknowledged.iter_mut().zip(text.split(' ')) {
        *slot = number.parse().unwrap();
    }
    let store = open(dir);
    let counts = check(&store, acknowledged);
    // The test harness's own output is on this line.
    println!();
    // Prints acknowledged batches that the previous process could not print before it was killed;
    // otherwise two kills in a row could leave two such batches.
    for (writer, number) in counts.into_iter().enumerate() {
        println!("wrote {writer} {number}.");
    }
    std::thread::scope(|scope| {
        for (writer, from) in counts.into_iter().enumerate() {
            let store = &store;
            scope.spawn(move || {
                for number in from + 1.. {
                    store.commit(&batch(store, writer, number)).unwrap();
                    let line = format!("wrote {writer} {number}.\n");
                    std::io::stdout().lock().write_all(line.as_bytes()).unwrap();
                }
            });
        }
    });
}

fn open(dir: &Path) -> Store {
    let settings = Settings {
        memstore_flush_bytes: 64 << 10,
        wal_segment_bytes: 64 << 10,
        ..Settings::default()
    };
    let store = Store::builder(dir).settings(settings).open().unwrap();
    for name in ["a", "b"] {
        if store.table(&table_name(name)).is_err() {
            let families = ["f", "g"].map(|name| FamilyDescriptor::new(name).unwrap());
            let descriptor = families
                .into_iter()
                .fold(TableDescriptor::new(table_name(name)), TableDescriptor::family);
            store.create_table(descriptor, &["1".into()]).unwrap();
        }
    }
    store
}

fn table_name(name: &str) -> TableName {
    TableName::parse(name).unwrap()
}

fn table(store: &Store, name: &str) -> Arc<Table> {
    store.table(&table_name(name)).unwrap()
}

/// Every seventh batch deletes; all count.
fn is_delete(number: u64) -> bool {
    number.is_multiple_of(7)
}

fn row(writer: usize, number: u64) -> String {
    format!("{writer}-{:02}", number * 31 % ROWS)
}

fn batch(store: &Store, writer: usize, number: u64) -> Vec<(Arc<Table>, Mutation)> {
    let a = table(store, "a");
    let b = table(store, "b");
    let row = row(writer, number);
    // At a separate timestamp: a delete covers puts in the same millisecond, including later ones.
    let at = Timestamp::from_millis(i64::try_from(number).unwrap()).unwrap();
    let mut batch: Vec<(Arc<Table>, Mutation)> = if is_delete(number) {
        let mut delete = Delete::new(row).unwrap();
        delete.timestamp = at;
        vec![(Arc::clone(&a), delete.clone().into()), (Arc::clone(&b), delete.into())]
    } else {
        let value = number.to_be_bytes();
        let put = || Put::new(row.clone()).unwrap();
        let both = put().add_at("f", "q", at, value).unwrap().add_at("g", "q", at, value).unwrap();
        vec![(Arc::clone(&a), both.into()), (b, put().add_at("f", "q", at, value).unwrap().into())]
    };
    let mut count = Increment::new(format!("{writer}-counter")).unwrap().add("g", "n", 1).unwrap();
    count.nonce = Some(Nonce { group: writer as u64 + 1, number });
    batch.push((a, count.into()));
    batch
}

/// Checks that for every writer exactly a prefix of its batches is there: all acknowledged ones,
/// and possibly the one in progress. Returns how long each prefix is.
fn check(store: &Store, acknowledged: [u64; WRITERS]) -> [u64; WRITERS] {
    let mut counts = [0; WRITERS];
    for (writer, acknowledged) in acknowledged.into_iter().enumerate() {
        let get = Get::new(format!("{writer}-counter")).unwrap();
        let counter = table(store, "a").get(&get).unwrap();
        let counted = counter.counter("g", "n").unwrap().unwrap_or(0).unsigned_abs();
        assert!(
            counted == acknowledged || counted == acknowledged + 1,
            "writer {writer}: {counted} batches counted, {acknowledged} acknowledged"
        );
        let mut expected = BTreeMap::new();
        for number in 1..=counted {
            if is_delete(number) {
                expected.remove(&row(writer, number));
            } else {
                expected.insert(row(writer, number), number);
            }
        }
        for (name, family) in [("a", "f"), ("a", "g"), ("b", "f")] {
            let mut rows = BTreeMap::new();
            let scan = Scan::all().family(family);
            let mut scanner = table(store, name).scan(scan).unwrap();
            while let Some(row) = scanner.next().unwrap() {
                let Some(value) = row.value(family, "q") else { continue };
                let key = String::from_utf8(row.key().to_vec()).unwrap();
                if key.starts_with(&format!("{writer}-")) {
                    rows.insert(key, u64::from_be_bytes(value[..].try_into().unwrap()));
                }
            }
            assert_eq!(rows, expected, "writer {writer}, {name}:{family}, batch {counted}");
        }
        counts[writer] = counted;
    }
    counts
}
