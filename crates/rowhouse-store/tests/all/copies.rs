//! Copies, indexes that `covers *`, and their promotion.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use rowhouse_model::{
    Delete, ErrorKind, FamilyDescriptor, Get, Increment, Put, Result, Row, Scan, Snapshot,
    TableDescriptor, TableName, Timestamp,
};
use rowhouse_schema::{INDEXES_ATTRIBUTE, IndexState, KEY_ATTRIBUTE, KeySchema, Value, layout_of};
use rowhouse_store::{CompactionKind, LayoutChange, Store, Table};

const KEY: &str = "[at u32][user string]";
const COPY: &str = "by_user [bucket 4 of user][user][at] covers *";

fn name(text: &str) -> TableName {
    TableName::parse(text).unwrap()
}

fn mail(indexes: &str) -> TableDescriptor {
    TableDescriptor::new(name("mail"))
        .family(FamilyDescriptor::new("d").unwrap())
        .attribute(KEY_ATTRIBUTE, format!("1 {KEY}"))
        .attribute(INDEXES_ATTRIBUTE, format!("1 {indexes}"))
}

fn store(indexes: &str) -> (tempfile::TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    store.create_table(mail(indexes), &[]).unwrap();
    (dir, store)
}

fn table(store: &Store, of: &str) -> Arc<Table> {
    store.table(&name(of)).unwrap()
}

/// Returns the key of a row in the layout that a table has.
fn key(table: &Table, at: u32, user: &str) -> Vec<u8> {
    let schema = KeySchema::of_table(table.descriptor()).unwrap().unwrap();
    schema.encode(&[("at", at.into()), ("user", user.into())]).unwrap().to_vec()
}

fn put(table: &Table, at: u32, user: &str, value: &str) -> Result<()> {
    let put = Put::new(key(table, at, user))?.add("d", "q", value)?;
    table.mutate(&put.into()).map(|_| ())
}

fn value(table: &Table, at: u32, user: &str) -> Option<String> {
    let row = table.get(&Get::new(key(table, at, user)).unwrap()).unwrap();
    row.value("d", "q").map(|value| String::from_utf8(value.to_vec()).unwrap())
}

/// Returns a row's values in the table and in the copy.
fn both(store: &Store, at: u32, user: &str) -> [Option<String>; 2] {
    ["mail", "mail.by_user"].map(|of| value(&table(store, of), at, user))
}

fn rows(table: &Arc<Table>) -> Vec<Row> {
    let mut scanner = table.scan(Scan::all()).unwrap();
    std::iter::from_fn(|| scanner.next().unwrap()).collect()
}

/// Returns the fields in a table's rows.
fn fields(table: &Arc<Table>) -> BTreeSet<(u64, String)> {
    let schema = KeySchema::of_table(table.descriptor()).unwrap().unwrap();
    let fields = |row: &Row| {
        let values = schema.decode(row.key()).unwrap();
        let at = values.get("at").and_then(Value::as_u64).unwrap();
        (at, values.get("user").and_then(Value::as_str).unwrap().to_owned())
    };
    rows(table).iter().map(fields).collect()
}

fn wait_until_ready(store: &Store, index: &str) {
    while store.index_state(&name("mail"), index).unwrap() != IndexState::Ready {
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn is_clean(store: &Store, index: &str) -> bool {
    store.verify_index(&name("mail"), index, |_| {}).unwrap().is_clean()
}

#[test]
fn a_marker_that_one_table_could_drop_hides_a_later_put_in_both() {
    let (_dir, store) = store(COPY);
    let mail = table(&store, "mail");
    put(&mail, 1, "bob", "a").unwrap();
    let at = Timestamp::from_millis(5_000).unwrap();
    let delete = Delete::new(key(&mail, 1, "bob")).unwrap().column("d", "q", at).unwrap();
    mail.mutate(&delete.into()).unwrap();
    let older = Put::new(key(&mail, 2, "bob")).unwrap().add("d", "q", "keeps a file").unwrap();
    mail.mutate(&older.into()).unwrap();
    mail.flush().unwrap();
    mail.compact(CompactionKind::Major).unwrap();
    let put = Put::new(key(&mail, 1, "bob")).unwrap();
    let before = Timestamp::from_millis(4_000).unwrap();
    mail.mutate(&put.clone().add_at("d", "x", before, "x").unwrap().into()).unwrap();
    mail.mutate(&put.add_at("d", "q", before, "hidden").unwrap().into()).unwrap();
    assert_eq!(both(&store, 1, "bob"), [Some("a".into()), Some("a".into())]);
    let newest = Delete::new(key(&mail, 1, "bob")).unwrap();
    let newest = newest.version("d", "q", Timestamp::LATEST).unwrap();
    mail.mutate(&newest.into()).unwrap();
    assert_eq!(both(&store, 1, "bob"), [None, None]);
    assert!(is_clean(&store, "by_user"));
}

#[test]
fn a_deleted_version_uncovers_the_same_one_in_both_tables_although_one_has_dropped_it() {
    for compacted in ["mail", "mail.by_user"] {
        let (_dir, store) = store(COPY);
        let mail = table(&store, "mail");
        put(&mail, 1, "bob", "old").unwrap();
        put(&mail, 1, "bob", "new").unwrap();
        let of = table(&store, compacted);
        of.flush().unwrap();
        of.compact(CompactionKind::Major).unwrap();
        let newest = Delete::new(key(&mail, 1, "bob")).unwrap();
        let newest = newest.version("d", "q", Timestamp::LATEST).unwrap();
        mail.mutate(&newest.into()).unwrap();
        let [one, other] = both(&store, 1, "bob");
        assert_eq!(one, other, "{compacted} was compacted");
        assert!(is_clean(&store, "by_user"));
    }
}

#[test]
fn counters_and_rows_that_do_not_fit_have_the_copies_that_they_must_have() {
    let (_dir, store) = store(COPY);
    let mail = table(&store, "mail");
    for _ in 0..3 {
        let add = Increment::new(key(&mail, 1, "bob")).unwrap().add("d", "n", 1).unwrap();
        mail.mutate(&add.into()).unwrap();
    }
    let copy = table(&store, "mail.by_user");
    let copied = copy.get(&Get::new(key(&copy, 1, "bob")).unwrap()).unwrap();
    assert_eq!(copied.value("d", "n").as_deref(), Some(&3i64.to_be_bytes()[..]));
    mail.mutate(&Put::new("x").unwrap().add("d", "q", "misfit").unwrap().into()).unwrap();
    assert_eq!((rows(&mail).len(), rows(&copy).len()), (2, 1));
    let report = store.verify_index(mail.name(), "by_user", |_| {}).unwrap();
    assert_eq!((report.rows, report.unfit_rows, report.entries), (2, 1, 1));
    let refused = copy.mutate(&Put::new("x").unwrap().add("d", "q", "v").unwrap().into());
    assert!(refused.unwrap_err().message().contains("holds the entries of index by_user"));
}

#[test]
fn a_promotion_is_refused_for_rows_that_would_be_lost_and_for_indexes_that_are_no_copies() {
    let (_dir, store) = store(&format!("{COPY}; plain [user]"));
    let mail = table(&store, "mail");
    put(&mail, 1, "bob", "a").unwrap();
    let refused = |index: &str| {
        let error = store.promote_index(&name("mail"), index).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidRequest);
        error.message().to_owned()
    };
    assert!(refused("plain").starts_with("only an index that covers * can be promoted"));
    assert!(refused("none").contains("no index `none` is declared"));
    mail.mutate(&Put::new("x").unwrap().add("d", "q", "misfit").unwrap().into()).unwrap();
    assert_eq!(
        refused("by_user"),
        "rows whose keys do not fit the template would be lost, delete them first, by deletes that \
         do not expire: table=mail, template=[at u32][user string], rows=1, the first are x"
    );
    let mut expires = Delete::new("x").unwrap();
    expires.ttl_millis = Some(3_600_000);
    mail.mutate(&expires.into()).unwrap();
    assert!(refused("by_user").contains("rows=1"), "the row comes back in an hour");
    mail.mutate(&Delete::new("x").unwrap().into()).unwrap();
    store.promote_index(&name("mail"), "by_user").unwrap();
    assert_eq!(value(&table(&store, "mail"), 1, "bob").as_deref(), Some("a"));
    // The other index has another full form under the new key.
    wait_until_ready(&store, "plain");
    assert!(is_clean(&store, "plain") && is_clean(&store, "by_user"));
}

#[test]
fn scans_that_are_open_go_on_in_the_old_key_and_stale_handles_do_not_write() {
    let (_dir, store) = store(COPY);
    let mail = table(&store, "mail");
    for at in 0..40 {
        put(&mail, at, "bob", "a").unwrap();
    }
    store.split_region(&mail.regions()[0].name().full, Some(key(&mail, 20, "").into())).unwrap();
    let mail = table(&store, "mail");
    let expected = rows(&mail);
    let mut scanner = mail.scan(Scan::all()).unwrap();
    let mut seen = vec![scanner.next().unwrap().unwrap()];
    let point = store.read_point();

    store.promote_index(&name("mail"), "by_user").unwrap();

    seen.extend(std::iter::from_fn(|| scanner.next().unwrap()));
    assert_eq!(seen, expected);
    let mut at_point = mail.scan_at(Scan::all(), &point).unwrap();
    let at_point: Vec<_> = std::iter::from_fn(|| at_point.next().unwrap()).collect();
    assert_eq!(at_point, expected);
    let stale = put(&mail, 1, "bob", "lost").unwrap_err();
    assert_eq!(stale.kind(), ErrorKind::LayoutChanged);
    let now = table(&store, "mail");
    assert_eq!((now.regions().len(), table(&store, "mail.by_user").regions().len()), (1, 2));
    assert_eq!(fields(&now), fields(&table(&store, "mail.by_user")));
    put(&now, 1, "bob", "kept").unwrap();
    assert_eq!(both(&store, 1, "bob"), [Some("kept".into()), Some("kept".into())]);
}

#[test]
fn calls_with_the_same_layouts_swap_once_also_at_the_same_time() {
    let (_dir, store) = store(COPY);
    put(&table(&store, "mail"), 1, "bob", "a").unwrap();
    let change = |before: Option<&str>, after: &str| LayoutChange {
        before: before.map(|layout| layout.to_owned().into()),
        after: after.to_owned().into(),
    };
    let promote =
        |change: &LayoutChange| store.promote_index_once(&name("mail"), "by_user", change);
    let layout = || layout_of(table(&store, "mail").descriptor()).cloned();

    let first = change(None, "one");
    std::thread::scope(|scope| {
        let calls: Vec<_> = (0..4).map(|_| scope.spawn(|| promote(&first))).collect();
        calls.into_iter().for_each(|call| call.join().unwrap().unwrap());
    });
    assert_eq!(layout(), Some("one".into()));
    let mail = table(&store, "mail");
    assert_ne!(KeySchema::of_table(mail.descriptor()).unwrap().unwrap().to_string(), KEY);

    promote(&change(Some("one"), "two")).unwrap();
    let late = promote(&first).unwrap_err();
    assert_eq!(late.kind(), ErrorKind::LayoutChanged);
    let same = promote(&change(Some("two"), "two")).unwrap_err();
    assert_eq!(same.message(), "a promotion changes the layout: two");
    assert_eq!(layout(), Some("two".into()));
    assert_eq!(both(&store, 1, "bob"), [Some("a".into()), Some("a".into())]);
}

#[test]
fn a_snapshot_restores_the_key_that_the_table_had() {
    let (dir, store) = store(COPY);
    put(&table(&store, "mail"), 1, "bob", "a").unwrap();
    store.take_snapshot(Snapshot::new("before", name("mail")).unwrap()).unwrap();
    store.promote_index(&name("mail"), "by_user").unwrap();
    put(&table(&store, "mail"), 2, "bob", "b").unwrap();
    store.disable_table(&name("mail")).unwrap();
    store.restore_snapshot("before").unwrap();
    store.enable_table(&name("mail")).unwrap();
    wait_until_ready(&store, "by_user");
    let mail = table(&store, "mail");
    assert_eq!(KeySchema::of_table(mail.descriptor()).unwrap().unwrap().to_string(), KEY);
    assert_eq!(fields(&mail), BTreeSet::from([(1, "bob".to_owned())]));
    assert_eq!(fields(&table(&store, "mail.by_user")), fields(&mail));
    store.close().unwrap();
    let store = Store::open(dir.path()).unwrap();
    assert_eq!(both(&store, 1, "bob"), [Some("a".into()), Some("a".into())]);
}

/// Writes rows until stopped, and looks the table up again when the key has changed. Returns what
/// was acknowledged.
fn write(store: &Store, user: &str, stop: &AtomicBool, changes: &AtomicUsize) -> u32 {
    let mut mail = table(store, "mail");
    let mut at = 0;
    while !stop.load(Ordering::Relaxed) {
        let written = match at % 3 {
            0 => put(&mail, at, user, "v"),
            1 => {
                let put = Put::new(key(&mail, at, user)).unwrap().add("d", "q", "v").unwrap();
                mail.batch(vec![put.into()]).remove(0).map(|_| ())
            }
            _ => store.transact(|transaction| {
                let row = key(&mail, at, user);
                let have = transaction.get(&mail, &Get::new(row.clone())?)?;
                assert!(have.is_empty());
                transaction.mutate(&mail, Put::new(row)?.add("d", "q", "v")?).map(|_| ())
            }),
        };
        match written {
            Ok(()) => at += 1,
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::LayoutChanged, "{error}");
                changes.fetch_add(1, Ordering::Relaxed);
                mail = table(store, "mail");
            }
        }
    }
    at
}

/// Stops the writers, also where a test fails.
struct Stop<'s>(&'s AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn writers_lose_nothing_that_was_acknowledged_while_layouts_are_swapped() {
    let (dir, store) = store(COPY);
    let stop = AtomicBool::new(false);
    let changes = AtomicUsize::new(0);
    let users = ["ann", "bob", "eve"];
    let mut written = BTreeSet::new();
    std::thread::scope(|scope| {
        let writers = users.map(|user| {
            let store = &store;
            let stop = &stop;
            let changes = &changes;
            scope.spawn(move || (user, write(store, user, stop, changes)))
        });
        let guard = Stop(&stop);
        for round in 0..8 {
            std::thread::sleep(Duration::from_millis(30));
            match round {
                2 => table(&store, "mail").flush().unwrap(),
                4 => {
                    let mail = table(&store, "mail");
                    let at = key(&mail, 50, "bob");
                    store.split_region(&mail.regions()[0].name().full, Some(at.into())).unwrap();
                }
                6 => table(&store, "mail.by_user").compact(CompactionKind::Major).unwrap(),
                _ => {}
            }
            store.promote_index(&name("mail"), "by_user").unwrap();
        }
        drop(guard);
        for writer in writers {
            let (user, rows) = writer.join().unwrap();
            written.extend((0..rows).map(|at| (u64::from(at), user.to_owned())));
        }
    });
    assert!(written.len() > 20 && changes.load(Ordering::Relaxed) > 0);
    let check = |store: &Store| {
        for of in ["mail", "mail.by_user"] {
            assert_eq!(fields(&table(store, of)), written, "{of}");
        }
        assert!(is_clean(store, "by_user"));
    };
    check(&store);
    store.close().unwrap();
    check(&Store::open(dir.path()).unwrap());
}

#[test]
fn a_copy_that_is_declared_later_is_built_while_writers_go_on() {
    let (_dir, store) = store("plain [user]");
    let mail = table(&store, "mail");
    for at in 0..600 {
        put(&mail, at, "old", "v").unwrap();
    }
    mail.flush().unwrap();
    let stop = AtomicBool::new(false);
    let changes = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let writer = scope.spawn(|| write(&store, "new", &stop, &changes));
        let guard = Stop(&stop);
        let indexes = format!("1 plain [user]; {COPY}");
        let declared =
            |mail: &TableDescriptor| Ok(mail.clone().attribute(INDEXES_ATTRIBUTE, indexes));
        store.change_table(&name("mail"), declared).unwrap();
        wait_until_ready(&store, "by_user");
        store.promote_index(&name("mail"), "by_user").unwrap();
        drop(guard);
        let rows = writer.join().unwrap();
        assert_eq!(fields(&table(&store, "mail")).len() as u32, 600 + rows);
    });
    assert!(is_clean(&store, "by_user"));
    // The old key goes with the index, and delete markers with it.
    wait_until_ready(&store, "plain");
    let dropped =
        |mail: &TableDescriptor| Ok(mail.clone().attribute(INDEXES_ATTRIBUTE, "1 plain [user]"));
    store.change_table(&name("mail"), dropped).unwrap();
    assert_eq!(store.table(&name("mail.by_user")).err().unwrap().kind(), ErrorKind::TableNotFound);
    let mail = table(&store, "mail");
    mail.mutate(&Delete::new(key(&mail, 1, "old")).unwrap().into()).unwrap();
    mail.flush().unwrap();
    mail.compact(CompactionKind::Major).unwrap();
    let raw = Scan { raw: true, ..Scan::all() };
    let mut scanner = mail.scan(raw).unwrap();
    let cells = std::iter::from_fn(|| scanner.next().unwrap()).collect::<Vec<_>>();
    assert!(cells.iter().all(|row| row.key() != key(&mail, 1, "old")), "the marker is gone");
}

#[test]
fn a_repaired_copy_is_built_anew() {
    let (_dir, store) = store(COPY);
    put(&table(&store, "mail"), 1, "bob", "a").unwrap();
    let before = table(&store, "mail.by_user").regions()[0].name().clone();
    store.request_index_repair(&name("mail"), "by_user").unwrap();
    wait_until_ready(&store, "by_user");
    assert_ne!(*table(&store, "mail.by_user").regions()[0].name(), before);
    assert_eq!(both(&store, 1, "bob"), [Some("a".into()), Some("a".into())]);
}
