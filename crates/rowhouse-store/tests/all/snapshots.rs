//! Snapshots hold a table's contents at one read point, regardless of later changes to the table;
//! clones and restored tables then change independently.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use rowhouse_model::{
    Delete, Durability, ErrorKind, FamilyDescriptor, Get, Put, Scan, Snapshot, SnapshotKind,
    TableDescriptor, TableName, TableState,
};
use rowhouse_store::{Clock, CompactionKind, Settings, Store, Table, check, salvage};

fn name() -> TableName {
    named("t")
}

fn named(name: &str) -> TableName {
    TableName::parse(name).unwrap()
}

fn family(name: &'static str) -> FamilyDescriptor {
    FamilyDescriptor::new(name).unwrap()
}

/// Returns a store with the table, split in two, and the directory.
fn store() -> (tempfile::TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let table = TableDescriptor::new(name()).family(family("f")).family(family("g"));
    store.create_table(table, &["m".into()]).unwrap();
    (dir, store)
}

fn put(table: &Table, row: impl Into<String>, value: &str) {
    let put = Put::new(row.into()).unwrap();
    let put = put.add("f", "q", value).unwrap();
    let put = put.add("g", "q", value).unwrap();
    table.mutate(&put.into()).unwrap();
}

fn fill(store: &Store, value: &str) {
    let table = store.table(&name()).unwrap();
    ["a", "b", "x", "y"].into_iter().for_each(|row| put(&table, row, value));
}

/// Returns `row=value` of every row in a table, after checking that the families hold the same.
fn rows(store: &Store, table: &str) -> Vec<String> {
    let mut scanner = store.table(&named(table)).unwrap().scan(Scan::all()).unwrap();
    let rows = std::iter::from_fn(|| scanner.next().unwrap());
    rows.map(|row| {
        assert_eq!(row.value("f", "q"), row.value("g", "q"));
        let value = row.value("f", "q").unwrap();
        format!("{}={}", String::from_utf8_lossy(row.key()), String::from_utf8_lossy(&value))
    })
    .collect()
}

fn take(store: &Store, snapshot: &str) -> Snapshot {
    store.take_snapshot(Snapshot::new(snapshot, name()).unwrap()).unwrap()
}

fn drop_table(store: &Store, table: &str) {
    store.disable_table(&named(table)).unwrap();
    store.drop_table(&named(table)).unwrap();
}

fn files(dir: &Path) -> usize {
    std::fs::read_dir(dir.join("files")).unwrap().count()
}

fn check_clean(dir: &Path) {
    let report = check(dir, |_| {}).unwrap();
    assert!(report.problems.is_empty() && report.strangers.is_empty(), "{report:?}");
}

#[test]
fn a_snapshot_holds_its_rows_through_every_change_of_its_table() {
    let (dir, store) = store();
    fill(&store, "then");
    let taken = take(&store, "s");
    assert_eq!(taken.kind, SnapshotKind::Flush);
    let then = rows(&store, "t");
    let at_once = |store: &Store, clone: &str| {
        store.clone_snapshot("s", &named(clone)).unwrap();
        assert_eq!(rows(store, clone), then, "{clone}");
    };
    at_once(&store, "unchanged");
    fill(&store, "later");
    at_once(&store, "overwritten");
    let table = store.table(&name()).unwrap();
    table.flush().unwrap();
    table.compact(CompactionKind::Major).unwrap();
    at_once(&store, "compacted");
    store.split_region(&table.region_of(b"a").name().full, Some("b".into())).unwrap();
    store.table(&name()).unwrap().compact(CompactionKind::Major).unwrap();
    at_once(&store, "split");
    store.drop_family(&name(), b"g").unwrap();
    at_once(&store, "altered");
    store.disable_table(&name()).unwrap();
    store.truncate_table(&name(), false).unwrap();
    at_once(&store, "truncated");
    drop_table(&store, "t");
    at_once(&store, "dropped");
    drop(table);
    store.close().unwrap();
    check_clean(dir.path());
    let store = Store::open(dir.path()).unwrap();
    at_once(&store, "reopened");
    assert_eq!(store.snapshots(), [taken]);
    assert_eq!(rows(&store, "unchanged"), then);
}

#[test]
fn a_clone_and_its_origin_know_nothing_of_each_other() {
    let (dir, store) = store();
    fill(&store, "one");
    take(&store, "s");
    store.clone_snapshot("s", &named("c")).unwrap();
    let clone = store.table(&named("c")).unwrap();
    put(&clone, "a", "two");
    clone.mutate(&Delete::new("x").unwrap().into()).unwrap();
    fill(&store, "three");
    let expected = ["a=two", "b=one", "y=one"];
    assert_eq!(rows(&store, "c"), expected);
    clone.compact(CompactionKind::Major).unwrap();
    drop_table(&store, "t");
    store.delete_snapshot("s").unwrap();
    assert_eq!(rows(&store, "c"), expected);
    drop(clone);
    store.close().unwrap();
    check_clean(dir.path());
    assert_eq!(rows(&Store::open(dir.path()).unwrap(), "c"), expected);
}

#[test]
fn a_restored_table_has_its_old_rows_declaration_and_regions() {
    let (dir, store) = store();
    fill(&store, "then");
    let declared = store.table(&name()).unwrap().descriptor().clone();
    take(&store, "s");
    let then = rows(&store, "t");
    let old = store.table(&name()).unwrap();
    store.split_region(&old.region_of(b"a").name().full, Some("b".into())).unwrap();
    fill(&store, "later");
    put(&old, "new", "later");
    store.drop_family(&name(), b"g").unwrap();
    store.add_family(&name(), family("h")).unwrap();
    let error = store.restore_snapshot("s").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TableNotDisabled);
    store.disable_table(&name()).unwrap();
    store.restore_snapshot("s").unwrap();
    let restored = store.table(&name()).unwrap();
    assert_eq!(restored.state(), TableState::Disabled);
    assert_eq!((restored.descriptor(), restored.regions().len()), (&declared, 2));
    store.enable_table(&name()).unwrap();
    assert_eq!(rows(&store, "t"), then);
    // Later writes are newer than all earlier cells.
    fill(&store, "now");
    store.table(&name()).unwrap().flush().unwrap();
    drop((old, restored));
    store.close().unwrap();
    check_clean(dir.path());
    let store = Store::open(dir.path()).unwrap();
    assert_eq!(rows(&store, "t"), ["a=now", "b=now", "x=now", "y=now"]);
    drop_table(&store, "t");
    store.restore_snapshot("s").unwrap();
    assert_eq!(rows(&store, "t"), then, "a table that is not there is made anew, and enabled");
}

#[test]
fn logged_writes_of_a_replaced_table_do_not_come_back_into_the_restored_one() {
    let (dir, store) = store();
    take(&store, "empty");
    fill(&store, "later");
    store.disable_table(&name()).unwrap();
    store.restore_snapshot("empty").unwrap();
    store.enable_table(&name()).unwrap();
    drop(store);
    assert_eq!(rows(&Store::open(dir.path()).unwrap(), "t"), [""; 0]);
}

#[test]
fn files_go_with_the_last_table_or_snapshot_that_names_them() {
    let (dir, store) = store();
    fill(&store, "v");
    take(&store, "s");
    assert_eq!(files(dir.path()), 4, "one of each region and family");
    store.clone_snapshot("s", &named("c")).unwrap();
    take(&store, "again");
    drop_table(&store, "t");
    store.delete_snapshot("again").unwrap();
    assert_eq!(files(dir.path()), 4);
    store.delete_snapshot("s").unwrap();
    assert_eq!(files(dir.path()), 4);
    drop(store);
    let store = Store::open(dir.path()).unwrap();
    drop_table(&store, "c");
    assert_eq!(files(dir.path()), 0);
}

#[test]
fn a_region_is_as_large_with_snapshots_as_without() {
    let (_dir, store) = store();
    fill(&store, "v");
    store.table(&name()).unwrap().flush().unwrap();
    let size = |store: &Store| store.table(&name()).unwrap().region_of(b"a").size().file_bytes;
    let before = size(&store);
    take(&store, "s");
    assert_eq!(size(&store), before);
    store.clone_snapshot("s", &named("c")).unwrap();
    assert_eq!(size(&store), before / 2 / 2 * 2, "the clone has half of each file");
}

#[test]
fn a_snapshot_taken_beside_writers_has_whole_mutations_over_all_regions() {
    let (_dir, store) = store();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for writer in 0..2 {
            let store = &store;
            let stop = &stop;
            scope.spawn(move || {
                let table = store.table(&name()).unwrap();
                for number in 0u64.. {
                    if stop.load(Ordering::Relaxed) {
                        break;
                    }
                    // One commit in both regions and both families.
                    let put = |row: String| {
                        let put = Put::new(row).unwrap();
                        let put = put.add("f", "q", number.to_string()).unwrap();
                        (Arc::clone(&table), put.add("g", "q", number.to_string()).unwrap().into())
                    };
                    store.commit(&[put(format!("a{writer}")), put(format!("x{writer}"))]).unwrap();
                }
            });
        }
        let compacting = scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                store.table(&name()).unwrap().compact(CompactionKind::Major).unwrap();
            }
        });
        for at in 0..20 {
            take(&store, &format!("s{at}"));
        }
        stop.store(true, Ordering::Relaxed);
        compacting.join().unwrap();
    });
    for at in 0..20 {
        let clone = named(&format!("c{at}"));
        store.clone_snapshot(&format!("s{at}"), &clone).unwrap();
        let rows = rows(&store, clone.qualifier());
        for writer in 0..2 {
            let values = rows.iter();
            let values = values.filter_map(|row| row[1..].strip_prefix(&format!("{writer}=")));
            let values: Vec<_> = values.collect();
            assert!(matches!(values[..], [] | [_, _]), "a mutation is torn: {rows:?}");
            assert_eq!(values.first(), values.last(), "a mutation is torn: {rows:?}");
        }
    }
}

#[test]
fn a_snapshot_without_a_flush_has_the_cells_of_files_only() {
    let (_dir, store) = store();
    fill(&store, "flushed");
    store.table(&name()).unwrap().flush().unwrap();
    fill(&store, "in memory");
    let mut snapshot = Snapshot::new("s", name()).unwrap();
    snapshot.kind = SnapshotKind::SkipFlush;
    store.take_snapshot(snapshot).unwrap();
    store.clone_snapshot("s", &named("c")).unwrap();
    assert_eq!(rows(&store, "c")[0], "a=flushed");
}

#[test]
fn a_snapshot_of_a_disabled_table_has_unlogged_cells_of_memory() {
    let (_dir, store) = store();
    let mut unlogged = Put::new("a").unwrap().add("f", "q", "v").unwrap();
    unlogged.durability = Durability::SkipWal;
    store.table(&name()).unwrap().mutate(&unlogged.into()).unwrap();
    store.disable_table(&name()).unwrap();
    assert_eq!(take(&store, "s").kind, SnapshotKind::Disabled);
    store.clone_snapshot("s", &named("c")).unwrap();
    let row = store.table(&named("c")).unwrap().get(&Get::new("a").unwrap()).unwrap();
    assert_eq!(row.value("f", "q").as_deref(), Some(&b"v"[..]));
}

#[test]
fn impossible_requests_are_refused_with_their_error_kind() {
    let (_dir, store) = store();
    take(&store, "s");
    let snapshot = |name: &str, table: &str| Snapshot::new(name, named(table)).unwrap();
    let kind = |done: rowhouse_model::Result<()>| done.unwrap_err().kind();
    let taken = |name, table| store.take_snapshot(snapshot(name, table)).map(|_| ());
    assert_eq!(kind(taken("s", "t")), ErrorKind::SnapshotExists);
    assert_eq!(kind(taken("other", "nowhere")), ErrorKind::SnapshotCreation);
    assert_eq!(kind(store.delete_snapshot("no")), ErrorKind::SnapshotNotFound);
    assert_eq!(kind(store.restore_snapshot("no")), ErrorKind::SnapshotNotFound);
    assert_eq!(kind(store.clone_snapshot("no", &named("c"))), ErrorKind::SnapshotNotFound);
    assert_eq!(kind(store.clone_snapshot("s", &name())), ErrorKind::TableExists);
    assert_eq!(kind(store.clone_snapshot("s", &named("ns:c"))), ErrorKind::NamespaceNotFound);
    assert_eq!(kind(store.delete_snapshot("a/b")), ErrorKind::InvalidRequest);
    assert_eq!(store.snapshots().len(), 1);
}

#[test]
fn a_transaction_that_read_a_table_begins_again_when_it_was_restored() {
    let (_dir, store) = store();
    fill(&store, "then");
    take(&store, "s");
    let other = TableDescriptor::new(named("other")).family(family("f"));
    store.create_table(other, &[]).unwrap();
    let other = store.table(&named("other")).unwrap();
    let tries = AtomicI64::new(0);
    store
        .transact(|transaction| {
            let table = store.table(&name())?;
            transaction.get(&table, &Get::new("a")?)?;
            if tries.fetch_add(1, Ordering::Relaxed) == 0 {
                store.disable_table(&name())?;
                store.restore_snapshot("s")?;
                store.enable_table(&name())?;
            }
            transaction.mutate(&other, Put::new("b")?.add("f", "q", "v")?).map(|_| ())
        })
        .unwrap();
    assert_eq!(tries.into_inner(), 2);
}

#[test]
fn a_snapshot_whose_time_has_passed_makes_no_table_and_goes() {
    let dir = tempfile::tempdir().unwrap();
    let now = Arc::new(AtomicI64::new(1_000_000));
    let mut settings = Settings::default();
    settings.compaction.check_period = Duration::from_millis(20);
    let clock = Fixed(Arc::clone(&now));
    let store = Store::builder(dir.path()).settings(settings).with_clock(clock).open().unwrap();
    store.create_table(TableDescriptor::new(name()).family(family("f")), &[]).unwrap();
    let mut snapshot = Snapshot::new("s", name()).unwrap();
    snapshot.ttl = Some(Duration::from_secs(5));
    store.take_snapshot(snapshot).unwrap();
    take(&store, "for-ever");
    now.store(1_005_000, Ordering::Relaxed);
    store.clone_snapshot("s", &named("in-time")).unwrap();
    now.store(1_005_001, Ordering::Relaxed);
    let refused = store.clone_snapshot("s", &named("c")).unwrap_err().kind();
    // Unless it was removed already.
    let known = [ErrorKind::SnapshotExpired, ErrorKind::SnapshotNotFound];
    assert!(known.contains(&refused), "{refused:?}");
    while store.snapshots().len() > 1 {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(store.snapshots()[0].name(), "for-ever");
}

#[test]
fn a_snapshot_whose_time_has_passed_stays_while_that_is_switched_off() {
    let dir = tempfile::tempdir().unwrap();
    let now = Arc::new(AtomicI64::new(1_000_000));
    let open = || {
        let mut settings = Settings::default();
        settings.compaction.check_period = Duration::from_millis(20);
        let clock = Fixed(Arc::clone(&now));
        Store::builder(dir.path()).settings(settings).with_clock(clock).open().unwrap()
    };
    let store = open();
    assert!(store.snapshot_cleanup());
    assert!(store.set_snapshot_cleanup(false).unwrap());
    assert!(!store.set_snapshot_cleanup(false).unwrap());
    store.create_table(TableDescriptor::new(name()).family(family("f")), &[]).unwrap();
    for name in ["s", "deleted"] {
        let mut snapshot = Snapshot::new(name, self::name()).unwrap();
        snapshot.ttl = Some(Duration::from_secs(5));
        store.take_snapshot(snapshot).unwrap();
    }
    now.store(2_000_000, Ordering::Relaxed);
    drop(store);
    // An open rewrites the manifest.
    drop(open());
    let store = open();
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!((store.snapshot_cleanup(), store.snapshots().len()), (false, 2));
    let refused = store.clone_snapshot("s", &named("c")).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::SnapshotExpired);
    store.delete_snapshot("deleted").unwrap();
    assert!(!store.set_snapshot_cleanup(true).unwrap());
    while !store.snapshots().is_empty() {
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn tables_made_of_a_snapshot_have_its_max_filesize_where_the_table_has_none() {
    let (dir, store) = store();
    let sized = TableDescriptor::new(named("sized")).family(family("f"));
    store.create_table(sized.attribute("MAX_FILESIZE", "3000000"), &[]).unwrap();
    for table in ["t", "sized"] {
        let mut snapshot = Snapshot::new(table, named(table)).unwrap();
        snapshot.region_bytes_max = Some(5_000_000);
        store.take_snapshot(snapshot).unwrap();
    }
    drop(store);
    let store = Store::open(dir.path()).unwrap();
    assert_eq!(store.snapshot("t").unwrap().region_bytes_max, Some(5_000_000));
    let size = |name: &str| store.table(&named(name)).unwrap().descriptor().region_bytes_max();
    for (snapshot, want) in [("t", 5_000_000), ("sized", 3_000_000)] {
        let clone = format!("{snapshot}-again");
        store.clone_snapshot(snapshot, &named(&clone)).unwrap();
        assert_eq!(size(&clone), Some(want));
    }
    assert_eq!(size("t"), None);
    store.disable_table(&name()).unwrap();
    store.restore_snapshot("t").unwrap();
    assert_eq!(size("t"), Some(5_000_000));
}

#[test]
fn a_salvage_reports_the_snapshots_that_it_drops() {
    let (dir, store) = store();
    fill(&store, "v");
    take(&store, "s");
    drop_table(&store, "t");
    drop(store);
    let into = tempfile::tempdir().unwrap();
    let report = salvage(dir.path(), into.path(), |_| {}).unwrap();
    let lost: Vec<_> = report.lost.iter().map(ToString::to_string).collect();
    assert_eq!(lost, ["a salvage drops snapshots: snapshot=s"]);
}

#[test]
fn damage_in_a_file_that_only_a_snapshot_has_is_reported_with_its_place() {
    let (dir, store) = store();
    fill(&store, "v");
    take(&store, "s");
    drop_table(&store, "t");
    drop(store);
    let file = std::fs::read_dir(dir.path().join("files")).unwrap().next().unwrap().unwrap().path();
    let mut bytes = std::fs::read(&file).unwrap();
    bytes[60] ^= 1;
    std::fs::write(&file, bytes).unwrap();
    let report = check(dir.path(), |_| {}).unwrap();
    assert_eq!((report.snapshots, report.problems.len()), (1, 1), "{report:?}");
    assert!(report.problems[0].message().contains("snapshot=s"), "{report:?}");
}

struct Fixed(Arc<AtomicI64>);

impl Clock for Fixed {
    fn now_millis(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }
}
