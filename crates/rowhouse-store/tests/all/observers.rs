//! Observers see each change to a row before it is committed, and may refuse it or add to it.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;
use proptest::prelude::*;
use rowhouse_model::{
    Append, Bytes, Columns, Condition, Delete, Durability, Error, ErrorKind, FamilyDescriptor, Get,
    Increment, Mutation, Put, Result, Row, RowCondition, RowRange, Scan, Snapshot, TableDescriptor,
    TableName, Timestamp,
};
use rowhouse_store::{
    Additions, CompactionSettings, ExportedCells, OBSERVERS_ATTRIBUTE, Observer, RowChange,
    Settings, Store, Table, TableChange, Transaction, files_to_load, named_observers,
    with_observers,
};

use crate::histories::copy_of_store;

fn table_name(name: &str) -> TableName {
    TableName::parse(name).unwrap()
}

fn create(store: &Store, name: &str) -> Arc<Table> {
    let family = FamilyDescriptor::new("f").unwrap().versions(100);
    let table = TableDescriptor::new(table_name(name)).family(family);
    store.create_table(table, &["m".into()]).unwrap();
    store.table(&table_name(name)).unwrap()
}

fn put(row: &str, qualifier: &str, value: &str) -> Put {
    let qualifier = qualifier.to_owned();
    Put::new(row.to_owned()).unwrap().add("f", qualifier, value).unwrap()
}

fn get(table: &Table, row: &str) -> Row {
    table.get(&Get::new(row.to_owned()).unwrap()).unwrap()
}

fn count(table: &Table, row: &str) -> i64 {
    get(table, row).counter("f", "n").unwrap().unwrap_or(0)
}

/// The newest cells of a row as text.
fn text(row: &Row) -> String {
    let cells = row.cells().map(|cell| {
        let qualifier = String::from_utf8_lossy(cell.qualifier());
        format!("{qualifier}@{}={}", cell.timestamp(), cell.value().escape_ascii())
    });
    cells.collect::<Vec<_>>().join(" ")
}

fn value(row: &Row, qualifier: &str) -> String {
    let value = row.value("f", qualifier).map(|value| value.to_vec()).unwrap_or_default();
    String::from_utf8(value).unwrap()
}

/// Calls a function for each change.
struct Call<F>(F);

impl<F> Observer for Call<F>
where
    F: Fn(&RowChange, &mut Additions) -> Result<()> + Send + Sync,
{
    fn columns(&self) -> Columns {
        Columns::all()
    }

    fn row_changes(&self, change: &RowChange, additions: &mut Additions) -> Result<()> {
        self.0(change, additions)
    }
}

fn observe(
    store: &Store,
    table: &Table,
    call: impl Fn(&RowChange, &mut Additions) -> Result<()> + Send + Sync + 'static,
) {
    store.observe(table.name(), Arc::new(Call(call))).unwrap();
}

/// Returns the changes in a table's column `q` from now on, each as `row: before > after`.
fn record(store: &Store, table: &Table) -> Arc<Mutex<Vec<String>>> {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let to = Arc::clone(&seen);
    observe(store, table, move |change, _| {
        let row = String::from_utf8_lossy(&change.row);
        let before = value(&change.before, "q");
        let after = value(&change.after, "q");
        to.lock().push(format!("{row}: {before} > {after}"));
        Ok(())
    });
    seen
}

#[test]
fn every_way_of_writing_is_seen_once_with_the_row_before_and_after() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let table = create(&store, "t");
    table.mutate(&put("a", "q", "0").into()).unwrap();
    let seen = record(&store, &table);
    let changes = |expected: &[&str]| assert_eq!(std::mem::take(&mut *seen.lock()), expected);

    table.mutate(&put("a", "q", "1").into()).unwrap();
    changes(&["a: 0 > 1"]);
    table.mutate(&Append::new("a").unwrap().add("f", "q", "2").unwrap().into()).unwrap();
    changes(&["a: 1 > 12"]);
    let newest = Delete::new("a").unwrap().version("f", "q", Timestamp::LATEST).unwrap();
    table.mutate(&newest.into()).unwrap();
    changes(&["a: 12 > 1"]);
    let outcomes = table.batch(vec![
        put("b", "q", "1").into(),
        put("b", "q", "2").into(),
        put("z", "q", "3").into(),
        Delete::new("a").unwrap().into(),
    ]);
    assert!(outcomes.iter().all(Result::is_ok));
    changes(&["b:  > 2", "a: 1 > ", "z:  > 3"]);
    let absent = Condition::NoRow;
    assert!(table.mutate_if(&absent, &put("b", "q", "9").into()).unwrap().is_none());
    changes(&[]);
    assert!(table.mutate_if(&absent, &put("c", "q", "1").into()).unwrap().is_some());
    changes(&["c:  > 1"]);
    let region = table.region_of(b"b");
    let conditions = [RowCondition { row: "c".into(), condition: Condition::NoRow }];
    let both = [put("b", "q", "4").into(), put("d", "q", "5").into()];
    assert!(region.mutate_rows(&conditions, &both).unwrap().is_none());
    changes(&[]);
    assert!(region.mutate_rows(&[], &both).unwrap().is_some());
    changes(&["b: 2 > 4", "d:  > 5"]);
    let both = [(Arc::clone(&table), put("d", "q", "6").into()), {
        (Arc::clone(&table), put("x", "q", "7").into())
    }];
    store.commit(&both).unwrap();
    changes(&["d: 5 > 6", "x:  > 7"]);
    store
        .transact(|transaction| {
            transaction.mutate(&table, put("e", "q", "1"))?;
            transaction.mutate(&table, put("e", "q", "2"))?;
            transaction.mutate(&table, put("d", "other", "2")).map(|_| ())
        })
        .unwrap();
    changes(&["e:  > 2", "d: 6 > 6"]);
}

#[test]
fn a_refused_change_leaves_nothing_and_its_neighbours_in_other_records_are_written() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let table = create(&store, "t");
    let log = create(&store, "log");
    let to = Arc::clone(&log);
    observe(&store, &table, move |change, additions| {
        additions.mutate(&to, put(&format!("log {}", value(&change.after, "q")), "q", "x"));
        match value(&change.after, "q").as_str() {
            "bad" => Err(Error::new(ErrorKind::InvalidRequest, "no")),
            _ => Ok(()),
        }
    });
    let refused = table.mutate(&put("a", "q", "bad").into()).unwrap_err();
    assert_eq!((refused.kind(), refused.message()), (ErrorKind::InvalidRequest, "no"));
    let refused = store.transact(|transaction| {
        transaction.mutate(&table, put("a", "q", "good"))?;
        transaction.mutate(&table, put("b", "q", "bad"))
    });
    assert_eq!(refused.unwrap_err().message(), "no");
    // An increment reads the row, so it is in another record than the put before it.
    let outcomes = table.batch(vec![
        put("a", "q", "bad").into(),
        Increment::new("c").unwrap().add("f", "n", 1).unwrap().into(),
    ]);
    assert_eq!(outcomes[0].as_ref().unwrap_err().message(), "no");
    assert!(outcomes[1].is_ok());
    assert!(get(&table, "a").is_empty() && get(&log, "log bad").is_empty());
    assert_eq!(count(&table, "c"), 1);
}

#[test]
fn additions_of_observers_are_visible_and_survive_a_crash_with_the_change() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let posts = create(&store, "posts");
    let counts = create(&store, "counts");
    let to = Arc::clone(&counts);
    observe(&store, &posts, move |change, additions| {
        let grown = i64::from(!change.after.is_empty()) - i64::from(!change.before.is_empty());
        additions.mutate(&to, Increment::new("all")?.add("f", "n", grown)?);
        Ok(())
    });
    let writers = 4;
    let rounds = 100;
    std::thread::scope(|scope| {
        for writer in 0..writers {
            let posts = &posts;
            scope.spawn(move || {
                for round in 0..rounds {
                    let row = |nth: u32| {
                        format!("{}{writer}-{round}-{nth}", ["a", "z"][nth as usize % 2])
                    };
                    let batch = (0..3).map(|nth| put(&row(nth), "q", "x").into());
                    assert!(posts.batch(batch.collect()).iter().all(Result::is_ok));
                    posts.mutate(&Delete::new(row(1)).unwrap().into()).unwrap();
                }
            });
        }
        // No read point shows a post without the count.
        let store = &store;
        let posts = &posts;
        let counts = &counts;
        scope.spawn(move || {
            for _ in 0..50 {
                let point = store.read_point();
                let all = counts.get_at(&Get::new("all").unwrap(), &point).unwrap();
                let mut scanner = posts.scan_at(Scan::new(RowRange::all()), &point).unwrap();
                let mut rows = 0;
                while scanner.next().unwrap().is_some() {
                    rows += 1;
                }
                assert_eq!(all.counter("f", "n").unwrap().unwrap_or(0), rows);
            }
        });
    });
    assert_eq!(count(&counts, "all"), i64::from(writers * rounds * 2));
    // The log alone holds everything.
    let copy = copy_of_store(dir.path());
    let copied = Store::open(copy.path()).unwrap();
    let counts = copied.table(&table_name("counts")).unwrap();
    assert_eq!(count(&counts, "all"), i64::from(writers * rounds * 2));
}

#[test]
fn a_change_that_skips_the_log_is_logged_if_observers_add_to_it() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let table = create(&store, "t");
    let log = create(&store, "log");
    let to = Arc::clone(&log);
    observe(&store, &table, move |change, additions| {
        if value(&change.after, "q") == "logged" {
            additions.mutate(&to, put("last", "q", "x"));
        }
        Ok(())
    });
    for (row, value) in [("a", "not"), ("b", "logged")] {
        let mut put = put(row, "q", value);
        put.durability = Durability::SkipWal;
        table.mutate(&put.into()).unwrap();
    }
    let copy = copy_of_store(dir.path());
    let copied = Store::open(copy.path()).unwrap();
    let table = |name: &str| copied.table(&table_name(name)).unwrap();
    assert!(get(&table("t"), "a").is_empty());
    assert!(!get(&table("t"), "b").is_empty() && !get(&table("log"), "last").is_empty());
}

#[test]
fn an_observer_whose_rows_change_at_each_attempt_gets_all_rows_locked() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let table = create(&store, "t");
    let other = create(&store, "other");
    let calls = Arc::new(AtomicUsize::new(0));
    let to = Arc::clone(&other);
    let counted = Arc::clone(&calls);
    observe(&store, &table, move |_, additions| {
        let call = counted.fetch_add(1, Ordering::Relaxed);
        additions.mutate(&to, put(&format!("row {call}"), "q", "x"));
        Ok(())
    });
    for _ in 0..50 {
        table.mutate(&put("a", "q", "1").into()).unwrap();
        let last = calls.load(Ordering::Relaxed) - 1;
        assert_eq!(value(&get(&other, &format!("row {last}")), "q"), "x");
    }
    // Four attempts each, or fewer where a row shares the lock of another by chance.
    assert!((190..=200).contains(&calls.load(Ordering::Relaxed)), "{calls:?}");
}

#[test]
fn additions_are_newer_than_a_delete_of_the_same_millisecond_and_no_observer_sees_them() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let table = create(&store, "t");
    let to = Arc::clone(&table);
    observe(&store, &table, move |change, additions| {
        additions.mutate(&to, Delete::new("last")?);
        additions.mutate(&to, put("last", "q", &value(&change.after, "q")));
        Ok(())
    });
    for nth in 0..200 {
        table.mutate(&put("a", "q", &nth.to_string()).into()).unwrap();
        assert_eq!(value(&get(&table, "last"), "q"), nth.to_string());
    }
}

/// Returns files with a row from another store, to be loaded.
fn exported(dir: &Path) -> Vec<(Bytes, PathBuf)> {
    let other = Store::open(dir.join("other")).unwrap();
    let table = create(&other, "t");
    table.mutate(&put("loaded", "q", "1").into()).unwrap();
    let into = dir.join("exported");
    std::fs::create_dir(&into).unwrap();
    other.export_hfiles(table.name(), &into, ExportedCells::Retained, |_| {}).unwrap();
    other.close().unwrap();
    files_to_load(&into).unwrap()
}

#[test]
fn changes_of_whole_tables_are_reported_to_observers() {
    struct Recorder(Mutex<Vec<TableChange>>, Arc<Table>);
    impl Observer for Recorder {
        fn columns(&self) -> Columns {
            Columns::all()
        }
        fn row_changes(&self, _: &RowChange, _: &mut Additions) -> Result<()> {
            Ok(())
        }
        fn table_changes(&self, table: &TableName, change: TableChange) {
            assert_eq!(*table, table_name("t"));
            // No lock for the change is held.
            let _ = self.1.get(&Get::new("a").unwrap());
            self.0.lock().push(change);
        }
    }
    let dir = tempfile::tempdir().unwrap();
    let other_dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let table = create(&store, "t");
    create(&store, "other");
    let recorder = Arc::new(Recorder(Mutex::default(), Arc::clone(&table)));
    store.observe(table.name(), recorder.clone()).unwrap();
    store.take_snapshot(Snapshot::new("s", table.name().clone()).unwrap()).unwrap();
    let files = exported(other_dir.path());
    store.bulk_load(table.name(), &files, |_| {}).unwrap();
    store.truncate_region(&table.regions()[0].name().full).unwrap();
    store.drop_family(table.name(), b"nope").unwrap_err();
    store.add_family(table.name(), FamilyDescriptor::new("g").unwrap()).unwrap();
    store.disable_table(table.name()).unwrap();
    store.restore_snapshot("s").unwrap();
    store.truncate_table(table.name(), true).unwrap();
    store.disable_table(&table_name("other")).unwrap();
    store.drop_table(&table_name("other")).unwrap();
    store.disable_table(table.name()).unwrap();
    store.drop_table(table.name()).unwrap();
    create(&store, "t").mutate(&put("a", "q", "1").into()).unwrap();
    use TableChange::{Altered, Dropped, Loaded, Restored, Truncated};
    assert_eq!(*recorder.0.lock(), [Loaded, Truncated, Altered, Restored, Truncated, Dropped]);
}

#[test]
fn a_table_that_names_observers_is_written_only_once_they_are_registered() {
    struct Named(&'static str, Mutex<usize>);
    impl Observer for Named {
        fn name(&self) -> &str {
            self.0
        }
        fn columns(&self) -> Columns {
            Columns::all()
        }
        fn row_changes(&self, _: &RowChange, _: &mut Additions) -> Result<()> {
            *self.1.lock() += 1;
            Ok(())
        }
    }
    let dir = tempfile::tempdir().unwrap();
    let other_dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let table = create(&store, "t");
    let other = create(&store, "other");
    table.mutate(&put("old", "q", "1").into()).unwrap();
    store.take_snapshot(Snapshot::new("s", table.name().clone()).unwrap()).unwrap();
    let name = |names: &'static [&'static str]| {
        move |table: &TableDescriptor| with_observers(table.clone(), names)
    };
    store.change_table(table.name(), name(&["audit", "counts"])).unwrap();
    store.close().unwrap();
    drop((store, table, other));

    let store = Store::open(dir.path()).unwrap();
    let [table, other] = ["t", "other"].map(|name| store.table(&table_name(name)).unwrap());
    let register = |name| {
        let observer = Arc::new(Named(name, Mutex::default()));
        store.observe(table.name(), observer.clone()).unwrap();
        observer
    };
    let files = exported(other_dir.path());
    let mutation = Mutation::from(put("r", "q", "1"));
    let refusals = || {
        let one = table.mutate(&mutation).unwrap_err();
        let mut batch = table.batch(vec![mutation.clone(), put("x", "q", "2").into()]);
        let both = [(Arc::clone(&other), mutation.clone()), (Arc::clone(&table), mutation.clone())];
        let together = store.commit(&both).unwrap_err();
        let transact = |transaction: &mut Transaction| {
            transaction.mutate(&table, mutation.clone()).map(|_| ())
        };
        let transacted = store.transact(transact).unwrap_err();
        let region = store.truncate_region(&table.regions()[0].name().full).unwrap_err();
        let load = store.bulk_load(table.name(), &files, |_| {}).unwrap_err();
        vec![one, batch.remove(0).unwrap_err(), together, transacted, region, load]
    };
    for (missing, next) in [("audit, counts", "counts"), ("audit", "audit")] {
        for error in refusals() {
            assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
            assert!(error.message().ends_with(&format!("missing={missing}")), "{error}");
        }
        assert_eq!(value(&get(&table, "old"), "q"), "1");
        assert!(get(&other, "r").is_empty());
        other.mutate(&mutation).unwrap();
        other.mutate(&Delete::new("r").unwrap().into()).unwrap();
        register(next);
    }
    let again = register("audit");
    table.mutate(&mutation).unwrap();
    assert_eq!(*again.1.lock(), 1);

    // A snapshot from before names none, and a later alteration names another.
    store.change_table(table.name(), name(&["late"])).unwrap();
    store.disable_table(table.name()).unwrap();
    for error in [
        store.restore_snapshot("s").unwrap_err(),
        store.truncate_table(table.name(), true).unwrap_err(),
    ] {
        assert!(error.message().ends_with("missing=late"), "{error}");
    }
    store.change_table(table.name(), name(&[])).unwrap();
    store.restore_snapshot("s").unwrap();
    store.enable_table(table.name()).unwrap();
    store.table(table.name()).unwrap().mutate(&mutation).unwrap();
}

#[test]
fn names_of_observers_that_are_none_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let of = |text: &'static str| {
        let family = FamilyDescriptor::new("f").unwrap();
        let table = TableDescriptor::new(table_name("t")).family(family);
        table.attribute(OBSERVERS_ATTRIBUTE, text)
    };
    for (text, kind) in [
        ("audit", ErrorKind::InvalidRequest),
        ("1 ", ErrorKind::InvalidRequest),
        ("1 a,,b", ErrorKind::InvalidRequest),
        ("1 a b", ErrorKind::InvalidRequest),
        ("2 a", ErrorKind::Unsupported),
    ] {
        assert_eq!(store.create_table(of(text), &[]).unwrap_err().kind(), kind, "{text}");
    }
    store.create_table(of("1 a.b,  c_d-9"), &[]).unwrap();
    let names = named_observers(store.table(&table_name("t")).unwrap().descriptor()).unwrap();
    assert_eq!(names, ["a.b", "c_d-9"]);
    store.change_table(&table_name("t"), |_| Ok(of("1"))).unwrap_err();
}

#[test]
fn of_conditional_writes_that_exclude_each_other_one_is_applied() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let table = create(&store, "t");
    let log = create(&store, "log");
    let to = Arc::clone(&log);
    // The added row is never locked at first, so every write releases the locks once.
    observe(&store, &table, move |change, additions| {
        let row = String::from_utf8_lossy(&change.row);
        additions.mutate(&to, put(&format!("log of {row}"), "q", "x"));
        Ok(())
    });
    for round in 0..200 {
        let row = format!("row {round}");
        let winners = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let table = &table;
                let row = &row;
                let winners = &winners;
                scope.spawn(move || {
                    let put = put(row, "q", &writer.to_string()).into();
                    let applied = table.mutate_if(&Condition::NoRow, &put).unwrap();
                    winners.fetch_add(applied.is_some().into(), Ordering::Relaxed);
                });
            }
        });
        assert_eq!(winners.into_inner(), 1, "{row}");
    }
}

#[test]
fn an_addition_to_a_region_out_of_service_is_refused_and_one_that_is_split_is_waited_for() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let table = create(&store, "t");
    let log = create(&store, "log");
    let to = Arc::clone(&log);
    observe(&store, &table, move |change, additions| {
        additions.mutate(&to, Put::new(change.row.clone())?.add("f", "q", "x")?);
        Ok(())
    });
    let region = log.regions()[0].name().full.clone();
    store.unassign_region(&region).unwrap();
    let refused = table.mutate(&put("a", "q", "1").into()).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::RegionTooBusy, "{refused}");
    let refused = store.transact(|transaction| transaction.mutate(&table, put("a", "q", "1")));
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::RegionTooBusy);
    assert!(get(&table, "a").is_empty());
    store.assign_region(&region).unwrap();
    table.mutate(&put("a", "q", "1").into()).unwrap();

    let rows: Vec<String> = (0..500).map(|row| format!("b{row:03}")).collect();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for row in &rows {
                table.mutate(&put(row, "q", "1").into()).unwrap();
            }
        });
        for at in ["b100", "b250", "b400"] {
            while get(&log, at).is_empty() {
                std::thread::yield_now();
            }
            let region = log.region_of(at.as_bytes()).name().full.clone();
            store.split_region(&region, Some(at.into())).unwrap();
        }
    });
    assert!(rows.iter().all(|row| !get(&log, row).is_empty()));
}

#[test]
fn an_addition_that_cannot_be_written_refuses_the_change_with_an_error_of_its_own() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let table = create(&store, "t");
    let log = create(&store, "log");
    let to = Arc::clone(&log);
    observe(&store, &table, move |change, additions| {
        additions.mutate(&to, Put::new(change.row.clone())?.add("g", "q", "x")?);
        Ok(())
    });
    // No error is one about the table that the caller has named.
    let refused = |kind: ErrorKind, words: &str| {
        let one = table.mutate(&put("a", "q", "1").into()).unwrap_err();
        let transacted = store.transact(|it| it.mutate(&table, put("a", "q", "1")).map(|_| ()));
        for error in [one, transacted.unwrap_err()] {
            assert_eq!(error.kind(), kind, "{error}");
            let message = error.message();
            assert!(message.starts_with("an observer cannot write to table log: "), "{message}");
            assert!(message.contains(words), "{message}");
        }
        assert!(get(&table, "a").is_empty());
    };
    refused(ErrorKind::InvalidRequest, "Column family g does not exist");
    store.add_family(log.name(), FamilyDescriptor::new("g").unwrap()).unwrap();
    table.mutate(&put("b", "q", "1").into()).unwrap();
    store.disable_table(log.name()).unwrap();
    refused(ErrorKind::RegionTooBusy, "log is disabled");
    store.truncate_table(log.name(), true).unwrap();
    refused(ErrorKind::InvalidRequest, "was dropped or truncated");
}

#[test]
fn a_transaction_whose_observed_region_is_split_is_tried_again() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let table = create(&store, "t");
    let seen = record(&store, &table);
    table.mutate(&put("a", "q", "0").into()).unwrap();
    table.mutate(&put("b", "q", "0").into()).unwrap();
    seen.lock().clear();
    let mut tries = 0;
    store
        .transact(|transaction| {
            transaction.mutate(&table, put("a", "q", "1"))?;
            tries += 1;
            if tries == 1 {
                let region = table.region_of(b"a").name().full.clone();
                store.split_region(&region, Some("b".into()))?;
            }
            Ok(())
        })
        .unwrap();
    assert_eq!((tries, &seen.lock()[..]), (2, &["a: 0 > 1".to_owned()][..]));
}

#[test]
fn each_record_of_a_batch_is_observed_again_once_its_rows_are_locked() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let table = create(&store, "t");
    let log = create(&store, "log");
    let calls = Arc::new(AtomicUsize::new(0));
    let to = Arc::clone(&log);
    let counted = Arc::clone(&calls);
    observe(&store, &table, move |change, additions| {
        counted.fetch_add(1, Ordering::Relaxed);
        let count = change.after.counter("f", "n")?.unwrap_or(0);
        additions.mutate(&to, put(&format!("count {count}"), "q", "x"));
        Ok(())
    });
    let increment = || Increment::new("a").unwrap().add("f", "n", 1).unwrap().into();
    let outcomes = table.batch((0..10).map(|_| increment()).collect());
    assert!(outcomes.iter().all(Result::is_ok));
    assert_eq!(count(&table, "a"), 10);
    // By chance a row shares the lock of another.
    assert!((17..=20).contains(&calls.load(Ordering::Relaxed)), "{calls:?}");
    assert!((1..=10).all(|n| !get(&log, &format!("count {n}")).is_empty()));
}

#[test]
fn an_observer_of_a_table_that_is_not_there_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let observer = Arc::new(Call(|_: &RowChange, _: &mut Additions| Ok(())));
    let refused = store.observe(&table_name("nope"), observer.clone()).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::TableNotFound);
    assert!(store.observe(&table_name("hbase:meta"), observer).is_err());
}

/// A random write of three rows.
#[derive(Clone, Debug)]
enum Write {
    One(Mutation),
    Batch(Vec<Mutation>),
    Atomic(Vec<Mutation>),
    Transaction(Vec<Mutation>),
    Flush,
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let row = || prop::sample::select(vec!["a", "b", "z"]);
    let qualifier = || prop::sample::select(vec!["p", "q"]);
    let at = || prop_oneof![3 => Just(None), 2 => (1i64..5).prop_map(Some)];
    let at = move || at().prop_map(|at| at.map(|at| Timestamp::from_millis(at).unwrap()));
    let version = |at: Option<Timestamp>| at.unwrap_or(Timestamp::LATEST);
    prop_oneof![
        4 => (row(), qualifier(), at(), 0u8..10).prop_map(move |(row, qualifier, at, value)| {
            Put::new(row).unwrap().add_at("f", qualifier, version(at), vec![value]).unwrap().into()
        }),
        1 => row().prop_map(|row| Delete::new(row).unwrap().into()),
        1 => (row(), qualifier(), at()).prop_map(move |(row, qualifier, at)| {
            Delete::new(row).unwrap().version("f", qualifier, version(at)).unwrap().into()
        }),
        1 => (row(), qualifier(), at()).prop_map(move |(row, qualifier, at)| {
            Delete::new(row).unwrap().column("f", qualifier, version(at)).unwrap().into()
        }),
        1 => (row(), 1i64..5).prop_map(|(row, at)| {
            let at = Timestamp::from_millis(at).unwrap();
            Delete::new(row).unwrap().family_version("f", at).unwrap().into()
        }),
        1 => row().prop_map(|row| {
            Increment::new(row).unwrap().add("f", "n", 1).unwrap().into()
        }),
        1 => (row(), qualifier()).prop_map(|(row, qualifier)| {
            Append::new(row).unwrap().add("f", qualifier, "x").unwrap().into()
        }),
    ]
}

fn write() -> impl Strategy<Value = Write> {
    let several = || prop::collection::vec(mutation(), 1..6);
    let of_one_region = |mutations: Vec<Mutation>| {
        mutations.into_iter().filter(|mutation| mutation.row()[..] < b"m"[..]).collect()
    };
    prop_oneof![
        3 => mutation().prop_map(Write::One),
        3 => several().prop_map(Write::Batch),
        2 => several().prop_map(of_one_region).prop_map(Write::Atomic),
        2 => several().prop_map(Write::Transaction),
        1 => Just(Write::Flush),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]
    #[test]
    fn a_mirror_that_an_observer_keeps_is_always_like_its_table(
        writes in prop::collection::vec(write(), 1..25),
    ) {
        let dir = tempfile::tempdir().unwrap();
        // A compaction that drops a delete marker changes rows without a write: it uncovers puts
        // with older timestamps that came after the delete.
        let compaction = CompactionSettings { files_min: usize::MAX, ..Default::default() };
        let settings = Settings { compaction, ..Settings::default() };
        let store = Store::builder(dir.path()).settings(settings).open().unwrap();
        let table = create(&store, "t");
        let mirror = create(&store, "mirror");
        let to = Arc::clone(&mirror);
        observe(&store, &table, move |change, additions| {
            let row = String::from_utf8(change.row.to_vec()).unwrap();
            let before = to.get(&Get::new(change.row.clone())?)?;
            assert_eq!(value(&before, "q"), text(&change.before), "before: {row}");
            additions.mutate(&to, put(&row, "q", &text(&change.after)));
            Ok(())
        });
        for write in writes {
            match write {
                Write::One(mutation) => _ = table.mutate(&mutation),
                Write::Batch(mutations) => _ = table.batch(mutations),
                Write::Atomic(mutations) => {
                    let _ = table.region_of(b"a").mutate_rows(&[], &mutations);
                }
                Write::Transaction(mutations) => {
                    let _ = store.transact(|transaction| {
                        mutations.iter().try_for_each(|mutation| {
                            transaction.mutate(&table, mutation.clone()).map(|_| ())
                        })
                    });
                }
                Write::Flush => table.flush().unwrap(),
            }
            for row in ["a", "b", "z"] {
                prop_assert_eq!(value(&get(&mirror, row), "q"), text(&get(&table, row)));
            }
        }
    }
}
