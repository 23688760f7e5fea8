//! Conditions on a row that are checked under the row lock before a mutation: HBase's
//! checkAndMutate.

use bytes::Bytes;

use crate::{Comparator, CompareOperator, Comparison, Filter, TimeRange};

/// A condition for a mutation. The check and the mutation are atomic: no other write to the row
/// happens between them.
///
/// ```
/// use rowhouse_model::{CompareOperator, Condition};
///
/// let free = Condition::no_value("cf", "owner");
/// let affordable = Condition::value("cf", "balance", CompareOperator::GreaterOrEqual, "0100");
/// # let _ = (free, affordable);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Condition {
    /// The row has no cell that a read would return. HBase's protocol cannot express this.
    NoRow,
    /// A column value satisfies a comparison.
    Column(ColumnCondition),
    /// A filter accepts at least one cell in the row.
    Filter(FilterCondition),
}

/// A comparison with a column's newest value.
///
/// The operator applies to the stored value: `Less` requires that it is less than the comparator's
/// value. (HBase's `CheckAndMutate` and its protocol reverse this.) A missing column satisfies no
/// comparison, not even `NotEqual`. As an exception, a comparator without bytes tests whether the
/// column has a value at all, and an empty value counts as none.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnCondition {
    /// The column's family.
    pub family: Bytes,
    /// The column's qualifier.
    pub qualifier: Bytes,
    /// The comparison that the value must satisfy.
    pub comparison: Comparison,
    /// Only cells with timestamps in this range count; [`TimeRange::ALL`] for all.
    pub time_range: TimeRange,
}

/// A filter that must accept at least one cell in the row.
#[derive(Clone, Debug, PartialEq)]
pub struct FilterCondition {
    /// The filter.
    pub filter: Box<Filter>,
    /// Only cells with timestamps in this range count; [`TimeRange::ALL`] for all.
    pub time_range: TimeRange,
}

/// A condition with the row.
#[derive(Clone, Debug, PartialEq)]
pub struct RowCondition {
    /// The row.
    pub row: Bytes,
    /// The condition.
    pub condition: Condition,
}

impl Condition {
    /// Creates HBase's `ifNotExists`: the column has no value, or an empty one.
    pub fn no_value(family: impl Into<Bytes>, qualifier: impl Into<Bytes>) -> Self {
        Self::value(family, qualifier, CompareOperator::Equal, Bytes::new())
    }

    /// Creates a condition that compares the column value with `value`.
    pub fn value(
        family: impl Into<Bytes>,
        qualifier: impl Into<Bytes>,
        operator: CompareOperator,
        value: impl Into<Bytes>,
    ) -> Self {
        let comparison = Comparison { operator, comparator: Comparator::Binary(value.into()) };
        Self::Column(ColumnCondition {
            family: family.into(),
            qualifier: qualifier.into(),
            comparison,
            time_range: TimeRange::ALL,
        })
    }

    /// Creates a condition that `filter` accepts at least one cell in the row.
    pub fn filter(filter: Filter) -> Self {
        Self::Filter(FilterCondition { filter: Box::new(filter), time_range: TimeRange::ALL })
    }

    /// Restricts the condition to cells with timestamps in `range`. Has no effect on
    /// [`Condition::NoRow`].
    #[must_use]
    pub fn time_range(mut self, range: TimeRange) -> Self {
        match &mut self {
            Self::NoRow => {}
            Self::Column(column) => column.time_range = range,
            Self::Filter(filter) => filter.time_range = range,
        }
        self
    }
}
