//! Measures what table heat costs: `cargo bench -p rowhouse-store --bench heat`.
//!
//! Gets, puts and scanned rows of two stores, one of which keeps no heat. Short rounds alternate
//! between the stores; reported are the lower quartiles of the calling thread's CPU time, which
//! other load on the machine disturbs least. Requests come as fast as they can, so few are
//! recorded. What a recorded one costs is measured by bursts that are short enough for all requests
//! to be recorded.

#![expect(clippy::unwrap_used, reason = "a bench that cannot continue fails")]

use std::sync::Arc;
use std::time::Duration;

use rowhouse_model::{
    Bytes, Durability, FamilyDescriptor, Get, Mutation, Put, RowRange, Scan, TableDescriptor,
    TableName,
};
use rowhouse_store::{CompactionSettings, Settings, Store, Table, thread_cpu_time};

const ROWS: u64 = 10_000;
/// Requests of a round, and of a burst, of which all are recorded.
const ROUND: u64 = 1000;
const BURST: u64 = 300;
const ROUNDS: usize = 400;
const BURSTS: usize = 40;
/// Put rounds between two flushes.
const ROUNDS_IN_MEMORY: usize = 10;
/// Longer than a window for the recorded request rate.
const PAUSE: Duration = Duration::from_millis(110);

fn main() {
    let stores = [true, false].map(Measured::open);
    compare("get", ROUNDS, &stores, |it, round| it.get(round, ROUND));
    compare("get of a missing row", ROUNDS, &stores, Measured::get_missing);
    compare("put, without the log", ROUNDS, &stores, |it, round| {
        it.put(round, ROUND, Durability::SkipWal)
    });
    compare("put", ROUNDS, &stores, |it, round| it.put(round, ROUND, Durability::AsyncWal));
    compare("put in a batch of 100", ROUNDS, &stores, Measured::put_batch);
    compare("scanned row", ROUNDS, &stores, |it, round| scan(&it.table, round));
    compare("scanned row of 10 columns", ROUNDS, &stores, |it, round| scan(&it.wide, round));
    compare("scan of one row", ROUNDS, &stores, Measured::scan_one);
    compare("get, all recorded", BURSTS, &stores, |it, round| {
        std::thread::sleep(PAUSE);
        it.get(round, BURST)
    });
    compare("put without the log, all recorded", BURSTS, &stores, |it, round| {
        std::thread::sleep(PAUSE);
        it.put(round, BURST, Durability::SkipWal)
    });
}

struct Measured {
    _dir: tempfile::TempDir,
    _store: Store,
    table: Arc<Table>,
    wide: Arc<Table>,
    /// The table for puts.
    written: Arc<Table>,
}

/// Returns a row key; neighbouring numbers are far apart.
fn row(number: u64) -> String {
    format!("row{:08}", number * 7919 % ROWS)
}

fn put_of(number: u64, columns: u64) -> Put {
    let put = Put::new(row(number)).unwrap();
    (0..columns).fold(put, |put, column| put.add("f", format!("q{column}"), [b'v'; 100]).unwrap())
}

fn of(mut put: Put, durability: Durability) -> Mutation {
    put.durability = durability;
    put.into()
}

impl Measured {
    fn open(heat: bool) -> Self {
        let dir = tempfile::tempdir().unwrap();
        // Flushes and compactions happen between the rounds, or not at all.
        let compaction = CompactionSettings {
            files_min: usize::MAX,
            files_blocking: usize::MAX,
            ..CompactionSettings::default()
        };
        let settings = Settings {
            heat,
            compaction,
            memstore_flush_bytes: 1 << 30,
            memstore_bytes_max: 4 << 30,
            ..Settings::default()
        };
        let store = Store::builder(dir.path()).settings(settings).open().unwrap();
        let [table, wide, written] =
            [("t", 1), ("wide", 10), ("written", 1)].map(|(name, columns)| {
                let name = TableName::parse(name).unwrap();
                let family = FamilyDescriptor::new("f").unwrap();
                store.create_table(TableDescriptor::new(name.clone()).family(family), &[]).unwrap();
                let table = store.table(&name).unwrap();
                for number in 0..ROWS {
                    table.mutate(&put_of(number, columns).into()).unwrap();
                }
                table.flush().unwrap();
                table
            });
        Self { _dir: dir, _store: store, table, wide, written }
    }

    fn get(&self, round: usize, times: u64) -> f64 {
        let get = |number| Get::new(row(number)).unwrap();
        let gets: Vec<Get> = numbers(round, times).map(get).collect();
        nanos_each(times, || {
            for get in &gets {
                assert_eq!(self.table.get(get).unwrap().len(), 1);
            }
        })
    }

    fn get_missing(&self, round: usize) -> f64 {
        let missing = |number| Get::new(format!("{}x", row(number))).unwrap();
        let gets: Vec<Get> = numbers(round, ROUND).map(missing).collect();
        nanos_each(ROUND, || {
            for get in &gets {
                assert!(self.table.get(get).unwrap().is_empty());
            }
        })
    }

    fn put(&self, round: usize, times: u64, durability: Durability) -> f64 {
        let put = |number| of(put_of(number, 1), durability);
        let puts: Vec<Mutation> = numbers(round, times).map(put).collect();
        self.begin_round(round);
        nanos_each(times, || {
            puts.iter().for_each(|put| drop(self.written.mutate(put).unwrap()));
        })
    }

    /// Keeps the memstore small.
    fn begin_round(&self, round: usize) {
        if round.is_multiple_of(ROUNDS_IN_MEMORY) {
            self.written.flush().unwrap();
        }
    }

    fn put_batch(&self, round: usize) -> f64 {
        let put = |number| put_of(number, 1).into();
        let puts: Vec<Mutation> = numbers(round, ROUND).map(put).collect();
        let batches: Vec<_> = puts.chunks(100).map(<[Mutation]>::to_vec).collect();
        self.begin_round(round);
        nanos_each(ROUND, || {
            for batch in batches {
                assert!(self.written.batch(batch).iter().all(Result::is_ok));
            }
        })
    }

    fn scan_one(&self, round: usize) -> f64 {
        let scan = |number| Scan::new(RowRange::new(row(number), Bytes::new())).limit(1);
        let scans: Vec<Scan> = numbers(round, ROUND).map(scan).collect();
        nanos_each(ROUND, || {
            for scan in scans {
                assert!(self.table.scan(scan).unwrap().next().unwrap().is_some());
            }
        })
    }
}

/// Returns the numbers of the rows in a round.
fn numbers(round: usize, times: u64) -> std::ops::Range<u64> {
    let first = round as u64 * times;
    first..first + times
}

/// Scans a tenth of a table.
fn scan(table: &Arc<Table>, round: usize) -> f64 {
    let from = format!("row{:08}", round as u64 % 10 * ROUND);
    let scan = Scan::new(RowRange::new(from, Bytes::new())).limit(ROUND);
    nanos_each(ROUND, || {
        let mut scanner = table.scan(scan).unwrap();
        scanner.begin_call();
        let mut rows = 0;
        while scanner.next().unwrap().is_some() {
            rows += 1;
        }
        assert_eq!(rows, ROUND);
    })
}

fn nanos_each(times: u64, act: impl FnOnce()) -> f64 {
    let started = thread_cpu_time();
    act();
    (thread_cpu_time() - started).as_secs_f64() * 1e9 / times as f64
}

fn compare(
    name: &str,
    rounds: usize,
    stores: &[Measured; 2],
    measure: impl Fn(&Measured, usize) -> f64,
) {
    let mut nanos = [Vec::new(), Vec::new()];
    for round in 0..rounds {
        for turn in 0..2 {
            let store = (round + turn) % 2;
            nanos[store].push(measure(&stores[store], round));
        }
    }
    let [with, without] = nanos.map(lower_quartile);
    let more = with - without;
    println!("{name}: {with:.1} ns CPU with heat, {without:.1} without, difference {more:+.1}");
}

fn lower_quartile(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 4]
}
