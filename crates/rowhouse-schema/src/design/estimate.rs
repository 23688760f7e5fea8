//! What designs cost, estimated without a store: rows that plans read, among the keys that few rows
//! have, and how that number grows with the table.

use rowhouse_model::{Bytes, Columns, Result, Row, RowRange};

use super::growth::Growth;
use super::question::Question;
use super::reading::Way;
use super::spread::Spread;
use super::table_design::Design;
use super::workload::{Record, Workload};
use crate::index::{Index, IndexCost};
use crate::plan::{Plan, Predicate};
use crate::time::TimeZone;

/// Rows in the larger sample, unless the workload has fewer.
const SAMPLED: u64 = 20_000;
/// The smaller sample has this part of the rows.
const SMALLER: u64 = 4;
/// How often each question is run.
const RUNS: u64 = 100;
/// A question is not run again when so many rows were compared with its conditions.
const JUDGED_MAX: u64 = 200_000;
/// A range that is read costs as much as this many rows: a seek in each family and file, and on a
/// cluster a call.
pub const ROWS_PER_RANGE: f64 = 10.0;

/// Estimates designs for one workload.
///
/// ```
/// use rowhouse_schema::{Design, Estimator, Workload};
///
/// let text = "\
/// field user string: 500 values
/// field at millis: now
/// write 100/s
/// ask user = ? newest 20 : 1/s";
/// let workload = Workload::parse(text)?;
/// let estimator = Estimator::new(&workload)?;
/// let rows = |key| {
///     let design = Design::new(&workload, key, "")?;
///     Ok::<_, rowhouse_model::Error>(estimator.estimate(&design)?.questions[0].rows_real)
/// };
/// assert_eq!(rows("[user string][at millis desc]")?, 20.0);
/// // One row in 500 is of the user.
/// assert!(rows("[at millis desc][user string]")? > 5_000.0);
/// # Ok::<(), rowhouse_model::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Estimator {
    /// The smaller sample first.
    samples: [Sampled; 2],
    rows: f64,
    rows_real: f64,
    columns: f64,
}

/// A design's estimate.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DesignEstimate {
    /// The questions, in workload order.
    pub questions: Vec<QuestionEstimate>,
    /// How the sample's writes are spread.
    pub spread: Spread,
    /// What all questions and indexes cost per second, in rows: see [`DesignEstimate::share`] for
    /// the writes.
    pub cost: f64,
}

/// A question's estimate: averages over the times that it is asked.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct QuestionEstimate {
    /// The way that costs least at the table's real size.
    pub way: Way,
    /// Rows and entries that this way reads in a table with the workload's rows.
    pub rows: f64,
    /// Rows and entries read at the table's real size.
    pub rows_real: f64,
    /// Ranges read.
    pub ranges: f64,
}

impl DesignEstimate {
    /// The share of the writes, from 0 to 1, that the busiest region takes in the median interval.
    pub fn share(&self) -> f64 {
        self.spread.median()
    }
}

/// The row count, for a workload that has only so many.
#[derive(Clone, Debug)]
struct Sampled {
    workload: Workload,
    records: Vec<Record>,
    /// For each question, the rows that match, each time that it is asked.
    matching: Vec<Vec<f64>>,
}

/// What one way to read reads from a table, before a limit ends it.
struct WayReads {
    way: Way,
    /// Rows or entries in the ranges, each time that the question is asked.
    rows: Vec<f64>,
    /// The cost by an index, each time, regardless of the entries; `None` for the key, and where
    /// the index cannot serve.
    costs: Vec<Option<IndexCost>>,
    /// Ranges each time, without the rows to which entries lead.
    ranges: f64,
    /// True if a limit ends the reading early.
    streams: bool,
    /// Rows read for each entry: 0 if entries are the answer, and for the key.
    fetched: f64,
    /// True if a question about the newest rows needs this way for its order.
    is_fixed: bool,
    /// True if all rows are read for their order.
    sorts: bool,
}

/// What is known about a question.
struct QuestionModel {
    limit: Option<u64>,
    matching: Vec<f64>,
    matching_growth: Growth,
    /// The ways to read it, the key first, and their growths.
    ways: Vec<(WayReads, Growth)>,
}

impl Estimator {
    /// Makes samples from a workload's rows.
    ///
    /// # Errors
    /// As [`Workload::record`] and [`Workload::ask`].
    pub fn new(workload: &Workload) -> Result<Self> {
        let rows = workload.rows().min(SAMPLED);
        let smaller = (rows / SMALLER).max(1);
        Ok(Self {
            samples: [Sampled::new(workload, smaller)?, Sampled::new(workload, rows)?],
            rows: workload.rows() as f64,
            rows_real: workload.rows_real().max(workload.rows()) as f64,
            columns: workload.columns().map_or(1.0, |columns| columns.columns().len() as f64),
        })
    }

    /// Estimates a design.
    ///
    /// # Errors
    /// `InvalidRequest` for a value that a key field cannot hold.
    pub fn estimate(&self, design: &Design) -> Result<DesignEstimate> {
        let [smaller, larger] = &self.samples;
        let tables = [smaller.tables(design)?, larger.tables(design)?];
        let questions = (0..larger.workload.questions().len())
            .map(|at| self.question(design, &tables, at))
            .collect::<Result<Vec<_>>>()?;
        let spread = Spread::of(&larger.workload, design)?;
        let costs = larger.workload.questions().iter().zip(&questions);
        let reads = costs.map(|(question, cost)| {
            question.per_second * (cost.rows_real + ROWS_PER_RANGE * cost.ranges)
        });
        let writes = larger.workload.writes_per_second() * spread.entries_per_row();
        let cost = reads.sum::<f64>() + writes;
        Ok(DesignEstimate { questions, spread, cost })
    }

    fn question(
        &self,
        design: &Design,
        tables: &[Vec<Vec<Bytes>>; 2],
        at: usize,
    ) -> Result<QuestionEstimate> {
        let [smaller, larger] = &self.samples;
        let sizes = [smaller.records.len() as f64, larger.records.len() as f64];
        let few = smaller.ways(design, &tables[0], at)?;
        let many = larger.ways(design, &tables[1], at)?;
        let ways = few.into_iter().zip(many).map(|(few, many)| {
            let growth = Growth::between(sizes, [&few.rows, &many.rows]);
            (many, growth)
        });
        let matching = &larger.matching[at];
        let model = QuestionModel {
            limit: larger.workload.questions()[at].limit,
            matching: matching.clone(),
            matching_growth: Growth::between(sizes, [&smaller.matching[at], matching]),
            ways: ways.collect(),
        };
        let chosen = model.cheapest(self.rows_real, self.columns);
        Ok(QuestionEstimate {
            way: model.ways[chosen].0.way.clone(),
            rows: model.rows_read(chosen, self.rows),
            rows_real: model.rows_read(chosen, self.rows_real),
            ranges: model.ranges_read(chosen, self.rows_real),
        })
    }
}

impl QuestionModel {
    /// Returns the way that the database chooses most often in a table with so many rows: each time
    /// by the same costs as a query.
    fn cheapest(&self, rows: f64, columns: f64) -> usize {
        if let Some(fixed) = self.ways.iter().position(|(way, _)| way.is_fixed) {
            return fixed;
        }
        let limit = if self.ways[0].0.sorts { None } else { self.limit };
        let limit = limit.unwrap_or(u64::MAX);
        let mut chosen = vec![0; self.ways.len()];
        for nth in 0..self.ways[0].0.rows.len() {
            let in_ranges = |(way, growth): &(WayReads, Growth)| growth.at(way.rows[nth], rows);
            let key_cells = in_ranges(&self.ways[0]) * columns;
            let costs = self.ways[1..]
                .iter()
                .map(|way| Some(way.0.costs[nth]?.with_entries(in_ranges(way).round() as u64)));
            let costs: Vec<_> = costs.collect();
            let cheapest = IndexCost::choose(key_cells.round() as u64, limit, &costs);
            chosen[cheapest.chosen.map_or(0, |at| at + 1)] += 1;
        }
        let most = chosen.iter().enumerate().rev().max_by_key(|(_, times)| **times);
        most.map_or(0, |(at, _)| at)
    }

    /// Returns the rows by the key, or the index entries, that one question reads until the limit
    /// ends the reading.
    fn entries(&self, at: usize, rows: f64) -> f64 {
        self.mean(at, rows, self.ways[at].0.streams)
    }

    /// Returns the rows that one question reads for index entries.
    fn fetched(&self, at: usize, rows: f64) -> f64 {
        self.mean(at, rows, true) * self.ways[at].0.fetched
    }

    /// Returns the mean row or entry count for a way, up to the limit if it ends the reading.
    fn mean(&self, at: usize, rows: f64, is_ended: bool) -> f64 {
        let (way, growth) = &self.ways[at];
        let limit = self.limit.filter(|_| is_ended && !way.sorts);
        let counts = way.rows.iter().zip(&self.matching).map(|(in_ranges, matching)| {
            let matching = self.matching_growth.at(*matching, rows);
            let share = limit.map_or(1.0, |limit| (limit as f64 / matching).min(1.0));
            growth.at(*in_ranges, rows) * share
        });
        counts.sum::<f64>() / self.matching.len().min(way.rows.len()).max(1) as f64
    }

    /// Returns the rows and entries that one question reads.
    fn rows_read(&self, at: usize, rows: f64) -> f64 {
        self.entries(at, rows) + self.fetched(at, rows)
    }

    /// Returns the ranges that one question reads, and the rows that it reads one by one.
    fn ranges_read(&self, at: usize, rows: f64) -> f64 {
        let (way, _) = &self.ways[at];
        way.ranges / way.rows.len().max(1) as f64 + self.fetched(at, rows)
    }
}

impl Sampled {
    fn new(workload: &Workload, rows: u64) -> Result<Self> {
        let workload = workload.clone().with_rows(rows)?;
        let records =
            (0..rows).map(|number| workload.record(number)).collect::<Result<Vec<_>>>()?;
        let mut sampled = Self { workload, records, matching: Vec::new() };
        let questions = sampled.workload.questions().iter();
        sampled.matching = questions.map(|it| sampled.matching(it)).collect::<Result<_>>()?;
        Ok(sampled)
    }

    /// Returns how many rows match a question each time.
    fn matching(&self, question: &Question) -> Result<Vec<f64>> {
        let plain = self.workload.plain_design()?;
        let mut keys = Vec::with_capacity(self.records.len());
        for (at, record) in self.records.iter().enumerate() {
            keys.push((plain.key_of(record, at as u64)?, at));
        }
        keys.sort_unstable();
        // Without values that are drawn, all answers are equal.
        let runs = if question.rows_drawn() == 0 { 1 } else { RUNS };
        let mut matching = Vec::new();
        let mut judged = 0;
        let mut cells: Vec<Option<Row>> = vec![None; self.records.len()];
        for nth in 0..runs {
            let predicate = self.workload.ask_predicate(question, nth)?;
            let plan = plain.plan_by_key(&predicate)?;
            let mut count = 0;
            for range in plan.ranges() {
                let from = keys.partition_point(|(key, _)| key[..] < range.start[..]);
                let inside = keys[from..].iter().take_while(|(key, _)| range.contains(key));
                for (key, at) in inside {
                    judged += 1;
                    count += u64::from(self.matches(&plain, &plan, key, *at, &mut cells[*at])?);
                }
            }
            matching.push(count as f64);
            if judged > JUDGED_MAX {
                break;
            }
        }
        Ok(matching)
    }

    fn matches(
        &self,
        plain: &Design,
        plan: &Plan,
        key: &Bytes,
        at: usize,
        cells: &mut Option<Row>,
    ) -> Result<bool> {
        if !plan.matches_key(key) {
            return Ok(false);
        }
        let Some(filter) = plan.column_filter() else { return Ok(true) };
        let cells = match cells {
            Some(cells) => cells,
            None => cells.insert(plain.cells(key, &self.records[at])?),
        };
        Ok(filter.matches(cells).unwrap_or(false))
    }

    /// Returns the sorted keys in the table and in each index.
    fn tables(&self, design: &Design) -> Result<Vec<Vec<Bytes>>> {
        let mut tables = vec![Vec::new(); 1 + design.indexes().len()];
        for (record, number) in self.records.iter().zip(0..) {
            let key = design.key_of(record, number)?;
            for (at, entries) in design.entries(&key, record)?.into_iter().enumerate() {
                tables[at + 1].extend(entries);
            }
            tables[0].push(key);
        }
        tables.iter_mut().for_each(|keys| keys.sort_unstable());
        Ok(tables)
    }

    /// Returns the ways to read a question, the key first, with this sample's numbers.
    fn ways(&self, design: &Design, tables: &[Vec<Bytes>], at: usize) -> Result<Vec<WayReads>> {
        let question = &self.workload.questions()[at];
        let mut ways: Vec<WayReads> = Vec::new();
        for nth in 0..RUNS {
            let reading = design.reading(&self.workload, question, nth)?;
            let key = design.plan_by_key(&reading.predicate)?;
            let by_key = WayReads::new(Way::Key, &key, &tables[0]);
            let by_indexes = design.indexes().iter().zip(&tables[1..]).map(|(index, entries)| {
                WayReads::by_index(design, index, &reading.predicate, entries)
            });
            let all = [by_key].into_iter().chain(by_indexes);
            for (place, mut way) in all.enumerate() {
                way.is_fixed = reading.way.as_ref() == Some(&way.way);
                // A named index is read in index order.
                way.streams |= way.is_fixed;
                way.sorts = reading.sorts;
                match ways.get_mut(place) {
                    None => ways.push(way),
                    Some(sum) => sum.add(way),
                }
            }
        }
        Ok(ways)
    }
}

impl WayReads {
    fn new(way: Way, plan: &Plan, keys: &[Bytes]) -> Self {
        Self {
            way,
            rows: vec![rows_in(plan.ranges(), keys) as f64],
            costs: vec![None],
            ranges: plan.ranges().len() as f64,
            streams: true,
            fetched: 0.0,
            is_fixed: false,
            sorts: false,
        }
    }

    /// As [`WayReads::new`]; an index that cannot serve the query reads infinitely many entries.
    fn by_index(design: &Design, index: &Index, predicate: &Predicate, entries: &[Bytes]) -> Self {
        let columns = design.columns();
        let zone = &TimeZone::UTC;
        let selected = Columns::all();
        let way = Way::Index(index.name().to_owned());
        match index.plan(design.key(), columns, predicate, zone, &selected) {
            Ok(plan) => {
                let cost = IndexCost::new(&plan, 0, &selected);
                Self {
                    costs: vec![Some(cost)],
                    streams: cost.streams(),
                    fetched: if cost.is_covered() { 0.0 } else { 1.0 },
                    ..Self::new(way, plan.plan(), entries)
                }
            }
            Err(_) => Self {
                way,
                rows: vec![f64::INFINITY],
                costs: vec![None],
                ranges: 0.0,
                streams: false,
                fetched: 0.0,
                is_fixed: false,
                sorts: false,
            },
        }
    }

    fn add(&mut self, other: Self) {
        self.rows.extend(other.rows);
        self.costs.extend(other.costs);
        self.ranges += other.ranges;
        self.is_fixed &= other.is_fixed;
        self.streams &= other.streams;
        self.sorts |= other.sorts;
    }
}

/// Returns how many sorted keys are in ranges.
fn rows_in(ranges: &[RowRange], keys: &[Bytes]) -> usize {
    let below = |bound: &[u8]| keys.partition_point(|key| key[..] < *bound);
    let rows = ranges.iter().map(|range| {
        let stop = if range.stop.is_empty() { keys.len() } else { below(&range.stop) };
        stop.saturating_sub(below(&range.start))
    });
    rows.sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the rows that a workload's only question reads under a key, with the workload's rows
    /// and at the real size.
    fn rows(text: &str, key: &str, indexes: &str) -> (f64, f64) {
        let workload = Workload::parse(text).unwrap();
        let design = Design::new(&workload, key, indexes).unwrap();
        let estimate = Estimator::new(&workload).unwrap().estimate(&design).unwrap();
        (estimate.questions[0].rows, estimate.questions[0].rows_real)
    }

    const ROWS: &str =
        "field user string: 100 values\nfield at millis: now\nwrite 10/s\nrows 8000\n";

    #[test]
    fn rows_of_a_value_grow_with_the_table() {
        let text = format!("{ROWS}ask user = ? : 1/s");
        let (now, real) = rows(&text, "[user string][at millis]", "");
        assert!((70.0..95.0).contains(&now), "{now}");
        // 864,000 rows; a user has a hundredth.
        assert!((7_500.0..10_000.0).contains(&real), "{real}");
    }

    #[test]
    fn a_limit_ends_reading_at_any_size() {
        let text = format!("{ROWS}ask user = ? limit 7 : 1/s");
        assert_eq!(rows(&text, "[user string][at millis]", ""), (7.0, 7.0));
        // One row in a hundred is the user's.
        let (now, real) = rows(&text, "[at millis][user string]", "");
        assert!((500.0..900.0).contains(&now) && (500.0..900.0).contains(&real), "{now} {real}");
    }

    #[test]
    fn ranges_of_a_sequence_and_single_rows_do_not_grow() {
        let text =
            "field n u64: sequence\nwrite 100/s\nrows 2000\nask n >= ? and n < ? + 100 : 1/s";
        let (now, real) = rows(text, "[n u64]", "");
        assert!(now == real && (90.0..=100.0).contains(&real), "{now} {real}");
        let text = "field n u64: sequence\nwrite 100/s\nrows 2000\nask n = ? : 1/s";
        assert_eq!(rows(text, "[n u64]", ""), (1.0, 1.0));
    }

    #[test]
    fn an_index_reads_an_entry_and_a_row_for_each_match() {
        let text =
            format!("{ROWS}column d:s sender string: 4000 values\nask sender = ? limit 1 : 1/s");
        let (_, real) = rows(&text, "[user string][at millis]", "by_sender [sender]");
        assert!((2.0..3.0).contains(&real), "{real}");
    }
}
