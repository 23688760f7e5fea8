//! A checkpoint or backup is complete and consistent at one read point, or does not exist.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rowhouse_model::{
    ErrorKind, FamilyDescriptor, Get, Put, Scan, Snapshot, TableDescriptor, TableName,
};
use rowhouse_store::{CompactionKind, Store, Table, check, copy_store};

const TABLES: [&str; 2] = ["one", "other"];

fn named(name: &str) -> TableName {
    TableName::parse(name).unwrap()
}

/// Returns a store with two tables, in a folder with room for copies.
fn store() -> (tempfile::TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path().join("store")).unwrap();
    for table in TABLES {
        let family = FamilyDescriptor::new("f").unwrap();
        store.create_table(TableDescriptor::new(named(table)).family(family), &[]).unwrap();
    }
    (dir, store)
}

fn table(store: &Store, name: &str) -> Arc<Table> {
    store.table(&named(name)).unwrap()
}

/// Writes a row to both tables atomically.
fn put(store: &Store, row: u32, value: &str) {
    let put = |name| {
        let put = Put::new(format!("r{row:04}")).unwrap().add("f", "q", value);
        (table(store, name), put.unwrap().into())
    };
    store.commit(&TABLES.map(put)).unwrap();
}

fn rows(store: &Store, name: &str) -> Vec<(String, String)> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let mut scanner = table(store, name).scan(Scan::all()).unwrap();
    let rows = std::iter::from_fn(|| scanner.next().unwrap());
    rows.map(|row| (text(row.key()), text(&row.value("f", "q").unwrap()))).collect()
}

/// Opens the store there, which must be undamaged and have the same rows in both tables.
fn open_whole(dir: &Path) -> Store {
    let report = check(dir, |_| {}).unwrap();
    assert!(report.problems.is_empty() && report.strangers.is_empty(), "{report:?}");
    let store = Store::open(dir).unwrap();
    assert_eq!(rows(&store, "one"), rows(&store, "other"));
    store
}

#[test]
fn a_checkpoint_is_the_store_as_it_was_and_shares_its_files() {
    let (dir, store) = store();
    (0..50).for_each(|row| put(&store, row, "then"));
    store.take_snapshot(Snapshot::new("s", named("one")).unwrap()).unwrap();
    (50..100).for_each(|row| put(&store, row, "then"));
    let then = rows(&store, "one");
    let into = dir.path().join("checkpoint");
    let report = store.checkpoint(&into).unwrap();
    assert_eq!((report.tables, report.snapshots), (2, 1));
    let files: Vec<_> = fs::read_dir(into.join("files")).unwrap().map(Result::unwrap).collect();
    assert_eq!(files.len(), report.files);
    assert!(files.iter().all(|file| file.metadata().unwrap().nlink() == 2));
    // Changes to either store do not affect the other.
    (0..50).for_each(|row| put(&store, row, "later"));
    table(&store, "one").compact(CompactionKind::Major).unwrap();
    store.disable_table(&named("other")).unwrap();
    store.drop_table(&named("other")).unwrap();
    store.delete_snapshot("s").unwrap();
    let checkpoint = open_whole(&into);
    assert_eq!(rows(&checkpoint, "one"), then);
    checkpoint.clone_snapshot("s", &named("clone")).unwrap();
    assert_eq!(rows(&checkpoint, "clone"), then[..50]);
    put(&checkpoint, 0, "of the checkpoint");
    let row = table(&checkpoint, "one").get(&Get::new("r0000").unwrap()).unwrap();
    assert_eq!(row.value("f", "q").as_deref(), Some(&b"of the checkpoint"[..]));
    drop(checkpoint);
    fs::remove_dir_all(&into).unwrap();
    assert_eq!(rows(&store, "one")[0].1, "later");
}

#[test]
fn a_copy_taken_beside_writers_has_every_commit_as_a_whole() {
    let (dir, store) = store();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for number in (0..).take_while(|_| !stop.load(Ordering::Relaxed)) {
                put(&store, number % 500, &number.to_string());
            }
        });
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                table(&store, "one").compact(CompactionKind::Major).unwrap();
            }
        });
        for number in 0..5 {
            store.checkpoint(dir.path().join(format!("checkpoint{number}"))).unwrap();
            store.backup(dir.path().join(format!("backup{number}")), |_| {}).unwrap();
        }
        stop.store(true, Ordering::Relaxed);
    });
    for number in 0..5 {
        open_whole(&dir.path().join(format!("checkpoint{number}")));
        open_whole(&dir.path().join(format!("backup{number}")));
    }
}

#[test]
fn a_backup_has_files_of_its_own_and_comes_back() {
    let (dir, store) = store();
    (0..100).for_each(|row| put(&store, row, "v"));
    let backup = dir.path().join("backup");
    let mut last = (0, 0);
    let report = store
        .backup(&backup, |progress| {
            assert!(progress.bytes_done >= last.0, "{progress:?} {last:?}");
            last = (progress.bytes_done, progress.bytes_total);
        })
        .unwrap();
    assert_eq!(last, (report.file_bytes * 2, report.file_bytes * 2));
    let mut files = fs::read_dir(backup.join("files")).unwrap().map(Result::unwrap);
    assert!(files.all(|file| file.metadata().unwrap().nlink() == 1));
    drop(store);
    fs::remove_dir_all(dir.path().join("store")).unwrap();
    let restored = dir.path().join("restored");
    copy_store(&backup, &restored, |_| {}).unwrap();
    assert_eq!(rows(&open_whole(&restored), "one").len(), 100);
}

#[test]
fn a_closed_store_is_copied_with_its_log() {
    let (dir, store) = store();
    (0..100).for_each(|row| put(&store, row, "v"));
    let error = copy_store(dir.path().join("store"), dir.path().join("copy"), |_| {}).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InUse);
    drop(store);
    let before = fs::read(dir.path().join("store/MANIFEST")).unwrap();
    let report = copy_store(dir.path().join("store"), dir.path().join("copy"), |_| {}).unwrap();
    assert!(report.log_bytes > 0 && report.files == 0, "{report:?}");
    assert_eq!(fs::read(dir.path().join("store/MANIFEST")).unwrap(), before);
    assert_eq!(rows(&open_whole(&dir.path().join("copy")), "one").len(), 100);
}

#[test]
fn a_damaged_store_is_not_copied_and_nothing_is_left_of_the_copy() {
    let (dir, store) = store();
    (0..100).for_each(|row| put(&store, row, "v"));
    table(&store, "one").flush().unwrap();
    let files = dir.path().join("store/files");
    let file = fs::read_dir(files).unwrap().next().unwrap().unwrap().path();
    let mut bytes = fs::read(&file).unwrap();
    bytes[60] ^= 1;
    fs::write(&file, bytes).unwrap();
    let refused = |done: rowhouse_model::Result<()>| {
        let error = done.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corruption, "{error}");
        assert!(error.message().contains("files/"), "{error}");
    };
    refused(store.backup(dir.path().join("backup"), |_| {}).map(drop));
    drop(store);
    refused(copy_store(dir.path().join("store"), dir.path().join("copy"), |_| {}).map(drop));
    let left: Vec<_> =
        fs::read_dir(dir.path()).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert_eq!(left, ["store"]);
}

#[test]
fn nothing_is_overwritten() {
    let (dir, store) = store();
    let taken = dir.path().join("taken");
    fs::create_dir(&taken).unwrap();
    fs::write(taken.join("mine"), "mine").unwrap();
    for done in [store.checkpoint(&taken).map(drop), store.backup(&taken, |_| {}).map(drop)] {
        let error = done.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidRequest);
        assert!(error.message().ends_with("already exists"), "{error}");
    }
    let error = store.checkpoint(dir.path().join("no/where")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    drop(store);
    let error = copy_store(dir.path().join("store"), &taken, |_| {}).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidRequest);
    assert_eq!(fs::read_dir(&taken).unwrap().count(), 1);
}

#[test]
fn a_checkpoint_on_another_file_system_is_refused() {
    let (dir, store) = store();
    put(&store, 1, "v");
    // If it is the same file system, the test does not apply.
    let Ok(other) = tempfile::tempdir_in("/dev/shm") else { return };
    let here = fs::metadata(dir.path()).unwrap().dev();
    if fs::metadata(other.path()).unwrap().dev() == here {
        return;
    }
    let error = store.checkpoint(other.path().join("checkpoint")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    assert_eq!(fs::read_dir(other.path()).unwrap().count(), 0);
    store.backup(other.path().join("backup"), |_| {}).unwrap();
}
