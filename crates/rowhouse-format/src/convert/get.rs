//! Reading one row.

use rowhouse_model::{Error, ErrorKind, Get, Result};

use super::attributes;
use super::columns::{
    Narrowing, columns_from_proto, columns_to_proto, time_range_from_proto, time_range_to_proto,
};
use crate::proto;

/// Reads a get.
///
/// Passed over: `cache_blocks` and `load_column_families_on_demand`, which change no answer, and
/// `query_metrics_enabled`, which asks for numbers that a server need not have.
///
/// # Errors
/// `Unsupported` for filters, limits per family, time ranges per family, timeline consistency and
/// attributes with an effect; `Protocol` for `closest_row_before`, in the words that asynchbase
/// waits for before it turns to reversed scans.
pub fn from_proto(get: proto::Get) -> Result<Get> {
    if get.closest_row_before() {
        return Err(Error::new(
            ErrorKind::Protocol,
            "Is this a pre-hbase-1.0.0 or asynchbase client? Client is invoking \
             getClosestRowBefore removed in hbase-2.0.0 replaced by reverse Scan.",
        ));
    }
    Narrowing {
        filter: get.filter.as_ref(),
        store_limit: get.store_limit,
        store_offset: get.store_offset,
        cf_time_range: &get.cf_time_range,
        consistency: get.consistency(),
    }
    .check()?;
    attributes::check(&get.attribute)?;
    let (versions, existence_only) = (get.max_versions(), get.existence_only());
    let mut read = Get::new(get.row)?;
    read.versions = check_versions(versions)?;
    read.time_range = time_range_from_proto(get.time_range)?;
    read.columns = columns_from_proto(get.column);
    read.existence_only = existence_only;
    Ok(read)
}

/// Writes a get.
pub fn to_proto(get: &Get) -> proto::Get {
    proto::Get {
        row: get.row().clone(),
        column: columns_to_proto(&get.columns),
        time_range: Some(time_range_to_proto(get.time_range)),
        max_versions: Some(get.versions),
        existence_only: get.existence_only.then_some(true),
        ..Default::default()
    }
}

/// A number of versions, which Java keeps in a signed number and wants positive.
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
    use rowhouse_model::{TimeRange, Timestamp};

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
        for get in [get, Get::new("plain").unwrap()] {
            let bytes = to_proto(&get).encode_to_vec();
            let read = proto::Get::decode(&bytes[..]).unwrap();
            assert_eq!(from_proto(read).unwrap(), get);
        }
    }

    #[test]
    fn what_the_model_cannot_say_is_refused_by_name() {
        let name = "org.apache.hadoop.hbase.filter.PageFilter".to_owned();
        let error = refused(|get| {
            get.filter = Some(proto::Filter { name, serialized_filter: None });
        });
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        assert!(error.message().contains("PageFilter"));
        assert!(refused(|get| get.store_limit = Some(1)).message().contains("store_limit=1"));
        assert!(refused(|get| get.store_offset = Some(1)).message().contains("store_offset=1"));
        assert!(refused(|get| get.consistency = Some(1)).message().contains("TIMELINE"));
        assert!(
            refused(|get| get.cf_time_range = vec![Default::default()])
                .message()
                .contains("per family")
        );
        assert_eq!(refused(|get| get.closest_row_before = Some(true)).kind(), ErrorKind::Protocol);
        assert_eq!(refused(|get| get.max_versions = Some(0)).kind(), ErrorKind::InvalidRequest);
        assert_eq!(refused(|get| get.row = "".into()).kind(), ErrorKind::InvalidRequest);
    }
}
