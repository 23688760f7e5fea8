//! Maps errors to Java exceptions.
//!
//! A Java client decides how to react by the class and the do-not-retry flag, and shows the
//! message. The classes are therefore Apache's own, and only those on a client's class path.

use std::borrow::Cow;

use bytes::Bytes;
use rowhouse_model::{Error, ErrorKind, ServerName};

use crate::proto;

/// Creates the error for bytes that violate the protocol.
pub(crate) fn malformed(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Protocol, message)
}

/// A Java exception in the wire form.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exception {
    /// Fully qualified class name.
    pub class: Cow<'static, str>,
    /// Message without the class name.
    pub message: String,
    /// Whether a retry is pointless.
    pub do_not_retry: bool,
}

impl Exception {
    /// Creates an exception that closes the connection, with a class in HBase's `ipc` package.
    pub(crate) fn fatal(class: &str, message: String) -> Self {
        let class = Cow::Owned(format!("org.apache.hadoop.hbase.ipc.{class}"));
        Self { class, message, do_not_retry: true }
    }

    /// Creates the response to a user who may not connect, or may not do that.
    pub fn access_denied(message: impl Into<String>) -> Self {
        let class = "org.apache.hadoop.hbase.security.AccessDeniedException".into();
        Self { class, message: message.into(), do_not_retry: true }
    }

    /// Creates the response to a token that does not serve.
    pub fn invalid_token(message: impl Into<String>) -> Self {
        let class = "org.apache.hadoop.security.token.SecretManager$InvalidToken".into();
        Self { class, message: message.into(), do_not_retry: true }
    }

    /// Creates the response to a message of SASL that does not serve.
    pub fn sasl(message: impl Into<String>) -> Self {
        let class = "javax.security.sasl.SaslException".into();
        Self { class, message: message.into(), do_not_retry: true }
    }

    /// Creates the response to a client that requests a principal.
    pub(crate) fn security_not_enabled() -> Self {
        Self {
            class: "org.apache.hadoop.hbase.ipc.SecurityNotEnabledException".into(),
            message: "security is not enabled".into(),
            do_not_retry: false,
        }
    }

    /// Returns the exception in response header form.
    pub fn to_response(&self) -> proto::ExceptionResponse {
        proto::ExceptionResponse {
            exception_class_name: Some(self.class.clone().into_owned()),
            stack_trace: Some(self.stack_trace()),
            do_not_retry: Some(self.do_not_retry),
            ..Default::default()
        }
    }

    /// Parses the exception in a response header.
    pub fn from_response(response: proto::ExceptionResponse) -> Self {
        let class = response.exception_class_name.unwrap_or_default();
        Self {
            message: message_of(&class, response.stack_trace.as_deref().unwrap_or_default()),
            class: class.into(),
            do_not_retry: response.do_not_retry.unwrap_or(false),
        }
    }

    /// Returns the exception in the form for a failed action in a Multi.
    pub fn to_pair(&self) -> proto::NameBytesPair {
        proto::NameBytesPair {
            name: self.class.clone().into_owned(),
            value: Some(Bytes::from(self.stack_trace())),
        }
    }

    /// Parses the exception for one action in a Multi. It has no flag: the class determines whether
    /// to retry.
    pub fn from_pair(pair: proto::NameBytesPair) -> Self {
        let trace = pair.value.unwrap_or_default();
        let message = message_of(&pair.name, &String::from_utf8_lossy(&trace));
        let do_not_retry = !is_retried(&pair.name);
        Self { class: pair.name.into(), message, do_not_retry }
    }

    /// Returns the exception in the form for a failed procedure.
    pub fn to_foreign(&self) -> proto::ForeignExceptionMessage {
        proto::ForeignExceptionMessage {
            source: None,
            generic_exception: Some(proto::GenericExceptionMessage {
                class_name: Some(self.class.clone().into_owned()),
                message: Some(self.message.clone()),
                ..Default::default()
            }),
        }
    }

    /// Parses a failed procedure's exception.
    pub fn from_foreign(foreign: proto::ForeignExceptionMessage) -> Self {
        let exception = foreign.generic_exception.unwrap_or_default();
        let class = exception.class_name.unwrap_or_default();
        let do_not_retry = !is_retried(&class);
        Self { class: class.into(), message: exception.message.unwrap_or_default(), do_not_retry }
    }

    /// Returns what HBase answers to a call for which the queue has no room. Clients repeat the
    /// call after a pause.
    pub fn call_queue_full() -> Self {
        Self {
            class: "org.apache.hadoop.hbase.CallQueueTooBigException".into(),
            message: "Call queue is full on this server, too many items queued ?".into(),
            do_not_retry: false,
        }
    }

    /// Returns what HBase answers to a call for a region that has moved to a server. Clients go
    /// there.
    pub fn region_moved(to: &ServerName) -> Self {
        let ServerName { host, port, start_code } = to;
        Self {
            class: "org.apache.hadoop.hbase.exceptions.RegionMovedException".into(),
            message: format!(
                "Region moved to: hostname={host} port={port} startCode={start_code}. As of locationSeqNum=1."
            ),
            do_not_retry: false,
        }
    }

    /// Returns the corresponding error. If the class is unknown, the message includes it.
    pub fn into_error(self) -> Error {
        if let Some(kind) = kind_of(&self.class) {
            return Error::new(kind, self.message);
        }
        let kind =
            if self.do_not_retry { ErrorKind::InvalidRequest } else { ErrorKind::RegionTooBusy };
        Error::new(kind, format!("{}: {}", self.class, self.message))
    }

    /// Returns a Java stack trace's first line: `class: message`, or the class alone.
    fn stack_trace(&self) -> String {
        if self.message.is_empty() {
            return self.class.clone().into_owned();
        }
        format!("{}: {}", self.class, self.message)
    }
}

impl From<&Error> for Exception {
    fn from(error: &Error) -> Self {
        let (class, do_not_retry) = class_of(error.kind());
        Self { class: class.into(), message: error.message().to_owned(), do_not_retry }
    }
}

/// Returns a stack trace's message: the text before the first frame, without the class.
fn message_of(class: &str, stack_trace: &str) -> String {
    let text = stack_trace.split("\n\tat ").next().unwrap_or_default();
    let text = match text.strip_prefix(class) {
        Some(rest) => rest.strip_prefix(": ").unwrap_or(rest),
        None => text,
    };
    text.trim_end().to_owned()
}

fn class_of(kind: ErrorKind) -> (&'static str, bool) {
    CLASSES
        .iter()
        .find(|(has, ..)| *has == kind)
        .map_or(("java.io.IOException", false), |&(_, class, do_not_retry)| (class, do_not_retry))
}

fn kind_of(class: &str) -> Option<ErrorKind> {
    let ours = CLASSES.iter().map(|&(kind, class, _)| (class, kind));
    ours.chain(FOREIGN.iter().copied()).find(|(has, _)| *has == class).map(|(_, kind)| kind)
}

/// Returns true if a client retries after this class if there is no flag.
fn is_retried(class: &str) -> bool {
    match CLASSES.iter().find(|(_, has, _)| *has == class) {
        Some(&(.., do_not_retry)) => !do_not_retry,
        None => match FOREIGN.iter().find(|(has, _)| *has == class) {
            Some((_, kind)) => !class_of(*kind).1,
            None => true,
        },
    }
}

/// The exceptions a server sends: kind, class, whether a retry is pointless. If several kinds share
/// a class, it maps back to the first.
const CLASSES: &[(ErrorKind, &str, bool)] = &[
    (ErrorKind::InvalidRequest, "org.apache.hadoop.hbase.DoNotRetryIOException", true),
    (ErrorKind::Unsupported, "org.apache.hadoop.hbase.DoNotRetryIOException", true),
    (ErrorKind::OutcomeUnknown, "org.apache.hadoop.hbase.DoNotRetryIOException", true),
    (ErrorKind::ReadOnly, "org.apache.hadoop.hbase.DoNotRetryIOException", true),
    (ErrorKind::RowExists, "org.apache.hadoop.hbase.DoNotRetryIOException", true),
    (ErrorKind::LayoutChanged, "org.apache.hadoop.hbase.DoNotRetryIOException", true),
    // HBase has no followers, so that only ours receive it.
    (ErrorKind::PositionLost, "java.util.NoSuchElementException", true),
    // HBase has no class for it; only a client that sends an expectation can receive it.
    (ErrorKind::Conflict, "java.util.ConcurrentModificationException", true),
    (ErrorKind::InUse, "org.apache.hadoop.hbase.DoNotRetryIOException", true),
    (ErrorKind::Corruption, "org.apache.hadoop.hbase.DoNotRetryIOException", true),
    (ErrorKind::TableNotFound, "org.apache.hadoop.hbase.TableNotFoundException", true),
    (ErrorKind::TableExists, "org.apache.hadoop.hbase.TableExistsException", true),
    (ErrorKind::TableNotEnabled, "org.apache.hadoop.hbase.TableNotEnabledException", true),
    (ErrorKind::TableNotDisabled, "org.apache.hadoop.hbase.TableNotDisabledException", true),
    (ErrorKind::NamespaceNotFound, "org.apache.hadoop.hbase.NamespaceNotFoundException", true),
    (ErrorKind::NamespaceExists, "org.apache.hadoop.hbase.NamespaceExistException", true),
    (
        ErrorKind::NamespaceConstraint,
        "org.apache.hadoop.hbase.constraint.ConstraintException",
        true,
    ),
    (
        ErrorKind::NoSuchColumnFamily,
        "org.apache.hadoop.hbase.regionserver.NoSuchColumnFamilyException",
        true,
    ),
    (
        ErrorKind::ReplicationPeerNotFound,
        "org.apache.hadoop.hbase.ReplicationPeerNotFoundException",
        true,
    ),
    (ErrorKind::AccessDenied, "org.apache.hadoop.hbase.security.AccessDeniedException", true),
    (ErrorKind::QuotaExceeded, "org.apache.hadoop.hbase.quotas.QuotaExceededException", true),
    (ErrorKind::InvalidFamily, "org.apache.hadoop.hbase.InvalidFamilyOperationException", true),
    (ErrorKind::SnapshotExists, "org.apache.hadoop.hbase.snapshot.SnapshotExistsException", true),
    (
        ErrorKind::SnapshotNotFound,
        "org.apache.hadoop.hbase.snapshot.SnapshotDoesNotExistException",
        true,
    ),
    (
        ErrorKind::SnapshotExpired,
        "org.apache.hadoop.hbase.snapshot.SnapshotTTLExpiredException",
        true,
    ),
    (
        ErrorKind::SnapshotCreation,
        "org.apache.hadoop.hbase.snapshot.SnapshotCreationException",
        true,
    ),
    (ErrorKind::UnknownSnapshot, "org.apache.hadoop.hbase.snapshot.UnknownSnapshotException", true),
    (ErrorKind::WrongRegion, "org.apache.hadoop.hbase.regionserver.WrongRegionException", false),
    (ErrorKind::NotServingRegion, "org.apache.hadoop.hbase.NotServingRegionException", false),
    (ErrorKind::UnknownRegion, "org.apache.hadoop.hbase.UnknownRegionException", true),
    (ErrorKind::RegionTooBusy, "org.apache.hadoop.hbase.RegionTooBusyException", false),
    (ErrorKind::ResponseTooLarge, "org.apache.hadoop.hbase.MultiActionResultTooLarge", false),
    (ErrorKind::UnknownScanner, "org.apache.hadoop.hbase.UnknownScannerException", true),
    (ErrorKind::ScannerReset, "org.apache.hadoop.hbase.exceptions.ScannerResetException", true),
    (
        ErrorKind::OutOfOrderScanner,
        "org.apache.hadoop.hbase.exceptions.OutOfOrderScannerNextException",
        true,
    ),
    (
        ErrorKind::ServerNotRunning,
        "org.apache.hadoop.hbase.ipc.ServerNotRunningYetException",
        false,
    ),
    (ErrorKind::Protocol, "org.apache.hadoop.hbase.exceptions.UnknownProtocolException", true),
    (ErrorKind::Timeout, "org.apache.hadoop.hbase.exceptions.TimeoutIOException", false),
    (ErrorKind::Io, "java.io.IOException", false),
    (ErrorKind::Connection, "java.io.IOException", false),
];

/// Other classes that other servers send, and the kinds they map to.
const FOREIGN: &[(&str, ErrorKind)] = &[
    // The region is elsewhere, or will be.
    ("org.apache.hadoop.hbase.exceptions.RegionMovedException", ErrorKind::NotServingRegion),
    ("org.apache.hadoop.hbase.exceptions.RegionOpeningException", ErrorKind::NotServingRegion),
    ("org.apache.hadoop.hbase.client.RegionOfflineException", ErrorKind::NotServingRegion),
    (
        "org.apache.hadoop.hbase.regionserver.RegionServerStoppedException",
        ErrorKind::NotServingRegion,
    ),
    (
        "org.apache.hadoop.hbase.regionserver.RegionServerAbortedException",
        ErrorKind::NotServingRegion,
    ),
    // The same call may succeed later.
    ("org.apache.hadoop.hbase.CallQueueTooBigException", ErrorKind::RegionTooBusy),
    ("org.apache.hadoop.hbase.CallDroppedException", ErrorKind::RegionTooBusy),
    ("org.apache.hadoop.hbase.RetryImmediatelyException", ErrorKind::RegionTooBusy),
    ("org.apache.hadoop.hbase.quotas.RpcThrottlingException", ErrorKind::RegionTooBusy),
    ("org.apache.hadoop.hbase.ipc.ServerTooBusyException", ErrorKind::RegionTooBusy),
    ("org.apache.hadoop.hbase.PleaseHoldException", ErrorKind::ServerNotRunning),
    ("org.apache.hadoop.hbase.MasterNotRunningException", ErrorKind::ServerNotRunning),
    ("org.apache.hadoop.hbase.ipc.CallTimeoutException", ErrorKind::Timeout),
    // The scanner must be reopened.
    ("org.apache.hadoop.hbase.regionserver.LeaseException", ErrorKind::UnknownScanner),
    // The request is invalid.
    ("org.apache.hadoop.hbase.exceptions.RequestTooBigException", ErrorKind::InvalidRequest),
    ("org.apache.hadoop.hbase.exceptions.FailedSanityCheckException", ErrorKind::InvalidRequest),
    ("org.apache.hadoop.hbase.InvalidFamilyOperationException", ErrorKind::InvalidRequest),
    ("org.apache.hadoop.hbase.client.WrongRowIOException", ErrorKind::InvalidRequest),
    ("org.apache.hadoop.security.token.SecretManager$InvalidToken", ErrorKind::AccessDenied),
    ("javax.security.sasl.SaslException", ErrorKind::AccessDenied),
    ("org.apache.hadoop.hbase.snapshot.RestoreSnapshotException", ErrorKind::InvalidRequest),
    ("java.lang.IllegalArgumentException", ErrorKind::InvalidRequest),
    ("java.lang.UnsupportedOperationException", ErrorKind::Unsupported),
    // The connection is unusable.
    ("org.apache.hadoop.hbase.ipc.FatalConnectionException", ErrorKind::Protocol),
    ("org.apache.hadoop.hbase.ipc.WrongVersionException", ErrorKind::Protocol),
    ("org.apache.hadoop.hbase.ipc.BadAuthException", ErrorKind::Protocol),
    ("org.apache.hadoop.hbase.ipc.EmptyServiceNameException", ErrorKind::Protocol),
    ("org.apache.hadoop.hbase.ipc.UnknownServiceException", ErrorKind::Protocol),
    ("org.apache.hadoop.hbase.ipc.UnsupportedCellCodecException", ErrorKind::Protocol),
    ("org.apache.hadoop.hbase.ipc.UnsupportedCompressionCodecException", ErrorKind::Protocol),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_come_back_with_kind_and_message() {
        for &(kind, class, do_not_retry) in CLASSES {
            let error = Error::new(kind, "t: of two parts");
            let exception = Exception::from(&error);
            assert_eq!((&*exception.class, exception.do_not_retry), (class, do_not_retry));
            for read in [
                Exception::from_response(exception.to_response()),
                Exception::from_pair(exception.to_pair()),
                Exception::from_foreign(exception.to_foreign()),
            ] {
                assert_eq!(read, exception);
                assert_eq!(read.clone().into_error().message(), error.message());
                assert_eq!(class_of(read.into_error().kind()), (class, do_not_retry));
            }
        }
    }

    #[test]
    fn a_stack_trace_begins_with_class_and_message() {
        let response = Exception::from(&Error::new(ErrorKind::TableNotFound, "t")).to_response();
        assert_eq!(
            response.stack_trace.as_deref(),
            Some("org.apache.hadoop.hbase.TableNotFoundException: t")
        );
    }

    #[test]
    fn javas_stack_traces_lose_their_frames() {
        let response = proto::ExceptionResponse {
            exception_class_name: Some("a.B".into()),
            stack_trace: Some("a.B: first\nsecond\n\tat a.C.d(C.java:1)\n\tat a.E.f\n".into()),
            do_not_retry: Some(true),
            ..Default::default()
        };
        let error = Exception::from_response(response).into_error();
        assert_eq!(error.kind(), ErrorKind::InvalidRequest);
        assert_eq!(error.message(), "a.B: first\nsecond");
    }

    #[test]
    fn an_unknown_class_goes_by_its_flag() {
        let unknown =
            |do_not_retry| Exception { class: "a.B".into(), message: "m".into(), do_not_retry };
        assert_eq!(unknown(true).into_error().kind(), ErrorKind::InvalidRequest);
        assert_eq!(unknown(false).into_error().kind(), ErrorKind::RegionTooBusy);
    }
}
