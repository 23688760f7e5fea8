//! Deletes of many rows, rowhouse's own call: `proto/delete.proto`. It is sent as a call to a
//! coprocessor endpoint, which every HBase client can make.

use bytes::Bytes;
use prost::Message;
use rowhouse_model::{DeleteRows, DeletedCells, DeletedRows, Error, Result, RowRange, Timestamp};

use super::endpoint::answer;
use super::names;
use crate::proto::{self, DeleteRowsRequest, DeleteRowsResponse, NameBytesPair};
use crate::rpc::decode_message;

/// The service name.
pub(super) const SERVICE: &str = "rowhouse.DeleteService";

const ROWS: &str = "Rows";

/// Encodes a call to the region with the first row.
pub fn call_to_proto(request: DeleteRows) -> proto::CoprocessorServiceCall {
    let (family, qualifier) = match request.cells {
        DeletedCells::Row => (None, None),
        DeletedCells::Family(family) => (Some(family), None),
        DeletedCells::Column(family, qualifier) => (Some(family), Some(qualifier)),
    };
    let row = request.range.start.clone();
    let message = DeleteRowsRequest {
        query: request.query,
        zone: request.zone,
        start_row: Some(request.range.start),
        stop_row: Some(request.range.stop),
        family,
        qualifier,
        timestamp: (!request.timestamp.is_latest()).then(|| request.timestamp.as_millis() as u64),
        batch_rows: Some(request.batch_rows),
        durability: Some(names::durability_to_proto(request.durability).into()),
    };
    proto::CoprocessorServiceCall {
        row,
        service_name: SERVICE.to_owned(),
        method_name: ROWS.to_owned(),
        request: message.encode_to_vec().into(),
    }
}

/// Decodes a call; `None` for a method that the service does not have.
///
/// # Errors
/// `InvalidRequest` for a qualifier without a family, a timestamp out of bounds, and a batch size
/// out of bounds.
pub(super) fn call_from_proto(method: &str, request: Bytes) -> Result<Option<DeleteRows>> {
    if method != ROWS {
        return Ok(None);
    }
    let message: DeleteRowsRequest = decode_message(request)?;
    let batch_rows = message.batch_rows();
    let durability = names::durability_from_proto(message.durability());
    let cells = match (message.family, message.qualifier) {
        (None, None) => DeletedCells::Row,
        (Some(family), None) => DeletedCells::Family(family),
        (Some(family), Some(qualifier)) => DeletedCells::Column(family, qualifier),
        (None, Some(_)) => return Err(Error::invalid("the column to delete has no family")),
    };
    let timestamp = match message.timestamp {
        None => Timestamp::LATEST,
        Some(millis) => timestamp_of(millis)?,
    };
    let start = message.start_row.unwrap_or_default();
    let range = RowRange::new(start, message.stop_row.unwrap_or_default());
    let query = message.query;
    let zone = message.zone;
    let request = DeleteRows { query, zone, range, cells, timestamp, batch_rows, durability };
    request.check()?;
    Ok(Some(request))
}

/// Returns a timestamp as it was sent.
///
/// # Errors
/// `InvalidRequest` for one that is too large.
pub(super) fn timestamp_of(millis: u64) -> Result<Timestamp> {
    // A negative one of Java is refused with the number that was meant.
    Timestamp::from_millis(millis as i64)
}

/// Encodes how far a call has come.
pub fn answer_to_proto(deleted: DeletedRows) -> NameBytesPair {
    let message = DeleteRowsResponse { rows: deleted.rows, next_row: deleted.next };
    answer("rowhouse.DeleteRowsResponse", &message)
}

/// Decodes how far a call has come.
///
/// # Errors
/// `Protocol` for a malformed message.
pub fn answer_from_proto(answer: NameBytesPair) -> Result<DeletedRows> {
    let message: DeleteRowsResponse = decode_message(answer.value.unwrap_or_default())?;
    Ok(DeletedRows { rows: message.rows, next: message.next_row })
}

#[cfg(test)]
mod tests {
    use rowhouse_model::Durability;

    use super::*;

    fn read(call: proto::CoprocessorServiceCall) -> Result<DeleteRows> {
        call_from_proto(&call.method_name, call.request).map(Option::unwrap)
    }

    #[test]
    fn requests_are_read_as_they_were_written() {
        let all = DeleteRows::new(RowRange::all());
        assert_eq!(read(call_to_proto(all.clone())).unwrap(), all);
        let column = DeleteRows {
            query: Some("user = 'bob'".to_owned()),
            zone: Some("Asia/Shanghai".to_owned()),
            range: RowRange::new("b", "c"),
            cells: DeletedCells::Column("d".into(), "".into()),
            timestamp: Timestamp::from_millis(7).unwrap(),
            batch_rows: 3,
            durability: Durability::FsyncWal,
        };
        let call = call_to_proto(column.clone());
        assert_eq!(call.row, "b");
        assert_eq!(read(call).unwrap(), column);
        for deleted in [
            DeletedRows::default(),
            DeletedRows { rows: 7, next: Some("".into()) },
            DeletedRows { rows: u64::MAX, next: Some("row".into()) },
        ] {
            assert_eq!(answer_from_proto(answer_to_proto(deleted.clone())).unwrap(), deleted);
        }
    }

    #[test]
    fn malformed_requests_are_refused() {
        let refused = |message: DeleteRowsRequest| {
            let read = call_from_proto(ROWS, message.encode_to_vec().into());
            read.unwrap_err().message().to_owned()
        };
        let none = DeleteRowsRequest { batch_rows: Some(0), ..Default::default() };
        assert_eq!(refused(none), "a batch of deletes has 1 to 10000 rows: rows=0");
        let many = DeleteRowsRequest { batch_rows: Some(10_001), ..Default::default() };
        assert_eq!(refused(many), "a batch of deletes has 1 to 10000 rows: rows=10001");
        let column = DeleteRowsRequest { qualifier: Some("q".into()), ..Default::default() };
        assert_eq!(refused(column), "the column to delete has no family");
        let negative = DeleteRowsRequest { timestamp: Some(u64::MAX), ..Default::default() };
        assert!(refused(negative).contains("-1"));
        assert!(call_from_proto("Other", Bytes::new()).unwrap().is_none());
    }
}
