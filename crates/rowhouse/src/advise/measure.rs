//! Asks a question and counts what that reads.

use std::collections::BTreeMap;

use rowhouse_model::Result;
use rowhouse_schema::{Design, Direction, Question, QuestionReading, Way, Workload};

use super::simulation::{QuestionCost, QuestionReads};
use crate::query::Query;
use crate::table::Table;

/// How often each question is asked, with other values each time.
const ASKED: u64 = 20;

/// Sums over the times that a question is asked.
#[derive(Default)]
struct Sums {
    ways: BTreeMap<String, u64>,
    rows_returned: u64,
    bytes_returned: u64,
    limited: u64,
    sorts: bool,
    ranges: u64,
    rows: u64,
    rows_max: u64,
    cells: u64,
    bytes: u64,
    files: u64,
    blocks: u64,
    cpu_micros: Option<f64>,
}

/// Asks a question several times, with values drawn from the rows.
pub(super) async fn measure(
    table: &Table,
    workload: &Workload,
    design: &Design,
    question: &Question,
) -> Result<QuestionCost> {
    let mut sums = Sums::default();
    for nth in 0..ASKED {
        let reading = design.reading(workload, question, nth)?;
        sums.add(table, reading).await?;
    }
    Ok(sums.finish(question))
}

/// Returns the query of a reading.
pub(super) fn query_of<'t>(table: &'t Table, reading: &QuestionReading) -> Query<'t> {
    let mut query = table.query_where(reading.predicate.clone());
    if let Some(limit) = reading.limit {
        query = query.limit(limit);
    }
    if reading.direction == Direction::Reverse {
        query = query.reversed();
    }
    match &reading.way {
        None => query,
        Some(Way::Key) => query.using_key(),
        Some(Way::Index(name)) => query.using(name),
    }
}

impl Sums {
    async fn add(&mut self, table: &Table, reading: QuestionReading) -> Result<()> {
        let access = query_of(table, &reading).explain_access().await?;
        let way = access.chosen().index.clone().unwrap_or_else(|| "key".to_owned());
        *self.ways.entry(way).or_default() += 1;
        self.sorts |= reading.sorts;
        let rows = query_of(table, &reading).rows().await?.collect().await?;
        self.rows_returned += rows.len() as u64;
        Ok(())
    }

    fn finish(self, question: &Question) -> QuestionCost {
        let mean = |sum: u64| sum as f64 / ASKED as f64;
        let most = self.ways.into_iter().max_by_key(|(_, count)| *count);
        QuestionCost {
            question: question.to_string(),
            per_second: question.per_second,
            asked: ASKED,
            way: most.map_or_else(String::new, |(way, _)| way),
            rows_returned: mean(self.rows_returned),
            bytes_returned: mean(self.bytes_returned),
            is_limited: self.limited == ASKED,
            sorts: self.sorts,
            ranges: mean(self.ranges),
            reads: QuestionReads {
                rows: mean(self.rows),
                rows_max: self.rows_max,
                cells: mean(self.cells),
                bytes: mean(self.bytes),
                files: mean(self.files),
                blocks: mean(self.blocks),
                cpu_micros: self.cpu_micros.map(|sum| sum / ASKED as f64),
            },
        }
    }
}
