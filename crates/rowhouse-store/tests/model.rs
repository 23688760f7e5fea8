//! Random histories of one table against a list of cells that is searched by the definition of
//! visibility, with flushes, compactions and reopenings in between.

#![expect(clippy::unwrap_used, reason = "a test may")]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use proptest::prelude::*;
use rowhouse_model::{
    Cell, CellKind, Delete, FamilyDescriptor, Get, Increment, Mutation, Put, Row, RowRange, Scan,
    TableDescriptor, TableName, TimeRange, Timestamp,
};
use rowhouse_store::{Clock, CompactionKind, CompactionSettings, Settings, Store};

const FAMILIES: [(&str, u32); 2] = [("f", 1), ("g", 3)];

#[derive(Clone, Debug)]
enum Step {
    Put { row: u8, family: usize, qualifier: u8, at: Option<u8>, value: u8 },
    Delete { row: u8, family: usize, qualifier: u8, at: Option<u8>, kind: CellKind },
    DeleteRow { row: u8 },
    Increment { row: u8, family: usize, amount: i64 },
    Flush,
    Compact,
    Reopen,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let place = || (0u8..4, 0usize..2, 0u8..3, prop::option::of(0u8..6));
    let kinds = prop::sample::select(vec![
        CellKind::DeleteVersion,
        CellKind::DeleteColumn,
        CellKind::DeleteFamily,
        CellKind::DeleteFamilyVersion,
    ]);
    let step = prop_oneof![
        8 => (place(), any::<u8>()).prop_map(|((row, family, qualifier, at), value)| Step::Put {
            row, family, qualifier, at, value
        }),
        4 => (place(), kinds).prop_map(|((row, family, qualifier, at), kind)| Step::Delete {
            row, family, qualifier, at, kind
        }),
        1 => (0u8..4).prop_map(|row| Step::DeleteRow { row }),
        2 => (0u8..4, 0usize..2, any::<i64>())
            .prop_map(|(row, family, amount)| Step::Increment { row, family, amount }),
        2 => Just(Step::Flush),
        1 => Just(Step::Compact),
        1 => Just(Step::Reopen),
    ];
    prop::collection::vec(step, 1..60)
}

/// Ticks once a step, far above the timestamps that steps name.
#[derive(Clone, Default)]
struct TestClock(Arc<AtomicI64>);

impl Clock for TestClock {
    fn now_millis(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// What has been written, oldest first.
#[derive(Default)]
struct Model {
    cells: Vec<Cell>,
}

impl Model {
    fn write(&mut self, cell: Cell) {
        let sequence = self.cells.len() as u64 + 1;
        self.cells.push(cell.with_sequence(sequence));
    }

    /// The visible versions of a column, newest first, by definition.
    fn column(&self, row: &[u8], family: &[u8], qualifier: &[u8], range: TimeRange) -> Vec<Cell> {
        let mine = |cell: &&Cell| cell.row() == row && cell.family() == family;
        let covers = |marker: &Cell, at: Timestamp| match marker.kind() {
            CellKind::Put => false,
            CellKind::DeleteFamily => at <= marker.timestamp(),
            CellKind::DeleteFamilyVersion => at == marker.timestamp(),
            CellKind::DeleteColumn => marker.qualifier() == qualifier && at <= marker.timestamp(),
            CellKind::DeleteVersion => marker.qualifier() == qualifier && at == marker.timestamp(),
        };
        let puts = self
            .cells
            .iter()
            .filter(mine)
            .filter(|cell| cell.kind() == CellKind::Put && cell.qualifier() == qualifier);
        // Later writes at a timestamp take the place of earlier ones.
        let versions: BTreeMap<Timestamp, &Cell> = puts.map(|put| (put.timestamp(), put)).collect();
        let visible = versions.into_iter().rev().filter(|(at, _)| {
            range.contains(at.as_millis())
                && !self.cells.iter().filter(mine).any(|cell| covers(cell, *at))
        });
        visible.map(|(_, cell)| cell.clone()).collect()
    }

    fn row(&self, row: &[u8], versions: u32, range: TimeRange) -> Vec<Cell> {
        let mut cells = Vec::new();
        for (family, versions_max) in FAMILIES {
            let mine = self.cells.iter().filter(|cell| cell.family() == family.as_bytes());
            let qualifiers: BTreeSet<_> = mine.map(|cell| cell.qualifier().to_vec()).collect();
            for qualifier in qualifiers {
                let column = self.column(row, family.as_bytes(), &qualifier, range);
                cells.extend(column.into_iter().take(versions.min(versions_max) as usize));
            }
        }
        cells
    }

    /// What a compaction of everything leaves.
    fn compact(&mut self) {
        let rows: BTreeSet<_> = self.cells.iter().map(|cell| cell.row().to_vec()).collect();
        let kept: Vec<Cell> =
            rows.iter().flat_map(|row| self.row(row, u32::MAX, TimeRange::ALL)).collect();
        self.cells = kept;
    }
}

fn millis(at: i64) -> Timestamp {
    Timestamp::from_millis(at).unwrap()
}

struct Run {
    dir: tempfile::TempDir,
    clock: TestClock,
    store: Option<Store>,
    model: Model,
}

impl Run {
    fn new() -> Self {
        let mut run = Self {
            dir: tempfile::tempdir().unwrap(),
            clock: TestClock::default(),
            store: None,
            model: Model::default(),
        };
        run.clock.0.store(1000, Ordering::Relaxed);
        run.open();
        let mut descriptor = TableDescriptor::new(table());
        for (name, versions) in FAMILIES {
            // One family's blooms know rows and the other's columns, markers of the family among them.
            let (bloom, compression) =
                if name == "g" { ("ROWCOL", "ZSTD") } else { ("ROW", "LZ4") };
            let family = FamilyDescriptor::new(name).unwrap().versions(versions);
            let family = family.attribute("BLOOMFILTER", bloom);
            descriptor = descriptor.family(family.attribute("COMPRESSION", compression));
        }
        run.store().create_table(descriptor, &["2".into()]).unwrap();
        run
    }

    fn open(&mut self) {
        self.store = None;
        // No compaction but those of the history: one drops markers, which shows in later writes.
        let compaction = CompactionSettings { files_min: usize::MAX, ..Default::default() };
        let settings = Settings { compaction, ..Settings::default() };
        let builder = Store::builder(self.dir.path()).settings(settings);
        let store = builder.with_clock(self.clock.clone()).open().unwrap();
        self.store = Some(store);
    }

    fn store(&self) -> &Store {
        self.store.as_ref().unwrap()
    }

    fn mutate(&self, mutation: impl Into<Mutation>) -> rowhouse_model::Result<Row> {
        let outcome = self.store().table(&table()).unwrap().mutate(&mutation.into());
        outcome.map(|outcome| outcome.row)
    }

    fn step(&mut self, step: &Step) {
        let now = self.clock.0.fetch_add(1, Ordering::Relaxed) + 1;
        let resolve = |at: &Option<u8>| at.map_or(millis(now), |at| millis(at.into()));
        match step {
            Step::Put { row, family, qualifier, at, value } => {
                let (row, family, qualifier) = names(*row, *family, *qualifier);
                let asked = at.map_or(Timestamp::LATEST, |at| millis(at.into()));
                let put = Put::new(row.clone()).unwrap();
                self.mutate(put.add_at(family, &qualifier, asked, [*value]).unwrap()).unwrap();
                let kind = CellKind::Put;
                let cell = Cell::new(row, family, qualifier, resolve(at), kind, [*value]).unwrap();
                self.model.write(cell);
            }
            Step::Delete { row, family, qualifier, at, kind } => {
                let (row, family, qualifier) = names(*row, *family, *qualifier);
                let asked = at.map_or(Timestamp::LATEST, |at| millis(at.into()));
                let delete = Delete::new(row.clone()).unwrap();
                let (delete, qualifier) = match kind {
                    CellKind::DeleteVersion => {
                        (delete.version(family, &qualifier, asked), qualifier)
                    }
                    CellKind::DeleteColumn => (delete.column(family, &qualifier, asked), qualifier),
                    CellKind::DeleteFamily => (delete.family(family, asked), String::new()),
                    _ => (delete.family_version(family, asked), String::new()),
                };
                let mut at = resolve(at);
                if *kind == CellKind::DeleteVersion && asked.is_latest() {
                    let bytes = (row.as_bytes(), family.as_bytes(), qualifier.as_bytes());
                    let column = self.model.column(bytes.0, bytes.1, bytes.2, TimeRange::ALL);
                    at = column.first().map_or(at, Cell::timestamp);
                }
                self.mutate(delete.unwrap()).unwrap();
                self.model.write(Cell::new(row, family, qualifier, at, *kind, "").unwrap());
            }
            Step::DeleteRow { row } => {
                let row = row.to_string();
                self.mutate(Delete::new(row.clone()).unwrap()).unwrap();
                for (family, _) in FAMILIES {
                    let kind = CellKind::DeleteFamily;
                    self.model.write(Cell::new(&row, family, "", millis(now), kind, "").unwrap());
                }
            }
            Step::Increment { row, family, amount } => self.increment(*row, *family, *amount, now),
            Step::Flush => self.store().table(&table()).unwrap().flush().unwrap(),
            Step::Compact => {
                let table = self.store().table(&table()).unwrap();
                table.flush().unwrap();
                table.compact(CompactionKind::Major).unwrap();
                let files = |region: &Arc<rowhouse_store::Region>| region.size().files;
                assert!(table.regions().iter().map(files).all(|files| files <= FAMILIES.len()));
                self.model.compact();
            }
            Step::Reopen => self.open(),
        }
    }

    fn increment(&mut self, row: u8, family: usize, amount: i64, now: i64) {
        let row = row.to_string();
        let family = FAMILIES[family].0;
        let increment = Increment::new(row.clone()).unwrap();
        let written = self.mutate(increment.add(family, "n", amount).unwrap()).unwrap();
        let column = self.model.column(row.as_bytes(), family.as_bytes(), b"n", TimeRange::ALL);
        let before = column.first();
        let value = before.map_or(0, |cell| i64::from_be_bytes(cell.value().try_into().unwrap()));
        let at = before.map_or(now, |cell| now.max(cell.timestamp().as_millis() + 1));
        let value = value.wrapping_add(amount).to_be_bytes();
        let cell = Cell::new(row, family, "n", millis(at), CellKind::Put, value).unwrap();
        assert_eq!(written.to_cells(), std::slice::from_ref(&cell));
        self.model.write(cell);
    }

    fn check(&self) {
        let table = self.store().table(&table()).unwrap();
        let ranges = [TimeRange::ALL, TimeRange::new(millis(2), millis(5)).unwrap()];
        for range in ranges {
            for versions in [1, 2, 9] {
                let mut expected_rows = Vec::new();
                for row in 0u8..4 {
                    let row = row.to_string();
                    let expected = self.model.row(row.as_bytes(), versions, range);
                    let get = Get::new(row).unwrap().versions(versions).time_range(range);
                    assert_eq!(table.get(&get).unwrap().to_cells(), expected);
                    expected_rows.push(expected);
                }
                expected_rows.retain(|row| !row.is_empty());
                let scan = Scan::all().versions(versions).time_range(range);
                let mut scanner = table.scan(scan).unwrap();
                let mut rows = Vec::new();
                while let Some(row) = scanner.next().unwrap() {
                    rows.push(row.to_cells());
                }
                assert_eq!(rows, expected_rows);
            }
        }
        self.check_columns(&table);
        self.check_gets_of_columns(&table);
    }

    fn check_gets_of_columns(&self, table: &Arc<rowhouse_store::Table>) {
        for qualifiers in [&["q0"][..], &["q2"], &["n"], &[""], &["q0", "q2"], &["", "n"], &["no"]]
        {
            for row in 0u8..4 {
                let row = row.to_string();
                let get = Get::new(row.clone()).unwrap().versions(9);
                let get = qualifiers.iter().fold(get, |get, name| get.column("g", *name));
                let columns = qualifiers.iter().flat_map(|name| {
                    let (row, name) = (row.as_bytes(), name.as_bytes());
                    self.model.column(row, b"g", name, TimeRange::ALL).into_iter().take(3)
                });
                let expected: Vec<Cell> = columns.collect();
                assert_eq!(table.get(&get).unwrap().to_cells(), expected, "{row} {qualifiers:?}");
            }
        }
    }

    fn check_columns(&self, table: &Arc<rowhouse_store::Table>) {
        for qualifier in ["q0", "q2", "n", ""] {
            let scan = Scan::new(RowRange::new("1", "")).column("g", qualifier).versions(9);
            let mut scanner = table.scan(scan).unwrap();
            let mut cells = Vec::new();
            while let Some(row) = scanner.next().unwrap() {
                cells.extend(row.to_cells());
            }
            let expected: Vec<Cell> = (1..4)
                .flat_map(|row: u8| {
                    let row = row.to_string();
                    let column = self.model.column(
                        row.as_bytes(),
                        b"g",
                        qualifier.as_bytes(),
                        TimeRange::ALL,
                    );
                    column.into_iter().take(3)
                })
                .collect();
            assert_eq!(cells, expected, "{qualifier}");
        }
    }
}

fn table() -> TableName {
    TableName::parse("t").unwrap()
}

fn names(row: u8, family: usize, qualifier: u8) -> (String, &'static str, String) {
    // The empty qualifier shares its place with the markers of the family.
    let qualifier = if qualifier == 1 { String::new() } else { format!("q{qualifier}") };
    (row.to_string(), FAMILIES[family].0, qualifier)
}

/// A tenth of the usual cases: each syncs real files many times.
fn config() -> ProptestConfig {
    let usual = ProptestConfig::default();
    ProptestConfig { cases: usual.cases / 10, failure_persistence: None, ..usual }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn every_history_reads_as_the_definition_says(steps in steps()) {
        let mut run = Run::new();
        for step in &steps {
            run.step(step);
        }
        run.check();
        run.open();
        run.check();
    }
}
