//! Which versions a read looks at, by time.

use crate::{Error, Result, Timestamp};

/// Timestamps from `min` (included) to `max` (not included; included when it is the latest there
/// can be).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeRange {
    min: Timestamp,
    max: Timestamp,
}

impl TimeRange {
    /// Every timestamp.
    pub const ALL: Self = Self { min: Timestamp::MIN, max: Timestamp::LATEST };

    /// From `min` up to, not including, `max`; refused when `max` is before `min`.
    pub fn new(min: Timestamp, max: Timestamp) -> Result<Self> {
        if max < min {
            return Err(Error::invalid(format!("time range ends before it begins: {min}..{max}")));
        }
        Ok(Self { min, max })
    }

    /// Exactly `at`.
    pub fn at(at: Timestamp) -> Self {
        Self { min: at, max: at.saturating_add(1) }
    }

    /// The first timestamp inside.
    pub fn min(&self) -> Timestamp {
        self.min
    }

    /// The first timestamp behind.
    pub fn max(&self) -> Timestamp {
        self.max
    }

    /// Whether `at` lies inside.
    pub fn contains(&self, at: i64) -> bool {
        at >= self.min.as_millis() && (at < self.max.as_millis() || self.max.is_latest())
    }
}

impl Default for TimeRange {
    fn default() -> Self {
        Self::ALL
    }
}
