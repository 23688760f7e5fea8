//! The result of a simulation.

use rowhouse_schema::{Spread, Workload};

use super::warnings::Warning;

/// A range that is read costs as much as this many rows: a seek in each family and file, and on a
/// cluster a call.
const ROWS_PER_RANGE: f64 = 10.0;

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
    /// The way in which most of them were read: `key`, or the name of an index.
    pub way: String,
    /// Rows returned.
    pub rows_returned: f64,
    /// Bytes of the cells returned.
    pub bytes_returned: f64,
    /// Whether readings ended at the limit of the question, so that a larger table costs no more.
    pub is_limited: bool,
    /// Whether all rows were read and sorted, because no way has the order that the question asks
    /// for.
    pub sorts: bool,
    /// Ranges of keys that were read.
    pub ranges: f64,
    /// What the store read.
    pub reads: QuestionReads,
}

/// What the store reads for a question: averages over the times that it was asked.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct QuestionReads {
    /// Rows and entries read.
    pub rows: f64,
    /// The most rows and entries that were read for one question.
    pub rows_max: u64,
    /// Cells read.
    pub cells: f64,
    /// Bytes of these cells.
    pub bytes: f64,
    /// Files read.
    pub files: f64,
    /// Blocks read, from memory or from disk.
    pub blocks: f64,
    /// Processor time in microseconds, where the system tells it.
    pub cpu_micros: Option<f64>,
}

impl QuestionCost {
    /// The rows that are read in a table that is `scale` times as large: as many if the limit of
    /// the question ends the reading, otherwise so many times as many.
    pub fn rows_real(&self, scale: f64) -> f64 {
        if self.is_limited { self.reads.rows } else { self.reads.rows * scale }
    }

    /// As [`QuestionCost::rows_real`], of the question that read the most rows.
    pub fn rows_max_real(&self, scale: f64) -> f64 {
        let most = self.reads.rows_max as f64;
        if self.is_limited { most } else { most * scale }
    }
}

impl Simulation {
    /// The cost of all questions and indexes per second, in rows: those that are read at the real
    /// size of the table, ten for each range, and one for each entry that is written.
    pub fn cost(&self, workload: &Workload) -> f64 {
        let questions = self.questions.iter();
        let reads = questions
            .map(|it| it.per_second * (it.rows_real(self.scale) + ROWS_PER_RANGE * it.ranges));
        reads.sum::<f64>() + workload.writes_per_second() * self.spread.entries_per_row()
    }

    /// The share of the writes, from 0 to 1, that the busiest region takes in the median interval.
    pub fn share(&self) -> f64 {
        self.spread.median()
    }
}
