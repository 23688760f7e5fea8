//! The same number of operations by one thread, and by several.

use std::ops::Range;

use anyhow::{Result, ensure};

use super::{Bench, CACHE_LEN, load_all, load_single};
use crate::engine::{Engine, Options};
use crate::measure;
use crate::workload::{Cell, Random, Workload};

const THREADS: [u64; 4] = [1, 2, 4, 12];

pub(super) fn run(bench: &Bench<'_>) -> Result<()> {
    let workload = Workload::wide(bench.cells, bench.seed);
    let loaded = workload.cells() / 4;
    let operations = workload.cells() / 20;
    let mut engine = bench.open(Options { cache_len: Some(CACHE_LEN), ..Options::default() })?;
    load_all(&*engine, &workload, 0..loaded)?;
    engine.compact()?;
    measure::wait_until_quiet()?;
    bench.note_state("before", &*engine)?;
    let engine = &*engine;
    // Warms the cache.
    gets(engine, &workload, loaded, 0..operations)?;
    for threads in THREADS {
        measure_threads(bench, "get", threads, operations, |numbers| {
            gets(engine, &workload, loaded, numbers)
        })?;
    }
    // The remaining cells, in pieces: a second write of a cell would not be an insert.
    let mut next = loaded;
    for threads in THREADS {
        let first = next;
        measure_threads(bench, "insert", threads, operations, |numbers| {
            let numbers = first + numbers.start..first + numbers.end;
            ensure!(
                load_single(engine, &workload, numbers.clone())? == numbers.end - numbers.start
            );
            Ok(())
        })?;
        next += operations;
    }
    for threads in THREADS {
        let first = next;
        measure_threads(bench, "get and insert by turns", threads, operations, |numbers| {
            mixed(engine, &workload, loaded, first, numbers)
        })?;
        next += operations / 2;
    }
    bench.note_state("after", engine)
}

fn gets(engine: &dyn Engine, workload: &Workload, loaded: u64, numbers: Range<u64>) -> Result<()> {
    let mut random = Random::new(numbers.start);
    for _ in numbers {
        let (row, qualifier) = workload.place(random.below(loaded));
        ensure!(engine.get(&row, &qualifier)?.is_some(), "a cell that was written is gone");
    }
    Ok(())
}

fn mixed(
    engine: &dyn Engine,
    workload: &Workload,
    loaded: u64,
    first: u64,
    numbers: Range<u64>,
) -> Result<()> {
    let mut random = Random::new(numbers.start);
    let mut cell = Cell::default();
    for number in numbers {
        if number % 2 == 0 {
            let (row, qualifier) = workload.place(random.below(loaded));
            ensure!(engine.get(&row, &qualifier)?.is_some(), "a cell that was written is gone");
        } else {
            workload.fill(first + number / 2, &mut cell);
            engine.insert(&cell)?;
        }
    }
    Ok(())
}

/// Divides the numbers below `operations` among threads.
fn measure_threads(
    bench: &Bench<'_>,
    what: &str,
    threads: u64,
    operations: u64,
    work: impl Fn(Range<u64>) -> Result<()> + Sync,
) -> Result<()> {
    let plural = if threads == 1 { "" } else { "s" };
    bench.measure(format!("{what}, {threads} thread{plural}"), || {
        std::thread::scope(|scope| {
            let share = |at: u64| operations * at / threads;
            let workers: Vec<_> = (0..threads)
                .map(|at| {
                    let (work, numbers) = (&work, share(at)..share(at + 1));
                    scope.spawn(move || work(numbers))
                })
                .collect();
            workers.into_iter().try_for_each(|worker| worker.join().expect("workers do not panic"))
        })?;
        Ok(operations)
    })
}
