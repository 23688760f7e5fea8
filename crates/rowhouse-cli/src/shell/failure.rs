//! Command errors, and their form in HBase's shell.

use std::io;

use rowhouse::{Error, ErrorKind};

/// Why a command failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The command itself is wrong.
    Usage(String),
    /// The database returned an error.
    Database(Error),
    /// The user ended the command.
    Interrupted,
    /// The output is closed.
    Output(io::Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Database(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

/// The result from a part of a command.
pub(crate) type Result<T, E = Failure> = std::result::Result<T, E>;

/// Returns an error in the command itself.
pub(crate) fn usage_error<T>(message: impl Into<String>) -> Result<T> {
    Err(Failure::Usage(message.into()))
}

/// Returns the text after `ERROR:`. `subject` is the command's first argument: HBase's shell takes
/// the table's name from there.
pub(crate) fn shown(error: &Error, subject: &str) -> String {
    let message = error.message().lines().next().unwrap_or_default();
    let class = match error.kind() {
        ErrorKind::TableNotFound => return format!("Unknown table {subject}!"),
        ErrorKind::TableExists => return format!("Table already exists: {subject}!"),
        ErrorKind::TableNotEnabled => return format!("Table {subject} is disabled!"),
        ErrorKind::TableNotDisabled => return format!("Table {subject} should be disabled!"),
        ErrorKind::NamespaceNotFound => {
            let namespace = subject.split_once(':').map_or(subject, |(namespace, _)| namespace);
            return format!("Unknown namespace {namespace}!");
        }
        ErrorKind::NamespaceExists => "org.apache.hadoop.hbase.NamespaceExistException",
        ErrorKind::NamespaceConstraint => "org.apache.hadoop.hbase.constraint.ConstraintException",
        ErrorKind::InvalidFamily => "org.apache.hadoop.hbase.InvalidFamilyOperationException",
        ErrorKind::NoSuchColumnFamily => {
            "org.apache.hadoop.hbase.regionserver.NoSuchColumnFamilyException"
        }
        ErrorKind::SnapshotExists => "org.apache.hadoop.hbase.snapshot.SnapshotExistsException",
        ErrorKind::SnapshotNotFound => {
            "org.apache.hadoop.hbase.snapshot.SnapshotDoesNotExistException"
        }
        ErrorKind::SnapshotExpired => {
            "org.apache.hadoop.hbase.snapshot.SnapshotTTLExpiredException"
        }
        ErrorKind::SnapshotCreation => "org.apache.hadoop.hbase.snapshot.SnapshotCreationException",
        ErrorKind::InvalidRequest | ErrorKind::Unsupported => {
            "org.apache.hadoop.hbase.DoNotRetryIOException"
        }
        // Errors that HBase does not have get our message.
        _ => return error.message().to_owned(),
    };
    if message.starts_with("org.apache.") {
        return message.to_owned();
    }
    format!("{class}: {message}")
}
