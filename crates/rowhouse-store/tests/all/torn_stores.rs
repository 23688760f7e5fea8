//! Directories whose log comes from an earlier time than their files: a table's rows and the
//! entries in the unique index would disagree, and a duplicate would be taken.

use std::fs;
use std::path::Path;

use rowhouse_model::{
    Durability, ErrorKind, FamilyDescriptor, Get, Put, TableDescriptor, TableName,
};
use rowhouse_schema::{COLUMNS_ATTRIBUTE, INDEXES_ATTRIBUTE};
use rowhouse_store::{Store, check, copy_store, salvage};

use crate::recovery::killed_copy;

fn name(table: &str) -> TableName {
    TableName::parse(table).unwrap()
}

/// Opens the store, with the table `t`, which has a unique index, and the table `u`.
fn open(dir: &Path) -> Store {
    let store = Store::open(dir).unwrap();
    if store.table(&name("t")).is_err() {
        let family = FamilyDescriptor::new("d").unwrap();
        let t = TableDescriptor::new(name("t")).family(family.clone());
        let t = t.attribute(COLUMNS_ATTRIBUTE, "1 d:m email string");
        let t = t.attribute(INDEXES_ATTRIBUTE, "1 one [email] unique");
        store.create_table(t, &[]).unwrap();
        store.create_table(TableDescriptor::new(name("u")).family(family), &[]).unwrap();
    }
    store
}

fn put(store: &Store, table: &str, row: &'static str, email: &'static str) {
    let mut put = Put::new(row).unwrap().add("d", "m", email).unwrap();
    put.durability = Durability::FsyncWal;
    store.table(&name(table)).unwrap().mutate(&put.into()).unwrap();
}

/// Gives `dir` the log of another directory.
fn replace_log(dir: &Path, from: &Path) {
    fs::remove_dir_all(dir.join("wal")).unwrap();
    fs::create_dir(dir.join("wal")).unwrap();
    for entry in fs::read_dir(from.join("wal")).unwrap().map(Result::unwrap) {
        fs::copy(entry.path(), dir.join("wal").join(entry.file_name())).unwrap();
    }
}

#[test]
fn a_log_of_an_earlier_moment_is_refused_and_salvaged() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    put(&store, "t", "1", "old");
    let killed_early = killed_copy(dir.path());
    store.close().unwrap();
    let closed = killed_copy(dir.path());
    let store = open(dir.path());
    put(&store, "t", "1", "new");
    put(&store, "u", "1", "flushed");
    store.table(&name("u")).unwrap().flush().unwrap();
    put(&store, "t", "2", "other");
    let killed = killed_copy(dir.path());
    assert!(check(killed.path(), |_| {}).unwrap().problems.is_empty());

    for older in [closed, killed_early] {
        let torn = killed_copy(dir.path());
        replace_log(torn.path(), older.path());
        let report = check(torn.path(), |_| {}).unwrap();
        let [problem] = &report.problems[..] else { panic!("{report:?}") };
        assert!(problem.message().starts_with("the log is older than MANIFEST"), "{problem}");
        let error = Store::open(torn.path()).map(drop).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corruption);
        assert_eq!(error.to_string(), problem.to_string());
        let into = tempfile::tempdir().unwrap();
        let report = salvage(torn.path(), into.path(), |_| {}).unwrap();
        assert!(report.lost.iter().any(|lost| lost.to_string() == problem.to_string()));
        let salvaged = Store::open(into.path()).unwrap();
        let value = |table: &str| {
            let row = salvaged.table(&name(table)).unwrap().get(&Get::new("1").unwrap()).unwrap();
            row.value("d", "m").map(|value| String::from_utf8(value.to_vec()).unwrap())
        };
        assert_eq!(value("t").as_deref(), Some("old"));
        assert_eq!(value("u").as_deref(), Some("flushed"));
    }
}

#[test]
fn a_copy_of_a_killed_store_is_whole() {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    put(&store, "t", "1", "logged");
    let killed = killed_copy(dir.path());
    let copy = dir.path().join("copy");
    copy_store(killed.path(), &copy, |_| {}).unwrap();
    assert!(copy.join("wal/SYNCED").exists());
    let copied = Store::open(&copy).unwrap();
    let row = copied.table(&name("t")).unwrap().get(&Get::new("1").unwrap()).unwrap();
    assert_eq!(row.value("d", "m").as_deref(), Some(&b"logged"[..]));
}
