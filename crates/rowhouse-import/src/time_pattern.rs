//! Patterns for dates and times, such as `%d/%m/%Y %H:%M`, as `strftime` has them.

use std::borrow::Cow;
use std::fmt;

use jiff::Timestamp;
use jiff::fmt::strtime::{self, BrokenDownTime};
use rowhouse::{Error, Result};

/// A time pattern: `%Y` a year, `%m` a month, `%b` the month's English name, `%d` a day, `%H:%M:%S`
/// a clock, `%I` and `%p` a twelve-hour clock, `%z` a zone, and others from the crate
/// [jiff](https://docs.rs/jiff/latest/jiff/fmt/strtime). Leading zeros may be missing.
///
/// A time in ISO 8601 may follow a date: `%d.%m.%Y` reads `31.12.2022` and `31.12.2022 08:30`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TimePattern(Cow<'static, str>);

impl TimePattern {
    /// Checks a pattern.
    ///
    /// # Errors
    /// `InvalidRequest` for a pattern that does not determine a day.
    pub fn parse(pattern: &str) -> Result<Self> {
        let invalid = |why: &str| Err(Error::invalid(format!("{why}: pattern={pattern}")));
        // A count has no calendar.
        if pattern.contains("%s") {
            return invalid("seconds since 1970 are declared as the form seconds");
        }
        let parsed = Self(Cow::Owned(pattern.to_owned()));
        let example = match strtime::format(pattern, EXAMPLE) {
            Ok(example) => example,
            Err(error) => return invalid(&error.to_string()),
        };
        match parsed.iso(&example) {
            Some(iso) if iso.starts_with("2006-11-22") => Ok(parsed),
            _ => invalid("a pattern of times has a year, a month and a day, as %Y-%m-%d has"),
        }
    }

    /// Returns the time in ISO 8601, if the text fits.
    pub(crate) fn iso(&self, text: &str) -> Option<String> {
        let (time, len) = BrokenDownTime::parse_prefix(&*self.0, text).ok()?;
        let rest = text.get(len..)?;
        let date = time.to_date().ok()?;
        if date.year() < YEAR_MIN || time.iana_time_zone().is_some() {
            return None;
        }
        let mut iso = date.to_string();
        if time.hour().is_none() {
            let is_clock = rest.is_empty() || rest.starts_with([' ', 'T']);
            iso.push_str(rest);
            return is_clock.then_some(iso);
        }
        iso.push_str(&format!("T{:.9}", time.to_time().ok()?));
        if let Some(offset) = time.offset() {
            let minutes = offset.seconds() / 60;
            let sign = if minutes < 0 { '-' } else { '+' };
            let hours = minutes.abs() / 60;
            let minutes = minutes.abs() % 60;
            iso.push_str(&format!("{sign}{hours:02}:{minutes:02}"));
        }
        rest.is_empty().then_some(iso)
    }

    /// Returns the pattern that reads a text, if it is a pattern with one meaning.
    pub(crate) fn of(text: &str) -> Option<Self> {
        let known = KNOWN.iter().map(|pattern| Self(Cow::Borrowed(pattern)));
        known.into_iter().find(|pattern| pattern.is_time(text))
    }

    /// Returns the patterns that read a text in which the day and month order is not evident.
    pub(crate) fn ambiguous(text: &str) -> impl Iterator<Item = Self> {
        let all = AMBIGUOUS.iter().map(|pattern| Self(Cow::Borrowed(pattern)));
        all.filter(move |pattern| pattern.is_time(text))
    }

    fn is_time(&self, text: &str) -> bool {
        self.iso(text).is_some_and(|iso| rowhouse::key::Time::parse(&iso).is_ok())
    }
}

impl fmt::Display for TimePattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Patterns for texts that have one meaning.
const KNOWN: [&str; 9] = [
    "%Y/%m/%d",
    "%Y-%m-%d",
    "%b %d %Y",
    "%b %d, %Y",
    "%d %b %Y",
    "%d-%b-%Y",
    "%B %d %Y",
    "%B %d, %Y",
    "%d %B %Y",
];

const AMBIGUOUS: [&str; 5] = ["%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d-%m-%Y", "%m-%d-%Y"];

/// 2006-11-22T13:14:15Z: a time whose parts differ.
const EXAMPLE: Timestamp = Timestamp::constant(1_164_201_255, 0);
/// Texts with fewer digits would be years in another century.
const YEAR_MIN: i16 = 1_000;
