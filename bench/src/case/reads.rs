//! Reads of a table whose blocks are all in the cache: spread over memory and files, then
//! compacted.

use anyhow::Result;

use super::{Bench, CACHE_LEN, full_scan, load_all};
use crate::engine::Options;
use crate::measure;
use crate::workload::{Random, Workload};

/// Runs of cells before compaction: three flushed to files and one in memory. Rowhouse merges the
/// three files into one before the reads.
const RUNS: u64 = 4;
/// Memory for a run, with the overhead that engines count beside the bytes of a cell.
const MEMORY_PER_CELL: u64 = 512;

pub(super) fn run(bench: &Bench<'_>) -> Result<()> {
    let workload = Workload::wide(bench.cells, bench.seed);
    let cells = workload.cells();
    let mut engine = bench.open(Options {
        cache_len: Some(CACHE_LEN),
        memory_len: Some(cells / RUNS * MEMORY_PER_CELL),
        ..Options::default()
    })?;
    for run in 0..RUNS {
        let numbers = cells * run / RUNS..cells * (run + 1) / RUNS;
        load_all(&*engine, &workload, numbers)?;
        if run + 1 < RUNS {
            engine.flush()?;
        }
        measure::wait_until_quiet()?;
    }
    bench.note_state("not compacted", &*engine)?;
    measure::reset_peak()?;
    let (gets, scans) = (cells / 10, cells / 200);
    full_scan(&*engine, &workload, cells)?;
    bench
        .measure("full scan, not compacted, per cell", || full_scan(&*engine, &workload, cells))?;
    bench.measure("get, not compacted", || bench.gets(&*engine, &workload, gets, 1))?;
    let label = "scan of 100 cells, not compacted";
    bench.measure_short_scans(label, &*engine, &workload, scans, false)?;

    bench.measure("flush and compaction, per cell", || {
        engine.compact()?;
        Ok(cells)
    })?;
    bench.note_state("compacted", &*engine)?;
    bench.say_ratio("disk per raw byte", &*engine, workload.raw_len(cells))?;
    full_scan(&*engine, &workload, cells)?;
    bench.measure("full scan, compacted, per cell", || {
        (0..5).try_fold(0, |sum, _| Ok(sum + full_scan(&*engine, &workload, cells)?))
    })?;
    bench.measure("get, hot", || bench.gets(&*engine, &workload, gets, 1))?;
    bench.measure("get, missing row", || {
        let mut random = Random::new(bench.seed ^ 3);
        let (_, qualifier) = workload.place(0);
        let mut found = 0;
        for _ in 0..gets {
            let row = workload.missing_row(&mut random);
            found += u64::from(engine.get(&row, &qualifier)?.is_some());
        }
        anyhow::ensure!(found == 0, "rows were found that nobody wrote");
        Ok(gets)
    })?;
    bench.measure_short_scans("scan of 100 cells", &*engine, &workload, scans, false)?;
    let label = "scan of 100 cells, reversed";
    bench.measure_short_scans(label, &*engine, &workload, scans, true)?;
    bench.say_peak("peak resident while reading")
}
