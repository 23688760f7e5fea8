//! What designs cost, estimated without a store: rows that plans read, among the keys that few rows
//! have, and how that number grows with the table.

use rowhouse_model::{Bytes, Columns, Error, Result, Row, RowRange};

use super::growth::Growth;
use super::question::Question;
use super::reading::{Way, newest_direction};
use super::spread::{Spread, TableSpread};
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
    /// What all questions cost per second, in rows.
    pub reads: f64,
    /// What all writes cost per second, in rows: see [`Spread::load`].
    pub load: f64,
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
    /// The most rows and entries that this way can read there: a limit ends it, or the table.
    pub rows_possible: f64,
    /// Ranges read in a table with the workload's rows.
    pub ranges: f64,
    /// Ranges read at the table's real size.
    pub ranges_real: f64,
}

impl DesignEstimate {
    /// The share of the writes, from 0 to 1, that the busiest region takes in the median interval.
    pub fn share(&self) -> f64 {
        self.spread.median()
    }

    /// The score: what questions and writes cost; the least is the best.
    pub fn score(&self) -> f64 {
        self.reads + self.load
    }
}

impl QuestionEstimate {
    /// What the question costs each time at the table's real size, in rows.
    pub(super) fn cost(&self) -> f64 {
        self.rows_real + ROWS_PER_RANGE * self.ranges_real
    }
}

/// One table of a design, estimated: the table itself, or an index.
#[derive(Clone, Debug)]
pub(super) struct TableEstimate {
    pub(super) spread: TableSpread,
    /// For each question, how this table reads it.
    ways: Vec<(WayReads, Growth)>,
}

/// The row count, for a workload that has only so many.
#[derive(Clone, Debug)]
struct Sampled {
    workload: Workload,
    records: Vec<Record>,
    /// For each question, the query each time that it is asked.
    predicates: Vec<Vec<Predicate>>,
    /// For each question, the rows that match, each time that it is asked.
    matching: Vec<Vec<f64>>,
    /// For each question, the most rows that can match in a table of any size.
    matching_max: Vec<f64>,
}

/// What one way to read reads from a table, before a limit ends it.
#[derive(Clone, Debug)]
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
    /// True if it has the order that the question requires; false if it requires none.
    is_ordered: bool,
}

/// What is known about a question.
struct QuestionModel<'e> {
    limit: Option<u64>,
    /// True if the newest rows are requested.
    needs_order: bool,
    matching: &'e [f64],
    matching_growth: Growth,
    /// The most rows that can match in a table of any size.
    matching_max: f64,
    /// The ways to read it, the key first, and their growths.
    ways: Vec<&'e (WayReads, Growth)>,
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
        let tables = (0..=design.indexes().len()).map(|at| self.table(design, at));
        let tables = tables.collect::<Result<Vec<_>>>()?;
        Ok(self.of_tables(&tables.iter().collect::<Vec<_>>()))
    }

    /// Estimates one table of a design: 0 is the table itself, and the indexes follow.
    pub(super) fn table(&self, design: &Design, at: usize) -> Result<TableEstimate> {
        let [smaller, larger] = &self.samples;
        let index = at.checked_sub(1).map(|at| &design.indexes()[at]);
        let template = index.map_or(design.key(), Index::template);
        let keys = larger.keys(design, at)?;
        let name = index.map(Index::name);
        let spread = TableSpread::of_keys(&larger.workload, name, template, &keys)?;
        let few = sorted(smaller.keys(design, at)?);
        let many = sorted(keys);
        let sizes = self.sizes();
        let questions = 0..larger.workload.questions().len();
        let ways = questions.map(|question| {
            let few = smaller.way(design, index, &few, question)?;
            let many = larger.way(design, index, &many, question)?;
            let growth = Growth::between(sizes, [&few.rows, &many.rows]);
            Ok((many, growth))
        });
        Ok(TableEstimate { spread, ways: ways.collect::<Result<_>>()? })
    }

    /// Estimates the design that has these tables, the table itself first.
    pub(super) fn of_tables(&self, tables: &[&TableEstimate]) -> DesignEstimate {
        let workload = &self.samples[1].workload;
        let questions: Vec<QuestionEstimate> =
            (0..workload.questions().len()).map(|at| self.question(tables, at)).collect();
        let costs = workload.questions().iter().zip(&questions);
        let reads = costs.map(|(question, cost)| question.per_second * cost.cost());
        let reads = reads.fold(0.0, |sum, cost| sum + cost);
        let spread = Spread { tables: tables.iter().map(|table| table.spread.clone()).collect() };
        let load = spread.load(workload);
        DesignEstimate { questions, spread, reads, load }
    }

    /// Estimates a question to a design with these tables.
    pub(super) fn question(&self, tables: &[&TableEstimate], at: usize) -> QuestionEstimate {
        let [smaller, larger] = &self.samples;
        let question = &larger.workload.questions()[at];
        let matching = &larger.matching[at];
        let model = QuestionModel {
            limit: question.limit,
            needs_order: larger.workload.needs_order(question),
            matching,
            matching_growth: Growth::between(self.sizes(), [&smaller.matching[at], matching]),
            matching_max: larger.matching_max[at],
            ways: tables.iter().map(|table| &table.ways[at]).collect(),
        };
        let chosen = model.cheapest(self.rows_real, self.columns);
        QuestionEstimate {
            way: model.ways[chosen].0.way.clone(),
            rows: model.rows_read(chosen, self.rows),
            rows_real: model.rows_read(chosen, self.rows_real),
            rows_possible: model.rows_possible(chosen, self.rows_real),
            ranges: model.ranges_read(chosen, self.rows),
            ranges_real: model.ranges_read(chosen, self.rows_real),
        }
    }

    fn sizes(&self) -> [f64; 2] {
        [0, 1].map(|at| self.samples[at].records.len() as f64)
    }
}

impl QuestionModel<'_> {
    /// Returns true if all rows are read for their order.
    fn sorts(&self) -> bool {
        self.needs_order && !self.ways.iter().any(|(way, _)| way.is_ordered)
    }

    /// The row count that ends the reading, for a way that a limit ends.
    fn limit(&self) -> Option<f64> {
        self.limit.filter(|_| !self.sorts()).map(|limit| limit as f64)
    }

    /// Returns the way that a question in a table with so many rows is read by: the cheapest one
    /// with its order, or the one that the database chooses most often, each time by the same costs
    /// as a query.
    fn cheapest(&self, rows: f64, columns: f64) -> usize {
        let cost =
            |at: usize| self.rows_read(at, rows) + ROWS_PER_RANGE * self.ranges_read(at, rows);
        let ordered = (0..self.ways.len()).filter(|at| self.ways[*at].0.is_ordered);
        if let Some(ordered) = ordered.min_by(|one, other| cost(*one).total_cmp(&cost(*other))) {
            return ordered;
        }
        let limit = self.limit.filter(|_| !self.sorts()).unwrap_or(u64::MAX);
        let mut chosen = vec![0; self.ways.len()];
        for nth in 0..self.ways[0].0.rows.len() {
            let in_ranges = |(way, growth): &(WayReads, Growth)| growth.at(way.rows[nth], rows);
            let key_cells = in_ranges(self.ways[0]) * columns;
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

    /// Returns true if all rows in a way's ranges match, each time.
    fn is_exact(&self, at: usize) -> bool {
        self.ways[at].0.rows.iter().zip(self.matching).all(|(rows, matching)| rows <= matching)
    }

    /// Returns the mean row or entry count for a way, up to the limit if it ends the reading.
    fn mean(&self, at: usize, rows: f64, is_ended: bool) -> f64 {
        let (way, growth) = self.ways[at];
        let limit = self.limit().filter(|_| is_ended);
        let is_exact = self.is_exact(at);
        let counts = way.rows.iter().zip(self.matching).map(|(in_ranges, matching)| {
            let in_ranges = growth.at(*in_ranges, rows);
            // Rows that match are in the ranges.
            if is_exact {
                return limit
                    .map_or(in_ranges, |limit| limit.min(in_ranges))
                    .min(self.matching_max);
            }
            let matching = self.matching_growth.at(*matching, rows);
            let matching = matching.min(in_ranges).min(self.matching_max);
            let share = limit.map_or(1.0, |limit| (limit / matching).min(1.0));
            in_ranges * share
        });
        let count = self.matching.len().min(way.rows.len()).max(1) as f64;
        counts.fold(0.0, |sum, count| sum + count) / count
    }

    /// Returns the rows by the key, or the index entries, that one question reads until the limit
    /// ends the reading.
    fn entries(&self, at: usize, rows: f64) -> f64 {
        let way = &self.ways[at].0;
        self.mean(at, rows, way.streams || way.is_ordered)
    }

    /// Returns the rows that one question reads for index entries.
    fn fetched(&self, at: usize, rows: f64) -> f64 {
        if self.ways[at].0.fetched == 0.0 {
            return 0.0;
        }
        self.mean(at, rows, true) * self.ways[at].0.fetched
    }

    /// Returns the rows and entries that one question reads.
    fn rows_read(&self, at: usize, rows: f64) -> f64 {
        self.entries(at, rows) + self.fetched(at, rows)
    }

    /// Returns the most rows and entries that one question can read.
    fn rows_possible(&self, at: usize, rows: f64) -> f64 {
        let way = &self.ways[at].0;
        let is_exact = self.is_exact(at);
        let in_ranges = if is_exact { rows.min(self.matching_max) } else { rows };
        let limit = self.limit().filter(|_| is_exact).unwrap_or(f64::INFINITY);
        let fetched = limit.min(in_ranges) * way.fetched;
        let ended = if way.streams || way.is_ordered { limit } else { f64::INFINITY };
        ended.min(in_ranges) + fetched
    }

    /// Returns the ranges that one question reads, and the rows that it reads one by one.
    fn ranges_read(&self, at: usize, rows: f64) -> f64 {
        let (way, _) = self.ways[at];
        way.ranges / way.rows.len().max(1) as f64 + self.fetched(at, rows)
    }
}

impl Sampled {
    fn new(workload: &Workload, rows: u64) -> Result<Self> {
        let workload = workload.clone().with_rows(rows)?;
        let records =
            (0..rows).map(|number| workload.record(number)).collect::<Result<Vec<_>>>()?;
        let predicates = workload.questions().iter().map(|question| {
            (0..RUNS).map(|nth| workload.ask_predicate(question, nth)).collect::<Result<Vec<_>>>()
        });
        let predicates = predicates.collect::<Result<Vec<_>>>()?;
        let matching_max = predicates.iter().map(|predicates: &Vec<Predicate>| {
            let counts = predicates.iter().map(|predicate| workload.matching_max(predicate));
            counts
                .map(|count| count.map_or(f64::INFINITY, |count| count as f64))
                .fold(0.0, f64::max)
        });
        let matching_max = matching_max.collect();
        let mut sampled =
            Self { workload, records, predicates, matching: Vec::new(), matching_max };
        sampled.matching = sampled.all_matching()?;
        Ok(sampled)
    }

    /// Returns, for each question, how many rows match each time.
    fn all_matching(&self) -> Result<Vec<Vec<f64>>> {
        let plain = self.workload.plain_design()?;
        let mut keys = Vec::with_capacity(self.records.len());
        for (at, record) in self.records.iter().enumerate() {
            keys.push((plain.key_of(record, at as u64)?, at));
        }
        keys.sort_unstable();
        let mut cells: Vec<Option<Row>> = vec![None; self.records.len()];
        let questions = self.workload.questions().iter().enumerate();
        questions
            .map(|(at, question)| self.matching(&plain, &keys, &mut cells, at, question))
            .collect()
    }

    fn matching(
        &self,
        plain: &Design,
        keys: &[(Bytes, usize)],
        cells: &mut [Option<Row>],
        at: usize,
        question: &Question,
    ) -> Result<Vec<f64>> {
        // Without values that are drawn, all answers are equal.
        let runs = if question.rows_drawn() == 0 { 1 } else { RUNS as usize };
        let mut matching = Vec::new();
        let mut judged = 0;
        for predicate in &self.predicates[at][..runs] {
            let plan = plain.plan_by_key(predicate)?;
            let mut count = 0;
            for range in plan.ranges() {
                let from = keys.partition_point(|(key, _)| key[..] < range.start[..]);
                let inside = keys[from..].iter().take_while(|(key, _)| range.contains(key));
                for (key, at) in inside {
                    judged += 1;
                    count += u64::from(self.matches(plain, &plan, key, *at, &mut cells[*at])?);
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

    /// Returns the keys that each row has in the table, or in an index: see [`Estimator::table`].
    fn keys(&self, design: &Design, at: usize) -> Result<Vec<Vec<Bytes>>> {
        let records = self.records.iter().zip(0..);
        let keys = records.map(|(record, number)| {
            let key = design.key_of(record, number)?;
            match at.checked_sub(1) {
                None => Ok(vec![key]),
                Some(index) => design.entries_of(index, &key, record),
            }
        });
        keys.collect()
    }

    /// Returns how the key or an index reads a question from a table with these sorted keys.
    fn way(
        &self,
        design: &Design,
        index: Option<&Index>,
        keys: &[Bytes],
        at: usize,
    ) -> Result<WayReads> {
        let question = &self.workload.questions()[at];
        let time = self.workload.time_field().filter(|_| question.newest);
        let mut reads: Option<WayReads> = None;
        let runs = if question.rows_drawn() == 0 { 1 } else { RUNS as usize };
        for predicate in &self.predicates[at][..runs] {
            let way = match index {
                None => WayReads::new(Way::Key, &design.plan_by_key(predicate)?, keys, time),
                Some(index) => WayReads::by_index(design, index, predicate, keys, time),
            };
            match &mut reads {
                None => reads = Some(way),
                Some(sum) => sum.add(way),
            }
        }
        // Each question is asked at least once.
        reads.ok_or_else(|| Error::invalid("a question that is never asked"))
    }
}

impl WayReads {
    fn new(way: Way, plan: &Plan, keys: &[Bytes], time: Option<&str>) -> Self {
        Self {
            way,
            rows: vec![rows_in(plan.ranges(), keys) as f64],
            costs: vec![None],
            ranges: plan.ranges().len() as f64,
            streams: true,
            fetched: 0.0,
            is_ordered: time.is_some_and(|time| newest_direction(plan, time).is_some()),
        }
    }

    /// As [`WayReads::new`]; an index that cannot serve the query reads infinitely many entries.
    fn by_index(
        design: &Design,
        index: &Index,
        predicate: &Predicate,
        entries: &[Bytes],
        time: Option<&str>,
    ) -> Self {
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
                    ..Self::new(way, plan.plan(), entries, time)
                }
            }
            Err(_) => Self {
                way,
                rows: vec![f64::INFINITY],
                costs: vec![None],
                ranges: 0.0,
                streams: false,
                fetched: 0.0,
                is_ordered: false,
            },
        }
    }

    fn add(&mut self, other: Self) {
        self.rows.extend(other.rows);
        self.costs.extend(other.costs);
        self.ranges += other.ranges;
        self.is_ordered &= other.is_ordered;
        self.streams &= other.streams;
    }
}

/// Returns all keys in order.
fn sorted(keys: Vec<Vec<Bytes>>) -> Vec<Bytes> {
    let mut keys = keys.concat();
    keys.sort_unstable();
    keys
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
        // Most ranges in so few rows go beyond the last one.
        for rows_made in [150, 600] {
            let text = text.replace("2000", &rows_made.to_string());
            for key in ["[n u64]", "[bucket 16 of n][n u64]"] {
                let (now, real) = rows(&text, key, "");
                assert!(now <= 100.0 && real <= 100.0, "{rows_made} {key}: {now} {real}");
            }
        }
        let text = "field n u64: sequence\nwrite 100/s\nrows 2000\nask n = ? : 1/s";
        assert_eq!(rows(text, "[n u64]", ""), (1.0, 1.0));
    }

    #[test]
    fn a_limit_by_an_exact_index_is_never_exceeded_under_any_seed() {
        for seed in 0..20 {
            let text = format!(
                "field order u64: sequence\ncolumn o:c customer string: 5e4 values, zipf 0.8\n\
                 column o:p placed millis: now\nwrite 20/s\nrows 3000\nseed {seed}\n\
                 ask customer = ? newest 10 : 30/s"
            );
            let index = "by_customer [customer][placed desc null last]";
            let (now, real) = rows(&text, "[order u64]", index);
            assert!(now <= 20.0 && real <= 20.0, "seed {seed}: {now} {real}");
        }
    }

    #[test]
    fn no_estimate_exceeds_the_rows_that_exist() {
        for question in ["sender = ?", "user = ? and sender = ? newest 5", "at >= now - 1d"] {
            let text = format!(
                "{ROWS}column d:s sender string: 4000 values, zipf 1\nask {question} : 1/s"
            );
            for key in ["[user string][at millis]", "[bucket 4 of at][at millis][user string]"] {
                let (_, real) = rows(&text, key, "by_sender [sender][at]");
                assert!(real <= 2.0 * 864_000.0, "{question} {key}: {real}");
            }
        }
    }

    #[test]
    fn numbers_that_begin_again_are_no_bound() {
        let text =
            "field n u8: sequence\nfield id uuid: random\nwrite 100/s\nrows 2000\nask n = ? : 1/s";
        let (_, real) = rows(text, "[n u8][id uuid]", "");
        assert!(real > 10_000.0, "{real}");
    }

    #[test]
    fn an_index_reads_an_entry_and_a_row_for_each_match() {
        let text =
            format!("{ROWS}column d:s sender string: 4000 values\nask sender = ? limit 1 : 1/s");
        let (_, real) = rows(&text, "[user string][at millis]", "by_sender [sender]");
        assert!((2.0..3.0).contains(&real), "{real}");
    }
}
