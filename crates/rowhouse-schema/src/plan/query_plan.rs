//! The plan for a query, and what a reader asks of it.

use jiff::tz::TimeZone;
use rowhouse_model::{Error, Result, RowRange};

use super::bind::{self, Bound};
use super::columns::ColumnFilter;
use super::order::{PlanOrder, RowSequence};
use super::predicate::Predicate;
use super::qualifiers::QualifierPlan;
use super::ranges::normalize;
use super::set::{self, FieldConditions};
use super::streams::{Stream, are_in_order};
use super::walk;
use crate::columns::{Column, ColumnSchema};
use crate::key::{KeySchema, Values};
use crate::value::Value;

/// A query plan: the row ranges to read, the conditions that remain to be checked, and the order in
/// which the rows come.
///
/// The ranges may hold rows whose keys do not fit the template; these are not in the answer.
///
/// # Example: how are a query's rows found?
///
/// Scan the ranges in order, decode each key, and keep the rows that fit and match:
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
/// // If one name begins with another, the same range may hold another user's rows.
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
/// The plan has a range stream for each bucket. Merging these by [`KeySchema::logical_key`],
/// forward or in reverse, returns the rows in the plan's order; [`StreamMerge`](crate::StreamMerge)
/// does so.
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
    pub(super) schema: KeySchema,
    pub(super) ranges: Vec<RowRange>,
    pub(super) streams: Vec<Stream>,
    pub(super) residual: Option<Residual>,
    /// The conditions on columns that remain to be checked on each row.
    pub(super) filter: Option<ColumnFilter>,
    /// The conditions on qualifier fields, for each column with a template.
    pub(super) qualifiers: Vec<QualifierPlan>,
    pub(super) order: PlanOrder,
    /// True if ranges were joined because there were too many.
    pub(super) coarsened: bool,
    /// The fields with conditions that keys cannot decide, because they hold a hash or a step.
    pub(super) candidates: Vec<usize>,
    /// The query for which the plan was made.
    pub(super) predicate: Predicate,
    pub(super) zone: TimeZone,
}

/// Conditions that remain to be checked on decoded values, because the ranges hold other rows too.
#[derive(Clone, Debug)]
pub struct Residual {
    pub(super) conditions: Vec<FieldConditions>,
}

/// A plan's ranges that belong to one bucket or salt.
#[derive(Clone, Copy, Debug)]
pub struct PlanStream<'p> {
    pub(super) schema: &'p KeySchema,
    pub(super) stream: &'p Stream,
}

impl Plan {
    pub(crate) fn new(
        schema: &KeySchema,
        columns: Option<&ColumnSchema>,
        predicate: &Predicate,
        zone: &TimeZone,
    ) -> Result<Self> {
        let Bound { conditions, filter, qualifiers } =
            bind::bind(schema, columns, predicate, zone)?;
        let walked = walk::walk(schema, &conditions);
        let sequence = if walked.physical {
            RowSequence::Physical
        } else if are_in_order(&walked.streams) {
            RowSequence::AsRead
        } else {
            RowSequence::Merged
        };
        let of_slot = |at: &usize| conditions[*at].clone();
        let residual =
            Residual { conditions: walked.residual.iter().filter_map(of_slot).collect() };
        // In an index, a field that holds part of a value can precede one that holds the whole.
        let decides = |slot: usize| schema.position(schema.fields()[slot].name()) == Some(slot);
        let lossy = |slot: &usize| {
            conditions[*slot].is_some() && schema.codec(*slot).is_lossy() && decides(*slot)
        };
        Ok(Self {
            schema: schema.clone(),
            ranges: walked.streams.iter().flat_map(|stream| stream.ranges.clone()).collect(),
            residual: Some(residual).filter(|residual| !residual.conditions.is_empty()),
            filter,
            qualifiers,
            order: PlanOrder::new(schema, &conditions, sequence),
            streams: walked.streams,
            coarsened: walked.coarsened,
            candidates: (0..schema.fields().len()).filter(lossy).collect(),
            predicate: predicate.clone(),
            zone: zone.clone(),
        })
    }

    /// The ranges, in key order, without overlaps. Empty if no row can match.
    pub fn ranges(&self) -> &[RowRange] {
        &self.ranges
    }

    /// Returns true if another plan for the same table reads the same ranges and checks the same
    /// conditions: both queries then mean the same. Qualifiers are not compared.
    pub fn selects_as(&self, other: &Self) -> bool {
        let of_columns = |plan: &Self| {
            plan.filter
                .as_ref()
                .map(|filter| set::described(filter.conditions()))
                .unwrap_or_default()
        };
        let of_key = |plan: &Self| {
            let described =
                plan.residual.as_ref().map(|residual| set::described(&residual.conditions));
            described.unwrap_or_default()
        };
        self.ranges == other.ranges
            && of_key(self) == of_key(other)
            && of_columns(self) == of_columns(other)
    }

    pub(crate) fn schema(&self) -> &KeySchema {
        &self.schema
    }

    /// The query for which the plan was made.
    pub(crate) fn predicate(&self) -> &Predicate {
        &self.predicate
    }

    /// The same ranges, grouped by bucket or salt. Within a stream, rows come in logical key order.
    /// A plan that cannot return that order has a single stream.
    pub fn streams(&self) -> impl Iterator<Item = PlanStream<'_>> {
        self.streams.iter().map(|stream| PlanStream { schema: &self.schema, stream })
    }

    /// The conditions that remain to be checked on the rows in the ranges; `None` if there are
    /// none.
    pub fn residual(&self) -> Option<&Residual> {
        self.residual.as_ref()
    }

    /// The row order, when the ranges are read from first to last, or merged.
    pub fn order(&self) -> &PlanOrder {
        &self.order
    }

    /// The conditions that remain to be checked on the rows' columns; `None` if the query has
    /// conditions only on key fields.
    pub fn column_filter(&self) -> Option<&ColumnFilter> {
        self.filter.as_ref()
    }

    /// The cells to return for each column that has conditions on qualifier fields, in declaration
    /// order.
    pub fn qualifiers(&self) -> &[QualifierPlan] {
        &self.qualifiers
    }

    /// Checks that the query has no conditions on qualifier fields, for a caller that takes rows.
    ///
    /// # Errors
    /// `Unsupported`, with the column, for a query that has some.
    pub fn refuse_qualifiers(&self) -> Result<()> {
        match self.qualifiers.first() {
            None => Ok(()),
            Some(qualifiers) => Err(Error::unsupported(format!(
                "conditions on fields of qualifiers select cells, not rows: column={}",
                qualifiers.column().name()
            ))),
        }
    }

    /// Returns true if every row in the ranges that fits the template matches, as far as keys can
    /// tell: see [`Plan::candidates`]. False if there are conditions on columns or on qualifier
    /// fields.
    pub fn is_exact(&self) -> bool {
        self.residual.is_none() && self.filter.is_none() && self.qualifiers.is_empty()
    }

    /// Returns true if the ranges hold every key that fits the template, so that no condition
    /// narrows the read.
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

    /// The fields with conditions that keys cannot decide, because keys hold only a hash, or the
    /// value rounded down to a step. The plan finds the rows that may match; a caller that stores
    /// the values elsewhere can check them there. Fields that a column with the same name decides
    /// are left out.
    pub fn candidates(&self) -> impl Iterator<Item = &str> {
        self.lossy().filter(|name| self.decided_by(name).is_none())
    }

    /// The fields with conditions that keys cannot decide.
    pub(super) fn lossy(&self) -> impl Iterator<Item = &str> {
        self.candidates.iter().map(|at| self.schema.fields()[*at].name())
    }

    /// The column that decides the conditions on a field that keys cannot decide.
    pub(super) fn decided_by(&self, name: &str) -> Option<&Column> {
        self.filter.as_ref()?.columns().find(|column| column.name() == name)
    }

    /// Returns true if a row from the ranges, decoded by the same template, matches as far as the
    /// key tells.
    pub fn matches(&self, values: &Values) -> bool {
        self.residual.as_ref().is_none_or(|residual| residual.matches(values))
    }

    /// Returns true if a row is in the ranges, fits the template, and matches as far as the key
    /// tells.
    pub(crate) fn matches_key(&self, row: &[u8]) -> bool {
        RowRange::one_contains(&self.ranges, row)
            && self.schema.decode(row).is_ok_and(|values| self.matches(&values))
    }
}

impl PlanStream<'_> {
    /// The ranges, in key order; they neither overlap nor touch.
    pub fn ranges(&self) -> &[RowRange] {
        &self.stream.ranges
    }

    /// The bytes with which all keys in the stream begin, up to the last computed field. If two
    /// streams have rows with equal logical keys, the stream with the lesser prefix comes first.
    pub fn prefix(&self) -> &[u8] {
        &self.stream.prefix
    }

    /// The stream's bucket or salt; several, if the template has several. Empty for rows that need
    /// no merge.
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
    /// Returns true if the values, decoded by the plan's template, pass.
    pub fn matches(&self, values: &Values) -> bool {
        let fields = values.as_slice();
        let value = |slot: usize| match slot.checked_sub(fields.len()) {
            None => Some(&fields[slot]),
            Some(computed) => values.computed_values().get(computed),
        };
        let schema = values.schema();
        self.conditions.iter().all(|conditions| {
            conditions.slot < schema.slots()
                && value(conditions.slot)
                    .is_some_and(|value| conditions.matches(schema.codec(conditions.slot), value))
        })
    }
}
