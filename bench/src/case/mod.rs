//! The cases: operations on an engine in one process, and the measurements.

mod cold;
mod insert;
mod large;
mod latency;
mod lz4;
mod memory;
mod physical;
mod reads;
pub(crate) mod scale;
mod sync;
mod threads;

use std::cell::Cell as Counter;
use std::fmt;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use clap::ValueEnum;

use crate::engine::{Engine, EngineName, Options, Scan};
use crate::measure::{self, Cost};
use crate::report::{Line, Said, Unit};
use crate::workload::{Cell, Random, Workload};

/// The name of a case.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum CaseName {
    /// Random inserts one at a time
    Single,
    /// Random inserts in batches of 100
    Batch,
    /// Gets and scans, before and after compaction
    Reads,
    /// Bytes on disk with and without LZ4
    Lz4,
    /// Values of 1,000 bytes
    Large,
    /// Inserts, gets and both by 1, 2, 4 and 12 threads
    Threads,
    /// Synced writes by 1, 4 and 16 threads
    Sync,
    /// Reads of data several times larger than the block cache
    Cold,
    /// Latency of single puts of 1,000 bytes during flushes and compactions
    Latency,
    /// Resident memory after a long load; rowhouse only unless asked for
    Memory,
    /// Values of 200 bytes, a cache of a tenth, and a start after a kill; only where asked for
    Scale,
    /// Limits of the machine itself
    Physical,
}

impl CaseName {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Single => "single",
            Self::Batch => "batch",
            Self::Reads => "reads",
            Self::Lz4 => "lz4",
            Self::Large => "large",
            Self::Threads => "threads",
            Self::Sync => "sync",
            Self::Cold => "cold",
            Self::Latency => "latency",
            Self::Memory => "memory",
            Self::Scale => "scale",
            Self::Physical => "physical",
        }
    }

    /// Returns the engines among `asked` for which this case runs. `named`: the case was requested
    /// by name.
    pub(crate) fn engines(self, asked: &[EngineName], named: bool) -> Vec<Option<EngineName>> {
        match self {
            Self::Physical => vec![None],
            Self::Scale if !named => Vec::new(),
            Self::Memory if !named => {
                let rowhouse = asked.iter().filter(|engine| **engine == EngineName::Rowhouse);
                rowhouse.copied().map(Some).collect()
            }
            _ => asked.iter().copied().map(Some).collect(),
        }
    }

    pub(crate) fn run(self, bench: &Bench<'_>) -> Result<()> {
        match self {
            Self::Single => insert::single(bench),
            Self::Batch => insert::batch(bench),
            Self::Reads => reads::run(bench),
            Self::Lz4 => lz4::run(bench),
            Self::Large => large::run(bench),
            Self::Threads => threads::run(bench),
            Self::Sync => sync::run(bench),
            Self::Cold => cold::run(bench),
            Self::Latency => latency::run(bench),
            Self::Memory => memory::run(bench),
            Self::Scale => scale::run(bench),
            Self::Physical => physical::run(bench),
        }
    }
}

impl fmt::Display for CaseName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Cache of all engines in the cases of the table in DESIGN §5.
const CACHE_LEN: u64 = 1 << 30;
/// A load stops after this time, and the operations done by then are measured.
const LOAD_TIME_MAX: Duration = Duration::from_secs(60);
/// Cells in one call.
const BATCH_LEN: usize = 100;

/// A running case of one engine, which prints its measurements on standard output.
pub(crate) struct Bench<'a> {
    engine: Option<EngineName>,
    dir: &'a Path,
    cells: u64,
    seed: u64,
    opened: Counter<u32>,
}

impl<'a> Bench<'a> {
    pub(crate) fn new(engine: Option<EngineName>, dir: &'a Path, cells: u64, seed: u64) -> Self {
        Self { engine, dir, cells, seed, opened: Counter::new(0) }
    }

    /// Opens the engine on a new directory.
    fn open(&self, options: Options) -> Result<Box<dyn Engine>> {
        self.try_open(options)?.context("the engine cannot do what every engine can")
    }

    /// Opens the engine on the directory that [`Bench::open`] was given first, by this process or
    /// by one before.
    fn open_again(&self, options: Options) -> Result<Box<dyn Engine>> {
        let engine = self.engine.context("the case needs an engine")?;
        let opened = engine.open(&self.dir.join("1"), &options)?;
        opened.context("the engine cannot do what every engine can")
    }

    /// Opens the engine on a new directory; `None` if it does not support the options.
    fn try_open(&self, options: Options) -> Result<Option<Box<dyn Engine>>> {
        let engine = self.engine.context("the case needs an engine")?;
        self.opened.set(self.opened.get() + 1);
        let dir = self.dir.join(self.opened.get().to_string());
        std::fs::create_dir(&dir)?;
        engine.open(&dir, &options)
    }

    fn say(&self, label: impl Into<String>, unit: Unit, value: Option<f64>, wall: Option<f64>) {
        self.say_line(Line { label: label.into(), unit, value, wall, pace: None });
    }

    fn say_line(&self, line: Line) {
        println!("{}", Said::Line(line));
    }

    /// Prints a line about the state or about a load that was cut short.
    fn note(&self, text: impl Into<String>) {
        println!("{}", Said::Note(text.into()));
    }

    fn note_state(&self, when: &str, engine: &dyn Engine) -> Result<()> {
        self.note(format!("{when}: {}", engine.state()?));
        Ok(())
    }

    fn say_cost(&self, label: impl Into<String>, operations: u64, cost: Cost) {
        let per = |time: Duration| time.as_secs_f64() * 1e6 / operations.max(1) as f64;
        self.say_line(Line {
            label: label.into(),
            unit: Unit::CpuMicros,
            value: Some(per(cost.cpu)),
            wall: Some(per(cost.wall)),
            pace: Some(cost.pace),
        });
    }

    /// Runs `work`, which returns its number of operations, and reports the cost of one.
    fn measure(&self, label: impl Into<String>, work: impl FnOnce() -> Result<u64>) -> Result<()> {
        let (operations, cost) = measure::cost_of(work)?;
        self.say_cost(label, operations, cost);
        Ok(())
    }

    fn say_peak(&self, label: &str) -> Result<()> {
        self.say(label, Unit::Mib, Some(measure::peak_mib()?), None);
        Ok(())
    }

    fn say_directory(&self, label: &str) -> Result<()> {
        let len = measure::directory_len(self.dir)?;
        self.say(label, Unit::Mib, Some(len as f64 / f64::from(1 << 20)), None);
        Ok(())
    }

    /// Prints the size of the data files per byte of keys and values.
    fn say_ratio(&self, label: &str, engine: &dyn Engine, raw_len: u64) -> Result<()> {
        let ratio = engine.data_len()? as f64 / raw_len as f64;
        self.say(label, Unit::Ratio, Some(ratio), None);
        Ok(())
    }

    /// Runs random gets of existing cells, different ones for each `choice`.
    fn gets(
        &self,
        engine: &dyn Engine,
        workload: &Workload,
        gets: u64,
        choice: u64,
    ) -> Result<u64> {
        let mut random = Random::new(self.seed ^ choice << 32);
        for _ in 0..gets {
            let (row, qualifier) = workload.place(random.below(workload.cells()));
            ensure!(engine.get(&row, &qualifier)?.is_some(), "a cell that was written is gone");
        }
        Ok(gets)
    }

    /// Runs scans of 100 cells from random rows; returns `None` if the engine cannot.
    fn short_scans(
        &self,
        engine: &dyn Engine,
        workload: &Workload,
        scans: u64,
        reversed: bool,
    ) -> Result<Option<u64>> {
        let mut random = Random::new(self.seed ^ 2);
        for _ in 0..scans {
            let from = Some(workload.random_row(&mut random));
            let columns = workload.columns();
            let scan = Scan { from, cells_max: 100, columns, reversed };
            if engine.scan(&scan)?.is_none() {
                return Ok(None);
            }
        }
        Ok(Some(scans))
    }

    fn measure_short_scans(
        &self,
        label: &str,
        engine: &dyn Engine,
        workload: &Workload,
        scans: u64,
        reversed: bool,
    ) -> Result<()> {
        let (done, cost) =
            measure::cost_of(|| self.short_scans(engine, workload, scans, reversed))?;
        match done {
            Some(scans) => self.say_cost(label, scans, cost),
            None => self.say(label, Unit::CpuMicros, None, None),
        }
        Ok(())
    }
}

/// Reads all cells.
fn full_scan(engine: &dyn Engine, workload: &Workload, expected: u64) -> Result<u64> {
    let columns = workload.columns();
    let scan = Scan { from: None, cells_max: u64::MAX, columns, reversed: false };
    let cells = engine.scan(&scan)?.context("every engine scans forwards")?;
    ensure!(cells == expected, "a scan saw {cells} cells of {expected}");
    Ok(cells)
}

/// Writes the cells with these numbers one at a time; returns how many were written before the time
/// was up.
fn load_single(
    engine: &dyn Engine,
    workload: &Workload,
    numbers: std::ops::Range<u64>,
) -> Result<u64> {
    let begun = Instant::now();
    let mut cell = Cell::default();
    for at in numbers.clone() {
        workload.fill(at, &mut cell);
        engine.insert(&cell)?;
        if at.is_multiple_of(1024) && begun.elapsed() > LOAD_TIME_MAX {
            return Ok(at + 1 - numbers.start);
        }
    }
    Ok(numbers.end - numbers.start)
}

/// As [`load_single`], in batches.
fn load_batches(
    engine: &dyn Engine,
    workload: &Workload,
    numbers: std::ops::Range<u64>,
) -> Result<u64> {
    load_batches_within(LOAD_TIME_MAX, engine, workload, numbers)
}

/// As [`load_batches`], with a time of its own.
fn load_batches_within(
    time_max: Duration,
    engine: &dyn Engine,
    workload: &Workload,
    numbers: std::ops::Range<u64>,
) -> Result<u64> {
    let begun = Instant::now();
    let mut batch = vec![Cell::default(); BATCH_LEN];
    let mut at = numbers.start;
    while at < numbers.end && begun.elapsed() < time_max {
        let len = (numbers.end - at).min(BATCH_LEN as u64);
        let cells = &mut batch[..len as usize];
        for cell in cells.iter_mut() {
            workload.fill(at, cell);
            at += 1;
        }
        engine.insert_batch(cells)?;
    }
    Ok(at - numbers.start)
}

/// As [`load_batches`], but fails if the time is up before all are written.
fn load_all(
    engine: &dyn Engine,
    workload: &Workload,
    numbers: std::ops::Range<u64>,
) -> Result<u64> {
    let cells = load_batches(engine, workload, numbers.clone())?;
    ensure!(cells == numbers.end - numbers.start, "the load did not end in {LOAD_TIME_MAX:?}");
    Ok(cells)
}
