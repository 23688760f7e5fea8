//! Open scanners see the state as of their opening during writes, flushes and compactions: scans of
//! all kinds, over families of all kinds.

use std::sync::Arc;
use std::time::Instant;

use proptest::prelude::*;
use rowhouse_model::{
    Cell, Delete, Error, ErrorKind, FamilyDescriptor, Filter, Put, RowRange, Scan, TableDescriptor,
    TableName, TimeRange, Timestamp,
};
use rowhouse_store::{
    CompactionKind, CompactionSettings, ReadPoint, RegionScanner, ScanLimits, Scanned, Settings,
    Store, Table, TableScanner,
};

const FAMILIES: [&str; 2] = ["a", "b"];
/// The column with an empty name has the family's markers among the column's cells. Filters that
/// seek skip them (HBase too), and cells that such a marker covers are shown until they are
/// flushed. So it is used only without such filters.
const EMPTY: [&str; 4] = ["", "1", "12", "2"];
const NAMED: [&str; 4] = ["0", "1", "12", "2"];
const ROWS: u8 = 8;

#[derive(Clone, Debug)]
enum Step {
    Put { row: u8, family: usize, columns: u8, at: i64 },
    Delete { row: u8, family: usize, column: usize, at: i64, kind: u8 },
    Flush(usize),
    Compact(CompactionKind),
    Open { query: Query, bytes: u64, hasty: bool, back: u64 },
    Point(Query),
    Remember(Query),
    Recall,
    Read(usize, usize),
    Wait(usize),
    Release,
}

#[derive(Clone, Debug, Default)]
struct Query {
    reversed: bool,
    raw: bool,
    versions: u32,
    filter: Option<&'static str>,
    on_demand: bool,
    batch: Option<u32>,
    range: Option<(u8, u8)>,
    columns: u8,
    times: Option<(i64, i64)>,
    limit: Option<u64>,
    family_limit: Option<u32>,
    family_offset: u32,
}

fn queries() -> impl Strategy<Value = Query> {
    let filters = vec![
        "ColumnPaginationFilter(2, 1)",
        "SingleColumnValueFilter('a', '1', =, 'binary:v', true, true)",
        "SingleColumnValueFilter('a', '12', =, 'binary:w', false, false)",
        "ColumnPrefixFilter('1')",
        "ColumnPrefixFilter('2')",
        "MultipleColumnPrefixFilter('12','2')",
        "ColumnRangeFilter('12', true, '2', true)",
        "PageFilter(3)",
        "ColumnCountGetFilter(3)",
        "FirstKeyOnlyFilter()",
        "KeyOnlyFilter()",
        "ValueFilter(=, 'binary:v')",
        "TimestampsFilter(2, 4)",
        "DependentColumnFilter('a', '1')",
        "SKIP ValueFilter(=, 'binary:v')",
        "WHILE ValueFilter(=, 'binary:v')",
        "InclusiveStopFilter('\x05')",
    ];
    let first = (
        any::<bool>(),
        prop::bool::weighted(0.15),
        prop_oneof![1u32..4, Just(u32::MAX)],
        prop::option::of(prop::sample::select(filters)),
        any::<bool>(),
        prop::option::weighted(0.3, 1u32..4),
    );
    let second = (
        prop::option::weighted(0.3, (0u8..ROWS, 0u8..ROWS + 1)),
        prop_oneof![3 => Just(0u8), 1 => 1u8..=255],
        prop::option::weighted(0.3, (0i64..5, 1i64..8)),
        prop::option::weighted(0.1, 1u64..5),
        prop::option::weighted(0.1, 1u32..4),
        prop_oneof![9 => Just(0u32), 1 => 1u32..3],
    );
    (first, second).prop_map(
        |(
            (reversed, raw, versions, filter, on_demand, batch),
            (range, columns, times, limit, family_limit, family_offset),
        )| Query {
            reversed,
            raw,
            versions,
            filter,
            on_demand,
            batch,
            range,
            columns: if raw { 0 } else { columns },
            times,
            limit,
            family_limit,
            family_offset,
        },
    )
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let compact = prop_oneof![Just(CompactionKind::Minor), Just(CompactionKind::Major)];
    let step = prop_oneof![
        30 => (0u8..ROWS, 0usize..2, 1u8..16, 1i64..7)
            .prop_map(|(row, family, columns, at)| Step::Put { row, family, columns, at }),
        6 => (0u8..ROWS, 0usize..2, 0usize..4, 1i64..7, 0u8..6)
            .prop_map(|(row, family, column, at, kind)| Step::Delete { row, family, column, at, kind }),
        4 => (0usize..3).prop_map(Step::Flush),
        1 => compact.prop_map(Step::Compact),
        8 => (queries(), prop_oneof![Just(u64::MAX), 1u64..200], any::<bool>(), prop_oneof![3 => Just(0u64), 1 => 1u64..12])
            .prop_map(|(query, bytes, hasty, back)| Step::Open { query, bytes, hasty, back }),
        2 => queries().prop_map(Step::Point),
        2 => queries().prop_map(Step::Remember),
        1 => Just(Step::Recall),
        12 => (0usize..9, 1usize..6).prop_map(|(at, parts)| Step::Read(at, parts)),
        5 => (0usize..9).prop_map(Step::Wait),
        2 => Just(Step::Release),
    ];
    prop::collection::vec(step, 1..160)
}

fn millis(at: i64) -> Timestamp {
    Timestamp::from_millis(at).unwrap()
}

fn columns_of(kinds: [usize; 3]) -> [&'static str; 4] {
    if kinds[2] == 0 { NAMED } else { EMPTY }
}

/// Returns true if the family drops surplus versions at flushes.
fn drops(kind: usize) -> bool {
    kind < 2
}

fn family(name: &str, kind: usize) -> FamilyDescriptor {
    let family = FamilyDescriptor::new(name.to_owned()).unwrap();
    match kind {
        0 => family.versions(2),
        1 => family.versions(1),
        2 => family.versions(100),
        3 => {
            let mut family = family.versions(2);
            family
                .configuration
                .insert("rowhouse.compaction.minor.drops.versions".into(), "false".into());
            family
        }
        4 => family.versions(2).attribute("KEEP_DELETED_CELLS", "TRUE"),
        5 => family.versions(2).attribute("NEW_VERSION_BEHAVIOR", "TRUE"),
        6 => family.versions(3).attribute("MIN_VERSIONS", "2").attribute("TTL", "1000"),
        7 => family
            .versions(3)
            .attribute("NEW_VERSION_BEHAVIOR", "TRUE")
            .attribute("KEEP_DELETED_CELLS", "TRUE"),
        _ => family
            .versions(2)
            .attribute("KEEP_DELETED_CELLS", "TTL")
            .attribute("TTL", "2000000000")
            .attribute("MIN_VERSIONS", "1"),
    }
}

fn open(dir: &std::path::Path, kinds: Option<[usize; 3]>) -> (Store, Arc<Table>) {
    let compaction = CompactionSettings { files_min: usize::MAX, ..Default::default() };
    let settings = Settings { compaction, ..Settings::default() };
    let store = Store::builder(dir).settings(settings).open().unwrap();
    let name = TableName::parse("t").unwrap();
    if let Some(kinds) = kinds {
        let mut descriptor = TableDescriptor::new(name.clone());
        for (name, kind) in FAMILIES.iter().zip(kinds) {
            descriptor = descriptor.family(family(name, kind));
        }
        store.create_table(descriptor, &[]).unwrap();
    }
    let table = store.table(&name).unwrap();
    (store, table)
}

fn change(table: &Table, step: &Step, kinds: [usize; 3]) {
    match step {
        Step::Put { row, family, columns, at } => {
            let named = (0..4).filter(|column| columns >> column & 1 == 1);
            let put = named.fold(Put::new(vec![*row]).unwrap(), |put, column: usize| {
                let value = if (at + column as i64) % 2 == 0 { "v" } else { "w" };
                put.add_at(FAMILIES[*family], columns_of(kinds)[column], millis(*at), value)
                    .unwrap()
            });
            table.mutate(&put.into()).unwrap();
        }
        Step::Delete { row, family, column, at, kind } => {
            let delete = Delete::new(vec![*row]).unwrap();
            let name = FAMILIES[*family];
            let column = columns_of(kinds)[*column];
            let at = millis(*at);
            let versions = !drops(kinds[*family]);
            let delete = match kind {
                0 | 1 if versions => delete.version(name, column, at),
                2 if versions => delete.family_version(name, at),
                3 => delete.family(name, at),
                _ => delete.column(name, column, at),
            };
            table.mutate(&delete.unwrap().into()).unwrap();
        }
        Step::Flush(family) => match FAMILIES.get(*family) {
            Some(family) => table.flush_family(family.as_bytes()).unwrap(),
            None => table.flush().unwrap(),
        },
        Step::Compact(kind) => table.compact(*kind).unwrap(),
        _ => {}
    }
}

fn scan_of(query: &Query, kinds: [usize; 3]) -> Scan {
    let mut scan = match query.range {
        None => Scan::all(),
        Some((a, b)) => Scan::new(RowRange::new(vec![a.min(b)], vec![a.max(b)])),
    };
    scan.versions = query.versions;
    if query.columns != 0 {
        for (at, family) in FAMILIES.iter().enumerate() {
            for (nth, column) in columns_of(kinds).iter().enumerate() {
                if query.columns >> (at * 4 + nth) & 1 == 1 {
                    scan = scan.column(*family, *column);
                }
            }
        }
    }
    let seeks = |text: &&str| {
        ["Column", "Multiple", "Dependent", "First", "WHILE"].iter().any(|name| text.contains(name))
    };
    scan.filter = query.filter.filter(|text| kinds[2] == 0 || !seeks(text)).map(|text| {
        Box::new(Filter::parse(text).unwrap_or_else(|error| panic!("{text}: {error}")))
    });
    scan.reversed = query.reversed;
    scan.raw = query.raw;
    scan.families_on_demand = query.on_demand;
    scan.batch = query.batch;
    scan.limit = query.limit;
    scan.family_limit = query.family_limit;
    scan.family_offset = query.family_offset;
    if let Some((min, len)) = query.times {
        let range = TimeRange::new(millis(min), millis(min + len)).unwrap();
        for (name, kind) in FAMILIES.iter().zip(kinds) {
            // Surplus versions show in time ranges.
            if query.raw || !drops(kind) {
                scan.family_time_ranges.insert((*name).into(), range);
            }
        }
    }
    scan
}

enum Scanner {
    Region(Box<RegionScanner>),
    Table(Box<TableScanner>),
}

struct Open {
    scanner: Scanner,
    limits: ScanLimits,
    query: String,
    expected: Vec<Cell>,
    actual: Vec<Cell>,
    is_over: bool,
    /// It may have ended to free memory, when the last cells were not read yet.
    was_ended: bool,
}

/// Whether the error says that a reader was closed to free memory.
fn is_ended(error: &Error) -> bool {
    let message = error.to_string();
    match error.kind() {
        ErrorKind::ScannerReset => message.contains("flushed memstores held by readers"),
        ErrorKind::UnknownScanner => message.contains("the read point has released memstores"),
        _ => false,
    }
}

fn all_at(table: &Table, scan: &Scan, as_of: u64) -> Option<(Vec<Cell>, u64)> {
    let region = &table.regions()[0];
    let mut scanner = region.scan_as_of(scan, as_of).ok()?;
    let mut cells = Vec::new();
    while let Scanned::Row { row, .. } = scanner.next_part(&ScanLimits::NONE).unwrap() {
        cells.extend(row.to_cells());
    }
    Some((cells, scanner.read_point()))
}

impl Open {
    fn read(&mut self, parts: usize) {
        for _ in 0..parts {
            let scanned = match &mut self.scanner {
                Scanner::Region(scanner) => scanner.next_part(&self.limits),
                Scanner::Table(scanner) => scanner.next().map(|row| match row {
                    Some(row) => Scanned::Row { row, is_partial: false },
                    None => Scanned::End,
                }),
            };
            match scanned {
                Ok(Scanned::Row { row, .. }) => self.actual.extend(row.to_cells()),
                Ok(Scanned::Paused(_)) => {}
                Ok(Scanned::End) => self.is_over = true,
                Err(error) => {
                    assert!(is_ended(&error), "{error}: {}", self.query);
                    (self.is_over, self.was_ended) = (true, true);
                }
            }
            if self.is_over {
                return;
            }
        }
    }
}

fn show(cells: &[Cell], sort: bool) -> Vec<String> {
    let mut cells: Vec<Cell> = cells.to_vec();
    if sort {
        cells.sort_by(|a, b| rowhouse_model::compare(&a.view(), &b.view()));
    }
    cells.iter().map(|cell| format!("{cell:?} @{}", cell.sequence())).collect()
}

fn config() -> ProptestConfig {
    let default = ProptestConfig::default();
    // A case is long.
    let cases = std::env::var_os("PROPTEST_CASES").map_or(64, |_| default.cases);
    ProptestConfig { cases, max_shrink_iters: 3000, failure_persistence: None, ..default }
}

/// Returns the visible cells, by a few reads that cover all.
fn now(table: &Table, kinds: [usize; 3]) -> Vec<Vec<String>> {
    let base = Query { versions: u32::MAX, ..Query::default() };
    let queries = [
        base.clone(),
        Query { versions: 1, reversed: true, ..base.clone() },
        Query { times: Some((2, 2)), ..base.clone() },
        Query { times: Some((0, 3)), ..base.clone() },
        Query { filter: Some("TimestampsFilter(2, 4)"), ..base },
    ];
    queries
        .iter()
        .map(|query| show(&all_at(table, &scan_of(query, kinds), u64::MAX).unwrap().0, false))
        .collect()
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn open_scanners_see_the_cells_of_their_start(
        steps in steps(),
        kinds in [0usize..9, 0usize..9, 0usize..2],
    ) {
        let dir = tempfile::tempdir().unwrap();
        let (store, table) = open(dir.path(), Some(kinds));
        let mut scanners: Vec<Open> = Vec::new();
        let mut points: Vec<(Query, Arc<ReadPoint>, Vec<Cell>)> = Vec::new();
        let mut remembered: Vec<(u64, Query, Vec<Cell>)> = Vec::new();
        let late = Instant::now();
        for (nth, step) in steps.iter().enumerate() {
            match step {
                Step::Open { query, bytes, hasty, back } => {
                    let scan = scan_of(query, kinds);
                    let region = &table.regions()[0];
                    let latest = region.scan(&Scan::all()).unwrap().read_point();
                    let as_of = latest.saturating_sub(*back);
                    let Some((expected, point)) = all_at(&table, &scan, as_of) else { continue };
                    let scanner = region.scan_as_of(&scan, as_of).unwrap();
                    assert_eq!(scanner.read_point(), point);
                    let until = hasty.then_some(late);
                    // A limit that allows more than the read needs.
                    let bytes = if *hasty && *bytes == u64::MAX { 1 << 40 } else { *bytes };
                    scanners.push(Open { scanner: Scanner::Region(Box::new(scanner)), limits: ScanLimits { bytes, until }, query: format!("step {nth} {query:?} as_of {as_of}"), expected, actual: Vec::new(), is_over: false, was_ended: false });
                }
                Step::Point(query) => {
                    let scan = scan_of(query, kinds);
                    let Some((expected, _)) = all_at(&table, &scan, u64::MAX) else { continue };
                    points.push((query.clone(), store.read_point(), expected));
                }
                Step::Remember(query) => {
                    let scan = scan_of(query, kinds);
                    let Some((expected, at)) = all_at(&table, &scan, u64::MAX) else { continue };
                    remembered.push((at, query.clone(), expected));
                }
                Step::Recall => {
                    for (query, point, expected) in points.drain(..) {
                        let scanner = match table.scan_at(scan_of(&query, kinds), &point) {
                            Ok(scanner) => scanner,
                            Err(error) => {
                                // Only what sees what flushes drop.
                                prop_assert!(is_ended(&error) && (query.raw || query.times.is_some()), "{}: {:?}", error, query);
                                continue;
                            }
                        };
                        scanners.push(Open { scanner: Scanner::Table(Box::new(scanner)), limits: ScanLimits::NONE, query: format!("point {query:?}"), expected, actual: Vec::new(), is_over: false, was_ended: false });
                    }
                    for (at, query, expected) in &remembered {
                        if query.raw || query.times.is_some() { continue; }
                        let (actual, point) = all_at(&table, &scan_of(query, kinds), *at).unwrap();
                        if point == *at {
                            prop_assert_eq!(show(&actual, query.on_demand), show(expected, query.on_demand), "as of {} {:?} at step {}", at, query, nth);
                        }
                    }
                }
                Step::Read(at, parts) => {
                    let len = scanners.len().max(1);
                    if let Some(open) = scanners.get_mut(at % len) && !open.is_over {
                        open.read(*parts);
                    }
                }
                Step::Wait(at) => {
                    // All scanners, or one.
                    let len = scanners.len().max(1);
                    for (nth, open) in scanners.iter_mut().enumerate() {
                        if let Scanner::Region(scanner) = &mut open.scanner && (*at < 4 || nth == at % len) {
                            scanner.follow_flushes().unwrap();
                        }
                    }
                }
                Step::Release => {
                    store.release_reader_memory();
                    prop_assert_eq!(store.reader_memstore_bytes().0, 0, "step {}", nth);
                }
                Step::Compact(CompactionKind::Major) => {
                    // It drops markers that cover cells in memory.
                    remembered.clear();
                    change(&table, step, kinds);
                }
                Step::Flush(_) | Step::Compact(_) => {
                    let mut before = now(&table, kinds);
                    change(&table, step, kinds);
                    let mut after = now(&table, kinds);
                    if matches!(step, Step::Compact(_)) {
                        // Compactions drop surplus versions, which show in time ranges.
                        before.drain(2..4);
                        after.drain(2..4);
                    }
                    prop_assert_eq!(after, before, "step {}", nth);
                }
                step => change(&table, step, kinds),
            }
        }
        for mut open in scanners {
            if !open.is_over {
                open.read(usize::MAX);
            }
            let sort = open.query.contains("on_demand: true");
            let expected = match open.was_ended {
                // What it gave before is what was there.
                true => &open.expected[..open.actual.len().min(open.expected.len())],
                false => &open.expected[..],
            };
            if !open.was_ended || !sort {
                prop_assert_eq!(show(&open.actual, sort), show(expected, sort), "{}", open.query);
            }
        }
        let before = now(&table, kinds);
        drop((points, table));
        drop(store);
        let (_store, table) = open(dir.path(), None);
        prop_assert_eq!(now(&table, kinds), before, "reopened");
    }
}
