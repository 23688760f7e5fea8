//! Random inserts into an empty table, until all of them are in compacted files.

use anyhow::Result;

use super::{Bench, CACHE_LEN, full_scan, load_batches, load_single};
use crate::engine::{Engine, Options};
use crate::measure;
use crate::workload::Workload;

pub(super) fn single(bench: &Bench<'_>) -> Result<()> {
    run(bench, "insert", load_single)
}

pub(super) fn batch(bench: &Bench<'_>) -> Result<()> {
    run(bench, "insert, per cell", load_batches)
}

fn run(
    bench: &Bench<'_>,
    label: &str,
    load: impl FnOnce(&dyn Engine, &Workload, std::ops::Range<u64>) -> Result<u64>,
) -> Result<()> {
    let workload = Workload::wide(bench.cells, bench.seed);
    let engine = bench.open(Options { cache_len: Some(CACHE_LEN), ..Options::default() })?;
    measure::reset_peak()?;
    let mut cells = 0;
    bench.measure(label, || {
        cells = load(&*engine, &workload, 0..workload.cells())?;
        engine.flush()?;
        Ok(cells)
    })?;
    if cells < workload.cells() {
        bench.note(format!("cut short: {cells} cells when the time was up"));
    }
    bench.say_peak("peak resident")?;
    bench.say_directory("directory, logs included")?;
    bench.note_state("after the load", &*engine)?;
    // The blocks are not in the cache yet, and nothing has been compacted for the scan.
    bench.measure("first full scan after the load, per cell", || {
        full_scan(&*engine, &workload, cells)
    })
}
