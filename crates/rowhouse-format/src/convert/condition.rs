//! Conditions on mutations: HBase's checkAndMutate.
//!
//! HBase puts the given value to the left of the operator and the column's value on the right; the
//! model reverses them, as filters do.
//!
//! All comparators behave as in filters. HBase 2.6 does so for mutations to several rows. For
//! mutations to one row it compares the bytes in any comparator, but its clients send only
//! BinaryComparator.

use bytes::Bytes;
use rowhouse_model::{
    ColumnCondition, CompareOperator, Comparison, Condition, Error, FilterCondition, Result,
    RowCondition,
};

use super::columns::{time_range_from_proto, time_range_to_proto};
use super::{comparator, filter};
use crate::proto;

/// Decodes a condition.
///
/// Ignores `query_metrics_enabled`, which requests optional metrics.
///
/// # Errors
/// As [`filter::from_proto`] and [`comparator::comparison_from_proto`]; `InvalidRequest` for NO_OP,
/// which HBase rejects too.
pub fn from_proto(message: proto::Condition) -> Result<RowCondition> {
    let time_range = time_range_from_proto(message.time_range)?;
    let condition = match message.filter {
        Some(filter) => {
            let filter = Box::new(filter::from_proto(filter)?);
            Condition::Filter(FilterCondition { filter, time_range })
        }
        None => {
            let comparator = message.comparator.unwrap_or_default();
            let compared = comparator::comparison_from_proto(message.compare_type, comparator)?;
            if compared.operator == CompareOperator::NoOp {
                return Err(Error::invalid("Unknown Compare op NO_OP"));
            }
            Condition::Column(ColumnCondition {
                family: message.family.unwrap_or_default(),
                qualifier: message.qualifier.unwrap_or_default(),
                comparison: Comparison { operator: turned(compared.operator), ..compared },
                time_range,
            })
        }
    };
    Ok(RowCondition { row: message.row, condition })
}

/// Encodes a condition on `row`.
///
/// # Errors
/// `Unsupported` for [`Condition::NoRow`], which the protocol cannot express.
pub fn to_proto(condition: &Condition, row: &Bytes) -> Result<proto::Condition> {
    let message = proto::Condition { row: row.clone(), ..Default::default() };
    Ok(match condition {
        Condition::NoRow => {
            return Err(Error::unsupported(
                "HBase's protocol can test for a missing column, not for a missing row",
            ));
        }
        Condition::Column(column) => proto::Condition {
            family: Some(column.family.clone()),
            qualifier: Some(column.qualifier.clone()),
            compare_type: Some(
                comparator::operator_to_proto(turned(column.comparison.operator)).into(),
            ),
            comparator: Some(comparator::to_proto(&column.comparison.comparator)),
            time_range: Some(time_range_to_proto(column.time_range)),
            ..message
        },
        Condition::Filter(condition) => proto::Condition {
            filter: Some(filter::to_proto(&condition.filter)),
            time_range: Some(time_range_to_proto(condition.time_range)),
            ..message
        },
    })
}

/// Returns the operator for swapped operands.
fn turned(operator: CompareOperator) -> CompareOperator {
    match operator {
        CompareOperator::Less => CompareOperator::Greater,
        CompareOperator::LessOrEqual => CompareOperator::GreaterOrEqual,
        CompareOperator::GreaterOrEqual => CompareOperator::LessOrEqual,
        CompareOperator::Greater => CompareOperator::Less,
        CompareOperator::Equal | CompareOperator::NotEqual | CompareOperator::NoOp => operator,
    }
}

#[cfg(test)]
mod tests {
    use rowhouse_model::{ErrorKind, Filter, TimeRange, Timestamp};

    use super::*;
    use crate::proto::CompareType;

    const OPERATORS: [CompareOperator; 6] = [
        CompareOperator::Less,
        CompareOperator::LessOrEqual,
        CompareOperator::Equal,
        CompareOperator::NotEqual,
        CompareOperator::GreaterOrEqual,
        CompareOperator::Greater,
    ];

    fn time_range() -> TimeRange {
        let at = |millis| Timestamp::from_millis(millis).unwrap();
        TimeRange::new(at(3), at(7)).unwrap()
    }

    fn condition(operator: CompareOperator, value: &'static str) -> Condition {
        Condition::value("cf", "q", operator, value).time_range(time_range())
    }

    fn message() -> proto::Condition {
        to_proto(&condition(CompareOperator::Equal, "v"), &"row".into()).unwrap()
    }

    fn refused(change: impl FnOnce(&mut proto::Condition)) -> Error {
        let mut message = message();
        change(&mut message);
        from_proto(message).unwrap_err()
    }

    #[test]
    fn conditions_come_back() {
        let compared = OPERATORS.map(|operator| condition(operator, "v"));
        let filter = Condition::filter(Filter::ColumnPrefix("q".into())).time_range(time_range());
        let absent = Condition::no_value("cf", "q");
        for condition in compared.into_iter().chain([filter, absent]) {
            let read = from_proto(to_proto(&condition, &"row".into()).unwrap()).unwrap();
            assert_eq!(read, RowCondition { row: "row".into(), condition });
        }
    }

    #[test]
    fn hbase_has_the_value_that_it_is_given_on_the_left() {
        let mut message = message();
        message.set_compare_type(CompareType::Greater);
        let Condition::Column(column) = from_proto(message).unwrap().condition else { panic!() };
        assert_eq!(column.comparison.operator, CompareOperator::Less);
    }

    #[test]
    fn javas_null_is_a_comparator_without_bytes() {
        let mut message = message();
        let comparator = message.comparator.as_mut().unwrap();
        comparator.serialized_comparator = Some(vec![0x0A, 0x00].into());
        let Condition::Column(column) = from_proto(message).unwrap().condition else { panic!() };
        assert!(rowhouse_filter::column_condition_holds(&column, None).unwrap());
    }

    #[test]
    fn inexpressible_conditions_are_refused_by_name() {
        let no_row = to_proto(&Condition::NoRow, &"row".into()).unwrap_err();
        assert_eq!(no_row.kind(), ErrorKind::Unsupported);
        let other = proto::Comparator { name: "a.B".into(), ..Default::default() };
        let comparator = refused(|condition| condition.comparator = Some(other));
        assert_eq!(comparator.kind(), ErrorKind::Unsupported);
        assert!(comparator.message().contains("a.B"), "{comparator}");
        let no_op = refused(|condition| condition.set_compare_type(CompareType::NoOp));
        assert_eq!(no_op.message(), "Unknown Compare op NO_OP");
        for error in [
            refused(|condition| condition.compare_type = None),
            refused(|condition| condition.compare_type = Some(77)),
            refused(|condition| {
                let comparator = condition.comparator.as_mut().unwrap();
                comparator.serialized_comparator = Some("\u{7f}".into());
            }),
        ] {
            assert_eq!(error.kind(), ErrorKind::InvalidRequest, "{error}");
        }
    }
}
