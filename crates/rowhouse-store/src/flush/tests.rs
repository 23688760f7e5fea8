use std::sync::{Arc, Weak};

use rowhouse_model::{
    Cell, Delete, FamilyDescriptor, Get, Mutation, Put, Scan, TableDescriptor, TableName,
    TimeRange, Timestamp,
};

use crate::disk::simulated::SimulatedDisk;
use crate::memstore::Memstore;
use crate::{CompactionSettings, RegionScanner, Settings, Store, Table};

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis).unwrap()
}

fn open(disk: &SimulatedDisk) -> Store {
    let compaction = CompactionSettings { files_min: usize::MAX, ..Default::default() };
    let settings = Settings { compaction, ..Settings::default() };
    Store::builder("simulated").settings(settings).with_disk(disk.clone()).open().unwrap()
}

fn name() -> TableName {
    TableName::parse("t").unwrap()
}

fn table(store: &Store, family: FamilyDescriptor) -> Arc<Table> {
    store.create_table(TableDescriptor::new(name()).family(family), &[]).unwrap();
    store.table(&name()).unwrap()
}

fn family() -> FamilyDescriptor {
    FamilyDescriptor::new("f").unwrap()
}

fn put(millis: i64) -> Mutation {
    Put::new("row").unwrap().add_at("f", "q", at(millis), "").unwrap().into()
}

/// Returns the timestamps and kinds of the stored cells.
fn stored(table: &Arc<Table>) -> String {
    let mut scanner = table.scan(Scan { raw: true, ..Scan::all().versions(u32::MAX) }).unwrap();
    let mut shown = Vec::new();
    while let Some(row) = scanner.next().unwrap() {
        let show = |cell: Cell| format!("{}/{:?}", cell.timestamp().as_millis(), cell.kind());
        shown.extend(row.to_cells().into_iter().map(show));
    }
    shown.join(" ")
}

fn files(table: &Table) -> usize {
    table.regions()[0].families()[0].super_version().files.len()
}

/// Returns the cells left by a flush of puts at 1, 2, 3 and 4 and a delete of the version at 4.
fn left_by_a_flush(family: FamilyDescriptor) -> String {
    let store = open(&SimulatedDisk::default());
    let table = table(&store, family);
    for millis in [1, 2, 3, 4] {
        table.mutate(&put(millis)).unwrap();
    }
    let delete = Delete::new("row").unwrap().version("f", "q", at(4)).unwrap();
    table.mutate(&delete.into()).unwrap();
    table.flush().unwrap();
    stored(&table)
}

#[test]
fn a_flush_writes_the_same_cells_as_a_minor_merge() {
    assert_eq!(left_by_a_flush(family().versions(2)), "4/DeleteVersion 3/Put 2/Put");
    let all = "4/DeleteVersion 4/Put 3/Put 2/Put 1/Put";
    assert_eq!(left_by_a_flush(family().attribute("NEW_VERSION_BEHAVIOR", "TRUE")), all);
    let mut keeping = family();
    keeping.configuration.insert("rowhouse.compaction.minor.drops.versions".into(), "false".into());
    assert_eq!(left_by_a_flush(keeping), "4/DeleteVersion 3/Put 2/Put 1/Put");
}

#[test]
fn a_memstore_of_which_nothing_is_left_is_flushed_to_no_file() {
    let disk = SimulatedDisk::default();
    let store = open(&disk);
    let in_table = table(&store, family().attribute("TTL", "1"));
    in_table.mutate(&put(1)).unwrap();
    in_table.flush().unwrap();
    assert_eq!(files(&in_table), 0);
    assert_eq!(in_table.regions()[0].families()[0].first_unflushed(), None);
    assert_eq!(in_table.regions()[0].families()[0].memstore_bytes(), 0);
    in_table.mutate(&put(i64::MAX - 1)).unwrap();
    drop((in_table, store));
    let store = open(&disk);
    let table = store.table(&name()).unwrap();
    assert_eq!(table.get(&Get::new("row").unwrap()).unwrap().len(), 1);
    table.flush().unwrap();
    assert_eq!(files(&table), 1);
}

#[test]
fn a_sequence_from_before_a_flush_is_too_old_for_its_outcome() {
    let store = open(&SimulatedDisk::default());
    let table = table(&store, family());
    let region = Arc::clone(&table.regions()[0]);
    let mvcc = &region.engine().mvcc;
    table.mutate(&put(1)).unwrap();
    let old = mvcc.visible();
    table.flush().unwrap();
    assert!(region.families()[0].super_version_at(old - 1).is_some(), "nothing was dropped");
    table.mutate(&put(2)).unwrap();
    let between = mvcc.visible();
    table.mutate(&put(3)).unwrap();
    let mut scanner = table.scan(Scan::all()).unwrap();
    table.flush().unwrap();
    assert!(region.families()[0].super_version_at(between).is_none());
    assert!(region.families()[0].super_version_at(mvcc.visible()).is_some());
    assert_eq!(scanner.next().unwrap().unwrap().to_cells()[0].timestamp(), at(3));
}

/// Returns the cells left from puts at 4, 5 and 6 if a delete marker with its own TTL covers the
/// last one.
fn cells_left_by_expiring_marker(delete: Delete) -> String {
    let store = open(&SimulatedDisk::default());
    let table = table(&store, family().versions(1));
    for millis in [4, 5, 6] {
        table.mutate(&put(millis)).unwrap();
    }
    let mut delete = delete;
    delete.ttl_millis = Some(i64::MAX);
    table.mutate(&delete.into()).unwrap();
    let seen = || table.get(&Get::new("row").unwrap()).unwrap().to_cells()[0].timestamp();
    assert_eq!(seen(), at(5));
    table.flush().unwrap();
    assert_eq!(seen(), at(5));
    stored(&table)
}

#[test]
fn a_version_that_only_a_marker_with_a_time_to_live_covers_counts_not_as_one_that_is_seen() {
    let delete = || Delete::new("row").unwrap();
    let version = delete().version("f", "q", at(6)).unwrap();
    assert_eq!(cells_left_by_expiring_marker(version), "6/DeleteVersion 6/Put 5/Put 4/Put");
    let version = delete().family_version("f", at(6)).unwrap();
    assert_eq!(cells_left_by_expiring_marker(version), "6/DeleteFamilyVersion 6/Put 5/Put 4/Put");
}

/// Returns how many of these memstores are still allocated, though their cells are in files.
fn alive(memstores: &[Weak<Memstore>]) -> usize {
    memstores.iter().filter(|memstore| memstore.upgrade().is_some()).count()
}

/// Opens a scan, puts 200 rows and flushes them, repeatedly. Returns how many memstores the scans
/// hold.
fn scans_over_flushes(reversed: bool, go_on: impl Fn(&mut RegionScanner)) -> usize {
    let store = open(&SimulatedDisk::default());
    let table = table(&store, family());
    let region = Arc::clone(&table.regions()[0]);
    let mut memstores = Vec::new();
    let mut scanners = Vec::new();
    let put_all = |millis| {
        for row in 0..200 {
            let put = Put::new(format!("{row:03}")).unwrap();
            table.mutate(&put.add_at("f", "q", at(millis), "").unwrap().into()).unwrap();
        }
    };
    for round in 1..=5 {
        put_all(2 * round);
        let mut scanner = region.scan(&Scan { reversed, ..Scan::all() }).unwrap();
        assert!(scanner.next().unwrap().is_some());
        scanner.follow_flushes().unwrap();
        // A flush would keep all cells that the scan does not see.
        put_all(2 * round + 1);
        memstores.push(Arc::downgrade(&region.families()[0].active()));
        scanners.push((2 * round, scanner));
        table.flush().unwrap();
    }
    scanners.iter_mut().for_each(|(_, scanner)| go_on(scanner));
    let alive = alive(&memstores);
    for (millis, mut scanner) in scanners {
        let mut left = 1;
        while let Some(row) = scanner.next().unwrap() {
            left += 1;
            assert_eq!(row.to_cells()[0].timestamp(), at(millis));
        }
        assert!(left > 100, "{left}");
    }
    alive
}

#[test]
fn scanners_that_wait_keep_no_memstore_that_was_flushed() {
    for reversed in [false, true] {
        assert_eq!(scans_over_flushes(reversed, |_| {}), 5);
        let waits = |scanner: &mut RegionScanner| assert_eq!(scanner.follow_flushes().unwrap(), 0);
        assert_eq!(scans_over_flushes(reversed, waits), 0);
    }
}

#[test]
fn scanners_on_their_way_let_memstores_go_that_were_flushed() {
    let goes_on = |scanner: &mut RegionScanner| {
        for _ in 0..70 {
            scanner.next().unwrap().unwrap();
        }
    };
    for reversed in [false, true] {
        assert_eq!(scans_over_flushes(reversed, goes_on), 0);
    }
}

#[test]
fn a_scanner_that_sees_cells_dropped_by_a_flush_holds_the_memstore() {
    let store = open(&SimulatedDisk::default());
    let table = table(&store, family());
    let region = Arc::clone(&table.regions()[0]);
    table.mutate(&put(1)).unwrap();
    table.mutate(&put(2)).unwrap();
    let early = TimeRange::new(at(0), at(9)).unwrap();
    let mut scanner = region.scan(&Scan::all().time_range(early)).unwrap();
    let memstore = Arc::downgrade(&region.families()[0].active());
    table.flush().unwrap();
    assert!(scanner.follow_flushes().unwrap() > 0);
    assert_eq!(alive(&[memstore]), 1);
    assert_eq!(scanner.next().unwrap().unwrap().to_cells()[0].timestamp(), at(2));
}
