//! Executes conditions on a column, which checkAndMutate checks.

use rowhouse_model::{ColumnCondition, Comparator, CompareOperator, Comparison, Result};

use crate::comparison::ComparisonRun;

/// Returns true if the condition holds for a column with this value, or without a value.
///
/// # Errors
/// As [`ComparisonRun::new`].
pub fn column_condition_holds(condition: &ColumnCondition, value: Option<&[u8]>) -> Result<bool> {
    let Comparison { operator, comparator } = &condition.comparison;
    if is_nothing(comparator) {
        let has_none = value.is_none_or(<[u8]>::is_empty);
        return Ok(has_none == (*operator != CompareOperator::NotEqual));
    }
    let comparison = ComparisonRun::new(&condition.comparison)?;
    Ok(value.is_some_and(|value| comparison.matches(value)))
}

/// Returns true if a comparator has no bytes to compare with.
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
    use rowhouse_model::Condition;

    use super::*;

    /// Returns the values for which the condition holds, among: none, an empty one, `a`, `b`, `c`.
    fn holds(operator: CompareOperator, value: &'static str) -> String {
        let Condition::Column(column) = Condition::value("f", "q", operator, value) else {
            panic!("a value is one of a column")
        };
        let values = [("-", None), ("''", Some(""))].into_iter();
        let values = values.chain(["a", "b", "c"].map(|value| (value, Some(value))));
        let held = values.filter(|(_, value)| {
            column_condition_holds(&column, value.map(str::as_bytes)).unwrap()
        });
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
    fn empty_operand_distinguishes_only_absent_from_present() {
        use CompareOperator::*;
        for operator in [Less, LessOrEqual, Equal, GreaterOrEqual, Greater] {
            assert_eq!(holds(operator, ""), "- ''", "{operator:?}");
        }
        assert_eq!(holds(NotEqual, ""), "a b c");
    }
}
