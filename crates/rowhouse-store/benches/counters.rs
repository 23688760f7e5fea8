//! Measures what increments cost in a plain and in a BUFFERED family:
//! `cargo bench -p rowhouse-store --bench counters`.
//!
//! One thread increments 100 counters in turn, 100,000 times in each round, with and without
//! nonces. Log bytes are the bytes that the process passes to `write(2)`, which include what
//! flushes write; here there are none.

#![expect(clippy::unwrap_used, reason = "a bench that cannot continue fails")]

use rowhouse_model::{
    FamilyDescriptor, Get, Increment, Mutation, Nonce, TableDescriptor, TableName,
};
use rowhouse_store::Store;

const ROUNDS: usize = 5;
const COUNTERS: u64 = 100;
const INCREMENTS: u64 = 100_000;

fn main() {
    for (name, period, has_nonces) in [
        ("plain", "NONE", false),
        ("plain, nonces", "NONE", true),
        ("buffered", "1s", false),
        ("buffered, nonces", "1s", true),
    ] {
        let mut rounds: Vec<_> = (0..ROUNDS).map(|_| round(period, has_nonces)).collect();
        rounds.sort_by(|a, b| a.0.total_cmp(&b.0));
        let (micros, bytes) = rounds[ROUNDS / 2];
        println!("{name:<18} {micros:5.2} µs CPU, {bytes:6.1} log bytes an increment");
    }
}

/// Returns the CPU microseconds and the log bytes of an increment.
fn round(period: &'static str, has_nonces: bool) -> (f64, f64) {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(dir.path()).unwrap();
    let name = TableName::parse("t").unwrap();
    let family = FamilyDescriptor::new("n").unwrap().attribute("BUFFERED", period);
    store.create_table(TableDescriptor::new(name.clone()).family(family), &[]).unwrap();
    let table = store.table(&name).unwrap();
    let cpu = cpu_nanos();
    let written = written();
    for nth in 0..INCREMENTS {
        let row = format!("article{:03}", nth % COUNTERS);
        let mut increment = Increment::new(row).unwrap().add("n", "reads", 1).unwrap();
        increment.nonce = has_nonces.then_some(Nonce { group: 1, number: nth });
        table.mutate(&Mutation::from(increment)).unwrap();
    }
    // Before the threads end, whose times are then gone.
    let cpu = cpu_nanos() - cpu;
    store.close().unwrap();
    let written = self::written() - written;
    let per_increment = |total: u64| total as f64 / INCREMENTS as f64;
    let costs = (per_increment(cpu) / 1000.0, per_increment(written));
    let store = Store::open(dir.path()).unwrap();
    let row = store.table(&name).unwrap().get(&Get::new("article007").unwrap()).unwrap();
    let expected = (INCREMENTS / COUNTERS).to_be_bytes();
    assert_eq!(row.value("n", "reads").unwrap()[..], expected);
    costs
}

/// Returns the CPU time of the process's threads, in nanoseconds.
fn cpu_nanos() -> u64 {
    let threads = std::fs::read_dir("/proc/self/task").unwrap();
    let used = threads.map(|thread| {
        let path = thread.unwrap().path().join("schedstat");
        let counted = std::fs::read_to_string(path).unwrap_or_default();
        counted.split(' ').next().and_then(|nanos| nanos.parse().ok()).unwrap_or(0)
    });
    used.sum()
}

/// Returns how many bytes the process has written.
fn written() -> u64 {
    let io = std::fs::read_to_string("/proc/self/io").unwrap();
    let line = io.lines().find_map(|line| line.strip_prefix("wchar: ")).unwrap();
    line.parse().unwrap()
}
