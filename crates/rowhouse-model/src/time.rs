//! Cell timestamps.

use std::fmt;

use crate::{Error, Result};

/// A cell's version: milliseconds since 1970-01-01T00:00:00Z, or any other number by which a client
/// orders versions. Never negative: HBase rejects negative timestamps too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The least timestamp.
    pub const MIN: Self = Self(0);

    /// `Long.MAX_VALUE`. In a request it means the server's current time; in a delete for one
    /// version, the newest version.
    pub const LATEST: Self = Self(i64::MAX);

    /// Creates a timestamp; returns an error if `millis` is negative.
    pub fn from_millis(millis: i64) -> Result<Self> {
        if millis < 0 {
            return Err(Error::invalid(format!("timestamp cannot be negative: ts={millis}")));
        }
        Ok(Self(millis))
    }

    /// Returns the milliseconds.
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// Returns true if this is [`Timestamp::LATEST`].
    pub fn is_latest(self) -> bool {
        self == Self::LATEST
    }

    /// Returns the timestamp `by` later, at most [`Timestamp::LATEST`].
    pub fn saturating_add(self, by: i64) -> Self {
        Self(self.0.saturating_add(by).max(0))
    }

    /// Creates a timestamp from bytes that were validated when they were written.
    pub(crate) const fn trusted(millis: i64) -> Self {
        Self(millis)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}
