//! Columns and time ranges, shared by gets and scans.

use std::collections::BTreeMap;

use bytes::Bytes;
use rowhouse_model::{Columns, Error, Result, TimeRange, Timestamp};

use crate::proto;

pub(super) fn columns_from_proto(columns: Vec<proto::Column>) -> Columns {
    let mut selected = Columns::all();
    for column in columns {
        if column.qualifier.is_empty() {
            selected.add_family(column.family);
            continue;
        }
        for qualifier in column.qualifier {
            selected.add_column(column.family.clone(), qualifier);
        }
    }
    selected
}

pub(super) fn columns_to_proto(columns: &Columns) -> Vec<proto::Column> {
    columns
        .families()
        .map(|(family, qualifiers)| proto::Column {
            family: family.clone(),
            qualifier: qualifiers.named().cloned().collect(),
        })
        .collect()
}

pub(super) fn time_range_from_proto(range: Option<proto::TimeRange>) -> Result<TimeRange> {
    let Some(range) = range else { return Ok(TimeRange::ALL) };
    let timestamp = |millis: Option<u64>, default: Timestamp| match millis {
        None => Ok(default),
        Some(millis) => Timestamp::from_millis(millis as i64),
    };
    TimeRange::new(timestamp(range.from, Timestamp::MIN)?, timestamp(range.to, Timestamp::LATEST)?)
}

pub(super) fn time_range_to_proto(range: TimeRange) -> proto::TimeRange {
    proto::TimeRange {
        from: Some(range.min().as_millis() as u64),
        to: Some(range.max().as_millis() as u64),
    }
}

/// Decodes the time ranges for single families.
pub(super) fn family_time_ranges_from_proto(
    ranges: Vec<proto::ColumnFamilyTimeRange>,
) -> Result<BTreeMap<Bytes, TimeRange>> {
    let ranges = ranges.into_iter();
    ranges
        .map(|range| Ok((range.column_family, time_range_from_proto(Some(range.time_range))?)))
        .collect()
}

pub(super) fn family_time_ranges_to_proto(
    ranges: &BTreeMap<Bytes, TimeRange>,
) -> Vec<proto::ColumnFamilyTimeRange> {
    let ranges = ranges.iter();
    ranges
        .map(|(family, range)| proto::ColumnFamilyTimeRange {
            column_family: family.clone(),
            time_range: time_range_to_proto(*range),
        })
        .collect()
}

/// Decodes a cell limit per family. Java's -1, sent as an unsigned number, means none.
pub(super) fn family_limit_from_proto(limit: Option<u32>) -> Option<u32> {
    limit.filter(|&limit| limit as i32 >= 0)
}

/// Decodes a cell offset per family.
///
/// # Errors
/// `InvalidRequest` if it is negative.
pub(super) fn family_offset_from_proto(offset: Option<u32>) -> Result<u32> {
    let offset = offset.unwrap_or_default();
    if (offset as i32) < 0 {
        return Err(Error::invalid(format!(
            "the offset of cells per family must not be negative: store_offset={}",
            offset as i32
        )));
    }
    Ok(offset)
}
