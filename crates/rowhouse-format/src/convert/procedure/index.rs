//! Index checks and repairs, rowhouse's own calls. They are sent as HBase procedures, which every
//! HBase client can call.

use rowhouse_model::{Error, ErrorKind, IndexReport, IndexStatus, Result, TableName};

use super::pairs::{needed, pair, value};
use crate::proto;

/// The procedure's signature. The instance is the table.
pub(super) const SIGNATURE: &str = "rowhouse-index";

/// What is to be done with an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum IndexOperation {
    /// Compares it with the table's rows.
    Verify,
    /// Mends it.
    Repair,
}

/// A request to check or repair an index, or to query how far that is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexCall {
    /// The table.
    pub table: TableName,
    /// The index name.
    pub index: String,
    /// What is to be done.
    pub operation: IndexOperation,
}

/// Encodes a request.
pub fn call_to_proto(call: &IndexCall) -> proto::ProcedureDescription {
    let operation = match call.operation {
        IndexOperation::Verify => VERIFY,
        IndexOperation::Repair => REPAIR,
    };
    proto::ProcedureDescription {
        signature: SIGNATURE.to_owned(),
        instance: Some(call.table.to_string()),
        creation_time: None,
        configuration: vec![pair(INDEX, &call.index), pair(OPERATION, operation)],
    }
}

/// Decodes a request from a procedure with this signature.
///
/// # Errors
/// `InvalidRequest` for an invalid table name, a request without an index, and another operation
/// than `verify` and `repair`.
pub(super) fn call_from_proto(procedure: &proto::ProcedureDescription) -> Result<IndexCall> {
    let operation = match needed(procedure, OPERATION)? {
        VERIFY => IndexOperation::Verify,
        REPAIR => IndexOperation::Repair,
        other => {
            return Err(Error::invalid(format!(
                "the operation of an index is {VERIFY} or {REPAIR}: {OPERATION}={other}"
            )));
        }
    };
    let table = TableName::parse(procedure.instance())?;
    Ok(IndexCall { table, index: needed(procedure, INDEX)?.to_owned(), operation })
}

/// Encodes how far an operation is.
pub fn status_to_proto(call: &IndexCall, status: &IndexStatus) -> proto::IsProcedureDoneResponse {
    let mut procedure = call_to_proto(call);
    let numbers = numbers(&status.report).into_iter();
    procedure.configuration.extend(numbers.map(|(name, number)| pair(name, number)));
    proto::IsProcedureDoneResponse { done: Some(status.is_done), snapshot: Some(procedure) }
}

/// Decodes how far an operation is.
///
/// # Errors
/// `Protocol` if the response lacks a value.
pub fn status_from_proto(answer: &proto::IsProcedureDoneResponse) -> Result<IndexStatus> {
    let unsaid = |name: &str| {
        let message = format!("the server does not report on the index: missing={name}");
        Error::new(ErrorKind::Protocol, message)
    };
    let procedure = answer.snapshot.as_ref().ok_or_else(|| unsaid("procedure"))?;
    let number = |name: &str| {
        value(procedure, name).and_then(|value| value.parse().ok()).ok_or_else(|| unsaid(name))
    };
    let report = IndexReport {
        rows: number(ROWS)?,
        unfit_rows: number(UNFIT_ROWS)?,
        entries: number(ENTRIES)?,
        missing: number(MISSING)?,
        stale: number(STALE)?,
    };
    Ok(IndexStatus { is_done: answer.done(), report })
}

/// Writes how far an operation is as text, for clients that call it by `execProcedureWithReturn`:
/// `done=true rows=600 unfit_rows=0 entries=580 missing=0 stale=0`.
pub fn status_to_text(status: &IndexStatus) -> String {
    let numbers = numbers(&status.report).map(|(name, number)| format!(" {name}={number}"));
    format!("done={}{}", status.is_done, numbers.concat())
}

fn numbers(report: &IndexReport) -> [(&'static str, u64); 5] {
    [
        (ROWS, report.rows),
        (UNFIT_ROWS, report.unfit_rows),
        (ENTRIES, report.entries),
        (MISSING, report.missing),
        (STALE, report.stale),
    ]
}

const INDEX: &str = "index";
const OPERATION: &str = "operation";
const VERIFY: &str = "verify";
const REPAIR: &str = "repair";
const ROWS: &str = "rows";
const UNFIT_ROWS: &str = "unfit_rows";
const ENTRIES: &str = "entries";
const MISSING: &str = "missing";
const STALE: &str = "stale";

#[cfg(test)]
mod tests {
    use super::*;

    fn call(operation: IndexOperation) -> IndexCall {
        let table = TableName::parse("ns:mail").unwrap();
        IndexCall { table, index: "by_sender".into(), operation }
    }

    #[test]
    fn an_operation_and_its_status_survive_the_wire() {
        for operation in [IndexOperation::Verify, IndexOperation::Repair] {
            let call = call(operation);
            assert_eq!(call_from_proto(&call_to_proto(&call)).unwrap(), call);
            let report = IndexReport { rows: 1, unfit_rows: 2, entries: 3, missing: 4, stale: 5 };
            let status = IndexStatus { is_done: true, report };
            assert_eq!(status_from_proto(&status_to_proto(&call, &status)).unwrap(), status);
            assert_eq!(
                status_to_text(&status),
                "done=true rows=1 unfit_rows=2 entries=3 missing=4 stale=5"
            );
        }
    }

    #[test]
    fn missing_and_unknown_values_are_named() {
        let mut procedure = call_to_proto(&call(IndexOperation::Verify));
        procedure.configuration[1].value = "rebuild".into();
        let unknown = call_from_proto(&procedure).unwrap_err();
        assert!(unknown.message().ends_with("operation=rebuild"), "{unknown}");
        procedure.configuration.clear();
        let unsaid = call_from_proto(&procedure).unwrap_err();
        assert!(unsaid.message().ends_with("missing=operation"), "{unsaid}");
        let answer = proto::IsProcedureDoneResponse { done: Some(true), snapshot: None };
        assert_eq!(status_from_proto(&answer).unwrap_err().kind(), ErrorKind::Protocol);
    }
}
