//! Families whose increments are BUFFERED read as plain ones, and are refused where something is
//! derived from their columns.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use proptest::prelude::*;
use rowhouse_model::{
    Append, Columns, CompareOperator, Condition, Delete, Durability, FamilyDescriptor, Get,
    Increment, KeyValue, Mutation, Put, Result, Row, Scan, TableDescriptor, TableName, Timestamp,
};
use rowhouse_schema::{COLUMNS_ATTRIBUTE, INDEXES_ATTRIBUTE, KEY_ATTRIBUTE};
use rowhouse_store::{
    Additions, CompactionKind, Observer, ReadPoint, RowChange, Store, Table, with_observers,
};

use crate::histories::SetClock;

const ROWS: u8 = 3;

#[derive(Clone, Debug)]
enum Step {
    Increment { row: u8, column: u8, by: i64, durability: u8 },
    Put { row: u8, column: u8, value: i64, skips_log: bool },
    Append { row: u8, column: u8 },
    Delete { row: u8, column: Option<u8> },
    CheckedIncrement { row: u8, column: u8, expected: i64 },
    CheckedPut { row: u8, column: u8, expected: i64, value: i64 },
    Batch { rows: Vec<(u8, u8)> },
    ReadPoint,
    Flush,
    Compact,
    Wait(u8),
}

fn step() -> impl Strategy<Value = Step> {
    let place = || (0..ROWS, 0..3u8);
    prop_oneof![
        8 => (place(), 1..4i64, 0..5u8).prop_map(|((row, column), by, durability)| {
            Step::Increment { row, column, by, durability }
        }),
        2 => (place(), 0..4i64, any::<bool>()).prop_map(|((row, column), value, skips_log)| {
            Step::Put { row, column, value, skips_log }
        }),
        1 => place().prop_map(|(row, column)| Step::Append { row, column }),
        2 => (0..ROWS, prop::option::of(0..3u8)).prop_map(|(row, column)| {
            Step::Delete { row, column }
        }),
        2 => (place(), 0..6i64).prop_map(|((row, column), expected)| {
            Step::CheckedIncrement { row, column, expected }
        }),
        2 => (place(), 0..6i64, 0..6i64).prop_map(|((row, column), expected, value)| {
            Step::CheckedPut { row, column, expected, value }
        }),
        2 => prop::collection::vec(place(), 1..5).prop_map(|rows| Step::Batch { rows }),
        1 => Just(Step::ReadPoint),
        1 => Just(Step::Flush),
        1 => Just(Step::Compact),
        2 => (0..3u8).prop_map(Step::Wait),
    ]
}

fn key(row: u8) -> String {
    format!("row{row}")
}

/// The third column is in a family that is plain in both tables.
fn column(column: u8) -> (&'static str, &'static str) {
    [("n", "a"), ("n", "b"), ("d", "c")][usize::from(column)]
}

fn durability(nth: u8) -> Durability {
    [
        Durability::UseDefault,
        Durability::UseDefault,
        Durability::SkipWal,
        Durability::SyncWal,
        Durability::AsyncWal,
    ][usize::from(nth)]
}

fn number(value: i64) -> Vec<u8> {
    value.to_be_bytes().to_vec()
}

fn increment(row: u8, at: u8, by: i64) -> Increment {
    let (family, qualifier) = column(at);
    Increment::new(key(row)).unwrap().add(family, qualifier, by).unwrap()
}

fn equals(at: u8, value: i64) -> Condition {
    let (family, qualifier) = column(at);
    Condition::value(family, qualifier, CompareOperator::Equal, number(value))
}

/// Returns a row's cells without their sequence numbers: records of counters take some.
fn text(row: &Row) -> String {
    let text = |cell: KeyValue<'_>| {
        let qualifier = String::from_utf8_lossy(cell.qualifier()).into_owned();
        format!("{qualifier}@{}={:?}", cell.timestamp(), cell.value())
    };
    let row_key = String::from_utf8_lossy(row.key());
    format!("{row_key}: {}", row.cells().map(text).collect::<Vec<_>>().join(" "))
}

/// A store with one table.
struct Side {
    store: Store,
    table: Arc<Table>,
    clock: Arc<AtomicI64>,
    points: Vec<Arc<ReadPoint>>,
    dir: tempfile::TempDir,
}

impl Side {
    fn new(period: &str, versions: u32, by_sequence: bool) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let clock = Arc::new(AtomicI64::new(1_000_000));
        let store = open(&dir, &clock);
        let counters = FamilyDescriptor::new("n").unwrap().versions(versions);
        let counters = counters.attribute("NEW_VERSION_BEHAVIOR", by_sequence.to_string());
        let descriptor = TableDescriptor::new(name())
            .family(counters.attribute("BUFFERED", period.to_owned()))
            .family(FamilyDescriptor::new("d").unwrap());
        store.create_table(descriptor, &[]).unwrap();
        let table = store.table(&name()).unwrap();
        Self { store, table, clock, points: Vec::new(), dir }
    }

    /// Runs a step; returns the answer as text.
    fn run(&mut self, step: &Step) -> String {
        let Self { store, table, clock, points, .. } = self;
        let answer = |result: Result<rowhouse_model::MutationOutcome>| match result {
            Ok(outcome) => text(&outcome.row),
            Err(error) => error.to_string(),
        };
        let checked = |condition: Condition, mutation: Mutation| match table
            .mutate_if(&condition, &mutation)
        {
            Ok(outcome) => format!("{:?}", outcome.map(|it| text(&it.row))),
            Err(error) => error.to_string(),
        };
        match step.clone() {
            Step::Increment { row, column, by, durability: nth } => {
                let mut increment = increment(row, column, by);
                increment.durability = durability(nth);
                answer(table.mutate(&increment.into()))
            }
            Step::Put { row, column: at, value, skips_log } => {
                let (family, qualifier) = column(at);
                let put = Put::new(key(row)).unwrap();
                let mut put = put.add(family, qualifier, number(value)).unwrap();
                if skips_log {
                    put.durability = Durability::SkipWal;
                }
                answer(table.mutate(&put.into()))
            }
            Step::Append { row, column: at } => {
                let (family, qualifier) = column(at);
                let append = Append::new(key(row)).unwrap().add(family, qualifier, "").unwrap();
                answer(table.mutate(&append.into()))
            }
            Step::Delete { row, column: at } => {
                let mut delete = Delete::new(key(row)).unwrap();
                if let Some(at) = at {
                    let (family, qualifier) = column(at);
                    delete = delete.column(family, qualifier, Timestamp::LATEST).unwrap();
                }
                answer(table.mutate(&delete.into()))
            }
            Step::CheckedIncrement { row, column, expected } => {
                checked(equals(column, expected), increment(row, column, 1).into())
            }
            Step::CheckedPut { row, column: at, expected, value } => {
                let put = Put::new(key(row)).unwrap().add("d", "c", number(value)).unwrap();
                checked(equals(at, expected), put.into())
            }
            Step::Batch { rows } => {
                let increments = rows.into_iter().map(|(row, at)| increment(row, at, 1).into());
                let outcomes = table.batch(increments.collect());
                outcomes.into_iter().map(answer).collect::<Vec<_>>().join(" ")
            }
            Step::ReadPoint => {
                points.push(store.read_point());
                String::new()
            }
            Step::Flush => {
                table.flush().unwrap();
                String::new()
            }
            Step::Compact => {
                table.regions()[0].compact(CompactionKind::Major).unwrap();
                String::new()
            }
            Step::Wait(millis) => {
                clock.fetch_add(millis.into(), Ordering::Relaxed);
                String::new()
            }
        }
    }

    /// Returns everything that reads show, now and at the read points.
    fn shown(&self) -> Vec<String> {
        let mut rows = Vec::new();
        for row in 0..ROWS {
            for versions in [1, 3] {
                let get = Get::new(key(row)).unwrap().versions(versions);
                rows.push(text(&self.table.get(&get).unwrap()));
                for point in &self.points {
                    rows.push(text(&self.table.get_at(&get, point).unwrap()));
                }
            }
        }
        let mut scanner = self.table.scan(Scan::all()).unwrap();
        while let Some(row) = scanner.next().unwrap() {
            rows.push(text(&row));
        }
        rows
    }

    /// Closes and opens the store.
    fn reopen(&mut self) {
        self.points.clear();
        self.store.close().unwrap();
        self.store = open(&self.dir, &self.clock);
        self.table = self.store.table(&name()).unwrap();
    }
}

fn name() -> TableName {
    TableName::parse("t").unwrap()
}

fn open(dir: &tempfile::TempDir, clock: &Arc<AtomicI64>) -> Store {
    Store::builder(dir.path()).with_clock(SetClock(Arc::clone(clock))).open().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: ProptestConfig::default().cases.min(64), ..ProptestConfig::default() })]

    #[test]
    fn a_buffered_family_reads_as_a_plain_one(
        steps in prop::collection::vec(step(), 1..60),
        versions in 1..3u32,
        by_sequence in any::<bool>(),
        period in prop::sample::select(vec!["10ms", "60m"]),
    ) {
        let mut plain = Side::new("NONE", versions, by_sequence);
        let mut buffered = Side::new(period, versions, by_sequence);
        for step in &steps {
            prop_assert_eq!(plain.run(step), buffered.run(step), "{:?}", step);
        }
        prop_assert_eq!(plain.shown(), buffered.shown());
        plain.reopen();
        buffered.reopen();
        prop_assert_eq!(plain.shown(), buffered.shown());
    }
}

struct Reads(&'static str, Columns);

impl Observer for Reads {
    fn name(&self) -> &str {
        self.0
    }

    fn columns(&self) -> Columns {
        self.1.clone()
    }

    fn row_changes(&self, _: &RowChange, _: &mut Additions) -> Result<()> {
        Ok(())
    }
}

fn blog(period: &'static str, indexes: &'static str) -> TableDescriptor {
    let counters = FamilyDescriptor::new("n").unwrap().attribute("BUFFERED", period);
    let table = TableDescriptor::new(name()).family(FamilyDescriptor::new("d").unwrap());
    let table = table.family(counters).attribute(KEY_ATTRIBUTE, "1 [user string]");
    let table = table.attribute(COLUMNS_ATTRIBUTE, "1 n:hits hits i64; d:title title string");
    if indexes.is_empty() { table } else { table.attribute(INDEXES_ATTRIBUTE, indexes) }
}

#[test]
fn indexes_copies_and_observers_of_buffered_columns_are_refused_in_both_orders() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let indexes = [
        ("1 by_hits [hits]", "index `by_hits`", "n:hits"),
        ("1 by_title [title] covers hits", "index `by_title`", "n:hits"),
        ("1 popular [title] where hits > 10", "index `popular`", "n:hits"),
        ("1 other [user]!copy covers *", "copy `other`", "n:*"),
    ];
    for (index, reader, column) in indexes {
        let message =
            format!("family n is BUFFERED, so {reader} cannot read its columns: column={column}");
        let refused = store.create_table(blog("1s", index), &[]).unwrap_err();
        assert_eq!(refused.message(), message);
        store.create_table(blog("NONE", index), &[]).unwrap();
        assert_eq!(store.alter_table(blog("1s", index)).unwrap_err().message(), message);
        store.alter_table(blog("NONE", "")).unwrap();
        store.alter_table(blog("1s", "")).unwrap();
        assert_eq!(store.alter_table(blog("1s", index)).unwrap_err().message(), message);
        store.alter_table(blog("1s", "1 by_title [title]")).unwrap();
        store.disable_table(&name()).unwrap();
        store.drop_table(&name()).unwrap();
    }
    store.create_table(blog("1s", ""), &[]).unwrap();
    let all = "family n is BUFFERED, so observer `audit` cannot read its columns: column=n:*";
    let observe = |columns| store.observe(&name(), Arc::new(Reads("audit", columns)));
    assert_eq!(observe(Columns::all()).unwrap_err().message(), all);
    let named = with_observers(blog("1s", ""), ["audit"]).unwrap();
    assert_eq!(store.alter_table(named).unwrap_err().message(), all);
    let mut others = Columns::all();
    others.add_family("d");
    observe(others).unwrap();
    store.alter_table(blog("2s", "")).unwrap();
    store.alter_table(blog("NONE", "")).unwrap();
    let mut counters = Columns::all();
    counters.add_column("n", "hits");
    observe(counters).unwrap();
    let hits = "family n is BUFFERED, so observer `audit` cannot read its columns: column=n:hits";
    assert_eq!(store.alter_table(blog("1s", "")).unwrap_err().message(), hits);
}

#[test]
fn a_period_out_of_bounds_or_without_a_unit_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    for period in ["1", "9ms", "61m", "s", "1h", "-1s", "99999999999999999999s"] {
        let refused = store.create_table(blog(period, ""), &[]).unwrap_err();
        assert_eq!(
            refused.message(),
            format!(
                "BUFFERED of family n must be a time from 10ms to 60m, such as 500ms, 1s or 1m, or \
                 NONE: {period}"
            )
        );
    }
    store.create_table(blog("500MS", ""), &[]).unwrap();
}
