//! Writes that are on the disk before they are acknowledged.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::Result;

use super::Bench;
use crate::engine::Options;
use crate::workload::{Cell, Workload};

const THREADS: [u64; 3] = [1, 4, 16];
/// Writes for each number of threads, unless the time is up before.
const WRITES: u64 = 3000;
const TIME_MAX: Duration = Duration::from_secs(3);

pub(super) fn run(bench: &Bench<'_>) -> Result<()> {
    let workload = Workload::wide(bench.cells, bench.seed);
    let engine = bench.open(Options { synced: true, ..Options::default() })?;
    let next = AtomicU64::new(0);
    for threads in THREADS {
        let plural = if threads == 1 { "" } else { "s" };
        let first = next.load(Ordering::Relaxed);
        let last = (first + WRITES).min(workload.cells());
        bench.measure(format!("synced insert, {threads} thread{plural}"), || {
            let begun = Instant::now();
            let written = AtomicU64::new(0);
            let write = || -> Result<()> {
                let mut cell = Cell::default();
                while begun.elapsed() < TIME_MAX {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= last {
                        break;
                    }
                    workload.fill(at, &mut cell);
                    engine.insert(&cell)?;
                    written.fetch_add(1, Ordering::Relaxed);
                }
                Ok(())
            };
            std::thread::scope(|scope| {
                let workers: Vec<_> = (0..threads).map(|_| scope.spawn(write)).collect();
                workers
                    .into_iter()
                    .try_for_each(|worker| worker.join().expect("workers do not panic"))
            })?;
            Ok(written.into_inner())
        })?;
    }
    Ok(())
}
