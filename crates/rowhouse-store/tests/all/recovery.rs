//! Durability: acknowledged writes outlive the store, interrupted writes are cut, damage is
//! refused.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rowhouse_model::{
    Delete, ErrorKind, FamilyDescriptor, Get, Increment, Nonce, Put, Scan, TableDescriptor,
    TableName,
};
use rowhouse_store::{Settings, Store};

fn name() -> TableName {
    TableName::parse("t").unwrap()
}

fn create(store: &Store) {
    let family = FamilyDescriptor::new("f").unwrap();
    store.create_table(TableDescriptor::new(name()).family(family), &[]).unwrap();
}

fn put(store: &Store, row: &str) {
    let put = Put::new(row.to_owned()).unwrap().add("f", "q", row).unwrap();
    store.table(&name()).unwrap().mutate(&put.into()).unwrap();
}

fn rows(store: &Store) -> Vec<String> {
    let mut scanner = store.table(&name()).unwrap().scan(Scan::all()).unwrap();
    let mut rows = Vec::new();
    while let Some(row) = scanner.next().unwrap() {
        rows.push(String::from_utf8(row.key().to_vec()).unwrap());
    }
    rows
}

fn segments(dir: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<_> =
        fs::read_dir(dir.join("wal")).unwrap().map(|entry| entry.unwrap().path()).collect();
    // Spare segments hold nothing.
    paths.retain(|path| path.extension().is_some_and(|end| end == "wal"));
    paths.sort();
    paths
}

/// Bytes of a segment's end mark.
const END_MARK_LEN: u64 = 32;

/// Copies the directory as a killed process leaves it: nothing closed, nothing unlocked.
pub(crate) fn killed_copy(dir: &Path) -> tempfile::TempDir {
    let manifest = || fs::read(dir.join("MANIFEST")).unwrap();
    loop {
        let copy = tempfile::tempdir().unwrap();
        let before = manifest();
        match copy_files(dir, copy.path()) {
            // A store thread renamed a file, such as a segment that it makes ahead.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            // The copy has parts from different points in time.
            Ok(()) if manifest() != before => {}
            copied => {
                copied.unwrap();
                return copy;
            }
        }
    }
}

fn copy_files(from: &Path, to: &Path) -> io::Result<()> {
    for sub in ["", "wal", "files"] {
        fs::create_dir_all(to.join(sub))?;
        for entry in fs::read_dir(from.join(sub))? {
            let entry = entry?;
            if entry.file_type()?.is_file() {
                fs::copy(entry.path(), to.join(sub).join(entry.file_name()))?;
            }
        }
    }
    Ok(())
}

#[test]
fn acknowledged_writes_survive_a_killed_process_flushed_or_not() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    create(&store);
    put(&store, "a");
    store.table(&name()).unwrap().flush().unwrap();
    put(&store, "b");
    for _ in 0..3 {
        let increment = Increment::new("n").unwrap().add("f", "count", 2).unwrap();
        store.table(&name()).unwrap().mutate(&increment.into()).unwrap();
    }
    let copy = killed_copy(dir.path());
    let store = Store::open(copy.path()).unwrap();
    assert_eq!(rows(&store), ["a", "b", "n"]);
    let row = store.table(&name()).unwrap().get(&Get::new("n").unwrap()).unwrap();
    assert_eq!(row.counter("f", "count").unwrap(), Some(6));
}

#[test]
fn reopening_many_times_leaves_no_extra_segments() {
    let dir = tempfile::tempdir().unwrap();
    {
        let store = Store::open(dir.path()).unwrap();
        create(&store);
        put(&store, "a");
    }
    for _ in 0..5 {
        let store = Store::open(dir.path()).unwrap();
        assert_eq!(rows(&store), ["a"]);
    }
    // The segment with the cell, the current one, and the one made ahead.
    assert!(segments(dir.path()).len() <= 3, "{:?}", segments(dir.path()));
}

#[test]
fn an_interrupted_write_at_the_end_is_cut_at_any_byte() {
    let dir = tempfile::tempdir().unwrap();
    // A write that is known to be synced would be reported as missing.
    let settings = Settings { wal_sync_interval: Duration::from_secs(3600), ..Settings::default() };
    let store = Store::builder(dir.path()).settings(settings).open().unwrap();
    create(&store);
    put(&store, "a");
    let before = fs::metadata(&segments(dir.path())[0]).unwrap().len();
    put(&store, "b");
    let after = fs::metadata(&segments(dir.path())[0]).unwrap().len();
    // The end mark only says that no record follows.
    for len in before..after - END_MARK_LEN {
        let copy = killed_copy(dir.path());
        let segment = &segments(copy.path())[0];
        fs::OpenOptions::new().write(true).open(segment).unwrap().set_len(len).unwrap();
        let store = Store::open(copy.path()).unwrap();
        assert_eq!(rows(&store), ["a"], "cut at {len}");
        put(&store, "c");
        drop(store);
        let store = Store::open(copy.path()).unwrap();
        assert_eq!(rows(&store), ["a", "c"], "cut at {len}");
    }
}

#[test]
fn damage_inside_the_log_is_refused_naming_file_and_offset() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    create(&store);
    put(&store, "a");
    put(&store, "b");
    let len = fs::metadata(&segments(dir.path())[0]).unwrap().len() as usize;
    for at in (0..len - END_MARK_LEN as usize).step_by(7) {
        let copy = killed_copy(dir.path());
        let segment = &segments(copy.path())[0];
        let mut bytes = fs::read(segment).unwrap();
        bytes[at] ^= 0x10;
        fs::write(segment, bytes).unwrap();
        let error = Store::open(copy.path()).map(|_| ()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corruption, "byte {at}: {error}");
        assert!(error.message().contains(".wal"), "byte {at}: {error}");
        assert!(!error.message().is_empty());
    }
}

#[test]
fn damage_in_both_copies_of_the_manifest_is_refused_and_in_one_is_repaired() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    create(&store);
    put(&store, "a");
    store.table(&name()).unwrap().flush().unwrap();
    let manifest = fs::read(dir.path().join("MANIFEST")).unwrap();
    for at in 0..manifest.len() {
        let copy = killed_copy(dir.path());
        let mut bytes = manifest.clone();
        bytes[at] ^= 0x10;
        fs::write(copy.path().join("MANIFEST"), &bytes).unwrap();
        // The end mark only says that no edit follows.
        let is_mark = at >= manifest.len() - 12;
        if is_mark || at % 8 == 0 {
            assert_eq!(rows(&Store::open(copy.path()).unwrap()), ["a"], "byte {at}");
        }
        if is_mark {
            continue;
        }
        let copy = killed_copy(dir.path());
        for name in ["MANIFEST", "MANIFEST.copy"] {
            fs::write(copy.path().join(name), &bytes).unwrap();
        }
        let error = Store::open(copy.path()).map(|_| ()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corruption, "byte {at}: {error}");
    }
}

#[test]
fn a_missing_file_is_refused_and_a_stranger_is_moved_aside() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    create(&store);
    put(&store, "a");
    store.table(&name()).unwrap().flush().unwrap();
    drop(store);
    fs::write(dir.path().join("files/0000009999.hfile"), "not ours").unwrap();
    let store = Store::open(dir.path()).unwrap();
    assert_eq!(rows(&store), ["a"]);
    drop(store);
    let aside = fs::read_dir(dir.path().join("aside")).unwrap();
    let names = aside.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert_eq!(names.filter(|name| name.ends_with("-0000009999.hfile")).count(), 1);
    for entry in fs::read_dir(dir.path().join("files")).unwrap() {
        fs::remove_file(entry.unwrap().path()).unwrap();
    }
    let error = Store::open(dir.path()).map(|_| ()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corruption);
}

#[test]
fn the_log_is_rolled_flushed_and_forgotten() {
    let dir = tempfile::tempdir().unwrap();
    let settings = Settings {
        memstore_flush_bytes: 64 << 10,
        wal_segment_bytes: 32 << 10,
        ..Settings::default()
    };
    let store = Store::builder(dir.path()).settings(settings.clone()).open().unwrap();
    create(&store);
    let value = vec![b'v'; 1000];
    for row in 0..1000 {
        let put = Put::new(format!("{row:04}")).unwrap().add("f", "q", &value).unwrap();
        store.table(&name()).unwrap().mutate(&put.into()).unwrap();
    }
    store.table(&name()).unwrap().flush().unwrap();
    // The current segment and the one made ahead. A background flush may still be running.
    let started = Instant::now();
    while segments(dir.path()).len() > 2 {
        assert!(started.elapsed() < Duration::from_secs(120), "{:?}", segments(dir.path()));
        std::thread::sleep(Duration::from_millis(5));
    }
    drop(store);
    let store = Store::builder(dir.path()).settings(settings).open().unwrap();
    let expected: Vec<_> = (0..1000).map(|row| format!("{row:04}")).collect();
    assert_eq!(rows(&store), expected);
}

#[test]
fn a_long_log_comes_back_in_several_memstores_and_goes_into_files() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    create(&store);
    let table = store.table(&name()).unwrap();
    // Rows that are written once, overwritten and deleted, each time in another part of the log.
    for (round, step) in [(1u8, 1), (2, 2), (3, 3)] {
        for row in (0..3000).step_by(step) {
            let put = Put::new(format!("{row:04}")).unwrap().add("f", "q", [round; 300]).unwrap();
            table.mutate(&put.into()).unwrap();
        }
    }
    for row in (0..3000).step_by(5) {
        table.mutate(&Delete::new(format!("{row:04}")).unwrap().into()).unwrap();
    }
    let copy = killed_copy(dir.path());
    let settings = Settings { memstore_flush_bytes: 512 << 10, ..Settings::default() };
    let store = Store::builder(copy.path()).settings(settings).open().unwrap();
    let check = |store: &Store| {
        for row in 0..3000 {
            let get = Get::new(format!("{row:04}")).unwrap();
            let result = store.table(&name()).unwrap().get(&get).unwrap();
            let round = if row % 3 == 0 { 3 } else { 1 + u8::from(row % 2 == 0) };
            let expected = (row % 5 != 0).then_some([round; 300]);
            assert_eq!(
                result.value("f", "q").as_deref(),
                expected.as_ref().map(|v| &v[..]),
                "{row}"
            );
        }
    };
    check(&store);
    // Cells in several memstores are flushed without a request.
    let size = || store.table(&name()).unwrap().regions()[0].size();
    let started = Instant::now();
    while size().memstore_bytes > 0 {
        assert!(started.elapsed() < Duration::from_secs(120), "{:?}", size());
        std::thread::sleep(Duration::from_millis(5));
    }
    check(&store);
}

#[test]
fn a_dropped_table_takes_its_cells_and_files_with_it() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    create(&store);
    put(&store, "a");
    store.table(&name()).unwrap().flush().unwrap();
    put(&store, "b");
    let error = store.drop_table(&name()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TableNotDisabled);
    store.disable_table(&name()).unwrap();
    store.drop_table(&name()).unwrap();
    assert_eq!(fs::read_dir(dir.path().join("files")).unwrap().count(), 0);
    create(&store);
    assert_eq!(rows(&store), [""; 0]);
    let copy = killed_copy(dir.path());
    assert_eq!(rows(&Store::open(copy.path()).unwrap()), [""; 0]);
}

#[test]
fn many_small_memstores_are_flushed_before_they_fill_the_memory_together() {
    let dir = tempfile::tempdir().unwrap();
    let settings = Settings {
        memstore_flush_bytes: 1 << 20,
        memstore_bytes_max: 256 << 10,
        ..Settings::default()
    };
    let store = Store::builder(dir.path()).settings(settings).open().unwrap();
    let mut descriptor = TableDescriptor::new(name());
    for family in 0..10 {
        descriptor = descriptor.family(FamilyDescriptor::new(format!("f{family}")).unwrap());
    }
    store.create_table(descriptor, &[]).unwrap();
    let value = vec![b'v'; 1000];
    for row in 0..1000 {
        let put = Put::new(format!("{row:04}")).unwrap();
        let put = put.add(format!("f{}", row % 10), "q", &value).unwrap();
        store.table(&name()).unwrap().mutate(&put.into()).unwrap();
    }
    assert_eq!(rows(&store).len(), 1000);
    let size = store.table(&name()).unwrap().regions()[0].size();
    assert!(size.memstore_bytes < 300 << 10, "{size:?}");
}

#[test]
fn a_log_without_syncs_keeps_no_removed_segments_open() {
    let dir = tempfile::tempdir().unwrap();
    let settings = Settings {
        memstore_flush_bytes: 32 << 10,
        wal_segment_bytes: 8 << 10,
        ..Settings::default()
    };
    let store = Store::builder(dir.path()).settings(settings).open().unwrap();
    create(&store);
    let value = vec![b'v'; 1000];
    for row in 0..500 {
        let put = Put::new(format!("{row:04}")).unwrap().add("f", "q", &value).unwrap();
        store.table(&name()).unwrap().mutate(&put.into()).unwrap();
    }
    store.table(&name()).unwrap().flush().unwrap();
    let open = fs::read_dir("/proc/self/fd").unwrap().filter_map(|entry| {
        let path = fs::read_link(entry.unwrap().path()).ok()?.display().to_string();
        (path.starts_with(&dir.path().display().to_string()) && path.contains(".wal"))
            .then_some(path)
    });
    assert!(open.count() <= 2);
}

#[test]
fn an_increment_that_is_repeated_counts_once_even_after_a_kill() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    create(&store);
    let add = |store: &Store, number: u64| {
        let mut increment = Increment::new("n").unwrap().add("f", "count", 1).unwrap();
        increment.nonce = Some(Nonce { group: 7, number });
        let outcome = store.table(&name()).unwrap().mutate(&increment.into()).unwrap();
        outcome.row.counter("f", "count").unwrap()
    };
    assert_eq!(add(&store, 1), Some(1));
    assert_eq!(add(&store, 2), Some(2));
    assert_eq!(add(&store, 1), Some(1), "what it gave the first time, as on HBase");
    let copy = killed_copy(dir.path());
    let store = Store::open(copy.path()).unwrap();
    assert_eq!(add(&store, 1), Some(1));
    assert_eq!(add(&store, 2), Some(2));
    assert_eq!(add(&store, 3), Some(3));
}
