//! The queue law under random histories: where a full-text index is ready, every row that is not in
//! its queue shows the values in its document. This test keeps the documents, as a worker does that
//! reads at one time and writes at a later one.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use rowhouse_model::{
    Bytes, Cell, CellKind, Delete, FamilyDescriptor, Mutation, Put, Row, Scan, Snapshot,
    TableDescriptor, TableName, TableState, Timestamp,
};
use rowhouse_schema::{COLUMNS_ATTRIBUTE, INDEXES_ATTRIBUTE, IndexState, QUEUE_FAMILY};
use rowhouse_store::{CompactionKind, CompactionSettings, SearchRead, Settings, Store, Table};

use crate::histories::copy_of_store;

const ROWS: [&str; 4] = ["a", "b", "m", "z"];

#[derive(Clone, Debug)]
enum Step {
    One(Mutation),
    Batch(Vec<Mutation>),
    Transaction(Vec<Mutation>),
    Load(Vec<Mutation>),
    /// The worker reads.
    Read,
    /// The worker writes.
    Write,
    Flush(bool),
    Compact(CompactionKind, bool),
    Split(&'static str, bool),
    Merge(bool),
    Truncate,
    TruncateRegion(&'static str),
    Snapshot,
    Restore,
    Versions(u32),
    Repair,
    Kill,
}

fn at() -> impl Strategy<Value = Timestamp> {
    prop_oneof![
        3 => Just(Timestamp::LATEST),
        2 => (1i64..6).prop_map(|at| Timestamp::from_millis(at).unwrap()),
    ]
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let column = prop_oneof![
        4 => Just(("f", "b")),
        1 => Just(("f", "not read")),
        2 => Just(("t", "x")),
        2 => Just(("t", "y")),
        1 => Just(("g", "not read")),
    ];
    let kind = prop_oneof![
        6 => Just(CellKind::Put),
        1 => Just(CellKind::DeleteVersion),
        1 => Just(CellKind::DeleteColumn),
        1 => Just(CellKind::DeleteFamily),
        1 => Just(CellKind::DeleteFamilyVersion),
    ];
    (prop::sample::select(&ROWS[..]), column, at(), kind, 0u8..4).prop_map(
        |(row, (family, qualifier), at, kind, value)| {
            let delete = || Delete::new(row).unwrap();
            match kind {
                CellKind::Put => {
                    let put = Put::new(row).unwrap();
                    put.add_at(family, qualifier, at, format!("v{value}")).unwrap().into()
                }
                CellKind::DeleteVersion => delete().version(family, qualifier, at).unwrap().into(),
                CellKind::DeleteColumn => delete().column(family, qualifier, at).unwrap().into(),
                CellKind::DeleteFamily => delete().family(family, at).unwrap().into(),
                CellKind::DeleteFamilyVersion => {
                    delete().family_version(family, at).unwrap().into()
                }
            }
        },
    )
}

fn step() -> impl Strategy<Value = Step> {
    let several = || prop::collection::vec(mutation(), 1..4);
    let kind = || prop_oneof![Just(CompactionKind::Minor), Just(CompactionKind::Major)];
    let row = || prop::sample::select(&ROWS[..]);
    prop_oneof![
        12 => mutation().prop_map(Step::One),
        3 => several().prop_map(Step::Batch),
        3 => several().prop_map(Step::Transaction),
        2 => several().prop_map(Step::Load),
        8 => Just(Step::Read),
        8 => Just(Step::Write),
        4 => any::<bool>().prop_map(Step::Flush),
        4 => (kind(), any::<bool>()).prop_map(|(kind, base)| Step::Compact(kind, base)),
        1 => (row(), any::<bool>()).prop_map(|(at, base)| Step::Split(at, base)),
        1 => any::<bool>().prop_map(Step::Merge),
        1 => Just(Step::Truncate),
        1 => row().prop_map(Step::TruncateRegion),
        1 => Just(Step::Snapshot),
        1 => Just(Step::Restore),
        1 => (1u32..4).prop_map(Step::Versions),
        1 => Just(Step::Repair),
        1 => Just(Step::Kill),
    ]
}

fn name(name: &str) -> TableName {
    TableName::parse(name).unwrap()
}

fn declared() -> TableDescriptor {
    let family = |name: &'static str| FamilyDescriptor::new(name).unwrap();
    TableDescriptor::new(name("mail"))
        .family(family("f").versions(2))
        .family(family("g"))
        .family(family("t"))
        .attribute(COLUMNS_ATTRIBUTE, "1 f:b body string; t:[tag string] tagged string")
        .attribute(INDEXES_ATTRIBUTE, "1 text search body english, tagged.tag keyword")
}

type Values = Vec<(usize, Bytes)>;
type Documents = BTreeMap<Bytes, Values>;

/// The rows that a worker has read, before it writes.
struct Work {
    read: SearchRead,
    queue: Vec<(Bytes, Timestamp)>,
    /// The documents for the rows in the queue, or for all rows.
    documents: Documents,
}

fn rows(table: &Arc<Table>, read: &SearchRead, scan: Scan) -> Vec<Row> {
    let mut rows = table.scan_at(scan, &read.point).unwrap();
    std::iter::from_fn(|| rows.next().unwrap()).collect()
}

fn key(row: &Row) -> Bytes {
    Bytes::copy_from_slice(row.key())
}

impl Work {
    fn begin(store: &Store) -> Self {
        let read = store.search_read(&name("mail"), "text").unwrap();
        let entries = rows(&read.entries, &read, Scan::all().family(QUEUE_FAMILY));
        let queue = entries.iter().map(|row| (key(row), row.cells().next().unwrap().timestamp()));
        let queue: Vec<_> = queue.collect();
        let search = read.index.search().unwrap();
        let rows = rows(&read.table, &read, Scan::all());
        let mut documents: Documents =
            rows.iter().map(|row| (key(row), search.values(row))).collect();
        if read.state == IndexState::Ready {
            let queued: BTreeSet<_> = queue.iter().map(|(row, _)| row.clone()).collect();
            documents.retain(|row, _| queued.contains(row));
            // A row that shows nothing has an empty document.
            for row in queued {
                documents.entry(row).or_default();
            }
        }
        Self { read, queue, documents }
    }

    /// Writes, if the index is still the one that was read.
    fn end(self, store: &Store, documents: &mut Documents) {
        let Self { read, queue, documents: read_documents } = self;
        let family = QUEUE_FAMILY.as_bytes();
        let marker = |(row, at): (Bytes, Timestamp)| {
            Cell::new(row, family, b"", at, CellKind::DeleteColumn, b"").unwrap()
        };
        let cells = queue.into_iter().map(marker).collect();
        if store.write_search_table(&read.entries, cells).is_err() {
            return;
        }
        if read.state == IndexState::Ready {
            documents.extend(read_documents);
        } else if store.set_search_state(&read.entries, &read.state, &IndexState::Ready).unwrap() {
            *documents = read_documents;
        }
    }
}

struct History {
    dir: tempfile::TempDir,
    store: Store,
    documents: Documents,
    work: Option<Work>,
}

fn open(dir: &tempfile::TempDir) -> Store {
    let compaction = CompactionSettings { files_min: 100, ..Default::default() };
    let settings = Settings { compaction, ..Settings::default() };
    Store::builder(dir.path()).settings(settings).open().unwrap()
}

impl History {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = open(&dir);
        store.create_table(declared(), &["m".into()]).unwrap();
        Self { dir, store, documents: Documents::new(), work: None }
    }

    fn table(&self, is_base: bool) -> Arc<Table> {
        self.store.table(&name(if is_base { "mail" } else { "mail.text" })).unwrap()
    }

    fn run(&mut self, step: Step) {
        let base = self.table(true);
        match step {
            Step::One(mutation) => drop(base.mutate(&mutation).unwrap()),
            Step::Batch(mutations) => base.batch(mutations).into_iter().for_each(|it| {
                it.unwrap();
            }),
            Step::Transaction(mutations) => {
                let all = |it: &mut rowhouse_store::Transaction| {
                    mutations.iter().try_for_each(|one| it.mutate(&base, one.clone()).map(|_| ()))
                };
                self.store.transact(all).unwrap();
            }
            Step::Load(mutations) => self.load(&mutations),
            Step::Read => self.work = Some(Work::begin(&self.store)),
            Step::Write => {
                if let Some(work) = self.work.take() {
                    work.end(&self.store, &mut self.documents);
                }
            }
            Step::Flush(is_base) => self.table(is_base).flush().unwrap(),
            Step::Compact(kind, is_base) => self.table(is_base).compact(kind).unwrap(),
            Step::Split(at, is_base) => {
                let region = self.table(is_base).region_of(at.as_bytes()).name().full.clone();
                // It may begin there.
                let _ = self.store.split_region(&region, Some(at.into()));
            }
            Step::Merge(is_base) => {
                let table = self.table(is_base);
                let names = table.regions().iter().map(|region| &region.name().full[..]);
                let _ = self.store.merge_regions(&names.collect::<Vec<_>>());
            }
            Step::Truncate => {
                self.store.disable_table(base.name()).unwrap();
                self.store.truncate_table(base.name(), true).unwrap();
                // An empty table's index is ready without documents.
                self.documents.clear();
            }
            Step::TruncateRegion(row) => {
                let region = base.region_of(row.as_bytes()).name().full.clone();
                self.store.truncate_region(&region).unwrap();
            }
            Step::Snapshot => {
                let _ = self.store.delete_snapshot("s");
                self.store.take_snapshot(Snapshot::new("s", name("mail")).unwrap()).unwrap();
            }
            Step::Restore => {
                if self.store.snapshot("s").is_ok() {
                    self.store.disable_table(base.name()).unwrap();
                    self.store.restore_snapshot("s").unwrap();
                    self.store.enable_table(base.name()).unwrap();
                    assert_eq!(self.table(false).state(), TableState::Enabled);
                }
            }
            Step::Versions(versions) => {
                let family = FamilyDescriptor::new("f").unwrap().versions(versions);
                self.store.alter_family(base.name(), family).unwrap();
            }
            Step::Repair => self.store.request_index_repair(base.name(), "text").unwrap(),
            Step::Kill => {
                let dir = copy_of_store(self.dir.path());
                self.work = None;
                self.store = open(&dir);
                self.dir = dir;
            }
        }
    }

    fn load(&self, mutations: &[Mutation]) {
        let mut cells: BTreeMap<Bytes, Vec<Cell>> = BTreeMap::new();
        for cell in mutations.iter().flat_map(Mutation::cells) {
            let at = cell.timestamp();
            let at = if at.is_latest() { Timestamp::from_millis(3).unwrap() } else { at };
            cells.entry(cell.row_bytes()).or_default().push(cell.with_timestamp(at));
        }
        let mut rows = cells.into_values().map(|mut cells| {
            cells.sort_by(|a, b| a.key().cmp(&b.key()));
            cells.dedup_by(|later, first| later.key() == first.key());
            cells
        });
        self.store.load_rows(&name("mail"), || Ok(rows.next())).unwrap();
    }

    fn check(&self) -> Result<(), TestCaseError> {
        let read = self.store.search_read(&name("mail"), "text").unwrap();
        if read.state != IndexState::Ready {
            return Ok(());
        }
        let entries = rows(&read.entries, &read, Scan::all().family(QUEUE_FAMILY));
        let queued: BTreeSet<_> = entries.iter().map(key).collect();
        let search = read.index.search().unwrap();
        let shown = rows(&read.table, &read, Scan::all());
        let shown: Documents = shown.iter().map(|row| (key(row), search.values(row))).collect();
        let all: BTreeSet<_> = shown.keys().chain(self.documents.keys()).collect();
        for row in all.into_iter().filter(|row| !queued.contains(*row)) {
            let of = |from: &Documents| from.get(row).cloned().unwrap_or_default();
            prop_assert_eq!(of(&shown), of(&self.documents), "row {:?}", row);
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn rows_that_are_not_queued_show_the_values_of_their_documents(
        steps in prop::collection::vec(step(), 1..60)
    ) {
        let mut history = History::new();
        for step in steps {
            history.run(step);
            history.check()?;
        }
        // In the end the worker catches up.
        Work::begin(&history.store).end(&history.store, &mut history.documents);
        history.check()?;
        let state = history.store.index_state(&name("mail"), "text").unwrap();
        prop_assert_eq!(state, IndexState::Ready);
    }
}

#[test]
fn no_change_is_lost_while_others_write_and_regions_move() {
    let mut history = History::new();
    let over = AtomicBool::new(false);
    let table = history.table(true);
    std::thread::scope(|scope| {
        for writer in 0..3u32 {
            let table = &table;
            let over = &over;
            scope.spawn(move || {
                let mut round = 0u32;
                while !over.load(Ordering::Acquire) {
                    let row = format!("{}{}", ROWS[(round % 4) as usize], round * 7 % 50);
                    let put = Put::new(row).unwrap();
                    let put = put.add("f", "b", format!("{writer} {round}")).unwrap();
                    table.mutate(&put.into()).unwrap();
                    round += 1;
                }
            });
        }
        for round in 0..200 {
            history.run(Step::Read);
            history.run(match round % 20 {
                3 => Step::Split(["c", "n"][round / 20 % 2], round % 40 == 3),
                7 => Step::Merge(round % 40 == 7),
                11 => Step::Flush(round % 40 == 11),
                13 => Step::Compact(CompactionKind::Major, false),
                17 => Step::TruncateRegion(ROWS[round / 20 % 4]),
                _ => Step::Flush(false),
            });
            history.run(Step::Write);
        }
        over.store(true, Ordering::Release);
    });
    for _ in 0..2 {
        history.run(Step::Read);
        history.run(Step::Write);
        history.check().unwrap();
    }
    assert_eq!(history.store.index_state(&name("mail"), "text").unwrap(), IndexState::Ready);
    assert!(!history.documents.is_empty());
}
