//! A write after a delete is visible, even within one millisecond on a clock that is slower than
//! the writers.

use std::sync::Arc;

use rowhouse_model::{
    Append, Delete, FamilyDescriptor, Get, Increment, Mutation, Put, TableDescriptor, TableName,
    Timestamp,
};
use rowhouse_store::{Clock, Store, Table};

struct StandsStill;

impl Clock for StandsStill {
    fn now_millis(&self) -> i64 {
        1_669_852_800_000
    }
}

fn table() -> (tempfile::TempDir, Store, Arc<Table>) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::builder(dir.path()).with_clock(StandsStill).open().unwrap();
    let name = TableName::parse("t").unwrap();
    let family = FamilyDescriptor::new("f").unwrap();
    store.create_table(TableDescriptor::new(name.clone()).family(family), &[]).unwrap();
    let table = store.table(&name).unwrap();
    (dir, store, table)
}

fn put(value: &str) -> Mutation {
    Put::new("row").unwrap().add("f", "q", value).unwrap().into()
}

fn deletes() -> [Mutation; 3] {
    let delete = || Delete::new("row").unwrap();
    [
        delete().into(),
        delete().family("f", Timestamp::LATEST).unwrap().into(),
        delete().column("f", "q", Timestamp::LATEST).unwrap().into(),
    ]
}

fn value(table: &Table) -> Option<Vec<u8>> {
    let row = table.get(&Get::new("row").unwrap()).unwrap();
    row.cells().next().map(|cell| cell.value().to_vec())
}

#[test]
fn a_put_an_append_and_an_increment_after_a_delete_are_visible() {
    let (_dir, _store, table) = table();
    for delete in deletes() {
        let increment = Increment::new("row").unwrap().add("f", "q", 7).unwrap().into();
        let append = Append::new("row").unwrap().add("f", "q", "a").unwrap().into();
        let writes = [(put("b"), b"b".to_vec()), (append, b"a".to_vec())];
        for (write, seen) in writes.into_iter().chain([(increment, 7i64.to_be_bytes().to_vec())]) {
            table.mutate(&put("before")).unwrap();
            table.mutate(&delete).unwrap();
            assert_eq!(value(&table), None, "{delete:?}");
            table.mutate(&write).unwrap();
            assert_eq!(value(&table), Some(seen), "{write:?} behind {delete:?}");
            table.mutate(&delete).unwrap();
        }
    }
}

#[test]
fn a_delete_covers_earlier_increments_and_appends() {
    for delete in deletes() {
        let increment: Mutation = Increment::new("row").unwrap().add("f", "q", 7).unwrap().into();
        let append: Mutation = Append::new("row").unwrap().add("f", "q", "a").unwrap().into();
        for write in [increment, append] {
            let (_dir, _store, table) = table();
            // Each timestamp is above the one before, so the second is ahead of the clock.
            table.mutate(&write).unwrap();
            table.mutate(&write).unwrap();
            table.mutate(&delete).unwrap();
            assert_eq!(value(&table), None, "{delete:?} behind {write:?}");
        }
    }
}

#[test]
fn so_are_those_of_batches_and_transactions() {
    let (_dir, store, table) = table();
    for delete in deletes() {
        let batch = |mutations: Vec<Mutation>| {
            table.batch(mutations).into_iter().for_each(|outcome| drop(outcome.unwrap()));
        };
        batch(vec![put("before"), delete.clone()]);
        assert_eq!(value(&table), None);
        batch(vec![put("behind")]);
        assert_eq!(value(&table), Some(b"behind".to_vec()));
        let transact = |mutation: &Mutation| {
            store.transact(|transaction| transaction.mutate(&table, mutation.clone())).unwrap();
        };
        transact(&delete);
        assert_eq!(value(&table), None);
        table.mutate(&put("behind a transaction")).unwrap();
        assert_eq!(value(&table), Some(b"behind a transaction".to_vec()));
        table.mutate(&delete).unwrap();
        transact(&put("in a transaction"));
        assert_eq!(value(&table), Some(b"in a transaction".to_vec()));
    }
}
