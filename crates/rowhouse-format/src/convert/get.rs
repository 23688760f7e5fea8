//! Gets.

use rowhouse_model::{Error, ErrorKind, Get, Result};

use super::attributes;
use super::columns::{
    columns_from_proto, columns_to_proto, family_limit_from_proto, family_offset_from_proto,
    family_time_ranges_from_proto, family_time_ranges_to_proto, time_range_from_proto,
    time_range_to_proto,
};
use super::filter;
use crate::proto;

/// Decodes a get.
///
/// Ignores `query_metrics_enabled`, which requests optional metrics.
///
/// # Errors
/// `Unsupported` for unknown filters and comparators, and for attributes that request an
/// unsupported feature; `Protocol` for `closest_row_before`, with the message on which asynchbase
/// switches to reversed scans.
pub fn from_proto(get: proto::Get) -> Result<Get> {
    if get.closest_row_before() {
        return Err(Error::new(
            ErrorKind::Protocol,
            "Is this a pre-hbase-1.0.0 or asynchbase client? Client is invoking \
             getClosestRowBefore removed in hbase-2.0.0 replaced by reverse Scan.",
        ));
    }
    attributes::check(&get.attribute)?;
    let versions = get.max_versions();
    let existence_only = get.existence_only();
    let cache_blocks = get.cache_blocks();
    let mut read = Get::new(get.row)?;
    read.versions = check_versions(versions)?;
    read.time_range = time_range_from_proto(get.time_range)?;
    read.family_time_ranges = family_time_ranges_from_proto(get.cf_time_range)?;
    read.columns = columns_from_proto(get.column);
    read.family_limit = family_limit_from_proto(get.store_limit);
    read.family_offset = family_offset_from_proto(get.store_offset)?;
    read.filter = get.filter.map(filter::from_proto).transpose()?.map(Box::new);
    read.families_on_demand = get.load_column_families_on_demand.unwrap_or(true);
    read.cache_blocks = cache_blocks;
    read.existence_only = existence_only;
    Ok(read)
}

/// Encodes a get.
pub fn to_proto(get: &Get) -> proto::Get {
    proto::Get {
        row: get.row().clone(),
        column: columns_to_proto(&get.columns),
        time_range: Some(time_range_to_proto(get.time_range)),
        max_versions: Some(get.versions),
        cf_time_range: family_time_ranges_to_proto(&get.family_time_ranges),
        store_limit: get.family_limit,
        store_offset: (get.family_offset != 0).then_some(get.family_offset),
        filter: get.filter.as_deref().map(filter::to_proto),
        load_column_families_on_demand: (!get.families_on_demand).then_some(false),
        cache_blocks: (!get.cache_blocks).then_some(false),
        existence_only: get.existence_only.then_some(true),
        ..Default::default()
    }
}

/// Checks a version count, which Java stores in a signed number and requires to be positive.
pub(super) fn check_versions(versions: u32) -> Result<u32> {
    if versions as i32 <= 0 {
        return Err(Error::invalid(format!(
            "versions must be positive: versions={}",
            versions as i32
        )));
    }
    Ok(versions)
}

#[cfg(test)]
mod tests {
    use prost::Message;
    use rowhouse_model::{Filter, TimeRange, Timestamp};

    use super::*;

    fn refused(change: impl FnOnce(&mut proto::Get)) -> Error {
        let mut get = proto::Get { row: "r".into(), ..Default::default() };
        change(&mut get);
        from_proto(get).unwrap_err()
    }

    #[test]
    fn gets_come_back() {
        let at = |millis| Timestamp::from_millis(millis).unwrap();
        let mut get = Get::new("row").unwrap().family("a").column("b", "q").column("b", "r");
        get.versions = 3;
        get.existence_only = true;
        get.time_range = TimeRange::new(at(5), at(9)).unwrap();
        get.family_time_ranges = [("b".into(), TimeRange::at(at(7)))].into();
        (get.family_limit, get.family_offset) = (Some(4), 2);
        get.families_on_demand = false;
        let get = get.filter(Filter::FirstKeyOnly);
        for get in [get, Get::new("plain").unwrap()] {
            let bytes = to_proto(&get).encode_to_vec();
            let read = proto::Get::decode(&bytes[..]).unwrap();
            assert_eq!(from_proto(read).unwrap(), get);
        }
    }

    #[test]
    fn a_timeline_get_is_a_get_since_a_region_has_one_replica() {
        let timeline = proto::Get { row: "r".into(), consistency: Some(1), ..Default::default() };
        assert_eq!(from_proto(timeline).unwrap(), Get::new("r").unwrap());
    }

    #[test]
    fn gets_outside_the_model_are_refused_by_name() {
        let name = "org.example.MyFilter".to_owned();
        let error = refused(|get| {
            get.filter = Some(proto::Filter { name, serialized_filter: None });
        });
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.message().contains("org.example.MyFilter"));
        let error = refused(|get| get.store_offset = Some(-3_i32 as u32));
        assert!(error.message().contains("store_offset=-3"));
        assert_eq!(refused(|get| get.closest_row_before = Some(true)).kind(), ErrorKind::Protocol);
        assert_eq!(refused(|get| get.max_versions = Some(0)).kind(), ErrorKind::InvalidRequest);
        assert_eq!(refused(|get| get.row = "".into()).kind(), ErrorKind::InvalidRequest);
    }
}
