//! Errors of tantivy as ours, and ours inside of tantivy's.

use std::io;

use rowhouse_model::Error;
use tantivy::TantivyError;
use tantivy::directory::error::{OpenReadError, OpenWriteError};

/// Wraps an error of a store, so that [`ours`] finds it again.
pub(crate) fn inside(error: Error) -> io::Error {
    io::Error::other(error)
}

/// Returns the error of the store that an error of tantivy wraps. Every other error means that a
/// segment is not what was written.
pub(crate) fn ours(error: TantivyError) -> Error {
    let wrapped = match &error {
        TantivyError::IoError(error) => Some(error),
        TantivyError::OpenReadError(OpenReadError::IoError { io_error, .. })
        | TantivyError::OpenWriteError(OpenWriteError::IoError { io_error, .. }) => Some(io_error),
        _ => None,
    };
    match wrapped {
        Some(wrapped) => ours_of_io(wrapped),
        None => Error::corruption(format!("a segment of a full-text index: {error}")),
    }
}

/// As [`ours`], for an input-output error.
pub(crate) fn ours_of_io(error: &io::Error) -> Error {
    let wrapped = error.get_ref().and_then(|inner| inner.downcast_ref::<Error>());
    wrapped.cloned().unwrap_or_else(|| {
        Error::corruption(format!("a segment of a full-text index cannot be read: {error}"))
    })
}
