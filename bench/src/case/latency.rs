//! The latency of consecutive puts during flushes and compactions of earlier ones.

use std::time::Instant;

use anyhow::Result;
use hdrhistogram::Histogram;

use super::{Bench, LOAD_TIME_MAX};
use crate::engine::Options;
use crate::measure;
use crate::report::Unit;
use crate::workload::{Cell, Workload};

pub(super) fn run(bench: &Bench<'_>) -> Result<()> {
    let workload = Workload::tall(bench.cells / 2, bench.seed);
    let engine = bench.open(Options::default())?;
    let mut nanos = Histogram::<u64>::new(3)?;
    measure::reset_peak()?;
    bench.measure("sustained insert, 1,000 bytes", || {
        let begun = Instant::now();
        let mut cell = Cell::default();
        for at in 0..workload.cells() {
            workload.fill(at, &mut cell);
            let put = Instant::now();
            engine.insert(&cell)?;
            nanos.record(put.elapsed().as_nanos() as u64)?;
            if begun.elapsed() > LOAD_TIME_MAX {
                break;
            }
        }
        engine.flush()?;
        Ok(nanos.len())
    })?;
    if nanos.len() < workload.cells() {
        bench.note(format!("cut short: {} puts when the time was up", nanos.len()));
    }
    for (label, quantile) in [("p50", 0.5), ("p99", 0.99), ("p99.9", 0.999), ("max", 1.0)] {
        let micros = nanos.value_at_quantile(quantile) as f64 / 1000.0;
        bench.say(format!("put, {label}"), Unit::WallMicros, Some(micros), None);
    }
    bench.say_peak("peak resident, sustained insert")
}
