//! What a simulation returns.

use std::time::Duration;

use rowhouse_schema::{ROWS_PER_RANGE, ROWS_PER_WRITE, Spread, Way, Workload};

use super::warnings::Warning;

/// The result from running a workload under one design. Under a seed everything in it is the same
/// in each run, except times.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Simulation {
    /// The key template.
    pub key: String,
    /// The index declarations.
    pub indexes: Vec<String>,
    /// Rows that were written.
    pub rows: u64,
    /// Different keys among them.
    pub rows_stored: u64,
    /// Rows that the real table gets in the workload time, for each row that was written.
    pub scale: f64,
    /// Cell bytes in a row, with the cell keys, before compression.
    pub bytes_per_row: f64,
    /// Key bytes in a row's entries.
    pub entry_bytes_per_row: f64,
    /// How the writes are spread.
    pub spread: Spread,
    /// What the questions cost, in workload order.
    pub questions: Vec<QuestionCost>,
    /// Limits that are broken, and other findings.
    pub warnings: Vec<Warning>,
}

/// What a question costs: averages over the runs.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct QuestionCost {
    /// The question as the workload has it.
    pub question: String,
    /// How often it is run per second.
    pub per_second: f64,
    /// How often it was run for the measurement.
    pub asked: u64,
    /// The way in which most runs were read.
    pub way: Way,
    /// The way that costs least at the real table size: an estimate.
    pub way_real: Way,
    /// Whether all rows were read and sorted, because no way has the order that the question
    /// requires.
    pub sorts: bool,
    /// Rows returned.
    pub rows_returned: f64,
    /// Bytes in the returned cells.
    pub bytes_returned: f64,
    /// Key ranges that were read, and rows that were read one by one for their entries.
    pub ranges: f64,
    /// Rows and entries read.
    pub rows: f64,
    /// The most rows and entries that were read for one question.
    pub rows_max: u64,
    /// Rows and entries read at the real table size: an estimate, at most `rows_possible`.
    pub rows_real: f64,
    /// The most rows and entries that can be read at the real table size: a limit ends the
    /// reading, or the table.
    pub rows_possible: f64,
    /// Ranges, and rows read one by one, at the real table size: an estimate.
    pub ranges_real: f64,
    /// Cells that were looked at.
    pub cells: f64,
    /// Bytes in the blocks in which the cells are, as they are on disk.
    pub bytes: f64,
    /// Files read.
    pub files: f64,
    /// Blocks read, from memory or from disk.
    pub blocks: f64,
    /// Processor time; zero where the system does not report it.
    pub cpu: Duration,
}

impl QuestionCost {
    /// The least row count that the question which read the most rows reads at the real size: a
    /// count that grows with the table is chance by up to three times its square root.
    pub fn rows_max_real(&self) -> f64 {
        let most = self.rows_max as f64;
        let growth = if self.rows > 0.0 { self.rows_real / self.rows } else { 1.0 };
        let most = match growth {
            // The rows were read by another way.
            _ if self.way != self.way_real => self.rows_real,
            growth if growth > 1.0 => (most - 3.0 * most.sqrt()).max(0.0) * growth,
            growth => most * growth,
        };
        most.min(self.rows_possible)
    }
}

impl Simulation {
    /// What all questions cost per second, in rows: those that are read at the real table size, and
    /// ten for each range.
    pub fn reads(&self) -> f64 {
        let questions = self.questions.iter();
        let reads =
            questions.map(|it| it.per_second * (it.rows_real + ROWS_PER_RANGE * it.ranges_real));
        reads.fold(0.0, |sum, cost| sum + cost)
    }

    /// What all writes cost per second, in rows: see [`Spread::load`].
    pub fn load(&self, workload: &Workload) -> f64 {
        self.spread.load(workload)
    }

    /// The score: what questions and writes cost; the least is the best.
    pub fn score(&self, workload: &Workload) -> f64 {
        self.reads() + self.load(workload)
    }

    /// What all questions and indexes cost per second, in rows, wherever the writes go: ten for
    /// each entry that is written.
    pub fn cost(&self, workload: &Workload) -> f64 {
        let entries = workload.writes_per_second() * self.spread.entries_per_row();
        self.reads() + ROWS_PER_WRITE * entries
    }

    /// The share of the writes, from 0 to 1, that the busiest region takes in the median interval.
    pub fn share(&self) -> f64 {
        self.spread.median()
    }
}
