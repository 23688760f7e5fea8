//! Background compactions of whole stores, on the simulated disk.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::{Duration, Instant};

use rowhouse_model::{
    Bytes, CompactionState, ErrorKind, FamilyDescriptor, Get, Put, Row, Scan, TableDescriptor,
    TableName,
};

use crate::compaction_queue::RETRY_WAIT;
use crate::disk::simulated::SimulatedDisk;
use crate::disk::{Disk, DiskFile};
use crate::{Clock, CompactionKind, CompactionSettings, Region, Settings, Store, Table};

/// A disk that, when instructed, panics where files are created.
#[derive(Clone, Default)]
struct PanickingDisk {
    disk: SimulatedDisk,
    panics: Arc<AtomicBool>,
}

impl Disk for PanickingDisk {
    fn create(&self, path: &str) -> io::Result<Arc<dyn DiskFile>> {
        assert!(!self.panics.load(Ordering::Relaxed), "simulated panic");
        self.disk.create(path)
    }
    fn open(&self, path: &str) -> io::Result<Arc<dyn DiskFile>> {
        self.disk.open(path)
    }
    fn list(&self, dir: &str) -> io::Result<Vec<String>> {
        self.disk.list(dir)
    }
    fn create_dir(&self, dir: &str) -> io::Result<()> {
        self.disk.create_dir(dir)
    }
    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        self.disk.rename(from, to)
    }
    fn remove(&self, path: &str) -> io::Result<()> {
        self.disk.remove(path)
    }
    fn sync_dir(&self, dir: &str) -> io::Result<()> {
        self.disk.sync_dir(dir)
    }
    fn available_bytes(&self) -> io::Result<u64> {
        self.disk.available_bytes()
    }
}

/// A clock that advances only when set.
#[derive(Clone)]
struct TurnedClock(Arc<AtomicI64>);

impl Clock for TurnedClock {
    fn now_millis(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }
}

fn settings(change: impl FnOnce(&mut CompactionSettings)) -> Settings {
    let mut compaction = CompactionSettings::default();
    change(&mut compaction);
    Settings { compaction, busy_wait: Duration::from_millis(100), ..Settings::default() }
}

/// Allows only requested compactions.
fn only_requested(compaction: &mut CompactionSettings) {
    compaction.files_min = usize::MAX;
}

/// Makes compactions so slow that none ends.
fn endless(compaction: &mut CompactionSettings) {
    compaction.bytes_per_second = Some(1);
}

fn open(disk: impl Disk, settings: Settings) -> Store {
    Store::builder("simulated").settings(settings).with_disk(disk).open().unwrap()
}

fn create(store: &Store, table: &str, family: FamilyDescriptor) -> Arc<Table> {
    let name = TableName::parse(table).unwrap();
    store.create_table(TableDescriptor::new(name.clone()).family(family), &[]).unwrap();
    store.table(&name).unwrap()
}

fn family() -> FamilyDescriptor {
    FamilyDescriptor::new("f").unwrap()
}

fn region(table: &Table) -> &Region {
    &table.regions()[0]
}

fn files(table: &Table) -> usize {
    region(table).size().files
}

fn put(table: &Table, row: &str, value: impl Into<Vec<u8>>) -> rowhouse_model::Result<()> {
    let put = Put::new(row.to_owned()).unwrap().add("f", "q", value.into()).unwrap();
    table.mutate(&put.into()).map(|_| ())
}

/// Flushes one row to a file.
fn put_file(table: &Table, row: &str, value: impl Into<Vec<u8>>) {
    put(table, row, value).unwrap();
    table.flush().unwrap();
}

/// Writes files with rows so large that a compaction checks for a stop between them.
fn put_large_files(table: &Table) {
    (0..4).for_each(|row| put_file(table, &row.to_string(), vec![7; 1 << 20]));
}

fn get(table: &Table, row: &str) -> rowhouse_model::Result<Row> {
    table.get(&Get::new(row.to_owned()).unwrap())
}

fn wait_until(what: &str, ready: impl Fn() -> bool) {
    let started = Instant::now();
    while !ready() {
        assert!(started.elapsed() < Duration::from_secs(120), "in vain: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Returns how many compactions of the table failed in succession, and the last message.
fn failure(table: &Table) -> Option<(u32, String)> {
    let region = region(table);
    let key = (region.id(), region.families()[0].name().clone());
    region.engine().compactions.failures(&key)
}

#[test]
fn files_are_merged_as_they_come_and_everything_is_read_back() {
    let store = open(SimulatedDisk::default(), settings(|_| {}));
    let table = create(&store, "t", family());
    for n in 0..60 {
        put_file(&table, &n.to_string(), [n]);
    }
    wait_until("few files", || files(&table) < 3);
    for n in 0..60 {
        let row = get(&table, &n.to_string()).unwrap();
        assert_eq!(row.value("f", "q").as_deref(), Some(&[n][..]));
    }
}

#[test]
fn requested_compactions_run_in_the_background_and_are_reported() {
    let store = open(SimulatedDisk::default(), settings(only_requested));
    let table = create(&store, "t", family());
    (0..5).for_each(|n| put_file(&table, &n.to_string(), [n]));
    assert_eq!(region(&table).compaction_state(), CompactionState::None);
    region(&table).request_compaction(CompactionKind::Minor, None).unwrap();
    wait_until("nothing to do", || region(&table).compaction_state() == CompactionState::None);
    assert_eq!(files(&table), 5);
    region(&table).request_compaction(CompactionKind::Major, None).unwrap();
    let state = region(&table).compaction_state();
    assert!(state == CompactionState::Major || files(&table) == 1);
    wait_until("one file", || files(&table) == 1);
    wait_until("done", || region(&table).compaction_state() == CompactionState::None);
}

#[test]
fn stores_are_merged_side_by_side_and_no_file_twice() {
    let endless = |compaction: &mut CompactionSettings| {
        only_requested(compaction);
        endless(compaction);
        compaction.threads = 4;
    };
    let store = open(SimulatedDisk::default(), settings(endless));
    let tables = ["a", "b"].map(|name| create(&store, name, family()));
    for table in &tables {
        put_large_files(table);
        region(table).request_compaction(CompactionKind::Major, None).unwrap();
    }
    let merging = |table: &Table| !region(table).families()[0].merges.kinds().is_empty();
    wait_until("both run", || tables.iter().all(|table| merging(table)));
    region(&tables[0]).request_compaction(CompactionKind::Major, None).unwrap();
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(region(&tables[0]).engine().compactions.running_len(), 2);
}

#[test]
fn new_files_of_a_store_are_merged_beside_its_old_ones_and_all_of_them_after_both() {
    let slow = |compaction: &mut CompactionSettings| {
        compaction.files_min = 4;
        compaction.files_blocking = usize::MAX;
        // The first compaction waits for longer than the test lasts, unless it is stopped.
        endless(compaction);
    };
    let store = open(SimulatedDisk::default(), settings(slow));
    let table = create(&store, "a", family());
    put_large_files(&table);
    let merges = || region(&table).families()[0].merges.kinds();
    wait_until("the old files are being merged", || merges() == [CompactionKind::Major]);
    region(&table).request_compaction(CompactionKind::Major, None).unwrap();
    put_large_files(&table);
    wait_until("all are asked for, and none is merged twice", || merges().len() == 1);
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(merges(), [CompactionKind::Major]);
    assert_eq!(files(&table), 8);

    let store = open(SimulatedDisk::default(), settings(slow));
    let table = create(&store, "a", family());
    put_large_files(&table);
    let merges = || region(&table).families()[0].merges.kinds();
    wait_until("the old files are being merged", || merges() == [CompactionKind::Major]);
    (0..4).for_each(|row| put_file(&table, &row.to_string(), [8]));
    wait_until("the new ones are merged", || files(&table) == 5);
    wait_until("only the old ones are", || merges() == [CompactionKind::Major]);
    for row in 0..4 {
        assert_eq!(
            get(&table, &row.to_string()).unwrap().value("f", "q"),
            Some(Bytes::from_static(&[8]))
        );
    }
}

#[test]
fn a_large_merge_leaves_a_thread_for_small_ones() {
    let two_threads = |compaction: &mut CompactionSettings| {
        only_requested(compaction);
        endless(compaction);
    };
    let mut settings = settings(two_threads);
    // A compaction of more than 20 times this size is large.
    settings.memstore_flush_bytes = 100 << 10;
    let store = open(SimulatedDisk::default(), settings);
    let large = ["a", "b"].map(|name| create(&store, name, family()));
    for table in &large {
        put_large_files(table);
        region(table).request_compaction(CompactionKind::Major, None).unwrap();
    }
    let merging = |table: &Table| !region(table).families()[0].merges.kinds().is_empty();
    wait_until("one runs", || large.iter().any(|table| merging(table)));
    let small = create(&store, "c", family());
    (0..3).for_each(|n| put_file(&small, &n.to_string(), [n]));
    region(&small).request_compaction(CompactionKind::Major, None).unwrap();
    wait_until("the small one is done", || files(&small) == 1);
    assert_eq!(large.iter().filter(|table| merging(table)).count(), 1);
}

#[test]
fn closing_and_dropping_end_a_merge_that_runs() {
    let store = open(SimulatedDisk::default(), settings(endless));
    let tables = ["a", "b"].map(|name| create(&store, name, family()));
    let merging = |table: &Table| !region(table).families()[0].merges.kinds().is_empty();
    for table in &tables {
        put_large_files(table);
        wait_until("it runs", || merging(table));
    }
    let started = Instant::now();
    store.disable_table(tables[0].name()).unwrap();
    store.drop_table(tables[0].name()).unwrap();
    wait_until("the other still runs", || merging(&tables[1]));
    assert_eq!(failure(&tables[0]), None);
    store.close().unwrap();
    // The merges would take weeks.
    assert!(started.elapsed() < Duration::from_secs(60), "{:?}", started.elapsed());
    assert_eq!(failure(&tables[1]), None);
}

#[test]
fn a_panic_in_a_merge_leaves_the_files_and_the_thread() {
    let disk = PanickingDisk::default();
    let one_thread = |compaction: &mut CompactionSettings| {
        only_requested(compaction);
        compaction.threads = 1;
    };
    let store = open(disk.clone(), settings(one_thread));
    let table = create(&store, "t", family());
    (0..3).for_each(|n| put_file(&table, &n.to_string(), [n]));
    disk.panics.store(true, Ordering::Relaxed);
    region(&table).request_compaction(CompactionKind::Major, None).unwrap();
    wait_until("it fails", || failure(&table).is_some());
    assert_eq!(failure(&table), Some((1, "panicked: simulated panic".into())));
    assert_eq!((files(&table), region(&table).compaction_state()), (3, CompactionState::None));
    disk.panics.store(false, Ordering::Relaxed);
    region(&table).request_compaction(CompactionKind::Major, None).unwrap();
    wait_until("it succeeds", || files(&table) == 1);
    wait_until("it is forgotten", || failure(&table).is_none());
}

#[test]
fn a_panic_in_a_flush_leaves_the_memstore_and_the_thread() {
    let disk = PanickingDisk::default();
    let mut settings = settings(|_| {});
    settings.memstore_flush_bytes = 16 << 10;
    let store = open(disk.clone(), settings);
    let table = create(&store, "t", family());
    disk.panics.store(true, Ordering::Relaxed);
    put(&table, "1", vec![1; 32 << 10]).unwrap();
    wait_until("it begins", || !region(&table).families()[0].super_version().frozen.is_empty());
    disk.panics.store(false, Ordering::Relaxed);
    put(&table, "2", vec![2; 32 << 10]).unwrap();
    wait_until("both are written", || region(&table).families()[0].memstore_bytes() == 0);
    for row in ["1", "2"] {
        let value = get(&table, row).unwrap().value("f", "q");
        assert_eq!(value.map(|value| value.len()), Some(32 << 10));
    }
}

#[test]
fn files_that_cannot_be_read_stay_and_are_not_tried_again_at_once() {
    let disk = SimulatedDisk::default();
    let store = open(disk.clone(), settings(|_| {}));
    let table = create(&store, "t", family());
    put_file(&table, "0", [0]);
    disk.corrupt("files/0000000003.hfile", 60, 1);
    let begun = Instant::now();
    (1..4).for_each(|n| put_file(&table, &n.to_string(), [n]));
    wait_until("it fails", || failure(&table).is_some());
    put_file(&table, "4", [4]);
    std::thread::sleep(Duration::from_millis(100));
    let (times, message) = failure(&table).unwrap();
    // On a busy machine the second attempt may be due already.
    assert!(times == 1 || begun.elapsed() > RETRY_WAIT, "{times}: {message}");
    assert!(message.contains("files/0000000003.hfile"), "{message}");
    assert_eq!(files(&table), 5);
    assert_eq!(get(&table, "4").unwrap().value("f", "q").as_deref(), Some(&[4][..]));
    // The file is repaired, and a compaction is requested.
    disk.corrupt("files/0000000003.hfile", 60, 1);
    region(&table).request_compaction(CompactionKind::Major, None).unwrap();
    wait_until("it is merged", || files(&table) == 1);
    assert_eq!(get(&table, "0").unwrap().value("f", "q").as_deref(), Some(&[0][..]));
}

#[test]
fn compactions_that_were_taken_before_one_failed_are_no_further_failures() {
    let builder = Store::builder("simulated").settings(settings(|_| {}));
    let store = builder.with_disk(SimulatedDisk::default()).by_hand(7).open().unwrap();
    let table = create(&store, "t", family());
    (0..4).for_each(|n| put_file(&table, &n.to_string(), [n]));
    let engine = region(&table).engine();
    let take = || {
        let family = region(&table).families()[0].clone();
        engine.compactions.request(&family, Some(CompactionKind::Minor));
        engine.compactions.next(&engine.candidates(), u64::MAX, || {}).unwrap()
    };
    let (first, second) = (take(), take());
    engine.compactions.done(first, Some("first".into()));
    engine.compactions.done(second, Some("second".into()));
    assert_eq!(failure(&table), Some((1, "second".into())));
}

#[test]
fn files_whose_cells_have_all_expired_go_unread() {
    let clock = TurnedClock(Arc::new(AtomicI64::new(1_000_000)));
    let disk = SimulatedDisk::default();
    let often = |compaction: &mut CompactionSettings| {
        only_requested(compaction);
        compaction.check_period = Duration::from_millis(1);
    };
    let builder = Store::builder("simulated").settings(settings(often));
    let store = builder.with_disk(disk.clone()).with_clock(clock.clone()).open().unwrap();
    let table = create(&store, "t", family().attribute("TTL", "10"));
    put_file(&table, "0", [0]);
    // A marker expires by its own timestamp.
    let delete = rowhouse_model::Delete::new("1").unwrap();
    table
        .mutate(&delete.column("f", "q", rowhouse_model::Timestamp::LATEST).unwrap().into())
        .unwrap();
    table.flush().unwrap();
    let mut held = table.scan(Scan::all()).unwrap();
    clock.0.fetch_add(5_000, Ordering::Relaxed);
    put_file(&table, "2", [2]);
    clock.0.fetch_add(5_000, Ordering::Relaxed);
    std::thread::sleep(Duration::from_millis(50));
    // After exactly ten seconds a cell still exists.
    assert_eq!(files(&table), 3);
    assert!(held.next().unwrap().is_some());
    // Any read of the file fails from here on.
    disk.corrupt("files/0000000003.hfile", 60, 1);
    clock.0.fetch_add(1, Ordering::Relaxed);
    wait_until("the first two go", || files(&table) == 1);
    assert_eq!(failure(&table), None);
    assert!(get(&table, "0").unwrap().is_empty());
    assert_eq!(get(&table, "2").unwrap().len(), 1);
    drop(held);
    wait_until("their bytes too", || disk.list("files").unwrap().len() == 1);
}

#[test]
fn writers_to_a_store_with_too_many_files_wait_until_some_are_merged() {
    let blocking = |compaction: &mut CompactionSettings| {
        only_requested(compaction);
        compaction.files_blocking = 3;
    };
    let mut settings = settings(blocking);
    settings.memstore_flush_bytes = 16 << 10;
    let store = open(SimulatedDisk::default(), settings);
    let table = create(&store, "t", family());
    let other = create(&store, "other", family());
    // Files with one row: every read of it consults all of them.
    (0..3).for_each(|n| put_file(&table, "0", [n]));
    // Writes that fit into memory are accepted but not flushed.
    put(&table, "3", vec![3; 32 << 10]).unwrap();
    let error = put(&table, "4", [4]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::RegionTooBusy);
    assert!(error.message().contains("files=3, max=3"), "{error}");
    assert_eq!(files(&table), 3);
    // Other tables and readers are not affected.
    put(&other, "4", [4]).unwrap();
    assert_eq!(get(&table, "3").unwrap().len(), 1);
    let waiting = {
        let table = Arc::clone(&table);
        std::thread::spawn(move || while put(&table, "4", [4]).is_err() {})
    };
    region(&table).request_compaction(CompactionKind::Major, None).unwrap();
    waiting.join().unwrap();
    wait_until("the flush that was put off", || files(&table) == 2);
}

#[test]
fn a_flush_is_not_put_off_for_ever() {
    let blocking = |compaction: &mut CompactionSettings| {
        only_requested(compaction);
        compaction.files_blocking = 1;
        compaction.blocking_wait = Duration::from_secs(3);
    };
    let mut settings = settings(blocking);
    settings.memstore_flush_bytes = 16 << 10;
    let store = open(SimulatedDisk::default(), settings);
    let table = create(&store, "t", family());
    put_file(&table, "0", [0]);
    put(&table, "1", vec![1; 32 << 10]).unwrap();
    assert_eq!(put(&table, "2", [2]).unwrap_err().kind(), ErrorKind::RegionTooBusy);
    wait_until("it is done all the same", || {
        let _ = put(&table, "2", [2]);
        files(&table) == 2
    });
    put(&table, "2", [2]).unwrap();
}

#[test]
fn a_scanner_that_is_too_old_is_refused_and_releases_its_memory() {
    let disk = SimulatedDisk::default();
    let mut settings = settings(only_requested);
    settings.scan_age_max = Duration::from_millis(200);
    let store = open(disk.clone(), settings);
    let table = create(&store, "t", family());
    for row in 0..200 {
        put(&table, &format!("{row:03}"), [1]).unwrap();
    }
    table.flush().unwrap();
    put_file(&table, "200", [1]);
    let mut scanner = table.scan(Scan::all()).unwrap();
    assert!(scanner.next().unwrap().is_some());
    table.compact(CompactionKind::Major).unwrap();
    assert_eq!(disk.list("files").unwrap().len(), 3);
    std::thread::sleep(Duration::from_millis(250));
    let mut rows = 1;
    let error = loop {
        match scanner.next() {
            Ok(row) => rows += row.map(|_| 1).unwrap(),
            Err(error) => break error,
        }
    };
    assert!(rows <= 65, "{rows}");
    assert_eq!(error.kind(), ErrorKind::UnknownScanner);
    assert_eq!(disk.list("files").unwrap().len(), 1);
    // The scanner must not report that it has ended: that would be a wrong answer.
    assert!(scanner.next().is_err());
}

#[test]
fn a_sequence_from_before_a_merge_is_too_old_for_its_outcome() {
    let store = open(SimulatedDisk::default(), settings(only_requested));
    let table = create(&store, "t", family());
    let family = &region(&table).families()[0];
    let mvcc = &region(&table).engine().mvcc;
    put_file(&table, "0", [0]);
    let old = mvcc.visible();
    put_file(&table, "0", [1]);
    assert!(family.super_version_at(old).is_some());
    table.compact(CompactionKind::Major).unwrap();
    assert!(family.super_version_at(old).is_none());
    assert!(family.super_version_at(mvcc.visible()).is_some());
}

#[test]
fn readers_beside_merges_see_whole_mutations_and_never_an_older_one_again() {
    let store = open(SimulatedDisk::default(), settings(|_| {}));
    let name = TableName::parse("t").unwrap();
    let families = TableDescriptor::new(name.clone()).family(family());
    let families = families.family(FamilyDescriptor::new("g").unwrap());
    store.create_table(families, &[]).unwrap();
    let table = store.table(&name).unwrap();
    let write = |n: u32| {
        let put = Put::new("row").unwrap().add("f", "q", n.to_be_bytes()).unwrap();
        table.mutate(&put.add("g", "q", n.to_be_bytes()).unwrap().into()).unwrap();
    };
    let number = |row: &Row| {
        let [f, g] = ["f", "g"].map(|family| {
            u32::from_be_bytes(row.value(family, "q").unwrap()[..].try_into().unwrap())
        });
        assert_eq!(f, g, "half a mutation");
        f
    };
    write(0);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let read = |scan: bool| {
            let mut last = 0;
            while !done.load(Ordering::Relaxed) {
                let row = if scan {
                    table.scan(Scan::all()).unwrap().next().unwrap().unwrap()
                } else {
                    get(&table, "row").unwrap()
                };
                let now = number(&row);
                assert!(now >= last, "{now} after {last}");
                last = now;
            }
        };
        scope.spawn(move || read(true));
        scope.spawn(move || read(false));
        for n in 1..600 {
            write(n);
            if n % 10 == 0 {
                table.flush().unwrap();
            }
            if n % 25 == 0 {
                table.compact(CompactionKind::Major).unwrap();
            }
        }
        done.store(true, Ordering::Relaxed);
    });
    assert_eq!(number(&get(&table, "row").unwrap()), 599);
}
