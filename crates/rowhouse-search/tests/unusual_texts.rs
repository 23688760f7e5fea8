//! Texts and segments that are not as usual: long words, bytes that are not UTF-8, large columns,
//! damaged segments.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue fails")]

use std::sync::Arc;

use rowhouse_model::{
    Cell, CellKind, ErrorKind, FamilyDescriptor, Get, Put, Scan, TableDescriptor, TableName,
    Timestamp,
};
use rowhouse_schema::{
    COLUMNS_ATTRIBUTE, ColumnSchema, Direction, INDEXES_ATTRIBUTE, IndexSchema, IndexState,
    KEY_ATTRIBUTE, KeySchema, Predicate, SEGMENT_FAMILY, SearchPlan, TimeZone,
};
use rowhouse_search::{SearchEngine, TERM_BYTES_MAX};
use rowhouse_store::{Store, Table};

struct Searched {
    _dir: tempfile::TempDir,
    store: Store,
    engine: SearchEngine,
    table: Arc<Table>,
}

fn name() -> TableName {
    TableName::parse("mail").unwrap()
}

fn descriptor() -> TableDescriptor {
    TableDescriptor::new(name())
        .family(FamilyDescriptor::new("d").unwrap())
        .attribute(KEY_ATTRIBUTE, "1 [id text]")
        .attribute(COLUMNS_ATTRIBUTE, "1 d:b body string; d:z size u32")
        .attribute(INDEXES_ATTRIBUTE, "1 text search body simple, size")
}

impl Searched {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        store.create_table(descriptor(), &[]).unwrap();
        let engine = SearchEngine::without_thread(&store);
        engine.work(&name(), "text").unwrap();
        let table = store.table(&name()).unwrap();
        Self { _dir: dir, store, engine, table }
    }

    fn put(&self, row: &str, body: &[u8]) {
        let put = Put::new(row.to_owned()).unwrap().add("d", "b", body).unwrap();
        self.table.mutate(&put.into()).unwrap();
    }

    fn rows(&self, words: &str) -> Vec<String> {
        let matches = self.engine.find(&name(), &plan(words)).unwrap();
        let rows = matches.by_key(Direction::Forward, None, 100).unwrap();
        rows.iter().map(|row| String::from_utf8(row.to_vec()).unwrap()).collect()
    }
}

fn plan(words: &str) -> SearchPlan {
    let table = descriptor();
    let key = KeySchema::of_table(&table).unwrap().unwrap();
    let columns = ColumnSchema::of_table(&table).unwrap().unwrap();
    let indexes = IndexSchema::of_table(&table).unwrap().unwrap();
    let query = Predicate::all().matches("body", words);
    indexes.search_plan(Some(&key), &columns, &query, &TimeZone::UTC, None).unwrap()
}

#[test]
fn an_answer_says_how_many_words_are_too_long_in_memory_and_in_segments() {
    let mail = Searched::new();
    let long = "x".repeat(TERM_BYTES_MAX + 1);
    mail.put("a", format!("before {long} after").as_bytes());
    for _ in 0..2 {
        assert_eq!(mail.rows("before"), ["a"]);
        assert_eq!(mail.rows("after"), ["a"]);
        let matches = mail.engine.find(&name(), &plan("before")).unwrap();
        assert_eq!(matches.long_words(), 1);
        mail.engine.work(&name(), "text").unwrap();
    }
}

#[test]
fn words_around_bytes_that_are_no_utf8_match() {
    let mail = Searched::new();
    mail.put("a", b"one\xfftwo three");
    assert_eq!(mail.rows("one"), ["a"]);
    assert_eq!(mail.rows("\"two three\""), ["a"]);
    mail.engine.work(&name(), "text").unwrap();
    assert_eq!(mail.rows("two"), ["a"]);
}

#[test]
fn a_column_of_eight_megabytes_with_a_million_distinct_words_is_indexed() {
    let mail = Searched::new();
    let words: Vec<String> = (0..1_000_000).map(|n| format!("w{n:x}")).collect();
    mail.put("large", words.join(" ").as_bytes());
    mail.put("small", b"w1 w2");
    for _ in 0..2 {
        assert_eq!(mail.rows("w1 w2"), ["large", "small"]);
        assert_eq!(mail.rows(&format!("w{:x}", 999_999)), ["large"]);
        mail.engine.work(&name(), "text").unwrap();
    }
}

#[test]
fn a_damaged_segment_is_reported_and_built_anew_from_the_rows() {
    let mail = Searched::new();
    for n in 0..200 {
        mail.put(&format!("row{n:03}"), format!("common w{n}").as_bytes());
    }
    mail.engine.work(&name(), "text").unwrap();
    assert_eq!(mail.rows("w7"), ["row007"]);

    // All segment parts become other bytes of the same length.
    let read = mail.store.search_read(&name(), "text").unwrap();
    let mut scan = Scan::all();
    scan.columns.add_family(SEGMENT_FAMILY);
    let mut parts = read.entries.scan_at(scan, &read.point).unwrap();
    let mut damaged = Vec::new();
    while let Some(row) = parts.next().unwrap() {
        for cell in row.cells() {
            let value: Vec<u8> = cell.value().iter().map(|byte| byte ^ 0x55).collect();
            let at = Timestamp::from_millis(2).unwrap();
            let row = row.key().to_vec();
            let family = cell.family().to_vec();
            let qualifier = cell.qualifier().to_vec();
            damaged.push(Cell::new(row, family, qualifier, at, CellKind::Put, value).unwrap());
        }
    }
    assert!(!damaged.is_empty());
    drop(parts);
    mail.store.write_search_table(&read.entries, damaged).unwrap();
    drop(read);

    let engine = SearchEngine::without_thread(&mail.store);
    // Nothing builds the index while the search waits for it.
    let error = engine.find(&name(), &plan("w7")).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::RegionTooBusy, "{error}");
    assert!(!mail.table.get(&Get::new("row007").unwrap()).unwrap().is_empty());
    // The store gives the index an empty table, and the engine builds it.
    while matches!(mail.store.index_state(&name(), "text").unwrap(), IndexState::Off(_)) {
        std::thread::yield_now();
    }
    engine.work(&name(), "text").unwrap();
    let matches = engine.find(&name(), &plan("common")).unwrap();
    assert_eq!(matches.count().unwrap(), 200);
}
