//! Measures the log: `cargo bench -p rowhouse-store --bench log`.
//!
//! Recovery: 500 MB, in rows of 1,000 bytes and then of 100. The memstores may hold all of it, or
//! 128 MiB, so that recovery flushes meanwhile.
//!
//! Interference: the put latency without a sync, alone and while a writer on another table syncs
//! each put.
//!
//! Followers of changes: the CPU time of a put without one, with one that is away, and with one
//! that reads all the time. `cargo bench -p rowhouse-store --bench log -- followers` measures that
//! alone.

#![expect(clippy::unwrap_used, reason = "a bench that cannot continue fails")]

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rowhouse_model::{Durability, FamilyDescriptor, Mutation, Put, TableDescriptor, TableName};
use rowhouse_store::{ChangesFrom, Settings, Store};

const LOG_BYTES: usize = 500_000_000;

/// The puts of one measurement with a follower.
const FOLLOWED_PUTS: u64 = 1_000_000;

/// How often each measurement is made, by turns.
const ROUNDS: usize = 5;

/// A follower of changes beside the puts.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Following {
    Nobody,
    Away,
    UpToDate,
}

fn main() {
    followers();
    if std::env::args().any(|argument| argument == "followers") {
        return;
    }
    for synced in [false, true] {
        puts_beside(synced);
    }
    for value_len in [1_000, 100] {
        let dir = tempfile::tempdir().unwrap();
        let written = write(dir.path(), value_len);
        for memstore_bytes_max in [2 << 30, 128 << 20] {
            let copy = tempfile::tempdir().unwrap();
            copy_tree(dir.path(), copy.path());
            let settings = Settings { memstore_bytes_max, ..Settings::default() };
            let started = Instant::now();
            let cpu = cpu_seconds();
            let store = Store::builder(copy.path()).settings(settings).open().unwrap();
            println!(
                "{value_len:>5}-byte values, {:>4} MiB for memstores: {:.2} s, {:.2} s CPU for {:.0} MB of log",
                memstore_bytes_max >> 20,
                started.elapsed().as_secs_f64(),
                cpu_seconds() - cpu,
                written as f64 / 1e6,
            );
            drop(store);
        }
    }
}

/// Prints the CPU time of a put beside followers: the fastest of some rounds.
fn followers() {
    let all = [Following::Nobody, Following::Away, Following::UpToDate];
    let mut fastest = [f64::INFINITY; 3];
    for _ in 0..ROUNDS {
        for (fastest, following) in fastest.iter_mut().zip(all) {
            *fastest = fastest.min(put_micros(following));
        }
    }
    for (fastest, following) in fastest.iter().zip(all) {
        println!("put of 100 bytes, follower {following:?}: {fastest:.3} µs CPU");
    }
}

/// Returns the CPU time of a put that is not synced, of all threads, until the follower has read
/// it.
fn put_micros(following: Following) -> f64 {
    let dir = tempfile::tempdir().unwrap();
    let settings = Settings {
        memstore_flush_bytes: 4 << 30,
        memstore_bytes_max: 8 << 30,
        wal_bytes_max: 4 << 30,
        ..Settings::default()
    };
    let store = Store::builder(dir.path()).settings(settings).open().unwrap();
    let name = TableName::parse("t").unwrap();
    let family = FamilyDescriptor::new("f").unwrap();
    store.create_table(TableDescriptor::new(name.clone()).family(family), &[]).unwrap();
    let table = store.table(&name).unwrap();
    if following == Following::Away {
        store.save_follower("away", &name, &store.changes_end().unwrap()).unwrap();
    }
    let changes = (following == Following::UpToDate)
        .then(|| store.table_changes(&name, &ChangesFrom::Now).unwrap());
    let cpu = cpu_seconds();
    std::thread::scope(|scope| {
        if let Some(mut changes) = changes {
            scope.spawn(move || {
                let mut read = 0;
                while read < FOLLOWED_PUTS {
                    read += u64::from(changes.next(Duration::from_secs(1)).unwrap().is_some());
                }
            });
        }
        for number in 0..FOLLOWED_PUTS {
            let row = format!("{:016x}", number.wrapping_mul(0x9E37_79B9_7F4A_7C15));
            let put = Put::new(row).unwrap().add("f", "q", vec![b'v'; 100]).unwrap();
            table.mutate(&put.into()).unwrap();
        }
    });
    (cpu_seconds() - cpu) * 1e6 / FOLLOWED_PUTS as f64
}

/// Prints the put latency while another table's puts are, or are not, synced.
fn puts_beside(synced: bool) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let tables = ["a", "b"].map(|name| {
        let name = TableName::parse(name).unwrap();
        let family = FamilyDescriptor::new("f").unwrap();
        store.create_table(TableDescriptor::new(name.clone()).family(family), &[]).unwrap();
        store.table(&name).unwrap()
    });
    let put = |number: u64, durability: Durability| -> Mutation {
        let row = format!("{:016x}", number.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        let mut put = Put::new(row).unwrap().add("f", "q", vec![b'v'; 100]).unwrap();
        put.durability = durability;
        put.into()
    };
    let stop = AtomicBool::new(false);
    let mut nanos = Vec::new();
    let mut syncs = 0;
    std::thread::scope(|scope| {
        let other = synced.then(|| {
            scope.spawn(|| {
                let mut syncs = 0u64;
                while !stop.load(Ordering::Relaxed) {
                    tables[0].mutate(&put(syncs, Durability::FsyncWal)).unwrap();
                    syncs += 1;
                }
                syncs
            })
        });
        let started = Instant::now();
        for number in 0.. {
            let mutation = put(number, Durability::UseDefault);
            let before = Instant::now();
            tables[1].mutate(&mutation).unwrap();
            nanos.push(before.elapsed().as_nanos() as u64);
            if started.elapsed().as_secs() >= 3 {
                break;
            }
        }
        stop.store(true, Ordering::Relaxed);
        syncs = other.map_or(0, |other| other.join().unwrap());
    });
    nanos.sort_unstable();
    let at = |part: f64| nanos[((nanos.len() - 1) as f64 * part) as usize] as f64 / 1e3;
    println!(
        "{} puts beside {syncs} synced ones of another table: p50 {:.1} µs, p99 {:.1}, p99.9 {:.1}, max {:.0}",
        nanos.len(),
        at(0.5),
        at(0.99),
        at(0.999),
        at(1.0)
    );
}

/// Writes a log of [`LOG_BYTES`] without flushing. Returns the log's length.
fn write(dir: &Path, value_len: usize) -> u64 {
    let settings = Settings {
        memstore_flush_bytes: 4 << 30,
        memstore_bytes_max: 8 << 30,
        wal_bytes_max: 4 << 30,
        ..Settings::default()
    };
    let store = Store::builder(dir).settings(settings).open().unwrap();
    let name = TableName::parse("t").unwrap();
    let family = FamilyDescriptor::new("f").unwrap();
    store.create_table(TableDescriptor::new(name.clone()).family(family), &[]).unwrap();
    let table = store.table(&name).unwrap();
    let value = vec![b'v'; value_len];
    let mut number = 0u64;
    let mut left = LOG_BYTES;
    while left > 0 {
        let batch: Vec<Mutation> = (0..100)
            .map(|_| {
                number += 1;
                let row = format!("{:016x}", number.wrapping_mul(0x9E37_79B9_7F4A_7C15));
                Put::new(row).unwrap().add("f", "q", value.clone()).unwrap().into()
            })
            .collect();
        table.batch(batch).into_iter().for_each(|outcome| drop(outcome.unwrap()));
        left = left.saturating_sub(100 * (value_len + 45));
    }
    // A clean close flushes nothing either, so the replay is the same as after a kill.
    store.close().unwrap();
    let wal = std::fs::read_dir(dir.join("wal")).unwrap();
    wal.map(|entry| entry.unwrap().metadata().unwrap().len()).sum()
}

fn copy_tree(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            std::fs::create_dir(&target).unwrap();
            copy_tree(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Returns the CPU time of the process, including ended threads.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/self/stat").unwrap();
    let fields: Vec<&str> = text.rsplit(')').next().unwrap().split_whitespace().collect();
    let ticks = |at: usize| fields[at].parse::<f64>().unwrap();
    (ticks(11) + ticks(12)) / 100.0
}
