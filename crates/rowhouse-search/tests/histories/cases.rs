//! Single cases, each with the shortest history that shows it.

use rowhouse_model::{
    Cell, CellKind, Delete, FamilyDescriptor, Mutation, Put, TableDescriptor, TableName, Timestamp,
};
use rowhouse_schema::{
    COLUMNS_ATTRIBUTE, ColumnSchema, Direction, INDEXES_ATTRIBUTE, Predicate, SEGMENT_FAMILY,
    TimeZone,
};
use rowhouse_search::{Matches, SearchEngine};
use rowhouse_store::Store;

/// A table `t` with texts under `f:q`.
pub(crate) struct Texts {
    pub(crate) store: Store,
    pub(crate) dir: tempfile::TempDir,
}

pub(crate) fn name() -> TableName {
    TableName::parse("t").unwrap()
}

impl Texts {
    pub(crate) fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::builder(dir.path()).open().unwrap();
        let table = TableDescriptor::new(name())
            .family(FamilyDescriptor::new("f").unwrap())
            .attribute(COLUMNS_ATTRIBUTE, "1 f:q q text")
            .attribute(INDEXES_ATTRIBUTE, "1 text search q simple");
        store.create_table(table, &["m".into()]).unwrap();
        Self { store, dir }
    }

    pub(crate) fn put(&self, row: &str, text: &str) {
        let put = Put::new(row.to_owned()).unwrap().add("f", "q", text).unwrap();
        self.store.table(&name()).unwrap().mutate(&put.into()).unwrap();
    }

    pub(crate) fn find(
        &self,
        engine: &SearchEngine,
        word: &str,
    ) -> rowhouse_model::Result<Matches> {
        let table = self.store.table(&name()).unwrap();
        let columns = ColumnSchema::of_table(table.descriptor()).unwrap().unwrap();
        let query = Predicate::all().matches("q", word);
        let indexes = table.indexes().unwrap().unwrap();
        let plan = indexes.search_plan(None, &columns, &query, &TimeZone::UTC, None).unwrap();
        engine.find(&name(), &plan)
    }
}

#[test]
fn an_answer_reads_its_segments_while_the_index_is_built_anew() {
    let texts = Texts::new();
    let engine = SearchEngine::without_thread(&texts.store);
    texts.put("a", "row key");
    engine.work(&name(), "text").unwrap();
    let matches = texts.find(&engine, "row").unwrap();
    texts.store.request_index_repair(&name(), "text").unwrap();
    engine.work(&name(), "text").unwrap();
    engine.work(&name(), "text").unwrap();
    assert_eq!(matches.count().unwrap(), 1);
    assert_eq!(matches.by_key(Direction::Reverse, None, 9).unwrap(), [&b"a"[..]]);
    assert_eq!(matches.by_score(0, 9).unwrap().len(), 1);
}

/// Parts of a segment that no list names stay after a process that ended before it wrote the list.
#[test]
fn the_number_of_a_segment_that_was_never_listed_is_not_used_again() {
    let texts = Texts::new();
    let entries = texts.store.table(&TableName::parse("t.text").unwrap()).unwrap();
    let parts = ["meta", "term", "idx", "pos", "fast", "fieldnorm", "store"].map(|file| {
        let row = [&1u64.to_be_bytes()[..], file.as_bytes()].concat();
        let at = Timestamp::from_millis(1).unwrap();
        let part = 0u32.to_be_bytes();
        Cell::new(row, SEGMENT_FAMILY.as_bytes(), part, at, CellKind::Put, "left").unwrap()
    });
    texts.store.write_search_table(&entries, parts.to_vec()).unwrap();
    let engine = SearchEngine::without_thread(&texts.store);
    engine.work(&name(), "text").unwrap();
    texts.put("a", "row key");
    engine.work(&name(), "text").unwrap();
    assert_eq!(texts.find(&engine, "row").unwrap().count().unwrap(), 1);
}

#[test]
fn a_queue_of_more_rows_than_a_segment_takes_is_searched_before_and_after_it_is_worked_off() {
    const ROWS: usize = 50_100;
    let texts = Texts::new();
    let table = texts.store.table(&name()).unwrap();
    let engine = SearchEngine::without_thread(&texts.store);
    engine.work(&name(), "text").unwrap();
    let row = |number: usize| format!("{number:06}");
    let write = |mutation: &dyn Fn(usize) -> Mutation| {
        table.batch((0..ROWS).map(mutation).collect()).into_iter().for_each(|it| {
            it.unwrap();
        });
    };
    let check = |expected: &[(&str, usize)]| {
        for is_worked_off in [false, true] {
            if is_worked_off {
                engine.work(&name(), "text").unwrap();
            }
            for (word, rows) in expected {
                let matches = texts.find(&engine, word).unwrap();
                let count = matches.count().unwrap();
                assert_eq!(count, *rows as u64, "{word}, worked off: {is_worked_off}");
                let keys = matches.by_key(Direction::Forward, None, usize::MAX).unwrap();
                assert!(keys.len() == *rows && keys.is_sorted());
            }
        }
    };
    let put = |number, text: &str| -> Mutation {
        Put::new(row(number)).unwrap().add("f", "q", text).unwrap().into()
    };
    write(&|number| put(number, if number % 2 == 0 { "row even" } else { "row odd" }));
    check(&[("row", ROWS), ("even", ROWS / 2), ("new", 0)]);
    write(&|number| match number % 3 {
        0 => Delete::new(row(number)).unwrap().into(),
        _ => put(number, "row new"),
    });
    check(&[("row", ROWS / 3 * 2), ("even", 0), ("new", ROWS / 3 * 2)]);
}
