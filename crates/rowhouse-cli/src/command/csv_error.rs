//! Errors in comma-separated values.

use rowhouse::Error;

/// Converts a CSV reader error to our wording.
pub(super) fn unreadable_csv(error: csv::Error) -> Error {
    match error.into_kind() {
        csv::ErrorKind::Io(source) => Error::io("cannot read the input", source),
        csv::ErrorKind::UnequalLengths { expected_len, len, .. } => Error::invalid(format!(
            "a record must have as many values as there are names: values={len}, names={expected_len}"
        )),
        csv::ErrorKind::Utf8 { err, .. } => {
            Error::invalid(format!("a record must be UTF-8: field={}", err.field() + 1))
        }
        other => Error::invalid(format!("the input is not CSV: {other:?}")),
    }
}
