//! Decodes filters.

use std::collections::BTreeSet;

use bytes::Bytes;
use rowhouse_model::{
    ColumnOffset, Comparison, Error, FILTER_DEPTH_MAX, Filter, FilterRange, ListOperator, Result,
    escape,
};

use super::super::comparator;
use super::{PACKAGE, fuzzy, missing, read};
use crate::proto;
use crate::proto::filter_list::Operator;

/// Decodes a filter. The class's constructor checks happen when the filter is started.
///
/// # Errors
/// `Unsupported`, naming the class, if it is not an HBase class; `InvalidRequest` if the bytes are
/// not in the class's format, and for filters nested too deeply.
pub fn from_proto(message: proto::Filter) -> Result<Filter> {
    from_proto_at(message, 1)
}

fn from_proto_at(message: proto::Filter, depth: usize) -> Result<Filter> {
    if depth > FILTER_DEPTH_MAX {
        let error = format!("filters nested too deeply: max={FILTER_DEPTH_MAX}");
        return Err(Error::invalid(error));
    }
    let proto::Filter { name, serialized_filter } = message;
    let bytes = serialized_filter.unwrap_or_default();
    let name = &name[..];
    Ok(match name.strip_prefix(PACKAGE) {
        Some("RowFilter") => Filter::Row(comparing(name, bytes)?),
        Some("FamilyFilter") => Filter::Family(comparing(name, bytes)?),
        Some("QualifierFilter") => Filter::Qualifier(comparing(name, bytes)?),
        Some("ValueFilter") => Filter::Value(comparing(name, bytes)?),
        Some("DependentColumnFilter") => dependent(name, bytes)?,
        Some("SingleColumnValueFilter") => single_column(name, read(name, bytes)?, false)?,
        Some("SingleColumnValueExcludeFilter") => {
            let read: proto::SingleColumnValueExcludeFilter = read(name, bytes)?;
            let inner = read.single_column_value_filter;
            let inner = inner.ok_or_else(|| missing(name, "single_column_value_filter"))?;
            single_column(name, inner, true)?
        }
        Some("ColumnValueFilter") => column_value(name, bytes)?,
        Some("PrefixFilter") => Filter::Prefix(value(name, bytes, "prefix")?),
        Some("ColumnPrefixFilter") => Filter::ColumnPrefix(value(name, bytes, "prefix")?),
        Some("MultipleColumnPrefixFilter") => {
            Filter::MultipleColumnPrefix(distinct_prefixes(name, bytes)?)
        }
        Some("ColumnRangeFilter") => {
            let read: proto::ColumnRangeFilter = read(name, bytes)?;
            Filter::ColumnRange {
                min: read.min_column,
                min_inclusive: read.min_column_inclusive.unwrap_or(false),
                max: read.max_column,
                max_inclusive: read.max_column_inclusive.unwrap_or(false),
            }
        }
        Some("ColumnCountGetFilter") => {
            let read: proto::ColumnCountGetFilter = read(name, bytes)?;
            Filter::ColumnCountGet(count(name, "limit", read.limit)?)
        }
        Some("ColumnPaginationFilter") => pagination(name, bytes)?,
        Some("PageFilter") => {
            let read: proto::PageFilter = read(name, bytes)?;
            let size = read.page_size.ok_or_else(|| missing(name, "page_size"))?;
            let rows = u64::try_from(size).map_err(|_| negative(name, "page_size", size))?;
            Filter::Page(rows)
        }
        Some("KeyOnlyFilter") => {
            let read: proto::KeyOnlyFilter = read(name, bytes)?;
            let length_as_value = read.len_as_val.ok_or_else(|| missing(name, "len_as_val"))?;
            Filter::KeyOnly { length_as_value }
        }
        Some("FirstKeyOnlyFilter") => {
            let proto::FirstKeyOnlyFilter {} = read(name, bytes)?;
            Filter::FirstKeyOnly
        }
        Some("FirstKeyValueMatchingQualifiersFilter") => {
            let read: proto::BytesSetFilter = read(name, bytes)?;
            Filter::FirstKeyValueMatchingQualifiers(read.values.into_iter().collect())
        }
        Some("InclusiveStopFilter") => Filter::InclusiveStop(value(name, bytes, "stop_row_key")?),
        Some("MultiRowRangeFilter") => {
            let read: proto::MultiRowRangeFilter = read(name, bytes)?;
            Filter::MultiRowRange(read.row_range_list.into_iter().map(range).collect())
        }
        Some("FuzzyRowFilter") => fuzzy::from_proto(read(name, bytes)?)?,
        Some("RandomRowFilter") => {
            let read: proto::RandomRowFilter = read(name, bytes)?;
            Filter::RandomRow(read.chance.ok_or_else(|| missing(name, "chance"))?)
        }
        Some("TimestampsFilter") => {
            let read: proto::TimestampsFilter = read(name, bytes)?;
            let can_hint = read.can_hint.unwrap_or(false);
            Filter::Timestamps { timestamps: read.timestamps.into_iter().collect(), can_hint }
        }
        Some("SkipFilter") => Filter::Skip(Box::new(wrapped(name, bytes, depth)?)),
        Some("WhileMatchFilter") => Filter::WhileMatch(Box::new(wrapped(name, bytes, depth)?)),
        // HBase's server wraps every scan's filter in it.
        Some("FilterWrapper") => wrapped(name, bytes, depth)?,
        Some("FilterList") => list(name, bytes, depth)?,
        _ => return Err(Error::unsupported(format!("filter is not supported: name={name}"))),
    })
}

fn comparing(name: &str, bytes: Bytes) -> Result<Comparison> {
    let read: proto::ComparingFilter = read(name, bytes)?;
    let compare = read.compare_filter.ok_or_else(|| missing(name, "compare_filter"))?;
    let comparator = compare.comparator.ok_or_else(|| missing(name, "comparator"))?;
    comparator::comparison_from_proto(compare.compare_op, comparator)
}

fn dependent(name: &str, bytes: Bytes) -> Result<Filter> {
    let read: proto::DependentColumnFilter = read(name, bytes)?;
    let compare = read.compare_filter.ok_or_else(|| missing(name, "compare_filter"))?;
    // Without a comparator the operator has no meaning, but it must be present.
    comparator::operator_from_proto(compare.compare_op)?;
    let value = compare
        .comparator
        .map(|comparator| comparator::comparison_from_proto(compare.compare_op, comparator));
    Ok(Filter::DependentColumn {
        family: read.column_family.unwrap_or_default(),
        qualifier: read.column_qualifier.unwrap_or_default(),
        drop_dependent_column: read.drop_dependent_column.unwrap_or(false),
        value: value.transpose()?,
    })
}

fn single_column(
    name: &str,
    read: proto::SingleColumnValueFilter,
    exclude: bool,
) -> Result<Filter> {
    let comparator = read.comparator.ok_or_else(|| missing(name, "comparator"))?;
    Ok(Filter::SingleColumnValue {
        family: read.column_family.unwrap_or_default(),
        qualifier: read.column_qualifier.unwrap_or_default(),
        value: comparator::comparison_from_proto(read.compare_op, comparator)?,
        filter_if_missing: read.filter_if_missing.unwrap_or(false),
        latest_version_only: read.latest_version_only.unwrap_or(false),
        exclude,
    })
}

fn column_value(name: &str, bytes: Bytes) -> Result<Filter> {
    let read: proto::ColumnValueFilter = read(name, bytes)?;
    let comparator = read.comparator.ok_or_else(|| missing(name, "comparator"))?;
    Ok(Filter::ColumnValue {
        family: read.family.ok_or_else(|| missing(name, "family"))?,
        qualifier: read.qualifier.ok_or_else(|| missing(name, "qualifier"))?,
        value: comparator::comparison_from_proto(read.compare_op, comparator)?,
    })
}

fn value(name: &str, bytes: Bytes, field: &str) -> Result<Bytes> {
    let read: proto::BytesFilter = read(name, bytes)?;
    read.value.ok_or_else(|| missing(name, field))
}

fn distinct_prefixes(name: &str, bytes: Bytes) -> Result<BTreeSet<Bytes>> {
    let read: proto::BytesSetFilter = read(name, bytes)?;
    let mut prefixes = BTreeSet::new();
    for prefix in read.values {
        if let Some(prefix) = prefixes.replace(prefix) {
            let prefix = escape(&prefix);
            return Err(Error::invalid(format!("prefixes must be distinct: prefix={prefix}")));
        }
    }
    Ok(prefixes)
}

fn pagination(name: &str, bytes: Bytes) -> Result<Filter> {
    let read: proto::ColumnPaginationFilter = read(name, bytes)?;
    let limit = count(name, "limit", read.limit)?;
    let from = match read.column_offset {
        Some(qualifier) => ColumnOffset::Qualifier(qualifier),
        None => ColumnOffset::Skip(count(name, "offset", Some(read.offset.unwrap_or(0)))?),
    };
    Ok(Filter::ColumnPagination { limit, from })
}

fn range(range: proto::RowRange) -> FilterRange {
    FilterRange {
        start: range.start_row.unwrap_or_default(),
        start_inclusive: range.start_row_inclusive.unwrap_or(false),
        stop: range.stop_row.unwrap_or_default(),
        stop_inclusive: range.stop_row_inclusive.unwrap_or(false),
    }
}

fn wrapped(name: &str, bytes: Bytes, depth: usize) -> Result<Filter> {
    let read: proto::WrappingFilter = read(name, bytes)?;
    from_proto_at(read.filter.ok_or_else(|| missing(name, "filter"))?, depth + 1)
}

fn list(name: &str, bytes: Bytes, depth: usize) -> Result<Filter> {
    let read: proto::FilterList = read(name, bytes)?;
    let operator = read.operator.and_then(|operator| Operator::try_from(operator).ok());
    let operator = match operator.ok_or_else(|| missing(name, "operator"))? {
        Operator::MustPassAll => ListOperator::And,
        Operator::MustPassOne => ListOperator::Or,
    };
    let filters = read.filters.into_iter().map(|filter| from_proto_at(filter, depth + 1));
    Ok(Filter::List { operator, filters: filters.collect::<Result<_>>()? })
}

/// Decodes a non-negative Java `int`.
fn count(name: &str, field: &str, number: Option<i32>) -> Result<u32> {
    let number = number.ok_or_else(|| missing(name, field))?;
    u32::try_from(number).map_err(|_| negative(name, field, i64::from(number)))
}

fn negative(name: &str, field: &str, number: i64) -> Error {
    Error::invalid(format!("{name} has a negative number: {field}={number}"))
}
