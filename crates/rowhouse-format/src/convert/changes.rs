//! Changes of a table, rowhouse's own call: `proto/changes.proto`. It is sent as a call to a
//! coprocessor endpoint, which every HBase client can make.

use bytes::Bytes;
use prost::Message;
use rowhouse_model::{
    Cell, Change, ChangePosition, Error, ErrorKind, Result, RowOfChange, TableName, Timestamp,
    WholeTableChange, WholeTableChangeKind,
};

use super::endpoint::answer;
use crate::proto::table_change::Kind;
use crate::proto::{self, NameBytesPair, ReadChangesRequest, ReadChangesResponse, TableChange};
use crate::rpc::decode_message;

/// The service name.
pub(super) const SERVICE: &str = "rowhouse.ChangesService";

const READ: &str = "Read";

/// Where a follower begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadFrom {
    /// With the changes from now on.
    Now,
    /// With a copy of the table.
    Copy,
    /// After a position.
    Position(ChangePosition),
    /// Where the follower has saved its position.
    Saved,
}

/// A request for changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadChanges {
    /// Where to begin.
    pub from: ReadFrom,
    /// The follower's name, if it is registered or to be registered.
    pub follower: Option<String>,
    /// How long to wait for the first change, in milliseconds.
    pub wait_millis: u64,
    /// The most changes to return; `None` for the server's limit. With 0 the position is saved for
    /// the follower.
    pub limit: Option<u32>,
}

const NOW: &str = "now";
const COPY: &str = "copy";

/// Encodes a call to any region.
pub fn call_to_proto(request: &ReadChanges) -> proto::CoprocessorServiceCall {
    let from = match &request.from {
        ReadFrom::Now => Some(NOW.to_owned()),
        ReadFrom::Copy => Some(COPY.to_owned()),
        ReadFrom::Position(position) => Some(position.to_string()),
        ReadFrom::Saved => None,
    };
    let message = ReadChangesRequest {
        from,
        follower: request.follower.clone(),
        wait_millis: Some(request.wait_millis),
        limit: request.limit,
    };
    proto::CoprocessorServiceCall {
        row: Bytes::new(),
        service_name: SERVICE.to_owned(),
        method_name: READ.to_owned(),
        request: message.encode_to_vec().into(),
    }
}

/// Decodes a call; `None` for a method that the service does not have.
///
/// # Errors
/// `InvalidRequest` for a text that is no position, and for a request with neither a position nor a
/// follower.
pub(super) fn call_from_proto(method: &str, request: Bytes) -> Result<Option<ReadChanges>> {
    if method != READ {
        return Ok(None);
    }
    let message: ReadChangesRequest = decode_message(request)?;
    let from = match message.from.as_deref() {
        None if message.follower.is_none() => {
            return Err(Error::invalid("a follower without a name says from where to begin"));
        }
        None => ReadFrom::Saved,
        Some(NOW) => ReadFrom::Now,
        Some(COPY) => ReadFrom::Copy,
        Some(position) => ReadFrom::Position(position.parse()?),
    };
    let wait_millis = message.wait_millis.unwrap_or(0);
    let limit = message.limit;
    Ok(Some(ReadChanges { from, follower: message.follower, wait_millis, limit }))
}

/// Encodes changes and the position after them.
pub fn answer_to_proto(changes: Vec<Change>, position: &ChangePosition) -> NameBytesPair {
    let changes = changes.into_iter().map(change_to_proto).collect();
    let message = ReadChangesResponse { changes, position: position.to_string() };
    answer("rowhouse.ReadChangesResponse", &message)
}

/// Decodes the changes of a table and the position after them.
///
/// # Errors
/// `Protocol` for a malformed message; `InvalidRequest` for a position that is none.
pub fn answer_from_proto(
    answer: NameBytesPair,
    table: &TableName,
) -> Result<(Vec<Change>, ChangePosition)> {
    let message: ReadChangesResponse = decode_message(answer.value.unwrap_or_default())?;
    let changes = message.changes.into_iter().map(|change| change_from_proto(change, table));
    Ok((changes.collect::<Result<_>>()?, message.position.parse()?))
}

fn change_to_proto(change: Change) -> TableChange {
    let position = change.position().to_string();
    let mut message = TableChange { position, ..TableChange::default() };
    let (kind, row) = match change {
        Change::Row(row) => (Kind::Row, Some(row)),
        Change::Copied(row) => (Kind::Copied, Some(row)),
        Change::CopyEnded(_) => (Kind::CopyEnded, None),
        Change::Table(change) => {
            message.sequence = Some(change.read_point);
            message.time_millis = Some(change.time.as_millis());
            message.what = Some(change.kind.word().to_owned());
            (Kind::Table, None)
        }
    };
    message.set_kind(kind);
    if let Some(row) = row {
        message.sequence = Some(row.sequence);
        message.time_millis = row.time.map(Timestamp::as_millis);
        message.row = Some(row.row);
        message.cells = row.cells.iter().map(|cell| cell.as_bytes().clone()).collect();
    }
    message
}

fn change_from_proto(message: TableChange, table: &TableName) -> Result<Change> {
    let position: ChangePosition = message.position.parse()?;
    let table = table.clone();
    let sequence = message.sequence();
    let time = message.time_millis.map(Timestamp::from_millis).transpose()?;
    match message.kind() {
        kind @ (Kind::Row | Kind::Copied) => {
            let row = message.row.unwrap_or_default();
            let cells = message.cells.into_iter().map(|it| Cell::from_key_value(it, sequence));
            let cells = cells.collect::<Result<_>>()?;
            let row = RowOfChange { position, sequence, time, table, row, cells };
            Ok(if kind == Kind::Row { Change::Row(row) } else { Change::Copied(row) })
        }
        Kind::CopyEnded => Ok(Change::CopyEnded(position)),
        Kind::Table => {
            let kind = WholeTableChangeKind::of_word(message.what.as_deref().unwrap_or_default());
            let kind = kind.ok_or_else(|| {
                let what = message.what.unwrap_or_default();
                let message = format!("the server reports an unknown change of a table: {what}");
                Error::new(ErrorKind::Protocol, message)
            })?;
            let time = time.unwrap_or(Timestamp::MIN);
            let read_point = sequence;
            Ok(Change::Table(WholeTableChange { position, time, table, kind, read_point }))
        }
    }
}

#[cfg(test)]
mod tests {
    use rowhouse_model::CellKind;

    use super::*;

    #[test]
    fn requests_are_read_as_they_were_written() {
        let position: ChangePosition = "1f-3c40-0-00c0ffee00c0ffee".parse().unwrap();
        for from in [ReadFrom::Now, ReadFrom::Copy, ReadFrom::Saved, ReadFrom::Position(position)] {
            let follower = Some("counts".to_owned());
            let request = ReadChanges { from, follower, wait_millis: 7, limit: Some(3) };
            let call = call_to_proto(&request);
            let read = call_from_proto(&call.method_name, call.request).unwrap();
            assert_eq!(read, Some(request));
        }
        let from = ReadFrom::Saved;
        let unnamed = ReadChanges { from, follower: None, wait_millis: 0, limit: None };
        let call = call_to_proto(&unnamed);
        let error = call_from_proto(&call.method_name, call.request).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidRequest);
        assert_eq!(call_from_proto("Write", Bytes::new()).unwrap(), None);
    }

    #[test]
    fn changes_are_read_as_they_were_written() {
        let table = TableName::parse("mail").unwrap();
        let position: ChangePosition = "1f-3c40-0-00c0ffee00c0ffee".parse().unwrap();
        let time = Timestamp::from_millis(5).unwrap();
        let cell = Cell::new("bob", "d", "q", time, CellKind::Put, b"x").unwrap();
        let row = RowOfChange {
            position: position.clone(),
            sequence: 9,
            time: Some(time),
            table: table.clone(),
            row: "bob".into(),
            cells: vec![cell.with_sequence(9)],
        };
        let whole = WholeTableChange {
            position: position.clone(),
            time,
            table: table.clone(),
            kind: WholeTableChangeKind::Truncated,
            read_point: 12,
        };
        let changes = vec![
            Change::Row(row.clone()),
            Change::Copied(RowOfChange { time: None, ..row }),
            Change::CopyEnded(position.clone()),
            Change::Table(whole),
        ];
        let answer = answer_to_proto(changes.clone(), &position);
        assert_eq!(answer_from_proto(answer, &table).unwrap(), (changes, position));
    }
}
