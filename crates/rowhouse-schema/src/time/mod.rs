//! Instants as keys hold them: unit counts since 1970, printed as calendar times.

mod date;
mod literal;
mod zone;

use std::fmt;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::Offset;
use rowhouse_model::Result;

pub use date::Date;
pub use jiff::tz::TimeZone;
pub(crate) use literal::{TimeLiteral, calendar_digits};
pub(crate) use zone::FixedZone;
pub use zone::{parse_zone, zone_name};

/// The unit in which a time is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TimeUnit {
    /// Seconds.
    Seconds,
    /// Milliseconds, as in `System.currentTimeMillis()` and in HBase's cell timestamps.
    Millis,
    /// Microseconds.
    Micros,
    /// Nanoseconds.
    Nanos,
}

impl TimeUnit {
    /// The unit's length in nanoseconds.
    pub(crate) const fn nanos(self) -> i128 {
        match self {
            Self::Seconds => 1_000_000_000,
            Self::Millis => 1_000_000,
            Self::Micros => 1_000,
            Self::Nanos => 1,
        }
    }

    /// The unit's word in a template.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Seconds => "seconds",
            Self::Millis => "millis",
            Self::Micros => "micros",
            Self::Nanos => "nanos",
        }
    }
}

/// An instant, to the nanosecond.
///
/// # Example: how does a time print?
///
/// ISO 8601 in UTC, with milliseconds, or with six or nine digits for finer times:
///
/// ```
/// use rowhouse_schema::{Time, TimeUnit};
///
/// assert_eq!(Time::from_millis(1_669_852_800_000).to_string(), "2022-12-01T00:00:00.000Z");
/// assert_eq!(Time::new(1, TimeUnit::Micros).to_string(), "1970-01-01T00:00:00.000001Z");
/// ```
///
/// # Example: how is a time written?
///
/// ```
/// use rowhouse_schema::Time;
///
/// assert_eq!(Time::parse("2022-12-01T08:00+08:00")?, Time::parse("2022-12-01")?);
/// # Ok::<(), rowhouse_model::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time {
    nanos: i128,
}

impl Time {
    /// Creates the time this many units after 1970-01-01T00:00:00Z.
    pub const fn new(count: i64, unit: TimeUnit) -> Self {
        Self { nanos: count as i128 * unit.nanos() }
    }

    /// Creates the time this many milliseconds after 1970-01-01T00:00:00Z.
    pub const fn from_millis(millis: i64) -> Self {
        Self::new(millis, TimeUnit::Millis)
    }

    /// Parses a time literal; without a zone it is in UTC, and a date is midnight.
    ///
    /// ```
    /// use rowhouse_schema::Time;
    ///
    /// assert_eq!(Time::parse("2022-12-01")?.to_string(), "2022-12-01T00:00:00.000Z");
    /// assert!(Time::parse("2022-13").is_err());
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self> {
        Self::parse_in(text, &TimeZone::UTC)
    }

    /// Parses a time literal; without a zone it is in `zone`.
    ///
    /// ```
    /// use rowhouse_schema::{Time, TimeZone};
    ///
    /// let beijing = TimeZone::fixed(jiff::tz::offset(8));
    /// assert_eq!(Time::parse_in("2022-12-01", &beijing)?.to_string(), "2022-11-30T16:00:00.000Z");
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    pub fn parse_in(text: &str, zone: &TimeZone) -> Result<Self> {
        TimeLiteral::parse(text)
            .and_then(|literal| literal.instant(zone))
            .map_err(|fault| fault.in_text(text))
    }

    pub(crate) fn from_nanos(nanos: i128) -> Self {
        Self { nanos }
    }

    /// Nanoseconds since 1970.
    pub fn as_nanos(self) -> i128 {
        self.nanos
    }

    /// Milliseconds since 1970, rounded down.
    pub fn as_millis(self) -> i64 {
        let millis = self.nanos.div_euclid(TimeUnit::Millis.nanos());
        millis.clamp(i64::MIN.into(), i64::MAX.into()) as i64
    }
}

/// The Gregorian calendar repeats after 400 years, so an instant outside jiff's years is printed
/// with the calendar for the same day in 2000–2399.
const CYCLE_SECONDS: i128 = 146_097 * 86_400;
const CYCLE_START_SECONDS: i128 = 946_684_800; // 2000-01-01

impl Time {
    /// Returns the time on a UTC wall clock, moved to a year from 2000 to 2399, and by how many
    /// 400-year cycles it was moved.
    fn wall_clock(self) -> Result<(DateTime, i128), fmt::Error> {
        let seconds = self.nanos.div_euclid(1_000_000_000);
        let since = seconds - CYCLE_START_SECONDS;
        let second = CYCLE_START_SECONDS + since.rem_euclid(CYCLE_SECONDS);
        let shown = Timestamp::from_second(second as i64).map_err(|_| fmt::Error)?;
        Ok((Offset::UTC.to_datetime(shown), since.div_euclid(CYCLE_SECONDS)))
    }

    /// Prints only the date.
    fn write_date(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (shown, cycle) = self.wall_clock()?;
        match i128::from(shown.year()) + 400 * cycle {
            year @ 0..=9999 => write!(f, "{year:04}")?,
            year => write!(f, "{year:+07}")?,
        }
        write!(f, "-{:02}-{:02}", shown.month(), shown.day())
    }

    /// Prints everything but the zone.
    fn write_date_and_clock(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_date(f)?;
        let (shown, _) = self.wall_clock()?;
        write!(f, "T{:02}:{:02}:{:02}", shown.hour(), shown.minute(), shown.second())?;
        match self.nanos.rem_euclid(1_000_000_000) {
            nanos if nanos % 1_000_000 == 0 => write!(f, ".{:03}", nanos / 1_000_000),
            nanos if nanos % 1_000 == 0 => write!(f, ".{:06}", nanos / 1_000),
            nanos => write!(f, ".{nanos:09}"),
        }
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_date_and_clock(f)?;
        f.write_str("Z")
    }
}

/// Formats a time in a zone.
pub(crate) struct InZone(pub(crate) Time, pub(crate) FixedZone);

impl fmt::Display for InZone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(time, zone) = *self;
        Time::from_nanos(time.nanos + zone.nanos()).write_date_and_clock(f)?;
        write!(f, "{zone}")
    }
}

impl fmt::Debug for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<rowhouse_model::Timestamp> for Time {
    fn from(timestamp: rowhouse_model::Timestamp) -> Self {
        Self::from_millis(timestamp.as_millis())
    }
}

impl From<Timestamp> for Time {
    fn from(timestamp: Timestamp) -> Self {
        Self { nanos: timestamp.as_nanosecond() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_outside_four_digit_years_print_with_a_sign() {
        assert_eq!(Time::from_millis(i64::MAX).to_string(), "+292278994-08-17T07:12:55.807Z");
        assert_eq!(Time::from_millis(-1).to_string(), "1969-12-31T23:59:59.999Z");
        assert_eq!(
            Time::from_millis(253_402_300_800_000).to_string(),
            "+010000-01-01T00:00:00.000Z"
        );
    }

    #[test]
    fn printed_times_parse_to_the_same_instant() {
        for millis in [0, 1, 951_782_400_000, 1_669_852_800_000, 253_402_300_799_999, i64::MAX] {
            let time = Time::from_millis(millis);
            assert_eq!(Time::parse(&time.to_string()).unwrap(), time, "{time}");
        }
    }
}
