//! From a query to the row ranges that hold its rows: pure, in four steps.
//!
//! [`parse`] reads the query, [`bind`] makes of it one [`set`] of values for each field, [`walk`] goes
//! through the template from the left and pins bytes as long as it can, [`explain`] prints what
//! came of it. What the walk asks of a field is in [`found`]: the ranges of the values wanted, or the
//! single ones; a file for each kind of codec answers. The fields of qualifiers go the same way, in
//! [`qualifiers`], and [`parts`] makes reads of their ranges.

mod bind;
mod buckets;
mod columns;
mod constant;
mod cover;
mod estimate;
mod explain;
mod fixed;
mod found;
mod merge;
mod number;
mod open;
mod order;
mod page;
mod parse;
mod parts;
mod predicate;
mod qualifiers;
mod ranges;
mod separated;
mod sequence;
mod set;
mod shortest;
mod streams;
mod terminated;
mod walk;

use jiff::tz::TimeZone;
use rowhouse_model::{Result, RowRange};

pub use columns::ColumnFilter;
pub use estimate::{Estimate, EstimatedRows, Statistics};
pub use merge::StreamMerge;
pub use order::{OrderedField, PlanOrder, RowSequence};
pub use page::Direction;
pub use parts::PlanPart;
pub use predicate::Predicate;
pub use qualifiers::{QualifierPlan, QualifierRange};

use crate::columns::{Column, ColumnSchema};
use crate::key::KeySchema;
use crate::value::{Value, Values};
use bind::Bound;
use ranges::normalize;
use set::Wanted;
use streams::{Stream, are_in_order};

/// The most ranges a plan has. Where a query would need more, the plan has fewer and wider ones, a
/// residual, and a note that says so.
pub const RANGES_MAX: usize = 10_000;

/// Where the rows of a query are, what remains to be checked on them, and in what order they come.
///
/// Rows whose keys do not fit the template may lie in the ranges, and are not part of the answer.
///
/// # Example: how are the rows of a query found?
///
/// Scan the ranges in order, decode each key, keep what fits and matches:
///
/// ```
/// use rowhouse_schema::{KeySchema, Predicate};
///
/// let schema = KeySchema::parse("[user text][at millis desc]")?;
/// let plan = schema.plan(&Predicate::parse("user = 'bob' and at >= 2022-12-01")?)?;
///
/// let at = 1_669_939_200_000_u64;
/// let bob = schema.encode(&[("user", "bob".into()), ("at", at.into())])?;
/// assert!(plan.ranges().iter().any(|range| range.contains(&bob)));
/// assert!(plan.matches(&schema.decode(&bob)?));
///
/// // Another user may lie in the same range, where one name begins another.
/// assert_eq!(plan.residual().unwrap().to_string(), "user = 'bob'");
/// # Ok::<(), rowhouse_model::Error>(())
/// ```
///
/// # Example: what does a plan look like?
///
/// ```
/// use rowhouse_schema::{KeySchema, Predicate};
///
/// let schema = KeySchema::parse("[metric text]#[at millis digits 13]")?;
/// let query = Predicate::parse("metric in ('cpu', 'memory') and at during 2015-03-02T21")?;
/// assert_eq!(schema.plan(&query)?.to_string(), "\
/// ranges: 2
///   [cpu#1425330000000, cpu#1425333600000)
///   [memory#1425330000000, memory#1425333600000)
/// residual: none, the ranges are exact
/// order: metric ascending as stored, at ascending
/// ");
/// # Ok::<(), rowhouse_model::Error>(())
/// ```
///
/// # Example: what if the rows are spread over buckets?
///
/// The plan has a stream of ranges for each; a merge of these by [`KeySchema::logical_key`], forward or
/// backward, gives the rows in the order that the plan tells: [`StreamMerge`] does it.
///
/// ```
/// use rowhouse_schema::{KeySchema, Predicate, RowSequence};
///
/// let schema = KeySchema::parse("[bucket 4 of user][user string][at millis desc]")?;
/// let bob = schema.plan(&Predicate::parse("user = 'bob'")?)?;
/// assert_eq!(bob.streams().count(), 1);
///
/// let all = schema.plan(&Predicate::parse("user >= 'b'")?)?;
/// assert_eq!(all.streams().count(), 4);
/// assert_eq!(all.order().sequence(), RowSequence::Merged);
/// # Ok::<(), rowhouse_model::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Plan {
    schema: KeySchema,
    ranges: Vec<RowRange>,
    streams: Vec<Stream>,
    residual: Option<Residual>,
    /// What remains to be checked on the columns of each row.
    filter: Option<ColumnFilter>,
    /// What is asked of the fields of qualifiers, for each column of a template.
    qualifiers: Vec<QualifierPlan>,
    order: PlanOrder,
    /// Whether ranges were joined, because they were too many.
    coarsened: bool,
    /// The fields with conditions that keys cannot answer fully, for they hold a hash or a floor.
    candidates: Vec<usize>,
    /// What it was made for.
    predicate: Predicate,
    zone: TimeZone,
}

/// What remains to be checked on decoded values, because the ranges hold other rows too.
#[derive(Clone, Debug)]
pub struct Residual {
    wanted: Vec<Wanted>,
}

/// The ranges of a plan that are of the same bucket or salt.
#[derive(Clone, Copy, Debug)]
pub struct PlanStream<'p> {
    schema: &'p KeySchema,
    stream: &'p Stream,
}

impl Plan {
    pub(crate) fn new(
        schema: &KeySchema,
        columns: Option<&ColumnSchema>,
        predicate: &Predicate,
        zone: &TimeZone,
    ) -> Result<Self> {
        let Bound { wanted, filter, qualifiers } = bind::bind(schema, columns, predicate, zone)?;
        let walked = walk::walk(schema, &wanted);
        let sequence = if walked.physical {
            RowSequence::Physical
        } else if are_in_order(&walked.streams) {
            RowSequence::AsRead
        } else {
            RowSequence::Merged
        };
        let kept = |at: &usize| wanted[*at].clone();
        let residual = Residual { wanted: walked.residual.iter().filter_map(kept).collect() };
        let lossy = |slot: &usize| wanted[*slot].is_some() && schema.codec(*slot).is_lossy();
        Ok(Self {
            schema: schema.clone(),
            ranges: walked.streams.iter().flat_map(|stream| stream.ranges.clone()).collect(),
            residual: Some(residual).filter(|residual| !residual.wanted.is_empty()),
            filter,
            qualifiers,
            order: PlanOrder::new(schema, &wanted, sequence),
            streams: walked.streams,
            coarsened: walked.coarsened,
            candidates: (0..schema.fields().len()).filter(lossy).collect(),
            predicate: predicate.clone(),
            zone: zone.clone(),
        })
    }

    /// The ranges, in key order, none overlapping another. None at all when no row can match.
    pub fn ranges(&self) -> &[RowRange] {
        &self.ranges
    }

    /// The same ranges by the buckets or salts they are of. Within a stream rows come in the order of
    /// their logical keys; of a plan that cannot give that order there is one stream of all.
    pub fn streams(&self) -> impl Iterator<Item = PlanStream<'_>> {
        self.streams.iter().map(|stream| PlanStream { schema: &self.schema, stream })
    }

    /// What remains to be checked on the rows of the ranges; nothing if the plan is exact.
    pub fn residual(&self) -> Option<&Residual> {
        self.residual.as_ref()
    }

    /// In which order the rows come, when the ranges are read from first to last, or merged.
    pub fn order(&self) -> &PlanOrder {
        &self.order
    }

    /// What remains to be checked on the columns of the rows; nothing if the query asks only for fields of
    /// the key.
    pub fn column_filter(&self) -> Option<&ColumnFilter> {
        self.filter.as_ref()
    }

    /// Which cells are asked for of columns with conditions on the fields of their qualifiers, in the order in
    /// which they are declared.
    pub fn qualifiers(&self) -> &[QualifierPlan] {
        &self.qualifiers
    }

    /// Whether every row of the ranges that fits the template is asked for, as far as keys tell: see
    /// [`Plan::candidates`]. Never where columns or fields of qualifiers are asked for.
    pub fn is_exact(&self) -> bool {
        self.residual.is_none() && self.filter.is_none() && self.qualifiers.is_empty()
    }

    /// Whether the ranges hold every key of the template: no condition narrows what is read.
    ///
    /// ```
    /// use rowhouse_schema::{KeySchema, Predicate};
    ///
    /// let schema = KeySchema::parse("[user string][at millis desc]")?;
    /// assert!(schema.plan(&Predicate::parse("at during 2022-12")?)?.reads_whole_table());
    /// assert!(!schema.plan(&Predicate::parse("user = 'bob'")?)?.reads_whole_table());
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    pub fn reads_whole_table(&self) -> bool {
        let everything = walk::walk(&self.schema, &vec![None; self.schema.slots()]).streams;
        let everything = everything.into_iter().flat_map(|stream| stream.ranges).collect();
        !self.ranges.is_empty() && normalize(self.ranges.clone()) == normalize(everything)
    }

    /// The fields with conditions of which keys hold too little: a hash, or the value cut down to a step.
    /// Rows are found whose fields could be what is asked for; whoever stored the values
    /// elsewhere can check them there. Fields that a column of the same name decides are not among them.
    pub fn candidates(&self) -> impl Iterator<Item = &str> {
        self.lossy().filter(|name| self.decided_by(name).is_none())
    }

    /// The fields with conditions of which keys hold too little.
    fn lossy(&self) -> impl Iterator<Item = &str> {
        self.candidates.iter().map(|at| self.schema.fields()[*at].name())
    }

    /// The column that holds what keys hold too little of.
    fn decided_by(&self, name: &str) -> Option<&Column> {
        self.filter.as_ref()?.columns().find(|column| column.name() == name)
    }

    /// Whether a row from the ranges, decoded by the same template, is asked for, as far as its key tells.
    pub fn matches(&self, values: &Values) -> bool {
        self.residual.as_ref().is_none_or(|residual| residual.matches(values))
    }
}

impl PlanStream<'_> {
    /// The ranges, in key order, none overlapping or touching another.
    pub fn ranges(&self) -> &[RowRange] {
        &self.stream.ranges
    }

    /// The bytes with which all its keys begin, up to the last computed field: the lesser of two
    /// streams with a row of the same logical key is the one whose prefix is less.
    pub fn prefix(&self) -> &[u8] {
        &self.stream.prefix
    }

    /// The bucket or salt; several, if the template has several. None for rows that need no merge.
    pub fn buckets(&self) -> Vec<Value> {
        let merged = (0..self.schema.computed().len()).filter(|at| !self.schema.follows(*at));
        let value = |(at, cut): (usize, &std::ops::Range<usize>)| {
            let codec = &self.schema.computed()[at].codec;
            codec.decode(&self.stream.prefix, cut.start).map_or(Value::Null, |(value, _)| value)
        };
        merged.zip(&self.stream.cuts).map(value).collect()
    }
}

impl Residual {
    /// Whether the values, decoded by the template that the plan was made for, pass.
    pub fn matches(&self, values: &Values) -> bool {
        let fields = values.as_slice();
        let value = |slot: usize| match slot.checked_sub(fields.len()) {
            None => Some(&fields[slot]),
            Some(computed) => values.computed_values().get(computed),
        };
        let schema = values.schema();
        self.wanted.iter().all(|wanted| {
            wanted.slot < schema.slots()
                && value(wanted.slot)
                    .is_some_and(|value| wanted.matches(schema.codec(wanted.slot), value))
        })
    }
}
