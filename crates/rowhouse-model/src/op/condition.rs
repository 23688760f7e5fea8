//! What can be asked of a row before it is changed, with the row locked: HBase's checkAndMutate.

use bytes::Bytes;

use crate::{Comparator, CompareOperator, Comparison, Filter, Result, TimeRange};

/// What must hold for a mutation to be made. It is checked and the mutation made as one: nothing is
/// written to the row between the two.
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
    /// The row has no cell that a read would find. HBase's protocol cannot ask for this.
    NoRow,
    /// A column compares with something.
    Column(ColumnCondition),
    /// A filter lets anything of the row through.
    Filter(FilterCondition),
}

/// How the newest value of a column must compare.
///
/// The operator is about the value that is there: `Less` asks for one that is less than the
/// comparator's. (HBase's `CheckAndMutate` and its protocol put it the other way round.) A column
/// that is not there compares with nothing, so `NotEqual` does not hold for it either; but a
/// comparator without bytes asks whether there is a value at all, and takes an empty one for none.
#[derive(Clone, Debug, PartialEq)]
pub struct ColumnCondition {
    /// The column's family.
    pub family: Bytes,
    /// The column's qualifier.
    pub qualifier: Bytes,
    /// What its value must be.
    pub comparison: Comparison,
    /// Only cells with timestamps inside it count; [`TimeRange::ALL`] for all.
    pub time_range: TimeRange,
}

/// A filter that must find something in the row.
#[derive(Clone, Debug, PartialEq)]
pub struct FilterCondition {
    /// The filter.
    pub filter: Box<Filter>,
    /// Only cells with timestamps inside it count; [`TimeRange::ALL`] for all.
    pub time_range: TimeRange,
}

/// A condition, and the row that it is about.
#[derive(Clone, Debug, PartialEq)]
pub struct RowCondition {
    /// The row.
    pub row: Bytes,
    /// What must hold for it.
    pub condition: Condition,
}

impl Condition {
    /// HBase's `ifNotExists`: the column has no value, or an empty one.
    pub fn no_value(family: impl Into<Bytes>, qualifier: impl Into<Bytes>) -> Self {
        Self::value(family, qualifier, CompareOperator::Equal, Bytes::new())
    }

    /// The column's value compares so with `value`.
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

    /// `filter` lets anything of the row through.
    pub fn filter(filter: Filter) -> Self {
        Self::Filter(FilterCondition { filter: Box::new(filter), time_range: TimeRange::ALL })
    }

    /// The same, asked of cells with timestamps inside `range` alone. It means nothing for
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

impl ColumnCondition {
    /// Whether it holds where the column has this value, or none.
    ///
    /// # Errors
    /// As [`Comparison::start`].
    pub fn holds(&self, value: Option<&[u8]>) -> Result<bool> {
        let Comparison { operator, comparator } = &self.comparison;
        if is_nothing(comparator) {
            let has_none = value.is_none_or(<[u8]>::is_empty);
            return Ok(has_none == (*operator != CompareOperator::NotEqual));
        }
        let comparison = self.comparison.start()?;
        Ok(value.is_some_and(|value| comparison.matches(value)))
    }
}

/// Whether a comparator has no bytes to compare with.
fn is_nothing(comparator: &Comparator) -> bool {
    match comparator {
        Comparator::Binary(value) | Comparator::BinaryPrefix(value) => value.is_empty(),
        Comparator::BinaryComponent { value, .. } | Comparator::Bit { value, .. } => {
            value.is_empty()
        }
        Comparator::Substring(text) => text.is_empty(),
        Comparator::Regex(pattern) => pattern.pattern.is_empty(),
        Comparator::Null => true,
        Comparator::Long(_) | Comparator::BigDecimal(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Which of these values it holds for: none, an empty one, `a`, `b`, `c`.
    fn holds(operator: CompareOperator, value: &'static str) -> String {
        let Condition::Column(column) = Condition::value("f", "q", operator, value) else {
            panic!("a value is one of a column")
        };
        let values = [("-", None), ("''", Some(""))].into_iter();
        let values = values.chain(["a", "b", "c"].map(|value| (value, Some(value))));
        let held = values.filter(|(_, value)| column.holds(value.map(str::as_bytes)).unwrap());
        held.map(|(name, _)| name).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_value_that_is_there_is_compared_and_one_that_is_not_never_holds() {
        use CompareOperator::*;
        assert_eq!(holds(Less, "b"), "'' a");
        assert_eq!(holds(LessOrEqual, "b"), "'' a b");
        assert_eq!(holds(Equal, "b"), "b");
        assert_eq!(holds(NotEqual, "b"), "'' a c");
        assert_eq!(holds(GreaterOrEqual, "b"), "b c");
        assert_eq!(holds(Greater, "b"), "c");
    }

    #[test]
    fn nothing_is_only_told_from_something_whatever_the_operator() {
        use CompareOperator::*;
        for operator in [Less, LessOrEqual, Equal, GreaterOrEqual, Greater] {
            assert_eq!(holds(operator, ""), "- ''", "{operator:?}");
        }
        assert_eq!(holds(NotEqual, ""), "a b c");
    }
}
