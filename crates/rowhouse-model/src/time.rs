//! Cell timestamps.

use std::fmt;

use crate::{Error, Result};

/// A cell's version: milliseconds since 1970-01-01T00:00:00Z, or any other number a client chose
/// to order versions by. Never negative: HBase refuses negative timestamps too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(i64);

impl Timestamp {
    /// The least timestamp.
    pub const MIN: Self = Self(0);

    /// `Long.MAX_VALUE`: in a request, "now, by the server's clock" (in a delete of one version,
    /// "the newest version").
    pub const LATEST: Self = Self(i64::MAX);

    /// A timestamp of so many milliseconds; negative ones are refused.
    pub fn from_millis(millis: i64) -> Result<Self> {
        if millis < 0 {
            return Err(Error::invalid(format!("timestamp cannot be negative: ts={millis}")));
        }
        Ok(Self(millis))
    }

    /// Milliseconds.
    pub const fn as_millis(self) -> i64 {
        self.0
    }

    /// Whether this is [`Timestamp::LATEST`].
    pub fn is_latest(self) -> bool {
        self == Self::LATEST
    }

    /// The timestamp `by` later, at most [`Timestamp::LATEST`].
    pub fn saturating_add(self, by: i64) -> Self {
        Self(self.0.saturating_add(by).max(0))
    }

    /// For bytes that were checked when they were written.
    pub(crate) const fn trusted(millis: i64) -> Self {
        Self(millis)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}
