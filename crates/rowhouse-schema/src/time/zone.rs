//! Fixed offsets from UTC, the zones that templates can name.

use std::fmt;

use jiff::fmt::temporal::DateTimeParser;
use jiff::tz::{Offset, TimeZone};
use rowhouse_model::{Error, Result as ModelResult};

use crate::error::Fault;

/// Parses a zone for times in queries: an offset or an IANA name.
///
/// # Errors
/// `InvalidRequest` for other text.
pub fn parse_zone(text: &str) -> ModelResult<TimeZone> {
    DateTimeParser::new().parse_time_zone(text).map_err(|_| {
        Error::invalid(format!(
            "a zone is an offset such as '+08:00' or a name such as 'Asia/Shanghai': {text}"
        ))
    })
}

/// Returns the text from which [`parse_zone`] reads a zone; `None` for a zone that is neither an
/// offset nor has a name.
pub fn zone_name(zone: &TimeZone) -> Option<String> {
    match zone.iana_name() {
        Some(name) => Some(name.to_owned()),
        None => zone.to_fixed_offset().ok().map(|offset| offset.to_string()),
    }
}

/// A zone with a constant offset from UTC: `+08:00`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FixedZone {
    /// The offset east of UTC, in minutes.
    minutes: i32,
}

/// The greatest offset, in hours.
const HOURS_MAX: i32 = 23;

impl FixedZone {
    /// Parses an offset. Faults count from the offset's beginning.
    pub(crate) fn parse(word: &str) -> Result<Self, Fault> {
        let expected = || Fault::new(0, format!("expected an offset such as +08:00, not {word}"));
        let (sign, rest) = match word.split_at_checked(1) {
            Some(("+", rest)) => (1, rest),
            Some(("-", rest)) => (-1, rest),
            _ if word == "Z" || word == "UTC" => {
                return Err(expected().hint("without tz, times are in UTC"));
            }
            _ => {
                return Err(expected().hint("zones by name are not supported, their rules change"));
            }
        };
        let two_digits = |digits: &str| {
            let is_number = digits.len() == 2 && digits.bytes().all(|c| c.is_ascii_digit());
            digits.parse::<i32>().ok().filter(|_| is_number)
        };
        let (hours, minutes) = rest.split_once(':').ok_or_else(expected)?;
        match (two_digits(hours), two_digits(minutes)) {
            (Some(hours @ ..=HOURS_MAX), Some(minutes @ ..60)) => {
                Ok(Self { minutes: sign * (60 * hours + minutes) })
            }
            _ => Err(expected()),
        }
    }

    /// The offset ahead of UTC, in nanoseconds.
    pub(crate) fn nanos(self) -> i128 {
        i128::from(self.minutes) * 60_000_000_000
    }

    /// Returns the zone as a `TimeZone`.
    pub(crate) fn time_zone(self) -> TimeZone {
        // Offsets are at most 23 hours and 59 minutes; jiff supports up to 25 hours.
        Offset::from_seconds(60 * self.minutes).map_or(TimeZone::UTC, TimeZone::fixed)
    }
}

impl fmt::Display for FixedZone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.minutes < 0 { '-' } else { '+' };
        let minutes = self.minutes.unsigned_abs();
        write!(f, "{sign}{:02}:{:02}", minutes / 60, minutes % 60)
    }
}
