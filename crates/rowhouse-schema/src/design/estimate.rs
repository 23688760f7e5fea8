//! What designs cost, estimated without a store: rows that plans read, among the keys of few rows,
//! and how that number grows with the table.

use rowhouse_model::{Bytes, Columns, Result, RowRange};

use super::question::Question;
use super::reading::Way;
use super::spread::Spread;
use super::table_design::Design;
use super::workload::{Record, Workload};
use crate::index::{Index, IndexCost};
use crate::plan::{Plan, Predicate};
use crate::time::TimeZone;

/// Rows of the larger sample, unless the workload has fewer.
const SAMPLED: u64 = 20_000;
/// The smaller sample has this part of them.
const SMALLER: u64 = 4;
/// How often each question is asked.
const ASKED: u64 = 100;
/// A number that differs by a smaller part between the two samples does not grow.
const SAME: f64 = 0.05;
/// A range that is read costs as much as this many rows: a seek in each family and file, and on a
/// cluster a call.
pub(super) const ROWS_PER_RANGE: f64 = 10.0;

/// Estimates designs of one workload.
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
///     let design = Design::new(&workload, key, &[""; 0])?;
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

/// An estimate of a design.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct DesignEstimate {
    /// The questions, in the order of the workload.
    pub questions: Vec<QuestionEstimate>,
    /// How the writes of the sample are spread.
    pub spread: Spread,
    /// The cost of all questions and indexes per second, in rows: see
    /// [`DesignEstimate::share`] for the writes.
    pub cost: f64,
}

/// An estimate of a question: averages over the times that it is asked.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct QuestionEstimate {
    /// The way that costs least at the real size of the table.
    pub way: Way,
    /// Rows and entries read in a table with the rows of the workload.
    pub rows: f64,
    /// Rows and entries read at the real size of the table.
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

/// Rows of a workload that has only so many.
#[derive(Clone, Debug)]
struct Sampled {
    workload: Workload,
    records: Vec<Record>,
    /// For each question, the rows that match on average.
    matching: Vec<f64>,
}

/// A number at the sizes of the two samples, which is taken to be a constant and a part that grows
/// with the table.
#[derive(Clone, Copy, Debug, Default)]
struct Growing {
    constant: f64,
    per_row: f64,
}

/// What a way of reading reads of a table, before a limit ends it.
struct WayReads {
    way: Way,
    rows: Growing,
    ranges: f64,
    /// Whether a limit ends the reading early.
    streams: bool,
    /// Rows read for each entry: 0 if entries are the answer, and for the key.
    fetched: f64,
    /// Whether the ways of questions about the newest rows need this one for its order.
    is_fixed: bool,
    /// Whether all rows are read for their order.
    sorts: bool,
}

impl Estimator {
    /// Makes samples of the rows of a workload.
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
    /// `InvalidRequest` for a value that a field of the key cannot hold.
    pub fn estimate(&self, design: &Design) -> Result<DesignEstimate> {
        let [smaller, larger] = &self.samples;
        let tables = [smaller.tables(design)?, larger.tables(design)?];
        let questions = (0..larger.workload.questions().len())
            .map(|at| self.question(design, &tables, at))
            .collect::<Result<Vec<_>>>()?;
        let spread = Spread::of(&larger.workload, design)?;
        let asked = larger.workload.questions().iter().zip(&questions);
        let reads = asked.map(|(question, cost)| {
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
        let ways = few.into_iter().zip(many).map(|(few, many)| WayReads {
            rows: Growing::through(sizes, [few.rows.constant, many.rows.constant]),
            ..many
        });
        let ways: Vec<WayReads> = ways.collect();
        let matching = Growing::through(sizes, [smaller.matching[at], larger.matching[at]]);
        let limit = larger.workload.questions()[at].limit;
        let rows_at = |rows: f64| self.cheapest(&ways, matching, limit, rows);
        let (at_size, at_real) = (rows_at(self.rows), rows_at(self.rows_real));
        let chosen = &ways[at_real.0];
        Ok(QuestionEstimate {
            way: chosen.way.clone(),
            rows: at_size.1,
            rows_real: at_real.1,
            ranges: chosen.ranges,
        })
    }

    /// Returns the way that the database chooses in a table with so many rows, and the rows that it
    /// reads.
    fn cheapest(
        &self,
        ways: &[WayReads],
        matching: Growing,
        limit: Option<u64>,
        rows: f64,
    ) -> (usize, f64) {
        let matching = matching.at(rows);
        let share = |way: &WayReads| match limit.filter(|_| way.streams && !way.sorts) {
            Some(limit) if matching > limit as f64 => limit as f64 / matching,
            _ => 1.0,
        };
        let read = |way: &WayReads| {
            let in_ranges = way.rows.at(rows) * share(way);
            in_ranges * (1.0 + way.fetched)
        };
        let key_cells = ways.first().map_or(0.0, |key| read(key) * self.columns);
        let (mut chosen, mut least) = (0, f64::INFINITY);
        for (at, way) in ways.iter().enumerate() {
            if way.is_fixed {
                return (at, read(way));
            }
            let Way::Index(_) = way.way else { continue };
            let entries = way.rows.at(rows) * share(way);
            // As the planner weighs them.
            let cells = IndexCost::of_entries(entries, way.fetched > 0.0);
            if cells < least && IndexCost::is_clearly_less(cells, key_cells) {
                (chosen, least) = (at, cells);
            }
        }
        (chosen, ways.get(chosen).map_or(0.0, read))
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

    /// Returns how many rows match a question on average.
    fn matching(&self, question: &Question) -> Result<f64> {
        let plain = self.workload.plain_design()?;
        let keys = self.records.iter().zip(0..).map(|(record, at)| plain.key_of(record, at));
        let mut keys: Vec<(Bytes, usize)> =
            keys.zip(0..).map(|(key, at)| Ok((key?, at))).collect::<Result<_>>()?;
        keys.sort_unstable();
        let mut matching = 0;
        // A condition on columns looks at the cells of all rows.
        let asked = if question.text().is_empty() { 1 } else { ASKED.min(20) };
        for nth in 0..asked {
            let predicate = self.workload.ask_predicate(question, nth)?;
            let plan = plain.plan_by_key(&predicate)?;
            for range in plan.ranges() {
                let from = keys.partition_point(|(key, _)| key[..] < range.start[..]);
                let inside = keys[from..].iter().take_while(|(key, _)| range.contains(key));
                for (key, at) in inside {
                    matching += u64::from(self.matches(&plain, &plan, key, *at)?);
                }
            }
        }
        Ok(matching as f64 / asked as f64)
    }

    fn matches(&self, plain: &Design, plan: &Plan, key: &Bytes, at: usize) -> Result<bool> {
        if !plan.matches_key(key) {
            return Ok(false);
        }
        let Some(filter) = plan.column_filter() else { return Ok(true) };
        let cells = plain.cells(key, &self.records[at])?;
        Ok(filter.matches(&cells).unwrap_or(false))
    }

    /// Returns the sorted keys of the table and of the entries of each index.
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

    /// Returns the ways to read a question, the key first, with the numbers of this sample.
    fn ways(&self, design: &Design, tables: &[Vec<Bytes>], at: usize) -> Result<Vec<WayReads>> {
        let question = &self.workload.questions()[at];
        let mut ways: Vec<WayReads> = Vec::new();
        for nth in 0..ASKED {
            let reading = design.reading(&self.workload, question, nth)?;
            let key = design.plan_by_key(&reading.predicate)?;
            let by_key = WayReads::new(Way::Key, &key, &tables[0]);
            let by_indexes = design.indexes().iter().zip(&tables[1..]).map(|(index, entries)| {
                WayReads::by_index(design, index, &reading.predicate, entries)
            });
            let all = [by_key].into_iter().chain(by_indexes);
            for (place, mut way) in all.enumerate() {
                way.is_fixed = reading.way.as_ref() == Some(&way.way);
                // An index that is named is read in its own order.
                way.streams |= way.is_fixed;
                way.sorts = reading.sorts;
                match ways.get_mut(place) {
                    None => ways.push(way),
                    Some(sum) => sum.add(&way),
                }
            }
        }
        for way in &mut ways {
            way.rows.constant /= ASKED as f64;
            way.ranges /= ASKED as f64;
        }
        Ok(ways)
    }
}

impl WayReads {
    fn new(way: Way, plan: &Plan, keys: &[Bytes]) -> Self {
        Self {
            way,
            rows: Growing { constant: rows_in(plan.ranges(), keys) as f64, per_row: 0.0 },
            ranges: plan.ranges().len() as f64,
            streams: true,
            fetched: 0.0,
            is_fixed: false,
            sorts: false,
        }
    }

    /// As [`WayReads::new`]; an index that cannot serve the query reads infinitely many entries.
    fn by_index(design: &Design, index: &Index, predicate: &Predicate, entries: &[Bytes]) -> Self {
        let (columns, zone, wanted) = (design.columns(), &TimeZone::UTC, Columns::all());
        let way = Way::Index(index.name().to_owned());
        match index.plan(design.key(), columns, predicate, zone, &wanted) {
            Ok(plan) => Self {
                streams: plan.is_in_key_order(),
                fetched: if plan.is_covered(&wanted) { 0.0 } else { 1.0 },
                ..Self::new(way, plan.plan(), entries)
            },
            Err(_) => Self {
                way,
                rows: Growing { constant: f64::INFINITY, per_row: 0.0 },
                ranges: 0.0,
                streams: false,
                fetched: 0.0,
                is_fixed: false,
                sorts: false,
            },
        }
    }

    fn add(&mut self, other: &Self) {
        self.rows.constant += other.rows.constant;
        self.ranges += other.ranges;
        self.is_fixed &= other.is_fixed;
        self.streams &= other.streams;
        self.sorts |= other.sorts;
    }
}

impl Growing {
    /// Returns the number that has these values at these sizes.
    fn through(sizes: [f64; 2], values: [f64; 2]) -> Self {
        let [few, many] = values;
        if !many.is_finite() || (many - few) <= SAME * many || sizes[1] <= sizes[0] {
            return Self { constant: many, per_row: 0.0 };
        }
        let per_row = ((many - few) / (sizes[1] - sizes[0])).min(many / sizes[1]);
        Self { constant: many - per_row * sizes[1], per_row }
    }

    fn at(self, size: f64) -> f64 {
        self.constant + self.per_row * size
    }
}

/// Returns how many of the sorted keys are in ranges.
fn rows_in(ranges: &[RowRange], keys: &[Bytes]) -> usize {
    let below = |bound: &[u8]| keys.partition_point(|key| key[..] < *bound);
    let rows = ranges.iter().map(|range| {
        let stop = if range.stop.is_empty() { keys.len() } else { below(&range.stop) };
        stop.saturating_sub(below(&range.start))
    });
    rows.sum()
}
