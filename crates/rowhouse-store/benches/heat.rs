//! Measures what the heat of tables costs: `cargo bench -p rowhouse-store --bench heat`.
//!
//! Gets, puts and scanned rows of two stores, one of which keeps no heat. Rounds alternate between
//! the stores; reported are the median of each, and the median of the differences of neighbouring
//! rounds. Requests come as fast as they can, so few are recorded; the cost of one that is recorded
//! is measured apart, as that of a get at a rate at which all are recorded.

#![expect(clippy::unwrap_used, reason = "a bench that cannot continue fails")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use rowhouse_model::{
    Bytes, Durability, FamilyDescriptor, Get, Mutation, Put, RowRange, Scan, TableDescriptor,
    TableName,
};
use rowhouse_store::{Settings, Store, Table};

const ROWS: u64 = 100_000;
const ROUNDS: usize = 31;

fn main() {
    let stores = [true, false].map(Measured::open);
    compare("get", &stores, Measured::get);
    compare("get of a missing row", &stores, Measured::get_missing);
    compare("put, without the log", &stores, |it| it.put(Durability::SkipWal));
    compare("put", &stores, |it| it.put(Durability::AsyncWal));
    compare("put of a batch of 100", &stores, Measured::put_batch);
    compare("scanned row", &stores, Measured::scan);
    compare("scanned row of 10 columns", &stores, Measured::scan_wide);
    compare("scan of one row", &stores, Measured::scan_one);
    compare("get, 1,000 per second", &stores, Measured::get_slowly);
}

struct Measured {
    _dir: tempfile::TempDir,
    _store: Store,
    table: Arc<Table>,
    wide: Arc<Table>,
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
        let settings = Settings {
            heat,
            memstore_flush_bytes: 2 << 30,
            memstore_bytes_max: 8 << 30,
            ..Settings::default()
        };
        let store = Store::builder(dir.path()).settings(settings).open().unwrap();
        let [table, wide] = [("t", 1), ("wide", 10)].map(|(name, columns)| {
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
        Self { _dir: dir, _store: store, table, wide }
    }

    fn get(&self) -> f64 {
        let gets: Vec<Get> = (0..ROWS).map(|number| Get::new(row(number)).unwrap()).collect();
        nanos_each(ROWS, || {
            for get in &gets {
                assert_eq!(self.table.get(get).unwrap().len(), 1);
            }
        })
    }

    fn get_missing(&self) -> f64 {
        let missing = |number| Get::new(format!("{}x", row(number))).unwrap();
        let gets: Vec<Get> = (0..ROWS).map(missing).collect();
        nanos_each(ROWS, || {
            gets.iter().for_each(|get| assert!(self.table.get(get).unwrap().is_empty()))
        })
    }

    fn get_slowly(&self) -> f64 {
        let gets: Vec<Get> = (0..200).map(|number| Get::new(row(number)).unwrap()).collect();
        let mut took = Duration::ZERO;
        let mut next = Instant::now();
        for get in &gets {
            while Instant::now() < next {
                std::hint::spin_loop();
            }
            let begun = Instant::now();
            self.table.get(get).unwrap();
            took += begun.elapsed();
            next += Duration::from_millis(1);
        }
        took.as_secs_f64() * 1e9 / gets.len() as f64
    }

    fn put(&self, durability: Durability) -> f64 {
        let puts = (0..ROWS).map(|number| put_of(number, 1));
        let puts: Vec<Mutation> = puts.map(|put| of(put, durability)).collect();
        let nanos = nanos_each(ROWS, || {
            puts.iter().for_each(|put| drop(self.table.mutate(put).unwrap()));
        });
        self.table.flush().unwrap();
        nanos
    }

    fn put_batch(&self) -> f64 {
        let puts = (0..ROWS).map(|number| put_of(number, 1).into());
        let puts: Vec<Mutation> = puts.collect();
        let batches: Vec<_> = puts.chunks(100).map(<[Mutation]>::to_vec).collect();
        let nanos = nanos_each(ROWS, || {
            for batch in batches {
                assert!(self.table.batch(batch).iter().all(Result::is_ok));
            }
        });
        self.table.flush().unwrap();
        nanos
    }

    fn scan(&self) -> f64 {
        scan(&self.table)
    }

    fn scan_wide(&self) -> f64 {
        scan(&self.wide)
    }

    fn scan_one(&self) -> f64 {
        let scans = 20_000;
        let scan = |number| Scan::new(RowRange::new(row(number), Bytes::new())).limit(1);
        let scans_of: Vec<Scan> = (0..scans).map(scan).collect();
        nanos_each(scans, || {
            for scan in scans_of {
                assert!(self.table.scan(scan).unwrap().next().unwrap().is_some());
            }
        })
    }
}

fn scan(table: &Arc<Table>) -> f64 {
    nanos_each(ROWS, || {
        let mut scanner = table.scan(Scan::all()).unwrap();
        scanner.begin_call();
        let mut rows = 0;
        while scanner.next().unwrap().is_some() {
            rows += 1;
        }
        assert_eq!(rows, ROWS);
    })
}

fn nanos_each(times: u64, act: impl FnOnce()) -> f64 {
    let begun = Instant::now();
    act();
    begun.elapsed().as_secs_f64() * 1e9 / times as f64
}

fn compare(name: &str, stores: &[Measured; 2], measure: impl Fn(&Measured) -> f64) {
    // Caches, and the rate of recorded requests.
    stores.iter().for_each(|store| drop(measure(store)));
    let rounds = if name.contains("put") || name.contains("second") { ROUNDS / 3 } else { ROUNDS };
    let (mut on, mut off, mut more) = (Vec::new(), Vec::new(), Vec::new());
    for round in 0..rounds {
        let [with, without] = match round % 2 {
            0 => stores.each_ref().map(&measure),
            _ => {
                let without = measure(&stores[1]);
                [measure(&stores[0]), without]
            }
        };
        on.push(with);
        off.push(without);
        more.push(with - without);
    }
    let [on, off, more] = [on, off, more].map(median);
    println!("{name}: {on:.1} ns with heat, {off:.1} without, difference {more:+.1}");
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}
