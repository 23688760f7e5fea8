//! Time literals: `2022`, `2022-12`, `2022-12-01`, `2022-12-01T08:00:00.000+08:00`. Each may end
//! with a zone; one that begins with `-` needs a day before it.
//!
//! A literal denotes an instant (the beginning) and an interval (the whole year, month, day, hour,
//! minute, second or fraction).

use jiff::civil::{Date, DateTime};
use jiff::tz::{Offset, TimeZone};

use super::{CYCLE_SECONDS, Time};
use crate::error::Fault;

/// A time literal as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TimeLiteral {
    day: Day,
    /// Seconds since midnight, and nanoseconds within the second.
    second: i32,
    nanos: i32,
    precision: Precision,
    zone: Option<Offset>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Day {
    year: i64,
    month: i8,
    day: i8,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Precision {
    Year,
    Month,
    Day,
    /// Anything shorter than a day, by length in nanoseconds.
    Nanos(i128),
}

impl TimeLiteral {
    /// Parses a literal. Faults have offsets in `text`.
    pub(crate) fn parse(text: &str) -> Result<Self, Fault> {
        let mut reader = TimeScanner { text, at: 0 };
        let mut literal = reader.date()?;
        if reader.at < text.len() {
            reader.rest(&mut literal)?;
        }
        Ok(literal)
    }

    /// Returns the year, month or day after this one, as a literal; `None` for a time of day.
    pub(crate) fn following_date(&self) -> Option<String> {
        let Day { year, month, day } = match self.precision {
            Precision::Year => Day { year: self.day.year + 1, ..self.day },
            Precision::Month => self.day.next_month(),
            Precision::Day => self.day.tomorrow(),
            Precision::Nanos(_) => return None,
        };
        let year = match year {
            0..=9999 => format!("{year:04}"),
            _ => format!("{year:+06}"),
        };
        let date = match self.precision {
            Precision::Year => year,
            Precision::Month => format!("{year}-{month:02}"),
            _ => format!("{year}-{month:02}-{day:02}"),
        };
        let zone = self.zone.map(|zone| match zone.seconds() {
            0 => "Z".to_owned(),
            seconds => {
                let sign = if seconds < 0 { '-' } else { '+' };
                let minutes = seconds.abs() / 60;
                format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60)
            }
        });
        Some(date + &zone.unwrap_or_default())
    }

    /// The literal's first instant.
    pub(crate) fn instant(&self, zone: &TimeZone) -> Result<Time, Fault> {
        let midnight = self.at(self.day, self.second, zone)?;
        Ok(Time::from_nanos(midnight + i128::from(self.nanos)))
    }

    /// Returns the first instant in the literal's interval, and the first one after it.
    pub(crate) fn interval(&self, zone: &TimeZone) -> Result<(Time, Time), Fault> {
        let start = self.instant(zone)?;
        let stop = match self.precision {
            Precision::Nanos(length) => start.as_nanos() + length,
            Precision::Day => self.at(self.day.tomorrow(), 0, zone)?,
            Precision::Month => self.at(self.day.next_month(), 0, zone)?,
            Precision::Year => {
                let day = Day { year: self.day.year + 1, ..self.day };
                self.at(day, 0, zone)?
            }
        };
        Ok((start, Time::from_nanos(stop)))
    }

    /// Nanoseconds since 1970 for a second in a day on the zone's wall clock.
    fn at(&self, day: Day, second: i32, zone: &TimeZone) -> Result<i128, Fault> {
        let outside = |_| Fault::new(0, "no calendar reaches this time");
        let (date, cycles) = day.to_date().map_err(outside)?;
        let hour = second / 3600;
        let minute = second / 60 % 60;
        let second = second % 60;
        let wall = DateTime::from_parts(
            date,
            jiff::civil::Time::new(hour as i8, minute as i8, second as i8, 0).map_err(outside)?,
        );
        let instant = match self.zone {
            Some(offset) => offset.to_timestamp(wall).map_err(outside)?,
            None => zone.to_timestamp(wall).map_err(outside)?,
        };
        Ok(instant.as_nanosecond() + i128::from(cycles) * CYCLE_SECONDS * 1_000_000_000)
    }
}

impl Day {
    /// Returns the date, moved by whole 400-year cycles if it is outside jiff's calendar or near
    /// the calendar's end.
    fn to_date(self) -> Result<(Date, i64), jiff::Error> {
        let far = !(0..=9000).contains(&self.year);
        let cycles = if far { (self.year - 2000).div_euclid(400) } else { 0 };
        // The year is between 0 and 9000, so it fits.
        let year = (self.year - 400 * cycles) as i16;
        Ok((Date::new(year, self.month, self.day)?, cycles))
    }

    fn tomorrow(self) -> Self {
        let last = self.to_date().map_or(31, |(date, _)| date.days_in_month());
        if self.day < last { Self { day: self.day + 1, ..self } } else { self.next_month() }
    }

    fn next_month(self) -> Self {
        match self.month {
            12 => Self { year: self.year + 1, month: 1, day: 1 },
            month => Self { year: self.year, month: month + 1, day: 1 },
        }
    }
}

/// Returns the literal for a time that is written as calendar digits without punctuation:
/// `20221201`, `202212010800`, `20221201080000`.
pub(crate) fn calendar_digits(text: &str) -> Option<String> {
    if !matches!(text.len(), 8 | 12 | 14) || !text.bytes().all(|c| c.is_ascii_digit()) {
        return None;
    }
    let mut literal = format!("{}-{}-{}", &text[..4], &text[4..6], &text[6..8]);
    for (at, mark) in [(8, 'T'), (10, ':'), (12, ':')] {
        if let Some(two) = text.get(at..at + 2) {
            literal.push(mark);
            literal.push_str(two);
        }
    }
    TimeLiteral::parse(&literal).is_ok().then_some(literal)
}

struct TimeScanner<'a> {
    text: &'a str,
    at: usize,
}

impl TimeScanner<'_> {
    fn date(&mut self) -> Result<TimeLiteral, Fault> {
        let year = if self.skip("+") {
            self.run(5, 12, "a year")?
        } else if self.skip("-") {
            -self.run(5, 12, "a year")?
        } else {
            self.run(4, 4, "a year")?
        };
        let mut literal = TimeLiteral {
            day: Day { year, month: 1, day: 1 },
            second: 0,
            nanos: 0,
            precision: Precision::Year,
            zone: None,
        };
        if self.skip("-") {
            literal.day.month = self.number(1, 12, "a month")? as i8;
            literal.precision = Precision::Month;
            if self.skip("-") {
                let at = self.at;
                literal.day.day = self.number(1, 31, "a day")? as i8;
                literal.precision = Precision::Day;
                if literal.day.to_date().is_err() {
                    return Err(Fault::new(at, "the month has no such day"));
                }
            }
        }
        Ok(literal)
    }

    /// Parses the time of day and the zone; at least one must be there.
    fn rest(&mut self, literal: &mut TimeLiteral) -> Result<(), Fault> {
        if literal.precision == Precision::Day && (self.skip("T") || self.skip(" ")) {
            return self.clock(literal);
        }
        literal.zone = self.zone()?;
        if literal.zone.is_none() || self.at < self.text.len() {
            return Err(self.expected("a time such as 2022-12-01T08:00:00.000+08:00"));
        }
        Ok(())
    }

    fn clock(&mut self, literal: &mut TimeLiteral) -> Result<(), Fault> {
        let mut length = 3600;
        literal.second = self.number(0, 23, "an hour")? as i32 * 3600;
        if self.skip(":") {
            length = 60;
            literal.second += self.number(0, 59, "a minute")? as i32 * 60;
            if self.skip(":") {
                length = 1;
                literal.second += self.number(0, 59, "a second")? as i32;
            }
        }
        literal.precision = Precision::Nanos(length * 1_000_000_000);
        if length == 1 && self.skip(".") {
            let from = self.at;
            let fraction = self.run(1, 9, "parts of a second")?;
            let domain = 10_i64.pow(9 - (self.at - from) as u32);
            literal.nanos = (fraction * domain) as i32;
            literal.precision = Precision::Nanos(domain.into());
        }
        literal.zone = self.zone()?;
        if self.at < self.text.len() {
            return Err(self.expected("the end of the time, or a zone such as Z or +08:00"));
        }
        Ok(())
    }

    fn zone(&mut self) -> Result<Option<Offset>, Fault> {
        if self.skip("Z") {
            return Ok(Some(Offset::UTC));
        }
        let at = self.at;
        let sign = if self.skip("+") {
            1
        } else if self.skip("-") {
            -1
        } else {
            return Ok(None);
        };
        let hours = self.number(0, 23, "hours of a zone")?;
        let minutes = if self.skip(":") { self.number(0, 59, "minutes of a zone")? } else { 0 };
        Offset::from_seconds(sign * (hours * 3600 + minutes * 60) as i32)
            .map(Some)
            .map_err(|_| Fault::new(at, "no zone is so far from UTC"))
    }

    /// Parses two digits within limits.
    fn number(&mut self, min: i64, max: i64, what: &str) -> Result<i64, Fault> {
        let at = self.at;
        let number = self.run(2, 2, what)?;
        if (min..=max).contains(&number) {
            return Ok(number);
        }
        Err(Fault::new(at, format!("expected {what} from {min:02} to {max}")))
    }

    /// Parses `least` to `most` digits in a row.
    fn run(&mut self, least: usize, most: usize, what: &str) -> Result<i64, Fault> {
        let rest = &self.text[self.at..];
        let len = rest.bytes().take_while(u8::is_ascii_digit).count();
        if len < least || len > most {
            let digits =
                if least == most { format!("{least}") } else { format!("{least} to {most}") };
            return Err(self.expected(&format!("{what} of {digits} digits")));
        }
        self.at += len;
        // There are at most twelve digits.
        Ok(rest[..len].bytes().fold(0, |number, digit| number * 10 + i64::from(digit - b'0')))
    }

    fn skip(&mut self, word: &str) -> bool {
        let is_next = self.text[self.at..].starts_with(word);
        self.at += if is_next { word.len() } else { 0 };
        is_next
    }

    fn expected(&self, what: &str) -> Fault {
        Fault::new(self.at, format!("expected {what}"))
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(text: &str, expected: Expect) {
        let actual = match TimeLiteral::parse(text).and_then(|l| l.interval(&TimeZone::UTC)) {
            Ok((start, stop)) => format!("{start} .. {stop}"),
            Err(fault) => fault.in_text(text).to_string(),
        };
        expected.assert_eq(&actual);
    }

    #[test]
    fn each_precision_is_an_interval() {
        check("2022", expect!["2022-01-01T00:00:00.000Z .. 2023-01-01T00:00:00.000Z"]);
        check("2022-12", expect!["2022-12-01T00:00:00.000Z .. 2023-01-01T00:00:00.000Z"]);
        check("2024-02-29", expect!["2024-02-29T00:00:00.000Z .. 2024-03-01T00:00:00.000Z"]);
        check("2022-12-31T23", expect!["2022-12-31T23:00:00.000Z .. 2023-01-01T00:00:00.000Z"]);
        check("2022-12-31 23:59", expect!["2022-12-31T23:59:00.000Z .. 2023-01-01T00:00:00.000Z"]);
        check(
            "2022-12-31T23:59:59Z",
            expect!["2022-12-31T23:59:59.000Z .. 2023-01-01T00:00:00.000Z"],
        );
        check(
            "2022-12-31T23:59:59.999",
            expect!["2022-12-31T23:59:59.999Z .. 2023-01-01T00:00:00.000Z"],
        );
        check(
            "2022-12-01T08+08:00",
            expect!["2022-12-01T00:00:00.000Z .. 2022-12-01T01:00:00.000Z"],
        );
        check("2022-12-01+08:00", expect!["2022-11-30T16:00:00.000Z .. 2022-12-01T16:00:00.000Z"]);
        check("2022-12-01-03:30", expect!["2022-12-01T03:30:00.000Z .. 2022-12-02T03:30:00.000Z"]);
        check("2022-12+08", expect!["2022-11-30T16:00:00.000Z .. 2022-12-31T16:00:00.000Z"]);
        check("2022Z", expect!["2022-01-01T00:00:00.000Z .. 2023-01-01T00:00:00.000Z"]);
        check("9999-12-31", expect!["9999-12-31T00:00:00.000Z .. +010000-01-01T00:00:00.000Z"]);
    }

    #[test]
    fn following_date_has_the_same_precision_and_zone() {
        for (text, next) in [
            ("2022", "2023"),
            ("2022-12", "2023-01"),
            ("2022-12-31", "2023-01-01"),
            ("2024-02-28+08:00", "2024-02-29+08:00"),
            ("2022-12-31-03:30", "2023-01-01-03:30"),
            ("9999", "+10000"),
            ("2022-02Z", "2022-03Z"),
        ] {
            let literal = TimeLiteral::parse(text).unwrap();
            assert_eq!(literal.following_date().as_deref(), Some(next));
            assert!(TimeLiteral::parse(next).is_ok(), "{next}");
        }
        assert_eq!(TimeLiteral::parse("2022-12-31T23").unwrap().following_date(), None);
    }

    #[test]
    fn mistakes_are_pointed_at() {
        check(
            "2022-13",
            expect![[r#"
            expected a month from 01 to 12: offset=5
              2022-13
                   ^"#]],
        );
        check(
            "2023-02-29",
            expect![[r#"
            the month has no such day: offset=8
              2023-02-29
                      ^"#]],
        );
        check(
            "2022-12T08",
            expect![[r#"
            expected a time such as 2022-12-01T08:00:00.000+08:00: offset=7
              2022-12T08
                     ^"#]],
        );
        check(
            "22",
            expect![[r#"
            expected a year of 4 digits: offset=0
              22
              ^"#]],
        );
        check(
            "2022-12-01T8",
            expect![[r#"
            expected an hour of 2 digits: offset=11
              2022-12-01T8
                         ^"#]],
        );
        check(
            "2022-12-01T08:00x",
            expect![[r#"
            expected the end of the time, or a zone such as Z or +08:00: offset=16
              2022-12-01T08:00x
                              ^"#]],
        );
        check(
            "2022-12-01T08+26",
            expect![[r#"
            expected hours of a zone from 00 to 23: offset=14
              2022-12-01T08+26
                            ^"#]],
        );
    }
}
