//! The result of a simulation.

use std::time::Duration;

use rowhouse_schema::{ROWS_PER_RANGE, Spread, Way, Workload};

use super::warnings::Warning;

/// The result of running a workload under one design. Under a seed all of it is the same in each
/// run, except times.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Simulation {
    /// The template of the key.
    pub key: String,
    /// The declarations of the indexes.
    pub indexes: Vec<String>,
    /// Rows that were written.
    pub rows: u64,
    /// Different keys among them.
    pub rows_stored: u64,
    /// Rows that the real table gets in the time of the workload, for each row that was written.
    pub scale: f64,
    /// Bytes of the cells of a row, with their keys, before compression.
    pub bytes_per_row: f64,
    /// Bytes of the keys of the entries of a row.
    pub entry_bytes_per_row: f64,
    /// How the writes are spread.
    pub spread: Spread,
    /// The costs of the questions, in the order of the workload.
    pub questions: Vec<QuestionCost>,
    /// Limits that are broken, and other findings.
    pub warnings: Vec<Warning>,
}

/// The cost of a question: averages over the times that it was asked.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct QuestionCost {
    /// The question as the workload has it.
    pub question: String,
    /// How often it is asked per second.
    pub per_second: f64,
    /// How often it was asked for the measurement.
    pub asked: u64,
    /// The way in which most of them were read.
    pub way: Way,
    /// The way that costs least at the real size of the table: an estimate.
    pub way_real: Way,
    /// Whether all rows were read and sorted, because no way has the order that the question asks
    /// for.
    pub sorts: bool,
    /// Rows returned.
    pub rows_returned: f64,
    /// Bytes of the cells returned.
    pub bytes_returned: f64,
    /// Ranges of keys that were read, and rows that were read one by one for their entries.
    pub ranges: f64,
    /// Rows and entries read.
    pub rows: f64,
    /// The most rows and entries that were read for one question.
    pub rows_max: u64,
    /// How many times as many are read at the real size of the table: an estimate.
    pub growth: f64,
    /// Cells that were looked at.
    pub cells: f64,
    /// Bytes of the blocks in which the cells are, as they are on disk.
    pub bytes: f64,
    /// Files read.
    pub files: f64,
    /// Blocks read, from memory or from disk.
    pub blocks: f64,
    /// Processor time; zero where the system does not tell it.
    pub cpu: Duration,
}

impl QuestionCost {
    /// The rows and entries that are read at the real size of the table: an estimate.
    pub fn rows_real(&self) -> f64 {
        self.rows * self.growth
    }

    /// The least number of rows that the question which read the most rows reads at the real size:
    /// a count that grows with the table is chance by up to three times its square root.
    pub fn rows_max_real(&self) -> f64 {
        let most = self.rows_max as f64;
        match self.growth > 1.0 {
            true => (most - 3.0 * most.sqrt()).max(0.0) * self.growth,
            false => most * self.growth,
        }
    }
}

impl Simulation {
    /// The cost of all questions and indexes per second, in rows: those that are read at the real
    /// size of the table, ten for each range, and one for each entry that is written.
    pub fn cost(&self, workload: &Workload) -> f64 {
        let questions = self.questions.iter();
        let reads =
            questions.map(|it| it.per_second * (it.rows_real() + ROWS_PER_RANGE * it.ranges));
        reads.sum::<f64>() + workload.writes_per_second() * self.spread.entries_per_row()
    }

    /// The share of the writes, from 0 to 1, that the busiest region takes in the median interval.
    pub fn share(&self) -> f64 {
        self.spread.median()
    }
}
