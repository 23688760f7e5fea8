//! Reads of data several times larger than the block cache. The pages are in the operating
//! system's memory, so this is the cost of a miss, not of a disk.

use anyhow::Result;

use super::{Bench, full_scan, load_all};
use crate::engine::Options;
use crate::measure;
use crate::workload::Workload;

/// The number of cells as a multiple of the cache: at the default size 261 MiB and 64 MiB.
const TIMES: u64 = 4;

pub(super) fn run(bench: &Bench<'_>) -> Result<()> {
    let workload = Workload::wide(bench.cells, bench.seed);
    let cells = workload.cells();
    let cache_len = workload.raw_len(cells) / TIMES;
    let mut engine = bench.open(Options { cache_len: Some(cache_len), ..Options::default() })?;
    load_all(&*engine, &workload, 0..cells)?;
    engine.compact()?;
    measure::wait_until_quiet()?;
    bench.note_state("compacted", &*engine)?;
    measure::reset_peak()?;
    // Fills the cache with arbitrary blocks.
    bench.gets(&*engine, &workload, cells / 20, 1)?;
    bench.measure("get, a quarter in the cache", || {
        bench.gets(&*engine, &workload, cells / 40, 2)
    })?;
    let label = "scan of 100 cells, a quarter in the cache";
    bench.measure_short_scans(label, &*engine, &workload, cells / 400, false)?;
    bench.measure("full scan, a quarter in the cache, per cell", || {
        full_scan(&*engine, &workload, cells)
    })?;
    bench.say_peak("peak resident with a cache of a quarter")
}
