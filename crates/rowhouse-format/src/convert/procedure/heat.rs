//! A table's heat, rowhouse's own call. It is sent as an HBase procedure, which every HBase client
//! can call; the report is the data that the procedure returns.

use bytes::Bytes;
use prost::Message;
use rowhouse_model::{
    Error, HeatBucket, HeatColumn, HeatReport, HeatSample, HotColumns, HotRow, Result, TableName,
};

use super::pairs::{pair, value};
use crate::proto;
use crate::rpc::decode_message;

/// The procedure's signature. The instance is the table.
pub(super) const SIGNATURE: &str = "rowhouse-heat";

const FROM: &str = "from";
const TO: &str = "to";

/// A request for a table's heat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeatCall {
    /// The table.
    pub table: TableName,
    /// The first millisecond since 1970.
    pub from_millis: i64,
    /// The millisecond after the last.
    pub to_millis: i64,
}

/// Encodes a request.
pub fn call_to_proto(call: &HeatCall) -> proto::ProcedureDescription {
    proto::ProcedureDescription {
        signature: SIGNATURE.to_owned(),
        instance: Some(call.table.to_string()),
        creation_time: None,
        configuration: vec![pair(FROM, call.from_millis), pair(TO, call.to_millis)],
    }
}

/// Decodes a request. A time that is not given has no bound.
///
/// # Errors
/// `InvalidRequest` for an invalid table name or time.
pub(super) fn call_from_proto(procedure: &proto::ProcedureDescription) -> Result<HeatCall> {
    let time = |name: &str, otherwise: i64| {
        let Some(value) = value(procedure, name) else { return Ok(otherwise) };
        value.parse().map_err(|_| {
            Error::invalid(format!("a time is in milliseconds since 1970: {name}={value}"))
        })
    };
    let table = TableName::parse(procedure.instance())?;
    Ok(HeatCall { table, from_millis: time(FROM, i64::MIN)?, to_millis: time(TO, i64::MAX)? })
}

#[derive(Clone, PartialEq, Message)]
struct ReportMessage {
    #[prost(message, repeated, tag = "1")]
    columns: Vec<ColumnMessage>,
    #[prost(message, repeated, tag = "2")]
    hot_rows: Vec<HotRowMessage>,
    #[prost(bool, tag = "3")]
    is_sampled: bool,
    #[prost(message, repeated, tag = "4")]
    column_sets: Vec<ColumnSetMessage>,
}

#[derive(Clone, PartialEq, Message)]
struct ColumnSetMessage {
    #[prost(bytes = "bytes", tag = "1")]
    family: Bytes,
    #[prost(bytes = "bytes", repeated, tag = "2")]
    qualifiers: Vec<Bytes>,
    #[prost(uint64, tag = "3")]
    reads: u64,
    #[prost(uint64, tag = "4")]
    overestimate: u64,
}

#[derive(Clone, PartialEq, Message)]
struct ColumnMessage {
    #[prost(int64, tag = "1")]
    start_millis: i64,
    #[prost(int64, tag = "2")]
    length_millis: i64,
    #[prost(message, repeated, tag = "3")]
    buckets: Vec<BucketMessage>,
    #[prost(message, repeated, tag = "4")]
    sample: Vec<SampleMessage>,
}

#[derive(Clone, PartialEq, Message)]
struct SampleMessage {
    #[prost(int64, tag = "1")]
    at_millis: i64,
    #[prost(bytes = "bytes", tag = "2")]
    row: Bytes,
    #[prost(bool, tag = "3")]
    is_write: bool,
}

#[derive(Clone, PartialEq, Message)]
struct BucketMessage {
    #[prost(bytes = "bytes", tag = "1")]
    start: Bytes,
    #[prost(uint64, tag = "2")]
    reads: u64,
    #[prost(uint64, tag = "3")]
    writes: u64,
    #[prost(uint64, tag = "4")]
    read_bytes: u64,
    #[prost(uint64, tag = "5")]
    written_bytes: u64,
}

#[derive(Clone, PartialEq, Message)]
struct HotRowMessage {
    #[prost(bytes = "bytes", tag = "1")]
    row: Bytes,
    #[prost(uint64, tag = "2")]
    reads: u64,
    #[prost(uint64, tag = "3")]
    writes: u64,
    #[prost(uint64, tag = "4")]
    overestimate: u64,
}

/// Encodes a report.
pub fn report_to_bytes(report: &HeatReport) -> Bytes {
    let bucket = |it: &HeatBucket| BucketMessage {
        start: it.start.clone(),
        reads: it.reads,
        writes: it.writes,
        read_bytes: it.read_bytes,
        written_bytes: it.written_bytes,
    };
    let sample = |it: &HeatSample| SampleMessage {
        at_millis: it.at_millis,
        row: it.row.clone(),
        is_write: it.is_write,
    };
    let column = |it: &HeatColumn| ColumnMessage {
        start_millis: it.start_millis,
        length_millis: it.length_millis,
        buckets: it.buckets.iter().map(bucket).collect(),
        sample: it.sample.iter().map(sample).collect(),
    };
    let hot_row = |it: &HotRow| HotRowMessage {
        row: it.row.clone(),
        reads: it.reads,
        writes: it.writes,
        overestimate: it.overestimate,
    };
    let column_set = |it: &HotColumns| ColumnSetMessage {
        family: it.family.clone(),
        qualifiers: it.qualifiers.clone(),
        reads: it.reads,
        overestimate: it.overestimate,
    };
    let message = ReportMessage {
        columns: report.columns.iter().map(column).collect(),
        hot_rows: report.hot_rows.iter().map(hot_row).collect(),
        is_sampled: report.is_sampled,
        column_sets: report.column_sets.iter().map(column_set).collect(),
    };
    message.encode_to_vec().into()
}

/// Decodes a report.
///
/// # Errors
/// `Protocol` for malformed bytes.
pub fn report_from_bytes(bytes: Bytes) -> Result<HeatReport> {
    let message: ReportMessage = decode_message(bytes)?;
    let bucket = |it: BucketMessage| HeatBucket {
        start: it.start,
        reads: it.reads,
        writes: it.writes,
        read_bytes: it.read_bytes,
        written_bytes: it.written_bytes,
    };
    let sample = |it: SampleMessage| HeatSample {
        at_millis: it.at_millis,
        row: it.row,
        is_write: it.is_write,
    };
    let column = |it: ColumnMessage| HeatColumn {
        start_millis: it.start_millis,
        length_millis: it.length_millis,
        buckets: it.buckets.into_iter().map(bucket).collect(),
        sample: it.sample.into_iter().map(sample).collect(),
    };
    let hot_row = |it: HotRowMessage| HotRow {
        row: it.row,
        reads: it.reads,
        writes: it.writes,
        overestimate: it.overestimate,
    };
    let column_set = |it: ColumnSetMessage| HotColumns {
        family: it.family,
        qualifiers: it.qualifiers,
        reads: it.reads,
        overestimate: it.overestimate,
    };
    Ok(HeatReport {
        columns: message.columns.into_iter().map(column).collect(),
        hot_rows: message.hot_rows.into_iter().map(hot_row).collect(),
        column_sets: message.column_sets.into_iter().map(column_set).collect(),
        is_sampled: message.is_sampled,
        is_by_region: false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_and_a_report_survive_the_wire() {
        let table = TableName::parse("ns:mail").unwrap();
        let call = HeatCall { table, from_millis: -5, to_millis: 1_795_220_131_100 };
        assert_eq!(call_from_proto(&call_to_proto(&call)).unwrap(), call);
        let mut unbounded = call_to_proto(&call);
        unbounded.configuration.clear();
        let read = call_from_proto(&unbounded).unwrap();
        assert_eq!((read.from_millis, read.to_millis), (i64::MIN, i64::MAX));
        let mut wrong = call_to_proto(&call);
        wrong.configuration[0].value = "now".into();
        let message = call_from_proto(&wrong).unwrap_err();
        assert_eq!(message.message(), "a time is in milliseconds since 1970: from=now");

        let bucket = HeatBucket {
            start: "m".into(),
            reads: 1,
            writes: 2,
            read_bytes: 3,
            written_bytes: u64::MAX,
        };
        let buckets = vec![HeatBucket::default(), bucket];
        let sample = vec![HeatSample { at_millis: 9, row: "n".into(), is_write: true }];
        let column = HeatColumn { start_millis: 7, length_millis: 60_000, buckets, sample };
        let report = HeatReport {
            columns: vec![column],
            hot_rows: vec![HotRow { row: "r".into(), reads: 4, writes: 5, overestimate: 6 }],
            column_sets: vec![HotColumns {
                family: "d".into(),
                qualifiers: vec!["".into(), "q".into()],
                reads: 7,
                overestimate: 8,
            }],
            is_sampled: true,
            is_by_region: false,
        };
        assert_eq!(report_from_bytes(report_to_bytes(&report)).unwrap(), report);
        assert!(report_from_bytes(Bytes::from_static(b"\xFF\xFF")).is_err());
    }
}
