//! The most recent slow calls and large answers, as in HBase's slow log.

use std::collections::VecDeque;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use parking_lot::Mutex;
use rowhouse_format::convert::region::RegionRef;
use rowhouse_format::proto;
use rowhouse_format::proto::slow_log_payload::Type;
use rowhouse_format::proto::slow_log_response_request::{FilterByOperator, LogType};

use crate::limits::{SLOW_LOG_ENTRIES_MAX, SLOW_LOG_PARAM_BYTES_MAX};

/// The Java package for HBase's messages.
pub(crate) const PROTOS: &str = "org.apache.hadoop.hbase.shaded.protobuf.generated";

/// A server's most recent slow and large calls.
pub(crate) struct SlowLog {
    slow: Duration,
    large_bytes: u64,
    /// Oldest first.
    entries: Mutex<VecDeque<LoggedCall>>,
}

/// A call in the log.
#[derive(Clone)]
#[cfg_attr(not(feature = "web"), allow(dead_code, reason = "only web pages show keys decoded"))]
pub(crate) struct LoggedCall {
    /// The description for HBase's clients.
    pub(crate) payload: proto::SlowLogPayload,
    /// The region, if the call names one.
    pub(crate) region: Option<RegionRef>,
    /// The row, or a scan's first row and the row before which it ends, each cut as [`beginning`]
    /// does.
    pub(crate) rows: Vec<Bytes>,
}

/// A scan's source as the log describes it. Later calls to the scanner do not name it.
#[derive(Clone, Debug)]
pub(crate) struct ScanSource {
    pub(crate) region: RegionRef,
    /// The first row and the row before which the scan ends, cut as [`beginning`] does.
    pub(crate) rows: [Bytes; 2],
}

impl ScanSource {
    pub(crate) fn new(region: &RegionRef, start: &[u8], stop: &[u8]) -> Self {
        Self { region: copied(region), rows: [beginning(start), beginning(stop)] }
    }
}

/// Copies a region's name, so that the copy does not hold the call's buffer.
pub(crate) fn copied(region: &RegionRef) -> RegionRef {
    match region {
        RegionRef::Full(name) => RegionRef::Full(Bytes::copy_from_slice(name)),
        RegionRef::Encoded(name) => RegionRef::Encoded(Bytes::copy_from_slice(name)),
    }
}

/// Copies the first [`SLOW_LOG_PARAM_BYTES_MAX`] bytes of a row.
pub(crate) fn beginning(row: &[u8]) -> Bytes {
    Bytes::copy_from_slice(&row[..row.len().min(SLOW_LOG_PARAM_BYTES_MAX)])
}

impl SlowLog {
    /// Creates an empty log. Calls longer than `slow` are slow; answers with more than
    /// `large_bytes` are large.
    pub(crate) fn new(slow: Duration, large_bytes: u64) -> Self {
        Self { slow, large_bytes, entries: Mutex::default() }
    }

    /// Returns the log that a call with this duration and answer size belongs to, if any.
    pub(crate) fn kind_of(&self, took: Duration, bytes: usize) -> Option<Type> {
        match (took > self.slow, bytes as u64 > self.large_bytes) {
            (true, true) => Some(Type::All),
            (true, false) => Some(Type::SlowLog),
            (false, true) => Some(Type::LargeLog),
            (false, false) => None,
        }
    }

    /// Adds a call; beyond [`SLOW_LOG_ENTRIES_MAX`] the oldest is removed.
    pub(crate) fn add(&self, entry: LoggedCall) {
        let mut entries = self.entries.lock();
        if entries.len() == SLOW_LOG_ENTRIES_MAX {
            entries.pop_front();
        }
        entries.push_back(entry);
    }

    /// Returns all calls, newest first.
    #[cfg(feature = "web")]
    pub(crate) fn calls(&self) -> Vec<LoggedCall> {
        self.entries.lock().iter().rev().cloned().collect()
    }

    /// Removes all calls.
    pub(crate) fn clear(&self) {
        self.entries.lock().clear();
    }

    /// Returns the calls that a request selects, newest first.
    pub(crate) fn select(
        &self,
        request: &proto::SlowLogResponseRequest,
    ) -> Vec<proto::SlowLogPayload> {
        let log = match request.log_type() {
            LogType::SlowLog => Type::SlowLog,
            LogType::LargeLog => Type::LargeLog,
        };
        let entries = self.entries.lock();
        let logged = entries.iter().rev().map(|entry| &entry.payload);
        let logged = logged.filter(|entry| [log, Type::All].contains(&entry.r#type()));
        let selected = logged.filter(|entry| is_selected(request, entry));
        selected.take(request.limit() as usize).cloned().collect()
    }
}

/// Returns true if an entry matches a request's filters: all filters or any, as the request
/// specifies.
fn is_selected(request: &proto::SlowLogResponseRequest, entry: &proto::SlowLogPayload) -> bool {
    let given = |filter: &Option<String>| filter.clone().filter(|text| !text.is_empty());
    let client = entry.client_address.rsplit_once(':').map_or("", |(host, _)| host);
    let passes = [
        given(&request.region_name).map(|name| entry.region_name() == name),
        given(&request.table_name).map(|name| entry.region_name().starts_with(&name)),
        given(&request.client_address)
            .map(|address| entry.client_address == address || client == address),
        given(&request.user_name).map(|name| entry.user_name == name),
    ];
    let mut passes = passes.into_iter().flatten().peekable();
    match request.filter_by_operator() {
        _ if passes.peek().is_none() => true,
        FilterByOperator::And => passes.all(|passes| passes),
        FilterByOperator::Or => passes.any(|passes| passes),
    }
}

/// Returns the start time for an operation that took `took` and ends now, in milliseconds since the
/// Unix epoch.
pub(crate) fn began_millis(took: Duration) -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.saturating_sub(took).as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log() -> SlowLog {
        SlowLog::new(Duration::from_millis(10), 100)
    }

    fn entry(log: Type, region: &str, client: &str, user: &str) -> LoggedCall {
        let payload = proto::SlowLogPayload {
            r#type: log.into(),
            region_name: Some(region.into()),
            client_address: client.into(),
            user_name: user.into(),
            ..Default::default()
        };
        LoggedCall { payload, region: None, rows: Vec::new() }
    }

    #[test]
    fn only_calls_above_a_threshold_are_logged() {
        let kind = |millis, bytes| log().kind_of(Duration::from_millis(millis), bytes);
        assert_eq!(kind(10, 100), None);
        assert_eq!(kind(11, 100), Some(Type::SlowLog));
        assert_eq!(kind(10, 101), Some(Type::LargeLog));
        assert_eq!(kind(11, 101), Some(Type::All));
    }

    #[test]
    fn newest_calls_are_retained_and_listed_first() {
        let log = log();
        for number in 0..SLOW_LOG_ENTRIES_MAX + 3 {
            log.add(entry(Type::SlowLog, &number.to_string(), "h:1", "u"));
        }
        let limit = Some(u32::MAX);
        let all = log.select(&proto::SlowLogResponseRequest { limit, ..Default::default() });
        let names: Vec<_> = all.iter().map(|entry| entry.region_name().to_owned()).collect();
        let expected: Vec<_> =
            (3..SLOW_LOG_ENTRIES_MAX + 3).rev().map(|number| number.to_string()).collect();
        assert_eq!(names, expected);
        assert_eq!(log.select(&proto::SlowLogResponseRequest::default()).len(), 10);
        log.clear();
        assert!(log.select(&proto::SlowLogResponseRequest::default()).is_empty());
    }

    #[test]
    fn filters_select_by_log_region_table_client_and_user() {
        let log = log();
        log.add(entry(Type::SlowLog, "t,,1.a.", "h:1", "ann"));
        log.add(entry(Type::LargeLog, "t,,1.a.", "h:1", "ann"));
        log.add(entry(Type::All, "u,,1.b.", "g:1", "bob"));
        type Request = proto::SlowLogResponseRequest;
        let count = |request: Request| log.select(&request).len();
        let text = |text: &str| Some(text.to_owned());
        let large = Some(LogType::LargeLog.into());
        assert_eq!(count(Request::default()), 2);
        assert_eq!(count(Request { log_type: large, ..Default::default() }), 2);
        assert_eq!(count(Request { table_name: text("t"), ..Default::default() }), 1);
        assert_eq!(count(Request { region_name: text("u,,1.b."), ..Default::default() }), 1);
        assert_eq!(count(Request { client_address: text("h"), ..Default::default() }), 1);
        assert_eq!(count(Request { client_address: text("g:1"), ..Default::default() }), 1);
        assert_eq!(count(Request { client_address: text("g:2"), ..Default::default() }), 0);
        let either =
            Request { table_name: text("t"), user_name: text("bob"), ..Default::default() };
        assert_eq!(count(either.clone()), 2);
        let both = Some(FilterByOperator::And.into());
        assert_eq!(count(Request { filter_by_operator: both, ..either }), 0);
        assert_eq!(count(Request { limit: Some(1), ..Default::default() }), 1);
    }
}
