//! Memory after a long load with an engine's default settings.

use anyhow::Result;

use super::{Bench, load_batches};
use crate::engine::Options;
use crate::measure;
use crate::report::Unit;
use crate::workload::Workload;

pub(super) fn run(bench: &Bench<'_>) -> Result<()> {
    let workload = Workload::tall(bench.cells, bench.seed);
    let engine = bench.open(Options::default())?;
    measure::reset_peak()?;
    let mut cells = 0;
    bench.measure("insert in batches, 1,000 bytes, per cell", || {
        cells = load_batches(&*engine, &workload, 0..workload.cells())?;
        Ok(cells)
    })?;
    if cells < workload.cells() {
        bench.note(format!("cut short: {cells} cells when the time was up"));
    }
    bench.say("resident after the load", Unit::Mib, Some(measure::resident_mib()?), None);
    bench.say_peak("peak resident during the load")?;
    bench.say_directory("directory after the load, logs included")?;
    bench.note_state("after the load", &*engine)
}
