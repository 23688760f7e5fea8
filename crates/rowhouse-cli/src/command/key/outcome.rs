//! How a command ends.

use std::io;

use rowhouse::Error;

/// The outcome of a command that ran to its end.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    Fine,
    /// Findings, or input that does not fit: exit status 1.
    Findings,
}

/// The reason why a command ended early.
pub(super) enum KeyError {
    /// The template or the request is wrong.
    Request(Error),
    /// The output is closed or cannot be written.
    Output(io::Error),
}

pub(super) type KeyResult = Result<Outcome, KeyError>;

impl Outcome {
    /// Returns findings, if either has them.
    pub(super) fn and(self, other: Self) -> Self {
        if self == Self::Fine { other } else { self }
    }
}

impl From<Error> for KeyError {
    fn from(error: Error) -> Self {
        Self::Request(error)
    }
}

impl From<io::Error> for KeyError {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}
