//! The backup call, rowhouse's own. It is sent as an HBase procedure, because every HBase client
//! can call procedures and HBase has no call for backups.

use rowhouse_model::{BackupStatus, Error, ErrorKind, Result};

use super::pairs::{pair, value};
use crate::proto;

/// The procedure's signature.
pub(super) const SIGNATURE: &str = "rowhouse-backup";

/// A request to start a backup, or to query it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackupCall {
    /// The directory to create: a name, or a path on the server's machine.
    pub into: String,
    /// Request time in milliseconds; a retry repeats it.
    pub requested_millis: i64,
}

/// Encodes a backup request.
pub fn call_to_proto(call: &BackupCall) -> proto::ProcedureDescription {
    proto::ProcedureDescription {
        signature: SIGNATURE.to_owned(),
        instance: Some(call.into.clone()),
        creation_time: Some(call.requested_millis),
        configuration: Vec::new(),
    }
}

/// Decodes a backup request from a procedure with this signature.
pub(super) fn call_from_proto(procedure: &proto::ProcedureDescription) -> BackupCall {
    let into = procedure.instance().to_owned();
    let requested_millis = procedure.creation_time();
    BackupCall { into, requested_millis }
}

/// Encodes a backup's progress.
pub fn status_to_proto(call: &BackupCall, status: &BackupStatus) -> proto::IsProcedureDoneResponse {
    let mut procedure = call_to_proto(call);
    let numbers = numbers(status).map(|(name, number)| (name, number.to_string()));
    let pairs = numbers.into_iter().chain([(FILE, status.file.clone())]);
    procedure.configuration = pairs.map(|(name, value)| pair(name, value)).collect();
    proto::IsProcedureDoneResponse { done: Some(status.is_done), snapshot: Some(procedure) }
}

/// Decodes a backup's progress.
///
/// # Errors
/// `Protocol` if the response lacks a value.
pub fn status_from_proto(answer: &proto::IsProcedureDoneResponse) -> Result<BackupStatus> {
    let unsaid = |name: &str| {
        let message = format!(
            "the server does not report the progress of the backup: \
                               missing={name}"
        );
        Error::new(ErrorKind::Protocol, message)
    };
    let procedure = answer.snapshot.as_ref().ok_or_else(|| unsaid("procedure"))?;
    let text = |name: &str| value(procedure, name).ok_or_else(|| unsaid(name));
    let number = |name: &str| text(name)?.parse::<u64>().map_err(|_| unsaid(name));
    Ok(BackupStatus {
        is_done: answer.done(),
        file: text(FILE)?.to_owned(),
        bytes_done: number(BYTES_DONE)?,
        bytes_total: number(BYTES_TOTAL)?,
        tables: number(TABLES)?,
        snapshots: number(SNAPSHOTS)?,
        files: number(FILES)?,
        file_bytes: number(FILE_BYTES)?,
    })
}

const FILE: &str = "file";
const BYTES_DONE: &str = "bytes_done";
const BYTES_TOTAL: &str = "bytes_total";
const TABLES: &str = "tables";
const SNAPSHOTS: &str = "snapshots";
const FILES: &str = "files";
const FILE_BYTES: &str = "file_bytes";

fn numbers(status: &BackupStatus) -> [(&'static str, u64); 6] {
    [
        (BYTES_DONE, status.bytes_done),
        (BYTES_TOTAL, status.bytes_total),
        (TABLES, status.tables),
        (SNAPSHOTS, status.snapshots),
        (FILES, status.files),
        (FILE_BYTES, status.file_bytes),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backup_and_its_status_survive_the_wire() {
        let call = BackupCall { into: "monday".into(), requested_millis: 7 };
        assert_eq!(call_from_proto(&call_to_proto(&call)), call);
        let status = BackupStatus {
            is_done: true,
            file: "files/1".into(),
            bytes_done: 1,
            bytes_total: 2,
            tables: 3,
            snapshots: 4,
            files: 5,
            file_bytes: 6,
        };
        assert_eq!(status_from_proto(&status_to_proto(&call, &status)).unwrap(), status);
    }

    #[test]
    fn an_answer_of_another_procedure_is_refused() {
        let answer = proto::IsProcedureDoneResponse { done: Some(true), snapshot: None };
        assert_eq!(status_from_proto(&answer).unwrap_err().kind(), ErrorKind::Protocol);
    }
}
