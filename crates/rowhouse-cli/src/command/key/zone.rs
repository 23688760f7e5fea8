//! The offset from UTC in which times are read and printed.

use std::str::FromStr;

use jiff::tz::Offset;
use rowhouse::Error;
use rowhouse::key::{Field, KeySchema, Time, TimeUnit, TimeZone};

/// The argument with the offset.
#[derive(Debug, clap::Args)]
pub(super) struct ZoneArgs {
    /// The offset from UTC of input times without one, and of printed times, unless the template
    /// names one
    #[arg(long = "tz", value_name = "OFFSET", default_value = "Z", allow_hyphen_values = true)]
    pub(super) zone: Zone,
}

/// An offset from UTC: `+08:00`, `-03:30`, or `Z` for none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Zone {
    offset: Offset,
}

impl Zone {
    /// Returns the zone of times that name none.
    pub(super) fn time_zone(self) -> TimeZone {
        TimeZone::fixed(self.offset)
    }

    /// Returns the zone of a field of the key: its own, if it names one.
    pub(super) fn of_field(self, schema: &KeySchema, name: &str) -> Self {
        let own = schema.field(name).and_then(Field::zone);
        own.and_then(|zone| zone.to_fixed_offset().ok()).map_or(self, |offset| Self { offset })
    }

    /// Returns a time in ISO 8601 with this offset; in UTC if the shifted time is out of range.
    pub(super) fn print(self, time: Time) -> String {
        let seconds = self.offset.seconds();
        if seconds == 0 {
            return time.to_string();
        }
        let nanos = time.as_nanos() + i128::from(seconds) * NANOS_PER_SECOND;
        let units =
            [(TimeUnit::Millis, 1_000_000), (TimeUnit::Micros, 1_000), (TimeUnit::Nanos, 1)];
        let exact = units.into_iter().find(|(_, length)| nanos % length == 0);
        let shifted = exact
            .and_then(|(unit, length)| Some(Time::new(i64::try_from(nanos / length).ok()?, unit)));
        match shifted {
            Some(shifted) => shifted.to_string().replace('Z', &self.to_string()),
            None => time.to_string(),
        }
    }
}

impl std::fmt::Display for Zone {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let seconds = self.offset.seconds();
        let sign = if seconds < 0 { '-' } else { '+' };
        let minutes = seconds.abs() / 60;
        match minutes {
            0 => f.write_str("Z"),
            _ => write!(f, "{sign}{:02}:{:02}", minutes / 60, minutes % 60),
        }
    }
}

impl FromStr for Zone {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = || {
            Error::invalid(format!(
                "expected an offset from -18:00 to +18:00, such as +08:00, or Z: offset={text}"
            ))
        };
        if text == "Z" {
            return Ok(Self { offset: Offset::UTC });
        }
        let (sign, clock) = match text.split_at_checked(1) {
            Some(("+", clock)) => (1, clock),
            Some(("-", clock)) => (-1, clock),
            _ => return Err(wrong()),
        };
        let two = |digits: &str| {
            let fits = digits.len() == 2 && digits.bytes().all(|c| c.is_ascii_digit());
            fits.then(|| digits.parse::<i32>().ok()).flatten()
        };
        let (hours, minutes) = clock.split_once(':').ok_or_else(wrong)?;
        match (two(hours), two(minutes)) {
            (Some(hours), Some(minutes @ 0..=59)) if hours * 60 + minutes <= 18 * 60 => {
                let seconds = sign * (hours * 60 + minutes) * 60;
                Ok(Self { offset: Offset::from_seconds(seconds).map_err(|_| wrong())? })
            }
            _ => Err(wrong()),
        }
    }
}

const NANOS_PER_SECOND: i128 = 1_000_000_000;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offset_prints_as_it_is_written() {
        for text in ["Z", "+08:00", "-03:30", "+18:00"] {
            assert_eq!(text.parse::<Zone>().unwrap().to_string(), text);
        }
        for text in ["", "8", "+8:00", "+08", "+08:60", "+18:01", "Asia/Shanghai", "+0a:00", "分"]
        {
            assert!(text.parse::<Zone>().is_err(), "{text}");
        }
    }

    #[test]
    fn times_move_by_the_offset_and_stay_in_utc_where_they_cannot() {
        let zone: Zone = "+08:00".parse().unwrap();
        assert_eq!(zone.print(Time::from_millis(0)), "1970-01-01T08:00:00.000+08:00");
        let micros = Time::new(1, TimeUnit::Micros);
        assert_eq!(zone.print(micros), "1970-01-01T08:00:00.000001+08:00");
        let last = Time::from_millis(i64::MAX);
        assert_eq!(zone.print(last), last.to_string());
        let west: Zone = "-03:30".parse().unwrap();
        assert_eq!(west.print(Time::from_millis(0)), "1969-12-31T20:30:00.000-03:30");
    }
}
