//! Automatic splits: a table that grows under writes and reads loses nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rowhouse_model::{
    Bytes, ErrorKind, FamilyDescriptor, Put, RegionSwitch, Scan, TableDescriptor, TableName,
};
use rowhouse_store::{Settings, SplitSettings, Store, Table, check};

fn name() -> TableName {
    TableName::parse("t").unwrap()
}

fn descriptor() -> TableDescriptor {
    TableDescriptor::new(name()).family(FamilyDescriptor::new("f").unwrap())
}

/// Opens a store that flushes often and splits regions that have a few thousand bytes.
fn open(dir: &tempfile::TempDir) -> Store {
    let split = SplitSettings {
        first_bytes: 16 << 10,
        region_bytes_max: 64 << 10,
        regions_max: 8,
        ..SplitSettings::default()
    };
    let settings = Settings { memstore_flush_bytes: 8 << 10, split, ..Settings::default() };
    Store::builder(dir.path()).settings(settings).open().unwrap()
}

fn made(descriptor: TableDescriptor) -> (tempfile::TempDir, Store, Arc<Table>) {
    let dir = tempfile::tempdir().unwrap();
    let store = open(&dir);
    store.create_table(descriptor, &[]).unwrap();
    let table = store.table(&name()).unwrap();
    (dir, store, table)
}

fn row(number: u64) -> String {
    // Spreads rows over the key space.
    format!("{:08x}/{number}", (number as u32).wrapping_mul(0x9E37_79B9))
}

fn put(table: &Table, number: u64) {
    let put = Put::new(row(number)).unwrap().add("f", "q", vec![b'v'; 100]).unwrap();
    table.mutate(&put.into()).unwrap();
}

fn regions(store: &Store) -> usize {
    store.table(&name()).unwrap().regions().len()
}

fn count(table: &Arc<Table>) -> u64 {
    let mut scanner = table.scan(Scan::all()).unwrap();
    std::iter::from_fn(|| scanner.next().unwrap()).count() as u64
}

/// Waits until the table has been split.
fn wait_split(store: &Store) {
    while regions(store) == 1 {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

/// Waits some time for a split that must not happen.
fn give_time(store: &Store) {
    store.table(&name()).unwrap().flush().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(500));
}

/// The maximum number of rows that a writer puts before the test concludes that no more regions
/// come.
const WRITTEN_MAX: u64 = 200_000;

#[test]
fn a_table_that_grows_is_split_while_it_is_written_and_read_and_nothing_is_lost() {
    let (dir, store, table) = made(descriptor());
    let written = [AtomicU64::new(0), AtomicU64::new(0)];
    std::thread::scope(|scope| {
        for (writer, written) in written.iter().enumerate() {
            let store = &store;
            let table = &table;
            scope.spawn(move || {
                // Until there are enough regions, or the limit is reached.
                for number in 0..WRITTEN_MAX {
                    put(table, number * 2 + writer as u64);
                    written.store(number + 1, Ordering::Release);
                    if regions(store) >= 8 && number > 200 {
                        break;
                    }
                }
            });
        }
        let store = &store;
        let table = &table;
        let written = &written;
        scope.spawn(move || {
            while regions(store) < 8 && written[0].load(Ordering::Acquire) < WRITTEN_MAX {
                let least: u64 =
                    written.iter().map(|written| written.load(Ordering::Acquire)).sum();
                let counted = count(table);
                assert!(counted >= least, "{counted} of {least}");
            }
        });
    });
    let total = written.iter().map(|written| written.load(Ordering::Acquire)).sum();
    assert_eq!((regions(&store), count(&table)), (8, total));
    give_time(&store);
    assert_eq!(regions(&store), 8, "there are to be no more");
    store.close().unwrap();
    let report = check(dir.path(), |_| {}).unwrap();
    assert!(report.problems.is_empty() && report.strangers.is_empty(), "{report:?}");
    assert_eq!(count(&open(&dir).table(&name()).unwrap()), total);
}

#[test]
fn a_table_that_forbids_splits_is_not_split() {
    let class = "org.apache.hadoop.hbase.regionserver.DisabledRegionSplitPolicy";
    for declared in [
        descriptor().attribute("SPLIT_ENABLED", "false"),
        descriptor().attribute("SPLIT_POLICY", class),
        descriptor()
            .attribute("MAX_FILESIZE", "1073741824")
            .attribute("MEMSTORE_FLUSHSIZE", "134217728"),
    ] {
        let (_dir, store, table) = made(declared.clone());
        (0..1500).for_each(|number| put(&table, number));
        give_time(&store);
        assert_eq!(regions(&store), 1, "{declared:?}");
    }
}

#[test]
fn a_switch_that_is_off_stays_off_and_the_table_is_split_once_it_is_on() {
    let (dir, store, table) = made(descriptor());
    assert!(store.region_switch(RegionSwitch::Split));
    assert!(store.set_region_switch(RegionSwitch::Split, false).unwrap());
    assert!(!store.set_region_switch(RegionSwitch::Split, false).unwrap());
    (0..1500).for_each(|number| put(&table, number));
    give_time(&store);
    let region = table.regions()[0].name().full.clone();
    let error = store.split_region(&region, Some(Bytes::from_static(b"8"))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidRequest);
    assert!(error.message().ends_with("failed due to split switch off"), "{error}");
    assert!(store.region_switch(RegionSwitch::Merge));
    drop((table, store));
    // An open rewrites the manifest.
    drop(open(&dir));
    let store = open(&dir);
    assert_eq!((store.region_switch(RegionSwitch::Split), regions(&store)), (false, 1));
    store.set_region_switch(RegionSwitch::Split, true).unwrap();
    let table = store.table(&name()).unwrap();
    put(&table, 1500);
    table.flush().unwrap();
    wait_split(&store);
    assert_eq!(count(&table), 1501);
}

#[test]
fn rows_of_one_prefix_stay_together() {
    let class = "org.apache.hadoop.hbase.regionserver.KeyPrefixRegionSplitPolicy";
    let declared = descriptor().attribute("SPLIT_POLICY", class);
    let declared = declared.attribute("KeyPrefixRegionSplitPolicy.prefix_length", "1");
    let (_dir, store, table) = made(declared);
    (0..3000).for_each(|number| put(&table, number));
    wait_split(&store);
    let table = store.table(&name()).unwrap();
    for region in &table.regions()[1..] {
        assert_eq!(region.info().range.start.len(), 1, "{}", region.name());
    }
    assert_eq!(count(&table), 3000);
}

#[test]
fn rows_that_a_restriction_keeps_together_are_not_parted() {
    let key = |name| format!("hbase.regionserver.region.split_restriction.{name}");
    let restricted = |kind: &'static str, name, value: &'static str| {
        let mut table = descriptor();
        table.configuration.insert(key("type"), kind.to_owned());
        table.attribute(key(name), value)
    };
    // Rows are `12345678/9`.
    for (declared, len) in [
        (restricted("KeyPrefix", "prefix_length", "2"), 2),
        (restricted("DelimitedKeyPrefix", "delimiter", "/"), 8),
    ] {
        let (_dir, store, table) = made(declared);
        (0..3000).for_each(|number| put(&table, number));
        wait_split(&store);
        // Requested splits too, with and without a row.
        let whole = |at| {
            let table = store.table(&name()).unwrap();
            let region = table.regions().last().unwrap().name().full.clone();
            store.split_region(&region, at)
        };
        while let Err(error) = whole(Some(Bytes::from_static(b"f8000000/123"))) {
            // The region is new: it was split automatically meanwhile, or begins at this row.
            assert_eq!(error.kind(), ErrorKind::UnknownRegion, "{error}");
        }
        while let Err(error) = whole(None) {
            assert_eq!(error.kind(), ErrorKind::UnknownRegion, "{error}");
        }
        let table = store.table(&name()).unwrap();
        let starts = || table.regions().iter().map(|region| region.info().range.start.clone());
        // A split row may be shorter than the rows' common prefix, and sorts before all rows: an
        // index stores the shortest key that separates two blocks.
        assert!(
            starts().skip(1).all(|start| start.len() <= len),
            "{:?}",
            starts().collect::<Vec<_>>()
        );
        assert!(
            starts().any(|start| start == "f8000000/123"[..len]),
            "{:?}",
            starts().collect::<Vec<_>>()
        );
        assert_eq!(count(&table), 3000);
    }
}

#[test]
fn rows_that_all_belong_together_are_not_split_by_hand_either() {
    let key = |name| format!("hbase.regionserver.region.split_restriction.{name}");
    let declared = descriptor().attribute(key("type"), "DelimitedKeyPrefix");
    let (_dir, store, table) = made(declared.attribute(key("delimiter"), "/"));
    for number in 0..100 {
        let put = Put::new(format!("one/{number}")).unwrap().add("f", "q", "v").unwrap();
        table.mutate(&put.into()).unwrap();
    }
    let region = table.regions()[0].name().full.clone();
    // Only `one`, a prefix of all rows, comes before the middle.
    store.split_region(&region, None).unwrap();
    let region = store.table(&name()).unwrap().regions()[1].name().full.clone();
    for at in [None, Some(Bytes::from_static(b"/behind/nothing"))] {
        let error = store.split_region(&region, at).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidRequest);
        assert!(error.message().contains("after the middle of the region: row=one/"), "{error}");
    }
    let error = store.split_region(&region, Some("one/5".into())).unwrap_err();
    assert!(error.message().starts_with("a region is split at a row after its first"), "{error}");
}

#[test]
fn one_large_row_is_not_split() {
    let (_dir, store, table) = made(descriptor());
    for number in 0..1000 {
        let put = Put::new("row").unwrap().add("f", format!("q{number}"), vec![b'v'; 100]).unwrap();
        table.mutate(&put.into()).unwrap();
    }
    give_time(&store);
    assert_eq!(regions(&store), 1);
}
