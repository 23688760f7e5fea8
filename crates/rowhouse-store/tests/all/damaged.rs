//! Stores that are checked without being opened, and salvaging damaged ones.

use std::fs;
use std::path::{Path, PathBuf};

use rowhouse_model::{
    Bytes, Delete, ErrorKind, FamilyDescriptor, Get, Put, Scan, TableDescriptor, TableName,
    Timestamp,
};
use rowhouse_store::{ExportedCells, Settings, Store, check, files_to_load, salvage};

const ROWS: usize = 2_000;

fn name(text: &str) -> TableName {
    TableName::parse(text).unwrap()
}

fn family(name: &'static str) -> FamilyDescriptor {
    FamilyDescriptor::new(name).unwrap().attribute("BLOCKSIZE", "4096")
}

/// The key template that the tables declare.
const TEMPLATE: &str = "1 row[n digits 4]";

/// Creates two tables with two regions; half the rows in files, half in the log.
fn make(dir: &Path) {
    let settings = Settings { wal_segment_bytes: 64 << 10, ..Settings::default() };
    let store = Store::builder(dir).settings(settings).open().unwrap();
    let rowcol = family("g").attribute("BLOOMFILTER", "ROWCOL");
    let declared = |table| TableDescriptor::new(name(table)).attribute("rowhouse.key", TEMPLATE);
    let descriptor = declared("a").family(family("f")).family(rowcol);
    store.create_table(descriptor, &[Bytes::from("row1000")]).unwrap();
    store.create_table(declared("b").family(family("f")), &[]).unwrap();
    for row in 0..ROWS {
        let key = format!("row{row:04}");
        let put = Put::new(key.clone()).unwrap().add("f", "q", value(row)).unwrap();
        let both = put.clone().add("g", "q", value(row)).unwrap();
        store.table(&name("a")).unwrap().mutate(&both.into()).unwrap();
        store.table(&name("b")).unwrap().mutate(&put.into()).unwrap();
        if row == ROWS / 2 + 100 {
            let delete = Delete::new("row0007").unwrap();
            store.table(&name("a")).unwrap().mutate(&delete.into()).unwrap();
            store.tables().iter().for_each(|table| table.flush().unwrap());
        }
    }
}

fn value(row: usize) -> Vec<u8> {
    format!("{row:04}").repeat(5).into()
}

fn files(dir: &Path, of: &str) -> Vec<PathBuf> {
    let mut paths: Vec<_> =
        fs::read_dir(dir.join(of)).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

fn flip(path: &Path, at: usize) {
    let mut bytes = fs::read(path).unwrap();
    bytes[at] ^= 0x40;
    fs::write(path, bytes).unwrap();
}

/// Returns the first segment that contains `bytes`, and their offset.
fn find_in_log(dir: &Path, bytes: &[u8]) -> (PathBuf, usize) {
    let mut segments = files(dir, "wal");
    segments.retain(|path| path.extension().is_some_and(|end| end == "wal"));
    let place =
        |path: &PathBuf| fs::read(path).unwrap().windows(bytes.len()).position(|at| at == bytes);
    segments.into_iter().find_map(|path| place(&path).map(|at| (path, at))).unwrap()
}

/// Returns the number of cells in a table's family, after checking their values.
fn count(store: &Store, table: &str, family: &str) -> usize {
    let mut scanner =
        store.table(&name(table)).unwrap().scan(Scan::all().family(family.to_owned())).unwrap();
    let mut count = 0;
    while let Some(row) = scanner.next().unwrap() {
        let number = std::str::from_utf8(&row.key()[3..]).unwrap().parse().unwrap();
        assert_eq!(row.value(family, "q").unwrap(), value(number));
        count += 1;
    }
    count
}

fn quiet(_: rowhouse_store::Progress<'_>) {}

#[test]
fn an_undamaged_store_passes_its_check_and_is_salvaged_whole() {
    let dir = tempfile::tempdir().unwrap();
    make(dir.path());
    let mut seen = Vec::new();
    let report =
        check(dir.path(), |progress| seen.push((progress.bytes_done, progress.bytes_total)))
            .unwrap();
    assert!(report.problems.is_empty(), "{report:?}");
    assert!(report.log_end.is_none(), "{report:?}");
    assert_eq!((report.tables, report.regions), (2, 3));
    assert!(report.cells > 3_000 && report.log_records > 1_000, "{report:?}");
    let (done, total) = *seen.last().unwrap();
    assert_eq!(done, total);
    let into = dir.path().join("new");
    let report = salvage(dir.path(), &into, quiet).unwrap();
    assert!(report.lost.is_empty(), "{report:?}");
    let store = Store::open(&into).unwrap();
    assert_eq!(count(&store, "a", "f"), ROWS - 1);
    assert_eq!(count(&store, "a", "g"), ROWS - 1);
    assert_eq!(count(&store, "b", "f"), ROWS);
    assert_eq!(store.table(&name("a")).unwrap().regions().len(), 2);
    let deleted = store.table(&name("a")).unwrap().get(&Get::new("row0007").unwrap()).unwrap();
    assert!(deleted.is_empty());
}

#[test]
fn a_damaged_block_costs_its_cells_and_no_others() {
    let dir = tempfile::tempdir().unwrap();
    make(dir.path());
    let file = files(dir.path(), "files").pop().unwrap();
    flip(&file, 5_000);
    let report = check(dir.path(), quiet).unwrap();
    let file_name = file.file_name().unwrap().to_str().unwrap();
    assert_eq!(report.problems.len(), 1, "{report:?}");
    let problem = report.problems[0].to_string();
    assert!(problem.contains(file_name), "{problem}");
    let rows = "table=b, family=f, first row=row0000 (n=0), last row=row1100 (n=1100)";
    assert!(problem.ends_with(rows), "{problem}");
    let before = fs::read(&file).unwrap();
    let into = tempfile::tempdir().unwrap();
    let report = salvage(dir.path(), into.path(), quiet).unwrap();
    assert_eq!(report.lost.len(), 1, "{report:?}");
    assert_eq!(fs::read(&file).unwrap(), before);
    let store = Store::open(into.path()).unwrap();
    let there = count(&store, "a", "f") + count(&store, "a", "g") + count(&store, "b", "f");
    let all = 3 * ROWS - 2;
    // The log may still have the block's cells.
    assert!((all - 100..=all).contains(&there), "{there}");
    drop(store);
    assert!(check(into.path(), quiet).unwrap().problems.is_empty());
}

#[test]
fn blocks_are_read_although_sections_after_them_are_damaged() {
    let dir = tempfile::tempdir().unwrap();
    make(dir.path());
    let file = files(dir.path(), "files").pop().unwrap();
    // In the trailer's zeros.
    let at = fs::metadata(&file).unwrap().len() as usize - 1_000;
    flip(&file, at);
    assert_eq!(check(dir.path(), quiet).unwrap().problems.len(), 1);
    let into = tempfile::tempdir().unwrap();
    let report = salvage(dir.path(), into.path(), quiet).unwrap();
    assert_eq!(report.lost.len(), 0, "{report:?}");
    let store = Store::open(into.path()).unwrap();
    assert_eq!(count(&store, "b", "f"), ROWS);
}

#[test]
fn a_damaged_record_of_the_log_costs_its_cells_and_no_others() {
    let dir = tempfile::tempdir().unwrap();
    make(dir.path());
    // A row written after the flush: a reused segment may have other rows after its own records.
    let (segment, at) = find_in_log(dir.path(), &value(1_500));
    flip(&segment, at);
    assert_eq!(Store::open(dir.path()).map(|_| ()).unwrap_err().kind(), ErrorKind::Corruption);
    let report = check(dir.path(), quiet).unwrap();
    assert_eq!(report.problems.len(), 1, "{report:?}");
    let into = tempfile::tempdir().unwrap();
    let report = salvage(dir.path(), into.path(), quiet).unwrap();
    assert_eq!(report.lost.len(), 1, "{report:?}");
    let store = Store::open(into.path()).unwrap();
    let there = count(&store, "a", "f") + count(&store, "a", "g") + count(&store, "b", "f");
    let all = 3 * ROWS - 2;
    assert!((all - 2..all).contains(&there), "{there}");
}

#[test]
fn an_edit_that_is_damaged_in_both_copies_of_the_manifest_costs_no_cells_of_its_table() {
    let dir = tempfile::tempdir().unwrap();
    make(dir.path());
    for copy in ["MANIFEST", "MANIFEST.copy"] {
        let manifest = dir.path().join(copy);
        let bytes = fs::read(&manifest).unwrap();
        // In the edit that created the first table.
        let at = bytes.windows(9).position(|bytes| bytes == b"BLOCKSIZE").unwrap();
        flip(&manifest, at);
    }
    assert_eq!(check(dir.path(), quiet).unwrap().problems.len(), 1);
    let into = tempfile::tempdir().unwrap();
    let report = salvage(dir.path(), into.path(), quiet).unwrap();
    let is_reported = |text: &str| report.lost.iter().any(|lost| lost.message().contains(text));
    assert!(is_reported("table a: it was found by its files"), "{report:?}");
    assert!(is_reported("family=f, files=files/0000"), "{report:?}");
    let store = Store::open(into.path()).unwrap();
    assert_eq!(count(&store, "a", "f"), ROWS - 1);
    assert_eq!(count(&store, "a", "g"), ROWS - 1);
    assert_eq!(count(&store, "b", "f"), ROWS);
}

#[test]
fn a_salvage_finds_tables_by_their_files_without_a_manifest() {
    let dir = tempfile::tempdir().unwrap();
    make(dir.path());
    for copy in ["MANIFEST", "MANIFEST.copy"] {
        fs::remove_file(dir.path().join(copy)).unwrap();
    }
    let problems = check(dir.path(), quiet).unwrap().problems;
    assert_eq!(problems[0].message(), "MANIFEST is missing");
    let into = tempfile::tempdir().unwrap();
    let report = salvage(dir.path(), into.path(), quiet).unwrap();
    for table in ["a", "b"] {
        let message = format!("table {table}: it was found by its files");
        assert!(report.lost.iter().any(|lost| lost.message().contains(&message)), "{report:?}");
    }
    let store = Store::open(into.path()).unwrap();
    assert_eq!(store.tables().len(), 2);
    assert_eq!(count(&store, "a", "f"), ROWS - 1);
    assert_eq!(count(&store, "a", "g"), ROWS - 1);
    assert_eq!(count(&store, "b", "f"), ROWS);
    let descriptor = store.table(&name("a")).unwrap().descriptor().clone();
    assert_eq!(descriptor.find_family(b"g").unwrap().bloom().name(), "ROWCOL");
}

#[test]
fn check_and_salvage_need_no_format_and_an_open_writes_it_anew() {
    let dir = tempfile::tempdir().unwrap();
    make(dir.path());
    fs::remove_file(dir.path().join("FORMAT")).unwrap();
    let problems = check(dir.path(), quiet).unwrap().problems;
    assert!(matches!(&problems[..], [one] if one.message().contains("FORMAT is missing")));
    let into = tempfile::tempdir().unwrap();
    let report = salvage(dir.path(), into.path(), quiet).unwrap();
    assert!(report.lost.is_empty(), "{report:?}");
    assert!(!dir.path().join("FORMAT").exists());
    Store::open(dir.path()).unwrap().close().unwrap();
    assert!(check(dir.path(), quiet).unwrap().problems.is_empty());
}

#[test]
fn check_and_salvage_change_nothing_but_the_lock() {
    let dir = tempfile::tempdir().unwrap();
    make(dir.path());
    let all = || {
        let dirs = ["", "wal", "files", "tmp", "aside"].into_iter();
        let paths = dirs.flat_map(|of| files(dir.path(), of)).filter(|path| path.is_file());
        let paths = paths.filter(|path| !path.ends_with("LOCK"));
        paths.map(|path| (path.clone(), fs::read(path).unwrap())).collect::<Vec<_>>()
    };
    let before = all();
    check(dir.path(), quiet).unwrap();
    salvage(dir.path(), tempfile::tempdir().unwrap().path(), quiet).unwrap();
    assert!(all() == before);
}

#[test]
fn a_check_refuses_other_directories_and_a_salvage_overwrites_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let error = check(dir.path().join("none"), quiet).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InvalidRequest);
    assert!(!dir.path().join("none").exists());
    make(&dir.path().join("store"));
    let error = salvage(dir.path().join("store"), dir.path(), quiet).unwrap_err();
    assert!(error.message().contains("is not empty"), "{error}");
    let store = Store::open(dir.path().join("store")).unwrap();
    let error = check(dir.path().join("store"), quiet).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::InUse);
    drop(store);
}

#[test]
fn a_salvage_reports_families_that_are_read_by_the_order_of_writes() {
    let dir = tempfile::tempdir().unwrap();
    let into = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let by_order = family("f").attribute("NEW_VERSION_BEHAVIOR", "TRUE");
    store.create_table(TableDescriptor::new(name("a")).family(by_order), &[]).unwrap();
    store.close().unwrap();
    drop(store);
    let report = salvage(dir.path(), into.path(), quiet).unwrap();
    let [lost] = &report.lost[..] else { panic!("{report:?}") };
    assert!(lost.message().contains("table=a, family=f"), "{lost}");
}

/// Returns a store with an empty table `a` with families `f` and `g`, whose files are not compacted
/// and whose log is retained.
fn make_logged(dir: &Path) -> Store {
    let store = Store::open(dir).unwrap();
    let declared = |table| TableDescriptor::new(name(table)).family(family("f"));
    let unmerged = declared("a").attribute("COMPACTION_ENABLED", "false");
    store.create_table(unmerged.family(family("g")), &[]).unwrap();
    store.create_table(declared("unflushed"), &[]).unwrap();
    put_at(&store, "unflushed", "row", "f", "v");
    store
}

/// Puts a cell with the same column and timestamp for every row.
fn put_at(store: &Store, table: &str, row: &str, family: &str, value: &str) {
    let at = Timestamp::from_millis(5).unwrap();
    let put = Put::new(row.to_owned()).unwrap();
    let put = put.add_at(family, "q", at, value).unwrap();
    store.table(&name(table)).unwrap().mutate(&put.into()).unwrap();
}

fn flush(store: &Store, table: &str) {
    store.table(&name(table)).unwrap().flush().unwrap();
}

/// Returns rows and values in a family of table `a`.
fn rows(store: &Store, family: &str) -> Vec<(String, String)> {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let table = store.table(&name("a")).unwrap();
    let mut scanner = table.scan(Scan::all().family(family.to_owned())).unwrap();
    let mut rows = Vec::new();
    while let Some(row) = scanner.next().unwrap() {
        rows.push((text(row.key()), text(&row.value(family, "q").unwrap())));
    }
    rows
}

/// Damages the first block in each file that contains `bytes`. Returns the families' contents after
/// a salvage.
fn salvage_without(dir: &Path, bytes: &[u8], families: &[&str]) -> Vec<Vec<(String, String)>> {
    let has_it =
        |path: &PathBuf| fs::read(path).unwrap().windows(bytes.len()).any(|at| at == bytes);
    let damaged: Vec<_> = files(dir, "files").into_iter().filter(has_it).collect();
    assert!(!damaged.is_empty());
    damaged.iter().for_each(|path| flip(path, 40));
    let into = tempfile::tempdir().unwrap();
    let report = salvage(dir, into.path(), quiet).unwrap();
    assert_eq!(report.lost.len(), damaged.len(), "{report:?}");
    let store = Store::open(into.path()).unwrap();
    families.iter().map(|family| rows(&store, family)).collect()
}

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(row, value)| ((*row).to_owned(), (*value).to_owned())).collect()
}

#[test]
fn a_salvage_does_not_bring_back_a_family_that_was_dropped() {
    for opened_again in [false, true] {
        let dir = tempfile::tempdir().unwrap();
        let store = make_logged(dir.path());
        put_at(&store, "a", "dropped", "g", "dropped");
        flush(&store, "a");
        store.drop_family(&name("a"), b"g").unwrap();
        store.add_family(&name("a"), family("g")).unwrap();
        put_at(&store, "a", "kept", "g", "kept in g");
        flush(&store, "a");
        store.close().unwrap();
        drop(store);
        if opened_again {
            // This rewrites the manifest.
            Store::open(dir.path()).unwrap().close().unwrap();
        }
        let salvaged = salvage_without(dir.path(), b"kept in g", &["g"]);
        assert_eq!(salvaged, [pairs(&[("kept", "kept in g")])], "opened again: {opened_again}");
    }
}

/// Returns HFiles with one row in table `a`, as another store exports it.
fn exported(row: &str, value: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let hfiles = tempfile::tempdir().unwrap();
    let store = make_logged(dir.path());
    put_at(&store, "a", row, "f", value);
    store.export_hfiles(&name("a"), hfiles.path(), ExportedCells::Retained, quiet).unwrap();
    hfiles
}

#[test]
fn a_salvage_does_not_bring_back_cells_replaced_by_a_load() {
    for damaged in ["written first", "written last"] {
        let dir = tempfile::tempdir().unwrap();
        let store = make_logged(dir.path());
        put_at(&store, "a", "first", "f", "written first");
        put_at(&store, "a", "row", "f", "replaced");
        flush(&store, "a");
        let hfiles = exported("row", "loaded");
        let loaded = files_to_load(hfiles.path()).unwrap();
        store.bulk_load(&name("a"), &loaded, quiet).unwrap();
        put_at(&store, "a", "second", "f", "written last");
        flush(&store, "a");
        put_at(&store, "a", "third", "f", "not flushed");
        store.close().unwrap();
        drop(store);
        let salvaged = salvage_without(dir.path(), damaged.as_bytes(), &["f"]);
        let want = [
            ("first", "written first"),
            ("row", "loaded"),
            ("second", "written last"),
            ("third", "not flushed"),
        ];
        assert_eq!(salvaged, [pairs(&want)], "damaged: {damaged}");
    }
}

#[test]
fn the_log_restores_cells_of_a_damaged_file_below_later_writes() {
    let dir = tempfile::tempdir().unwrap();
    let store = make_logged(dir.path());
    for (row, value) in [("again", "first"), ("once", "first"), ("thrice", "first")] {
        put_at(&store, "a", row, "f", value);
        put_at(&store, "a", row, "g", value);
    }
    flush(&store, "a");
    put_at(&store, "a", "again", "f", "second");
    put_at(&store, "a", "thrice", "f", "second");
    flush(&store, "a");
    put_at(&store, "a", "thrice", "f", "third");
    store.close().unwrap();
    drop(store);
    let salvaged = salvage_without(dir.path(), b"first", &["f", "g"]);
    let f = pairs(&[("again", "second"), ("once", "first"), ("thrice", "third")]);
    let g = pairs(&[("again", "first"), ("once", "first"), ("thrice", "first")]);
    assert_eq!(salvaged, [f, g]);
}
