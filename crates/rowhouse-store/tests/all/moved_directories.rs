//! A data directory that is removed, moved or replaced while a store has it open: the store takes
//! no more writes, and nothing is written into what has replaced it.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rowhouse_model::{
    Durability, ErrorKind, FamilyDescriptor, Get, Put, Result, TableDescriptor, TableName,
};
use rowhouse_store::{Settings, Store, copy_store, salvage};

fn name() -> TableName {
    TableName::parse("t").unwrap()
}

/// Creates a store with a table, a flushed row and a logged one.
fn create(dir: &Path) -> Store {
    let settings = Settings { wal_segment_bytes: 4 << 10, ..Settings::default() };
    let store = Store::builder(dir).settings(settings).open().unwrap();
    let family = FamilyDescriptor::new("f").unwrap();
    store.create_table(TableDescriptor::new(name()).family(family), &[]).unwrap();
    put(&store, "flushed", Durability::FsyncWal).unwrap();
    store.table(&name()).unwrap().flush().unwrap();
    put(&store, "logged", Durability::FsyncWal).unwrap();
    store
}

fn put(store: &Store, row: &'static str, durability: Durability) -> Result<()> {
    let mut put = Put::new(row).unwrap().add("f", "q", row).unwrap();
    put.durability = durability;
    store.table(&name())?.mutate(&put.into()).map(|_| ())
}

fn has(store: &Store, row: &'static str) -> bool {
    !store.table(&name()).unwrap().get(&Get::new(row).unwrap()).unwrap().is_empty()
}

/// Checks that the store takes no writes at all, reads as before, and reports why.
fn refuses_writes(store: &Store, moved: &Path) {
    let error = store.check_writable().unwrap_err();
    let text = error.to_string();
    assert!(text.contains("removed or replaced"), "{text}");
    assert!(text.contains(&*moved.to_string_lossy()), "{text}");
    for durability in [Durability::UseDefault, Durability::FsyncWal] {
        let refused = put(store, "later", durability).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::ReadOnly, "{refused}");
        assert!(refused.to_string().contains("removed or replaced"), "{refused}");
    }
    assert!(store.table(&name()).unwrap().flush().is_err());
    let other = TableDescriptor::new(TableName::parse("u").unwrap());
    let other = other.family(FamilyDescriptor::new("f").unwrap());
    assert!(store.create_table(other, &[]).is_err());
    assert!(has(store, "logged"));
}

#[test]
fn a_directory_that_is_moved_away_refuses_writes_and_keeps_its_rows() {
    let dir = tempfile::tempdir().unwrap();
    let place = dir.path().join("data");
    let away = dir.path().join("away");
    let store = create(&place);
    fs::rename(&place, &away).unwrap();
    refuses_writes(&store, &place);
    assert!(has(&store, "flushed"));
    assert!(store.close().is_err());
    assert!(!place.exists(), "the directory was created again");
    let store = Store::open(&away).unwrap();
    assert!(has(&store, "flushed") && has(&store, "logged"));
}

#[test]
fn a_directory_in_the_place_of_another_is_not_written_to() {
    let dir = tempfile::tempdir().unwrap();
    let [place, away, other] = ["data", "away", "other"].map(|name| dir.path().join(name));
    create(&other).close().unwrap();
    let store = create(&place);
    fs::rename(&place, &away).unwrap();
    fs::rename(&other, &place).unwrap();
    let before = contents(&place);
    refuses_writes(&store, &place);
    assert!(store.checkpoint(dir.path().join("copy")).is_err());
    assert!(store.close().is_err());
    drop(store);
    assert_eq!(contents(&place), before);
    assert!(has(&Store::open(&place).unwrap(), "logged"));
}

#[test]
fn a_directory_that_is_removed_is_not_created_again() {
    let dir = tempfile::tempdir().unwrap();
    let place = dir.path().join("data");
    let store = create(&place);
    fs::remove_dir_all(&place).unwrap();
    refuses_writes(&store, &place);
    assert!(store.close().is_err());
    assert!(!place.exists());
}

#[test]
fn parts_of_a_directory_that_are_replaced_refuse_writes() {
    for part in ["wal", "files", "LOCK"] {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("data");
        let store = create(&place);
        store.check_writable().unwrap();
        let part = place.join(part);
        let away = dir.path().join("away");
        fs::rename(&part, &away).unwrap();
        if away.is_dir() {
            fs::create_dir(&part).unwrap();
        } else {
            fs::write(&part, "").unwrap();
        }
        refuses_writes(&store, &part);
    }
}

#[test]
fn writes_alone_notice_that_the_directory_was_moved_away() {
    for durability in [Durability::UseDefault, Durability::FsyncWal] {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("data");
        let away = dir.path().join("away");
        let store = create(&place);
        fs::rename(&place, &away).unwrap();
        // A second later at most.
        while put(&store, "row", durability).is_ok() {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        assert!(!place.exists());
    }
}

#[test]
fn every_new_directory_of_a_store_is_its_users_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = |name: &str| dir.path().join(name);
    let store = create(&path("data"));
    store.checkpoint(path("checkpoint")).unwrap();
    store.backup(path("backup"), |_| {}).unwrap();
    store.close().unwrap();
    copy_store(path("data"), path("copy"), |_| {}).unwrap();
    salvage(path("data"), path("salvage"), |_| {}).unwrap();
    for name in ["data", "checkpoint", "backup", "copy", "salvage"] {
        let mode = fs::metadata(path(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o700, "{name}");
    }
}

/// Returns all files below a directory, with their bytes.
fn contents(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            files.extend(contents(&entry));
        } else {
            let bytes = fs::read(&entry).unwrap();
            files.insert(entry, bytes);
        }
    }
    files
}
