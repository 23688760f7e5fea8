//! The latency of consecutive puts, and of gets beside them, during flushes and compactions of
//! earlier puts.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use anyhow::{Result, ensure};
use hdrhistogram::Histogram;

use super::{Bench, LOAD_TIME_MAX};
use crate::engine::{Engine, Options};
use crate::measure;
use crate::report::Unit;
use crate::workload::{Cell, Random, Workload};

pub(super) fn run(bench: &Bench<'_>) -> Result<()> {
    let workload = Workload::tall(bench.cells / 2, bench.seed);
    let engine = bench.open(Options::default())?;
    let engine = &*engine;
    let mut puts = Histogram::<u64>::new(3)?;
    let mut gets = Histogram::<u64>::new(3)?;
    let (written, is_over) = (AtomicU64::new(0), AtomicBool::new(false));
    measure::reset_peak()?;
    bench.measure("sustained insert beside gets, 1,000 bytes", || {
        std::thread::scope(|scope| {
            let reader = scope.spawn(|| read(engine, &workload, &written, &is_over, &mut gets));
            let loaded = load(engine, &workload, &written, &mut puts);
            is_over.store(true, Ordering::Relaxed);
            reader.join().expect("the reader returns its errors")?;
            loaded
        })?;
        engine.flush()?;
        Ok(puts.len())
    })?;
    if puts.len() < workload.cells() {
        bench.note(format!("cut short: {} puts when the time was up", puts.len()));
    }
    for (operation, nanos) in [("put", &puts), ("get", &gets)] {
        for (label, quantile) in
            [("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999), ("p99.99", 0.9999), ("max", 1.0)]
        {
            let micros = nanos.value_at_quantile(quantile) as f64 / 1000.0;
            bench.say(format!("{operation}, {label}"), Unit::WallMicros, Some(micros), None);
        }
    }
    bench.say_peak("peak resident, sustained insert")
}

/// Writes all cells, one after the other, until the time is up.
fn load(
    engine: &dyn Engine,
    workload: &Workload,
    written: &AtomicU64,
    nanos: &mut Histogram<u64>,
) -> Result<()> {
    let begun = Instant::now();
    let mut cell = Cell::default();
    for at in 0..workload.cells() {
        workload.fill(at, &mut cell);
        let put = Instant::now();
        engine.insert(&cell)?;
        nanos.record(put.elapsed().as_nanos() as u64)?;
        written.store(at + 1, Ordering::Release);
        if begun.elapsed() > LOAD_TIME_MAX {
            break;
        }
    }
    Ok(())
}

/// Reads written cells at random until the load is over.
fn read(
    engine: &dyn Engine,
    workload: &Workload,
    written: &AtomicU64,
    is_over: &AtomicBool,
    nanos: &mut Histogram<u64>,
) -> Result<()> {
    let mut random = Random::new(1);
    while !is_over.load(Ordering::Relaxed) {
        let written = written.load(Ordering::Acquire);
        if written == 0 {
            std::thread::yield_now();
            continue;
        }
        let (row, qualifier) = workload.place(random.below(written));
        let get = Instant::now();
        ensure!(engine.get(&row, &qualifier)?.is_some(), "a cell that was written is gone");
        nanos.record(get.elapsed().as_nanos() as u64)?;
    }
    Ok(())
}
