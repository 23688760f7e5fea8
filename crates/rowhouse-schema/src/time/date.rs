//! Calendar days.

use std::fmt;

use rowhouse_model::Result;

use super::{Time, TimeLiteral, TimeZone};

const DAY_NANOS: i128 = 86_400 * 1_000_000_000;

/// A day in the Gregorian calendar, counted from 1970-01-01.
///
/// ```
/// use rowhouse_schema::Date;
///
/// let date = Date::parse("2022-12-01")?;
/// assert_eq!(date.days(), 19_327);
/// assert_eq!(date.to_string(), "2022-12-01");
/// assert_eq!(date.midnight().to_string(), "2022-12-01T00:00:00.000Z");
/// # Ok::<(), rowhouse_model::Error>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date {
    days: i32,
}

impl Date {
    /// Creates the date this many days after (if negative, before) 1970-01-01.
    pub const fn new(days: i32) -> Self {
        Self { days }
    }

    /// Parses a date in the form `2022-12-01`; `2022-12` is the month's first day.
    ///
    /// # Errors
    /// `InvalidRequest` for text that is not a date, or has a time of day.
    pub fn parse(text: &str) -> Result<Self> {
        let time = TimeLiteral::parse(text)
            .and_then(|literal| literal.instant(&TimeZone::UTC))
            .map_err(|fault| fault.in_text(text))?;
        Self::at_midnight(time).ok_or_else(|| {
            rowhouse_model::Error::invalid(format!("a date has no time of day: text={text}"))
        })
    }

    /// Returns the days since 1970-01-01; negative before.
    pub const fn days(self) -> i32 {
        self.days
    }

    /// Returns the first instant of the day, in UTC.
    pub const fn midnight(self) -> Time {
        Time { nanos: self.days as i128 * DAY_NANOS }
    }

    /// Returns the day that begins at this instant, if one does.
    fn at_midnight(time: Time) -> Option<Self> {
        let days = time.nanos.div_euclid(DAY_NANOS);
        let exact = time.nanos.rem_euclid(DAY_NANOS) == 0;
        exact.then(|| i32::try_from(days).ok().map(Self::new)).flatten()
    }
}

impl fmt::Display for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.midnight().write_date(f)
    }
}

impl fmt::Debug for Date {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
