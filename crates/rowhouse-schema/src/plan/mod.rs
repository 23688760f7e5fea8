//! From a query to the row ranges that hold its rows: pure, in four steps.
//!
//! [`parse`] reads the query, [`bind`] makes of it one set of values for each field, [`walk`] goes
//! through the template from the left and pins bytes as long as it can, [`explain`] prints what
//! came of it.

mod bind;
mod explain;
mod order;
mod parse;
mod predicate;
mod ranges;
mod text;
mod walk;

use jiff::tz::TimeZone;
use rowhouse_model::{Result, RowRange};

pub use order::{OrderedField, PlanOrder};
pub use predicate::Predicate;

use crate::key::KeySchema;
use crate::value::Values;
use bind::Wanted;

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
#[derive(Clone, Debug)]
pub struct Plan {
    ranges: Vec<RowRange>,
    residual: Option<Residual>,
    order: PlanOrder,
    /// Whether ranges were joined, because they were too many.
    coarsened: bool,
}

/// What remains to be checked on decoded values, because the ranges hold other rows too.
#[derive(Clone, Debug)]
pub struct Residual {
    wanted: Vec<Wanted>,
}

impl Plan {
    pub(crate) fn new(schema: &KeySchema, predicate: &Predicate, zone: &TimeZone) -> Result<Self> {
        let wanted = bind::bind(schema, predicate, zone)?;
        let order = PlanOrder::new(schema, &wanted);
        let walked = walk::walk(schema, &wanted);
        let kept = |at: &usize| wanted[*at].clone();
        let residual = Residual { wanted: walked.residual.iter().filter_map(kept).collect() };
        Ok(Self {
            ranges: walked.ranges,
            residual: Some(residual).filter(|residual| !residual.wanted.is_empty()),
            order,
            coarsened: walked.coarsened,
        })
    }

    /// The ranges, in key order, none overlapping or touching another. None at all when no row can
    /// match.
    pub fn ranges(&self) -> &[RowRange] {
        &self.ranges
    }

    /// What remains to be checked on the rows of the ranges; nothing if the plan is exact.
    pub fn residual(&self) -> Option<&Residual> {
        self.residual.as_ref()
    }

    /// In which order the rows come, when the ranges are read from first to last.
    pub fn order(&self) -> &PlanOrder {
        &self.order
    }

    /// Whether every row of the ranges that fits the template is asked for.
    pub fn is_exact(&self) -> bool {
        self.residual.is_none()
    }

    /// Whether a row from the ranges, decoded by the same template, is asked for.
    pub fn matches(&self, values: &Values) -> bool {
        self.residual.as_ref().is_none_or(|residual| residual.matches(values))
    }
}

impl Residual {
    /// Whether the values, decoded by the template that the plan was made for, pass.
    pub fn matches(&self, values: &Values) -> bool {
        let values = values.as_slice();
        self.wanted
            .iter()
            .all(|wanted| values.get(wanted.field).is_some_and(|value| wanted.matches(value)))
    }
}
