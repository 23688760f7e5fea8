//! Errors, classified by the caller's appropriate reaction.

use std::borrow::Cow;
use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

/// The result that rowhouse's fallible functions return.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error: its kind, a message that names the value and the limit, and the source.
///
/// It is one pointer wide. A clone shares the message and the source.
#[derive(Clone)]
pub struct Error(Arc<Inner>);

#[derive(Clone)]
struct Inner {
    kind: ErrorKind,
    message: String,
    source: Option<Arc<dyn StdError + Send + Sync>>,
}

/// The error kind. Each maps to one Java exception class on the wire (rowhouse-format,
/// `exception.rs`) and to one [`Action`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The named table does not exist.
    TableNotFound,
    /// A table with that name already exists.
    TableExists,
    /// The table is disabled and the call needs it enabled.
    TableNotEnabled,
    /// The table is enabled and the call needs it disabled.
    TableNotDisabled,
    /// The named namespace does not exist.
    NamespaceNotFound,
    /// A namespace with that name already exists.
    NamespaceExists,
    /// The namespace still holds tables or is reserved, so it cannot be dropped or changed.
    NamespaceConstraint,
    /// The table has no such column family.
    NoSuchColumnFamily,
    /// A family cannot be added, changed or dropped: it already exists, does not exist, or is the
    /// last one.
    InvalidFamily,
    /// A snapshot with that name already exists.
    SnapshotExists,
    /// The named snapshot does not exist.
    SnapshotNotFound,
    /// The snapshot's TTL has passed.
    SnapshotExpired,
    /// The table for the requested snapshot does not exist.
    SnapshotCreation,
    /// The snapshot neither exists nor is in progress.
    UnknownSnapshot,
    /// The named replication peer does not exist.
    ReplicationPeerNotFound,
    /// The namespace has reached the limit for tables or regions.
    QuotaExceeded,
    /// The row already exists, and the write required that it did not.
    RowExists,
    /// In every transaction attempt, another writer changed data that the transaction had read.
    Conflict,
    /// A promoted index has given the table another key: look the table up again.
    LayoutChanged,
    /// The changes after a follower's position are no longer retained, or the position belongs to
    /// another store: copy the table again.
    PositionLost,
    /// The request can never succeed in the current form.
    InvalidRequest,
    /// The request is valid, but this backend does not support it.
    Unsupported,
    /// The user has not proved who they are, or may not do that.
    AccessDenied,
    /// The row is outside the region named in the request.
    WrongRegion,
    /// This server does not serve the region, or no longer does: look it up again.
    NotServingRegion,
    /// The region to split or merge does not exist.
    UnknownRegion,
    /// The region cannot accept writes now, because memory or disk space is short; retry later.
    RegionTooBusy,
    /// Other results from the same call have filled the response: repeat this request.
    ResponseTooLarge,
    /// The scanner is unknown: closed, expired, or opened before a restart.
    UnknownScanner,
    /// The server closed the scanner after an error: open another one at the scan's position.
    ScannerReset,
    /// A scan call arrived out of sequence.
    OutOfOrderScanner,
    /// The server is stopping or has not finished starting.
    ServerNotRunning,
    /// The peer violated the protocol.
    Protocol,
    /// The connection failed to open or broke.
    Connection,
    /// No response arrived within the timeout; a write's outcome is unknown.
    Timeout,
    /// The write may or may not be durable: syncing the log record failed.
    OutcomeUnknown,
    /// The store rejects writes after an earlier failure; reopening it recovers.
    ReadOnly,
    /// Another process holds the data directory, or the port is in use.
    InUse,
    /// Bytes on disk differ from the bytes written.
    Corruption,
    /// An operating system call failed.
    Io,
}

/// The caller's appropriate reaction to an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// The same call may succeed later.
    Retry,
    /// Look up the region again, then repeat the call.
    Relocate,
    /// Change the request.
    FixRequest,
    /// Close and reopen the store or the connection.
    Reopen,
    /// No change to the call helps: report the error to an operator.
    Report,
}

impl ErrorKind {
    /// Returns the caller's appropriate reaction to an error with this kind.
    pub fn action(self) -> Action {
        use ErrorKind::*;
        match self {
            TableNotFound
            | TableExists
            | TableNotEnabled
            | TableNotDisabled
            | NamespaceNotFound
            | NamespaceExists
            | NamespaceConstraint
            | NoSuchColumnFamily
            | InvalidFamily
            | SnapshotExists
            | SnapshotNotFound
            | SnapshotExpired
            | SnapshotCreation
            | UnknownSnapshot
            | ReplicationPeerNotFound
            | QuotaExceeded
            | RowExists
            | LayoutChanged
            | PositionLost
            | UnknownRegion
            | InvalidRequest
            | Unsupported
            | AccessDenied
            | InUse => Action::FixRequest,
            WrongRegion | NotServingRegion => Action::Relocate,
            Conflict | RegionTooBusy | ResponseTooLarge | ServerNotRunning | Connection
            | Timeout => Action::Retry,
            UnknownScanner | ScannerReset | OutOfOrderScanner | OutcomeUnknown | ReadOnly => {
                Action::Reopen
            }
            Protocol | Corruption | Io => Action::Report,
        }
    }
}

impl Error {
    /// Creates an error with this kind. The message is lower case, has no full stop, and ends with
    /// the values: `row key too long: len=40001, max=32767`.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self(Arc::new(Inner { kind, message: message.into(), source: None }))
    }

    /// Returns the error with the cause attached.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        Arc::make_mut(&mut self.0).source = Some(Arc::from(source.into()));
        self
    }

    /// Returns the error with another message. The kind and the source stay.
    #[must_use]
    pub fn with_message(mut self, message: impl Into<String>) -> Self {
        Arc::make_mut(&mut self.0).message = message.into();
        self
    }

    /// Returns the error with the context in front of the message. The kind and the source stay.
    ///
    /// ```
    /// use rowhouse_model::Error;
    ///
    /// let error = Error::invalid("not a number: x").with_context("field `n`");
    /// assert_eq!(error.message(), "field `n`: not a number: x");
    /// ```
    #[must_use]
    pub fn with_context(self, context: impl fmt::Display) -> Self {
        let message = format!("{context}: {self}");
        self.with_message(message)
    }

    /// Creates an error for a request that can never succeed in the current form.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidRequest, message)
    }

    /// Creates an error for a valid but unsupported request.
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unsupported, message)
    }

    /// Creates an error for damaged bytes; the message names the file and the offset.
    pub fn corruption(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Corruption, message)
    }

    /// Creates an error for a failed operating system call; `doing` states the operation and the
    /// object. The message states if the disk is full or the quota is used up.
    ///
    /// ```
    /// use std::io;
    /// use rowhouse_model::Error;
    ///
    /// let error = Error::io("cannot append to MANIFEST", io::ErrorKind::StorageFull.into());
    /// assert!(error.message().starts_with("the disk is full: cannot append to MANIFEST"));
    /// ```
    pub fn io(doing: impl fmt::Display, source: std::io::Error) -> Self {
        let full = match source.kind() {
            std::io::ErrorKind::StorageFull => "the disk is full: ",
            std::io::ErrorKind::QuotaExceeded => "the disk quota is used up: ",
            _ => "",
        };
        Self::new(ErrorKind::Io, format!("{full}{doing}: {source}")).with_source(source)
    }

    /// Returns the error's kind.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// Returns the caller's appropriate reaction.
    pub fn action(&self) -> Action {
        self.kind().action()
    }

    /// Returns the message without the source.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Returns the error for a reader who does not see the kind. For some kinds the message is, as
    /// in HBase, only the name of a table or namespace.
    ///
    /// ```
    /// use rowhouse_model::{Error, ErrorKind};
    ///
    /// let error = Error::new(ErrorKind::TableNotFound, "mail");
    /// assert_eq!(error.described(), "there is no table mail");
    /// ```
    pub fn described(&self) -> Cow<'_, str> {
        let message = self.message();
        let is_name = !message.contains(char::is_whitespace);
        match self.kind() {
            ErrorKind::TableNotFound if is_name => format!("there is no table {message}").into(),
            ErrorKind::TableExists if is_name => format!("table {message} already exists").into(),
            ErrorKind::TableNotEnabled if is_name => format!("table {message} is disabled").into(),
            ErrorKind::TableNotDisabled if is_name => {
                format!("table {message} is not disabled").into()
            }
            ErrorKind::NamespaceNotFound if is_name => {
                format!("there is no namespace {message}").into()
            }
            _ => message.into(),
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.kind(), self.message())
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_ref().map(|source| source.as_ref() as _)
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    fn unreadable() -> Error {
        Error::io("cannot read f", io::Error::other("device gone"))
    }

    #[test]
    fn a_clone_keeps_kind_message_and_source() {
        let error = unreadable();
        let clone = error.clone();
        drop(error);
        assert_eq!(clone.kind(), ErrorKind::Io);
        assert_eq!(clone.message(), "cannot read f: device gone");
        let source = clone.source().and_then(|source| source.downcast_ref::<io::Error>());
        assert_eq!(source.unwrap().to_string(), "device gone");
    }

    #[test]
    fn changes_to_one_clone_leave_the_others_as_they_are() {
        let error = unreadable();
        let changed = error.clone().with_context("table t");
        assert_eq!(changed.kind(), ErrorKind::Io);
        assert_eq!(changed.message(), "table t: cannot read f: device gone");
        assert!(changed.source().is_some());
        let other = error.clone().with_message("gone").with_source("a text");
        assert_eq!(other.source().unwrap().to_string(), "a text");
        assert_eq!(error.message(), "cannot read f: device gone");
        assert!(error.source().unwrap().is::<io::Error>());
    }

    #[test]
    fn a_result_without_a_value_is_one_word() {
        assert_eq!(size_of::<Result<()>>(), size_of::<usize>());
    }
}
