//! Bytes on disk per byte of keys and values, half of which are random.

use anyhow::Result;

use super::{Bench, CACHE_LEN, load_all};
use crate::engine::Options;
use crate::report::Unit;
use crate::workload::Workload;

pub(super) fn run(bench: &Bench<'_>) -> Result<()> {
    let workload = Workload::wide(bench.cells / 4, bench.seed);
    let cells = workload.cells();
    for (name, lz4) in [("none", false), ("LZ4", true)] {
        let ratio = format!("disk per raw byte, {name}");
        let insert = format!("insert in batches and compaction, {name}, per cell");
        let options = Options { cache_len: Some(CACHE_LEN), lz4, ..Options::default() };
        let Some(mut engine) = bench.try_open(options)? else {
            bench.say(insert, Unit::CpuMicros, None, None);
            bench.say(ratio, Unit::Ratio, None, None);
            continue;
        };
        bench.measure(insert, || {
            load_all(&*engine, &workload, 0..cells)?;
            engine.compact()?;
            Ok(cells)
        })?;
        bench.say_ratio(&ratio, &*engine, workload.raw_len(cells))?;
    }
    Ok(())
}
