//! The limits of storage: the smallest names, the largest keys, rows and values, many tables and
//! regions. Slow tests run with
//!
//! ```text
//! ROWHOUSE_LARGE=1 cargo test -p rowhouse-store --release --test extremes -- \
//!     --test-threads 1 --nocapture
//! ```

#![expect(clippy::unwrap_used, reason = "a test may")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use rowhouse_model::{
    Bytes, Cell, ErrorKind, FamilyDescriptor, Get, Mutation, Put, Row, Scan, TableDescriptor,
    TableName, TimeRange, Timestamp,
};
use rowhouse_store::{
    CompactionKind, CompactionSettings, ExportedCells, Settings, Store, Table, files_to_load,
};

/// The system's allocator with a count of the bytes in use and their maximum.
struct Counting;

static IN_USE: AtomicUsize = AtomicUsize::new(0);
static MOST: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call is passed unchanged to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let in_use = IN_USE.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        MOST.fetch_max(in_use, Ordering::Relaxed);
        // SAFETY: the caller upholds the contract of this trait.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: it came from `alloc` above, with this layout.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Returns true if slow tests run.
fn takes_its_time() -> bool {
    let is_enabled = std::env::var_os("ROWHOUSE_LARGE").is_some();
    if !is_enabled {
        println!("skipped: ROWHOUSE_LARGE is not set");
    }
    is_enabled
}

fn store(dir: &Path) -> Store {
    // So small that blocks do not stay in the cache.
    let settings = Settings { block_cache_bytes: 1 << 20, ..Settings::default() };
    Store::builder(dir).settings(settings).open().unwrap()
}

fn create(store: &Store, name: &str, families: &[&'static str], splits: &[Bytes]) -> Arc<Table> {
    let name = TableName::parse(name).unwrap();
    let mut table = TableDescriptor::new(name.clone());
    for family in families {
        table = table.family(FamilyDescriptor::new(*family).unwrap().versions(3));
    }
    store.create_table(table, splits).unwrap();
    store.table(&name).unwrap()
}

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis).unwrap()
}

fn rows(table: &Arc<Table>, scan: Scan) -> Vec<Row> {
    let mut scanner = table.scan(scan).unwrap();
    std::iter::from_fn(|| scanner.next().unwrap()).collect()
}

/// Checks a table in memory, in a file, in a compacted file, and after a reopen.
fn wherever_it_lies(name: &str, fill: impl Fn(&Table), check: impl Fn(&Arc<Table>)) {
    let dir = tempfile::tempdir().unwrap();
    let store_ = store(dir.path());
    let table = create(&store_, name, &["f", "g"], &[]);
    fill(&table);
    check(&table);
    table.flush().unwrap();
    check(&table);
    table.compact(CompactionKind::Major).unwrap();
    check(&table);
    drop((table, store_));
    let store = store(dir.path());
    check(&store.table(&TableName::parse(name).unwrap()).unwrap());
}

#[test]
fn the_longest_key_may_be_all_zeros() {
    let longest = vec![0; 32_767];
    let put = |row: Vec<u8>| Mutation::from(Put::new(row).unwrap().add("f", "q", "v").unwrap());
    wherever_it_lies(
        "zeros",
        |table| {
            for row in [vec![0], longest.clone(), longest[1..].to_vec(), vec![0, 1]] {
                table.mutate(&put(row)).unwrap();
            }
        },
        |table| {
            let keys: Vec<usize> =
                rows(table, Scan::all()).iter().map(|row| row.key().len()).collect();
            assert_eq!(keys, [1, 32_766, 32_767, 2]);
            let backward: Vec<usize> =
                rows(table, Scan::all().reversed()).iter().map(|row| row.key().len()).collect();
            assert_eq!(backward, [2, 32_767, 32_766, 1]);
            assert_eq!(table.get(&Get::new(longest.clone()).unwrap()).unwrap().len(), 1);
        },
    );
    assert!(Put::new(vec![0; 32_768]).is_err());
}

#[test]
fn a_column_needs_neither_name_nor_value() {
    wherever_it_lies(
        "nameless",
        |table| {
            let put = Put::new("r").unwrap().add_at("f", "", at(1), "").unwrap();
            table.mutate(&put.add_at("f", "", at(2), "x").unwrap().into()).unwrap();
            let put = Put::new("r").unwrap().add_at("g", "", at(1), "").unwrap();
            table.mutate(&put.into()).unwrap();
        },
        |table| {
            let row = table.get(&Get::new("r").unwrap().column("f", "").versions(9)).unwrap();
            let values: Vec<Vec<u8>> =
                row.to_cells().iter().map(|cell| cell.value().to_vec()).collect();
            assert_eq!(values, [b"x".to_vec(), b"".to_vec()]);
            let row = table.get(&Get::new("r").unwrap()).unwrap();
            assert_eq!(row.value("g", "").as_deref(), Some(&b""[..]));
            assert_eq!(row.value("g", "q"), None);
        },
    );
}

#[test]
fn the_first_and_the_last_millisecond_are_timestamps_like_others() {
    let last = i64::MAX - 1;
    wherever_it_lies(
        "times",
        |table| {
            let put = Put::new("r").unwrap().add_at("f", "q", at(0), "first").unwrap();
            table.mutate(&put.add_at("f", "q", at(last), "last").unwrap().into()).unwrap();
        },
        |table| {
            let times = |range: TimeRange| {
                let get = Get::new("r").unwrap().versions(9).time_range(range);
                let row = table.get(&get).unwrap();
                let cells: Vec<Cell> = row.to_cells();
                cells.iter().map(|cell| cell.timestamp().as_millis()).collect::<Vec<_>>()
            };
            assert_eq!(times(TimeRange::ALL), [last, 0]);
            assert_eq!(times(TimeRange::at(at(0))), [0]);
            assert_eq!(times(TimeRange::at(at(last))), [last]);
            assert_eq!(times(TimeRange::new(at(1), at(last)).unwrap()), []);
        },
    );
}

#[test]
fn columns_that_are_not_there_take_no_bytes() {
    let bytes = |families: &[&'static str]| {
        let dir = tempfile::tempdir().unwrap();
        let store = store(dir.path());
        let table = create(&store, "t", families, &[]);
        for row in 0..2000 {
            // One of a thousand columns that other rows have.
            let put = Put::new(format!("{row:05}")).unwrap();
            let put = put.add_at("f", format!("{:04}", row % 1000), at(1), "value").unwrap();
            table.mutate(&put.into()).unwrap();
        }
        table.flush().unwrap();
        let size = table.regions()[0].size();
        (size.files, size.file_bytes)
    };
    let alone = bytes(&["f"]);
    let beside = bytes(&["e", "f", "g"]);
    // The file metadata includes the family name.
    assert!(beside.0 == 1 && beside.1.abs_diff(alone.1) < 100, "{beside:?} {alone:?}");
    let per_row = alone.1 / 2000;
    // Lengths 8, row 2 + 5, family 1 + 1, qualifier 4, timestamp 8, kind 1, value 5, sequence
    // number 1, row index 4.
    assert!(per_row < 60, "{per_row} bytes a row");
}

#[test]
fn a_row_of_a_million_columns_is_read_in_parts_of_bounded_memory() {
    let is_alone = takes_its_time();
    let columns = if is_alone { 1_000_000 } else { 50_000 };
    let dir = tempfile::tempdir().unwrap();
    let store = store(dir.path());
    let table = create(&store, "wide", &["f"], &[]);
    for from in (0..columns).step_by(1000) {
        let mut put = Put::new("r").unwrap();
        for column in from..from + 1000 {
            put = put.add("f", format!("{column:07}"), format!("value of {column}")).unwrap();
        }
        table.mutate(&put.into()).unwrap();
    }
    table.flush().unwrap();
    table.compact(CompactionKind::Major).unwrap();
    let file_bytes = table.regions()[0].size().file_bytes;
    for reversed in [false, true] {
        let mut scan = Scan { reversed, ..Scan::all() };
        scan.batch = Some(100);
        let before = IN_USE.load(Ordering::Relaxed);
        MOST.store(before, Ordering::Relaxed);
        let mut scanner = table.scan(scan).unwrap();
        let mut seen = 0;
        while let Some(part) = scanner.next().unwrap() {
            assert!(part.len() <= 100);
            assert_eq!(part.to_cells()[0].qualifier(), format!("{seen:07}").as_bytes());
            seen += part.len();
        }
        assert_eq!(seen, columns);
        let most = MOST.load(Ordering::Relaxed).saturating_sub(before);
        println!("{columns} columns, {file_bytes} bytes of files, {most} bytes in use at most");
        // Skipped if other tests in this process run at the same time. The block cache takes one
        // megabyte of this.
        assert!(!is_alone || most < 8 << 20, "{most} bytes for one row in parts");
    }
}

#[test]
fn a_value_of_100_megabytes_is_read_back_unchanged() {
    if !takes_its_time() {
        return;
    }
    let value: Vec<u8> =
        (0..100_000_000u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    wherever_it_lies(
        "huge",
        |table| {
            let put = Put::new("r").unwrap().add("f", "q", &value).unwrap();
            table.mutate(&put.add("f", "a", "beside it").unwrap().into()).unwrap();
        },
        |table| {
            let row = table.get(&Get::new("r").unwrap()).unwrap();
            assert!(row.value("f", "q").unwrap()[..] == value[..]);
            let scanned = rows(table, Scan::all());
            assert!(scanned[0].value("f", "q").unwrap()[..] == value[..]);
        },
    );
}

#[test]
fn values_of_half_a_gib_and_up_to_the_limit_are_read_back_unchanged() {
    if !takes_its_time() {
        return;
    }
    // Minus the bytes that a record adds to a limit of 1 GiB.
    let limit = 1 << 30;
    for (len, compressions) in [
        (512 << 20, &["NONE", "SNAPPY", "LZ4", "GZ", "ZSTD"][..]),
        // The slower codecs would take minutes without testing more.
        (limit - 200, &["NONE", "LZ4"][..]),
    ] {
        for compression in compressions {
            let started = Instant::now();
            check_large_value(len, limit, compression);
            println!("{} MiB, {compression}: {:?}", len >> 20, started.elapsed());
        }
    }
}

fn check_large_value(len: usize, limit: usize, compression: &'static str) {
    let dir = tempfile::tempdir().unwrap();
    let open = || {
        let settings = Settings { mutation_bytes_max: limit, ..Settings::default() };
        Store::builder(dir.path()).settings(settings).open().unwrap()
    };
    let name = TableName::parse("huge").unwrap();
    let value: Bytes =
        (0..len as u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let put =
        |row: &'static str, value: Bytes| Put::new(row).unwrap().add("f", "q", value).unwrap();
    let check = |store: &Store| {
        let table = store.table(&name).unwrap();
        let row = table.get(&Get::new("r").unwrap()).unwrap();
        assert!(row.value("f", "q").unwrap()[..] == value[..]);
        drop(row);
        let scanned = rows(&table, Scan::all());
        assert!(scanned[0].value("f", "q").unwrap()[..] == value[..]);
        assert_eq!(scanned.len(), 2);
    };
    let store = open();
    let family = FamilyDescriptor::new("f").unwrap().attribute("COMPRESSION", compression);
    store.create_table(TableDescriptor::new(name.clone()).family(family), &[]).unwrap();
    let table = store.table(&name).unwrap();
    table.mutate(&put("r", value.clone()).into()).unwrap();
    // While the large value is flushed there may be no room for others, for as long as the codec
    // takes.
    let beside = || table.mutate(&put("s", Bytes::from_static(b"beside it")).into());
    while let Err(error) = beside() {
        assert_eq!(error.kind(), ErrorKind::RegionTooBusy, "{error}");
    }
    let longer = Bytes::from(vec![0; limit]);
    let refused = table.mutate(&put("t", longer).into()).unwrap_err();
    assert!(refused.message().starts_with("mutation too long: len="), "{refused}");
    assert!(refused.message().ends_with(&format!("max={limit}")), "{refused}");
    check(&store);
    drop((table, store));
    // From the log.
    let store = open();
    check(&store);
    let table = store.table(&name).unwrap();
    table.flush().unwrap();
    check(&store);
    table.mutate(&put("s", Bytes::from_static(b"beside it again")).into()).unwrap();
    table.flush().unwrap();
    table.compact(CompactionKind::Major).unwrap();
    check(&store);
    drop(table);
    drop(store);
    check(&open());
    let checked = rowhouse_store::check(dir.path(), |_| {}).unwrap();
    assert!(checked.problems.is_empty(), "{checked:?}");
}

#[test]
fn a_thousand_tables_are_there_after_opening() {
    if !takes_its_time() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let started = Instant::now();
    let first = store(dir.path());
    for table in 0..1000 {
        let table = create(&first, &format!("t{table}"), &["f"], &[]);
        table.mutate(&Put::new("r").unwrap().add("f", "q", "v").unwrap().into()).unwrap();
    }
    let created = started.elapsed();
    drop(first);
    let opened = reopen(dir.path());
    println!("1000 tables: made in {created:?}, {}", opened.1);
    let tables = opened.0.tables();
    assert_eq!(tables.len(), 1000);
    for table in tables {
        assert_eq!(table.get(&Get::new("r").unwrap()).unwrap().len(), 1);
    }
}

#[test]
fn ten_thousand_regions_are_there_after_opening() {
    if !takes_its_time() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let started = Instant::now();
    let first = store(dir.path());
    let splits: Vec<Bytes> = (1..10_000).map(|at| format!("{at:05}").into()).collect();
    let table = create(&first, "wide", &["f"], &splits);
    let created = started.elapsed();
    for row in 0..10_000 {
        let put = Put::new(format!("{row:05}")).unwrap().add("f", "q", "v").unwrap();
        table.mutate(&put.into()).unwrap();
    }
    drop((table, first));
    let (store, opened) = reopen(dir.path());
    println!("10000 regions: made in {created:?}, {opened}");
    let table = store.table(&TableName::parse("wide").unwrap()).unwrap();
    assert_eq!(table.regions().len(), 10_000);
    let started = Instant::now();
    assert_eq!(rows(&table, Scan::all()).len(), 10_000);
    println!("read in {:?}", started.elapsed());
}

#[test]
fn thirty_thousand_files_of_ten_thousand_regions_are_there_after_opening() {
    if !takes_its_time() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let hfiles = tempfile::tempdir().unwrap();
    let started = Instant::now();
    let first = unmerged(dir.path());
    let source = create(&first, "source", &["f"], &[]);
    for row in 0..10_000 {
        let put = Put::new(format!("{row:05}")).unwrap().add("f", "q", "v").unwrap();
        source.mutate(&put.into()).unwrap();
    }
    first.export_hfiles(source.name(), hfiles.path(), ExportedCells::Retained, |_| {}).unwrap();
    let files = files_to_load(hfiles.path()).unwrap();
    let splits: Vec<Bytes> = (1..10_000).map(|at| format!("{at:05}").into()).collect();
    let table = create(&first, "wide", &["f"], &splits);
    for _ in 0..3 {
        // One file for each region.
        first.bulk_load(table.name(), &files, |_| {}).unwrap();
    }
    let created = started.elapsed();
    drop((source, table, first));
    let started = Instant::now();
    let before = IN_USE.load(Ordering::Relaxed);
    let resident_before = resident_bytes();
    let store = unmerged(dir.path());
    let opened = started.elapsed();
    let table = store.table(&TableName::parse("wide").unwrap()).unwrap();
    assert_eq!(table.get(&Get::new("05000").unwrap()).unwrap().len(), 1);
    let first_get = started.elapsed();
    let in_use = IN_USE.load(Ordering::Relaxed).saturating_sub(before);
    let resident = resident_bytes();
    println!(
        "30000 files in 10000 regions: made in {created:?}, opened in {opened:?}, a get after {first_get:?}, \
         {in_use} bytes in use, {resident} resident ({resident_before} before)"
    );
    let files: usize = table.regions().iter().map(|region| region.size().files).sum();
    assert_eq!(files, 30_000);
    let started = Instant::now();
    assert_eq!(rows(&table, Scan::all()).len(), 10_000);
    let in_use = IN_USE.load(Ordering::Relaxed).saturating_sub(before);
    println!(
        "all read in {:?}, {in_use} bytes in use, {} resident",
        started.elapsed(),
        resident_bytes()
    );
    let started = Instant::now();
    drop((table, store));
    println!("closed in {:?}", started.elapsed());
}

/// Opens a store without compactions.
fn unmerged(dir: &Path) -> Store {
    let compaction = CompactionSettings { files_min: usize::MAX, ..CompactionSettings::default() };
    let settings = Settings { compaction, ..Settings::default() };
    Store::builder(dir).settings(settings).open().unwrap()
}

/// Returns the resident memory of the process.
fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok()).unwrap_or(0) << 10
}

/// Opens a store. Returns how much time and memory that took.
fn reopen(dir: &Path) -> (Store, String) {
    let started = Instant::now();
    let before = IN_USE.load(Ordering::Relaxed);
    let store = store(dir);
    let bytes = IN_USE.load(Ordering::Relaxed).saturating_sub(before);
    (store, format!("opened in {:?} with {bytes} bytes in use", started.elapsed()))
}
