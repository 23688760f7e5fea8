//! Region splits and merges under concurrent reads and writes: nothing is lost, duplicated or
//! brought back.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use rowhouse_model::{
    Bytes, Delete, ErrorKind, FamilyDescriptor, Get, Increment, Mutation, Put, RowRange, Scan,
    TableDescriptor, TableName, Timestamp,
};
use rowhouse_store::{CompactionKind, Region, Store, Table, check};

fn name() -> TableName {
    TableName::parse("t").unwrap()
}

fn store() -> (tempfile::TempDir, Store) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let family = |name| FamilyDescriptor::new(name).unwrap();
    let table = TableDescriptor::new(name()).family(family("f")).family(family("g"));
    store.create_table(table, &[]).unwrap();
    (dir, store)
}

fn table(store: &Store) -> Arc<Table> {
    store.table(&name()).unwrap()
}

fn region(store: &Store, row: &str) -> Arc<Region> {
    Arc::clone(table(store).region_of(row.as_bytes()))
}

fn split(store: &Store, at: &'static str) {
    let region = region(store, at);
    store.split_region(&region.name().full, Some(at.into())).unwrap();
}

/// Merges the regions that hold two rows.
fn merge(store: &Store, one: &str, other: &str) {
    let one = region(store, one);
    let other = region(store, other);
    store.merge_regions(&[&one.name().full, &other.name().full]).unwrap();
}

fn row(number: u32) -> String {
    format!("r{number:04}")
}

fn put(table: &Table, number: u32, value: &str) {
    let put = Put::new(row(number)).unwrap();
    let put = put.add("f", "q", value).unwrap().add("g", "q", value).unwrap();
    table.mutate(&put.into()).unwrap();
}

fn fill(table: &Table, rows: u32) {
    (0..rows).for_each(|number| put(table, number, "v"));
}

fn scan(table: &Arc<Table>, reversed: bool) -> Vec<String> {
    let mut scanner = table.scan(Scan { reversed, ..Scan::all() }).unwrap();
    std::iter::from_fn(|| scanner.next().unwrap()).map(|row| text(row.key())).collect()
}

fn text(bytes: impl AsRef<[u8]>) -> String {
    String::from_utf8_lossy(bytes.as_ref()).into_owned()
}

fn rows(numbers: impl IntoIterator<Item = u32>) -> Vec<String> {
    numbers.into_iter().map(row).collect()
}

fn ranges(store: &Store) -> Vec<(String, String)> {
    let regions = table(store).regions().to_vec();
    regions.iter().map(|it| (text(&it.info().range.start), text(&it.info().range.stop))).collect()
}

fn bounds(bounds: &[(&str, &str)]) -> Vec<(String, String)> {
    bounds.iter().map(|(start, stop)| (String::from(*start), String::from(*stop))).collect()
}

#[test]
fn a_split_leaves_every_row_in_one_of_two_regions_for_ever() {
    let (dir, store) = store();
    let old = table(&store);
    fill(&old, 200);
    old.flush().unwrap();
    (0..50).for_each(|number| put(&old, number * 4, "later"));
    split(&store, "r0100");
    assert_eq!(ranges(&store), bounds(&[("", "r0100"), ("r0100", "")]));
    for at in [&old, &table(&store)] {
        assert_eq!(scan(at, false), rows(0..200));
        assert_eq!(scan(at, true), rows((0..200).rev()));
        let got = at.get(&Get::new("r0100").unwrap()).unwrap();
        assert_eq!(got.value("g", "q").map(text), Some("later".into()));
    }
    // A table handle from before the split still writes.
    put(&old, 200, "v");
    put(&old, 99, "v");
    table(&store).compact(CompactionKind::Major).unwrap();
    assert_eq!(scan(&old, false), rows(0..201));
    drop(old);
    store.close().unwrap();
    let report = check(dir.path(), |_| {}).unwrap();
    assert!(report.problems.is_empty() && report.strangers.is_empty(), "{report:?}");
    let store = Store::open(dir.path()).unwrap();
    assert_eq!(ranges(&store), bounds(&[("", "r0100"), ("r0100", "")]));
    assert_eq!(scan(&table(&store), false), rows(0..201));
}

#[test]
fn a_file_that_was_split_goes_with_the_last_region_that_has_rows_in_it() {
    let (dir, store) = store();
    fill(&table(&store), 100);
    table(&store).flush().unwrap();
    let files = || std::fs::read_dir(dir.path().join("files")).unwrap().count();
    assert_eq!(files(), 2, "one of each family");
    // Only this test compacts.
    store
        .change_table(&name(), |table| Ok(table.clone().attribute("COMPACTION_ENABLED", "false")))
        .unwrap();
    split(&store, "r0050");
    assert_eq!(files(), 2, "they are shared");
    store.close().unwrap();
    let store = Store::open(dir.path()).unwrap();
    assert_eq!(scan(&table(&store), false), rows(0..100));
    merge(&store, "r0049", "r0050");
    assert_eq!(files(), 4, "each region has written its rows anew");
    assert_eq!(scan(&table(&store), false), rows(0..100));
    assert!(check_closed(dir.path(), store).is_empty());
}

#[test]
fn a_table_that_was_looked_up_before_a_split_holds_no_files_back() {
    let (dir, store) = store();
    let old = table(&store);
    fill(&old, 100);
    old.flush().unwrap();
    split(&store, "r0050");
    table(&store).compact(CompactionKind::Major).unwrap();
    let files = std::fs::read_dir(dir.path().join("files")).unwrap().count();
    assert_eq!(files, 4, "one of each family in each region");
    assert_eq!(scan(&old, false), rows(0..100));
}

/// Closes a store and returns the defects.
fn check_closed(dir: &std::path::Path, store: Store) -> Vec<String> {
    store.close().unwrap();
    let report = check(dir, |_| {}).unwrap();
    report.problems.iter().map(ToString::to_string).chain(report.strangers).collect()
}

#[test]
fn rows_deleted_between_a_split_and_a_merge_do_not_come_back() {
    let (dir, store) = store();
    fill(&table(&store), 100);
    split(&store, "r0050");
    let lower = region(&store, "r0000");
    for number in 0..50 {
        table(&store).mutate(&Delete::new(row(number)).unwrap().into()).unwrap();
    }
    lower.flush().unwrap();
    lower.compact(CompactionKind::Major).unwrap();
    merge(&store, "r0049", "r0050");
    assert_eq!(scan(&table(&store), false), rows(50..100));
    table(&store).compact(CompactionKind::Major).unwrap();
    assert_eq!(scan(&table(&store), false), rows(50..100));
    assert_eq!(ranges(&store), bounds(&[("", "")]));
    store.close().unwrap();
    let store = Store::open(dir.path()).unwrap();
    assert_eq!(scan(&table(&store), true), rows((50..100).rev()));
}

#[test]
fn an_open_scan_returns_every_row_once_across_splits_and_merges() {
    let (_dir, store) = store();
    split(&store, "r0050");
    fill(&table(&store), 100);
    for reversed in [false, true] {
        let point = store.read_point();
        let scan = || Scan { reversed, ..Scan::all() };
        let at = table(&store);
        let mut scanners =
            [at.scan(scan()).unwrap(), at.scan_at(scan(), &point).unwrap()].map(|it| (it, vec![]));
        let steps: [&dyn Fn(); 5] = [
            &|| split(&store, "r0020"),
            &|| merge(&store, "r0030", "r0060"),
            &|| split(&store, "r0070"),
            &|| merge(&store, "r0000", "r0030"),
            &|| merge(&store, "r0000", "r0070"),
        ];
        for step in steps {
            for (scanner, seen) in &mut scanners {
                (0..17).for_each(|_| seen.extend(scanner.next().unwrap()));
            }
            step();
        }
        split(&store, "r0050");
        for (mut scanner, mut seen) in scanners {
            while let Some(row) = scanner.next().unwrap() {
                seen.push(row);
            }
            let mut all = rows(0..100);
            if reversed {
                all.reverse();
            }
            assert_eq!(seen.iter().map(|row| text(row.key())).collect::<Vec<_>>(), all);
        }
    }
}

#[test]
fn the_limit_of_a_scan_counts_rows_over_regions_also_those_whose_last_part_is_empty() {
    let (_dir, store) = store();
    split(&store, "r0002");
    let table = table(&store);
    fill(&table, 6);
    for number in 0..6 {
        // After the only visible cell in the row.
        let put = Put::new(row(number)).unwrap().add("g", "r", "v").unwrap();
        table.mutate(&put.into()).unwrap();
        let delete = Delete::new(row(number)).unwrap().family("g", Timestamp::LATEST).unwrap();
        table.mutate(&delete.into()).unwrap();
    }
    for (reversed, expected) in [(false, rows(0..4)), (true, rows([5, 4, 3, 2]))] {
        let limited = Scan { batch: Some(1), limit: Some(4), reversed, ..Scan::all() };
        let mut scanner = table.scan(limited).unwrap();
        let seen = std::iter::from_fn(|| scanner.next().unwrap()).map(|row| text(row.key()));
        assert_eq!(seen.collect::<Vec<_>>(), expected);
    }
}

#[test]
fn a_moment_that_is_held_is_read_as_it_was_over_splits_and_merges() {
    let (_dir, store) = store();
    split(&store, "r0050");
    fill(&table(&store), 100);
    let point = store.read_point();
    (0..100).for_each(|number| put(&table(&store), number, "later"));
    split(&store, "r0020");
    merge(&store, "r0030", "r0060");
    table(&store).compact(CompactionKind::Major).unwrap();
    let now = table(&store);
    for number in [0, 19, 20, 49, 50, 99] {
        let get = Get::new(row(number)).unwrap();
        let values = |row: rowhouse_model::Row| row.value("f", "q").map(text);
        assert_eq!(values(now.get_at(&get, &point).unwrap()), Some("v".into()), "{number}");
        assert_eq!(values(now.get(&get).unwrap()), Some("later".into()));
    }
    for reversed in [false, true] {
        let mut scanner = now.scan_at(Scan { reversed, ..Scan::all() }, &point).unwrap();
        let mut seen = Vec::new();
        while let Some(row) = scanner.next().unwrap() {
            assert_eq!(row.value("g", "q").map(text), Some("v".into()));
            seen.push(text(row.key()));
        }
        if reversed {
            seen.reverse();
        }
        assert_eq!(seen, rows(0..100));
    }
}

#[test]
fn regions_are_split_in_the_middle_of_their_data() {
    let (_dir, store) = store();
    let whole = region(&store, "");
    let split = |region: &Region| store.split_region(&region.name().full, None);
    let refused = split(&whole).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::InvalidRequest);
    put(&table(&store), 7, "v");
    assert!(split(&whole).unwrap_err().to_string().contains("fewer than two rows"), "one row");
    fill(&table(&store), 3000);
    split(&whole).unwrap();
    let middle = ranges(&store)[0].1.clone();
    assert!((rows([1200])[0].clone()..rows([1800])[0].clone()).contains(&middle), "{middle}");
    assert_eq!(split(&whole).unwrap_err().kind(), ErrorKind::UnknownRegion);
}

/// Writes a row with a `len` byte value to a file in each family.
fn flushed_row(store: &Store, number: u32, len: usize) {
    put(&table(store), number, &"v".repeat(len));
    table(store).flush().unwrap();
}

#[test]
fn a_region_whose_largest_file_has_one_row_is_split_in_the_middle_of_another() {
    let (_dir, store) = store();
    flushed_row(&store, 3, 1 << 20);
    fill(&table(&store), 100);
    store.split_region(&region(&store, "").name().full, None).unwrap();
    let middle = ranges(&store)[0].1.clone();
    assert!((rows([40])[0].clone()..rows([60])[0].clone()).contains(&middle), "{middle}");
}

#[test]
fn a_region_whose_files_have_one_row_each_is_split_between_them() {
    // No more than two files, so that they are not compacted.
    for (other, is_split) in [(7, true), (3, false)] {
        let (_dir, store) = store();
        flushed_row(&store, 3, 10);
        flushed_row(&store, other, 10);
        match store.split_region(&region(&store, "").name().full, None) {
            Ok(()) => assert_eq!(ranges(&store)[0].1, row(other)),
            Err(error) => assert!(error.to_string().contains("fewer than two rows"), "{error}"),
        }
        assert_eq!(ranges(&store).len() == 2, is_split);
    }
}

#[test]
fn a_region_is_split_where_its_policy_lets_it_if_it_is_in_any_file() {
    let (_dir, store) = store();
    let restricted = table(&store).descriptor().clone();
    let restricted =
        restricted.attribute("hbase.regionserver.region.split_restriction.type", "KeyPrefix");
    let restricted =
        restricted.attribute("hbase.regionserver.region.split_restriction.prefix_length", "3");
    store.alter_table(restricted).unwrap();
    split(&store, "r0100");
    let last = || store.split_region(&region(&store, "r0150").name().full, None);
    // All belong to the row that the region begins with.
    (100..200).for_each(|number| put(&table(&store), number, "a value of a large file"));
    assert!(last().unwrap_err().to_string().contains("policy or restriction"));
    (198..202).for_each(|number| put(&table(&store), number, "v"));
    last().unwrap();
    assert_eq!(ranges(&store).last().unwrap().0, "r02");
}

#[test]
fn a_table_whose_policy_has_no_splits_refuses_requested_ones() {
    let (_dir, store) = store();
    let policy = "org.apache.hadoop.hbase.regionserver.DisabledRegionSplitPolicy";
    let declared = table(&store).descriptor().clone();
    store.alter_table(declared.clone().attribute("SPLIT_POLICY", policy)).unwrap();
    let region = region(&store, "");
    for at in [None, Some("r0050".into())] {
        let error = store.split_region(&region.name().full, at).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidRequest);
        assert_eq!(error.message(), format!("{} NOT splittable", region.name().encoded));
    }
    store.alter_table(declared).unwrap();
    split(&store, "r0050");
    assert_eq!(ranges(&store).len(), 2);
}

#[test]
fn rows_that_are_no_place_to_split_and_regions_that_are_no_neighbours_are_refused() {
    let (_dir, store) = store();
    split(&store, "r0050");
    split(&store, "r0070");
    let refused = |region: &Region, at: &'static str| {
        let error = store.split_region(&region.name().full, Some(at.into())).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidRequest, "{error}");
        error.to_string()
    };
    let middle = region(&store, "r0050");
    for at in ["r0050", "r0040", "r0070", ""] {
        let message = refused(&middle, at);
        assert!(at.is_empty() || message.contains(at), "{message}");
    }
    let first = region(&store, "");
    let last = region(&store, "r0070");
    let names = [&first.name().full[..], &last.name().full[..]];
    assert_eq!(store.merge_regions(&names).unwrap_err().kind(), ErrorKind::InvalidRequest);
    assert_eq!(store.merge_regions(&names[..1]).unwrap_err().kind(), ErrorKind::InvalidRequest);
    store.disable_table(&name()).unwrap();
    let error = store.split_region(names[0], Some("r0010".into())).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TableNotEnabled);
}

#[test]
fn writers_readers_counters_and_transactions_go_on_while_regions_are_split_and_merged() {
    const ROWS: u32 = 60;
    let (dir, store) = store();
    fill(&table(&store), ROWS);
    let ended = AtomicBool::new(false);
    let counted = AtomicU64::new(0);
    let go_on = || !ended.load(Ordering::Relaxed);
    let old = table(&store);
    std::thread::scope(|scope| {
        // Increments one of two rows, in turn, and both together in a transaction.
        for place in ["r0010", "r0045"] {
            let store = &store;
            let old = &old;
            let counted = &counted;
            scope.spawn(move || {
                for turn in 0.. {
                    if !go_on() {
                        break;
                    }
                    let table = if turn % 2 == 0 { Arc::clone(old) } else { table(store) };
                    let count = |row: &str| {
                        let row = row.to_owned();
                        Mutation::from(Increment::new(row).unwrap().add("f", "n", 1).unwrap())
                    };
                    match turn % 3 {
                        0 => drop(table.mutate(&count(place)).unwrap()),
                        1 => {
                            let done = table.batch(vec![count(place), count("r0030")]);
                            done.into_iter().for_each(|done| drop(done.unwrap()));
                            counted.fetch_add(1, Ordering::Relaxed);
                        }
                        _ => {
                            let both = |transaction: &mut rowhouse_store::Transaction| {
                                transaction.mutate(&table, count(place))?;
                                transaction.mutate(&table, count("r0030"))?;
                                Ok(())
                            };
                            match store.transact(both) {
                                Ok(()) => drop(counted.fetch_add(1, Ordering::Relaxed)),
                                Err(error) if error.kind() == ErrorKind::Conflict => continue,
                                Err(error) => panic!("{error}"),
                            }
                        }
                    }
                    counted.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        for reversed in [false, true] {
            let store = &store;
            let old = &old;
            scope.spawn(move || {
                while go_on() {
                    for at in [old, &table(store)] {
                        let mut seen = scan(at, reversed);
                        if reversed {
                            seen.reverse();
                        }
                        assert_eq!(seen, rows(0..ROWS));
                    }
                }
            });
        }
        for round in 0..12 {
            split(&store, if round % 2 == 0 { "r0020" } else { "r0040" });
            split(&store, "r0030");
            merge(&store, "r0029", "r0030");
            let regions = table(&store).regions().to_vec();
            let names: Vec<&[u8]> = regions.iter().map(|it| &it.name().full[..]).collect();
            store.merge_regions(&names).unwrap();
        }
        ended.store(true, Ordering::Relaxed);
    });
    drop(old);
    let sum = |table: &Arc<Table>| -> u64 {
        let mut scanner = table.scan(Scan::new(RowRange::all())).unwrap();
        let rows = std::iter::from_fn(|| scanner.next().unwrap());
        rows.filter_map(|row| row.value("f", "n").map(|count| count.to_vec()))
            .map(|count| u64::from_be_bytes(count.try_into().unwrap()))
            .sum()
    };
    let expected = counted.load(Ordering::Relaxed);
    assert!(expected > 0);
    assert_eq!(sum(&table(&store)), expected);
    store.close().unwrap();
    let store = Store::open(dir.path()).unwrap();
    assert_eq!(sum(&table(&store)), expected);
}

#[test]
fn a_table_whose_regions_were_split_is_dropped_with_its_files() {
    let (dir, store) = store();
    fill(&table(&store), 100);
    split(&store, "r0050");
    store.disable_table(&name()).unwrap();
    store.drop_table(&name()).unwrap();
    // A compaction in progress keeps its files until it ends.
    assert!(check_closed(dir.path(), store).is_empty());
    assert_eq!(std::fs::read_dir(dir.path().join("files")).unwrap().count(), 0);
}

#[test]
fn splits_are_at_the_requested_row_down_to_the_byte() {
    let (_dir, store) = store();
    let keys: BTreeMap<Bytes, ()> =
        [&b"a"[..], b"a\x00", b"a\x00\x00", b"a\x01", b"b", b"\xff", b"\xff\xff"]
            .map(|key| (Bytes::from_static(key), ()))
            .into();
    for key in keys.keys() {
        let put = Put::new(key.clone()).unwrap().add("f", "q", "v").unwrap();
        table(&store).mutate(&put.into()).unwrap();
    }
    for at in keys.keys().skip(1) {
        let region = Arc::clone(table(&store).region_of(at));
        store.split_region(&region.name().full, Some(at.clone())).unwrap();
    }
    let seen = |reversed| {
        let mut scanner = table(&store).scan(Scan { reversed, ..Scan::all() }).unwrap();
        std::iter::from_fn(move || scanner.next().unwrap())
            .map(|row| Bytes::copy_from_slice(row.key()))
            .collect::<Vec<Bytes>>()
    };
    assert_eq!(seen(false), keys.keys().cloned().collect::<Vec<_>>());
    assert_eq!(seen(true), keys.keys().rev().cloned().collect::<Vec<_>>());
    for region in table(&store).regions() {
        let mut scanner = region.scan(&Scan::all()).unwrap();
        assert_eq!(scanner.next().unwrap().map(|row| Bytes::copy_from_slice(row.key())), {
            let first = &region.info().range.start;
            Some(if first.is_empty() { Bytes::from_static(b"a") } else { first.clone() })
        });
        assert!(scanner.next().unwrap().is_none(), "one row each");
    }
}

#[test]
fn merges_of_regions_that_are_no_two_neighbours_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let name = TableName::parse("t").unwrap();
    let family = FamilyDescriptor::new("f").unwrap();
    let splits = ["b".into(), "c".into()];
    store.create_table(TableDescriptor::new(name.clone()).family(family), &splits).unwrap();
    let held = store.table(&name).unwrap();
    let names: Vec<_> = held.regions().iter().map(|region| region.name()).collect();
    let refused = |merged: &[&[u8]]| store.merge_regions(merged).unwrap_err().message().to_owned();
    let first = &names[0].full;
    let last = &names[2].full;
    assert_eq!(refused(&[first]), "a merge needs two regions or more");
    let twice = refused(&[first, first]);
    assert!(twice.starts_with("a region cannot be merged with itself: region=t,,"), "{twice}");
    let apart = refused(&[last, first]);
    assert!(apart.starts_with("regions to merge must be adjacent regions of one table"), "{apart}");
    assert_eq!(held.regions().len(), 3);
}
