//! Encodes filters.

use std::collections::BTreeSet;

use bytes::Bytes;
use prost::Message;
use rowhouse_model::{
    ColumnOffset, CompareOperator, Comparison, Filter, FilterRange, ListOperator,
};

use super::super::comparator;
use super::{PACKAGE, fuzzy};
use crate::proto;
use crate::proto::filter_list::Operator;

/// Encodes a filter in the class's format. Numbers too large for Java become negative, and the
/// server rejects them as `FilterRun::new` of `rowhouse-filter` does.
pub fn to_proto(filter: &Filter) -> proto::Filter {
    let (class, bytes) = match filter {
        Filter::Row(comparison) => ("RowFilter", comparing(comparison)),
        Filter::Family(comparison) => ("FamilyFilter", comparing(comparison)),
        Filter::Qualifier(comparison) => ("QualifierFilter", comparing(comparison)),
        Filter::Value(comparison) => ("ValueFilter", comparing(comparison)),
        Filter::DependentColumn { family, qualifier, drop_dependent_column, value } => {
            let message = proto::DependentColumnFilter {
                compare_filter: Some(compare(value.as_ref())),
                column_family: Some(family.clone()),
                column_qualifier: Some(qualifier.clone()),
                drop_dependent_column: Some(*drop_dependent_column),
            };
            ("DependentColumnFilter", message.encode_to_vec())
        }
        Filter::SingleColumnValue {
            family,
            qualifier,
            value,
            filter_if_missing,
            latest_version_only,
            exclude,
        } => {
            let message = proto::SingleColumnValueFilter {
                column_family: Some(family.clone()),
                column_qualifier: Some(qualifier.clone()),
                compare_op: Some(comparator::operator_to_proto(value.operator).into()),
                comparator: Some(comparator::to_proto(&value.comparator)),
                filter_if_missing: Some(*filter_if_missing),
                latest_version_only: Some(*latest_version_only),
            };
            single_column(message, *exclude)
        }
        Filter::ColumnValue { family, qualifier, value } => {
            let message = proto::ColumnValueFilter {
                family: Some(family.clone()),
                qualifier: Some(qualifier.clone()),
                compare_op: Some(comparator::operator_to_proto(value.operator).into()),
                comparator: Some(comparator::to_proto(&value.comparator)),
            };
            ("ColumnValueFilter", message.encode_to_vec())
        }
        Filter::Prefix(prefix) => ("PrefixFilter", bytes(prefix)),
        Filter::ColumnPrefix(prefix) => ("ColumnPrefixFilter", bytes(prefix)),
        Filter::InclusiveStop(row) => ("InclusiveStopFilter", bytes(row)),
        Filter::MultipleColumnPrefix(prefixes) => {
            ("MultipleColumnPrefixFilter", bytes_set(prefixes))
        }
        Filter::FirstKeyValueMatchingQualifiers(qualifiers) => {
            ("FirstKeyValueMatchingQualifiersFilter", bytes_set(qualifiers))
        }
        Filter::ColumnRange { min, min_inclusive, max, max_inclusive } => {
            let message = proto::ColumnRangeFilter {
                min_column: min.clone(),
                min_column_inclusive: Some(*min_inclusive),
                max_column: max.clone(),
                max_column_inclusive: Some(*max_inclusive),
            };
            ("ColumnRangeFilter", message.encode_to_vec())
        }
        Filter::ColumnCountGet(limit) => {
            let message = proto::ColumnCountGetFilter { limit: Some(*limit as i32) };
            ("ColumnCountGetFilter", message.encode_to_vec())
        }
        Filter::ColumnPagination { limit, from } => {
            ("ColumnPaginationFilter", pagination(*limit, from).encode_to_vec())
        }
        Filter::Page(rows) => {
            let message = proto::PageFilter { page_size: Some(*rows as i64) };
            ("PageFilter", message.encode_to_vec())
        }
        Filter::KeyOnly { length_as_value } => {
            let message = proto::KeyOnlyFilter { len_as_val: Some(*length_as_value) };
            ("KeyOnlyFilter", message.encode_to_vec())
        }
        Filter::FirstKeyOnly => {
            ("FirstKeyOnlyFilter", proto::FirstKeyOnlyFilter {}.encode_to_vec())
        }
        Filter::MultiRowRange(ranges) => {
            let row_range_list = ranges.iter().map(range).collect();
            let message = proto::MultiRowRangeFilter { row_range_list };
            ("MultiRowRangeFilter", message.encode_to_vec())
        }
        Filter::FuzzyRow(keys) => ("FuzzyRowFilter", fuzzy::to_proto(keys).encode_to_vec()),
        Filter::RandomRow(chance) => {
            let message = proto::RandomRowFilter { chance: Some(*chance) };
            ("RandomRowFilter", message.encode_to_vec())
        }
        Filter::Timestamps { timestamps, can_hint } => {
            let message = proto::TimestampsFilter {
                timestamps: timestamps.iter().copied().collect(),
                can_hint: Some(*can_hint),
            };
            ("TimestampsFilter", message.encode_to_vec())
        }
        Filter::Skip(inner) => ("SkipFilter", wrapping(inner)),
        Filter::WhileMatch(inner) => ("WhileMatchFilter", wrapping(inner)),
        Filter::List { operator, filters } => {
            let operator = match operator {
                ListOperator::And => Operator::MustPassAll,
                ListOperator::Or => Operator::MustPassOne,
            };
            let message = proto::FilterList {
                operator: Some(operator.into()),
                filters: filters.iter().map(to_proto).collect(),
            };
            ("FilterList", message.encode_to_vec())
        }
    };
    proto::Filter { name: format!("{PACKAGE}{class}"), serialized_filter: Some(bytes.into()) }
}

fn comparing(comparison: &Comparison) -> Vec<u8> {
    proto::ComparingFilter { compare_filter: Some(compare(Some(comparison))) }.encode_to_vec()
}

fn compare(comparison: Option<&Comparison>) -> proto::CompareFilter {
    let operator = comparison.map_or(CompareOperator::NoOp, |comparison| comparison.operator);
    proto::CompareFilter {
        compare_op: Some(comparator::operator_to_proto(operator).into()),
        comparator: comparison.map(|comparison| comparator::to_proto(&comparison.comparator)),
    }
}

fn single_column(
    message: proto::SingleColumnValueFilter,
    exclude: bool,
) -> (&'static str, Vec<u8>) {
    if !exclude {
        return ("SingleColumnValueFilter", message.encode_to_vec());
    }
    let single_column_value_filter = Some(message);
    let message = proto::SingleColumnValueExcludeFilter { single_column_value_filter };
    ("SingleColumnValueExcludeFilter", message.encode_to_vec())
}

fn bytes(value: &Bytes) -> Vec<u8> {
    proto::BytesFilter { value: Some(value.clone()) }.encode_to_vec()
}

fn bytes_set(values: &BTreeSet<Bytes>) -> Vec<u8> {
    proto::BytesSetFilter { values: values.iter().cloned().collect() }.encode_to_vec()
}

fn pagination(limit: u32, from: &ColumnOffset) -> proto::ColumnPaginationFilter {
    let (offset, column_offset) = match from {
        ColumnOffset::Skip(columns) => (Some(*columns as i32), None),
        ColumnOffset::Qualifier(qualifier) => (None, Some(qualifier.clone())),
    };
    proto::ColumnPaginationFilter { limit: Some(limit as i32), offset, column_offset }
}

fn range(range: &FilterRange) -> proto::RowRange {
    proto::RowRange {
        start_row: Some(range.start.clone()),
        start_row_inclusive: Some(range.start_inclusive),
        stop_row: Some(range.stop.clone()),
        stop_row_inclusive: Some(range.stop_inclusive),
    }
}

fn wrapping(inner: &Filter) -> Vec<u8> {
    proto::WrappingFilter { filter: Some(to_proto(inner)) }.encode_to_vec()
}
