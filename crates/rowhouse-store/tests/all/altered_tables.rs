//! Altering and truncating tables under concurrent reads and writes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rowhouse_model::{
    CellKind, Compression, Delete, ErrorKind, FamilyDescriptor, Get, Put, RowRange, Scan,
    TableDescriptor, TableName, TableState, Timestamp,
};
use rowhouse_store::{CompactionKind, HFile, Store, Table};

fn name() -> TableName {
    TableName::parse("t").unwrap()
}

fn family(name: &'static str) -> FamilyDescriptor {
    FamilyDescriptor::new(name).unwrap()
}

fn declared() -> TableDescriptor {
    TableDescriptor::new(name()).family(family("f")).family(family("g"))
}

/// Returns a store with the table, split in two, and the directory.
fn store() -> (tempfile::TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    store.create_table(declared(), &["m".into()]).unwrap();
    (dir, store)
}

fn table(store: &Store) -> Arc<Table> {
    store.table(&name()).unwrap()
}

fn put(table: &Table, row: &'static str, family: &'static str, millis: i64) {
    let at = Timestamp::from_millis(millis).unwrap();
    let put = Put::new(row).unwrap().add_at(family, "q", at, millis.to_string()).unwrap();
    table.mutate(&put.into()).unwrap();
}

/// Returns the values of all versions of a row.
fn read(table: &Table, row: &'static str) -> Vec<String> {
    let result = table.get(&Get::new(row).unwrap().versions(9)).unwrap();
    result
        .cells()
        .map(|cell| {
            let value = String::from_utf8_lossy(cell.value()).into_owned();
            format!("{}{value}", String::from_utf8_lossy(cell.family()))
        })
        .collect()
}

#[test]
fn an_altered_table_retains_its_rows_and_its_new_declaration() {
    let (dir, store) = store();
    let before = table(&store);
    put(&before, "z", "f", 1);
    let altered =
        |value: &'static str| table(&store).descriptor().clone().attribute("rowhouse.key", value);
    store.alter_table(altered("1 [id text]")).unwrap();
    store.alter_table(altered("1 [name text]")).unwrap();
    store.alter_table(altered("1 [name text]")).unwrap();
    let check = |store: &Store| {
        let table = table(store);
        assert_eq!(table.descriptor().attributes[&b"rowhouse.key"[..]], "1 [name text]");
        assert_eq!(table.regions().len(), 2);
        assert_eq!(read(&table, "z"), ["f1"]);
    };
    check(&store);
    store.disable_table(&name()).unwrap();
    assert_eq!(before.state(), TableState::Disabled, "also for who holds it from before");
    store.enable_table(&name()).unwrap();
    drop((before, store));
    let store = Store::open(dir.path()).unwrap();
    check(&store);
    store.close().unwrap();
    check(&Store::open(dir.path()).unwrap());
}

#[test]
fn declarations_are_checked_when_they_are_made_or_changed() {
    let (_dir, store) = store();
    let now = || table(&store).descriptor().clone();
    let refused = |declared: TableDescriptor| {
        let error = store.alter_table(declared.clone()).unwrap_err();
        let name = TableName::parse("other").unwrap();
        let mut other = TableDescriptor::new(name);
        for family in declared.families() {
            other = other.family(family.clone());
        }
        other.attributes = declared.attributes;
        let created = store.create_table(other, &[]).unwrap_err();
        assert_eq!((created.kind(), created.message()), (error.kind(), error.message()));
        error.message().to_owned()
    };
    let key = |key: &'static str| now().attribute("rowhouse.key", key);
    assert!(refused(key("1 [user string")).contains("never closed"));
    assert!(refused(key("[user string]")).starts_with("not a stored template"));
    let columns = |columns: &'static str| now().attribute("rowhouse.columns", columns);
    assert!(refused(columns("1 nofam:q n u32")).contains("nofam"));
    assert!(refused(columns("1 f:q n u33")).contains("u33"));
    // A newer language is left to those who know it.
    store.alter_table(key("2 <user string>")).unwrap();
    // So the table can be altered in other ways.
    store.alter_table(now().attribute("OWNER", "eve")).unwrap();
}

#[test]
fn reads_go_by_altered_attributes_at_once() {
    let (_dir, store) = store();
    let held = table(&store);
    store.alter_family(&name(), family("f").versions(5)).unwrap();
    (1..=3).for_each(|millis| put(&held, "a", "f", millis));
    assert_eq!(read(&held, "a"), ["f3", "f2", "f1"]);
    store.alter_family(&name(), family("f").versions(2)).unwrap();
    assert_eq!(read(&held, "a"), ["f3", "f2"]);
    store.alter_family(&name(), family("f").attribute("TTL", "60")).unwrap();
    assert!(read(&held, "a").is_empty());
}

#[test]
fn an_alteration_flushes_by_the_old_declaration() {
    let (dir, store) = store();
    let held = table(&store);
    (1..=3).for_each(|millis| put(&held, "a", "f", millis));
    store.alter_family(&name(), family("f").versions(5)).unwrap();
    assert_eq!(read(&held, "a"), ["f3"], "one version was declared when they were written");
    (4..=5).for_each(|millis| put(&held, "a", "f", millis));
    assert_eq!(read(&held, "a"), ["f5", "f4", "f3"]);
    drop((held, store));
    let store = Store::open(dir.path()).unwrap();
    assert_eq!(read(&table(&store), "a"), ["f5", "f4", "f3"]);
}

#[test]
fn an_alteration_that_changes_nothing_flushes_too() {
    let (_dir, store) = store();
    let held = table(&store);
    put(&held, "a", "f", 1);
    store.alter_table(held.descriptor().clone()).unwrap();
    assert_eq!(held.regions()[0].size().files, 1);
}

/// Writes versions 10 and 20, closes and reopens the region with `close`, deletes version 20, and
/// reads.
fn read_after_delete_version(close: impl Fn(&Store, &Table)) -> Vec<String> {
    let (_dir, store) = store();
    let held = table(&store);
    put(&held, "a", "f", 10);
    put(&held, "a", "f", 20);
    close(&store, &held);
    let at = Timestamp::from_millis(20).unwrap();
    held.mutate(&Delete::new("a").unwrap().version("f", "q", at).unwrap().into()).unwrap();
    read(&held, "a")
}

#[test]
fn closed_regions_are_flushed_so_surplus_versions_do_not_come_back() {
    assert_eq!(read_after_delete_version(|_, _| ()), ["f10"], "while it is in memory");
    let nothing: [&str; 0] = [];
    let disabled = read_after_delete_version(|store, _| {
        store.disable_table(&name()).unwrap();
        store.enable_table(&name()).unwrap();
    });
    assert_eq!(disabled, nothing, "disabled");
    let altered = read_after_delete_version(|store, _| {
        store.alter_family(&name(), family("f").attribute("COMPRESSION", "GZ")).unwrap();
    });
    assert_eq!(altered, nothing, "altered");
    let unassigned = read_after_delete_version(|store, table| {
        let region = table.regions()[0].name().full.clone();
        store.unassign_region(&region).unwrap();
        store.assign_region(&region).unwrap();
    });
    assert_eq!(unassigned, nothing, "unassigned");
}

#[test]
fn writes_during_an_alteration_are_flushed_or_come_after() {
    let (_dir, store) = store();
    let held = table(&store);
    let ended = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writers = ["a", "z"].map(|row| {
            let held = &held;
            let ended = &ended;
            scope.spawn(move || {
                let mut millis = 1;
                while !ended.load(Ordering::Relaxed) {
                    put(held, row, "f", millis);
                    millis += 1;
                }
                millis - 1
            })
        });
        for round in 0..10 {
            let versions = if round % 2 == 0 { 1 } else { 5 };
            store.alter_family(&name(), family("f").versions(versions)).unwrap();
        }
        ended.store(true, Ordering::Relaxed);
        for (writer, row) in writers.into_iter().zip(["a", "z"]) {
            let last = writer.join().unwrap();
            assert_eq!(read(&held, row)[0], format!("f{last}"));
        }
    });
}

#[test]
fn files_that_are_written_later_are_as_the_family_is_declared_then() {
    let (_dir, store) = store();
    let held = table(&store);
    let padded = |row: &'static str| {
        let put = Put::new(row).unwrap().add("f", "q", vec![b'.'; 100_000]).unwrap();
        held.mutate(&put.into()).unwrap();
    };
    padded("a");
    held.flush().unwrap();
    let plain = held.regions()[0].size().file_bytes;
    store.alter_family(&name(), family("f").attribute("COMPRESSION", "GZ")).unwrap();
    held.compact(CompactionKind::Major).unwrap();
    assert!(held.regions()[0].size().file_bytes < plain / 10);
    assert_eq!(held.get(&Get::new("a").unwrap()).unwrap().len(), 1);
}

#[test]
fn a_family_that_is_dropped_and_added_again_is_empty_also_when_the_log_is_read_again() {
    let (dir, store) = store();
    let held = table(&store);
    put(&held, "a", "f", 1);
    put(&held, "a", "g", 2);
    held.flush().unwrap();
    put(&held, "b", "g", 3);
    let mut open = held.scan(Scan::all()).unwrap();
    store.drop_family(&name(), b"g").unwrap();
    let refused = held.get(&Get::new("a").unwrap().family("g")).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::NoSuchColumnFamily);
    let lost = Put::new("a").unwrap().add("g", "q", "").unwrap();
    assert_eq!(held.mutate(&lost.into()).unwrap_err().kind(), ErrorKind::NoSuchColumnFamily);
    store.add_family(&name(), family("g")).unwrap();
    assert_eq!(read(&held, "a"), ["f1"]);
    // An open scan sees the state as of its opening.
    assert_eq!(open.next().unwrap().unwrap().len(), 2);
    assert_eq!(open.next().unwrap().unwrap().len(), 1);
    drop(open);
    put(&held, "c", "g", 4);
    let check = |store: &Store| {
        let table = table(store);
        let rows = ["a", "b", "c"].map(|row| read(&table, row).concat());
        assert_eq!(rows, ["f1", "", "g4"]);
    };
    check(&store);
    drop((held, store));
    let store = Store::open(dir.path()).unwrap();
    check(&store);
    table(&store).flush().unwrap();
    store.close().unwrap();
    check(&Store::open(dir.path()).unwrap());
}

#[test]
fn an_earlier_read_point_shows_no_cells_of_a_family_that_is_added() {
    let (_dir, store) = store();
    let held = table(&store);
    put(&held, "a", "f", 1);
    let point = store.read_point();
    store.add_family(&name(), family("h")).unwrap();
    put(&held, "a", "h", 2);
    let get = Get::new("a").unwrap();
    let at_point = |get: &Get| held.get_at(get, &point).unwrap().len();
    assert_eq!((held.get(&get).unwrap().len(), at_point(&get)), (2, 1));
    assert_eq!(at_point(&get.family("h")), 0);
    let mut scan = held.scan_at(Scan::all(), &point).unwrap();
    assert_eq!(scan.next().unwrap().unwrap().len(), 1);
    let mut tries = 0;
    let read = store.transact(|transaction| {
        tries += 1;
        if tries == 1 {
            store.add_family(&name(), family("i")).unwrap();
        }
        transaction.mutate(&held, Put::new("b")?.add("i", "q", "own")?)?;
        transaction.get(&held, &Get::new("b")?)
    });
    assert_eq!((read.unwrap().len(), tries), (1, 1));
}

#[test]
fn an_earlier_read_point_shows_the_rows_of_a_region_that_is_truncated() {
    let (_dir, store) = store();
    let held = table(&store);
    put(&held, "a", "f", 1);
    held.flush().unwrap();
    put(&held, "b", "f", 2);
    let point = store.read_point();
    store.truncate_region(&held.regions()[0].name().full).unwrap();
    put(&held, "a", "f", 3);
    let of_point = |table: &Arc<Table>| {
        let mut scan = table.scan_at(Scan::all(), &point).unwrap();
        let values = std::iter::from_fn(|| scan.next().unwrap());
        values.map(|row| row.value("f", "q").unwrap().to_vec()).collect::<Vec<_>>()
    };
    assert_eq!(of_point(&held), [b"1", b"2"]);
    assert_eq!(of_point(&table(&store)), [b"1", b"2"]);
    assert_eq!(read(&held, "a"), ["f3"]);
    assert!(read(&held, "b").is_empty());
}

#[test]
fn the_files_of_a_dropped_family_go() {
    let (dir, store) = store();
    let held = table(&store);
    put(&held, "a", "f", 1);
    put(&held, "a", "g", 1);
    held.flush().unwrap();
    let files = || std::fs::read_dir(dir.path().join("files")).unwrap().count();
    assert_eq!(files(), 2);
    let open = held.scan(Scan::all()).unwrap();
    store.drop_family(&name(), b"g").unwrap();
    assert_eq!(files(), 2, "a scan has it open");
    drop(open);
    assert_eq!(files(), 1);
}

#[test]
fn families_that_cannot_be_changed_so_are_refused_in_hbases_words() {
    let (_dir, store) = store();
    let refused = |error: rowhouse_model::Error, words: &str| {
        assert_eq!((error.kind(), error.message()), (ErrorKind::InvalidFamily, words));
    };
    refused(
        store.add_family(&name(), family("f")).unwrap_err(),
        "Column family 'f' in table 't' already exists so cannot be added",
    );
    refused(
        store.alter_family(&name(), family("h")).unwrap_err(),
        "Family 'h' does not exist, so it cannot be modified",
    );
    refused(
        store.drop_family(&name(), b"h").unwrap_err(),
        "Family 'h' does not exist, so it cannot be deleted",
    );
    store.drop_family(&name(), b"g").unwrap();
    refused(
        store.drop_family(&name(), b"f").unwrap_err(),
        "Family 'f' is the only column family in the table, so it cannot be deleted",
    );
    let bad = store.alter_family(&name(), family("f").attribute("COMPRESSION", "LZO"));
    assert_eq!(bad.unwrap_err().kind(), ErrorKind::Unsupported);
    let other = TableDescriptor::new(TableName::parse("other").unwrap());
    assert_eq!(store.alter_table(other).unwrap_err().kind(), ErrorKind::TableNotFound);
}

#[test]
fn a_table_that_is_read_only_refuses_writes_and_is_read() {
    let (_dir, store) = store();
    let held = table(&store);
    put(&held, "a", "f", 1);
    let with = |value: &'static str| held.descriptor().clone().attribute("READONLY", value);
    store.alter_table(with("true")).unwrap();
    let delete = Delete::new("a").unwrap();
    let error = held.mutate(&delete.clone().into()).unwrap_err();
    assert!(error.message().starts_with("region is read only"), "{error}");
    assert_eq!(read(&held, "a"), ["f1"]);
    store.alter_table(with("false")).unwrap();
    held.mutate(&delete.into()).unwrap();
    assert!(read(&held, "a").is_empty());
}

#[test]
fn a_table_without_compactions_keeps_its_files() {
    let (_dir, store) = store();
    let held = table(&store);
    let with =
        |value: &'static str| held.descriptor().clone().attribute("COMPACTION_ENABLED", value);
    store.alter_table(with("false")).unwrap();
    for millis in 1..=6 {
        put(&held, "a", "f", millis);
        held.flush().unwrap();
    }
    held.compact(CompactionKind::Major).unwrap();
    assert_eq!(held.regions()[0].size().files, 6);
    store.alter_table(with("true")).unwrap();
    held.compact(CompactionKind::Major).unwrap();
    assert_eq!(held.regions()[0].size().files, 1);
}

#[test]
fn a_truncated_table_is_empty_and_enabled_with_its_splits_or_without() {
    for splits in [true, false] {
        let (dir, store) = store();
        put(&table(&store), "a", "f", 1);
        table(&store).flush().unwrap();
        put(&table(&store), "z", "f", 2);
        let enabled = store.truncate_table(&name(), splits).unwrap_err();
        assert_eq!(enabled.kind(), ErrorKind::TableNotDisabled);
        store.disable_table(&name()).unwrap();
        store.truncate_table(&name(), splits).unwrap();
        let check = |store: &Store| {
            let table = table(store);
            assert_eq!(table.state(), TableState::Enabled);
            assert_eq!(table.regions().len(), if splits { 2 } else { 1 });
            assert_eq!(table.descriptor().families().len(), 2);
            assert!(table.scan(Scan::all()).unwrap().next().unwrap().is_none());
        };
        check(&store);
        assert_eq!(std::fs::read_dir(dir.path().join("files")).unwrap().count(), 0);
        drop(store);
        let store = Store::open(dir.path()).unwrap();
        check(&store);
        put(&table(&store), "z", "g", 3);
        assert_eq!(read(&table(&store), "z"), ["g3"]);
    }
}

#[test]
fn concurrent_alterations_are_all_applied() {
    let (_dir, store) = store();
    std::thread::scope(|scope| {
        for worker in 0..4 {
            let store = &store;
            scope.spawn(move || {
                for at in 0..5 {
                    let attribute = format!("rowhouse.{worker}.{at}");
                    let change =
                        |table: &TableDescriptor| Ok(table.clone().attribute(attribute, "x"));
                    store.change_table(&name(), change).unwrap();
                }
            });
        }
    });
    let table = table(&store);
    let attributes = &table.descriptor().attributes;
    assert_eq!(attributes.keys().filter(|name| name.starts_with(b"rowhouse.")).count(), 20);
}

#[test]
fn writers_and_readers_go_on_while_families_come_and_go() {
    let (_dir, store) = store();
    let over = AtomicBool::new(false);
    let written = std::thread::scope(|scope| {
        let over = &over;
        let store = &store;
        let writer = scope.spawn(move || {
            let held = table(store);
            let mut written = 0i64;
            while !over.load(Ordering::Relaxed) {
                written += 1;
                let value = written.to_string();
                let put = Put::new("a").unwrap().add("f", "q", value.clone()).unwrap();
                held.mutate(&put.into()).unwrap();
                let lost = Put::new("z").unwrap().add("g", "q", value).unwrap();
                if let Err(error) = held.mutate(&lost.into()) {
                    assert_eq!(error.kind(), ErrorKind::NoSuchColumnFamily, "{error}");
                }
            }
            written
        });
        let reader = scope.spawn(move || {
            while !over.load(Ordering::Relaxed) {
                let range = RowRange::new("a", "b");
                let mut scan = table(store).scan(Scan::new(range)).unwrap();
                while let Some(row) = scan.next().unwrap() {
                    assert!(row.cells().all(|cell| cell.kind() == CellKind::Put));
                }
            }
        });
        for _ in 0..20 {
            store.drop_family(&name(), b"g").unwrap();
            store.add_family(&name(), family("g")).unwrap();
        }
        over.store(true, Ordering::Relaxed);
        reader.join().unwrap();
        writer.join().unwrap()
    });
    assert_eq!(read(&table(&store), "a"), [format!("f{written}")]);
}

#[test]
fn merged_files_have_the_compression_that_is_declared_of_merges() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let family = family("f")
        .attribute("COMPRESSION", "LZ4")
        .attribute("COMPRESSION_COMPACT", "SNAPPY")
        .attribute("COMPRESSION_COMPACT_MAJOR", "GZ")
        .attribute("hbase.hstore.compaction.max", "3");
    let declared = TableDescriptor::new(name()).family(family);
    let idle = declared.clone().attribute("COMPACTION_ENABLED", "false");
    store.create_table(idle, &[]).unwrap();
    let held = table(&store);
    let compressions = || {
        let files = std::fs::read_dir(dir.path().join("files")).unwrap();
        let files = files.map(|file| HFile::open(file.unwrap().path()).unwrap());
        files.map(|file| file.meta().trailer().compression).collect::<Vec<_>>()
    };
    for row in ["a", "b", "c", "d"] {
        put(&held, row, "f", 1);
        held.flush().unwrap();
    }
    assert_eq!(compressions(), [Compression::Lz4; 4]);
    store.alter_table(declared).unwrap();
    // A compaction of all files would be a major one.
    held.compact(CompactionKind::Minor).unwrap();
    let compressed = compressions();
    assert_eq!(compressed.len(), 2);
    assert!(compressed.contains(&Compression::Lz4) && compressed.contains(&Compression::Snappy));
    held.compact(CompactionKind::Major).unwrap();
    assert_eq!(compressions(), [Compression::Gz]);
    assert_eq!(read(&held, "a"), ["f1"]);
}
