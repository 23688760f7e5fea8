//! Measures a memstore in CPU time per cell: `cargo bench -p rowhouse-store --bench memstore`.
//!
//! Cells of about 100 bytes, one at a time, compared with a `BTreeMap` of the same cells. The
//! median of three rounds is reported.

#![expect(clippy::unwrap_used, reason = "a bench that cannot continue fails")]

#[path = "../src/memstore/mod.rs"]
#[allow(dead_code, unused_imports, reason = "a bench needs a part of a private module")]
mod memstore;

#[path = "../src/index_memory.rs"]
#[allow(dead_code, unused_imports, reason = "no memstore here belongs to an index")]
mod index_memory;

/// Types that a memstore's flush results refer to; nothing is flushed here.
mod store_file {
    pub(crate) struct StoreFile;
}
mod retention {
    pub(crate) struct Retention;
}
mod reader_memory {
    pub(crate) struct ReaderMemory;
    pub(crate) struct CountedBytes;

    impl ReaderMemory {
        pub(crate) fn count(&self, _: u64) -> CountedBytes {
            CountedBytes
        }
    }

    impl CountedBytes {
        pub(crate) fn bytes(&self) -> u64 {
            0
        }
    }
}

use std::collections::BTreeMap;
use std::hint::black_box;
use std::sync::Arc;

use memstore::{Memstore, MemstoreCursor};
use rowhouse_model::{Cell, CellKind, CellRef, Key, RowBuilder, Timestamp, compare};

fn main() {
    for count in [300_000, 600_000] {
        for order in [Order::Random, Order::Sequential, Order::TenColumns] {
            run(count, order);
        }
    }
    threads(600_000);
}

#[derive(Clone, Copy, Debug)]
enum Order {
    Random,
    Sequential,
    /// Random rows, each with ten columns written one after the other.
    TenColumns,
}

fn cells(count: u64, order: Order) -> Vec<Cell> {
    let cell = |at: u64| {
        let (row, column) = match order {
            Order::Random => (mix(at), 0),
            Order::Sequential => (at, 0),
            Order::TenColumns => (mix(at / 10), at % 10),
        };
        let row = format!("user{row:016}");
        let at = Timestamp::from_millis(1_700_000_000_000 + at as i64).unwrap();
        Cell::new(row, "d", format!("field{column}"), at, CellKind::Put, [7; 45]).unwrap()
    };
    (0..count).map(cell).collect()
}

fn run(count: u64, order: Order) {
    let cells = cells(count, order);
    let bytes = cells.iter().map(|cell| cell.as_bytes().len()).sum::<usize>();
    println!("{count} cells of {} bytes, {order:?}", bytes / cells.len());
    let targets: Vec<Key<'_>> =
        (0..count).map(|at| cells[(mix(at) % count) as usize].key()).collect();
    let mut memstore = Arc::default();
    report("insert", cells.len(), || {
        memstore = Arc::new(Memstore::default());
        for (at, cell) in cells.iter().enumerate() {
            memstore.insert(cell.as_bytes(), at as u64 + 1);
        }
    });
    report("get: a cursor and its cell", targets.len(), || {
        for key in &targets {
            let cursor = MemstoreCursor::new(Arc::clone(&memstore), key);
            black_box(cursor.cell().map(|cell| cell.value.len()));
        }
    });
    let scan = |look: &dyn Fn(&MemstoreCursor) -> usize| {
        let mut cursor = MemstoreCursor::new(Arc::clone(&memstore), &Key::row_start(b""));
        let mut total = 0;
        while cursor.cell().is_some() {
            total += look(&cursor);
            cursor.advance();
        }
        black_box(total);
    };
    report("scan", cells.len(), || scan(&|cursor| cursor.cell().unwrap().value.len()));
    report("scan as rows of their own", cells.len(), || {
        scan(&|cursor| {
            let mut row = RowBuilder::with_capacity(1, 128);
            cursor.push_to(&mut row);
            row.finish().len()
        });
    });
    for step in [2, 10, 100, 10_000] {
        let mut sorted: Vec<&Cell> = cells.iter().collect();
        sorted.sort_by(|a, b| compare(&a.view(), &b.view()));
        let targets: Vec<Key<'_>> = sorted.iter().step_by(step).map(|cell| cell.key()).collect();
        report(&format!("seek {step} cells ahead"), targets.len(), || {
            let mut cursor = MemstoreCursor::new(Arc::clone(&memstore), &Key::row_start(b""));
            for key in &targets {
                cursor.seek(key);
                black_box(cursor.cell().map(|cell| cell.value.len()));
            }
        });
    }
    println!(
        "  bytes of memory per byte of cells {:>20.3}",
        memstore.bytes() as f64 / bytes as f64
    );
    drop(memstore);

    let mut map = BTreeMap::new();
    report("BTreeMap: insert", cells.len(), || {
        map = BTreeMap::new();
        for (at, cell) in cells.iter().enumerate() {
            map.insert(Sorted(cell.clone().with_sequence(at as u64 + 1)), ());
        }
    });
    report("BTreeMap: scan", cells.len(), || {
        black_box(map.keys().map(|Sorted(cell)| cell.value().len()).sum::<usize>());
    });
}

/// Measures wall-clock time; only the ratio is meaningful.
fn threads(count: u64) {
    let cells = cells(count, Order::Random);
    println!("{count} random cells, wall-clock time a cell");
    for threads in [1, 2] {
        let memstore = Memstore::default();
        let start = std::time::Instant::now();
        std::thread::scope(|scope| {
            for share in cells.chunks(cells.len().div_ceil(threads)) {
                let memstore = &memstore;
                scope.spawn(move || {
                    share.iter().map(|cell| memstore.insert(cell.as_bytes(), 1)).sum::<u64>()
                });
            }
        });
        let micros = start.elapsed().as_secs_f64() * 1e6 / count as f64;
        println!("  insert, {threads} threads {micros:>37.4} µs");
    }
}

#[derive(PartialEq)]
struct Sorted(Cell);

impl Sorted {
    fn view(&self) -> CellRef<'_> {
        self.0.view()
    }
}

impl Eq for Sorted {}

impl Ord for Sorted {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        compare(&self.view(), &other.view())
    }
}

impl PartialOrd for Sorted {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// Returns scattered numbers, the same ones every time.
fn mix(number: u64) -> u64 {
    let number = (number ^ number >> 31).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (number ^ number >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 12
}

/// Runs `work` three times, each for at least a fifth of a second, since CPU time is counted in
/// ticks. Prints the median CPU time per operation.
fn report(what: &str, operations: usize, mut work: impl FnMut()) {
    let mut micros = [0.0; 3].map(|_: f64| {
        let start = cpu_nanos();
        let mut runs = 0;
        let mut nanos = 0;
        while nanos < 200_000_000 {
            work();
            runs += 1;
            nanos = cpu_nanos() - start;
        }
        nanos as f64 / 1_000.0 / (runs * operations) as f64
    });
    micros.sort_by(f64::total_cmp);
    println!("  {what:<46} {:>9.4} µs", micros[1]);
}

/// Returns the CPU time of this thread: wall-clock time on a shared machine means little.
fn cpu_nanos() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split(' ').next().and_then(|nanos| nanos.parse().ok()).unwrap()
}
