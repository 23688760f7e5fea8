//! A read's time range.

use crate::{Error, Result, Timestamp};

/// Timestamps from `min` (inclusive) to `max` (exclusive, but inclusive if it is the largest
/// timestamp).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeRange {
    min: Timestamp,
    max: Timestamp,
}

impl TimeRange {
    /// Every timestamp.
    pub const ALL: Self = Self { min: Timestamp::MIN, max: Timestamp::LATEST };

    /// Creates a range from `min` to `max` (exclusive); returns an error if `max` is before `min`.
    pub fn new(min: Timestamp, max: Timestamp) -> Result<Self> {
        if max < min {
            return Err(Error::invalid(format!("time range ends before it begins: {min}..{max}")));
        }
        Ok(Self { min, max })
    }

    /// Creates a range with exactly `at`.
    pub fn at(at: Timestamp) -> Self {
        Self { min: at, max: at.saturating_add(1) }
    }

    /// Returns the first timestamp in the range.
    pub fn min(&self) -> Timestamp {
        self.min
    }

    /// Returns the first timestamp after the range.
    pub fn max(&self) -> Timestamp {
        self.max
    }

    /// Returns true if `at` is in the range.
    pub fn contains(&self, at: i64) -> bool {
        at >= self.min.as_millis() && (at < self.max.as_millis() || self.max.is_latest())
    }
}

impl Default for TimeRange {
    fn default() -> Self {
        Self::ALL
    }
}
