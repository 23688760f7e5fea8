//! Errors for expressions.

use rowhouse_model::{Error, ErrorKind};

/// The reason for rejecting an expression, without the expression's text.
#[derive(Debug)]
pub(super) struct PatternError {
    kind: ErrorKind,
    what: String,
    /// The offending character's index.
    at: usize,
}

impl PatternError {
    /// Creates the error for an expression that Java rejects.
    pub(super) fn invalid(what: impl Into<String>, at: usize) -> Self {
        Self { kind: ErrorKind::InvalidRequest, what: what.into(), at }
    }

    /// Creates the error for an expression that Java accepts.
    pub(super) fn unsupported(what: impl Into<String>, at: usize) -> Self {
        Self { kind: ErrorKind::Unsupported, what: what.into(), at }
    }

    pub(super) fn into_error(self, pattern: &str) -> Error {
        let about = match self.kind {
            ErrorKind::Unsupported => "regular expression is not supported",
            _ => "not a regular expression",
        };
        Error::new(
            self.kind,
            format!("{about}: {}, at={}, expression={pattern}", self.what, self.at),
        )
    }
}
