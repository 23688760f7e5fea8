//! The cells that compactions leave, compared with the definition of reads: cell by cell here, and
//! through whole stores below.

mod steady;

use std::collections::VecDeque;
use std::sync::Arc;

use proptest::prelude::*;
use rowhouse_model::{
    Cell, CellKind, Delete, FamilyDescriptor, KeepDeletedCells, Mutation, Put, Qualifiers, Scan,
    TableDescriptor, TableName, TimeRange, Timestamp, compare,
};

use super::Pacing;
use super::compaction_filter::CompactionFilter;
use crate::disk::simulated::SimulatedDisk;
use crate::read::{Rules, Verdict, Visible};
use crate::{CompactionKind, CompactionSettings, Settings, Store, Table, TableScanner};

#[test]
fn minor_merges_drop_surplus_versions_unless_the_family_says_otherwise() {
    let stored = |drops: Option<bool>| {
        let compaction = CompactionSettings { files_min: usize::MAX, ..Default::default() };
        let settings = Settings { compaction, ..Settings::default() };
        let disk = SimulatedDisk::default();
        let store = Store::builder("simulated").settings(settings).with_disk(disk).open().unwrap();
        let mut family = FamilyDescriptor::new("f").unwrap();
        if let Some(drops) = drops {
            let key = "rowhouse.compaction.minor.drops.versions";
            family.configuration.insert(key.into(), drops.to_string());
        }
        // The oldest file is too large to be compacted with the others.
        for (key, value) in [("min", "2"), ("max", "2"), ("min.size", "1")] {
            let key = format!("hbase.hstore.compaction.{key}");
            family.configuration.insert(key, value.into());
        }
        let name = TableName::parse("t").unwrap();
        store.create_table(TableDescriptor::new(name.clone()).family(family), &[]).unwrap();
        let table = store.table(&name).unwrap();
        let values = ["long enough to be left alone".repeat(1 << 10), "a".into(), "b".into()];
        for (millis, value) in (1..).zip(values) {
            let put = Put::new("row").unwrap().add_at("f", "q", at(millis), value).unwrap();
            table.mutate(&put.into()).unwrap();
            table.flush().unwrap();
        }
        table.compact(CompactionKind::Minor).unwrap();
        table.regions()[0].families()[0]
            .super_version()
            .files
            .iter()
            .map(|file| file.meta().cells)
            .sum()
    };
    let counts: [u64; 3] = [Some(false), Some(true), None].map(stored);
    assert_eq!(counts, [3, 2, 2]);
}

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis).unwrap()
}

/// Generates cells of few rows, columns and timestamps, so that most affect others.
fn cell() -> impl Strategy<Value = Cell> {
    let kinds = prop::sample::select(vec![
        CellKind::Put,
        CellKind::Put,
        CellKind::Put,
        CellKind::DeleteVersion,
        CellKind::DeleteColumn,
        CellKind::DeleteFamily,
        CellKind::DeleteFamilyVersion,
    ]);
    (0u8..2, 0u8..3, 1i64..6, kinds).prop_map(|(row, qualifier, millis, kind)| {
        let of_family = matches!(kind, CellKind::DeleteFamily | CellKind::DeleteFamilyVersion);
        // Family markers share the empty qualifier with the column that has it.
        let qualifier =
            if qualifier == 0 || of_family { String::new() } else { qualifier.to_string() };
        Cell::new(row.to_string(), "f", qualifier, at(millis), kind, "").unwrap()
    })
}

/// As [`cell`], some with a separate TTL that ends at about the family's.
fn cell_with_ttl() -> impl Strategy<Value = Cell> {
    (cell(), prop::option::weighted(0.2, 994i64..1006)).prop_map(|(cell, ttl)| {
        let tag = |ttl: i64| [&[0, 9, 8][..], &ttl.to_be_bytes()].concat();
        Cell::from_parts(cell.key(), b"", &ttl.map(tag).unwrap_or_default()).unwrap()
    })
}

fn family() -> impl Strategy<Value = FamilyDescriptor> {
    let keep = prop::sample::select(vec!["FALSE", "FALSE", "TRUE", "TTL"]);
    let by_sequence = prop::sample::select(vec!["FALSE", "FALSE", "TRUE"]);
    let least = prop::option::of(0u32..2);
    (1u32..4, least, keep, by_sequence).prop_map(|(versions, versions_min, keep, by_sequence)| {
        let family = FamilyDescriptor::new("f")
            .unwrap()
            .versions(versions)
            .attribute("KEEP_DELETED_CELLS", keep)
            .attribute("NEW_VERSION_BEHAVIOR", by_sequence);
        match versions_min {
            None => family,
            Some(least) => {
                family.attribute("TTL", "1").attribute("MIN_VERSIONS", least.to_string())
            }
        }
    })
}

/// Returns a time at which the cells up to `expired` have outlived a TTL of one second.
fn now_millis(expired: i64) -> i64 {
    1001 + expired
}

fn sorted<'a>(cells: impl IntoIterator<Item = &'a Cell>) -> Vec<Cell> {
    let mut cells: Vec<Cell> = cells.into_iter().cloned().collect();
    cells.sort_by(|a, b| compare(&a.view(), &b.view()));
    cells
}

fn merge(kind: CompactionKind, family: &FamilyDescriptor, now: i64, cells: &[Cell]) -> Vec<Cell> {
    let mut keep = CompactionFilter::new(kind, family, i64::MIN, now);
    sorted(cells).into_iter().filter(|cell| keep.keeps(&cell.view())).collect()
}

/// Returns the cells that a read at `sequence` shows.
fn read(rules: Rules, cells: &[Cell], sequence: u64) -> Vec<Cell> {
    let mut visible = Visible::new(rules);
    let mut row = Vec::new();
    let mut done: Option<Vec<u8>> = None;
    let mut seen = Vec::new();
    for cell in sorted(cells.iter().filter(|cell| cell.sequence() <= sequence)) {
        if row != cell.row() {
            row = cell.row().to_vec();
            visible.begin_row();
            done = None;
        }
        if done.as_deref() == Some(cell.qualifier()) {
            continue;
        }
        let verdict = visible.judge(&cell.view());
        if matches!(verdict, Verdict::IncludeLast | Verdict::NextColumn) {
            done = Some(cell.qualifier().to_vec());
        }
        if matches!(verdict, Verdict::Include | Verdict::IncludeLast) {
            seen.push(cell);
        }
    }
    seen
}

/// Returns the results from all read kinds.
fn reads(family: &FamilyDescriptor, now: i64, cells: &[Cell], sequence: u64) -> Vec<Vec<Cell>> {
    let ranges = [TimeRange::ALL, TimeRange::new(at(2), at(4)).unwrap()];
    let columns: [Option<Qualifiers>; 2] = [None, Some(["1"].into_iter().collect())];
    let mut answers = Vec::new();
    for range in ranges {
        for columns in &columns {
            for versions in [1, 2, 9] {
                let rules = Rules::read(family, columns.as_ref(), range, versions, now);
                answers.push(read(rules, cells, sequence));
            }
        }
    }
    answers
}

/// Numbers cells with sequences from 1 and splits them into files of these lengths.
fn files(cells: &[Cell], lens: &[usize]) -> Vec<Vec<Cell>> {
    let mut cells = cells.iter().zip(1..).map(|(cell, at)| cell.clone().with_sequence(at));
    lens.iter().map(|&len| cells.by_ref().take(len).collect()).collect()
}

proptest! {
    #[test]
    fn no_read_shows_whether_minor_merges_have_run(
        family in family(),
        cells in prop::collection::vec(cell_with_ttl(), 0..40),
        lens in prop::collection::vec(1usize..9, 1..8),
        runs in prop::collection::vec((any::<prop::sample::Index>(), 1usize..5, 0i64..6), 0..8),
    ) {
        let mut merged = files(&cells, &lens);
        let all = merged.concat();
        let mut expired = 0;
        let mut readable_from = 0;
        for (start, len, later) in runs {
            expired = expired.max(later);
            let start = start.index(merged.len());
            let stop = (start + len).min(merged.len());
            let run = merged[start..stop].concat();
            // Readers before a compaction's last cell hold the input files.
            readable_from = run.iter().map(Cell::sequence).fold(readable_from, u64::max);
            let outcome = merge(CompactionKind::Minor, &family, now_millis(expired), &run);
            merged.splice(start..stop, [outcome]);
            let left = merged.concat();
            for sequence in readable_from..=all.len() as u64 {
                for now in [now_millis(expired), now_millis(expired + 1)] {
                    prop_assert_eq!(
                        reads(&family, now, &left, sequence),
                        reads(&family, now, &all, sequence)
                    );
                }
            }
        }
        // A major compaction leaves the same, too.
        let now = now_millis(expired);
        prop_assert_eq!(
            merge(CompactionKind::Major, &family, now, &merged.concat()),
            merge(CompactionKind::Major, &family, now, &all)
        );
    }

    #[test]
    fn surplus_versions_that_minor_merges_drop_are_seen_again_only_after_deletes_of_single_versions(
        family in family(),
        mut cells in prop::collection::vec(cell_with_ttl(), 0..40),
        lens in prop::collection::vec(1usize..9, 1..8),
        runs in prop::collection::vec((any::<prop::sample::Index>(), 1usize..5, 0i64..6), 0..8),
    ) {
        let single = [CellKind::DeleteVersion, CellKind::DeleteFamilyVersion];
        cells.retain(|cell| !single.contains(&cell.kind()));
        let mut merged = files(&cells, &lens);
        let all = merged.concat();
        let mut expired = 0;
        for (start, len, later) in runs {
            expired = expired.max(later);
            let start = start.index(merged.len());
            let stop = (start + len).min(merged.len());
            let now = now_millis(expired);
            let keep = CompactionFilter::new(CompactionKind::Minor, &family, i64::MIN, now);
            let mut keep = keep.dropping_surplus(&family, now);
            let run = sorted(&merged[start..stop].concat());
            let outcome = run.into_iter().filter(|cell| keep.keeps(&cell.view())).collect();
            merged.splice(start..stop, [outcome]);
            // Only without a time range, which can show surplus versions.
            for versions in [1, 9] {
                let read = |cells: &[Cell]| {
                    let rules = Rules::read(&family, None, TimeRange::ALL, versions, now);
                    read(rules, cells, u64::MAX)
                };
                prop_assert_eq!(read(&merged.concat()), read(&all));
            }
        }
    }

    #[test]
    fn a_major_merge_shows_in_no_read_until_something_is_written(
        family in family(),
        cells in prop::collection::vec(cell_with_ttl(), 0..40),
        expired in 0i64..6,
    ) {
        let [all] = &files(&cells, &[cells.len()])[..] else { unreachable!() };
        let left = merge(CompactionKind::Major, &family, now_millis(expired), all);
        // Without a time range, which can show surplus versions: those are dropped.
        let all_of_it = |cells| {
            let rules = Rules::read(&family, None, TimeRange::ALL, 9, now_millis(expired));
            read(rules, cells, u64::MAX)
        };
        let seen = all_of_it(&left);
        let seen_before = all_of_it(all);
        if family.keep_deleted_cells() == KeepDeletedCells::False {
            prop_assert_eq!(&left, &seen_before);
            prop_assert_eq!(seen, seen_before);
        } else if !family.new_version_behavior() {
            // Retained deleted cells count as versions, so others may be surplus. With both
            // settings an older one may reappear (docs/decisions/0050).
            prop_assert!(seen.iter().all(|cell| seen_before.contains(cell)));
        }
    }
}

/// An operation on a store with one table that has one family.
#[derive(Clone, Debug)]
enum Step {
    Write(Cell),
    Flush,
    /// Compacts some neighbouring files; if these are all files, the compaction is major.
    Merge {
        start: prop::sample::Index,
        len: usize,
    },
    OpenScan,
    /// Reads some rows from an open scan.
    ReadScan {
        scan: prop::sample::Index,
        rows: usize,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let index = any::<prop::sample::Index>;
    prop_oneof![
        8 => cell().prop_map(Step::Write),
        3 => Just(Step::Flush),
        2 => (index(), 1usize..4).prop_map(|(start, len)| Step::Merge { start, len }),
        1 => Just(Step::OpenScan),
        2 => (index(), 0usize..2).prop_map(|(scan, rows)| Step::ReadScan { scan, rows }),
    ]
}

/// A store, the expected contents, and open scans with the rows they must still return.
struct Run {
    disk: SimulatedDisk,
    store: Store,
    /// The cells in each file, the oldest file first.
    files: Vec<Vec<Cell>>,
    memory: Vec<Cell>,
    scans: Vec<(TableScanner, VecDeque<Vec<Cell>>)>,
}

fn name() -> TableName {
    TableName::parse("t").unwrap()
}

fn two_versions() -> FamilyDescriptor {
    FamilyDescriptor::new("f").unwrap().versions(2)
}

/// Returns settings under which files are compacted only on request.
fn unmerged() -> Settings {
    let compaction = CompactionSettings { files_min: usize::MAX, ..Default::default() };
    Settings { compaction, ..Settings::default() }
}

/// Returns the cells from [`two_versions`] that a compaction or flush leaves.
fn left_by(kind: CompactionKind, cells: &[Cell], now: i64) -> Vec<Cell> {
    let family = &two_versions();
    let mut keep = CompactionFilter::new(kind, family, i64::MIN, now).dropping_surplus(family, now);
    sorted(cells).into_iter().filter(|cell| keep.keeps(&cell.view())).collect()
}

impl Run {
    fn new() -> Self {
        let disk = SimulatedDisk::default();
        let store = open(&disk, unmerged());
        store.create_table(TableDescriptor::new(name()).family(two_versions()), &[]).unwrap();
        let (files, memory, scans) = Default::default();
        Self { disk, store, files, memory, scans }
    }

    fn table(&self) -> Arc<Table> {
        self.store.table(&name()).unwrap()
    }

    fn step(&mut self, step: &Step) {
        match step {
            Step::Write(cell) => {
                self.table().mutate(&to_mutation(cell)).unwrap();
                let sequence = self.table().regions()[0].engine().mvcc.visible();
                self.memory.push(cell.clone().with_sequence(sequence));
            }
            Step::Flush => {
                // Cells newer than the memstore's oldest reader are written unfiltered.
                let first = self.memory.iter().map(Cell::sequence).min();
                let table = self.table();
                let readers = &table.regions()[0].engine().reader_memory;
                let judged_to = first.and_then(|first| readers.lowest_sequence(first));
                table.flush().unwrap();
                let flushed = std::mem::take(&mut self.memory).into_iter();
                let (judged, newer): (Vec<_>, Vec<_>) =
                    flushed.partition(|cell| judged_to.is_none_or(|last| cell.sequence() <= last));
                let left = [left_by(CompactionKind::Minor, &judged, 0), newer].concat();
                self.files.extend((!left.is_empty()).then_some(left));
            }
            Step::Merge { start, len } => {
                let region = Arc::clone(&self.table().regions()[0]);
                let family = &region.families()[0];
                let files = family.super_version().files.clone();
                if files.is_empty() {
                    return;
                }
                let start = start.index(files.len());
                let places = start..(start + len).min(files.len());
                let run = &files[places.clone()];
                let (kind, engine) = if run.len() == files.len() {
                    (CompactionKind::Major, region.engine())
                } else {
                    (CompactionKind::Minor, region.engine())
                };
                let now = engine.timestamps.now_millis();
                super::run::merge(engine, family, kind.into(), run, now, Pacing::Waited).unwrap();
                let left = left_by(kind, &self.files[places.clone()].concat(), now);
                self.files.splice(places, [left]);
                self.files.retain(|file| !file.is_empty());
                let order: Vec<u64> = region.families()[0]
                    .super_version()
                    .files
                    .iter()
                    .map(|file| file.sequence_max())
                    .collect();
                assert!(order.is_sorted(), "{order:?}");
            }
            Step::OpenScan => {
                let scanner = self.table().scan(Scan::all().versions(9)).unwrap();
                self.scans.push((scanner, self.rows()));
            }
            Step::ReadScan { scan, rows } => {
                if !self.scans.is_empty() {
                    let at = scan.index(self.scans.len());
                    (0..*rows).for_each(|_| read_scan(&mut self.scans[at]));
                }
            }
        }
    }

    /// Returns the expected visible rows.
    fn rows(&self) -> VecDeque<Vec<Cell>> {
        let rules = Rules::read(&two_versions(), None, TimeRange::ALL, 9, 0);
        let cells = [self.files.concat(), self.memory.clone()].concat();
        let seen = read(rules, &cells, u64::MAX);
        seen.chunk_by(|a, b| a.row() == b.row()).map(<[Cell]>::to_vec).collect()
    }

    fn check(&self) {
        let scanner = self.table().scan(Scan::all().versions(9)).unwrap();
        let mut scan = (scanner, self.rows());
        while !scan.1.is_empty() {
            read_scan(&mut scan);
        }
        read_scan(&mut scan);
    }
}

fn read_scan((scanner, rows): &mut (TableScanner, VecDeque<Vec<Cell>>)) {
    let row = scanner.next().unwrap().map(|row| row.to_cells());
    assert_eq!(row, rows.pop_front());
}

fn to_mutation(cell: &Cell) -> Mutation {
    let row = cell.row_bytes();
    let qualifier = cell.qualifier().to_vec();
    let delete = |row| Delete::new(row).unwrap();
    let at = cell.timestamp();
    match cell.kind() {
        CellKind::Put => Put::new(row).unwrap().add_at("f", qualifier, at, "").unwrap().into(),
        CellKind::DeleteVersion => delete(row).version("f", qualifier, at).unwrap().into(),
        CellKind::DeleteColumn => delete(row).column("f", qualifier, at).unwrap().into(),
        CellKind::DeleteFamily => delete(row).family("f", at).unwrap().into(),
        CellKind::DeleteFamilyVersion => delete(row).family_version("f", at).unwrap().into(),
    }
}

fn open(disk: &SimulatedDisk, settings: Settings) -> Store {
    Store::builder("simulated").settings(settings).with_disk(disk.clone()).open().unwrap()
}

proptest! {
    #[test]
    fn readers_see_the_cells_of_their_start_during_compactions(
        steps in prop::collection::vec(step(), 1..60),
        last in any::<prop::sample::Index>(),
    ) {
        let mut run = Run::new();
        for step in &steps {
            run.step(step);
            run.check();
        }
        for mut scan in std::mem::take(&mut run.scans) {
            while !scan.1.is_empty() {
                read_scan(&mut scan);
            }
            read_scan(&mut scan);
        }
        // Reopening restores the file order.
        run.store.close().unwrap();
        run.store = open(&run.disk, unmerged());
        run.step(&Step::Merge { start: last, len: 2 });
        run.check();
    }
}
