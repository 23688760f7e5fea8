//! Salvage of stores whose tables have indexes.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rowhouse_model::{FamilyDescriptor, Mutation, Put, Scan, TableDescriptor, TableName};
use rowhouse_schema::{COLUMNS_ATTRIBUTE, INDEXES_ATTRIBUTE, IndexOf, IndexState, KEY_ATTRIBUTE};
use rowhouse_store::{Store, salvage};

const ROWS: usize = 1_000;
const INDEXES: &str = "1 by_sender [sender]; by_box [box] covers *";

fn name(name: &str) -> TableName {
    TableName::parse(name).unwrap()
}

fn put(row: usize) -> Mutation {
    let put = Put::new(format!("{row:04}-{:02}", row % 11)).unwrap();
    put.add("d", "s", format!("sender{}", row % 7)).unwrap().into()
}

/// Creates a table with indexes, half the rows in files and half in the log.
fn make(dir: &Path) -> Store {
    let store = Store::open(dir).unwrap();
    let family = FamilyDescriptor::new("d").unwrap().attribute("BLOCKSIZE", "4096");
    let mail = TableDescriptor::new(name("mail"))
        .family(family)
        .attribute(KEY_ATTRIBUTE, "1 [user digits 4]-[box digits 2]")
        .attribute(COLUMNS_ATTRIBUTE, "1 d:s sender text")
        .attribute(INDEXES_ATTRIBUTE, INDEXES);
    store.create_table(mail, &["0500".into()]).unwrap();
    let mail = store.table(&name("mail")).unwrap();
    for row in 0..ROWS {
        mail.mutate(&put(row)).unwrap();
        if row == ROWS / 2 {
            store.tables().iter().for_each(|table| table.flush().unwrap());
        }
    }
    store
}

fn files(dir: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(dir.join("files")).unwrap();
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn count(store: &Store, table: &str) -> usize {
    let mut rows = store.table(&name(table)).unwrap().scan(Scan::all()).unwrap();
    std::iter::from_fn(|| rows.next().unwrap()).count()
}

fn settle(store: &Store, index: &str) {
    while !store.index_state(&name("mail"), index).unwrap().is_ready() {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Checks that the indexes in a salvaged store become ready and have the entries for `rows`.
fn check_indexes(dir: &Path, rows: usize) {
    let store = Store::open(dir).unwrap();
    for index in ["by_sender", "by_box"] {
        settle(&store, index);
        let report = store.verify_index(&name("mail"), index, |_| {}).unwrap();
        assert!(report.is_clean(), "{index} {report:?}");
        assert_eq!(count(&store, &format!("mail.{index}")), rows, "{index}");
    }
    assert_eq!(count(&store, "mail"), rows);
    // Later changes keep them.
    let mail = store.table(&name("mail")).unwrap();
    mail.mutate(&put(9_999)).unwrap();
    assert_eq!(count(&store, "mail.by_sender"), rows + 1);
}

#[test]
fn the_indexes_of_a_salvaged_table_are_built_anew() {
    let dir = tempfile::tempdir().unwrap();
    drop(make(dir.path()));
    let into = tempfile::tempdir().unwrap();
    let report = salvage(dir.path(), into.path(), |_| {}).unwrap();
    assert!(report.lost.is_empty(), "{report:?}");
    check_indexes(into.path(), ROWS);
}

#[test]
fn an_index_has_no_entries_of_rows_that_are_lost() {
    let dir = tempfile::tempdir().unwrap();
    let store = make(dir.path());
    let mail = store.table(&name("mail")).unwrap();
    mail.flush().unwrap();
    let paths = mail.regions()[0].file_paths(&[]).unwrap();
    drop((mail, store));
    let file = dir.path().join(&paths[0]);
    let mut bytes = fs::read(&file).unwrap();
    bytes[5_000] ^= 1;
    fs::write(&file, bytes).unwrap();
    // As if the log had been removed.
    for segment in fs::read_dir(dir.path().join("wal")).unwrap() {
        let path = segment.unwrap().path();
        let mut bytes = fs::read(&path).unwrap();
        let len = bytes.len();
        bytes[len.min(200)..].fill(0);
        fs::write(&path, bytes).unwrap();
    }
    let into = tempfile::tempdir().unwrap();
    let report = salvage(dir.path(), into.path(), |_| {}).unwrap();
    assert!(!report.lost.is_empty());
    let rows = count(&Store::open(into.path()).unwrap(), "mail");
    assert!((1..ROWS).contains(&rows), "{rows}");
    check_indexes(into.path(), rows);
}

#[test]
fn indexes_of_a_disabled_table_are_built_once_it_is_enabled() {
    let dir = tempfile::tempdir().unwrap();
    make(dir.path()).disable_table(&name("mail")).unwrap();
    let into = tempfile::tempdir().unwrap();
    salvage(dir.path(), into.path(), |_| {}).unwrap();
    let store = Store::open(into.path()).unwrap();
    let state = store.index_state(&name("mail"), "by_sender").unwrap();
    assert_eq!(state, IndexState::Building { next_row: "".into() });
    store.enable_table(&name("mail")).unwrap();
    drop(store);
    check_indexes(into.path(), ROWS);
}

#[test]
fn a_copy_is_salvaged_as_a_table_if_nothing_is_left_of_its_base() {
    let dir = tempfile::tempdir().unwrap();
    let store = make(dir.path());
    let copy = store.table(&name("mail.by_box")).unwrap();
    copy.flush().unwrap();
    let paths = copy.regions()[0].file_paths(&[]).unwrap();
    drop((copy, store));
    for path in files(dir.path()) {
        if !paths.iter().any(|it| path.ends_with(it)) {
            fs::remove_file(path).unwrap();
        }
    }
    for copy in ["MANIFEST", "MANIFEST.copy"] {
        fs::remove_file(dir.path().join(copy)).unwrap();
    }
    let into = tempfile::tempdir().unwrap();
    let report = salvage(dir.path(), into.path(), |_| {}).unwrap();
    let is_reported = |text: &str| report.lost.iter().any(|lost| lost.message().contains(text));
    assert!(is_reported("table=mail.by_box, index=by_box of mail"), "{report:?}");
    let store = Store::open(into.path()).unwrap();
    assert_eq!(count(&store, "mail.by_box"), ROWS);
    let copy = store.table(&name("mail.by_box")).unwrap();
    assert_eq!(IndexOf::of_table(copy.descriptor()).unwrap(), None);
    copy.mutate(&put(1)).unwrap();
}
