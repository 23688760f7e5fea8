//! How cost grows with the table. One process loads it with a block cache of a tenth of the data,
//! reads, writes a little more and kills itself; the next one opens what is left.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use rustix::process::{Signal, getpid, kill_process};

use super::{Bench, load_batches_within};
use crate::engine::Options;
use crate::measure;
use crate::report::Unit;
use crate::workload::Workload;

/// The number of cells as a multiple of the cache.
const TIMES: u64 = 10;
/// The cells that are written last and are not flushed, as a part of all.
const UNFLUSHED_PART: u64 = 1_000;
const GETS: u64 = 200_000;
const SCANS: u64 = 20_000;
const LOAD_TIME_MAX: Duration = Duration::from_secs(3600);
/// The time without a write after which an engine has given back what it does not need.
const AT_REST: Duration = Duration::from_secs(35);

/// Loads, reads, and ends by SIGKILL.
pub(crate) fn load_until_killed(bench: &Bench<'_>) -> Result<()> {
    let workload = workload(bench);
    let engine = bench.open(options(&workload))?;
    let flushed = workload.cells() - workload.cells() / UNFLUSHED_PART;
    let load = |numbers| load_batches_within(LOAD_TIME_MAX, &*engine, &workload, numbers);
    let mut loaded = Duration::ZERO;
    let mut debt = None;
    bench.measure("insert in batches, compactions included, per cell", || {
        let begun = Instant::now();
        ensure!(load(0..flushed)? == flushed, "the load did not end in {LOAD_TIME_MAX:?}");
        loaded = begun.elapsed();
        // What an engine has put off shows after the last insert.
        let ((), cost) = measure::cost_of(|| engine.flush())?;
        debt = Some(cost);
        Ok(flushed)
    })?;
    if let Some(debt) = debt {
        let seconds = |time: Duration| Some(time.as_secs_f64());
        bench.say("load until the last insert", Unit::WallSeconds, seconds(loaded), None);
        let label = "flush and compactions after the last insert";
        bench.say(label, Unit::CpuSeconds, seconds(debt.cpu), seconds(debt.wall));
    }
    let raw_len = workload.raw_len(flushed) as f64;
    let written = measure::written_bytes()? as f64;
    bench.say("bytes written per raw byte", Unit::Ratio, Some(written / raw_len), None);
    std::thread::sleep(AT_REST);
    let directory_len = measure::directory_len(bench.dir)? as f64;
    let label = "directory per raw byte, at rest, logs included";
    bench.say(label, Unit::Ratio, Some(directory_len / raw_len), None);
    bench.note_state("after the load", &*engine)?;

    ensure!(load(flushed..workload.cells())? == workload.cells() - flushed, "too slow");
    // Fills the cache with arbitrary blocks.
    bench.gets(&*engine, &workload, GETS, 1)?;
    bench.measure("get, a tenth in the cache", || bench.gets(&*engine, &workload, GETS, 2))?;
    let label = "scan of 100 cells, a tenth in the cache";
    bench.measure_short_scans(label, &*engine, &workload, SCANS, false)?;
    bench.say_peak("peak resident")?;
    kill_process(getpid(), Signal::KILL)?;
    Ok(())
}

/// Opens what a killed process has left.
pub(super) fn run(bench: &Bench<'_>) -> Result<()> {
    let workload = workload(bench);
    let begun = Instant::now();
    let mut answered = Duration::ZERO;
    let (engine, cost) = measure::cost_of(|| {
        let engine = bench.open_again(options(&workload))?;
        let (row, qualifier) = workload.place(workload.cells() - 1);
        ensure!(engine.get(&row, &qualifier)?.is_some(), "the last write before the kill is gone");
        answered = begun.elapsed();
        Ok(engine)
    })?;
    let (cpu, answered) = (cost.cpu.as_secs_f64(), answered.as_secs_f64());
    bench.say(
        "open after a kill; until the first get",
        Unit::CpuSeconds,
        Some(cpu),
        Some(answered),
    );
    bench.note_state("after the kill", &*engine)
}

fn workload(bench: &Bench<'_>) -> Workload {
    Workload::scale(bench.cells, bench.seed)
}

fn options(workload: &Workload) -> Options {
    let cache_len = Some(workload.raw_len(workload.cells()) / TIMES);
    Options { cache_len, split: true, ..Options::default() }
}
