//! Values of 1,000 bytes, one to a row.

use anyhow::Result;

use super::{Bench, CACHE_LEN, full_scan, load_single};
use crate::engine::Options;
use crate::measure;
use crate::workload::Workload;

pub(super) fn run(bench: &Bench<'_>) -> Result<()> {
    let workload = Workload::tall(bench.cells / 10, bench.seed);
    let cells = workload.cells();
    let mut engine = bench.open(Options { cache_len: Some(CACHE_LEN), ..Options::default() })?;
    bench.measure("insert, 1,000 bytes", || {
        anyhow::ensure!(load_single(&*engine, &workload, 0..cells)? == cells, "too slow");
        engine.flush()?;
        Ok(cells)
    })?;
    bench.note_state("after the load", &*engine)?;
    engine.compact()?;
    measure::wait_until_quiet()?;
    bench.say_ratio("disk per raw byte, 1,000 bytes", &*engine, workload.raw_len(cells))?;
    full_scan(&*engine, &workload, cells)?;
    bench.measure("get, hot, 1,000 bytes", || bench.gets(&*engine, &workload, cells / 2, 1))?;
    bench.measure("full scan, compacted, 1,000 bytes, per cell", || {
        (0..5).try_fold(0, |sum, _| Ok(sum + full_scan(&*engine, &workload, cells)?))
    })?;
    let label = "scan of 100 cells, 1,000 bytes";
    bench.measure_short_scans(label, &*engine, &workload, cells / 20, false)
}
