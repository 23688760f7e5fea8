//! Counters of BUFFERED families under kills and power cuts (decision 0086).

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rowhouse_model::{
    CompareOperator, Condition, Delete, FamilyDescriptor, Get, Increment, Mutation, Nonce, Put,
    RowCondition, TableDescriptor, Timestamp,
};

use super::name;
use crate::disk::simulated::{Random, SimulatedDisk};
use crate::{Settings, Store, Table, flush};

const ROWS: usize = 4;
const COUNTERS: [(&str, &str); 2] = [("n", "a"), ("m", "b")];
/// The period of the counters' families.
const PERIOD: Duration = Duration::from_secs(1);

fn open(disk: &SimulatedDisk, boot: u8, seed: u64) -> Store {
    let settings = Settings { wal_segment_bytes: 600, ..Settings::default() };
    let builder = Store::builder("simulated").settings(settings).with_disk(disk.clone());
    builder.with_boot_id([boot; 16]).by_hand(seed).open().unwrap()
}

/// Creates a table with two families of counters and a plain one.
fn create(store: &Store) {
    let family = |name: &'static str| FamilyDescriptor::new(name).unwrap();
    let buffered = |name| family(name).attribute("BUFFERED", "1s");
    let table = TableDescriptor::new(name());
    let table = table.family(buffered("n")).family(buffered("m")).family(family("d"));
    store.create_table(table, &[]).unwrap();
}

fn table(store: &Store) -> Arc<Table> {
    store.table(&name()).unwrap()
}

fn key(row: usize) -> String {
    format!("row{row}")
}

fn increment(row: usize, counters: &[usize], by: i64) -> Increment {
    let counters = counters.iter().map(|nth| COUNTERS[*nth]);
    counters.fold(Increment::new(key(row)).unwrap(), |increment, (family, qualifier)| {
        increment.add(family, qualifier, by).unwrap()
    })
}

fn number(value: Option<bytes::Bytes>) -> Option<i64> {
    value.map(|value| i64::from_be_bytes(value[..].try_into().unwrap()))
}

/// Logs the counters that are due some time from now.
fn tick(store: &Store, after: Duration) {
    flush::log_due_counters(store.engine(), Instant::now() + after).unwrap();
}

fn flush_family(store: &Store, family: &str) {
    table(store).regions()[0].flush_family(family.as_bytes()).unwrap();
}

fn compact_memory(store: &Store) {
    let table = table(store);
    for family in table.regions()[0].families() {
        flush::compact_memory(store.engine(), family).unwrap();
    }
}

/// The values of a row.
type Counters = [Option<i64>; 2];

/// Returns a row's counters, and what its last logged mutation has seen of them.
fn read(store: &Store, row: usize) -> (Counters, Option<i64>) {
    let found = table(store).get(&Get::new(key(row)).unwrap()).unwrap();
    let counters = COUNTERS.map(|(family, qualifier)| number(found.value(family, qualifier)));
    (counters, number(found.value("d", "seen")))
}

/// A history and what must be there after a kill.
struct History {
    random: Random,
    store: Store,
    now: [Counters; ROWS],
    logged: [Counters; ROWS],
    seen: [Option<i64>; ROWS],
}

impl History {
    fn new(seed: u64, disk: &SimulatedDisk) -> Self {
        let store = open(disk, 1, seed);
        create(&store);
        let none = [[None; 2]; ROWS];
        Self { random: Random::new(seed), store, now: none, logged: none, seen: [None; ROWS] }
    }

    fn row(&mut self) -> usize {
        self.random.below(ROWS)
    }

    fn log_row(&mut self, row: usize) {
        self.logged[row] = self.now[row];
    }

    /// A put that notes the value of the row's first counter.
    fn put_seen(&mut self, row: usize, seen: i64) -> Put {
        self.seen[row] = Some(seen);
        Put::new(key(row)).unwrap().add("d", "seen", seen.to_be_bytes()).unwrap()
    }

    /// Returns a condition that holds for a row, and the value of its first counter.
    fn condition(&self, row: usize) -> (Condition, i64) {
        let condition = match self.now[row][0] {
            Some(value) => {
                Condition::value("n", "a", CompareOperator::Equal, value.to_be_bytes().to_vec())
            }
            None => Condition::no_value("n", "a"),
        };
        (condition, self.now[row][0].unwrap_or(0))
    }

    fn step(&mut self) {
        let table = table(&self.store);
        let row = self.row();
        match self.random.below(16) {
            0..=6 => {
                let counters: &[usize] = [&[0][..], &[1], &[0, 1]][self.random.below(3)];
                let by = 1 + self.random.below(5) as i64;
                let outcome = table.mutate(&increment(row, counters, by).into()).unwrap();
                for nth in counters {
                    let value = self.now[row][*nth].unwrap_or(0) + by;
                    self.now[row][*nth] = Some(value);
                    let (family, qualifier) = COUNTERS[*nth];
                    assert_eq!(number(outcome.row.value(family, qualifier)), Some(value));
                }
            }
            7 | 8 => {
                let (condition, value) = self.condition(row);
                let put = self.put_seen(row, value);
                assert!(table.mutate_if(&condition, &put.into()).unwrap().is_some());
                self.log_row(row);
            }
            9 => {
                let other = self.row();
                let (condition, value) = self.condition(other);
                let conditions = [RowCondition { row: key(other).into(), condition }];
                // An increment depends on the other row as a put does.
                let change: Mutation = if self.random.chance(128) {
                    self.now[row][1] = Some(self.now[row][1].unwrap_or(0) + 1);
                    increment(row, &[1], 1).into()
                } else {
                    self.put_seen(row, value).into()
                };
                let is_logged = row != other || matches!(change, Mutation::Put(_));
                let applied = table.regions()[0].mutate_rows(&conditions, &[change]).unwrap();
                assert!(applied.is_some());
                if is_logged {
                    self.log_row(row);
                    self.log_row(other);
                }
            }
            10 => {
                let other = self.row();
                let (_, value) = self.condition(other);
                let put = self.put_seen(row, value);
                let run = |transaction: &mut crate::Transaction| {
                    let found = transaction.get(&table, &Get::new(key(other)).unwrap())?;
                    assert_eq!(number(found.value("n", "a")).unwrap_or(0), value);
                    transaction.mutate(&table, put.clone()).map(|_| ())
                };
                self.store.transact(run).unwrap();
                self.log_row(row);
                self.log_row(other);
            }
            11 => {
                let mut delete = Delete::new(key(row)).unwrap();
                if self.random.chance(128) {
                    delete = delete.column("n", "a", Timestamp::LATEST).unwrap();
                    self.now[row][0] = None;
                } else {
                    self.now[row] = [None; 2];
                    self.seen[row] = None;
                }
                table.mutate(&delete.into()).unwrap();
                self.log_row(row);
            }
            12 => {
                flush_family(&self.store, ["n", "m", "d"][self.random.below(3)]);
                self.logged = self.now;
            }
            13 => compact_memory(&self.store),
            14 => while self.store.work_by_hand() {},
            _ => {
                tick(&self.store, PERIOD);
                self.logged = self.now;
            }
        }
    }

    fn check(&self) {
        for row in 0..ROWS {
            assert_eq!(read(&self.store, row), (self.now[row], self.seen[row]), "row {row}");
        }
    }
}

#[test]
fn a_kill_loses_the_increments_since_the_last_log_record_of_their_row_and_no_others() {
    for seed in 0..120 {
        let mut disk = SimulatedDisk::seeded(seed);
        let mut history = History::new(seed, &disk);
        for life in 1..=3 {
            for _ in 0..40 {
                history.step();
            }
            history.check();
            let killed = disk.after_kill();
            history.store.clone().abandon();
            disk = killed;
            history.store = open(&disk, 1, seed + 1000 * life);
            history.now = history.logged;
            history.check();
        }
    }
}

#[test]
fn a_counter_is_never_older_than_a_mutation_of_its_row_that_survives_a_power_cut() {
    for seed in 0..200 {
        let disk = SimulatedDisk::seeded(seed);
        let store = open(&disk, 1, seed);
        create(&store);
        let mut random = Random::new(seed);
        let mut values = [0i64; ROWS];
        for _ in 0..60 {
            let row = random.below(ROWS);
            match random.below(8) {
                0..=4 => {
                    let by = increment(row, &[0, 1], 1);
                    table(&store).mutate(&by.into()).unwrap();
                    values[row] += 1;
                }
                5 => {
                    let value = values[row].to_be_bytes().to_vec();
                    let put = Put::new(key(row)).unwrap().add("d", "seen", value).unwrap();
                    table(&store).mutate(&put.into()).unwrap();
                }
                6 => flush_family(&store, ["n", "m", "d"][random.below(3)]),
                _ => {
                    store.work_by_hand();
                }
            }
        }
        let cut = disk.after_power_cut(seed);
        store.abandon();
        let store = open(&cut, 2, seed);
        for (row, value) in values.into_iter().enumerate() {
            let ([a, b], seen) = read(&store, row);
            assert_eq!(a, b, "seed {seed}: half an increment");
            assert!(a.unwrap_or(0) >= seen.unwrap_or(0), "seed {seed}: {a:?} {seen:?}");
            assert!(a.unwrap_or(0) <= value);
        }
    }
}

#[test]
fn a_kill_loses_at_most_the_increments_of_a_period() {
    const EACH: i64 = 50;
    let disk = SimulatedDisk::default();
    let store = open(&disk, 1, 1);
    create(&store);
    let mut lost_most = 0;
    for period in 1..=20 {
        for nth in 0..EACH {
            table(&store).mutate(&increment(0, &[0], 1).into()).unwrap();
            let killed = open(&disk.after_kill(), 1, 2);
            let value = read(&killed, 0).0[0].unwrap_or(0);
            let lost = (period - 1) * EACH + nth + 1 - value;
            assert!((0..=EACH).contains(&lost), "{lost} of {period} periods");
            lost_most = lost_most.max(lost);
            killed.abandon();
        }
        // Nothing is due before the period ends.
        tick(&store, PERIOD / 2);
        let killed = open(&disk.after_kill(), 1, 2);
        assert_eq!(read(&killed, 0).0[0].unwrap_or(0), (period - 1) * EACH);
        killed.abandon();
        tick(&store, PERIOD);
    }
    assert_eq!(lost_most, EACH);
    store.abandon();
}

#[test]
fn a_region_logs_its_counters_before_the_period_after_many_increments() {
    let disk = SimulatedDisk::default();
    let store = open(&disk, 1, 1);
    create(&store);
    let mut increments = 0;
    while store.engine().counters.next_due().is_none_or(|due| due > Instant::now()) {
        table(&store).mutate(&increment(0, &[0], 1).into()).unwrap();
        increments += 1;
    }
    assert!(increments <= 10_000);
    tick(&store, Duration::ZERO);
    assert!(store.engine().counters.is_empty());
    assert_eq!(store.engine().counters.next_due(), None, "no timer is left");
    store.abandon();
}

#[test]
fn an_increment_repeated_after_a_kill_counts_once() {
    let disk = SimulatedDisk::default();
    let store = open(&disk, 1, 1);
    create(&store);
    let mut named = increment(0, &[0], 1);
    named.nonce = Some(Nonce { group: 1, number: 7 });
    let named: Mutation = named.into();
    table(&store).mutate(&named).unwrap();
    table(&store).mutate(&increment(0, &[0], 1).into()).unwrap();
    tick(&store, PERIOD);
    let killed = open(&disk.after_kill(), 1, 2);
    table(&killed).mutate(&named).unwrap();
    assert_eq!(read(&killed, 0).0[0], Some(2));
    killed.abandon();
    store.abandon();
}

#[test]
fn increments_that_ask_for_the_log_and_all_other_mutations_are_logged_at_once() {
    let disk = SimulatedDisk::default();
    let store = open(&disk, 1, 1);
    create(&store);
    let after_kill = |row| {
        let killed = open(&disk.after_kill(), 1, 2);
        let counters = read(&killed, row).0;
        killed.abandon();
        counters
    };
    table(&store).mutate(&increment(0, &[0], 1).into()).unwrap();
    assert_eq!(after_kill(0), [None; 2]);
    let mut logged = increment(0, &[1], 1);
    logged.durability = rowhouse_model::Durability::SyncWal;
    table(&store).mutate(&logged.into()).unwrap();
    assert_eq!(after_kill(0), [Some(1), Some(1)]);
    // An atomic increment of two rows survives as a whole.
    let both = [increment(1, &[0], 1).into(), increment(2, &[0], 1).into()];
    table(&store).regions()[0].mutate_rows(&[], &both).unwrap();
    assert_eq!((after_kill(1)[0], after_kill(2)[0]), (Some(1), Some(1)));
    store.abandon();
}

#[test]
fn counters_survive_a_close_a_disabled_table_a_split_and_a_snapshot() {
    type Act = fn(&Store);
    let acts: [Act; 5] = [
        |store| store.close().unwrap(),
        |store| {
            store.disable_table(&name()).unwrap();
            store.enable_table(&name()).unwrap();
        },
        |store| {
            let region = table(store).regions()[0].name().full.clone();
            store.split_region(&region, Some("row2".into())).unwrap();
        },
        |store| {
            let snapshot = rowhouse_model::Snapshot::new("s", name()).unwrap();
            store.take_snapshot(snapshot).unwrap();
        },
        |store| {
            let region = table(store).regions()[0].name().full.clone();
            store.move_region(&region, 1).unwrap();
        },
    ];
    for (nth, act) in acts.into_iter().enumerate() {
        let disk = SimulatedDisk::default();
        let store = open(&disk, 1, 1);
        create(&store);
        (0..ROWS).for_each(|row| {
            table(&store).mutate(&increment(row, &[0, 1], 3).into()).unwrap();
        });
        act(&store);
        let killed = open(&disk.after_kill(), 1, 2);
        for row in 0..ROWS {
            assert_eq!(read(&killed, row).0, [Some(3); 2], "act {nth}");
        }
        assert!(store.engine().counters.is_empty());
        killed.abandon();
    }
}

#[test]
fn a_dropped_table_takes_its_unlogged_counters_along() {
    let disk = SimulatedDisk::default();
    let store = open(&disk, 1, 1);
    create(&store);
    table(&store).mutate(&increment(0, &[0, 1], 3).into()).unwrap();
    store.drop_family(&name(), b"m").unwrap();
    table(&store).mutate(&increment(0, &[0], 3).into()).unwrap();
    let region = table(&store).regions()[0].name().full.clone();
    store.truncate_region(&region).unwrap();
    assert!(store.engine().counters.is_empty());
    let killed = open(&disk.after_kill(), 1, 2);
    assert_eq!(read(&killed, 0).0, [None; 2]);
    killed.abandon();
    store.abandon();
}

#[test]
fn increments_are_refused_once_the_log_refuses_their_values() {
    let disk = SimulatedDisk::default();
    let store = open(&disk, 1, 1);
    create(&store);
    table(&store).mutate(&increment(0, &[0], 1).into()).unwrap();
    disk.fail_after(0);
    assert!(flush::log_due_counters(store.engine(), Instant::now() + PERIOD).is_err());
    assert!(table(&store).mutate(&increment(1, &[0], 1).into()).is_err());
    assert_eq!(read(&store, 0).0[0], Some(1), "what was acknowledged stays readable");
    store.abandon();
}

#[test]
fn compaction_in_memory_leaves_one_cell_a_counter_and_earlier_read_points_see_theirs() {
    let disk = SimulatedDisk::default();
    let store = open(&disk, 1, 1);
    create(&store);
    let table = table(&store);
    let mut expected = BTreeMap::new();
    let mut points = Vec::new();
    for nth in 0..40_000usize {
        let row = nth % ROWS;
        table.mutate(&increment(row, &[0], 1).into()).unwrap();
        *expected.entry(row).or_insert(0) += 1;
        if nth % 4_999 == 0 {
            points.push((store.read_point(), expected.clone()));
        }
        if nth % 100 == 0 {
            while store.work_by_hand() {}
        }
    }
    let family = &table.regions()[0].families()[2];
    assert_eq!(&family.name()[..], b"n");
    assert!(family.memstore_bytes() < 3 << 20, "{}", family.memstore_bytes());
    assert_eq!(family.super_version().files.len(), 0, "nothing was flushed");
    for (point, expected) in points {
        for (row, value) in expected {
            let found = table.get_at(&Get::new(key(row)).unwrap(), &point).unwrap();
            assert_eq!(number(found.value("n", "a")), Some(value));
        }
    }
    flush::compact_memory(store.engine(), family).unwrap();
    let cells: u64 = {
        let all = rowhouse_model::RowRange::all();
        family.super_version().frozen.iter().map(|memstore| memstore.estimate(&all, 1000).0).sum()
    };
    assert_eq!(cells, ROWS as u64);
    store.abandon();
}
