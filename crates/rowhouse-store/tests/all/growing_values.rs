//! Appends and increments: changes to an existing value, and detecting retries.

use std::path::Path;

use rowhouse_model::{
    Append, Cell, CellKind, Delete, FamilyDescriptor, Get, Increment, Mutation, Nonce, Put, Row,
    TableDescriptor, TableName, Tags, TimeRange, Timestamp, tags_with_ttl,
};
use rowhouse_store::{CompactionKind, Store, Table};

fn open(dir: &Path) -> Store {
    let store = Store::open(dir).unwrap();
    let name = TableName::parse("t").unwrap();
    if store.table(&name).is_err() {
        let family = |name| FamilyDescriptor::new(name).unwrap().versions(3);
        let table = TableDescriptor::new(name).family(family("a")).family(family("b"));
        store.create_table(table, &[]).unwrap();
    }
    store
}

fn with_table(test: impl FnOnce(&Table)) {
    let dir = tempfile::tempdir().unwrap();
    let store = open(dir.path());
    test(&store.table(&TableName::parse("t").unwrap()).unwrap());
}

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis).unwrap()
}

fn append(value: &str) -> Append {
    Append::new("r").unwrap().add("a", "q", value).unwrap()
}

fn get(table: &Table) -> Row {
    table.get(&Get::new("r").unwrap()).unwrap()
}

/// `family:qualifier=value` of each cell.
fn show(row: &Row) -> String {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let show = |cell: rowhouse_model::KeyValue<'_>| {
        format!("{}:{}={}", text(cell.family()), text(cell.qualifier()), text(cell.value()))
    };
    row.cells().map(show).collect::<Vec<_>>().join(" ")
}

#[test]
fn values_grow_from_memory_and_from_files() {
    with_table(|table| {
        let first = table.mutate(&append("x").into()).unwrap();
        assert_eq!(show(&first.row), "a:q=x");
        let both = append("y").add("b", "p", "new").unwrap();
        assert_eq!(show(&table.mutate(&both.into()).unwrap().row), "a:q=xy b:p=new");
        table.flush().unwrap();
        let mut silent = append("z");
        silent.return_results = false;
        assert!(table.mutate(&silent.into()).unwrap().row.is_empty());
        assert_eq!(show(&get(table)), "a:q=xyz b:p=new");
        let versions = Get::new("r").unwrap().column("a", "q").versions(9);
        assert_eq!(show(&table.get(&versions).unwrap()), "a:q=xyz a:q=xy a:q=x");
    });
}

#[test]
fn an_append_starts_from_the_newest_value_in_its_time_range() {
    with_table(|table| {
        let put = Put::new("r").unwrap().add_at("a", "q", at(5), "old").unwrap();
        table.mutate(&put.add_at("a", "q", at(9), "new").unwrap().into()).unwrap();
        let mut request = append("+");
        request.time_range = TimeRange::new(at(0), at(9)).unwrap();
        assert_eq!(show(&table.mutate(&request.into()).unwrap().row), "a:q=old+");
    });
}

#[test]
fn nothing_of_a_row_changes_when_one_of_its_columns_cannot() {
    with_table(|table| {
        table.mutate(&Put::new("r").unwrap().add("b", "n", "short").unwrap().into()).unwrap();
        let request = Increment::new("r").unwrap().add("a", "n", 1).unwrap().add("b", "n", 1);
        let error = table.mutate(&request.unwrap().into()).unwrap_err();
        assert_eq!(error.message(), "Field is not a long, it's 5 bytes wide");
        assert_eq!(show(&get(table)), "b:n=short");
    });
}

#[test]
fn an_append_of_nothing_is_refused_and_one_of_an_empty_value_is_a_cell() {
    with_table(|table| {
        let nothing = Append::new("r").unwrap();
        let error = table.mutate(&nothing.into()).unwrap_err();
        assert_eq!(error.message(), "No columns to append");
        table.mutate(&append("").into()).unwrap();
        assert_eq!(show(&get(table)), "a:q=");
    });
}

#[test]
fn a_delete_ends_a_value_and_the_next_append_begins_another() {
    with_table(|table| {
        table.mutate(&append("x").into()).unwrap();
        table.mutate(&Delete::new("r").unwrap().into()).unwrap();
        // A delete marker hides puts in the same millisecond.
        std::thread::sleep(std::time::Duration::from_millis(2));
        table.mutate(&append("y").into()).unwrap();
        assert_eq!(show(&get(table)), "a:q=y");
    });
}

#[test]
fn a_time_to_live_is_stored_in_the_cells_and_carried_over_by_appends_and_increments() {
    with_table(|table| {
        let ttl_of = |row: &Row, family: &str| {
            let tags = row.cell(family, "q").unwrap().tags().to_vec();
            Tags::new(&tags).map(|(kind, bytes)| (kind, bytes.to_vec())).collect::<Vec<_>>()
        };
        let ttl = |millis: i64| vec![(8, millis.to_be_bytes().to_vec())];
        let day = 86_400_000;
        let mut put =
            Put::new("r").unwrap().add("a", "q", "x").unwrap().add("b", "q", "y").unwrap();
        put.ttl_millis = Some(day);
        table.mutate(&put.into()).unwrap();
        assert_eq!(ttl_of(&get(table), "b"), ttl(day));
        table.mutate(&append("+").into()).unwrap();
        assert_eq!(ttl_of(&get(table), "a"), ttl(day), "without one of its own");
        let mut longer = append("+");
        longer.ttl_millis = Some(2 * day);
        let grown = table.mutate(&longer.into()).unwrap();
        assert_eq!(ttl_of(&grown.row, "a"), ttl(2 * day));
        table.flush().unwrap();
        table.compact(CompactionKind::Major).unwrap();
        assert_eq!(ttl_of(&get(table), "a"), ttl(2 * day), "through a file");
        assert_eq!(show(&get(table)), "a:q=x++ b:q=y");
    });
}

#[test]
fn a_time_to_live_takes_the_place_of_the_one_in_the_tags_of_a_cell() {
    with_table(|table| {
        let cell = Cell::new("r", "a", "q", Timestamp::LATEST, CellKind::Put, "x").unwrap();
        let tags = tags_with_ttl(b"\0\x02\x40n", 86_400_000);
        let cell = Cell::from_parts(cell.key(), b"x", &tags).unwrap();
        let mut put = Put::of_cells("r", vec![cell]).unwrap();
        put.ttl_millis = Some(172_800_000);
        table.mutate(&put.into()).unwrap();
        let row = get(table);
        let expected = tags_with_ttl(b"\0\x02\x40n", 172_800_000);
        assert_eq!(row.cell("a", "q").unwrap().tags(), expected);
    });
}

/// Checks the result of each kind of retry, before and after a reopen.
#[test]
fn a_repetition_counts_once_and_returns_the_first_result() {
    let dir = tempfile::tempdir().unwrap();
    let name = TableName::parse("t").unwrap();
    let nonce = |number| Some(Nonce { group: 7, number });
    let grow = Mutation::from(append("x")).with_nonce(nonce(1));
    let count = Increment::new("r").unwrap().add("b", "n", 5).unwrap();
    let count = Mutation::from(count).with_nonce(nonce(2));
    let store = open(dir.path());
    let table = store.table(&name).unwrap();
    let grown = table.mutate(&grow).unwrap();
    let counted = table.mutate(&count).unwrap();
    table.mutate(&append("later").into()).unwrap();
    table
        .mutate(&Delete::new("r").unwrap().column("b", "n", Timestamp::LATEST).unwrap().into())
        .unwrap();
    for (again, first) in [(&grow, &grown), (&count, &counted)] {
        assert_eq!(&table.mutate(again).unwrap(), first);
        let batch = table.batch(vec![again.clone()]).remove(0).unwrap();
        assert_eq!(&batch, first, "in a batch");
    }
    assert_eq!(show(&get(&table)), "a:q=xlater");
    drop(table);
    store.close().unwrap();
    let store = open(dir.path());
    let table = store.table(&name).unwrap();
    assert_eq!(table.mutate(&grow).unwrap(), grown, "from the log");
    assert_eq!(show(&get(&table)), "a:q=xlater");
    let mut silent = append("x");
    silent.return_results = false;
    let silent = Mutation::from(silent).with_nonce(nonce(1));
    assert!(table.mutate(&silent).unwrap().row.is_empty());
}

#[test]
fn a_repetition_after_a_flush_dropped_its_result_returns_the_current_value() {
    let dir = tempfile::tempdir().unwrap();
    let name = TableName::parse("t").unwrap();
    let grow = Mutation::from(append("x")).with_nonce(Some(Nonce { group: 7, number: 1 }));
    let store = open(dir.path());
    let table = store.table(&name).unwrap();
    table.mutate(&grow).unwrap();
    for more in ["1", "2", "3"] {
        table.mutate(&append(more).into()).unwrap();
    }
    table.flush().unwrap();
    assert_eq!(show(&table.mutate(&grow).unwrap().row), "a:q=x123");
    drop(table);
    store.close().unwrap();
    let store = open(dir.path());
    let table = store.table(&name).unwrap();
    assert_eq!(show(&table.mutate(&grow).unwrap().row), "a:q=x123");
    assert_eq!(show(&get(&table)), "a:q=x123");
}
