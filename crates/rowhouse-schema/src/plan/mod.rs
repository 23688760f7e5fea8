//! Queries to row ranges.
mod predicate;
pub use predicate::Predicate;

use jiff::tz::TimeZone;
use rowhouse_model::{Result, RowRange};

use crate::key::KeySchema;
use crate::value::Values;

/// The most ranges a plan has.
pub const RANGES_MAX: usize = 10_000;

/// Where the rows of a query are.
#[derive(Clone, Debug)]
pub struct Plan {
    ranges: Vec<RowRange>,
    residual: Option<Residual>,
    order: PlanOrder,
}

/// What remains to be checked on decoded values.
#[derive(Clone, Debug)]
pub struct Residual;

/// The order in which rows come.
#[derive(Clone, Debug)]
pub struct PlanOrder;

impl Plan {
    pub(crate) fn new(_: &KeySchema, _: &Predicate, _: &TimeZone) -> Result<Self> {
        Err(rowhouse_model::Error::unsupported("planning comes next"))
    }
    /// The ranges, in key order, none overlapping another.
    pub fn ranges(&self) -> &[RowRange] {
        &self.ranges
    }
    /// What remains to be checked.
    pub fn residual(&self) -> Option<&Residual> {
        self.residual.as_ref()
    }
    /// In which order rows come.
    pub fn order(&self) -> &PlanOrder {
        &self.order
    }
    /// Whether nothing remains to be checked.
    pub fn is_exact(&self) -> bool {
        self.residual.is_none()
    }
    /// Whether a row is one the query asks for.
    pub fn matches(&self, _: &Values) -> bool {
        true
    }
}
impl std::fmt::Display for Plan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ranges: {}", self.ranges.len())
    }
}
