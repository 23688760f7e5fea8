//! Histories under a seed: writes, reads, flushes, compactions and reopens on a disk that is
//! killed, loses power, fails and fills up. A seed reproduces the same history every time:
//!
//! ```text
//! ROWHOUSE_SEED=1234 cargo test -p rowhouse-store --lib history -- --nocapture
//! ROWHOUSE_HISTORIES=50000 cargo test -p rowhouse-store --lib --release history
//! ```
//!
//! Every mutation writes the mutation number into all cells that it writes, so the cells found
//! afterwards show which mutations are there.

mod followers;
mod loads;
mod moments;
mod regions;
mod snapshots;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use rowhouse_model::{
    Delete, Durability, Error, ErrorKind, FamilyDescriptor, Get, Mutation, Put, Scan,
    TableDescriptor, TableName, TableState,
};

use rowhouse_schema::{COLUMNS_ATTRIBUTE, INDEXES_ATTRIBUTE};

use self::followers::Follower;
use self::moments::Moment;
use self::snapshots::Held;
use crate::check::check_disk;
use crate::disk::simulated::{Faults, Random, SimulatedDisk};
use crate::{
    Builder, Clock, CompactionKind, CompactionSettings, Settings, SplitSettings, Store,
    TableScanner,
};

/// The default seed count per run.
const HISTORIES: u64 = 600;
const TABLES: u8 = 2;
const FAMILIES: [&str; 2] = ["f", "g"];
/// The first table's index.
const INDEX: &str = "by_number";
const ROWS: u8 = 12;
/// A row for unlogged writes. No check covers whether they survive.
const UNLOGGED_ROW: u8 = 200;

#[test]
fn every_history_ends_with_its_acknowledged_writes() {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
    let seeds = match number("ROWHOUSE_SEED") {
        Some(seed) => seed..seed + 1,
        None => 0..number("ROWHOUSE_HISTORIES").unwrap_or(HISTORIES),
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from) as u64;
    std::thread::scope(|scope| {
        for worker in 0..workers {
            let seeds = seeds.clone();
            scope.spawn(move || {
                for seed in seeds.filter(|seed| seed % workers == worker) {
                    let report = SeedReport(seed);
                    History::new(seed).run();
                    std::mem::forget(report);
                }
            });
        }
    });
}

#[test]
fn a_seed_gives_the_same_history_every_time() {
    for seed in 0..20 {
        let files = [(); 2].map(|()| History::new(seed).run());
        assert_eq!(files[0], files[1], "seed {seed}");
    }
}

/// Prints the seed when a history panics.
struct SeedReport(u64);

impl Drop for SeedReport {
    fn drop(&mut self) {
        eprintln!("failed: ROWHOUSE_SEED={}", self.0);
    }
}

/// A table, a row, a family.
type Place = (u8, u8, u8);
/// The number of the mutation that wrote each cell; absent cells have no entry.
type Cells = BTreeMap<Place, u64>;

/// A mutation, or several that apply atomically.
#[derive(Clone, Debug)]
struct Op {
    number: u64,
    /// The contents of each place after it; `None` for a delete.
    places: Vec<(Place, Option<u64>)>,
    outcome: Outcome,
    /// No other mutation leaves the same value in a place, so a found value shows whether this one
    /// is there.
    is_distinct: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// It is there, until a power cut.
    Written,
    /// It is there.
    Synced,
    /// It may or may not be there.
    Unknown,
}

struct History {
    seed: u64,
    random: Random,
    disk: SimulatedDisk,
    clock: Arc<AtomicI64>,
    boot: u8,
    store: Option<Store>,
    /// The disk contents at an earlier open.
    base: Cells,
    /// The mutations since then, in order.
    ops: Vec<Op>,
    /// The contents as readers see them now.
    seen: Cells,
    /// Open scans, each with the table and the expected cells.
    scans: Vec<(TableScanner, u8, Cells)>,
    /// The expected snapshot contents, by name.
    snapshots: BTreeMap<String, Held>,
    /// The disk at earlier points in time.
    moments: Vec<Moment>,
    /// Programs that follow the tables' changes, and outlive the store.
    followers: Vec<Follower>,
    next_number: u64,
    failing: bool,
    /// A write had an unknown outcome, so the visible contents are unknown.
    unsure: bool,
    /// The disk holds no usable store any more.
    over: bool,
}

impl History {
    fn new(seed: u64) -> Self {
        let mut random = Random::new(seed ^ 0x0005_1AE5_7A7E_0000);
        let disk = SimulatedDisk::seeded(random.next());
        Self {
            seed,
            random,
            disk,
            clock: Arc::default(),
            boot: 1,
            store: None,
            base: Cells::new(),
            ops: Vec::new(),
            seen: Cells::new(),
            scans: Vec::new(),
            snapshots: BTreeMap::new(),
            moments: Vec::new(),
            followers: Follower::all(seed),
            next_number: 1,
            failing: false,
            unsure: false,
            over: false,
        }
    }

    /// Runs the history. Returns the final disk contents.
    fn run(mut self) -> Vec<String> {
        self.open();
        let steps = 20 + self.random.below(60);
        for _ in 0..steps {
            self.step();
            if self.over {
                return Vec::new();
            }
            self.follow();
            if self.random.chance(20) {
                self.keep_moment();
            }
        }
        self.end_of_trouble();
        match self.random.below(3) {
            _ if self.over => {}
            0 => self.close(),
            1 => self.kill(),
            _ => self.power_cut(),
        }
        if !self.over {
            self.check_all_snapshots();
            self.build_indexes();
            self.check_followers();
            self.close();
        }
        if !self.over {
            self.mix_moments();
        }
        if !self.over && !self.disk.has_lost_pages() {
            let disk: Arc<dyn crate::Disk> = Arc::new(self.disk.clone());
            self.store.take().unwrap().close().unwrap();
            let report = check_disk(&disk, [self.boot; 16], |_| {}).unwrap();
            assert!(report.problems.is_empty(), "seed {}: {report:?}", self.seed);
        }
        self.disk
            .paths()
            .into_iter()
            .map(|path| format!("{path} {}", self.disk.file_len(&path).unwrap()))
            .filter(|line| !line.starts_with("MANIFEST"))
            .collect()
    }

    fn step(&mut self) {
        match self.random.below(100) {
            0..3 => self.write_unlogged(),
            3..55 => self.write(),
            55 => self.store().idle_by_hand(),
            56..62 => drop(self.store().work_by_hand()),
            62..67 => self.flush(),
            67 => self.reshape(),
            68..70 => self.compact(),
            70 if !self.failing => self.alter(),
            70 => self.reshape(),
            71 if !self.failing => self.replace_table(),
            71 => self.load(),
            72..74 => self.take_snapshot(),
            74 => self.delete_snapshot(),
            75 => self.load(),
            76 if !self.failing => self.restore(),
            76..79 => self.open_scan(),
            79..82 => self.read_scan(),
            82..86 => self.check_reads(),
            86..88 => self.close(),
            88..91 => self.kill(),
            91..94 => self.power_cut(),
            94..97 => self.begin_trouble(),
            _ => self.end_of_trouble(),
        }
    }

    /// Prints a step when a single seed is run.
    fn tell(&self, what: std::fmt::Arguments<'_>) {
        if std::env::var_os("ROWHOUSE_SEED").is_some() {
            eprintln!("{what}");
        }
    }

    fn store(&self) -> Store {
        self.store.clone().unwrap()
    }

    /// Returns the options for opening the store on a disk.
    fn builder(&mut self, disk: &SimulatedDisk) -> Builder {
        // Small files, which a compaction would soon reduce to one.
        let compaction = CompactionSettings {
            files_min: 2,
            ratio: 0.9,
            bytes_min: Some(0),
            ..CompactionSettings::default()
        };
        // A file is about 4,500 bytes long.
        let split = SplitSettings {
            automatic: self.seed % 2 == 1,
            first_bytes: 8_000,
            region_bytes_max: 12_000,
            regions_max: 8,
            ..SplitSettings::default()
        };
        let settings = Settings {
            compaction,
            split,
            wal_segment_bytes: 900,
            wal_bytes_max: 3000,
            disk_reserve_bytes: 4000,
            ..Settings::default()
        };
        Store::builder("simulated")
            .settings(settings)
            .with_clock(Ticks(Arc::clone(&self.clock)))
            .with_disk(disk.clone())
            .with_boot_id([self.boot; 16])
            .by_hand(self.random.next())
    }

    /// Opens the store on the disk as it is.
    fn open(&mut self) {
        let disk = self.disk.clone();
        match self.builder(&disk).open() {
            Ok(store) => {
                add_what_is_lost(&store);
                self.store = Some(store);
            }
            // The disk lost synced data: all the store can do is report it.
            Err(error) if self.disk.has_lost_pages() => {
                assert_eq!(error.kind(), ErrorKind::Corruption, "seed {}: {error}", self.seed);
                self.over = true;
            }
            Err(error) => panic!("seed {}: the store does not open: {error}", self.seed),
        }
    }

    fn write(&mut self) {
        self.clock.fetch_add(self.random.below(3) as i64 + 1, Ordering::Relaxed);
        let number = self.next_number;
        self.next_number += 1;
        let count = if self.random.chance(64) { 1 + self.random.below(4) } else { 1 };
        let durability = match self.random.below(6) {
            0 => Durability::FsyncWal,
            1 => Durability::SyncWal,
            2 => Durability::AsyncWal,
            _ => Durability::UseDefault,
        };
        let mut rows: Vec<(u8, u8)> = (0..count).map(|_| self.place()).collect();
        rows.sort_unstable();
        rows.dedup();
        let mut places = Vec::new();
        let mutations: Vec<(u8, Mutation)> = rows
            .into_iter()
            .map(|(table, row)| (table, self.mutation(table, row, number, durability, &mut places)))
            .collect();
        let store = self.store();
        let done = match &mutations[..] {
            [(table, mutation)] if self.random.chance(128) => {
                store.table(&name(*table)).unwrap().mutate(mutation).map(|_| ())
            }
            _ => {
                let placed: Vec<_> = mutations
                    .into_iter()
                    .map(|(table, mutation)| (store.table(&name(table)).unwrap(), mutation))
                    .collect();
                store.commit(&placed).map(|_| ())
            }
        };
        self.tell(format_args!("write {number} {durability:?} {places:?}: {done:?}"));
        let outcome = match done {
            Ok(()) if durability == Durability::FsyncWal => Outcome::Synced,
            Ok(()) => Outcome::Written,
            Err(error) => match self.refused(&error) {
                Some(outcome) => outcome,
                None => return,
            },
        };
        for (place, value) in &places {
            match value {
                Some(number) => drop(self.seen.insert(*place, *number)),
                None => drop(self.seen.remove(place)),
            }
        }
        self.ops.push(Op { number, places, outcome, is_distinct: true });
    }

    /// Writes unlogged cells, which may be lost, between logged ones.
    fn write_unlogged(&mut self) {
        let table = self.random.below(TABLES.into()) as u8;
        let family = FAMILIES[self.random.below(FAMILIES.len())];
        let mut put = Put::new(row_key(UNLOGGED_ROW)).unwrap().add(family, "q", "").unwrap();
        put.durability = Durability::SkipWal;
        let done = self.store().table(&name(table)).unwrap().mutate(&put.into());
        self.tell(format_args!("write without log {table} {family}: {done:?}"));
        if let Err(error) = done {
            self.refused(&error);
        }
    }

    /// Returns the outcome that an error implies: `None` when nothing was written.
    fn refused(&mut self, error: &Error) -> Option<Outcome> {
        assert!(self.failing, "seed {}: a write was refused: {error}", self.seed);
        match error.kind() {
            ErrorKind::OutcomeUnknown => {
                self.unsure = true;
                Some(Outcome::Unknown)
            }
            ErrorKind::Io | ErrorKind::ReadOnly | ErrorKind::RegionTooBusy => None,
            kind => panic!("seed {}: {kind:?}: {error}", self.seed),
        }
    }

    fn place(&mut self) -> (u8, u8) {
        (self.random.below(TABLES.into()) as u8, self.random.below(ROWS.into()) as u8)
    }

    fn mutation(
        &mut self,
        table: u8,
        row: u8,
        number: u64,
        durability: Durability,
        places: &mut Vec<(Place, Option<u64>)>,
    ) -> Mutation {
        if self.random.chance(40) {
            let mut delete = Delete::new(row_key(row)).unwrap();
            delete.durability = durability;
            places.extend([0, 1].map(|family| ((table, row, family), None)));
            return delete.into();
        }
        let families: &[u8] = match self.random.below(4) {
            0 => &[0],
            1 => &[1],
            _ => &[0, 1],
        };
        let mut put = Put::new(row_key(row)).unwrap();
        let longest = if self.random.chance(16) { 3000 } else { 40 };
        let padding = self.random.below(longest);
        for &family in families {
            let mut value = number.to_be_bytes().to_vec();
            value.resize(8 + padding, b'.');
            put = put.add(FAMILIES[usize::from(family)], "q", value).unwrap();
            places.push(((table, row, family), Some(number)));
        }
        put.durability = durability;
        put.into()
    }

    fn flush(&mut self) {
        let table = self.random.below(TABLES.into()) as u8;
        let flushed = self.store().table(&name(table)).unwrap().flush();
        self.tell(format_args!("flush {table}: {flushed:?}"));
        self.may_fail(flushed);
    }

    fn compact(&mut self) {
        let minor = self.random.chance(128);
        let kind = if minor { CompactionKind::Minor } else { CompactionKind::Major };
        let table = self.random.below(TABLES.into()) as u8;
        let compacted = self.store().table(&name(table)).unwrap().compact(kind);
        self.tell(format_args!("compact {table}: {compacted:?}"));
        self.may_fail(compacted);
    }

    /// Alters a table's families, or drops one and adds it again, empty.
    fn alter(&mut self) {
        let table = self.random.below(TABLES.into()) as u8;
        let store = self.store();
        if self.random.chance(128) {
            let versions = self.random.below(3) as u32 + 1;
            let family = FamilyDescriptor::new(FAMILIES[0]).unwrap().versions(versions);
            let altered = store.alter_family(&name(table), family);
            self.tell(format_args!("alter {table} to {versions} versions: {altered:?}"));
            self.may_fail(altered);
            return;
        }
        let dropped = store.drop_family(&name(table), FAMILIES[1].as_bytes());
        self.tell(format_args!("drop a family of {table}: {dropped:?}"));
        let outcome = match &dropped {
            Ok(()) => Outcome::Synced,
            Err(_) => Outcome::Unknown,
        };
        let places = (0..ROWS).map(|row| ((table, row, 1), None)).collect();
        let number = self.next_number;
        self.next_number += 1;
        self.ops.push(Op { number, places, outcome, is_distinct: true });
        if self.may_fail(dropped).is_some() {
            self.seen.retain(|place, _| (place.0, place.2) != (table, 1));
            let added = store.add_family(&name(table), FamilyDescriptor::new(FAMILIES[1]).unwrap());
            self.tell(format_args!("add it: {added:?}"));
            self.may_fail(added);
        }
    }

    fn may_fail<T>(&self, done: Result<T, Error>) -> Option<T> {
        match done {
            Ok(done) => Some(done),
            Err(error) => {
                assert!(self.failing, "seed {}: {error}", self.seed);
                None
            }
        }
    }

    fn open_scan(&mut self) {
        let table = self.random.below(TABLES.into()) as u8;
        let point = self.store().read_point();
        let scan = self.store().table(&name(table)).unwrap().scan_at(Scan::all(), &point);
        let seen = self.seen.clone();
        if let Some(scan) = self.may_fail(scan).filter(|_| !self.unsure) {
            self.scans.push((scan, table, seen));
        }
    }

    /// Reads a scan to the end: it must return the cells as they were when it was opened.
    fn read_scan(&mut self) {
        if self.scans.is_empty() {
            return;
        }
        let at = self.random.below(self.scans.len());
        let (mut scan, table, expected) = self.scans.swap_remove(at);
        let mut cells = Cells::new();
        loop {
            let row = match scan.next() {
                Ok(Some(row)) => row,
                Ok(None) => break,
                Err(error) => {
                    assert!(self.failing, "seed {}: {error}", self.seed);
                    return;
                }
            };
            let key = std::str::from_utf8(row.key()).unwrap().parse().unwrap();
            if key == UNLOGGED_ROW {
                continue;
            }
            for (family, value) in values(&row) {
                cells.insert((table, key, family), value);
            }
        }
        let expected: Cells = expected.into_iter().filter(|((of, _, _), _)| *of == table).collect();
        assert_eq!(cells, expected, "seed {}: a scan", self.seed);
    }

    fn check_reads(&mut self) {
        if let Some(cells) = self.read_all().filter(|_| !self.unsure) {
            assert_eq!(cells, self.seen, "seed {}: reads", self.seed);
        }
        self.check_indexes();
    }

    /// Does all pending work, after which the indexes are ready and right.
    fn build_indexes(&mut self) {
        while self.store().work_by_hand() {}
        for table in self.indexed() {
            let state = self.store().index_state(&table, INDEX).unwrap();
            assert!(state.is_ready(), "seed {}: {table}: {state}", self.seed);
        }
        self.check_indexes();
    }

    /// Returns the tables with an index: a table may be a clone of another one.
    fn indexed(&self) -> Vec<TableName> {
        let store = self.store();
        let has_index =
            |table: &TableName| store.table(table).unwrap().indexes().unwrap().is_some();
        (0..TABLES).map(name).filter(has_index).collect()
    }

    /// Checks that every row has entries, and every entry a row, where an index is ready.
    fn check_indexes(&self) {
        let store = self.store();
        for table in self.indexed() {
            let state = self.may_fail(store.index_state(&table, INDEX));
            if state.is_some_and(|state| state.is_ready()) {
                let report = self.may_fail(store.verify_index(&table, INDEX, |_| {}));
                let is_clean = report.is_none_or(|report| report.is_clean());
                assert!(is_clean, "seed {}: {table}: {report:?}", self.seed);
            }
        }
    }

    /// Returns every cell; `None` when the disk fails the reads.
    fn read_all(&self) -> Option<Cells> {
        let mut cells = Cells::new();
        for table in 0..TABLES {
            let open = self.store().table(&name(table)).unwrap();
            for row in 0..ROWS {
                let read = self.may_fail(open.get(&Get::new(row_key(row)).unwrap()))?;
                cells.extend(values(&read).map(|(family, value)| ((table, row, family), value)));
            }
        }
        Some(cells)
    }

    fn begin_trouble(&mut self) {
        self.failing = true;
        match self.random.below(6) {
            0 => self.disk.set_faults(Faults { write: 40, ..Faults::default() }),
            1 => self.disk.set_faults(Faults { sync: 40, ..Faults::default() }),
            2 => self.disk.set_faults(Faults { read: 20, ..Faults::default() }),
            3 => self.disk.set_faults(Faults { name: 60, ..Faults::default() }),
            4 => self.disk.set_faults(Faults { write: 10, sync: 10, read: 10, name: 10 }),
            _ => {
                let room = self.random.below(6000) as u64;
                self.disk.set_capacity(Some(self.disk.used_bytes() + room));
            }
        }
    }

    fn end_of_trouble(&mut self) {
        self.disk.set_faults(Faults::default());
        self.disk.set_capacity(None);
        // A failed sync has made the store read-only until it is reopened.
        if std::mem::take(&mut self.failing) {
            self.kill();
        }
    }

    /// Closes the store properly and reopens it.
    fn close(&mut self) {
        self.scans.clear();
        let store = self.store.take().unwrap();
        let closed = store.close();
        self.tell(format_args!("close: {closed:?}"));
        drop(store);
        if self.may_fail(closed).is_some() && !self.failing {
            let written = self.ops.iter_mut().filter(|op| op.outcome == Outcome::Written);
            written.for_each(|op| op.outcome = Outcome::Synced);
        }
        if self.random.chance(128) {
            self.keep_moment();
        }
        self.reopen(true);
    }

    fn kill(&mut self) {
        self.scans.clear();
        self.tell(format_args!("kill"));
        self.store.take().unwrap().abandon();
        self.disk = self.disk.after_kill();
        let has_power = self.interrupt_an_open();
        self.reopen(has_power);
    }

    /// Sometimes opens the store and stops the machine or the process meanwhile. Returns false if
    /// the power was cut.
    fn interrupt_an_open(&mut self) -> bool {
        if !self.random.chance(64) {
            return true;
        }
        self.disk.set_faults(Faults::default());
        self.disk.set_capacity(None);
        self.disk.fail_after(self.random.below(60) as u64);
        let disk = self.disk.clone();
        let opened = self.builder(&disk).open();
        self.tell(format_args!("interrupted open: {:?}", opened.as_ref().map(|_| ())));
        opened.into_iter().for_each(Store::abandon);
        if self.random.chance(128) {
            self.disk = self.disk.after_kill();
            return true;
        }
        self.cut_power();
        false
    }

    fn cut_power(&mut self) {
        self.disk = self.disk.after_power_cut(self.random.next());
        self.boot = self.boot.wrapping_add(1).max(1);
    }

    fn power_cut(&mut self) {
        self.scans.clear();
        let store = self.store.take().unwrap();
        // Sometimes in the middle of an operation.
        if self.random.chance(128) {
            self.disk.fail_after(self.random.below(12) as u64);
            self.failing = true;
            self.store = Some(store.clone());
            for _ in 0..4 {
                match self.random.below(10) {
                    5 => self.reshape(),
                    6 => self.take_snapshot(),
                    7 => self.delete_snapshot(),
                    8 => self.load(),
                    9 => {
                        // It is unknown whether the table exists and is enabled.
                        if self.random.chance(128) {
                            self.restore();
                        } else {
                            self.replace_table();
                        }
                        break;
                    }
                    0 => self.flush(),
                    1 => self.compact(),
                    2 => drop(self.store().work_by_hand()),
                    3 => {
                        // It is unknown whether the family exists.
                        self.alter();
                        break;
                    }
                    _ => self.write(),
                }
            }
            self.store = None;
        }
        store.abandon();
        self.tell(format_args!("power cut: {:?}", self.disk.paths()));
        self.cut_power();
        self.interrupt_an_open();
        self.reopen(false);
    }

    /// Opens the store and checks the contents against the acknowledged operations.
    fn reopen(&mut self, whole: bool) {
        self.failing = false;
        self.unsure = false;
        self.disk.set_faults(Faults::default());
        self.disk.set_capacity(None);
        self.tell(format_args!("left: {:?}", self.disk.paths()));
        self.open();
        if self.over {
            return;
        }
        self.check_snapshots();
        let cells = self.read_all().unwrap();
        let least = if whole { self.ops.len() } else { synced_ops(&self.ops) };
        let explained =
            (least..=self.ops.len()).any(|len| explains(&self.base, &self.ops[..len], &cells));
        assert!(
            explained || self.disk.has_lost_pages(),
            "seed {}: whole={whole} least={least}\nbase {:?}\nops {:#?}\nfound {cells:?}",
            self.seed,
            self.base,
            self.ops
        );
        if !self.disk.has_lost_pages() {
            self.check_atomic(&cells);
        }
        // A killed process has writes that are not on disk yet.
        let on_disk = !self.ops.iter().any(|op| op.outcome == Outcome::Written);
        if !whole || on_disk {
            self.base = cells.clone();
            self.ops.clear();
        }
        self.seen = cells;
    }

    /// Checks that no mutation is there in part: if a mutation is found, the other places it wrote
    /// hold it or a later one.
    fn check_atomic(&self, cells: &Cells) {
        for (at, op) in self.ops.iter().enumerate() {
            let is_there = |(place, value): &(Place, Option<u64>)| {
                value.is_some() && cells.get(place) == value.as_ref()
            };
            if !op.is_distinct || !op.places.iter().any(is_there) {
                continue;
            }
            for (place, value) in &op.places {
                let later = self.ops[at + 1..].iter().flat_map(|op| &op.places);
                let overwritten = later
                    .filter(|(touched, _)| touched == place)
                    .any(|(_, value)| cells.get(place) == value.as_ref());
                assert!(
                    cells.get(place) == value.as_ref() || overwritten,
                    "seed {}: half of mutation {} at {place:?}: {cells:?}",
                    self.seed,
                    op.number
                );
            }
        }
    }
}

/// Returns how many mutations there are up to the last one that is certainly on disk.
fn synced_ops(ops: &[Op]) -> usize {
    ops.iter().rposition(|op| op.outcome == Outcome::Synced).map_or(0, |last| last + 1)
}

/// Returns true if `cells` is the result of applying these mutations to `base`, where mutations
/// with an unknown outcome may be missing.
fn explains(base: &Cells, ops: &[Op], cells: &Cells) -> bool {
    let places = (0..TABLES)
        .flat_map(|table| (0..ROWS).flat_map(move |row| [0, 1].map(|family| (table, row, family))));
    places.into_iter().all(|place| {
        let mut possible = vec![base.get(&place).copied()];
        for op in ops {
            for (_, value) in op.places.iter().filter(|(touched, _)| *touched == place) {
                if op.outcome != Outcome::Unknown {
                    possible.clear();
                }
                possible.push(*value);
            }
        }
        possible.contains(&cells.get(&place).copied())
    })
}

/// Adds what interrupted table changes left out: tables, families, and the enabled table state.
fn add_what_is_lost(store: &Store) {
    for table in (0..TABLES).map(name) {
        let Ok(open) = store.table(&table) else {
            store.create_table(declared(&table), &[]).unwrap();
            continue;
        };
        if open.state() == TableState::Disabled {
            store.enable_table(&table).unwrap();
        }
        if open.descriptor().find_family(FAMILIES[1].as_bytes()).is_err() {
            let family = FamilyDescriptor::new(FAMILIES[1]).unwrap();
            store.add_family(&table, family).unwrap();
        }
    }
}

/// Returns a table. The first one has an index over the cells in the first family.
fn declared(table: &TableName) -> TableDescriptor {
    let families = FAMILIES.iter().fold(TableDescriptor::new(table.clone()), |table, name| {
        table.family(FamilyDescriptor::new(*name).unwrap())
    });
    if *table != name(0) {
        return families;
    }
    families
        .attribute(COLUMNS_ATTRIBUTE, "1 f:q number blob")
        .attribute(INDEXES_ATTRIBUTE, format!("1 {INDEX} [number]"))
}

/// Returns the numbers in a row's cells, by family.
fn values(row: &rowhouse_model::Row) -> impl Iterator<Item = (u8, u64)> {
    row.cells().map(|cell| {
        let family = FAMILIES.iter().position(|name| name.as_bytes() == cell.family()).unwrap();
        let number = u64::from_be_bytes(*cell.value().first_chunk().unwrap());
        (family as u8, number)
    })
}

fn name(table: u8) -> TableName {
    TableName::parse(&format!("t{table}")).unwrap()
}

fn row_key(row: u8) -> String {
    row.to_string()
}

/// A clock that the history moves.
struct Ticks(Arc<AtomicI64>);

impl Clock for Ticks {
    fn now_millis(&self) -> i64 {
        1_000_000 + self.0.load(Ordering::Relaxed)
    }
}
