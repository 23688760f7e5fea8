//! Scanners that are open while what they read is flushed, merged and written anew see what was there.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::sync::Arc;

use proptest::prelude::*;
use rowhouse_model::{
    Cell, Delete, FamilyDescriptor, Filter, Put, Scan, TableDescriptor, TableName, Timestamp,
};
use rowhouse_store::{
    CompactionKind, CompactionSettings, RegionScanner, ScanLimits, Scanned, Settings, Store, Table,
};

const FAMILIES: [&str; 2] = ["a", "b"];

#[derive(Clone, Debug)]
enum Step {
    Put {
        row: u8,
        family: usize,
        columns: u8,
        at: i64,
    },
    DeleteColumn {
        row: u8,
        family: usize,
        column: u8,
        at: i64,
    },
    DeleteFamily {
        row: u8,
        family: usize,
        at: i64,
    },
    Flush(usize),
    Compact(CompactionKind),
    Open {
        scan: Ask,
        bytes: u64,
    },
    /// Some scanner reads so many parts of rows.
    Read(usize, usize),
    /// All let go of what was flushed.
    Wait,
}

#[derive(Clone, Debug)]
struct Ask {
    reversed: bool,
    versions: u32,
    filter: Option<&'static str>,
    on_demand: bool,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let filters = [
        "ColumnPaginationFilter(2, 1)",
        "SingleColumnValueFilter('a', '1', =, 'binary:v', true, true)",
        "ColumnPrefixFilter('2')",
        "PageFilter(7)",
    ];
    let ask = (any::<bool>(), 1u32..4, prop::option::of(prop::sample::select(filters.to_vec())))
        .prop_map(|(reversed, versions, filter)| Ask {
            reversed,
            versions,
            filter,
            on_demand: filter.is_some(),
        });
    let compact = prop_oneof![Just(CompactionKind::Minor), Just(CompactionKind::Major)];
    let step = prop_oneof![
        20 => (0u8..12, 0usize..2, 0u8..16, 1i64..9)
            .prop_map(|(row, family, columns, at)| Step::Put { row, family, columns, at }),
        2 => (0u8..12, 0usize..2, 0u8..4, 1i64..9)
            .prop_map(|(row, family, column, at)| Step::DeleteColumn { row, family, column, at }),
        1 => (0u8..12, 0usize..2, 1i64..9)
            .prop_map(|(row, family, at)| Step::DeleteFamily { row, family, at }),
        4 => (0usize..3).prop_map(Step::Flush),
        1 => compact.prop_map(Step::Compact),
        6 => (ask, prop_oneof![Just(u64::MAX), 1u64..200])
            .prop_map(|(scan, bytes)| Step::Open { scan, bytes }),
        10 => (0usize..9, 1usize..6).prop_map(|(at, parts)| Step::Read(at, parts)),
        4 => Just(Step::Wait),
    ];
    prop::collection::vec(step, 1..150)
}

fn millis(at: i64) -> Timestamp {
    Timestamp::from_millis(at).unwrap()
}

fn open(dir: &std::path::Path) -> (Store, Arc<Table>) {
    let compaction = CompactionSettings { files_min: usize::MAX, ..Default::default() };
    let settings = Settings { compaction, ..Settings::default() };
    let store = Store::builder(dir).settings(settings).open().unwrap();
    let name = TableName::parse("t").unwrap();
    let family = |name| FamilyDescriptor::new(name).unwrap().versions(2);
    let descriptor = FAMILIES.into_iter().map(family);
    let descriptor = descriptor.fold(TableDescriptor::new(name.clone()), TableDescriptor::family);
    store.create_table(descriptor, &[]).unwrap();
    let table = store.table(&name).unwrap();
    (store, table)
}

fn change(table: &Table, step: &Step) {
    match step {
        Step::Put { row, family, columns, at } => {
            let named = (0..4).filter(|column| columns >> column & 1 == 1);
            let put = named.fold(Put::new(vec![*row]).unwrap(), |put, column| {
                let value = if at % 2 == 0 { "v" } else { "w" };
                put.add_at(FAMILIES[*family], column.to_string(), millis(*at), value).unwrap()
            });
            if *columns > 0 {
                table.mutate(&put.into()).unwrap();
            }
        }
        Step::DeleteColumn { row, family, column, at } => {
            let delete = Delete::new(vec![*row]).unwrap();
            let delete = delete.column(FAMILIES[*family], column.to_string(), millis(*at));
            table.mutate(&delete.unwrap().into()).unwrap();
        }
        Step::DeleteFamily { row, family, at } => {
            let delete = Delete::new(vec![*row]).unwrap();
            table.mutate(&delete.family(FAMILIES[*family], millis(*at)).unwrap().into()).unwrap();
        }
        Step::Flush(family) => match FAMILIES.get(*family) {
            Some(family) => table.flush_family(family.as_bytes()).unwrap(),
            None => table.flush().unwrap(),
        },
        Step::Compact(kind) => table.compact(*kind).unwrap(),
        Step::Open { .. } | Step::Read(..) | Step::Wait => {}
    }
}

/// A scan on its way, with what it is to give and has given.
struct Open {
    scanner: RegionScanner,
    limits: ScanLimits,
    expected: Vec<Cell>,
    found: Vec<Cell>,
    is_over: bool,
}

impl Open {
    fn new(table: &Table, ask: &Ask, bytes: u64) -> Self {
        let mut scan = Scan::all().versions(ask.versions);
        scan.filter = ask.filter.map(|text| Box::new(Filter::parse(text).unwrap()));
        (scan.reversed, scan.families_on_demand) = (ask.reversed, ask.on_demand);
        let limits = ScanLimits { bytes, until: None };
        let region = &table.regions()[0];
        let begin = || Self {
            scanner: region.scan(&scan).unwrap(),
            limits,
            expected: Vec::new(),
            found: Vec::new(),
            is_over: false,
        };
        let mut now = begin();
        now.read(usize::MAX);
        Self { expected: now.found, ..begin() }
    }

    fn read(&mut self, parts: usize) {
        for _ in 0..parts {
            match self.scanner.next_part(&self.limits).unwrap() {
                Scanned::Row { row, .. } => self.found.extend(row.to_cells()),
                Scanned::Paused(_) => {}
                Scanned::End => {
                    self.is_over = true;
                    return;
                }
            }
        }
    }
}

fn config() -> ProptestConfig {
    let default = ProptestConfig::default();
    ProptestConfig { cases: default.cases.min(60), max_shrink_iters: 1000, ..default }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn they_see_what_was_there_when_they_were_opened(steps in steps()) {
        let dir = tempfile::tempdir().unwrap();
        let (_store, table) = open(dir.path());
        let mut scanners: Vec<Open> = Vec::new();
        for step in &steps {
            match step {
                Step::Open { scan, bytes } => scanners.push(Open::new(&table, scan, *bytes)),
                Step::Read(at, parts) => {
                    let len = scanners.len().max(1);
                    if let Some(open) = scanners.get_mut(at % len) {
                        open.read(*parts);
                    }
                }
                Step::Wait => for open in &mut scanners {
                    open.scanner.follow_flushes().unwrap();
                },
                step => change(&table, step),
            }
        }
        for mut open in scanners {
            if !open.is_over {
                open.read(usize::MAX);
            }
            prop_assert_eq!(open.found, open.expected);
        }
    }
}
