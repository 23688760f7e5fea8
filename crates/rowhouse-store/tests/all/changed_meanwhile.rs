//! Concurrent changes to tables during exports, loads, transactions and copies.

use std::sync::Arc;

use rowhouse_model::{Bytes, Delete, FamilyDescriptor, Get, Put, Scan, TableDescriptor, TableName};
use rowhouse_store::{ExportedCells, Store, Table, files_to_load};

fn name() -> TableName {
    TableName::parse("t").unwrap()
}

fn make(store: &Store, family: &str, attributes: &[(&str, &str)], splits: &[Bytes]) {
    let family = FamilyDescriptor::new(family.to_owned()).unwrap();
    let mut table = TableDescriptor::new(name()).family(family);
    for (key, value) in attributes {
        table = table.attribute((*key).to_owned(), (*value).to_owned());
    }
    store.create_table(table, splits).unwrap();
}

fn put(table: &Table, row: &str, family: &str, value: &str) {
    let put = Put::new(row.to_owned()).unwrap();
    table.mutate(&put.add(family, "q", value).unwrap().into()).unwrap();
}

fn rows(table: &Arc<Table>) -> Vec<String> {
    let mut scanner = table.scan(Scan::all()).unwrap();
    std::iter::from_fn(|| scanner.next().unwrap())
        .map(|row| String::from_utf8_lossy(row.key()).into_owned())
        .collect()
}

#[test]
fn an_export_after_a_split_keeps_to_the_rows_of_each_region() {
    let dir = tempfile::tempdir().unwrap();
    let out = tempfile::tempdir().unwrap();
    let to = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    make(&store, "f", &[("COMPACTION_ENABLED", "false")], &[]);
    let table = store.table(&name()).unwrap();
    for row in ["a", "b", "m", "n"] {
        put(&table, row, "f", row);
    }
    table.flush().unwrap();
    store.split_region(&table.regions()[0].name().full, Some("m".into())).unwrap();
    let table = store.table(&name()).unwrap();
    table.mutate(&Delete::new("n").unwrap().into()).unwrap();
    let want = rows(&table);
    assert_eq!(want, ["a", "b", "m"]);
    let report = store.export_hfiles(&name(), out.path(), ExportedCells::Retained, |_| {}).unwrap();
    let other = Store::open(to.path()).unwrap();
    make(&other, "f", &[], &[]);
    other.bulk_load(&name(), &files_to_load(out.path()).unwrap(), |_| {}).unwrap();
    let have = rows(&other.table(&name()).unwrap());
    assert_eq!((have, report.cells), (want, 3));
}

#[test]
fn a_table_that_was_disabled_meanwhile_takes_no_load() {
    let dir = tempfile::tempdir().unwrap();
    let out = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    make(&store, "f", &[], &[]);
    let table = store.table(&name()).unwrap();
    put(&table, "a", "f", "a");
    store.export_hfiles(&name(), out.path(), ExportedCells::Retained, |_| {}).unwrap();
    table.mutate(&Delete::new("a").unwrap().into()).unwrap();
    let files = files_to_load(out.path()).unwrap();
    let mut steps = 0;
    let loaded = store.bulk_load(&name(), &files, |_| {
        steps += 1;
        if steps == 2 {
            // All files are read; only the installation is left.
            store.disable_table(&name()).unwrap();
        }
    });
    assert!(loaded.is_err(), "{loaded:?}");
}

#[test]
fn a_transaction_restarts_if_rows_it_read_were_truncated() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    make(&store, "f", &[], &[]);
    let other = TableName::parse("u").unwrap();
    let family = FamilyDescriptor::new("f").unwrap();
    store.create_table(TableDescriptor::new(other.clone()).family(family), &[]).unwrap();
    let t = store.table(&name()).unwrap();
    let u = store.table(&other).unwrap();
    put(&t, "a", "f", "a");
    let mut times = 0;
    store
        .transact(|transaction| {
            times += 1;
            let t = store.table(&name()).unwrap();
            let row = transaction.get(&t, &Get::new("a").unwrap())?;
            let copied = format!("a is there: {}", row.value("f", "q").is_some());
            if times == 1 {
                store.disable_table(&name()).unwrap();
                store.truncate_table(&name(), true).unwrap();
            }
            transaction.mutate(&u, Put::new("a").unwrap().add("f", "q", copied).unwrap())?;
            Ok(())
        })
        .unwrap();
    let row = u.get(&Get::new("a").unwrap()).unwrap();
    let text = String::from_utf8(row.value("f", "q").unwrap().to_vec()).unwrap();
    assert_eq!((text.as_str(), times), ("a is there: false", 2));
}

#[test]
fn a_transaction_begins_again_where_its_table_is_newer_than_its_read_point() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    make(&store, "f", &[], &[]);
    put(&store.table(&name()).unwrap(), "a", "f", "a");
    let mut times = 0;
    store
        .transact(|transaction| {
            times += 1;
            if times == 1 {
                store.disable_table(&name()).unwrap();
                store.truncate_table(&name(), true).unwrap();
            }
            let t = store.table(&name()).unwrap();
            assert!(transaction.get(&t, &Get::new("a")?)?.is_empty());
            transaction.mutate(&t, Put::new("a")?.add("f", "q", "b")?).map(|_| ())
        })
        .unwrap();
    assert_eq!((times, rows(&store.table(&name()).unwrap())), (2, vec!["a".to_owned()]));
}

struct StandingClock;

impl rowhouse_store::Clock for StandingClock {
    fn now_millis(&self) -> i64 {
        1_700_000_000_000
    }
}

#[test]
fn rows_that_are_loaded_after_a_delete_are_visible() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::builder(dir.path()).with_clock(StandingClock).open().unwrap();
    make(&store, "f", &[], &[]);
    let table = store.table(&name()).unwrap();
    for row in ["put", "loaded"] {
        put(&table, row, "f", "old");
        table.mutate(&Delete::new(row).unwrap().into()).unwrap();
    }
    let cell = rowhouse_model::Cell::new(
        b"loaded",
        b"f",
        b"q",
        rowhouse_model::Timestamp::LATEST,
        rowhouse_model::CellKind::Put,
        b"new",
    );
    let mut cells = Some(vec![cell.unwrap()]);
    store.load_rows(&name(), || Ok(cells.take())).unwrap();
    put(&table, "put", "f", "new");
    assert_eq!(rows(&table), ["loaded", "put"]);
}

#[test]
fn files_of_snapshots_splits_and_merges_stay_as_long_as_somebody_names_them() {
    let dir = tempfile::tempdir().unwrap();
    let other = TableName::parse("c").unwrap();
    let family = FamilyDescriptor::new("f").unwrap();
    let store = Store::open(dir.path()).unwrap();
    store.create_table(TableDescriptor::new(name()).family(family), &[]).unwrap();
    let table = store.table(&name()).unwrap();
    for row in ["a", "b", "m", "n"] {
        put(&table, row, "f", row);
    }
    table.flush().unwrap();
    store.split_region(&table.regions()[0].name().full, Some("m".into())).unwrap();
    store.take_snapshot(rowhouse_model::Snapshot::new("s", name()).unwrap()).unwrap();
    store.clone_snapshot("s", &other).unwrap();
    let clone = store.table(&other).unwrap();
    let names: Vec<_> = clone.regions().iter().map(|region| region.name().full.clone()).collect();
    put(&clone, "c", "f", "c");
    store.merge_regions(&[&names[0], &names[1]]).unwrap();
    store.disable_table(&name()).unwrap();
    store.truncate_table(&name(), false).unwrap();
    store.table(&other).unwrap().compact(rowhouse_store::CompactionKind::Major).unwrap();
    store.disable_table(&name()).unwrap();
    store.restore_snapshot("s").unwrap();
    store.enable_table(&name()).unwrap();
    store.delete_snapshot("s").unwrap();
    assert_eq!(rows(&store.table(&name()).unwrap()), ["a", "b", "m", "n"]);
    assert_eq!(rows(&store.table(&other).unwrap()), ["a", "b", "c", "m", "n"]);
    store.disable_table(&other).unwrap();
    store.drop_table(&other).unwrap();
    store.table(&name()).unwrap().compact(rowhouse_store::CompactionKind::Major).unwrap();
    drop((table, clone));
    store.close().unwrap();
    drop(store);
    let checked = rowhouse_store::check(dir.path(), |_| {}).unwrap();
    assert!(checked.problems.is_empty() && checked.strangers.is_empty(), "{checked:?}");
    let store = Store::open(dir.path()).unwrap();
    assert_eq!(rows(&store.table(&name()).unwrap()), ["a", "b", "m", "n"]);
}

#[test]
fn a_family_whose_name_begins_with_an_underscore_is_loaded() {
    let dir = tempfile::tempdir().unwrap();
    let out = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    make(&store, "_f", &[], &[]);
    put(&store.table(&name()).unwrap(), "a", "_f", "a");
    store.export_hfiles(&name(), out.path(), ExportedCells::Retained, |_| {}).unwrap();
    std::fs::write(out.path().join("_SUCCESS"), "").unwrap();
    let files = files_to_load(out.path()).unwrap();
    assert_eq!(files.iter().map(|(family, _)| &family[..]).collect::<Vec<_>>(), [b"_f"]);
}
