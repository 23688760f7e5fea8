//! Columns and time ranges, which reads of one row and of many have in common.

use rowhouse_model::{Columns, Error, Result, TimeRange, Timestamp};

use crate::proto;

pub(super) fn columns_from_proto(columns: Vec<proto::Column>) -> Columns {
    let mut wanted = Columns::all();
    for column in columns {
        if column.qualifier.is_empty() {
            wanted.add_family(column.family);
            continue;
        }
        for qualifier in column.qualifier {
            wanted.add_column(column.family.clone(), qualifier);
        }
    }
    wanted
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

/// Refuses what narrows a read in ways that the model cannot express.
pub(super) struct Narrowing<'a> {
    pub(super) filter: Option<&'a proto::Filter>,
    pub(super) store_limit: Option<u32>,
    pub(super) store_offset: Option<u32>,
    pub(super) cf_time_range: &'a [proto::ColumnFamilyTimeRange],
    pub(super) consistency: proto::Consistency,
}

impl Narrowing<'_> {
    pub(super) fn check(&self) -> Result<()> {
        if let Some(filter) = self.filter {
            return Err(Error::unsupported(format!(
                "filter is not supported: name={}",
                filter.name
            )));
        }
        // Java's default is -1; it is only sent when it was set, but then unsigned.
        let set = |limit: Option<u32>| limit.filter(|&limit| (limit as i32) > 0);
        if let Some(limit) = self.store_limit.filter(|&limit| limit as i32 >= 0) {
            return Err(Error::unsupported(format!(
                "limit of cells per family is not supported: store_limit={limit}"
            )));
        }
        if let Some(offset) = set(self.store_offset) {
            return Err(Error::unsupported(format!(
                "offset of cells per family is not supported: store_offset={offset}"
            )));
        }
        if let Some(range) = self.cf_time_range.first() {
            return Err(Error::unsupported(format!(
                "time range per family is not supported: family={}",
                rowhouse_model::escape(&range.column_family)
            )));
        }
        match self.consistency {
            proto::Consistency::Strong => Ok(()),
            proto::Consistency::Timeline => {
                Err(Error::unsupported("consistency TIMELINE is not supported"))
            }
        }
    }
}
