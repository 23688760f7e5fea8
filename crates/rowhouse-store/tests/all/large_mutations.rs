//! The mutation size limit, and the errors of larger ones.

use std::path::Path;
use std::sync::Arc;

use rowhouse_model::{
    Append, Delete, ErrorKind, FamilyDescriptor, Get, Mutation, Put, TableDescriptor, TableName,
    Timestamp,
};
use rowhouse_store::{Settings, Store, Table};

fn open(dir: &Path, mutation_bytes_max: usize) -> (Store, Arc<Table>) {
    let settings = Settings { mutation_bytes_max, cell_bytes_max: 1000, ..Settings::default() };
    let store = Store::builder(dir).settings(settings).open().unwrap();
    let name = TableName::parse("t").unwrap();
    if store.table(&name).is_err() {
        let family = FamilyDescriptor::new("f").unwrap();
        store.create_table(TableDescriptor::new(name.clone()).family(family), &[]).unwrap();
    }
    let table = store.table(&name).unwrap();
    (store, table)
}

fn put(row: &str, len: usize) -> Mutation {
    Put::new(row.to_owned()).unwrap().add("f", "q", vec![b'v'; len]).unwrap().into()
}

fn len_of(table: &Table, row: &str) -> usize {
    let result = table.get(&Get::new(row.to_owned()).unwrap()).unwrap();
    result.value("f", "q").map_or(0, |value| value.len())
}

#[test]
fn a_larger_one_is_refused_with_its_size_and_the_limit() {
    let dir = tempfile::tempdir().unwrap();
    let (_store, table) = open(dir.path(), 16 << 20);
    table.mutate(&put("a", (16 << 20) - 200)).unwrap();
    let error = table.mutate(&put("b", 16 << 20)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidRequest);
    assert!(error.message().starts_with("mutation too long: len=1677"), "{error}");
    assert!(error.message().ends_with("max=16777216"), "{error}");
    assert_eq!((len_of(&table, "a"), len_of(&table, "b")), ((16 << 20) - 200, 0));
}

#[test]
fn in_a_batch_each_is_measured_by_itself() {
    let dir = tempfile::tempdir().unwrap();
    let (_store, table) = open(dir.path(), 16 << 20);
    let lens = [7 << 20, 15 << 20, 1 << 20, 17 << 20, 7 << 20, 7 << 20];
    let batch = (0..).zip(lens).map(|(row, len)| put(&format!("{row}"), len)).collect::<Vec<_>>();
    let refused: Vec<_> = table.batch(batch).iter().map(Result::is_err).collect();
    assert_eq!(refused, [false, false, false, true, false, false]);
    assert_eq!(len_of(&table, "1"), 15 << 20);
}

#[test]
fn one_of_300_mib_is_stored_where_the_limit_is_1_gib() {
    let dir = tempfile::tempdir().unwrap();
    let (store, table) = open(dir.path(), 1 << 30);
    table.mutate(&put("a", 300 << 20)).unwrap();
    assert_eq!(len_of(&table, "a"), 300 << 20);
    store.close().unwrap();
    // The limit applies to writes: the log and files are read regardless of it.
    let (_store, table) = open(dir.path(), 16 << 20);
    assert_eq!(len_of(&table, "a"), 300 << 20);
    table.flush().unwrap();
    assert_eq!(len_of(&table, "a"), 300 << 20);
}

#[test]
fn a_cell_grows_up_to_its_limit() {
    let dir = tempfile::tempdir().unwrap();
    let (_store, table) = open(dir.path(), 16 << 20);
    let append = |len| Append::new("r").unwrap().add("f", "q", vec![b'v'; len]).unwrap().into();
    table.mutate(&append(900)).unwrap();
    let error = table.mutate(&append(100)).unwrap_err();
    assert_eq!(error.message(), "Cell with size 1027 exceeds limit of 1000 bytes");
}

#[test]
fn limits_out_of_bounds_are_refused_when_the_store_is_opened() {
    for mutation_bytes_max in [0, (16 << 20) - 1, (1 << 30) + 1] {
        let dir = tempfile::tempdir().unwrap();
        let settings = Settings { mutation_bytes_max, ..Settings::default() };
        let Err(error) = Store::builder(dir.path()).settings(settings).open() else {
            panic!("opened with {mutation_bytes_max}")
        };
        assert_eq!(error.kind(), ErrorKind::InvalidRequest);
        assert!(error.message().contains("min=16777216, max=1073741824"), "{error}");
    }
}

/// Returns a delete of the newest `versions` versions in each of `columns` columns.
fn newest(columns: u32, versions: u32) -> Delete {
    (0..versions * columns).fold(Delete::new("r").unwrap(), |delete, number| {
        delete.version("f", (number % columns).to_be_bytes(), Timestamp::LATEST).unwrap()
    })
}

#[test]
fn the_newest_versions_of_very_many_columns_are_deleted_at_once() {
    const COLUMNS: u32 = 40_000;
    let dir = tempfile::tempdir().unwrap();
    let (_store, table) = open(dir.path(), 64 << 20);
    let put = (0..COLUMNS).fold(Put::new("r").unwrap(), |put, column| {
        put.add("f", column.to_be_bytes(), "v").unwrap()
    });
    table.mutate(&put.into()).unwrap();
    table.mutate(&newest(COLUMNS - 1, 1).into()).unwrap();
    let row = table.get(&Get::new("r").unwrap()).unwrap();
    let left: Vec<_> = row.cells().map(|cell| cell.qualifier().to_vec()).collect();
    assert_eq!(left, [(COLUMNS - 1).to_be_bytes()]);
}

#[test]
fn the_newest_versions_of_one_column_are_deleted_at_once_from_the_newest_on() {
    const VERSIONS: u32 = 20_000;
    let dir = tempfile::tempdir().unwrap();
    let (store, _) = open(dir.path(), 64 << 20);
    let family = FamilyDescriptor::new("f").unwrap().versions(2 * VERSIONS);
    let name = TableName::parse("versions").unwrap();
    store.create_table(TableDescriptor::new(name.clone()).family(family), &[]).unwrap();
    let table = store.table(&name).unwrap();
    let put = (1..=VERSIONS).fold(Put::new("r").unwrap(), |put, millis| {
        let at = Timestamp::from_millis(millis.into()).unwrap();
        put.add_at("f", 0u32.to_be_bytes(), at, "v").unwrap()
    });
    table.mutate(&put.into()).unwrap();
    let left = || {
        let row = table.get(&Get::new("r").unwrap().versions(u32::MAX)).unwrap();
        row.cells().map(|cell| cell.timestamp().as_millis()).collect::<Vec<_>>()
    };
    table.mutate(&newest(1, VERSIONS - 2).into()).unwrap();
    assert_eq!(left(), [2, 1]);
    // A missing version is deleted at the current time.
    table.mutate(&newest(1, 3).into()).unwrap();
    assert_eq!(left(), [0i64; 0]);
}
