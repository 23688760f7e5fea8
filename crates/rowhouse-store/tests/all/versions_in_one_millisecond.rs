//! Puts without a timestamp are separate versions even if they come faster than the clock ticks,
//! and later writes take effect over them.

use std::sync::Arc;

use rowhouse_model::{
    Bytes, Delete, FamilyDescriptor, Get, Increment, Mutation, Put, Snapshot, TableDescriptor,
    TableName, Timestamp,
};
use rowhouse_store::{Clock, Store, Table};

/// How far, in milliseconds, versions run ahead of the clock: `docs/hbase.md`.
const AHEAD_MILLIS_MAX: i64 = 100;

const NOW: i64 = 1_669_852_800_000;

struct StandsStill;

impl Clock for StandsStill {
    fn now_millis(&self) -> i64 {
        NOW
    }
}

fn name() -> TableName {
    TableName::parse("t").unwrap()
}

fn open(dir: &tempfile::TempDir) -> (Store, Arc<Table>) {
    let store = Store::builder(dir.path()).with_clock(StandsStill).open().unwrap();
    if store.table(&name()).is_err() {
        let family =
            |name: &'static str, versions| FamilyDescriptor::new(name).unwrap().versions(versions);
        let table = TableDescriptor::new(name()).family(family("one", 1));
        store.create_table(table.family(family("f", 5)).family(family("many", 1000)), &[]).unwrap();
    }
    let table = store.table(&name()).unwrap();
    (store, table)
}

fn put(family: &'static str, value: impl ToString) -> Mutation {
    Put::new("row").unwrap().add(family, "q", value.to_string()).unwrap().into()
}

/// Returns the values of all versions, newest first.
fn values(table: &Table, family: &'static str) -> Vec<String> {
    let get = Get::new("row").unwrap().column(family, "q").versions(10_000);
    let row = table.get(&get).unwrap();
    row.cells().map(|cell| String::from_utf8_lossy(cell.value()).into_owned()).collect()
}

fn newest_millis(table: &Table, family: &'static str) -> i64 {
    let row = table.get(&Get::new("row").unwrap().column(family, "q")).unwrap();
    row.cells().next().unwrap().timestamp().as_millis()
}

#[test]
fn the_last_versions_of_puts_in_one_millisecond_are_retained() {
    let dir = tempfile::tempdir().unwrap();
    let (_store, table) = open(&dir);
    for value in 1..=50 {
        table.mutate(&put("f", value)).unwrap();
    }
    assert_eq!(values(&table, "f"), ["50", "49", "48", "47", "46"]);
}

#[test]
fn versions_run_ahead_of_the_clock_up_to_a_bound_and_the_last_put_is_seen_beyond_it() {
    let dir = tempfile::tempdir().unwrap();
    let (_store, table) = open(&dir);
    for value in 0..AHEAD_MILLIS_MAX + 10 {
        table.mutate(&put("many", value)).unwrap();
    }
    let values = values(&table, "many");
    assert_eq!(values.len() as i64, AHEAD_MILLIS_MAX + 1);
    assert_eq!(values[0], (AHEAD_MILLIS_MAX + 9).to_string());
    assert_eq!(newest_millis(&table, "many"), NOW + AHEAD_MILLIS_MAX);
}

#[test]
fn with_one_version_timestamps_are_those_of_the_clock() {
    let dir = tempfile::tempdir().unwrap();
    let (_store, table) = open(&dir);
    for value in 1..=10 {
        table.mutate(&put("one", value)).unwrap();
    }
    assert_eq!((values(&table, "one"), newest_millis(&table, "one")), (vec!["10".into()], NOW));
}

#[test]
fn a_delete_without_a_time_covers_versions_ahead_of_the_clock_and_a_put_after_it_is_seen() {
    let delete = || Delete::new("row").unwrap();
    let deletes: [Mutation; 3] = [
        delete().into(),
        delete().family("f", Timestamp::LATEST).unwrap().into(),
        delete().column("f", "q", Timestamp::LATEST).unwrap().into(),
    ];
    let dir = tempfile::tempdir().unwrap();
    let (store, table) = open(&dir);
    let batch = |mutation: Mutation| {
        table.batch(vec![mutation]).into_iter().for_each(|outcome| drop(outcome.unwrap()));
    };
    let nothing: [&str; 0] = [];
    for delete in deletes {
        for _ in 0..3 {
            table.mutate(&put("f", "before")).unwrap();
        }
        table.mutate(&delete).unwrap();
        assert_eq!(values(&table, "f"), nothing, "{delete:?}");
        batch(put("f", "a"));
        batch(put("f", "b"));
        assert_eq!(values(&table, "f"), ["b", "a"]);
        batch(delete.clone());
        assert_eq!(values(&table, "f"), nothing, "{delete:?} in a batch");
        let transact = |mutation: &Mutation| {
            store.transact(|transaction| transaction.mutate(&table, mutation.clone())).unwrap();
        };
        transact(&put("f", "c"));
        transact(&put("f", "d"));
        assert_eq!(values(&table, "f"), ["d", "c"]);
        transact(&delete);
        assert_eq!(values(&table, "f"), nothing, "{delete:?} in a transaction");
        store.commit(&[(Arc::clone(&table), put("f", "e"))]).unwrap();
        store.commit(&[(Arc::clone(&table), put("f", "g"))]).unwrap();
        assert_eq!(values(&table, "f"), ["g", "e"]);
        store.commit(&[(Arc::clone(&table), delete.clone())]).unwrap();
        assert_eq!(values(&table, "f"), nothing, "{delete:?} in a commit");
    }
}

#[test]
fn a_put_after_increments_takes_their_place() {
    let dir = tempfile::tempdir().unwrap();
    let (_store, table) = open(&dir);
    let increment: Mutation = Increment::new("row").unwrap().add("one", "q", 1).unwrap().into();
    for _ in 0..50 {
        table.mutate(&increment).unwrap();
    }
    table.mutate(&put("one", "put")).unwrap();
    assert_eq!(values(&table, "one"), ["put"]);
}

/// Writes versions ahead of the clock, applies `change`, and expects a delete to cover them and a
/// put to be visible.
fn in_force_after(change: impl Fn(Store, Arc<Table>, &tempfile::TempDir) -> (Store, Arc<Table>)) {
    let nothing: [&str; 0] = [];
    let dir = tempfile::tempdir().unwrap();
    let (mut store, mut table) = open(&dir);
    for round in 0..5 {
        table.mutate(&put("f", round)).unwrap();
    }
    (store, table) = change(store, table, &dir);
    table.mutate(&put("f", "after")).unwrap();
    assert_eq!(values(&table, "f")[0], "after");
    (store, table) = change(store, table, &dir);
    table.mutate(&Delete::new("row").unwrap().into()).unwrap();
    assert_eq!(values(&table, "f"), nothing);
    drop((store, table));
}

#[test]
fn writes_are_in_force_after_versions_ahead_of_the_clock_in_a_store_that_is_opened_again() {
    in_force_after(|store, table, dir| {
        drop((store, table));
        open(dir)
    });
}

#[test]
fn writes_are_in_force_after_versions_ahead_of_the_clock_in_a_region_that_was_split() {
    in_force_after(|store, table, _| {
        let last = table.regions().len() - 1;
        let region = table.regions()[last].name().full.clone();
        store.split_region(&region, Some(Bytes::from(["m", "z"][last]))).unwrap();
        let table = store.table(&name()).unwrap();
        (store, table)
    });
}

#[test]
fn writes_are_in_force_after_versions_ahead_of_the_clock_in_a_clone() {
    in_force_after(|store, table, _| {
        let name = table.name().clone();
        let clone = TableName::parse(&format!("{}x", table.name()));
        let clone = clone.unwrap();
        store.take_snapshot(Snapshot::new("s", name).unwrap()).unwrap();
        store.clone_snapshot("s", &clone).unwrap();
        store.delete_snapshot("s").unwrap();
        let table = store.table(&clone).unwrap();
        (store, table)
    });
}

#[test]
fn a_family_reduced_to_one_version_shows_later_puts() {
    in_force_after(|store, table, _| {
        let one = FamilyDescriptor::new("f").unwrap().versions(1);
        store.alter_family(table.name(), one).unwrap();
        (store, table)
    });
}

#[test]
fn rows_that_are_loaded_take_the_place_of_versions_ahead_of_the_clock() {
    let dir = tempfile::tempdir().unwrap();
    let (store, table) = open(&dir);
    for round in 0..5 {
        table.mutate(&put("f", round)).unwrap();
    }
    let Mutation::Put(loaded) = put("f", "loaded") else { unreachable!() };
    let mut rows = vec![loaded.cells().to_vec()].into_iter();
    store.load_rows(&name(), || Ok(rows.next())).unwrap();
    assert_eq!(values(&table, "f")[0], "loaded");
}
