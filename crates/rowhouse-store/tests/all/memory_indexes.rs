//! Indexes in memory: nothing of them is in the log or in files, they are built after each open and
//! where rows change otherwise than row by row, and they are off past the bound.

use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rowhouse_model::{
    Bytes, Cell, CellKind, Delete, Durability, ErrorKind, FamilyDescriptor, Get, Increment,
    Mutation, Put, Result, Scan, Snapshot, TableDescriptor, TableName, Timestamp,
};
use rowhouse_schema::{COLUMNS_ATTRIBUTE, INDEXES_ATTRIBUTE, IndexState, KEY_ATTRIBUTE};
use rowhouse_store::{Settings, Store, Table, check};

use crate::histories::copy_of_store;

const INDEX: &str = "mail.by_sender";

fn name(name: &str) -> TableName {
    TableName::parse(name).unwrap()
}

fn mail(indexes: &str) -> TableDescriptor {
    TableDescriptor::new(name("mail"))
        .family(FamilyDescriptor::new("d").unwrap())
        .attribute(KEY_ATTRIBUTE, "1 [user text]")
        .attribute(COLUMNS_ATTRIBUTE, "1 d:s sender text; d:t subject text")
        .attribute(INDEXES_ATTRIBUTE, format!("1 {indexes}"))
}

fn settings(index_memory_bytes_max: u64) -> Settings {
    Settings { index_memory_bytes_max, ..Settings::default() }
}

fn open_at(dir: &Path, index_memory_bytes_max: u64) -> Store {
    Store::builder(dir).settings(settings(index_memory_bytes_max)).open().unwrap()
}

fn table(store: &Store) -> Arc<Table> {
    store.table(&name("mail")).unwrap()
}

fn open(indexes: &str) -> (tempfile::TempDir, Store, Arc<Table>) {
    let dir = tempfile::tempdir().unwrap();
    let store = open_at(dir.path(), 64 << 20);
    store.create_table(mail(indexes), &["m".into()]).unwrap();
    let table = table(&store);
    (dir, store, table)
}

fn put(row: &str, sender: &str) -> Mutation {
    Put::new(row.to_owned()).unwrap().add("d", "s", sender).unwrap().into()
}

fn fill(table: &Table, rows: std::ops::Range<u32>) {
    for first in rows.clone().step_by(100) {
        let puts = (first..rows.end.min(first + 100)).map(|nth| {
            let row = format!("{}{nth:06}", if nth % 2 == 0 { 'a' } else { 'z' });
            put(&row, &format!("sender {:03}", nth % 97))
        });
        table.batch(puts.collect()).into_iter().for_each(|outcome| drop(outcome.unwrap()));
    }
}

fn keys(store: &Store) -> Vec<String> {
    let mut scanner = store.table(&name(INDEX)).unwrap().scan(Scan::all()).unwrap();
    let rows = std::iter::from_fn(|| scanner.next().unwrap());
    rows.map(|row| row.key().escape_ascii().to_string().replace("\\x00\\x01", "|")).collect()
}

fn state(store: &Store) -> IndexState {
    store.index_state(&name("mail"), "by_sender").unwrap()
}

fn settle(store: &Store) -> IndexState {
    loop {
        match state(store) {
            IndexState::Building { .. } | IndexState::Repairing => {
                std::thread::sleep(Duration::from_millis(1));
            }
            state => return state,
        }
    }
}

fn assert_clean(store: &Store, entries: u64) {
    assert_eq!(settle(store), IndexState::Ready);
    let report = store.verify_index(&name("mail"), "by_sender", |_| {}).unwrap();
    assert!(report.is_clean(), "{report:?}");
    assert_eq!(report.entries, entries);
}

/// Returns true if a file of the store has these bytes.
fn is_stored(dir: &Path, bytes: &[u8]) -> bool {
    fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).any(|path| {
        if path.is_dir() {
            return is_stored(&path, bytes);
        }
        let stored = fs::read(path).unwrap();
        stored.windows(bytes.len()).any(|window| window == bytes)
    })
}

#[test]
fn entries_are_neither_in_the_log_nor_in_files() {
    let (dir, store, table) = open("by_sender [sender] memory");
    table.mutate(&put("bob", "eve")).unwrap();
    assert_eq!(keys(&store), ["eve|bob|"]);
    assert!(store.index_memory_bytes().0 > 0);
    store.table(&name(INDEX)).unwrap().flush().unwrap();
    table.flush().unwrap();
    store.roll_log().unwrap();
    assert_eq!(keys(&store), ["eve|bob|"], "a flush leaves the entries where they are");
    store.close().unwrap();
    // As long as an index on disk would have it.
    assert!(is_stored(dir.path(), b"bob"));
    assert!(!is_stored(dir.path(), b"eve\0\x01bob"));
    assert!(check(dir.path(), |_| {}).unwrap().problems.is_empty());
}

#[test]
fn an_index_in_memory_pins_no_log_segment() {
    let dir = tempfile::tempdir().unwrap();
    let settings = Settings { wal_segment_bytes: 64 << 10, ..Settings::default() };
    let store = Store::builder(dir.path()).settings(settings).open().unwrap();
    store.create_table(mail("by_sender [sender] memory"), &[]).unwrap();
    // The numbers of the segments that hold the log; spare ones may stay beside them.
    let segments = || -> Vec<u64> {
        let names = fs::read_dir(dir.path().join("wal"))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter_map(|name| name.strip_suffix(".wal")?.parse().ok()).collect()
    };
    fill(&table(&store), 0..5_000);
    table(&store).flush().unwrap();
    store.roll_log().unwrap();
    let left = segments();
    assert!(left.len() <= 2 && left.iter().all(|number| *number > 3), "{left:?}");
    assert_clean(&store, 5_000);
}

#[test]
fn an_open_builds_the_index_in_parallel_ranges_and_answers_stay_equal() {
    let (dir, store, table_before) = open("by_sender [sender] memory covers subject");
    fill(&table_before, 0..3_000);
    table_before.flush().unwrap();
    fill(&table_before, 2_000..3_500);
    let before = keys(&store);
    store.close().unwrap();
    let store = open_at(dir.path(), 64 << 20);
    // Writers change rows while the index is built.
    table(&store).mutate(&Delete::new("a000000").unwrap().into()).unwrap();
    table(&store).mutate(&put("z000001", "late")).unwrap();
    assert_clean(&store, 3_499);
    table(&store).mutate(&put("z000001", "sender 001")).unwrap();
    table(&store).mutate(&put("a000000", "sender 000")).unwrap();
    assert_eq!(keys(&store), before);
}

#[test]
fn entries_expire_with_the_cells_of_their_rows() {
    let (dir, store, table_before) = open("by_sender [sender] memory");
    let mut ends = Put::new("bob").unwrap().add("d", "s", "eve").unwrap();
    ends.ttl_millis = Some(3_600_000);
    table_before.mutate(&put("bob", "dan")).unwrap();
    table_before.mutate(&ends.into()).unwrap();
    store.close().unwrap();
    let store = open_at(dir.path(), 64 << 20);
    assert_eq!(settle(&store), IndexState::Ready);
    // The row has the second one from now on, and the first one later.
    assert_eq!(keys(&store), ["dan|bob|", "eve|bob|"]);
}

#[test]
fn a_killed_process_leaves_nothing_of_the_index_and_the_next_open_builds_it() {
    let (dir, store, table) = open("by_sender [sender] memory");
    fill(&table, 0..500);
    let copy = copy_of_store(dir.path());
    let killed = open_at(copy.path(), 64 << 20);
    assert_eq!(settle(&killed), IndexState::Ready);
    assert_clean(&killed, 500);
    assert_eq!(keys(&killed), keys(&store));
    killed.close().unwrap();
    assert!(!is_stored(copy.path(), b"sender 001\0\x01"));
}

#[test]
fn entries_and_buffered_counters_of_one_row_survive_a_kill_as_their_puts_do() {
    let dir = tempfile::tempdir().unwrap();
    let store = open_at(dir.path(), 64 << 20);
    let counters = FamilyDescriptor::new("n").unwrap().attribute("BUFFERED", "60m");
    store.create_table(mail("by_sender [sender] memory").family(counters), &[]).unwrap();
    let table = table(&store);
    let row = |nth: usize| format!("user {}", nth % 7);
    let counter = |store: &Store, nth: usize| {
        let get = Get::new(row(nth)).unwrap().column("n", "c");
        let row = store.table(&name("mail")).unwrap().get(&get).unwrap();
        row.value("n", "c").map(|value| i64::from_be_bytes(value[..].try_into().unwrap()))
    };
    let mut logged = [None; 7];
    for nth in 0..300_usize {
        let increment = Increment::new(row(nth)).unwrap().add("n", "c", 1).unwrap();
        table.mutate(&increment.into()).unwrap();
        // The record has the entries beside it, and the row's counters in front.
        if nth % 3 == 0 {
            table.mutate(&put(&row(nth), &format!("sender {nth}"))).unwrap();
            logged[nth % 7] = counter(&store, nth);
        }
    }
    let copy = copy_of_store(dir.path());
    let killed = open_at(copy.path(), 64 << 20);
    assert_clean(&killed, 7);
    assert_eq!(keys(&killed), keys(&store));
    for (nth, logged) in logged.into_iter().enumerate() {
        assert_eq!(counter(&killed, nth), logged, "row {nth}");
    }
}

#[test]
fn a_write_that_skips_the_log_stays_out_of_it() {
    let (dir, store, table) = open("by_sender [sender] memory");
    let mut put = Put::new("bob").unwrap().add("d", "s", "eve").unwrap();
    put.durability = Durability::SkipWal;
    table.mutate(&put.into()).unwrap();
    assert_clean(&store, 1);
    let killed = open_at(copy_of_store(dir.path()).path(), 64 << 20);
    assert_clean(&killed, 0);
}

#[test]
fn removed_entries_free_their_memory_and_open_readers_still_see_them() {
    let (_dir, store, table) = open("by_sender [sender] memory");
    fill(&table, 0..100);
    let point = store.read_point();
    let before = keys(&store);
    let full = store.index_memory_bytes().0;
    for round in 0..200 {
        let puts = (0..100).map(|nth| {
            let row = format!("{}{nth:06}", if nth % 2 == 0 { 'a' } else { 'z' });
            put(&row, &format!("round {round}"))
        });
        table.batch(puts.collect()).into_iter().for_each(|outcome| drop(outcome.unwrap()));
        store.table(&name(INDEX)).unwrap().flush().unwrap();
    }
    let entries = store.table(&name(INDEX)).unwrap();
    let mut scanner = entries.scan_at(Scan::all(), &point).unwrap();
    let seen = std::iter::from_fn(|| scanner.next().unwrap());
    let seen: Vec<_> =
        seen.map(|row| row.key().escape_ascii().to_string().replace("\\x00\\x01", "|")).collect();
    assert_eq!(seen, before);
    drop(scanner);
    drop(point);
    assert_clean(&store, 100);
    // One more rewrite, without the reader.
    for round in 0..3 {
        fill(&table, round..100);
        store.table(&name(INDEX)).unwrap().flush().unwrap();
    }
    let (bytes, _) = store.index_memory_bytes();
    assert!(bytes < 8 * full, "20,000 updates of 100 entries: bytes={bytes}, at first={full}");
}

#[test]
fn past_the_bound_an_index_is_off_with_the_reason_and_writes_go_on() {
    let dir = tempfile::tempdir().unwrap();
    let store = open_at(dir.path(), 300_000);
    let indexes = "by_sender [sender] memory; small [subject] memory; disk [sender]";
    store.create_table(mail(indexes), &[]).unwrap();
    fill(&table(&store), 0..5_000);
    let IndexState::Off(why) = state(&store) else { panic!("{:?}", state(&store)) };
    assert!(why.contains("the memory for indexes is full: bytes="), "{why}");
    assert!(why.contains("max=300000"), "{why}");
    assert_eq!(store.index_state(&name("mail"), "small").unwrap(), IndexState::Ready);
    assert!(store.index_memory_bytes().0 < 10_000, "the memory is free again");
    assert!(keys(&store).is_empty());
    let report = store.verify_index(&name("mail"), "disk", |_| {}).unwrap();
    assert!(report.is_clean() && report.entries == 5_000, "{report:?}");
    // A build meets the bound as well.
    store.request_index_repair(&name("mail"), "by_sender").unwrap();
    assert!(matches!(settle(&store), IndexState::Off(_)));
    assert!(store.index_memory_bytes().0 < 10_000);
    store.close().unwrap();
    let store = open_at(dir.path(), 300_000);
    assert!(matches!(settle(&store), IndexState::Off(_)));
    store.close().unwrap();
    // With more memory it is built.
    let store = open_at(dir.path(), 64 << 20);
    assert_clean(&store, 5_000);
}

#[test]
fn bulk_loads_truncations_and_restores_build_the_index_anew() {
    let (_dir, store, table_before) = open("by_sender [sender] memory");
    fill(&table_before, 0..300);
    store.take_snapshot(Snapshot::new("s", name("mail")).unwrap()).unwrap();
    let cell = |row: &str, sender: &str| {
        let at = Timestamp::from_millis(i64::MAX - 2).unwrap();
        Cell::new(row, b"d", b"s", at, CellKind::Put, sender).unwrap()
    };
    let rows = vec![vec![cell("a000000", "loaded")], vec![cell("b", "loaded")]];
    let mut loaded = rows.into_iter();
    let before = store.table(&name(INDEX)).unwrap().id();
    store.load_rows(&name("mail"), || Ok(loaded.next())).unwrap();
    assert_clean(&store, 301);
    assert_ne!(store.table(&name(INDEX)).unwrap().id(), before, "no entry is left of the old ones");
    assert!(keys(&store).contains(&"loaded|a000000|".to_owned()));

    let region = table(&store).region_of(b"z").name().full.clone();
    store.truncate_region(&region).unwrap();
    assert_clean(&store, 151);

    store.disable_table(&name("mail")).unwrap();
    store.restore_snapshot("s").unwrap();
    store.enable_table(&name("mail")).unwrap();
    assert_clean(&store, 300);
    store.clone_snapshot("s", &name("copy")).unwrap();
    while !store.index_state(&name("copy"), "by_sender").unwrap().is_ready() {
        std::thread::sleep(Duration::from_millis(1));
    }

    store.disable_table(&name("mail")).unwrap();
    store.truncate_table(&name("mail"), true).unwrap();
    assert_clean(&store, 0);
    table(&store).mutate(&put("bob", "eve")).unwrap();
    assert_eq!(keys(&store), ["eve|bob|"]);
}

#[test]
fn splits_merges_and_moves_of_the_table_leave_the_index_alone() {
    let (_dir, store, table_before) = open("by_sender [sender] memory");
    fill(&table_before, 0..300);
    let index = store.table(&name(INDEX)).unwrap();
    let region = |row: &[u8]| table(&store).region_of(row).name().full.clone();
    store.split_region(&region(b"a"), Some(Bytes::from("a000100"))).unwrap();
    store.move_region(&region(b"a"), 3).unwrap();
    fill(&table(&store), 300..400);
    assert_clean(&store, 400);
    store.merge_regions(&[&region(b"a"), &region(b"b")]).unwrap();
    fill(&table(&store), 400..500);
    assert_clean(&store, 500);
    let now = store.table(&name(INDEX)).unwrap();
    assert_eq!((now.id(), now.regions().len()), (index.id(), 1));
}

#[test]
fn operations_on_files_and_places_of_regions_are_refused_by_name() {
    let (dir, store, table) = open("by_sender [sender] memory");
    fill(&table, 0..10);
    let region = store.table(&name(INDEX)).unwrap().regions()[0].name().full.clone();
    let refused = |result: Result<()>, operation: &str| {
        let error = result.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
        let part =
            format!("index by_sender of mail are in memory alone, and cannot be {operation}");
        assert!(error.message().contains(&part), "{error}");
    };
    refused(store.split_region(&region, Some("s".into())), "split");
    refused(store.move_region(&region, 1), "moved");
    let snapshot = Snapshot::new("s", name(INDEX)).unwrap();
    refused(store.take_snapshot(snapshot).map(drop), "in a snapshot");
    let export = store.export_hfiles(
        &name(INDEX),
        dir.path().join("out"),
        rowhouse_store::ExportedCells::Raw,
        |_| {},
    );
    refused(export.map(drop), "exported");
    let error = store.promote_index(&name("mail"), "by_sender").unwrap_err();
    assert!(error.message().contains("by_sender"), "{error}");
    for (declaration, part) in [
        ("by_sender [sender] memory unique", "an index in memory is not unique"),
        ("by_sender [sender] unique memory", "`memory` is not allowed here"),
        ("by_user [user] memory covers *", "an index in memory is no copy"),
        ("by_user [user] covers * memory", "`memory` is not allowed after `covers *`"),
    ] {
        let declared = format!("1 {declaration}");
        let altered = store.change_table(&name("mail"), |table| {
            Ok(table.clone().attribute(INDEXES_ATTRIBUTE, declared.clone()))
        });
        let error = altered.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidRequest, "{error}");
        assert!(error.message().contains(part), "{error}");
    }
    assert_clean(&store, 10);
}

#[test]
fn a_backup_has_nothing_of_the_index_and_builds_it_when_opened() {
    let (dir, store, table) = open("by_sender [sender] memory");
    fill(&table, 0..200);
    let copy = dir.path().join("copy");
    store.backup(&copy, |_| {}).unwrap();
    assert!(!is_stored(&copy, b"sender 001\0\x01"));
    let copied = open_at(&copy, 64 << 20);
    assert_clean(&copied, 200);
}

#[test]
fn a_change_between_memory_and_disk_makes_the_index_anew() {
    let (_dir, store, table) = open("by_sender [sender] memory");
    fill(&table, 0..200);
    for indexes in ["1 by_sender [sender]", "1 by_sender [sender] memory"] {
        let change =
            |table: &TableDescriptor| Ok(table.clone().attribute(INDEXES_ATTRIBUTE, indexes));
        store.change_table(&name("mail"), change).unwrap();
        assert_clean(&store, 200);
        assert_eq!(store.index_memory_bytes().0 > 0, indexes.ends_with("memory"));
    }
}
