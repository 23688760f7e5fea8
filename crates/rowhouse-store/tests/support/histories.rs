//! Random histories on a table with indexes: the steps, and a store that takes them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use proptest::prelude::*;
use rowhouse_model::{
    Append, Bytes, Cell, CellKind, Condition, Delete, Durability, Error, ErrorKind,
    FamilyDescriptor, Increment, Key, Mutation, Put, Row, RowCondition, Scan, Snapshot,
    TableDescriptor, TableName, Timestamp,
};
use rowhouse_schema::{COLUMNS_ATTRIBUTE, INDEXES_ATTRIBUTE, IndexState, KEY_ATTRIBUTE};
use rowhouse_store::{
    Clock, CompactionKind, CompactionSettings, ReadPoint, Settings, Store, Table, check,
};

/// The key of the table, until the copy is promoted.
pub(crate) const KEY: &str = "1 [user text]-[n digits 1]";
pub(crate) const ROWS: [&str; 5] = ["a-1", "a-2", "b-1", "m-1", "not of the template"];

/// The declarations of a table.
#[derive(Clone, Debug)]
pub(crate) struct Declared {
    pub(crate) columns: &'static str,
    /// Another declaration of the columns.
    pub(crate) other_columns: String,
    pub(crate) indexes: String,
    /// The indexes that are left after [`Step::DropIndexes`].
    pub(crate) fewer_indexes: &'static str,
}

/// The values that histories write.
#[derive(Clone, Copy)]
pub(crate) struct Values {
    pub(crate) count: u8,
    /// Returns a value, by number, for a column with this qualifier.
    pub(crate) of: fn(&[u8], u8) -> Vec<u8>,
}

/// Maintains the indexes in a history.
pub(crate) trait Upkeep {
    /// Something taken at a read point. It is held until it can no longer be read.
    type Point;

    /// The store was opened.
    fn opened(&mut self, store: &Store);

    /// The store is about to be closed.
    fn closing(&mut self);

    /// Waits until all indexes are ready.
    fn settle(&mut self, store: &Store);

    fn point(&mut self, store: &Store) -> Self::Point;
}

#[derive(Clone)]
pub(crate) struct SetClock(pub(crate) Arc<AtomicI64>);

impl Clock for SetClock {
    fn now_millis(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }
}

#[derive(Clone, Debug)]
pub(crate) enum Step {
    One(Mutation),
    If(Mutation),
    Batch(Vec<Mutation>),
    Rows(Vec<Mutation>),
    Commit(Vec<Mutation>),
    Transaction(Vec<Mutation>),
    Flush(usize),
    Compact(CompactionKind),
    Wait(i64),
    Split(&'static str),
    SplitIndex(usize, u8),
    Merge,
    Point,
    Truncate,
    TruncateRegion(&'static str),
    DropIndexes,
    AddIndexes,
    ChangeFamily(u32, Option<u32>),
    ChangeColumns,
    Disable,
    Snapshot,
    Restore,
    Clone,
    Reopen,
    Kill,
    Load(Vec<Mutation>),
    Promote,
    Damage(usize, usize),
}

fn at() -> impl Strategy<Value = Timestamp> {
    prop_oneof![
        4 => Just(Timestamp::LATEST),
        2 => (990i64..1010).prop_map(|at| Timestamp::from_millis(at).unwrap()),
    ]
}

fn row() -> impl Strategy<Value = &'static str> {
    prop_oneof![6 => Just(ROWS[0]), 4 => prop::sample::select(ROWS.to_vec())]
}

fn column() -> impl Strategy<Value = (&'static str, &'static [u8])> {
    let columns: Vec<(&str, &[u8])> = vec![
        ("f", b"q"),
        ("f", b"q"),
        ("f", b"s"),
        ("g", b"q"),
        ("g", b"x"),
        ("t", b"red\0\x01"),
        ("t", b"blue\0\x01"),
        ("t", b"no tag"),
        ("t", b""),
    ];
    prop::sample::select(columns)
}

/// Returns any mutation.
pub(crate) fn mutation(values: Values) -> impl Strategy<Value = Mutation> {
    let ttl = prop_oneof![5 => Just(None), 1 => (1i64..20).prop_map(Some)];
    let durability = prop_oneof![
        5 => Just(Durability::UseDefault), 1 => Just(Durability::SkipWal), 1 => Just(Durability::SyncWal)
    ];
    let put =
        (row(), prop::collection::vec((column(), at(), 0..values.count), 1..4), ttl, durability);
    prop_oneof![
        8 => put.prop_map(move |(row, cells, ttl, durability)| {
            let mut put = Put::new(row).unwrap();
            for ((family, qualifier), at, number) in cells {
                put = put.add_at(family, qualifier, at, (values.of)(qualifier, number)).unwrap();
            }
            put.ttl_millis = ttl;
            put.durability = durability;
            put.into()
        }),
        1 => (row(), prop::option::of(1i64..9)).prop_map(|(row, ttl)| {
            let mut delete = Delete::new(row).unwrap();
            delete.ttl_millis = ttl;
            delete.into()
        }),
        3 => (row(), column(), at(), prop::option::weighted(0.1, 1i64..9)).prop_map(
            |(row, (family, qualifier), at, ttl)| {
                let mut delete = Delete::new(row).unwrap().version(family, qualifier, at).unwrap();
                delete.ttl_millis = ttl;
                delete.into()
            }
        ),
        2 => (row(), column(), at()).prop_map(|(row, (family, qualifier), at)| {
            Delete::new(row).unwrap().column(family, qualifier, at).unwrap().into()
        }),
        1 => (row(), at()).prop_map(|(row, at)| {
            Delete::new(row).unwrap().family("f", at).unwrap().into()
        }),
        1 => (row(), 990i64..1010).prop_map(|(row, at)| {
            let at = Timestamp::from_millis(at).unwrap();
            Delete::new(row).unwrap().family_version("f", at).unwrap().into()
        }),
        1 => row().prop_map(|row| Increment::new(row).unwrap().add("f", "i", 1).unwrap().into()),
        1 => row().prop_map(|row| Append::new(row).unwrap().add("g", "q", "x").unwrap().into()),
    ]
}

/// Returns any step.
pub(crate) fn step(values: Values) -> impl Strategy<Value = Step> {
    let mutation = move || mutation(values);
    let several = move || prop::collection::vec(mutation(), 1..6);
    let split = prop::sample::select(vec!["a-2", "b", "m-1"]);
    prop_oneof![
        12 => mutation().prop_map(Step::One),
        2 => mutation().prop_map(Step::If),
        5 => several().prop_map(Step::Batch),
        3 => several().prop_map(Step::Rows),
        2 => several().prop_map(Step::Commit),
        3 => several().prop_map(Step::Transaction),
        3 => (0usize..6).prop_map(Step::Flush),
        1 => Just(Step::Compact(CompactionKind::Minor)),
        2 => Just(Step::Compact(CompactionKind::Major)),
        4 => prop_oneof![3 => 0i64..15, 1 => 500i64..1500].prop_map(Step::Wait),
        1 => split.clone().prop_map(Step::Split),
        1 => (0usize..6, 0u8..255).prop_map(|(index, at)| Step::SplitIndex(index, at)),
        1 => Just(Step::Merge),
        2 => Just(Step::Point),
        1 => Just(Step::Truncate),
        1 => split.prop_map(Step::TruncateRegion),
        1 => Just(Step::DropIndexes),
        2 => Just(Step::AddIndexes),
        1 => (1u32..3, prop::option::of(1u32..3)).prop_map(|(versions, ttl)| {
            Step::ChangeFamily(versions, ttl)
        }),
        1 => Just(Step::ChangeColumns),
        1 => Just(Step::Disable),
        1 => Just(Step::Snapshot),
        1 => Just(Step::Restore),
        1 => Just(Step::Clone),
        1 => Just(Step::Reopen),
        2 => Just(Step::Kill),
        2 => Just(Step::Promote),
        2 => (0usize..20, 0usize..10_000).prop_map(|(file, at)| Step::Damage(file, at)),
        3 => several().prop_map(Step::Load),
    ]
}

impl Step {
    /// Returns the step with other keys for the rows that it writes.
    fn with_rows(&self, key: impl Fn(&[u8]) -> Bytes) -> Self {
        let all = |them: &[Mutation]| them.iter().map(|it| with_row(it, key(it.row()))).collect();
        match self {
            Self::One(it) => Self::One(with_row(it, key(it.row()))),
            Self::If(it) => Self::If(with_row(it, key(it.row()))),
            Self::Batch(them) => Self::Batch(all(them)),
            Self::Rows(them) => Self::Rows(all(them)),
            Self::Commit(them) => Self::Commit(all(them)),
            Self::Transaction(them) => Self::Transaction(all(them)),
            Self::Load(them) => Self::Load(all(them)),
            other => other.clone(),
        }
    }
}

/// Returns a mutation for another row.
fn with_row(mutation: &Mutation, row: Bytes) -> Mutation {
    let cells = mutation.cells().iter().map(|cell| {
        let key = Key { row: &row, ..cell.key() };
        Cell::from_parts(key, cell.value(), cell.tags()).unwrap()
    });
    match mutation {
        Mutation::Put(of) => {
            let put = Put::new(row.clone()).unwrap();
            let mut put = cells.fold(put, |put, cell| put.add_cell(cell).unwrap());
            (put.ttl_millis, put.durability) = (of.ttl_millis, of.durability);
            put.into()
        }
        Mutation::Delete(of) => {
            let delete = Delete::new(row.clone()).unwrap();
            let mut delete = cells.fold(delete, |delete, cell| delete.add_cell(cell).unwrap());
            (delete.ttl_millis, delete.timestamp) = (of.ttl_millis, of.timestamp);
            delete.into()
        }
        Mutation::Increment(_) => {
            let increment = Increment::new(row.clone()).unwrap();
            cells.fold(increment, |it, cell| it.add_cell(cell).unwrap()).into()
        }
        Mutation::Append(_) => {
            let append = Append::new(row.clone()).unwrap();
            cells.fold(append, |append, cell| append.add_cell(cell).unwrap()).into()
        }
    }
}

/// Loads the cells of puts and deletes as files.
fn load(store: &Store, mutations: &[Mutation]) {
    let mut rows: BTreeMap<Bytes, Vec<Cell>> = BTreeMap::new();
    for mutation in mutations {
        if matches!(mutation, Mutation::Put(_) | Mutation::Delete(_)) {
            let now = Timestamp::from_millis(1005).unwrap();
            let cells = mutation.cells().iter().map(|cell| {
                if cell.timestamp().is_latest() { cell.with_timestamp(now) } else { cell.clone() }
            });
            rows.entry(mutation.row().clone()).or_default().extend(cells);
        }
    }
    for cells in rows.values_mut() {
        cells.sort_by(|a, b| rowhouse_model::compare(&a.view(), &b.view()));
        cells.dedup_by(|a, b| a.key() == b.key());
    }
    let mut rows = rows.into_values();
    store.load_rows(&name("t"), || Ok(rows.next())).unwrap();
}

fn temporary() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// Returns a copy of an open store's files, as a kill at this point leaves them.
pub(crate) fn copy_of_store(dir: &Path) -> tempfile::TempDir {
    let manifest = || fs::read(dir.join("MANIFEST")).unwrap();
    // The copy takes time: a compaction that ends meanwhile replaces files.
    loop {
        let copy = temporary();
        let before = manifest();
        copy_dir(dir, copy.path());
        if manifest() == before {
            return copy;
        }
    }
}

fn copy_dir(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let copy = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            fs::create_dir(&copy).unwrap();
            copy_dir(&entry.path(), &copy);
        } else if entry.file_name() != "LOCK"
            // A background thread may remove a file meanwhile.
            && let Err(error) = fs::copy(entry.path(), copy)
        {
            assert_eq!(error.kind(), std::io::ErrorKind::NotFound, "{error}");
        }
    }
}

fn name(name: &str) -> TableName {
    TableName::parse(name).unwrap()
}

/// What keeps surplus versions: flushes and minor compactions drop none if it is false.
pub(crate) const MINOR_COMPACTIONS: &str = "rowhouse.compaction.minor.drops.versions";

fn descriptor(declared: &Declared, keep: Option<&str>) -> TableDescriptor {
    let family = |name: &str| FamilyDescriptor::new(name.to_owned()).unwrap();
    let mut f = family("f").versions(1);
    match keep {
        Some(MINOR_COMPACTIONS) => {
            f.configuration.insert(MINOR_COMPACTIONS.into(), "false".into());
        }
        Some(attribute) => f = f.attribute(attribute.to_owned(), "TRUE"),
        None => {}
    }
    let table = TableDescriptor::new(name("t")).family(f).family(family("g").versions(2));
    table
        .family(family("t"))
        .attribute(KEY_ATTRIBUTE, KEY)
        .attribute(COLUMNS_ATTRIBUTE, declared.columns)
        .attribute(INDEXES_ATTRIBUTE, declared.indexes.clone())
}

/// A table `t` with indexes, and the store.
pub(crate) struct History<U: Upkeep> {
    declared: Declared,
    dir: tempfile::TempDir,
    clock: SetClock,
    store: Option<Store>,
    pub(crate) upkeep: U,
    pub(crate) points: Vec<U::Point>,
}

impl<U: Upkeep> History<U> {
    /// Begins with an empty table. `keep` is an attribute on the first family, or
    /// [`MINOR_COMPACTIONS`].
    pub(crate) fn new(declared: Declared, keep: Option<&str>, upkeep: U) -> Self {
        let table = descriptor(&declared, keep);
        let clock = SetClock(Arc::new(AtomicI64::new(1000)));
        let dir = temporary();
        let store = None;
        let points = Vec::new();
        let mut history = Self { declared, dir, clock, store, upkeep, points };
        history.open();
        history.store().create_table(table, &["m".into()]).unwrap();
        history
    }

    fn open(&mut self) {
        self.close();
        let compaction = CompactionSettings { files_min: 100, ..Default::default() };
        let settings = Settings { compaction, ..Settings::default() };
        let builder = Store::builder(self.dir.path()).settings(settings);
        let store = builder.with_clock(self.clock.clone()).open().unwrap();
        self.upkeep.opened(&store);
        self.store = Some(store);
    }

    /// Closes the store, if it is open.
    pub(crate) fn close(&mut self) {
        self.points.clear();
        if let Some(store) = self.store.take() {
            self.upkeep.closing();
            store.close().unwrap();
        }
    }

    /// Opens what the directory holds now, as after the process ended.
    fn kill(&mut self) {
        self.store().set_compactions(false);
        let copy = copy_of_store(self.dir.path());
        self.close();
        self.dir = copy;
        self.open();
    }

    /// Flips a bit in an index file, if a check notices that, and reads all indexes.
    fn damage(&mut self, file: usize, at: usize) {
        // A snapshot of the table may name files that a promotion has given to a copy.
        if !self.store().snapshots().is_empty() || self.store().table(&name("u")).is_ok() {
            return;
        }
        self.close();
        let files = fs::read_dir(self.dir.path().join("files")).unwrap();
        let mut files: Vec<_> = files.map(|file| file.unwrap().path()).collect();
        files.sort();
        let first = file % files.len().max(1);
        files.rotate_left(first);
        for path in files {
            let mut bytes = fs::read(&path).unwrap();
            let at = at % bytes.len();
            bytes[at] ^= 1 << (at % 8);
            fs::write(&path, &bytes).unwrap();
            let problems = check(self.dir.path(), |_| {}).unwrap().problems;
            let is_of_index = |problem: &Error| problem.message().contains("table=t.");
            if !problems.is_empty() && problems.iter().all(is_of_index) {
                break;
            }
            bytes[at] ^= 1 << (at % 8);
            fs::write(&path, &bytes).unwrap();
        }
        self.open();
        for table in self.store().tables() {
            if table.name().qualifier().contains('.') {
                let mut rows = table.scan(Scan::all());
                while let Ok(rows) = &mut rows
                    && let Ok(Some(_)) = rows.next()
                {}
            }
        }
        self.store().settle_index_damage();
    }

    pub(crate) fn store(&self) -> &Store {
        self.store.as_ref().unwrap()
    }

    pub(crate) fn table(&self) -> Arc<Table> {
        self.store().table(&name("t")).unwrap()
    }

    /// Whether the table has the copy's key.
    pub(crate) fn is_promoted(&self) -> bool {
        self.table().descriptor().attributes[KEY_ATTRIBUTE.as_bytes()] != *KEY.as_bytes()
    }

    /// Promotes the copy, if the table declares one and all its rows fit the template.
    fn promote(&mut self) {
        self.settle();
        let table = self.table();
        let index = table.indexes().unwrap().unwrap().index("copied").cloned();
        let rows = versions(&table, &self.store().read_point());
        let promoted = self.store().promote_index(table.name(), "copied");
        let Ok(index) = index else {
            promoted.unwrap_err();
            return;
        };
        let copied =
            rows.into_iter().map(|(row, cells)| Some((index.copy_key(&row).unwrap()?, cells)));
        match copied.collect::<Option<BTreeMap<_, _>>>() {
            None => assert!(promoted.unwrap_err().message().contains("would be lost")),
            Some(_) if promoted.is_err() => {
                assert!(promoted.unwrap_err().message().contains("would be lost"));
                assert!(self.has_hidden_misfits(), "all rows that show cells fit");
            }
            Some(copied) => {
                promoted.unwrap();
                assert_eq!(versions(&self.table(), &self.store().read_point()), copied);
                let stale = table.mutate(&Delete::new("a-1").unwrap().into()).unwrap_err();
                assert_eq!(stale.kind(), ErrorKind::LayoutChanged);
                self.points.clear();
            }
        }
    }

    /// Whether a row that does not fit the template has a delete marker that expires.
    fn has_hidden_misfits(&self) -> bool {
        let mut scanner = self.table().scan(Scan { raw: true, ..Scan::all() }).unwrap();
        std::iter::from_fn(|| scanner.next().unwrap()).any(|row| {
            let mut cells = row.cells();
            row.key() == &b"not of the template"[..]
                && cells.any(|cell| cell.kind() != CellKind::Put && !cell.tags().is_empty())
        })
    }

    /// Waits until all indexes are ready.
    pub(crate) fn settle(&mut self) {
        self.upkeep.settle(self.store.as_ref().unwrap());
    }

    /// Takes a step.
    pub(crate) fn run(&mut self, step: &Step) {
        let of_layout = if self.is_promoted() {
            step.with_rows(|row| match row {
                [user, b'-', n] => vec![*n, *user, 0, 1].into(),
                _ => Bytes::copy_from_slice(row),
            })
        } else {
            step.clone()
        };
        let step = &of_layout;
        let store = self.store().clone();
        let table = self.table();
        let of_region = |mutations: &[Mutation]| -> Vec<Mutation> {
            let region = table.region_of(mutations[0].row());
            let range = region.info().range.clone();
            mutations.iter().filter(|it| range.contains(it.row())).cloned().collect()
        };
        match step {
            Step::One(mutation) => _ = table.mutate(mutation),
            Step::If(mutation) => {
                let condition = Condition::NoRow;
                let _ = table.mutate_if(&condition, mutation);
            }
            Step::Batch(mutations) => _ = table.batch(mutations.clone()),
            Step::Rows(mutations) => {
                let conditions: [RowCondition; 0] = [];
                let region = table.region_of(mutations[0].row());
                let _ = region.mutate_rows(&conditions, &of_region(mutations));
            }
            Step::Commit(mutations) => {
                let with_table = |it: &Mutation| (Arc::clone(&table), it.clone());
                let _ = store.commit(&mutations.iter().map(with_table).collect::<Vec<_>>());
            }
            Step::Transaction(mutations) => {
                let _ = store.transact(|transaction| {
                    mutations.iter().try_for_each(|mutation| {
                        transaction.mutate(&table, mutation.clone()).map(|_| ())
                    })
                });
            }
            Step::Flush(nth) => {
                let tables = store.tables();
                let _ = tables[nth % tables.len()].flush();
            }
            Step::Compact(kind) => store.tables().iter().for_each(|table| {
                let _ = table.compact(*kind);
            }),
            Step::Wait(millis) => _ = self.clock.0.fetch_add(*millis, Ordering::Relaxed),
            Step::Split(at) => {
                let name = table.region_of(at.as_bytes()).name().full.clone();
                let _ = store.split_region(&name, Some((*at).into()));
            }
            Step::SplitIndex(nth, at) => {
                let tables = store.tables();
                let region = tables[nth % tables.len()].region_of(&[*at]);
                let _ = store.split_region(&region.name().full, Some(vec![*at].into()));
            }
            Step::Merge => {
                for table in store.tables() {
                    if let [first, second, ..] = table.regions() {
                        let names = [&first.name().full[..], &second.name().full];
                        let _ = store.merge_regions(&names);
                    }
                }
            }
            Step::Point => {
                self.settle();
                let point = self.upkeep.point(&store);
                self.points.push(point);
            }
            Step::Truncate => {
                store.disable_table(table.name()).unwrap();
                store.truncate_table(table.name(), true).unwrap();
                self.points.clear();
            }
            Step::TruncateRegion(row) => {
                let region = table.region_of(row.as_bytes());
                store.truncate_region(&region.name().full).unwrap();
                self.points.clear();
            }
            Step::DropIndexes => {
                let fewer = self.declared.fewer_indexes;
                self.alter(|table| table.attribute(INDEXES_ATTRIBUTE, fewer));
            }
            Step::AddIndexes => {
                let mut indexes = self.declared.indexes.clone();
                if self.is_promoted() {
                    indexes =
                        indexes.replace("copied [n][user]", "copied [user text]-[n digits 1]");
                }
                self.alter(|table| table.attribute(INDEXES_ATTRIBUTE, indexes.clone()));
            }
            Step::ChangeFamily(versions, ttl) => self.alter(|table| {
                let family = table.find_family(b"f").unwrap().clone().versions(*versions);
                let ttl = ttl.unwrap_or(2_147_483_647).to_string();
                table.family(family.attribute("TTL", ttl))
            }),
            Step::ChangeColumns => {
                let Declared { columns, other_columns, .. } = self.declared.clone();
                self.alter(|table| {
                    let now = &table.attributes[COLUMNS_ATTRIBUTE.as_bytes()];
                    let is_changed = now[..] != *columns.as_bytes();
                    let to = if is_changed { columns.to_owned() } else { other_columns.clone() };
                    table.attribute(COLUMNS_ATTRIBUTE, to)
                });
            }
            Step::Disable => {
                store.disable_table(table.name()).unwrap();
                store.enable_table(table.name()).unwrap();
            }
            Step::Snapshot => {
                let _ = store.delete_snapshot("s");
                store.take_snapshot(Snapshot::new("s", name("t")).unwrap()).unwrap();
            }
            Step::Restore => {
                store.disable_table(table.name()).unwrap();
                let _ = store.restore_snapshot("s");
                store.enable_table(table.name()).unwrap();
                self.points.clear();
            }
            Step::Clone => {
                let _ = store.disable_table(&name("u"));
                let _ = store.drop_table(&name("u"));
                let _ = store.clone_snapshot("s", &name("u"));
            }
            Step::Reopen => self.open(),
            Step::Kill => self.kill(),
            Step::Promote => self.promote(),
            Step::Damage(file, at) => self.damage(*file, *at),
            Step::Load(mutations) => {
                load(&store, mutations);
                let replaced = ["covers *", "memory"];
                if replaced.iter().any(|word| self.declared.indexes.contains(word)) {
                    // The table of the index is another one now.
                    self.points.clear();
                }
            }
        }
    }

    fn alter(&mut self, change: impl Fn(TableDescriptor) -> TableDescriptor) {
        let changed = |table: &TableDescriptor| Ok(change(table.clone()));
        self.store().change_table(&name("t"), changed).unwrap();
        self.points.clear();
    }
}

/// Waits until the store has built the indexes on all tables for which `is_waited_for` holds.
pub(crate) fn wait_for_indexes(store: &Store, is_waited_for: impl Fn(&Table) -> bool) {
    let is_ready = |table: &Arc<Table>| {
        let is_index = table.name().qualifier().contains('.') && is_waited_for(table);
        !is_index || IndexState::of_table(table.descriptor()).unwrap().is_ready()
    };
    for wait in 0.. {
        let tables = store.tables();
        let Some(table) = tables.iter().find(|table| !is_ready(table)) else { break };
        let state = IndexState::of_table(table.descriptor()).unwrap();
        assert!(wait < 1_000, "an index is never ready: table={}, state={state}", table.name());
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

/// Returns the rows that a table shows at a read point.
pub(crate) fn rows(table: &Arc<Table>, point: &Arc<ReadPoint>) -> Vec<Row> {
    let mut scanner = table.scan_at(Scan::all(), point).unwrap();
    std::iter::from_fn(|| scanner.next().unwrap()).collect()
}

/// Returns all versions of a table's rows, each row as text under the row key.
pub(crate) fn versions(table: &Arc<Table>, point: &Arc<ReadPoint>) -> BTreeMap<Bytes, String> {
    let scan = Scan { versions: u32::MAX, ..Scan::all() };
    let mut scanner = table.scan_at(scan, point).unwrap();
    let rows = std::iter::from_fn(|| scanner.next().unwrap());
    let text = |row: Row| {
        let cells = row.cells().map(|cell| {
            let family = cell.family().escape_ascii();
            let qualifier = cell.qualifier().escape_ascii();
            let value = cell.value().escape_ascii();
            format!("{family}:{qualifier}@{}={value}", cell.timestamp().as_millis())
        });
        (Bytes::copy_from_slice(row.key()), cells.collect::<Vec<_>>().join(" "))
    };
    rows.map(text).collect()
}
