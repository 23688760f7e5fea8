//! Delete markers among a put's cells, as sent by programs that copy tables.

use rowhouse_model::{
    Cell, CellKind, Delete, FamilyDescriptor, Get, Put, TableDescriptor, TableName, Timestamp,
};
use rowhouse_store::{Store, Table};

fn with_table(test: impl FnOnce(&Table)) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let family = FamilyDescriptor::new("f").unwrap().versions(5);
    let table = TableDescriptor::new(TableName::parse("t").unwrap()).family(family);
    store.create_table(table, &[]).unwrap();
    test(&store.table(&TableName::parse("t").unwrap()).unwrap());
}

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis).unwrap()
}

fn marker(kind: CellKind, qualifier: &str, timestamp: Timestamp) -> Cell {
    Cell::new("r", "f", qualifier, timestamp, kind, "").unwrap()
}

/// Returns the versions of `f:a`, newest first.
fn versions(table: &Table) -> Vec<i64> {
    let row = table.get(&Get::new("r").unwrap().column("f", "a").versions(5)).unwrap();
    row.cells().map(|cell| cell.timestamp().as_millis()).collect()
}

fn write(table: &Table, cells: Vec<Cell>) {
    table.mutate(&Put::of_cells("r", cells).unwrap().into()).unwrap();
}

#[test]
fn each_covers_the_cells_of_its_kind_beside_the_cells_that_are_put() {
    for (marked, left) in [
        (marker(CellKind::DeleteVersion, "a", at(2)), vec![9, 3, 1]),
        (marker(CellKind::DeleteColumn, "a", at(2)), vec![9, 3]),
        (marker(CellKind::DeleteFamily, "", at(2)), vec![9, 3]),
        (marker(CellKind::DeleteFamilyVersion, "", at(2)), vec![9, 3, 1]),
    ] {
        with_table(|table| {
            for time in 1..=3 {
                write(table, vec![marker(CellKind::Put, "a", at(time))]);
            }
            write(table, vec![marked.clone(), marker(CellKind::Put, "a", at(9))]);
            assert_eq!(versions(table), left, "{:?}", marked.kind());
            table.flush().unwrap();
            assert_eq!(versions(table), left, "{:?}, in a file", marked.kind());
        });
    }
}

#[test]
fn one_of_a_version_without_a_time_is_of_now_and_does_not_look_for_the_newest() {
    with_table(|table| {
        write(table, vec![marker(CellKind::Put, "a", at(1))]);
        write(table, vec![marker(CellKind::DeleteVersion, "a", Timestamp::LATEST)]);
        assert_eq!(versions(table), [1]);
        let delete = Delete::new("r").unwrap().version("f", "a", Timestamp::LATEST).unwrap();
        table.mutate(&delete.into()).unwrap();
        assert!(versions(table).is_empty());
    });
}

#[test]
fn one_of_a_column_without_a_time_covers_earlier_cells() {
    with_table(|table| {
        write(table, vec![marker(CellKind::Put, "a", at(1))]);
        write(table, vec![marker(CellKind::DeleteColumn, "a", Timestamp::LATEST)]);
        assert!(versions(table).is_empty());
    });
}
