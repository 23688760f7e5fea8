//! A search for partially visible mutations: writers write batches over two tables during flushes
//! and compactions, and readers with a read point must see each batch whole, and none that is older
//! than one seen before.
//!
//! ```text
//! ROWHOUSE_HUNT_SECONDS=600 cargo test -p rowhouse-store --release --test all torn_batches::
//! ```

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use rowhouse_model::{FamilyDescriptor, Get, Mutation, Put, Scan, TableDescriptor, TableName};
use rowhouse_store::{CompactionKind, Settings, Store, Table};

const SECONDS: u64 = 30;
const WRITERS: u64 = 2;
const READERS: u64 = 4;
/// Rows that every batch writes, in each table.
const ROWS: u64 = 8;

#[test]
fn no_reader_ever_sees_half_a_batch() {
    let seconds = std::env::var("ROWHOUSE_HUNT_SECONDS");
    let seconds = seconds.map_or(SECONDS, |text| text.parse().unwrap());
    let dir = tempfile::tempdir().unwrap();
    let settings = Settings { memstore_flush_bytes: 256 << 10, ..Settings::default() };
    let store = Store::builder(dir.path()).settings(settings).open().unwrap();
    for name in ["a", "b"] {
        let families = ["f", "g"].map(|name| FamilyDescriptor::new(name).unwrap());
        let name = TableName::parse(name).unwrap();
        let table = families.into_iter().fold(TableDescriptor::new(name), TableDescriptor::family);
        store.create_table(table, &["0-4".into()]).unwrap();
    }
    let stop = AtomicBool::new(false);
    let batches = AtomicU64::new(0);
    let looks = AtomicU64::new(0);
    std::thread::scope(|scope| {
        let store = &store;
        let stop = &stop;
        let batches = &batches;
        let looks = &looks;
        for writer in 0..WRITERS {
            scope.spawn(move || {
                for number in 1u64.. {
                    if stop.load(Ordering::Relaxed) {
                        return;
                    }
                    store.commit(&batch(store, writer, number)).unwrap();
                    batches.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        scope.spawn(move || {
            while !stop.load(Ordering::Relaxed) {
                for name in ["a", "b"] {
                    table(store, name).flush().unwrap();
                    table(store, name).compact(CompactionKind::Minor).unwrap();
                    std::thread::sleep(Duration::from_millis(20));
                    table(store, name).compact(CompactionKind::Major).unwrap();
                }
            }
        });
        for reader in 0..READERS {
            scope.spawn(move || {
                let mut last = [0; WRITERS as usize];
                while !stop.load(Ordering::Relaxed) {
                    let seen =
                        if reader % 2 == 0 { look_by_scans(store) } else { look_by_gets(store) };
                    for (writer, number) in seen.into_iter().enumerate() {
                        assert!(last[writer] <= number, "batch {number} behind {}", last[writer]);
                        last[writer] = number;
                    }
                    looks.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        // A failing reader ends its thread, and this scope then panics.
        std::thread::sleep(Duration::from_secs(seconds));
        stop.store(true, Ordering::Relaxed);
    });
    let batches = batches.into_inner();
    let looks = looks.into_inner();
    println!("{seconds} s: {batches} batches, {looks} looks, none torn");
    assert!(batches > 0 && looks > 0);
}

fn table(store: &Store, name: &str) -> Arc<Table> {
    store.table(&TableName::parse(name).unwrap()).unwrap()
}

fn row(writer: u64, row: u64) -> String {
    format!("{writer}-{row}")
}

fn batch(store: &Store, writer: u64, number: u64) -> Vec<(Arc<Table>, Mutation)> {
    let value = number.to_be_bytes();
    let mut batch = Vec::new();
    for at in 0..ROWS {
        let put = || Put::new(row(writer, at)).unwrap();
        let both = put().add("f", "q", value).unwrap().add("g", "q", value).unwrap();
        batch.push((table(store, "a"), both.into()));
        batch.push((table(store, "b"), put().add("f", "q", value).unwrap().into()));
    }
    batch
}

/// Returns each writer's visible batch number, after checking that all its cells have the same.
fn look_by_scans(store: &Store) -> [u64; WRITERS as usize] {
    let point = store.read_point();
    let mut seen: [Vec<u64>; WRITERS as usize] = Default::default();
    // Reads the table first that is written last.
    for name in ["b", "a"] {
        let mut scanner = table(store, name).scan_at(Scan::all(), &point).unwrap();
        while let Some(row) = scanner.next().unwrap() {
            let writer = usize::from(row.key()[0] - b'0');
            for cell in row.cells() {
                seen[writer].push(u64::from_be_bytes(cell.value().try_into().unwrap()));
            }
        }
    }
    seen.map(|numbers| whole(&numbers))
}

fn look_by_gets(store: &Store) -> [u64; WRITERS as usize] {
    let point = store.read_point();
    let mut writer = 0;
    [(); WRITERS as usize].map(|()| {
        let mut numbers = Vec::new();
        for at in (0..ROWS).rev() {
            for name in ["b", "a"] {
                let get = Get::new(row(writer, at)).unwrap();
                let result = table(store, name).get_at(&get, &point).unwrap();
                let cells = result.cells();
                numbers
                    .extend(cells.map(|cell| u64::from_be_bytes(cell.value().try_into().unwrap())));
            }
        }
        writer += 1;
        whole(&numbers)
    })
}

fn whole(numbers: &[u64]) -> u64 {
    let Some(&first) = numbers.first() else { return 0 };
    assert!(numbers.iter().all(|number| *number == first), "half a batch: {numbers:?}");
    assert_eq!(numbers.len() as u64, ROWS * 3, "half a batch: {numbers:?}");
    first
}
