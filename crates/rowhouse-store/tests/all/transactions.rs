//! Transactions are serializable: each reads and writes as if it ran alone.

use std::sync::Arc;

use rowhouse_model::{
    Append, Delete, Error, ErrorKind, FamilyDescriptor, Get, Increment, Put, Row, RowRange, Scan,
    TableDescriptor, TableName, Timestamp,
};
use rowhouse_store::{CompactionKind, Store, Table, Transaction};

struct Scene {
    store: Store,
    a: Arc<Table>,
    b: Arc<Table>,
    _dir: tempfile::TempDir,
}

impl Scene {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        let tables = ["a", "b"].map(|name| {
            let name = TableName::parse(name).unwrap();
            let family = |name| FamilyDescriptor::new(name).unwrap();
            let table = TableDescriptor::new(name.clone()).family(family("f")).family(family("g"));
            store.create_table(table, &["m".into()]).unwrap();
            store.table(&name).unwrap()
        });
        let [a, b] = tables;
        Self { store, a, b, _dir: dir }
    }

    fn put(&self, row: &str, value: &str) {
        self.a.mutate(&put(row, value).into()).unwrap();
    }

    fn value(&self, table: &Table, row: &str) -> Option<String> {
        value(&table.get(&get(row)).unwrap())
    }
}

fn put(row: &str, value: &str) -> Put {
    Put::new(row.to_owned()).unwrap().add("f", "q", value).unwrap()
}

fn get(row: &str) -> Get {
    Get::new(row.to_owned()).unwrap()
}

fn value(row: &Row) -> Option<String> {
    row.value("f", "q").map(|value| String::from_utf8(value.to_vec()).unwrap())
}

fn rows(transaction: &mut Transaction, table: &Arc<Table>, range: RowRange) -> Vec<String> {
    let mut scanner = transaction.scan(table, Scan::new(range)).unwrap();
    let mut rows = Vec::new();
    while let Some(row) = scanner.next().unwrap() {
        rows.push(format!("{}={}", String::from_utf8_lossy(row.key()), value(&row).unwrap()));
    }
    rows
}

#[test]
fn a_transaction_alone_sees_its_own_writes_before_its_end() {
    let scene = Scene::new();
    scene.put("old", "1");
    scene.put("z", "9");
    scene.a.flush().unwrap();
    scene
        .store
        .transact(|transaction| {
            transaction.mutate(&scene.a, put("new", "2"))?;
            transaction.mutate(&scene.b, put("new", "3"))?;
            transaction.mutate(&scene.a, Delete::new("z")?)?;
            assert_eq!(value(&transaction.get(&scene.a, &get("new"))?).as_deref(), Some("2"));
            assert_eq!(rows(transaction, &scene.a, RowRange::all()), ["new=2", "old=1"]);
            assert_eq!(scene.value(&scene.a, "new"), None);
            assert_eq!(scene.value(&scene.a, "z").as_deref(), Some("9"));
            Ok(())
        })
        .unwrap();
    assert_eq!(scene.value(&scene.a, "new").as_deref(), Some("2"));
    assert_eq!(scene.value(&scene.b, "new").as_deref(), Some("3"));
    assert_eq!(scene.value(&scene.a, "z"), None);
}

#[test]
fn appends_and_increments_build_on_writes_of_the_transaction() {
    let scene = Scene::new();
    let counted = scene.store.transact(|transaction| {
        let count = || Increment::new("n")?.add("f", "n", 2);
        transaction.mutate(&scene.a, count()?)?;
        let outcome = transaction.mutate(&scene.a, count()?)?;
        transaction.mutate(&scene.a, put("t", "x"))?;
        transaction.mutate(&scene.a, Append::new("t")?.add("f", "q", "y")?)?;
        outcome.row.counter("f", "n")
    });
    assert_eq!(counted.unwrap(), Some(4));
    assert_eq!(scene.a.get(&get("n")).unwrap().counter("f", "n").unwrap(), Some(4));
    assert_eq!(scene.value(&scene.a, "t").as_deref(), Some("xy"));
}

#[test]
fn a_put_after_a_delete_of_the_same_transaction_is_visible() {
    let scene = Scene::new();
    scene.put("r", "old");
    let replace = |transaction: &mut Transaction| {
        transaction.mutate(&scene.a, Delete::new("r")?)?;
        assert!(transaction.get(&scene.a, &get("r"))?.is_empty());
        transaction.mutate(&scene.a, put("r", "new"))?;
        assert_eq!(value(&transaction.get(&scene.a, &get("r"))?).as_deref(), Some("new"));
        let newest = Delete::new("r")?.version("f", "q", Timestamp::LATEST)?;
        transaction.mutate(&scene.a, newest)?;
        assert!(transaction.get(&scene.a, &get("r"))?.is_empty());
        transaction.mutate(&scene.a, put("r", "last"))
    };
    scene.store.transact(replace).unwrap();
    assert_eq!(scene.value(&scene.a, "r").as_deref(), Some("last"));
    scene.put("r", "after");
    assert_eq!(scene.value(&scene.a, "r").as_deref(), Some("after"), "it is not older");
}

#[test]
fn a_transaction_takes_the_place_of_cells_that_are_newer_than_the_clock() {
    let scene = Scene::new();
    let future = Timestamp::from_millis(9_000_000_000_000).unwrap();
    let later = Put::new("r").unwrap().add_at("f", "q", future, "later").unwrap();
    scene.a.mutate(&later.into()).unwrap();
    scene.store.transact(|transaction| transaction.mutate(&scene.a, put("r", "mine"))).unwrap();
    assert_eq!(scene.value(&scene.a, "r").as_deref(), Some("mine"));
    let replace = |transaction: &mut Transaction| {
        transaction.mutate(&scene.a, Delete::new("r")?)?;
        assert!(transaction.get(&scene.a, &get("r"))?.is_empty());
        transaction.mutate(&scene.a, put("r", "again"))
    };
    scene.store.transact(replace).unwrap();
    assert_eq!(scene.value(&scene.a, "r").as_deref(), Some("again"));
    scene.put("s", "now");
    let row = scene.a.get(&get("s")).unwrap();
    assert!(row.cells().all(|cell| cell.timestamp() < future), "others keep the clock's time");
}

#[test]
fn an_error_ends_a_transaction_and_leaves_nothing() {
    let scene = Scene::new();
    let failed = scene.store.transact(|transaction| {
        transaction.mutate(&scene.a, put("r", "x"))?;
        Err::<(), _>(Error::invalid("no"))
    });
    assert_eq!(failed.unwrap_err().message(), "no");
    let nowhere = scene.store.transact(|transaction| {
        transaction.mutate(&scene.a, put("r", "x"))?;
        transaction.mutate(&scene.a, Put::new("r")?.add("nope", "q", "x")?)
    });
    assert_eq!(nowhere.unwrap_err().kind(), ErrorKind::NoSuchColumnFamily);
    assert_eq!(scene.value(&scene.a, "r"), None);
}

/// Returns the number of runs of a transaction that conflicts once, with `other`.
fn runs(
    scene: &Scene,
    mut run: impl FnMut(&mut Transaction) -> rowhouse_model::Result<()>,
    other: impl Fn(),
) -> u32 {
    let mut runs = 0;
    let done = scene.store.transact(|transaction| {
        runs += 1;
        run(transaction)?;
        if runs == 1 {
            other();
        }
        Ok(())
    });
    done.unwrap();
    runs
}

#[test]
fn a_transaction_restarts_if_rows_it_read_or_wrote_were_written() {
    let scene = Scene::new();
    scene.put("r", "1");
    let a = &scene.a;
    let b = &scene.b;
    let read_r = |transaction: &mut Transaction| {
        transaction.get(a, &get("r"))?;
        transaction.mutate(b, put("out", "x")).map(|_| ())
    };
    assert_eq!(runs(&scene, read_r, || scene.put("r", "2")), 2, "a row that it read");
    assert_eq!(runs(&scene, read_r, || scene.put("s", "2")), 1, "another row");
    let missing = |transaction: &mut Transaction| {
        transaction.get(a, &get("missing"))?;
        transaction.mutate(b, put("out", "x")).map(|_| ())
    };
    assert_eq!(runs(&scene, missing, || scene.put("missing", "1")), 2, "a row that was not there");
    let scan = |transaction: &mut Transaction| {
        rows(transaction, a, RowRange::new("k", "p"));
        transaction.mutate(b, put("out", "x")).map(|_| ())
    };
    assert_eq!(runs(&scene, scan, || scene.put("o", "1")), 2, "a range over two regions");
    assert_eq!(runs(&scene, scan, || scene.put("p", "1")), 1, "its end is not in it");
    let blind = |transaction: &mut Transaction| transaction.mutate(a, put("w", "mine")).map(|_| ());
    assert_eq!(runs(&scene, blind, || scene.put("w", "other")), 2, "a row that it wrote");
    assert_eq!(scene.value(a, "w").as_deref(), Some("mine"));
    let only_reads = |transaction: &mut Transaction| transaction.get(a, &get("r")).map(|_| ());
    assert_eq!(runs(&scene, only_reads, || scene.put("r", "3")), 1, "nothing was written");
    let commit = || {
        let put = put("r", "4").into();
        scene.store.commit(&[(Arc::clone(a), put)]).unwrap();
    };
    assert_eq!(runs(&scene, read_r, commit), 2, "by a commit of several rows");
    let inner = || {
        scene.store.transact(|other| other.mutate(a, put("r", "5"))).unwrap();
    };
    assert_eq!(runs(&scene, read_r, inner), 2, "by another transaction");
    let merge = || {
        a.flush().unwrap();
        a.compact(CompactionKind::Major).unwrap();
    };
    assert_eq!(runs(&scene, read_r, merge), 1, "a merge of files changes nothing");
}

#[test]
fn a_transaction_that_is_always_overtaken_says_so() {
    let scene = Scene::new();
    let mut runs = 0;
    let overtaken = scene.store.transact(|transaction| {
        runs += 1;
        transaction.get(&scene.a, &get("r"))?;
        scene.put("r", &format!("{runs}"));
        transaction.mutate(&scene.a, put("r", "mine"))
    });
    let error = overtaken.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert!(error.message().ends_with("tries=100"), "{error}");
    assert_eq!(runs, 100);
    assert_eq!(scene.value(&scene.a, "r").as_deref(), Some("100"));
}

#[test]
fn no_update_is_lost_beside_others_and_beside_plain_increments() {
    const THREADS: i64 = 4;
    const ROUNDS: i64 = 100;
    let scene = Scene::new();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let scene = &scene;
            scope.spawn(move || {
                for _ in 0..ROUNDS {
                    if thread == 0 {
                        let count = Increment::new("n").unwrap().add("f", "n", 1).unwrap();
                        scene.a.mutate(&count.into()).unwrap();
                        continue;
                    }
                    let add = |transaction: &mut Transaction| {
                        let row = transaction.get(&scene.a, &get("n"))?;
                        let next = row.counter("f", "n")?.unwrap_or(0) + 1;
                        let put = Put::new("n")?.add("f", "n", next.to_be_bytes())?;
                        transaction.mutate(&scene.a, put).map(|_| ())
                    };
                    while let Err(error) = scene.store.transact(add) {
                        assert_eq!(error.kind(), ErrorKind::Conflict);
                    }
                }
            });
        }
    });
    let row = scene.a.get(&get("n")).unwrap();
    assert_eq!(row.counter("f", "n").unwrap(), Some(THREADS * ROUNDS));
}

/// Each of two may go off duty only while the other is on: with snapshot isolation alone, both
/// would.
#[test]
fn of_two_that_each_look_at_the_other_one_stays() {
    let scene = Scene::new();
    for round in 0..200 {
        let names = [format!("{round}-a"), format!("{round}-b")];
        for name in &names {
            scene.put(name, "on");
        }
        let start = std::sync::Barrier::new(2);
        std::thread::scope(|scope| {
            for me in 0..2 {
                let scene = &scene;
                let names = &names;
                let start = &start;
                scope.spawn(move || {
                    start.wait();
                    let go_off = |transaction: &mut Transaction| {
                        let prefix = format!("{round}-");
                        let end = format!("{round}.");
                        let on = rows(transaction, &scene.a, RowRange::new(prefix, end));
                        if on.iter().filter(|row| row.ends_with("=on")).count() == 2 {
                            transaction.mutate(&scene.a, put(&names[me], "off"))?;
                        }
                        Ok(())
                    };
                    scene.store.transact(go_off).unwrap();
                });
            }
        });
        let on = names.iter().filter(|name| scene.value(&scene.a, name).as_deref() == Some("on"));
        assert_eq!(on.count(), 1, "round {round}");
    }
}

#[test]
fn scanned_rows_of_a_table_split_since_its_lookup_count_as_read() {
    let scene = Scene::new();
    scene.put("a", "on");
    scene.put("b", "on");
    scene.store.split_region(&scene.a.regions()[0].name().full, Some("c".into())).unwrap();
    let mut runs = 0;
    // One of the two stays on.
    let done = scene.store.transact(|transaction| {
        runs += 1;
        let on = rows(transaction, &scene.a, RowRange::new("a", "c")).len();
        if runs == 1 {
            scene.a.mutate(&Delete::new("b").unwrap().into())?;
        }
        if on == 2 {
            transaction.mutate(&scene.a, Delete::new("a").unwrap())?;
        }
        Ok(())
    });
    done.unwrap();
    assert_eq!((scene.value(&scene.a, "a").as_deref(), runs), (Some("on"), 2));
}
