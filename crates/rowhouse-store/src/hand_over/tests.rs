//! Tests for exports and loads, within one store and between stores.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rowhouse_format::hfile::{BLOCK_HEADER_LEN, ZstdForm};
use rowhouse_model::{
    Bytes, Cell, Delete, ErrorKind, FamilyDescriptor, Get, Put, Scan, TableDescriptor, TableName,
    escape,
};
use tempfile::TempDir;

use super::{ExportOptions, ExportedCells, files_to_load};
use crate::hfile::HFile;
use crate::{CompactionKind, Store, Table};

fn name() -> TableName {
    TableName::parse("posts").unwrap()
}

/// Creates a table with families `a` (five versions, SNAPPY, FAST_DIFF) and `b`, whose regions
/// begin at the first row and at `starts`.
fn make(store: &Store, starts: &[&str]) -> Arc<Table> {
    let family = |name: &str| FamilyDescriptor::new(name.to_owned()).unwrap();
    let a = family("a").versions(5).attribute("COMPRESSION", "SNAPPY");
    let a = a.attribute("DATA_BLOCK_ENCODING", "FAST_DIFF");
    let table = TableDescriptor::new(name()).family(a).family(family("b"));
    let starts: Vec<Bytes> = starts.iter().map(|start| Bytes::from((*start).to_owned())).collect();
    store.create_table(table, &starts).unwrap();
    store.table(&name()).unwrap()
}

fn put(table: &Table, row: &str, family: &str, at: i64, value: &str) {
    let at = rowhouse_model::Timestamp::from_millis(at).unwrap();
    let put = Put::new(row.to_owned()).unwrap();
    let put = put.add_at(family, "q", at, value).unwrap();
    table.mutate(&put.into()).unwrap();
}

fn value(table: &Table, row: &str, family: &str) -> Option<String> {
    let result = table.get(&Get::new(row.to_owned()).unwrap()).unwrap();
    result.value(family, "q").map(|value| String::from_utf8(value.to_vec()).unwrap())
}

fn text(cell: &Cell) -> String {
    let key = cell.key();
    let value = escape(cell.value());
    let [row, family, qualifier] = [key.row, key.family, key.qualifier].map(escape);
    format!("{row} {family}:{qualifier} {} {value}", key.timestamp)
}

/// Returns every visible version as text.
fn all(table: &Arc<Table>) -> Vec<String> {
    let mut scanner = table.scan(Scan::all().versions(10)).unwrap();
    let mut all = Vec::new();
    while let Some(row) = scanner.next().unwrap() {
        all.extend(row.to_cells().iter().map(text));
    }
    all
}

fn export(store: &Store, options: impl Into<ExportOptions>) -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    store.export_hfiles(&name(), dir.path(), options, |_| {}).unwrap();
    dir
}

fn load(store: &Store, dir: &Path) -> crate::LoadReport {
    store.bulk_load(&name(), &files_to_load(dir).unwrap(), |_| {}).unwrap()
}

fn files_of(dir: &Path) -> Vec<PathBuf> {
    files_to_load(dir).unwrap().into_iter().map(|(_, path)| path).collect()
}

/// Writes fifty rows in two families with some versions and deletes, and flushes half the rows.
fn fill(table: &Table) {
    for number in 0..50 {
        let row = format!("row{number:02}");
        put(table, &row, "a", 1, "first");
        put(table, &row, "a", 2, &format!("second {number}"));
        put(table, &row, "b", 1, "b");
        if number == 25 {
            table.flush().unwrap();
        }
        if number % 7 == 0 {
            table.mutate(&Delete::new(row).unwrap().into()).unwrap();
        }
    }
}

#[test]
fn exported_files_load_into_a_table_of_other_regions() {
    let source_dir = tempfile::tempdir().unwrap();
    let to = tempfile::tempdir().unwrap();
    let source_store = Store::open(source_dir.path()).unwrap();
    let source = make(&source_store, &["row20"]);
    fill(&source);
    let dir = export(&source_store, ExportedCells::Retained);
    assert_eq!(files_of(dir.path()).len(), 4);
    for file in files_of(dir.path()) {
        let file = HFile::open(file).unwrap();
        let is_a = file.meta().first_key().unwrap().family == b"a";
        let want = if is_a { ("SNAPPY", "FAST_DIFF") } else { ("NONE", "NONE") };
        let trailer = file.meta().trailer();
        assert_eq!((trailer.compression.name(), file.meta().layout().encoding.name()), want);
    }
    let target_store = Store::open(to.path()).unwrap();
    let target = make(&target_store, &["row10", "row11", "row40"]);
    let report = load(&target_store, dir.path());
    assert_eq!(report.files, 4);
    let want = all(&source);
    assert_eq!((all(&target), report.cells), (want.clone(), want.len() as u64));
    target.compact(CompactionKind::Major).unwrap();
    assert_eq!(all(&target), want);
    drop((target, target_store));
    let target_store = Store::open(to.path()).unwrap();
    assert_eq!(all(&target_store.table(&name()).unwrap()), want);
    drop(target_store);
    let checked = crate::check(to.path(), |_| {}).unwrap();
    assert!(checked.problems.is_empty(), "{:?}", checked.problems);
}

#[test]
fn zstd_is_exported_in_the_requested_form_and_loaded_in_both() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let table = make(&store, &[]);
    let family = table.descriptor().find_family(b"a").unwrap().clone();
    store.alter_family(&name(), family.attribute("COMPRESSION", "ZSTD")).unwrap();
    put(&table, "row", "a", 1, "value");
    let want = all(&table);
    for zstd in [ZstdForm::Frame, ZstdForm::Chunks] {
        let out = export(&store, ExportOptions { zstd, ..ExportOptions::default() });
        let bytes = std::fs::read(&files_of(out.path())[0]).unwrap();
        let is_frame = bytes[BLOCK_HEADER_LEN..].starts_with(&[0x28, 0xB5, 0x2F, 0xFD]);
        assert_eq!(is_frame, zstd == ZstdForm::Frame);
        store.disable_table(&name()).unwrap();
        store.truncate_table(&name(), false).unwrap();
        load(&store, out.path());
        assert_eq!(all(&store.table(&name()).unwrap()), want, "{zstd:?}");
    }
}

#[test]
fn a_raw_export_has_markers_and_the_cells_they_cover() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let table = make(&store, &[]);
    put(&table, "row", "a", 1, "deleted");
    table.mutate(&Delete::new("row").unwrap().into()).unwrap();
    put(&table, "other", "a", 1, "kept");
    let cells = |cells| -> u64 {
        let dir = export(&store, cells);
        let files = files_of(dir.path());
        files.into_iter().map(|file| HFile::open(file).unwrap().meta().cells()).sum()
    };
    assert_eq!(cells(ExportedCells::Retained), 1);
    // A marker for each family.
    assert_eq!(cells(ExportedCells::Raw), 4);
}

#[test]
fn loaded_cells_are_newer_than_earlier_writes_and_older_than_later_ones() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let table = make(&store, &[]);
    for row in ["1", "2"] {
        put(&table, row, "a", 5, "loaded");
    }
    let files = export(&store, ExportedCells::Retained);
    put(&table, "1", "a", 5, "there");
    let point = store.read_point();
    assert!(load(&store, files.path()).sequence > point.sequence());
    assert_eq!(value(&table, "1", "a").as_deref(), Some("loaded"));
    let before = table.get_at(&Get::new("1").unwrap(), &point).unwrap();
    assert_eq!(before.value("a", "q").as_deref(), Some(&b"there"[..]));
    put(&table, "2", "a", 5, "later");
    assert_eq!(value(&table, "2", "a").as_deref(), Some("later"));
    // The same after a reopen and after a compaction.
    drop((table, point, store));
    let store = Store::open(dir.path()).unwrap();
    let table = store.table(&name()).unwrap();
    for compacted in [false, true] {
        if compacted {
            table.flush().unwrap();
            table.compact(CompactionKind::Major).unwrap();
        }
        assert_eq!(value(&table, "1", "a").as_deref(), Some("loaded"), "{compacted}");
        assert_eq!(value(&table, "2", "a").as_deref(), Some("later"), "{compacted}");
    }
}

#[test]
fn of_a_cell_in_several_files_of_a_load_that_of_the_newest_file_counts() {
    let source_dir = tempfile::tempdir().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let source_store = Store::open(source_dir.path()).unwrap();
    let source = make(&source_store, &[]);
    let file = |value: &str, to: &str| {
        put(&source, "1", "a", 5, value);
        let out = export(&source_store, ExportedCells::Retained);
        let path = folder.path().join(to);
        std::fs::copy(&files_of(out.path())[0], &path).unwrap();
        (Bytes::from_static(b"a"), path)
    };
    let old = file("old", "old");
    let new = file("new", "new");
    // HBase puts the load's sequence number into the names that loaded files get.
    let named = |number: u64| file("loaded", &format!("0123_SeqId_{number}_"));
    let early = named(0);
    let late = named(1 << 40);
    for (files, want) in [
        (vec![&old, &new], "new"),
        (vec![&new, &old], "new"),
        (vec![&new, &early, &old], "new"),
        (vec![&late, &new, &old], "loaded"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        let table = make(&store, &[]);
        let files: Vec<_> = files.into_iter().cloned().collect();
        let point = store.read_point();
        let report = store.bulk_load(&name(), &files, |_| {}).unwrap();
        // One number for each file, after that of the record that tells followers of the load.
        assert_eq!(report.sequence, point.sequence() + 1 + files.len() as u64);
        assert!(table.get_at(&Get::new("1").unwrap(), &point).unwrap().is_empty());
        assert_eq!(value(&table, "1", "a").as_deref(), Some(want), "{files:?}");
        put(&table, "2", "a", 5, "later");
        drop((table, store));
        let store = Store::open(dir.path()).unwrap();
        let table = store.table(&name()).unwrap();
        assert_eq!(value(&table, "1", "a").as_deref(), Some(want), "{files:?}");
        table.compact(CompactionKind::Major).unwrap();
        assert_eq!(value(&table, "1", "a").as_deref(), Some(want), "{files:?}");
    }
}

#[test]
fn a_transaction_that_read_before_a_load_begins_again() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let table = make(&store, &[]);
    put(&table, "1", "a", 5, "loaded");
    let files = export(&store, ExportedCells::Retained);
    table.mutate(&Delete::new("1").unwrap().into()).unwrap();
    table.flush().unwrap();
    table.compact(CompactionKind::Major).unwrap();
    let mut seen = Vec::new();
    store
        .transact(|transaction| {
            let row = transaction.get(&table, &Get::new("1").unwrap())?;
            seen.push(row.value("a", "q").is_some());
            if seen.len() == 1 {
                load(&store, files.path());
            }
            let put = Put::new("2").unwrap().add("a", "q", "seen");
            transaction.mutate(&table, put?)
        })
        .unwrap();
    assert_eq!(seen, [false, true]);
}

#[test]
fn a_load_that_is_refused_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let table = make(&store, &[]);
    put(&table, "1", "a", 5, "a");
    put(&table, "1", "b", 5, "b");
    let files = export(&store, ExportedCells::Retained);
    let count = || std::fs::read_dir(dir.path().join("files")).unwrap().count();
    let before = count();
    let want = all(&table);
    let refused = |files: &[(Bytes, PathBuf)]| {
        let error = store.bulk_load(&name(), files, |_| {}).unwrap_err();
        assert_eq!((count(), all(&table)), (before, want.clone()), "{error}");
        error
    };
    let good = files_to_load(files.path()).unwrap();
    let mut swapped = good.clone();
    swapped[1].0 = good[0].0.clone();
    assert!(refused(&swapped).message().contains("another family: want=a, have=b"));
    let mut unknown = good.clone();
    unknown[0].0 = Bytes::from_static(b"c");
    assert_eq!(refused(&unknown).kind(), ErrorKind::NoSuchColumnFamily);
    // Damage the first block in the second file.
    let mut bytes = std::fs::read(&good[1].1).unwrap();
    bytes[40] ^= 1;
    std::fs::write(&good[1].1, bytes).unwrap();
    let error = refused(&good);
    assert_eq!(error.kind(), ErrorKind::Corruption);
    assert!(error.message().contains("offset=0"), "{error}");
}

#[test]
fn an_export_requires_an_empty_directory() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    make(&store, &[]);
    let error =
        store.export_hfiles(&name(), dir.path(), ExportedCells::Retained, |_| {}).unwrap_err();
    assert!(error.message().ends_with("is not empty"), "{error}");
}

/// Returns the cells in row `row`, with these families, qualifiers and values.
fn row_of(row: &str, columns: &[(&str, &str, &str)]) -> Vec<Cell> {
    let cell = |(family, qualifier, value): &(&str, &str, &str)| {
        let at = rowhouse_model::Timestamp::LATEST;
        Cell::new(row, family, qualifier, at, rowhouse_model::CellKind::Put, value).unwrap()
    };
    columns.iter().map(cell).collect()
}

fn load_rows(store: &Store, rows: Vec<Vec<Cell>>) -> rowhouse_model::Result<crate::LoadReport> {
    let mut rows = rows.into_iter();
    store.load_rows(&name(), || Ok(rows.next()))
}

#[test]
fn rows_in_order_are_divided_among_regions_and_families() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let table = make(&store, &["row3", "row5"]);
    put(&table, "row2", "b", 5, "there");
    let rows = (0..8).map(|number| {
        let value = format!("v{number}");
        let both = [("a", "q", &*value), ("b", "q", &*value)];
        row_of(&format!("row{number}"), if number % 2 == 0 { &both } else { &both[..1] })
    });
    let report = load_rows(&store, rows.collect()).unwrap();
    assert_eq!((report.cells, report.files), (12, 0));
    let texts = |table: &Table| -> Vec<_> {
        (0..8)
            .map(|number| {
                (0..2)
                    .map(|family| value(table, &format!("row{number}"), ["a", "b"][family]))
                    .collect::<Vec<_>>()
            })
            .collect()
    };
    let want: Vec<_> = (0..8)
        .map(|number| {
            vec![Some(format!("v{number}")), (number % 2 == 0).then(|| format!("v{number}"))]
        })
        .collect();
    assert_eq!(texts(&table), want);
    // They have the load's time.
    let row = table.get(&Get::new("row0").unwrap()).unwrap();
    assert!(row.cell("a", "q").unwrap().timestamp().as_millis() > 1_600_000_000_000);
    drop((table, store));
    let checked = crate::check(dir.path(), |_| {}).unwrap();
    assert!(checked.problems.is_empty(), "{:?}", checked.problems);
    let store = Store::open(dir.path()).unwrap();
    assert_eq!(texts(&store.table(&name()).unwrap()), want);
}

#[test]
fn a_load_of_rows_that_is_refused_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let table = make(&store, &["row2"]);
    let count = || std::fs::read_dir(dir.path().join("files")).unwrap().count();
    let good = || row_of("row1", &[("a", "q", "1")]);
    let refused = |rows: Vec<Vec<Cell>>, want: &str| {
        let error = load_rows(&store, rows).unwrap_err();
        assert!(error.message().contains(want), "{error}");
        assert_eq!((count(), all(&table)), (0, vec![]), "{error}");
    };
    refused(vec![good(), good()], "out of order: row=row1, after=row1");
    refused(vec![row_of("row3", &[("a", "q", "1")]), good()], "row=row1, after=row3");
    refused(vec![good(), row_of("row3", &[("b", "q", "1"), ("a", "q", "1")])], "row=row3");
    refused(vec![good(), row_of("row3", &[("c", "q", "1")])], "c");
    let mut rows = vec![good()].into_iter();
    let failing = || rows.next().map(Some).ok_or_else(|| rowhouse_model::Error::invalid("no more"));
    let error = store.load_rows(&name(), failing).unwrap_err();
    assert_eq!((error.message(), count()), ("no more", 0));
}

#[test]
fn a_region_takes_files_of_its_rows_alone() {
    let source_dir = tempfile::tempdir().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let source_store = Store::open(source_dir.path()).unwrap();
    let source = make(&source_store, &["row20"]);
    fill(&source);
    let out = export(&source_store, ExportedCells::Retained);
    let files = files_to_load(out.path()).unwrap();
    let store = Store::open(dir.path()).unwrap();
    let table = make(&store, &["row20"]);
    let first = &table.regions()[0];
    let second = &table.regions()[1];
    // A file belongs to another region: none is loaded.
    assert!(store.bulk_load_region(first, &files).unwrap().is_none());
    assert_eq!(all(&table), Vec::<String>::new());
    let of = |region: &crate::Region| -> Vec<_> {
        let holds = |path: &PathBuf| {
            let file = HFile::open(path).unwrap();
            region.info().range.contains(file.meta().first_key().unwrap().row)
        };
        files.iter().filter(|(_, path)| holds(path)).cloned().collect()
    };
    let report = store.bulk_load_region(first, &of(first)).unwrap().unwrap();
    assert_eq!((report.files, report.sequence > 0), (2, true));
    store.bulk_load_region(second, &of(second)).unwrap().unwrap();
    assert_eq!(all(&table), all(&source));
    // A region that was replaced accepts no load.
    store.split_region(&second.name().full, Some(Bytes::from_static(b"row30"))).unwrap();
    let error = store.bulk_load_region(second, &of(second)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotServingRegion);
}

/// Checks that a load into a region changes nothing if `happens` runs while the files are read.
fn load_while(happens: fn(&Store, &crate::Region)) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let table = make(&store, &[]);
    fill(&table);
    let out = export(&store, ExportedCells::Retained);
    let files = files_to_load(out.path()).unwrap();
    let region = &table.regions()[0];
    let before = all(&table);
    let stored = || -> BTreeSet<_> {
        let entries = std::fs::read_dir(dir.path().join("files")).unwrap();
        entries.map(|entry| entry.unwrap().file_name()).collect()
    };
    let stored_before = stored();
    let mut load = super::loading::Load::begin(store.engine()).unwrap();
    for (family, path) in &files {
        load.take(family, &HFile::open(path).unwrap(), |_| Some(Arc::clone(region))).unwrap();
    }
    let loaded: BTreeSet<_> = stored().difference(&stored_before).cloned().collect();
    assert!(!loaded.is_empty());
    happens(&store, region);
    let error = store.install(load, files.len(), &table, Some(region)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotServingRegion);
    if region.check_serving().is_err() && store.find_region(&region.name().full).is_some() {
        store.assign_region(&region.name().full).unwrap();
    }
    assert_eq!(all(&store.table(&name()).unwrap()), before);
    // The files from the split have been compacted.
    assert!(stored().is_disjoint(&loaded), "{loaded:?}");
}

#[test]
fn a_region_that_is_split_while_it_is_loaded_takes_nothing() {
    load_while(|store, region| store.split_region(&region.name().full, None).unwrap());
}

#[test]
fn a_region_that_is_unassigned_while_it_is_loaded_takes_nothing() {
    load_while(|store, region| store.unassign_region(&region.name().full).unwrap());
}

fn split(store: &Store, at: &'static str) {
    let region = Arc::clone(store.table(&name()).unwrap().region_of(at.as_bytes()));
    store.split_region(&region.name().full, Some(at.into())).unwrap();
}

fn merge_all(store: &Store) {
    let table = store.table(&name()).unwrap();
    let names: Vec<_> = table.regions().iter().map(|region| &*region.name().full).collect();
    store.merge_regions(&names).unwrap();
}

/// Changes to a table's regions, two that meet at `row25`, during a load.
const REPLACED: [fn(&Store); 4] = [
    |store| split(store, "row10"),
    |store| ["row10", "row05", "row40"].into_iter().for_each(|at| split(store, at)),
    merge_all,
    |store| {
        merge_all(store);
        split(store, "row33");
    },
];

/// Checks that a table holds `want`: now, after a compaction, and after a reopen.
fn check_holds(dir: &TempDir, store: Store, want: &[String]) {
    let table = store.table(&name()).unwrap();
    assert_eq!(all(&table), want);
    for region in table.regions() {
        let mut scanner = region.scan(&Scan::all()).unwrap();
        while let Some(row) = scanner.next().unwrap() {
            assert!(region.info().range.contains(row.key()));
        }
    }
    drop((table, store));
    let checked = crate::check(dir.path(), |_| {}).unwrap();
    assert!(checked.problems.is_empty(), "{:?}", checked.problems);
    let store = Store::open(dir.path()).unwrap();
    let table = store.table(&name()).unwrap();
    assert_eq!(all(&table), want);
    table.compact(CompactionKind::Major).unwrap();
    assert_eq!(all(&table), want);
    split(&store, "row45");
    assert_eq!(all(&store.table(&name()).unwrap()), want);
}

#[test]
fn a_load_goes_to_the_regions_that_came_while_files_were_read() {
    let source_dir = tempfile::tempdir().unwrap();
    let source_store = Store::open(source_dir.path()).unwrap();
    let source = make(&source_store, &["row30"]);
    fill(&source);
    let out = export(&source_store, ExportedCells::Retained);
    let files = files_to_load(out.path()).unwrap();
    for replace in REPLACED {
        for when in 1..=files.len() {
            let dir = tempfile::tempdir().unwrap();
            let store = Store::open(dir.path()).unwrap();
            make(&store, &["row25"]);
            let mut steps = 0;
            let loaded = store.bulk_load(&name(), &files, |_| {
                if steps == when {
                    replace(&store);
                }
                steps += 1;
            });
            assert_eq!(loaded.unwrap().files, files.len());
            check_holds(&dir, store, &all(&source));
        }
    }
}

#[test]
fn rows_that_are_loaded_go_to_the_regions_that_came_meanwhile() {
    for replace in REPLACED {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        make(&store, &["row25"]);
        let mut numbers = 0..50;
        let next = || {
            let Some(number) = numbers.next() else { return Ok(None) };
            if number == 20 {
                replace(&store);
            }
            let at = rowhouse_model::Timestamp::from_millis(number).unwrap();
            let row = format!("row{number:02}");
            let kind = rowhouse_model::CellKind::Put;
            Ok(Some(vec![Cell::new(row, "a", "q", at, kind, "v").unwrap()]))
        };
        store.load_rows(&name(), next).unwrap();
        let want: Vec<_> = (0..50).map(|number| format!("row{number:02} a:q {number} v")).collect();
        check_holds(&dir, store, &want);
    }
}

#[test]
fn a_recreated_table_does_not_take_a_load_of_the_dropped_one() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    fill(&make(&store, &[]));
    let out = export(&store, ExportedCells::Retained);
    let files = files_to_load(out.path()).unwrap();
    let mut again = None;
    let loaded = store.bulk_load(&name(), &files, |_| {
        again.get_or_insert_with(|| {
            store.disable_table(&name()).unwrap();
            store.drop_table(&name()).unwrap();
            make(&store, &[])
        });
    });
    assert_eq!(loaded.unwrap_err().kind(), ErrorKind::NotServingRegion);
    assert_eq!(all(&again.unwrap()), Vec::<String>::new());
}
