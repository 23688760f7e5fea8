//! Exceptions of Java, as Apache's gateway sends them.

use rowhouse_format::exception::Exception;
use rowhouse_format::thrift::{ApplicationKind, Failure, Method};
use rowhouse_model::Error;

/// An exception in place of an answer.
#[derive(Debug)]
pub(super) enum Thrown {
    /// One that the method declares.
    Declared(Failure),
    /// Java's `IllegalArgumentException`: some methods declare it, for others it is unexpected.
    IllegalArgument(String),
    /// One that the method does not declare, such as Java's for an argument that is not sent.
    Unexpected(String),
}

impl From<Failure> for Thrown {
    fn from(failure: Failure) -> Self {
        Self::Declared(failure)
    }
}

impl Thrown {
    /// Returns the exception for an argument that HBase's own classes refuse.
    pub(super) fn illegal(error: &Error) -> Self {
        Self::IllegalArgument(error.message().to_owned())
    }

    /// Returns the answer of a method.
    pub(super) fn into_failure(self, method: Method) -> Failure {
        match self {
            Self::Declared(failure) => failure,
            Self::IllegalArgument(message) => {
                let message = format!("java.lang.IllegalArgumentException: {message}");
                if declares_illegal_arguments(method) {
                    return Failure::IllegalArgument(message);
                }
                internal(method, &message)
            }
            Self::Unexpected(message) => internal(method, &message),
        }
    }
}

/// Returns true for the methods that turn Java's `IllegalArgumentException` into the interface's.
fn declares_illegal_arguments(method: Method) -> bool {
    use Method::{CheckAndPut, CreateTable, MutateRow, MutateRowTs};
    matches!(method, CheckAndPut | CreateTable | MutateRow | MutateRowTs)
}

/// Apache's gateway does not say more than the method.
fn internal(method: Method, message: &str) -> Failure {
    let message = format!("Internal error processing {}: {message}", method.name());
    Failure::Application { kind: ApplicationKind::InternalError, message }
}

/// Returns an exception of the class `IOException` itself.
pub(super) fn io(message: &str) -> Failure {
    Failure::Io { message: format!("java.io.IOException: {message}"), can_retry: true }
}

/// Returns an exception that HBase's client throws itself.
pub(super) fn local(exception: Exception) -> Failure {
    Failure::Io { message: text(&exception), can_retry: !exception.do_not_retry }
}

/// Returns an exception that a server has sent. Its text in HBase's client is the server's stack
/// trace, which begins with the class, too.
pub(super) fn remote(exception: Exception) -> Failure {
    let message = format!("{}: {}", exception.class, text(&exception));
    Failure::Io { message, can_retry: !exception.do_not_retry }
}

/// Returns the exception of a call for a row. That a table is missing or disabled is found by
/// HBase's client, with a text that ends in a full stop for the second.
pub(super) fn of_row(mut exception: Exception) -> Failure {
    if !is_of_table(&exception) {
        return remote(exception);
    }
    if exception.message.ends_with(" is disabled") {
        exception.message.push('.');
    }
    local(exception)
}

fn is_of_table(exception: &Exception) -> bool {
    ["TableNotFoundException", "TableNotEnabledException"]
        .iter()
        .any(|class| exception.class.strip_prefix("org.apache.hadoop.hbase.") == Some(class))
}

/// Returns the exception of HBase's client for the failed actions of a batch, which Thrift clients
/// may repeat.
pub(super) fn of_batch(failed: &[Exception]) -> Option<Failure> {
    let actions = |count: usize| format!("{count} action{}", if count == 1 { "" } else { "s" });
    let times = |count: usize| format!("{count} time{}", if count == 1 { "" } else { "s" });
    let mut reasons: Vec<(String, usize)> = Vec::new();
    for exception in failed {
        let reason = reason(exception);
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, count)) => *count += 1,
            None => reasons.push((reason, 1)),
        }
    }
    let reasons = reasons.iter().map(|(reason, count)| format!("{reason}: {}", times(*count)));
    let message = format!(
        "org.apache.hadoop.hbase.client.RetriesExhaustedWithDetailsException: Failed {}: {}, servers \
         with issues: null",
        actions(failed.len()),
        reasons.collect::<Vec<_>>().join(", "),
    );
    (!failed.is_empty()).then_some(Failure::Io { message, can_retry: true })
}

/// Returns the reason of an action's failure as HBase's client writes it.
fn reason(exception: &Exception) -> String {
    if is_of_table(exception) {
        exception.message.clone()
    } else if exception.do_not_retry {
        text(exception)
    } else {
        exception.class.rsplit('.').next().unwrap_or_default().to_owned()
    }
}

fn text(exception: &Exception) -> String {
    if exception.message.is_empty() {
        return exception.class.clone().into_owned();
    }
    format!("{}: {}", exception.class, exception.message)
}
