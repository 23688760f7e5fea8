//! Steady families show the same rows before and after each flush and compaction.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Mutex, mpsc};
use std::thread;
use std::time::Duration;

use rowhouse_model::{Columns, Get, Key, Result};

use super::*;
use crate::compact::RowKinds;
use crate::compaction_policy::OtherFiles;
use crate::disk::Disk;
use crate::family::FamilyStore;
use crate::memstore::MemstoreCursor;
use crate::read::{Merge, Source, own_ttl};
use crate::store_file::{FileCursor, FileSummary};
use crate::{Additions, Clock, Observer, RowChange};

#[derive(Clone)]
struct TurnedClock(Arc<AtomicI64>);

impl Clock for TurnedClock {
    fn now_millis(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A table with one family.
struct Fixture {
    clock: Arc<AtomicI64>,
    disk: SimulatedDisk,
    store: Store,
    table: Arc<Table>,
    family: Arc<FamilyStore>,
}

/// What reads show, now and later.
type Shown = Vec<Vec<Cell>>;

impl Fixture {
    fn new(family: FamilyDescriptor) -> Self {
        let clock = Arc::new(AtomicI64::new(now_millis(0)));
        let disk = SimulatedDisk::default();
        let builder = Store::builder("simulated").settings(unmerged()).with_disk(disk.clone());
        let store = builder.with_clock(TurnedClock(Arc::clone(&clock))).open().unwrap();
        store.create_table(TableDescriptor::new(name()).family(family), &[]).unwrap();
        let table = store.table(&name()).unwrap();
        let family = Arc::clone(&table.regions()[0].families()[0]);
        Self { clock, disk, store, table, family }
    }

    fn steady(family: FamilyDescriptor) -> Self {
        let fixture = Self::new(family);
        fixture.family.set_steady(true);
        fixture
    }

    fn write(&self, cells: &[Cell]) {
        cells.iter().for_each(|cell| _ = self.table.mutate(&to_living_mutation(cell)).unwrap());
    }

    fn flush(&self) {
        self.table.flush().unwrap();
    }

    /// Writes each item in `files` to a file.
    fn write_files(&self, files: &[&[Cell]]) {
        for cells in files {
            self.write(cells);
            self.flush();
        }
    }

    /// Compacts all files.
    fn merge(&self) {
        self.merge_run(0, usize::MAX, false);
    }

    /// Compacts up to `len` files from the one at `start` on; if these are not all, as a minor
    /// compaction or, for rows that only they have, as a major one.
    fn merge_run(&self, start: usize, len: usize, by_row: bool) {
        let files = self.family.super_version().files.clone();
        let run = start..start.saturating_add(len).min(files.len());
        let facts: Vec<FileSummary<'_>> =
            files.iter().map(|file| file.facts(self.family.range())).collect();
        let others = facts[..run.start].iter().chain(&facts[run.end..]);
        let kinds = match (run.len() == files.len(), by_row) {
            (true, _) => CompactionKind::Major.into(),
            (false, false) => CompactionKind::Minor.into(),
            (false, true) => RowKinds::MajorExcept(OtherFiles::of(others)),
        };
        let engine = self.table.regions()[0].engine();
        let now = engine.timestamps.now_millis();
        let inputs = &files[run];
        crate::compact::run::merge(engine, &self.family, kinds, inputs, now, Pacing::Waited)
            .unwrap();
    }

    /// Writes `cells` when the next flush or compaction has read the inputs.
    fn write_meanwhile(&self, cells: &[Cell]) -> Arc<Mutex<Option<Shown>>> {
        let table = Arc::clone(&self.table);
        let family = Arc::clone(&self.family);
        let cells = cells.to_vec();
        let shown = Arc::new(Mutex::new(None));
        let now = self.clock.load(Ordering::Relaxed);
        let noted = Arc::clone(&shown);
        self.family.before_install(move || {
            cells.iter().for_each(|cell| _ = table.mutate(&to_living_mutation(cell)).unwrap());
            *noted.lock().unwrap() = Some(shown_by(&family, now));
        });
        shown
    }

    fn shown(&self) -> Shown {
        shown_by(&self.family, self.clock.load(Ordering::Relaxed))
    }

    /// Returns the timestamps of the visible versions in row 0.
    fn versions(&self) -> Vec<i64> {
        let get = Get::new("0").unwrap().versions(9);
        let row = self.table.get(&get).unwrap();
        row.cells().map(|cell| cell.timestamp().as_millis()).collect()
    }

    /// Returns how many files there are, all of which the family has.
    fn files(&self) -> usize {
        let files = self.family.super_version().files.len();
        assert_eq!(self.disk.list("files").unwrap().len(), files);
        assert_eq!(self.disk.list("tmp").unwrap().len(), 0);
        files
    }
}

fn shown_by(family: &FamilyStore, now: i64) -> Shown {
    let cells = stored(family);
    let shown = [0, 1, 4, 11].map(|later| {
        let rules = Rules::read(family.descriptor(), None, TimeRange::ALL, 9, now + later);
        read(rules, &cells, u64::MAX)
    });
    shown.into()
}

/// Returns all stored cells.
fn stored(family: &FamilyStore) -> Vec<Cell> {
    let super_version = family.super_version();
    let start = Key::row_start(b"");
    let memstores = super_version.frozen.iter().chain([&super_version.active]);
    let memstores = memstores.map(|memstore| MemstoreCursor::new(Arc::clone(memstore), &start));
    let files = super_version.files.iter();
    let files = files.map(|file| Source::File(FileCursor::open_once(file, &start).unwrap()));
    let mut merge =
        Merge::new(memstores.map(Source::Memory).chain(files).collect(), u64::MAX).unwrap();
    let mut cells = Vec::new();
    while let Some(cell) = crate::cells::Cells::cell(&merge) {
        cells.push(cell.to_cell());
        crate::cells::Cells::advance(&mut merge).unwrap();
    }
    cells
}

/// As [`to_mutation`], with the cell's TTL.
fn to_living_mutation(cell: &Cell) -> Mutation {
    let mut mutation = to_mutation(cell);
    let ttl = own_ttl(&cell.view());
    match &mut mutation {
        Mutation::Put(put) => put.ttl_millis = ttl,
        Mutation::Delete(delete) => delete.ttl_millis = ttl,
        _ => unreachable!("only puts and deletes are generated"),
    }
    mutation
}

fn at_column(millis: i64, kind: CellKind) -> Cell {
    Cell::new("0", "f", "1", at(millis), kind, "").unwrap()
}

fn put(millis: i64) -> Cell {
    at_column(millis, CellKind::Put)
}

fn one_version() -> FamilyDescriptor {
    FamilyDescriptor::new("f").unwrap()
}

#[test]
fn a_flush_runs_again_if_a_version_is_deleted_before_its_file_is_installed() {
    let delete = at_column(2, CellKind::DeleteVersion);
    let shown = |fixture: Fixture| {
        fixture.write(&[put(1), put(2)]);
        fixture.write_meanwhile(std::slice::from_ref(&delete));
        fixture.flush();
        assert_eq!(fixture.files(), 1);
        fixture.versions()
    };
    assert_eq!(shown(Fixture::steady(one_version())), [1]);
    // In another family the older version is gone, as in HBase.
    assert_eq!(shown(Fixture::new(one_version())), []);
}

#[test]
fn a_flush_keeps_the_versions_that_an_earlier_delete_of_a_version_uncovers() {
    let fixture = Fixture::steady(one_version());
    fixture.write_files(&[&[at_column(2, CellKind::DeleteVersion)]]);
    fixture.write(&[put(1), put(2)]);
    fixture.flush();
    assert_eq!(fixture.versions(), [1]);
    fixture.merge();
    assert_eq!(fixture.versions(), [1]);
    assert_eq!(stored(&fixture.family).len(), 1);
}

#[test]
fn a_compaction_runs_again_if_a_version_is_deleted_before_its_file_is_installed() {
    let delete = Cell::new("0", "f", "", at(2), CellKind::DeleteFamilyVersion, "").unwrap();
    let shown = |fixture: Fixture| {
        fixture.write_files(&[&[put(1)], &[put(2)]]);
        fixture.write_meanwhile(std::slice::from_ref(&delete));
        fixture.merge();
        assert_eq!(fixture.files(), 1);
        fixture.versions()
    };
    assert_eq!(shown(Fixture::steady(one_version())), [1]);
    assert_eq!(shown(Fixture::new(one_version())), []);
}

#[test]
fn a_compaction_runs_again_if_a_put_comes_in_that_is_older_than_a_dropped_marker() {
    let shown = |fixture: Fixture| {
        fixture.write_files(&[&[put(1)], &[at_column(3, CellKind::DeleteColumn)]]);
        fixture.write_meanwhile(&[put(2)]);
        fixture.merge();
        fixture.versions()
    };
    assert_eq!(shown(Fixture::steady(one_version())), []);
    assert_eq!(shown(Fixture::new(one_version())), [2]);
}

#[test]
fn a_compaction_runs_again_if_an_older_put_comes_in_and_is_flushed() {
    let fixture = Fixture::steady(one_version());
    fixture.write_files(&[&[put(1)], &[at_column(3, CellKind::DeleteColumn)]]);
    let table = Arc::clone(&fixture.table);
    fixture.family.before_install(move || {
        table.mutate(&to_mutation(&put(2))).unwrap();
        table.flush().unwrap();
    });
    fixture.merge();
    assert_eq!(fixture.versions(), []);
}

#[test]
fn a_compaction_keeps_markers_that_are_not_older_than_puts_in_memory() {
    let fixture = Fixture::steady(one_version());
    let deletes = [2, 4].map(|millis| at_column(millis, CellKind::DeleteColumn));
    fixture.write_files(&[&[put(1)], &deletes]);
    fixture.write(&[put(3)]);
    fixture.merge();
    assert_eq!(fixture.versions(), []);
    let left: Vec<i64> =
        stored(&fixture.family).iter().map(|cell| cell.timestamp().as_millis()).collect();
    assert_eq!(left, [4, 3]);
    assert!(!fixture.family.super_version().files[0].is_major());
    // Once the put is in a file, nothing is left.
    fixture.flush();
    fixture.merge();
    assert_eq!(stored(&fixture.family), []);
}

#[test]
fn a_family_that_becomes_steady_discards_earlier_flushes_and_compactions() {
    let fixture = Fixture::new(one_version());
    fixture.write(&[put(1), put(2)]);
    let table = Arc::clone(&fixture.table);
    let family = Arc::clone(&fixture.family);
    fixture.family.before_install(move || {
        family.set_steady(true);
        table.mutate(&to_mutation(&at_column(2, CellKind::DeleteVersion))).unwrap();
    });
    fixture.flush();
    assert_eq!((fixture.versions(), fixture.files()), (vec![1], 1));
}

/// An observer that runs a function.
struct Call<F>(F);

impl<F: Fn(&RowChange) + Send + Sync> Observer for Call<F> {
    fn columns(&self) -> Columns {
        Columns::default()
    }

    fn row_changes(&self, change: &RowChange, _: &mut Additions) -> Result<()> {
        (self.0)(change);
        Ok(())
    }
}

#[test]
fn no_flush_is_installed_between_the_reads_of_an_observed_write_and_its_commit() {
    let fixture = Fixture::new(one_version());
    fixture.write(&[put(1), put(2)]);
    let (done, is_done) = mpsc::channel();
    let done = Mutex::new(done);
    let is_done = Mutex::new(is_done);
    let flushes = Arc::new(Mutex::new(Vec::new()));
    let started = Arc::clone(&flushes);
    let table = Arc::clone(&fixture.table);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&seen);
    let observer = Call(move |change: &RowChange| {
        let versions = |row: &rowhouse_model::Row| -> Vec<i64> {
            row.cells().map(|cell| cell.timestamp().as_millis()).collect()
        };
        noted.lock().unwrap().push((versions(&change.before), versions(&change.after)));
        let table = Arc::clone(&table);
        let done = done.lock().unwrap().clone();
        started.lock().unwrap().push(thread::spawn(move || {
            table.flush().unwrap();
            done.send(()).unwrap();
        }));
        let ended = is_done.lock().unwrap().recv_timeout(Duration::from_millis(200));
        ended.expect_err("the flush must wait");
    });
    fixture.store.observe(&name(), Arc::new(observer)).unwrap();
    fixture.write(&[at_column(2, CellKind::DeleteVersion)]);
    flushes.lock().unwrap().drain(..).for_each(|flush| flush.join().unwrap());
    assert_eq!(*seen.lock().unwrap(), [(vec![2], vec![1])]);
    assert_eq!((fixture.versions(), fixture.files()), (vec![1], 1));
}

#[test]
fn new_regions_and_families_of_an_observed_table_are_steady() {
    let fixture = Fixture::new(one_version());
    fixture.write_files(&[&[put(1)]]);
    fixture.store.observe(&name(), Arc::new(Call(|_: &RowChange| {}))).unwrap();
    let are_steady = || {
        let table = fixture.store.table(&name()).unwrap();
        let mut families = table.regions().iter().flat_map(|region| region.families());
        (table.regions().len(), families.all(|family| family.is_steady()))
    };
    assert_eq!(are_steady(), (1, true));
    let region = fixture.table.regions()[0].name().full.clone();
    fixture.store.split_region(&region, Some("m".into())).unwrap();
    assert_eq!(are_steady(), (2, true));
    let descriptor = fixture.store.table(&name()).unwrap().descriptor().clone();
    let more = descriptor.family(FamilyDescriptor::new("g").unwrap());
    fixture.store.alter_table(more).unwrap();
    assert_eq!(are_steady(), (2, true));
    fixture.store.disable_table(&name()).unwrap();
    fixture.store.truncate_table(&name(), true).unwrap();
    assert_eq!(are_steady(), (2, true));
}

/// An operation on a steady family.
#[derive(Clone, Debug)]
enum Step {
    Write(Cell),
    /// Writes these cells before the file is installed.
    Flush(Vec<Cell>),
    Merge {
        start: prop::sample::Index,
        len: usize,
        by_row: bool,
        meanwhile: Vec<Cell>,
    },
    Pass(i64),
}

/// Returns steps that write cells in two rows, or in one column and the family around it.
fn steps() -> impl Strategy<Value = Vec<Step>> {
    let several = prop::collection::vec(step(cell_with_ttl), 1..40);
    prop_oneof![several, prop::collection::vec(step(cell_of_one_column), 1..40)]
}

/// Generates cells in one column and the family around it: mostly puts, so that many are surplus.
fn cell_of_one_column() -> impl Strategy<Value = Cell> {
    let kinds = prop_oneof![
        12 => Just(CellKind::Put),
        2 => Just(CellKind::DeleteVersion),
        1 => Just(CellKind::DeleteFamilyVersion),
        1 => Just(CellKind::DeleteColumn),
    ];
    (cell_with_ttl(), kinds).prop_map(|(cell, kind)| {
        let qualifier = if kind == CellKind::DeleteFamilyVersion { &b""[..] } else { b"1" };
        let key = Key { row: b"0", qualifier, kind: kind.code(), ..cell.key() };
        Cell::from_parts(key, b"", cell.tags()).unwrap()
    })
}

fn step<S: Strategy<Value = Cell> + 'static>(cell: impl Fn() -> S) -> impl Strategy<Value = Step> {
    let meanwhile = || prop::collection::vec(cell(), 0..3);
    let merge = (any::<prop::sample::Index>(), 1usize..5, any::<bool>(), meanwhile());
    prop_oneof![
        8 => cell().prop_map(Step::Write),
        3 => meanwhile().prop_map(Step::Flush),
        3 => merge.prop_map(|(start, len, by_row, meanwhile)| {
            Step::Merge { start, len, by_row, meanwhile }
        }),
        1 => (1i64..3).prop_map(Step::Pass),
    ]
}

proptest! {
    #[test]
    fn no_flush_or_compaction_of_a_steady_family_changes_visible_rows(
        family in prop_oneof![family(), (1u32..3).prop_map(|max| one_version().versions(max))],
        keeps_surplus in prop::bool::weighted(0.2),
        steps in steps(),
    ) {
        let mut family = family;
        if keeps_surplus {
            let key = "rowhouse.compaction.minor.drops.versions";
            family.configuration.insert(key.into(), "false".into());
        }
        let fixture = Fixture::steady(family);
        for step in steps {
            let (before, meanwhile) = match step {
                Step::Write(cell) => {
                    fixture.write(&[cell]);
                    continue;
                }
                Step::Pass(millis) => {
                    fixture.clock.fetch_add(millis, Ordering::Relaxed);
                    continue;
                }
                Step::Flush(meanwhile) => {
                    let before = fixture.shown();
                    let shown = fixture.write_meanwhile(&meanwhile);
                    fixture.flush();
                    (before, shown)
                }
                Step::Merge { start, len, by_row, meanwhile } => {
                    let files = fixture.family.super_version().files.len();
                    if files == 0 {
                        continue;
                    }
                    let before = fixture.shown();
                    let shown = fixture.write_meanwhile(&meanwhile);
                    fixture.merge_run(start.index(files), len, by_row);
                    (before, shown)
                }
            };
            let before = meanwhile.lock().unwrap().take().unwrap_or(before);
            fixture.family.before_install(|| {});
            prop_assert_eq!(fixture.shown(), before);
        }
    }

    #[test]
    fn a_major_compaction_of_a_steady_family_drops_no_less_if_nothing_expires_by_itself(
        versions in 1u32..4,
        least in prop::option::of(0u32..2),
        cells in prop::collection::vec(cell(), 0..24),
        lens in prop::collection::vec(1usize..9, 1..5),
        expired in 0i64..6,
    ) {
        let mut family = one_version().versions(versions);
        if let Some(least) = least {
            family = family.attribute("TTL", "1").attribute("MIN_VERSIONS", least.to_string());
        }
        let fixture = Fixture::steady(family.clone());
        let mut cells = &cells[..];
        for len in lens {
            let (file, rest) = cells.split_at(len.min(cells.len()));
            fixture.write_files(&[file]);
            cells = rest;
        }
        fixture.clock.store(now_millis(expired), Ordering::Relaxed);
        let all = stored(&fixture.family);
        if !fixture.family.super_version().files.is_empty() {
            fixture.merge();
        }
        let left = merge(CompactionKind::Major, &family, now_millis(expired), &all);
        prop_assert_eq!(stored(&fixture.family), left);
        prop_assert!(fixture.family.super_version().files.iter().all(|file| file.is_major()));
    }
}
