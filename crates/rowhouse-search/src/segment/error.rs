//! Errors of tantivy as errors of the store.

use rowhouse_model::{Error, ErrorKind};
use tantivy::TantivyError;

/// Turns a tantivy error into a store error. An error that a read of the store caused keeps its
/// kind; any other means that a segment is not what was written.
pub(crate) fn damaged(number: u64, error: &TantivyError) -> Error {
    if let Some(cause) = cause_in_store(error) {
        return cause;
    }
    Error::corruption(format!(
        "a segment of a full-text index is damaged: {error}: segment={number}"
    ))
}

/// Returns the store error inside a tantivy error.
fn cause_in_store(error: &TantivyError) -> Option<Error> {
    let mut next: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = next {
        if let Some(error) = error.downcast_ref::<Error>() {
            return Some(error.clone());
        }
        if let Some(io) = error.downcast_ref::<std::io::Error>()
            && let Some(error) = io.get_ref().and_then(|inner| inner.downcast_ref::<Error>())
        {
            return Some(error.clone());
        }
        next = error.source();
    }
    match error {
        TantivyError::IoError(io) => cause_in_io(io),
        _ => None,
    }
}

fn cause_in_io(io: &std::io::Error) -> Option<Error> {
    io.get_ref().and_then(|inner| inner.downcast_ref::<Error>()).cloned()
}

/// Turns an error from tantivy while it writes to memory into a store error.
pub(crate) fn failed(error: &TantivyError) -> Error {
    cause_in_store(error)
        .unwrap_or_else(|| Error::new(ErrorKind::Io, format!("a segment was not written: {error}")))
}
