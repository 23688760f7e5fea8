//! What must hold for a mutation to be made: HBase's checkAndMutate.
//!
//! Of all that can be asked there, `ifNotExists` is done: it travels as a comparison of the column
//! with null. There is no condition on a whole row; a filter that finds nothing does not match.

use bytes::Bytes;
use prost::Message;
use rowhouse_model::{Error, NoValue, Result, escape};

use super::columns::{time_range_from_proto, time_range_to_proto};
use crate::proto;
use crate::proto::CompareType;

/// The comparator that Java sends with the value that a column is to be compared with.
const BINARY_COMPARATOR: &str = "org.apache.hadoop.hbase.filter.BinaryComparator";

/// Reads the condition of a mutation of `row`.
///
/// # Errors
/// `Unsupported` for another than that a column has no value; `InvalidRequest` for one on another
/// row than the mutation's.
pub fn from_proto(condition: proto::Condition, row: &Bytes) -> Result<NoValue> {
    if condition.row != row {
        return Err(Error::invalid(format!(
            "the condition and the mutation must be of one row: condition={}, mutation={}",
            escape(&condition.row),
            escape(row)
        )));
    }
    if let Some(filter) = condition.filter {
        let name = filter.name;
        return Err(only_absence(format!("filter={name}")));
    }
    if condition.compare_type != Some(CompareType::Equal.into()) {
        let asked = condition.compare_type.map(|_| condition.compare_type().as_str_name());
        return Err(only_absence(format!("compare={}", asked.unwrap_or("none"))));
    }
    let comparator = condition.comparator.unwrap_or_default();
    if comparator.name != BINARY_COMPARATOR {
        return Err(only_absence(format!("comparator={}", comparator.name)));
    }
    let value = compared_with(comparator)?;
    if !value.is_empty() {
        return Err(only_absence(format!("value={}", escape(&value))));
    }
    Ok(NoValue {
        family: condition.family.unwrap_or_default(),
        qualifier: condition.qualifier.unwrap_or_default(),
        time_range: time_range_from_proto(condition.time_range)?,
    })
}

/// Writes the condition of a mutation of `row`, as Java's `ifNotExists`.
pub fn to_proto(condition: &NoValue, row: &Bytes) -> proto::Condition {
    let null = proto::BinaryComparator { comparable: proto::ByteArrayComparable::default() };
    proto::Condition {
        row: row.clone(),
        family: Some(condition.family.clone()),
        qualifier: Some(condition.qualifier.clone()),
        compare_type: Some(CompareType::Equal.into()),
        comparator: Some(proto::Comparator {
            name: BINARY_COMPARATOR.into(),
            serialized_comparator: Some(null.encode_to_vec().into()),
        }),
        time_range: Some(time_range_to_proto(condition.time_range)),
        filter: None,
        query_metrics_enabled: None,
    }
}

/// Refuses a condition where none is understood: on the actions of a Multi.
pub(super) fn refuse(condition: Option<&proto::Condition>) -> Result<()> {
    match condition {
        None => Ok(()),
        Some(_) => Err(Error::unsupported(
            "checkAndMutate of several mutations is not supported: condition",
        )),
    }
}

/// The value of a comparator; null is empty, as the server compares.
fn compared_with(comparator: proto::Comparator) -> Result<Bytes> {
    let bytes = comparator.serialized_comparator.unwrap_or_default();
    let comparator = proto::BinaryComparator::decode(bytes).map_err(|source| {
        Error::invalid("the comparator of a condition cannot be read").with_source(source)
    })?;
    Ok(comparator.comparable.value.unwrap_or_default())
}

fn only_absence(found: String) -> Error {
    Error::unsupported(format!(
        "checkAndMutate is supported with ifNotExists (a column has no value) only: {found}"
    ))
}

#[cfg(test)]
mod tests {
    use rowhouse_model::{ErrorKind, TimeRange, Timestamp};

    use super::*;

    fn condition() -> NoValue {
        let at = |millis| Timestamp::from_millis(millis).unwrap();
        let time_range = TimeRange::new(at(3), at(7)).unwrap();
        NoValue { time_range, ..NoValue::of("cf", "q") }
    }

    fn refused(change: impl FnOnce(&mut proto::Condition)) -> Error {
        let mut message = to_proto(&condition(), &"row".into());
        change(&mut message);
        from_proto(message, &"row".into()).unwrap_err()
    }

    #[test]
    fn it_comes_back() {
        let message = to_proto(&condition(), &"row".into());
        assert_eq!(from_proto(message, &"row".into()).unwrap(), condition());
    }

    #[test]
    fn null_is_what_javas_comparator_makes_of_it() {
        let comparator = to_proto(&condition(), &"row".into()).comparator.unwrap();
        assert_eq!(comparator.serialized_comparator.as_deref(), Some(&[0x0A, 0x00][..]));
    }

    #[test]
    fn every_other_condition_is_refused_by_what_it_asks() {
        let compared = |value: &'static str| {
            let comparable = proto::ByteArrayComparable { value: Some(value.into()) };
            let comparator = proto::BinaryComparator { comparable };
            move |condition: &mut proto::Condition| {
                let bytes = comparator.encode_to_vec().into();
                condition.comparator.as_mut().unwrap().serialized_comparator = Some(bytes);
            }
        };
        for (error, found) in [
            (refused(|condition| condition.set_compare_type(CompareType::NotEqual)), "NOT_EQUAL"),
            (refused(|condition| condition.compare_type = None), "compare=none"),
            (refused(|condition| condition.comparator = None), "comparator="),
            (refused(compared("x")), "value=x"),
            (refused(|condition| condition.filter = Some(proto::Filter::default())), "filter="),
        ] {
            assert_eq!(error.kind(), ErrorKind::Unsupported);
            assert!(error.message().contains(found), "{error}");
        }
        let other = refused(|condition| condition.row = "other".into());
        assert_eq!(other.kind(), ErrorKind::InvalidRequest);
        let damaged = refused(|condition| {
            let comparator = condition.comparator.as_mut().unwrap();
            comparator.serialized_comparator = Some("\u{7f}".into());
        });
        assert_eq!(damaged.kind(), ErrorKind::InvalidRequest);
    }
}
