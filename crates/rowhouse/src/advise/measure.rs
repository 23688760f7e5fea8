//! Runs a question and counts what that reads.

use std::collections::BTreeMap;
use std::time::Duration;

use rowhouse_model::Result;
use rowhouse_schema::{Design, Direction, Question, QuestionReading, Way, Workload};
use rowhouse_store::ReadTotals;

use super::fill::index_table;
use super::simulation::QuestionCost;
use crate::query::Query;
use crate::table::Table;

/// How often each question is run, with other values each time.
const ASKED_MAX: u32 = 20;
/// A question that has read so many rows is not run again.
const ROWS_ENOUGH: u64 = 2_000_000;

/// Sums over a question's runs.
#[derive(Default)]
struct Sums {
    asked: u32,
    ways: BTreeMap<Way, u64>,
    rows_returned: u64,
    bytes_returned: u64,
    sorts: bool,
    ranges: u64,
    totals: ReadTotals,
    rows_max: u64,
    cpu: Duration,
}

/// Runs a question several times, with values drawn from the rows. If it requires an order, it is
/// read by this way, as a program would that knows the table.
pub(super) async fn measure(
    table: &Table,
    workload: &Workload,
    design: &Design,
    question: &Question,
    way: &Way,
) -> Result<QuestionCost> {
    let mut sums = Sums::default();
    while sums.asked < ASKED_MAX && sums.totals.rows_read < ROWS_ENOUGH {
        let mut readings = design.readings(workload, question, sums.asked.into())?;
        let chosen = readings.iter().position(|reading| reading.way.as_ref() == Some(way));
        let reading = readings.swap_remove(chosen.unwrap_or(0));
        sums.add(table, reading).await?;
    }
    Ok(sums.finish(question))
}

/// Returns the query for a reading.
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
        let analysis = query_of(table, &reading).analyze().await?;
        self.asked += 1;
        let total = analysis.total();
        let tables = &analysis.reads().tables;
        let by_index = tables.iter().find(|reads| reads.table != *table.name());
        // Each entry leads to a separate row.
        let fetched = match by_index {
            Some(_) => analysis.reads().table(table.name()).map_or(0, |it| it.total().rows_read),
            None => 0,
        };
        let index = by_index.and_then(|reads| index_of(reads.table.qualifier()));
        *self.ways.entry(index.map_or(Way::Key, Way::Index)).or_default() += 1;
        self.sorts |= reading.sorts;
        self.rows_returned += analysis.rows_returned();
        self.bytes_returned += analysis.bytes_returned();
        self.ranges += analysis.ranges() + fetched;
        self.rows_max = self.rows_max.max(total.rows_read);
        self.totals += total;
        self.cpu += analysis.cpu();
        Ok(())
    }

    fn finish(self, question: &Question) -> QuestionCost {
        let mean = |sum: u64| sum as f64 / f64::from(self.asked);
        let totals = self.totals;
        let most = self.ways.into_iter().max_by_key(|(_, count)| *count);
        let way = most.map_or(Way::Key, |(way, _)| way);
        QuestionCost {
            question: question.to_string(),
            per_second: question.per_second,
            asked: self.asked.into(),
            way_real: way.clone(),
            way,
            rows_returned: mean(self.rows_returned),
            bytes_returned: mean(self.bytes_returned),
            sorts: self.sorts,
            ranges: mean(self.ranges),
            rows: mean(totals.rows_read),
            rows_max: self.rows_max,
            // The simulation knows the way and the rows at the real size.
            rows_real: mean(totals.rows_read),
            rows_possible: f64::INFINITY,
            ranges_real: mean(self.ranges),
            cells: mean(totals.cells_read),
            bytes: mean(totals.bytes_cached + totals.bytes_from_disk),
            files: mean(totals.files_read),
            blocks: mean(totals.blocks()),
            cpu: self.cpu / self.asked,
        }
    }
}

/// Returns the name that the index with this table has.
fn index_of(table: &str) -> Option<String> {
    table.strip_prefix(&index_table("")).map(str::to_owned)
}
