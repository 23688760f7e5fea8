//! The law for searches under random histories: after every step a search returns the rows whose
//! visible cells match the query, however far the queue has been worked off.

#![allow(clippy::unwrap_used, reason = "a test that cannot continue fails")]

mod cases;
mod concurrent;
mod documents;
#[path = "../../../rowhouse-store/tests/support/histories.rs"]
mod histories;
mod merges;
mod queries;

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestCaseError};
use rowhouse_model::{Bytes, ErrorKind};
use rowhouse_schema::{
    COLUMNS_ATTRIBUTE, ColumnSchema, Direction, Index, IndexState, KeySchema, SearchPlan, TimeZone,
};
use rowhouse_search::{Matches, MergeLimits, PlannedMerge, SearchEngine};
use rowhouse_store::{ReadPoint, SearchIndex, Store, Table};

use documents::Part;
use histories::{Declared, History, Step, Upkeep, Values, mutation, rows, step, wait_for_indexes};
use queries::{Judge, Query, WORDS, each_word, query};

const COLUMNS: &str = "1 f:q q text; f:s size i64; g:q other text; t:[tag string] tagged blob";
const TEXT: &str = "1 text search q simple, other english chinese, tagged.tag keyword, size";
const BY_OTHERS: &str = "; by_q [q]; sized [size desc] covers q, other where size > 2";
const SECOND: &str = "; second search other keyword simple, q english, size";
const WITH_VALUES: &str = "1 text search other simple english, q, size, tagged.tag keyword simple";
/// A table copy under another key.
const COPY: &str = "; copied [n][user] covers *";
const VALUES: Values = Values { count: u8::MAX, of: value };

fn value(qualifier: &[u8], number: u8) -> Vec<u8> {
    let word = |at: u8| WORDS[usize::from(at) % WORDS.len()];
    match (qualifier, number) {
        (b"s", _) => ((i64::from(number % 7) - 1) ^ i64::MIN).to_be_bytes().to_vec(),
        // Not texts.
        (_, 254) => vec![0xff],
        (_, 250..254) => [word(number).as_bytes(), b"\xff", b"row"].concat(),
        // Longer than a segment holds.
        (_, 246..250) => [word(number), &" row".repeat(300)].concat().into_bytes(),
        (_, 230..246) => word(number).to_owned().into_bytes(),
        _ => {
            let words = [word(number), word(number / 8), word(number / 29)];
            words.join(" ").into_bytes()
        }
    }
}

#[derive(Clone, Debug)]
enum SearchStep {
    Of(Step),
    Work,
    /// Works until a large merge is planned.
    WorkToMerge,
    /// Runs the planned merge until this many records are written.
    RunMerge(u64),
    RestartEngine,
    Rebuild,
}

fn search_step() -> impl Strategy<Value = SearchStep> {
    prop_oneof![
        40 => step(VALUES).prop_map(SearchStep::Of),
        // Between changes to the whole table.
        30 => mutation(VALUES).prop_map(|mutation| SearchStep::Of(Step::One(mutation))),
        8 => Just(SearchStep::Work),
        8 => Just(SearchStep::WorkToMerge),
        4 => prop_oneof![3 => Just(u64::MAX), 1 => 0u64..8].prop_map(SearchStep::RunMerge),
        1 => Just(SearchStep::RestartEngine),
        1 => Just(SearchStep::Rebuild),
    ]
}

fn declared() -> impl Strategy<Value = Declared> {
    let indexes = prop_oneof![
        3 => Just(TEXT.to_owned()),
        2 => Just(WITH_VALUES.to_owned()),
        2 => Just(format!("{TEXT}{BY_OTHERS}")),
        2 => Just(format!("{TEXT}{SECOND}")),
        2 => Just(format!("{TEXT}{COPY}")),
        1 => Just(format!("{TEXT}{SECOND}{BY_OTHERS}{COPY}")),
    ];
    let fewer = prop_oneof![Just("1 by_q [q]"), Just("1 text search q english, size; by_q [q]")];
    (indexes, fewer).prop_map(|(indexes, fewer_indexes)| {
        let other_columns = COLUMNS.replace("f:q q text", "g:x q text");
        Declared { columns: COLUMNS, other_columns, indexes, fewer_indexes }
    })
}

/// The default limits, or ones by which segments of few rows are large, or too large.
fn limits() -> impl Strategy<Value = MergeLimits> {
    let bytes = prop::sample::select(vec![8_000, 20_000, 2_000_000_000]);
    let documents = prop::sample::select(vec![4, 8, 5_000_000]);
    let small = (2usize..4, prop::sample::select(vec![0, 5_000]), bytes, documents);
    let small = small.prop_map(|(segments, at_once_bytes_max, bytes_max, documents_max)| {
        MergeLimits { segments, at_once_bytes_max, bytes_max, documents_max }
    });
    prop_oneof![1 => Just(MergeLimits::default()), 3 => small]
}

/// When the engine works, apart from the steps that make it work.
#[derive(Clone, Copy, Debug)]
enum Works {
    Never,
    Always,
}

/// The store's engine, and the queries that are run.
struct Searches {
    engine: Option<SearchEngine>,
    limits: MergeLimits,
    /// The large merge that goes on during the next steps.
    merge: Option<PlannedMerge>,
    queries: Vec<Query>,
    /// Queries in Lucene's syntax.
    documents: Vec<Part>,
}

/// An answer, and the rows that it has.
struct Held {
    matches: Matches,
    rows: Vec<Bytes>,
}

impl Upkeep for Searches {
    type Point = Option<Held>;

    fn opened(&mut self, store: &Store) {
        self.engine = Some(SearchEngine::without_thread_with(store, self.limits));
    }

    fn closing(&mut self) {
        self.merge = None;
        self.engine = None;
    }

    fn settle(&mut self, store: &Store) {
        // The store gives a damaged index an empty table.
        let is_off = |index: &SearchIndex| matches!(index.state, IndexState::Off(_));
        while store.search_indexes().unwrap().iter().any(is_off) {
            std::thread::yield_now();
        }
        for index in store.search_indexes().unwrap() {
            if !index.state.is_ready() && index.is_enabled {
                self.engine().work(&index.table, index.index.name()).unwrap();
            }
        }
        let searches = store.search_indexes().unwrap();
        let is_search =
            |table: &Table| searches.iter().any(|index| index.entries.name() == table.name());
        assert!(searches.iter().all(|index| index.state.is_ready()));
        wait_for_indexes(store, |table| !is_search(table));
    }

    fn point(&mut self, store: &Store) -> Option<Held> {
        let searches = store.search_indexes().unwrap();
        let of_table = searches.iter().filter(|index| index.table.qualifier() == "t");
        let held = of_table.flat_map(|index| {
            let table = store.table(&index.table).unwrap();
            let held = self.queries.iter().filter_map(|query| {
                // The answers to others depend on the clock.
                let plan = plan(&table, &index.index, query).filter(SearchPlan::is_decided)?;
                let matches = self.engine().find(table.name(), &plan).ok()?;
                let rows = judge(&table, &index.index, matches.point()).find(query);
                Some(Held { matches, rows })
            });
            held.collect::<Vec<_>>()
        });
        held.max_by_key(|held| held.rows.len())
    }
}

/// Plans a query by an index; `None` if the index does not have all the query's texts.
fn plan(table: &Arc<Table>, index: &Index, query: &Query) -> Option<SearchPlan> {
    let descriptor = table.descriptor();
    let key = KeySchema::of_table(descriptor).unwrap().unwrap();
    let columns = ColumnSchema::of_table(descriptor).unwrap().unwrap();
    let indexes = table.indexes().unwrap().unwrap();
    let query = query.to_predicate();
    indexes.search_plan(Some(&key), &columns, &query, &TimeZone::UTC, Some(index.name())).ok()
}

fn judge(table: &Arc<Table>, index: &Index, point: &Arc<ReadPoint>) -> Judge {
    let columns = &table.descriptor().attributes[COLUMNS_ATTRIBUTE.as_bytes()];
    let q = if columns[..] == *COLUMNS.as_bytes() { ("f", "q") } else { ("g", "x") };
    Judge::new(index, rows(table, point), q)
}

impl Searches {
    fn engine(&self) -> &SearchEngine {
        self.engine.as_ref().unwrap()
    }

    fn work(&self, store: &Store) {
        for index in store.search_indexes().unwrap().iter().filter(|index| index.is_enabled) {
            self.engine().work(&index.table, index.index.name()).unwrap();
        }
    }

    fn work_to_merge(&mut self, store: &Store) {
        for index in store.search_indexes().unwrap().iter().filter(|index| index.is_enabled) {
            let planned = self.engine().work_to_merge(&index.table, index.index.name()).unwrap();
            self.merge = self.merge.take().or(planned);
        }
    }

    /// Compares an index's answers to some queries with a judge's answers.
    fn check(
        &self,
        table: &Arc<Table>,
        index: &Index,
        point: &Arc<ReadPoint>,
        queries: &[Query],
    ) -> Result<(), TestCaseError> {
        let judge = judge(table, index, point);
        for query in queries {
            let Some(plan) = plan(table, index, query) else { continue };
            let context = |error| TestCaseError::fail(format!("{query} in {index}: {error}"));
            match self.engine().find(table.name(), &plan) {
                Ok(matches) => check_matches(&matches, &judge, query).map_err(context)?,
                // Stop words left nothing to search for.
                Err(error) => prop_assert!(
                    error.message().starts_with("there is no word to search for")
                        || error.message().starts_with("only words after `NOT` are left"),
                    "{query} in {index}: {error}"
                ),
            }
        }
        for part in &self.documents {
            documents::check(self.engine(), table, index, &judge, part)?;
        }
        Ok(())
    }
}

fn check_matches(matches: &Matches, judge: &Judge, query: &Query) -> Result<(), TestCaseError> {
    let expected = judge.find(query);
    check_keys(matches, &expected)?;
    let scored = matches.by_score(0, 100).unwrap();
    let is_falling = scored.is_sorted_by(|one, other| one.score >= other.score);
    prop_assert!(is_falling, "by score: {:?}", scored);
    let keys: BTreeSet<_> = scored.iter().map(|it| it.row.clone()).collect();
    prop_assert_eq!(scored.len(), keys.len(), "a row twice: {:?}", scored);
    prop_assert_eq!(keys.into_iter().collect::<Vec<_>>(), &expected[..], "by score");
    for at in 0..=expected.len() {
        prop_assert_eq!(
            &matches.by_score(at, 1).unwrap()[..],
            &scored[at..][..(at < scored.len()) as usize]
        );
    }
    let search = matches.plan().index().search().unwrap();
    for field in search.fields() {
        let Ok(facets) = matches.facets(field.name(), 100) else { continue };
        prop_assert!(facets.is_sorted_by(|one, other| one.rows >= other.rows), "{:?}", facets);
        let facets = facets.into_iter().map(|facet| (facet.value, facet.rows)).collect();
        prop_assert_eq!(judge.facets(&expected, field.name()), facets, "of {}", field.name());
    }
    Ok(())
}

/// Reads the rows in both directions, at once and in pages.
fn check_keys(matches: &Matches, expected: &[Bytes]) -> Result<(), TestCaseError> {
    prop_assert_eq!(&matches.by_key(Direction::Forward, None, usize::MAX).unwrap()[..], expected);
    prop_assert_eq!(matches.count().unwrap(), expected.len() as u64);
    for (direction, limit) in [(Direction::Forward, 1), (Direction::Reverse, 2)] {
        let mut keys: Vec<Bytes> = Vec::new();
        let mut after: Option<Bytes> = None;
        loop {
            let page = matches.by_key(direction, after.as_deref(), limit).unwrap();
            after = page.last().cloned();
            let is_last = page.len() < limit;
            keys.extend(page);
            if is_last {
                break;
            }
        }
        if direction == Direction::Reverse {
            keys.reverse();
        }
        prop_assert_eq!(&keys[..], expected, "pages, {:?}", direction);
    }
    Ok(())
}

fn run_step(history: &mut History<Searches>, step: &SearchStep) {
    let store = history.store().clone();
    match step {
        SearchStep::Of(step) => history.run(step),
        SearchStep::Work => history.upkeep.work(&store),
        SearchStep::WorkToMerge => history.upkeep.work_to_merge(&store),
        SearchStep::RunMerge(records) => {
            if let Some(merge) = history.upkeep.merge.take() {
                let records = *records;
                merge.run_while(move |written| written < records).unwrap();
            }
        }
        SearchStep::RestartEngine => {
            history.points.clear();
            history.upkeep.closing();
            history.upkeep.opened(&store);
        }
        SearchStep::Rebuild => {
            for index in store.search_indexes().unwrap() {
                store.request_index_repair(&index.table, index.index.name()).unwrap();
            }
        }
    }
}

/// Checks all indexes, and the answers that are held.
fn check(history: &mut History<Searches>, queries: &[Query]) -> Result<(), TestCaseError> {
    let store = history.store().clone();
    for index in store.search_indexes().unwrap() {
        let table = store.table(&index.table).unwrap();
        // A search waits until a repair ends.
        if matches!(index.state, IndexState::Building { .. }) {
            let plan = queries.iter().find_map(|query| plan(&table, &index.index, query));
            let Some(plan) = plan else { continue };
            let refused = history.upkeep.engine().find(table.name(), &plan);
            prop_assert_eq!(refused.err().map(|it| it.kind()), Some(ErrorKind::RegionTooBusy));
        }
    }
    history.settle();
    for index in store.search_indexes().unwrap() {
        let table = store.table(&index.table).unwrap();
        history.upkeep.check(&table, &index.index, &store.read_point(), queries)?;
        let engine = history.upkeep.engine();
        let verified = engine.verify(&index.table, index.index.name(), &mut |_| {}).unwrap();
        prop_assert!(verified.is_clean(), "{}: {:?}", index.index, verified);
    }
    for held in history.points.iter().flatten() {
        let context =
            |error| TestCaseError::fail(format!("held, {}: {error}", held.matches.plan()));
        check_keys(&held.matches, &held.rows).map_err(context)?;
    }
    Ok(())
}

fn run(
    mut history: History<Searches>,
    steps: &[(SearchStep, bool)],
    works: Works,
) -> Result<(), TestCaseError> {
    let queries = history.upkeep.queries.clone();
    for (nth, (step, is_checked)) in steps.iter().enumerate() {
        let context = |error| TestCaseError::fail(format!("after step {nth}, {step:?}: {error}"));
        run_step(&mut history, step);
        if matches!(works, Works::Always) {
            history.upkeep.work(&history.store().clone());
        }
        if *is_checked {
            let from = nth * QUERIES_AT_ONCE % queries.len();
            check(&mut history, &queries[from..][..QUERIES_AT_ONCE]).map_err(context)?;
        }
    }
    let all: Vec<_> = queries.into_iter().chain(each_word()).collect();
    let last = |error| TestCaseError::fail(format!("in the end: {error}"));
    check(&mut history, &all).map_err(last)?;
    history.upkeep.work(&history.store().clone());
    check(&mut history, &all).map_err(last)?;
    history.points.clear();
    history.upkeep.merge = None;
    let store = history.store().clone();
    for index in store.search_indexes().unwrap() {
        history.upkeep.engine().work(&index.table, index.index.name()).unwrap();
        history.upkeep.engine().work(&index.table, index.index.name()).unwrap();
        merges::check_parts(&store, history.upkeep.engine(), &index.table, index.index.name());
    }
    history.close();
    Ok(())
}

/// How many queries a history has, and how many follow a step.
const QUERIES: usize = 24;
const QUERIES_AT_ONCE: usize = 6;
/// The queries in Lucene's syntax, after each step.
const DOCUMENTS: usize = 6;

/// Thirty histories, the same in each run, so that a change is judged by the change alone; or as
/// many new ones as `SEARCH_HISTORIES` says.
fn histories() -> ProptestConfig {
    let cases = std::env::var("SEARCH_HISTORIES").ok().and_then(|cases| cases.parse().ok());
    match cases {
        Some(cases) => ProptestConfig { cases, ..ProptestConfig::default() },
        None => {
            ProptestConfig { cases: 30, rng_seed: RngSeed::Fixed(7), ..ProptestConfig::default() }
        }
    }
}

proptest! {
    #![proptest_config(histories())]
    #[test]
    fn a_search_returns_the_rows_that_match_in_random_histories(
        declared in declared(),
        keep in prop_oneof![
            4 => Just(None),
            1 => Just(Some("KEEP_DELETED_CELLS")),
            1 => Just(Some("NEW_VERSION_BEHAVIOR")),
        ],
        works in prop_oneof![3 => Just(Works::Never), 1 => Just(Works::Always)],
        queries in prop::collection::vec(query(), QUERIES),
        documents in prop::collection::vec(documents::part(), DOCUMENTS),
        limits in limits(),
        steps in prop::collection::vec((search_step(), prop::bool::weighted(0.8)), 1..80),
    ) {
        let upkeep = Searches { engine: None, limits, merge: None, queries, documents };
        run(History::new(declared, keep, upkeep), &steps, works)?;
    }
}
