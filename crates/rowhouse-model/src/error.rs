//! What can go wrong, told by what the caller should do about it.

use std::fmt;

/// The result of every fallible call on rowhouse's model.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// An error: its kind, a message that names the value and the limit, and where it came from.
pub struct Error {
    kind: ErrorKind,
    message: String,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// What went wrong. Each kind maps to one Java exception class on the wire (rowhouse-format,
/// `exception.rs`) and to one [`Action`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The named table does not exist.
    TableNotFound,
    /// A table of that name exists already.
    TableExists,
    /// The table is disabled and the call needs it enabled.
    TableNotEnabled,
    /// The table is enabled and the call needs it disabled.
    TableNotDisabled,
    /// The named namespace does not exist.
    NamespaceNotFound,
    /// A namespace of that name exists already.
    NamespaceExists,
    /// A namespace that still holds tables, or one that is reserved, cannot be dropped or changed.
    NamespaceConstraint,
    /// The table has no such column family.
    NoSuchColumnFamily,
    /// A family cannot be added, changed or dropped as asked: it is there already, is not, or is the last.
    InvalidFamily,
    /// A snapshot of that name exists already.
    SnapshotExists,
    /// The named snapshot does not exist.
    SnapshotNotFound,
    /// The time that the snapshot is kept has passed.
    SnapshotExpired,
    /// There is no table to take a snapshot of.
    SnapshotCreation,
    /// A snapshot that is asked about is neither there nor being taken.
    UnknownSnapshot,
    /// The named replication peer does not exist.
    ReplicationPeerNotFound,
    /// The namespace holds as many tables or regions as it may.
    QuotaExceeded,
    /// The row is there already, and was only to be written if it was not.
    RowExists,
    /// What a transaction had read was written by others, each time it was tried.
    Conflict,
    /// The request can never succeed as it stands.
    InvalidRequest,
    /// The request is understood, and this backend does not do it.
    Unsupported,
    /// The row is outside the region that the request names.
    WrongRegion,
    /// The region is not, or no longer, served here: look it up again.
    NotServingRegion,
    /// There is no region of this name to split or merge.
    UnknownRegion,
    /// The region cannot take writes now (memory or disk is short); it will later.
    RegionTooBusy,
    /// What else was asked for in the same call fills its answer: ask for this again.
    ResponseTooLarge,
    /// The scanner is unknown: closed, expired, or opened before a restart.
    UnknownScanner,
    /// The server closed the scanner after an error: open another one where the scan stands.
    ScannerReset,
    /// A scan call came out of step with the ones before it.
    OutOfOrderScanner,
    /// The server is stopping or has not finished starting.
    ServerNotRunning,
    /// The peer spoke something that is not the protocol.
    Protocol,
    /// The connection could not be made, or broke.
    Connection,
    /// No answer within the time allowed; the outcome of a write is unknown.
    Timeout,
    /// The write may or may not survive: its log could not be synced.
    OutcomeUnknown,
    /// The store refuses writes since an earlier failure; reopening recovers.
    ReadOnly,
    /// Another process holds the data directory, or the port is in use.
    InUse,
    /// Bytes on disk are not what was written.
    Corruption,
    /// The operating system refused.
    Io,
}

/// What a caller can do about an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// The same call may succeed later.
    Retry,
    /// Look the region up again, then repeat the call.
    Relocate,
    /// Change the request.
    FixRequest,
    /// Close and reopen the store or the connection.
    Reopen,
    /// Neither repeating nor rewording helps: somebody has to look.
    Report,
}

impl ErrorKind {
    /// What a caller can do about an error of this kind.
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
            | UnknownRegion
            | InvalidRequest
            | Unsupported
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
    /// An error of this kind. The message is lower case, has no full stop, and ends in the values:
    /// `row key too long: len=40001, max=32767`.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), source: None }
    }

    /// The same error, remembering what caused it.
    pub fn with_source(
        mut self,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        self.source = Some(source.into());
        self
    }

    /// A request that can never succeed as it stands.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidRequest, message)
    }

    /// A request that is understood and not supported.
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unsupported, message)
    }

    /// Bytes that are not what was written; the message names the file and the offset.
    pub fn corruption(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Corruption, message)
    }

    /// A refusal of the operating system; `doing` says what was attempted, and on what. A full disk is called
    /// one.
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

    /// What went wrong.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// What a caller can do about it.
    pub fn action(&self) -> Action {
        self.kind.action()
    }

    /// The message alone.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.kind, self.message)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|source| source.as_ref() as _)
    }
}
