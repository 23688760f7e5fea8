//! Salvage of cells written during a bulk load. Between the flush of a load and the assignment of
//! its sequence number writers continue: their cells have lower sequence numbers than the load and
//! are not flushed.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rowhouse_model::{FamilyDescriptor, Get, Put, TableDescriptor, TableName, Timestamp};
use rowhouse_store::{CompactionKind, ExportedCells, Store, Table, files_to_load, salvage};

const ROWS: usize = 3000;

fn name(text: &str) -> TableName {
    TableName::parse(text).unwrap()
}

fn put(table: &Table, row: &str, family: &str, value: impl AsRef<[u8]>) {
    let at = Timestamp::from_millis(5).unwrap();
    let put = Put::new(row.to_owned()).unwrap().add_at(family, "q", at, value).unwrap();
    table.mutate(&put.into()).unwrap();
}

fn make(dir: &Path) -> Store {
    let store = Store::open(dir).unwrap();
    let family = |name: &'static str| FamilyDescriptor::new(name).unwrap();
    store
        .create_table(TableDescriptor::new(name("a")).family(family("f")).family(family("g")), &[])
        .unwrap();
    store.create_table(TableDescriptor::new(name("unflushed")).family(family("f")), &[]).unwrap();
    put(&store.table(&name("unflushed")).unwrap(), "row", "f", "v");
    store
}

/// Returns a store in which `new` was written to some rows during a load, with lower sequence
/// numbers than the load's, and those rows.
fn loaded_while_written(dir: &Path) -> (Store, Vec<String>) {
    let other = tempfile::tempdir().unwrap();
    let hfiles = tempfile::tempdir().unwrap();
    {
        let store = make(other.path());
        let table = store.table(&name("a")).unwrap();
        put(&table, "loaded", "f", "loaded");
        put(&table, "loaded", "g", "loaded");
        store.export_hfiles(&name("a"), hfiles.path(), ExportedCells::Retained, |_| {}).unwrap();
    }
    let store = make(dir);
    let table = store.table(&name("a")).unwrap();
    for row in 0..ROWS {
        put(&table, &format!("row{row:04}"), "f", "old");
    }
    table.flush().unwrap();
    // Slow to flush, after family `f`.
    for row in 0..100 {
        put(&table, &format!("row{row:04}"), "g", vec![b'g'; 200_000]);
    }
    let started = AtomicBool::new(false);
    let over = AtomicBool::new(false);
    let written = std::thread::scope(|scope| {
        let table = &table;
        let started = &started;
        let over = &over;
        let writer = scope.spawn(move || {
            while !started.load(Ordering::Acquire) {
                std::thread::yield_now();
            }
            let mut written = Vec::new();
            while !over.load(Ordering::Acquire) && written.len() < ROWS {
                let row = format!("row{:04}", written.len());
                put(table, &row, "f", "new");
                written.push(row);
                std::thread::sleep(Duration::from_micros(100));
            }
            written
        });
        let files = files_to_load(hfiles.path()).unwrap();
        let report = store.bulk_load(&name("a"), &files, |_| {
            started.store(true, Ordering::Release);
        });
        over.store(true, Ordering::Release);
        report.unwrap();
        writer.join().unwrap()
    });
    assert!(!written.is_empty());
    (store, written)
}

/// Salvages a store and checks that the written rows are there.
fn check_salvaged(dir: &Path, written: &[String]) {
    let into = tempfile::tempdir().unwrap();
    salvage(dir, into.path(), |_| {}).unwrap();
    let store = Store::open(into.path()).unwrap();
    let table = store.table(&name("a")).unwrap();
    let value = |row: &str| {
        let row = table.get(&Get::new(row.to_owned()).unwrap()).unwrap();
        row.value("f", "q").map(|value| value.to_vec())
    };
    assert_eq!(value("loaded").unwrap(), b"loaded");
    let old: Vec<_> = written.iter().filter(|row| value(row).as_deref() != Some(b"new")).collect();
    let count = old.len();
    let first = old.first();
    assert_eq!(count, 0, "{count} of {} are old again, the first is {first:?}", written.len());
}

/// Without damage: a compaction of the older file and the loaded one spans sequence numbers that
/// are only in the log.
#[test]
fn a_merge_of_loaded_files_does_not_count_as_written_after_the_log() {
    let dir = tempfile::tempdir().unwrap();
    let (store, written) = loaded_while_written(dir.path());
    store.table(&name("a")).unwrap().compact(CompactionKind::Major).unwrap();
    store.close().unwrap();
    drop(store);
    check_salvaged(dir.path(), &written);
}

/// The log has a damaged file's cells, even if an undamaged file spans their sequence numbers.
#[test]
fn the_log_restores_writes_made_during_a_load() {
    let dir = tempfile::tempdir().unwrap();
    let (store, written) = loaded_while_written(dir.path());
    let table = store.table(&name("a")).unwrap();
    table.compact(CompactionKind::Major).unwrap();
    let files = |dir: &Path| -> Vec<_> {
        fs::read_dir(dir.join("files")).unwrap().map(|entry| entry.unwrap().path()).collect()
    };
    let before = files(dir.path());
    table.flush_family(b"f").unwrap();
    let flushed: Vec<_> =
        files(dir.path()).into_iter().filter(|path| !before.contains(path)).collect();
    store.close().unwrap();
    drop((table, store));
    assert_eq!(flushed.len(), 1);
    let mut bytes = fs::read(&flushed[0]).unwrap();
    bytes[40] ^= 1;
    fs::write(&flushed[0], bytes).unwrap();
    check_salvaged(dir.path(), &written);
}
