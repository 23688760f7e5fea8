//! The time form in a file's column: the same for all times in the column.
//!
//! `20221201` can be a day or a count of milliseconds, and `2022` a year or a count. A column has
//! one form, declared by `--times` or recognized from all values in it; a value in another form is
//! rejected.

use std::fmt;

use rowhouse::key::{Decimal, Time, TimeUnit};
use rowhouse::{Error, Result, Value};

use crate::numbers::with_advice;
use crate::time_pattern::TimePattern;

/// A time form: how all times in a field or column are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TimeForm {
    /// `2022`, `2022-12-01`, `2022-12-01T08:00:00+08:00`.
    Iso,
    /// `20221201`, `202212010800`, `20221201080000`.
    Digits(Precision),
    /// A count in the field's or column's units.
    Count,
    /// A count in this unit since 1970, also with decimals. Only by declaration: a count does not
    /// show the unit.
    CountOf(TimeUnit),
    /// Times in a pattern. Only by declaration, except for times that have one meaning:
    /// `2022/12/01` and `Dec 1 2022`, not `01/12/2022`.
    Pattern(TimePattern),
}

/// How precise a calendar's digits are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// `20221201`
    Day,
    /// `202212010800`
    Minute,
    /// `20221201080000`
    Second,
}

/// The form names.
static WORDS: [(&str, TimeForm); 9] = [
    ("iso", TimeForm::Iso),
    ("ymd", TimeForm::Digits(Precision::Day)),
    ("ymdhm", TimeForm::Digits(Precision::Minute)),
    ("ymdhms", TimeForm::Digits(Precision::Second)),
    ("count", TimeForm::Count),
    ("seconds", TimeForm::CountOf(TimeUnit::Seconds)),
    ("millis", TimeForm::CountOf(TimeUnit::Millis)),
    ("micros", TimeForm::CountOf(TimeUnit::Micros)),
    ("nanos", TimeForm::CountOf(TimeUnit::Nanos)),
];

impl TimeForm {
    /// Returns the form with this name: `iso`, `ymd`, `ymdhm`, `ymdhms`, `count`, `seconds`,
    /// `millis`, `micros` or `nanos`; or the form for a pattern such as `%d/%m/%Y`.
    ///
    /// # Errors
    /// `InvalidRequest` for any other.
    pub fn parse(word: &str) -> Result<Self> {
        if word.contains('%') {
            return Ok(Self::Pattern(TimePattern::parse(word)?));
        }
        let form = WORDS.iter().find(|(known, _)| *known == word);
        form.map(|(_, form)| form.clone()).ok_or_else(|| {
            let known: Vec<_> = WORDS.iter().map(|(word, _)| *word).collect();
            Error::invalid(format!(
                "expected a pattern such as %d/%m/%Y, or one of {}: times={word}",
                known.join(", ")
            ))
        })
    }

    /// Returns the form that a text looks like; `None` if it does not look like a time.
    fn of(text: &str) -> Option<Self> {
        if !is_count(text) {
            return match Time::parse(text) {
                Ok(_) => Some(Self::Iso),
                Err(_) => TimePattern::of(text).map(Self::Pattern),
            };
        }
        let digits = [Precision::Day, Precision::Minute, Precision::Second];
        match digits.into_iter().find(|precision| precision.iso(text).is_some()) {
            Some(precision) => Some(Self::Digits(precision)),
            None if text.len() == 4 => Some(Self::Iso),
            None => Some(Self::Count),
        }
    }

    /// Returns true if times of the form may also look like another: `2022-12-01` is ISO 8601, and
    /// also follows the pattern `%Y-%m-%d`.
    fn includes(&self, text: &str) -> bool {
        match self {
            Self::Pattern(pattern) => pattern.iso(text).is_some(),
            Self::Iso | Self::Digits(_) | Self::Count | Self::CountOf(_) => false,
        }
    }

    /// Reads a time in the form; `parse` reads ISO 8601.
    fn read(&self, text: &str, parse: impl Fn(&str) -> Result<Value>) -> Result<Value> {
        let wrong =
            || Error::invalid(format!("expected a time that is written as {self}: value={text}"));
        match self {
            Self::Iso => {
                if is_count(text) && text.len() != 4 {
                    Err(wrong())
                } else {
                    parse(text)
                }
            }
            Self::Digits(precision) => parse(&precision.iso(text).ok_or_else(wrong)?),
            Self::Count => count(text).map(Value::from).ok_or_else(wrong),
            Self::CountOf(unit) => instant(text, *unit).map(Value::from).ok_or_else(wrong),
            Self::Pattern(pattern) => parse(&pattern.iso(text).ok_or_else(wrong)?),
        }
    }
}

impl fmt::Display for TimeForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Self::Pattern(pattern) = self {
            return write!(f, "{pattern}");
        }
        let word = WORDS.iter().find(|(_, form)| form == self).map_or("", |(word, _)| *word);
        f.write_str(word)
    }
}

impl Precision {
    /// Returns the time in ISO 8601, if the text consists of a time's digits.
    fn iso(self, digits: &str) -> Option<String> {
        let len = match self {
            Self::Day => 8,
            Self::Minute => 12,
            Self::Second => 14,
        };
        if digits.len() != len || !digits.bytes().all(|c| c.is_ascii_digit()) {
            return None;
        }
        let mut iso = format!("{}-{}-{}", &digits[..4], &digits[4..6], &digits[6..8]);
        for (at, mark) in [(8, 'T'), (10, ':'), (12, ':')] {
            if let Some(two) = digits.get(at..at + 2) {
                iso.push(mark);
                iso.push_str(two);
            }
        }
        Time::parse(&iso).is_ok().then_some(iso)
    }
}

fn is_count(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|c| c.is_ascii_digit())
}

/// The time form in one column.
#[derive(Clone, Debug, Default)]
pub(crate) enum Times {
    /// No value in the file is a time.
    #[default]
    Unknown,
    /// Values that look like another form are rejected.
    Recognized(TimeForm),
    /// Digits are read as declared, however many they are.
    Declared(TimeForm),
}

/// A field or column that holds times.
#[derive(Clone, Debug)]
pub(crate) struct TimeField<'f> {
    pub(crate) name: &'f str,
    /// The unit that the field's counts have, if it is a template unit.
    pub(crate) unit: Option<TimeUnit>,
}

impl Times {
    /// Reads a time; `parse` reads texts to which the form does not apply.
    pub(crate) fn read(
        &self,
        text: &str,
        field: &TimeField<'_>,
        parse: impl Fn(&str) -> Result<Value>,
    ) -> Result<Value> {
        let text = text.trim();
        let form = match self {
            Self::Declared(form) => return form.read(text, parse),
            Self::Unknown => None,
            Self::Recognized(form) => Some(form),
        };
        let own = TimeForm::of(text);
        match (form, own) {
            (Some(form), _) if form.includes(text) => form.read(text, parse),
            (Some(form), Some(own)) if *form != own => Err(Error::invalid(format!(
                "the times of this column of the file are written as {form}, and this one as \
                 {own}; --times sets the form of all: value={text}"
            ))),
            (Some(form), Some(TimeForm::Count)) => {
                check_unit(text, field)?;
                form.read(text, parse)
            }
            (Some(form), Some(_)) => form.read(text, parse),
            (_, None) | (None, _) => {
                parse(text).map_err(|error| with_advice(error, &advice(text, field.name)))
            }
        }
    }

    /// Returns true if the form was recognized and differs from the printed one.
    pub(crate) fn differs_from_printed(&self) -> bool {
        match self {
            Self::Unknown | Self::Recognized(TimeForm::Iso) | Self::Declared(_) => false,
            Self::Recognized(_) => true,
        }
    }
}

/// Refuses a count that is a present-day time in another unit only.
fn check_unit(text: &str, field: &TimeField<'_>) -> Result<()> {
    let time = |unit| Some(Time::new(i64::try_from(count(text)?).ok()?, unit));
    let (Some(unit), name) = (field.unit, field.name) else { return Ok(()) };
    let Some(own) = time(unit).filter(|own| !is_within(*own, OWN_YEARS)) else { return Ok(()) };
    let units = [TimeUnit::Seconds, TimeUnit::Millis, TimeUnit::Micros, TimeUnit::Nanos];
    let others = units.into_iter().filter_map(|unit| Some((unit, time(unit)?)));
    match others.into_iter().find(|(_, other)| is_within(*other, OTHER_YEARS)) {
        None => Ok(()),
        Some((other_unit, other)) => Err(Error::invalid(format!(
            "the count is {other} in {other_unit}, and {own} in {unit}, the unit of the field; \
             give --times {name}={other_unit} or --times {name}={unit}: value={text}",
            other_unit = TimeForm::CountOf(other_unit),
            unit = TimeForm::CountOf(unit)
        ))),
    }
}

fn is_within(time: Time, (first, last): (i64, i64)) -> bool {
    let year = |year: i64| i128::from(year - 1970) * YEAR_NANOS;
    (year(first)..year(last)).contains(&time.as_nanos())
}

/// Returns the advice for a text that is no time by itself.
fn advice(text: &str, name: &str) -> String {
    let patterns: Vec<_> =
        TimePattern::ambiguous(text).map(|pattern| format!("--times {name}={pattern}")).collect();
    let is_decimal = text.contains('.') && Decimal::parse(text).is_some();
    match (is_decimal, &patterns[..]) {
        (true, _) => format!("declare the unit of a count with decimals (--times {name}=seconds)"),
        (false, []) => format!("declare another form with --times {name}=FORM"),
        (false, patterns) => format!("declare its form with {}", patterns.join(" or ")),
    }
}

/// Returns the time that a count in a unit means, to the nanosecond.
fn instant(text: &str, unit: TimeUnit) -> Option<Time> {
    if let Some(count) = count(text) {
        return Some(Time::new(i64::try_from(count).ok()?, unit));
    }
    let power = match unit {
        TimeUnit::Seconds => 9,
        TimeUnit::Millis => 6,
        TimeUnit::Micros => 3,
        TimeUnit::Nanos => 0,
    };
    // An exponent in the text would be a second one.
    let nanos = Value::from(Decimal::parse(&format!("{text}e{power}"))?).as_i64()?;
    Some(Time::new(nanos, TimeUnit::Nanos))
}

fn count(text: &str) -> Option<i128> {
    if is_count(text) { text.parse().ok() } else { None }
}

/// The years in which a count in the field's own unit is taken as such.
const OWN_YEARS: (i64, i64) = (1971, 2200);
/// The years in which a count in another unit is likely.
const OTHER_YEARS: (i64, i64) = (1990, 2100);
const YEAR_NANOS: i128 = 31_556_952_000_000_000;

/// How many values in a column look like each form, and the first such value.
#[derive(Debug, Default)]
pub(crate) struct FormCounts {
    forms: Vec<(TimeForm, u64, String)>,
}

impl FormCounts {
    pub(crate) fn note(&mut self, text: &str) {
        let text = text.trim();
        let Some(form) = TimeForm::of(text) else { return };
        match self.forms.iter_mut().find(|(known, ..)| *known == form) {
            Some((_, count, _)) => *count += 1,
            None => self.forms.push((form, 1, text.to_owned())),
        }
    }

    /// Returns the form that most values have, and the first value in that form.
    ///
    /// # Errors
    /// `InvalidRequest` if two forms match equally many values.
    pub(crate) fn most(&self, name: &str) -> Result<Option<(TimeForm, &str)>> {
        let mut forms: Vec<_> = self.forms.iter().collect();
        forms.sort_by_key(|(_, count, _)| std::cmp::Reverse(*count));
        match &forms[..] {
            [] => Ok(None),
            [(a, count, first), (b, other, second), ..] if count == other => {
                Err(Error::invalid(format!(
                    "equally many times of the file are written as {a} ({first}) and as {b} \
                     ({second}); choose --times {name}={a} or --times {name}={b}: field={name}, \
                     values={count}"
                )))
            }
            [(form, _, first), ..] => Ok(Some((form.clone(), first))),
        }
    }
}

#[cfg(test)]
mod tests {
    use rowhouse::key::KeySchema;

    use super::*;

    fn recognized(texts: &[&str]) -> Result<Times> {
        let mut looks = FormCounts::default();
        texts.iter().for_each(|text| looks.note(text));
        Ok(looks.most("at")?.map_or(Times::Unknown, |(form, _)| Times::Recognized(form)))
    }

    /// Returns each text as it is read, in the form that all have.
    fn read(times: Times, texts: &[&str]) -> Vec<String> {
        let schema = KeySchema::parse("[at millis]").unwrap();
        let one = |text: &&str| {
            let field = TimeField { name: "at", unit: Some(TimeUnit::Millis) };
            let value = times.read(text, &field, |text| schema.fields()[0].parse_value(text));
            let key = value.and_then(|value| schema.encode(&[("at", value)]));
            match key.map(|key| schema.decode(&key).unwrap()["at"].to_string()) {
                Ok(time) => time.replace(":00.000Z", ""),
                Err(error) => error.message().lines().next().unwrap_or_default().to_owned(),
            }
        };
        texts.iter().map(one).collect()
    }

    fn all(texts: &[&str]) -> Vec<String> {
        read(recognized(texts).unwrap(), texts)
    }

    #[test]
    fn a_column_has_one_form_and_values_of_others_are_rejected() {
        assert_eq!(all(&["20221201", "20221202"]), ["2022-12-01T00:00", "2022-12-02T00:00"]);
        assert_eq!(all(&["202212010830", "202212010831"])[1], "2022-12-01T08:31");
        assert_eq!(all(&["20221201083059"]), ["2022-12-01T08:30:59.000Z"]);
        assert_eq!(all(&["1669852800000", "1669852860000"])[1], "2022-12-01T00:01");
        assert_eq!(all(&["2022", "2022-12-01"]), ["2022-01-01T00:00", "2022-12-01T00:00"]);

        let mixed = all(&["2022", "20221201", "1999"]);
        assert_eq!((&*mixed[0], &*mixed[2]), ("2022-01-01T00:00", "1999-01-01T00:00"));
        assert_eq!(
            mixed[1],
            "the times of this column of the file are written as iso, and this one as ymd; --times sets the form \
             of all: value=20221201"
        );
        let counts = all(&["1669852800000", "1669852860000", "20221201"]);
        assert!(counts[2].contains("as count, and this one as ymd"), "{counts:?}");
        let days = all(&["20221201", "20221232", "20221203"]);
        assert!(days[1].contains("as ymd, and this one as count"), "{days:?}");
    }

    #[test]
    fn two_forms_of_as_many_values_are_refused() {
        let error = recognized(&["2022", "20221201"]).unwrap_err();
        assert_eq!(
            error.message(),
            "equally many times of the file are written as iso (2022) and as ymd (20221201); choose \
             --times at=iso or --times at=ymd: field=at, values=1"
        );
    }

    #[test]
    fn dates_of_one_meaning_are_recognized() {
        assert_eq!(all(&["2015/01/31", "2015/2/1"]), ["2015-01-31T00:00", "2015-02-01T00:00"]);
        assert_eq!(all(&["2015/01/31 08:30", "2015/02/01T09:00"])[0], "2015-01-31T08:30");
        assert_eq!(all(&["Jan 1 2000", "feb 29 2000"])[1], "2000-02-29T00:00");
        assert_eq!(all(&["January 1, 2000"]), ["2000-01-01T00:00"]);
        assert_eq!(all(&["01-JAN-2000"]), ["2000-01-01T00:00"]);
        // A date that is padded by chance has this form, too.
        assert_eq!(all(&["2015-1-1", "2015-2-1", "2015-10-10"])[2], "2015-10-10T00:00");
        assert!(all(&["2015/02/30"])[0].starts_with("expected a time"));
        assert!(all(&["15/01/01"])[0].starts_with("expected a year"));
    }

    #[test]
    fn the_order_of_day_and_month_is_declared() {
        let refused = all(&["01/02/2015"]);
        assert!(refused[0].contains("--times at=%d/%m/%Y or --times at=%m/%d/%Y"), "{refused:?}");
        let declared = |word: &str| Times::Declared(TimeForm::parse(word).unwrap());
        assert_eq!(read(declared("%d/%m/%Y"), &["01/02/2015"]), ["2015-02-01T00:00"]);
        assert_eq!(read(declared("%d/%m/%Y"), &["01/02/2015 08:30"]), ["2015-02-01T08:30"]);
        assert_eq!(read(declared("%m/%d/%y %I:%M %p"), &["1/2/15 8:30 PM"]), ["2015-01-02T20:30"]);
        let zone = read(declared("%a, %d %b %Y %H:%M:%S %z"), &["Thu, 01 Jan 2015 08:30:00 +0800"]);
        assert_eq!(zone, ["2015-01-01T00:30"]);
        let fraction = read(declared("%Y-%m-%d %H:%M:%S,%f"), &["2015-01-01 08:30:00,250"]);
        assert_eq!(fraction, ["2015-01-01T08:30:00.250Z"]);
        assert!(read(declared("%d/%m/%Y"), &["2015-01-01"])[0].contains("written as %d/%m/%Y"));
        for pattern in ["%H:%M", "%s", "%Y", "%d/%m/%Y %Z", "%!"] {
            assert!(TimeForm::parse(pattern).is_err(), "{pattern}");
        }
    }

    #[test]
    fn a_count_of_another_unit_is_not_read_as_one_of_the_field() {
        let refused = all(&["1669852800"]);
        assert!(
            refused[0].starts_with(
                "the count is 2022-12-01T00:00:00.000Z in seconds, and 1970-01-20T07:50:52.800Z in millis"
            ),
            "{refused:?}"
        );
        assert!(all(&["1669852800000000"])[0].contains("--times at=micros or --times at=millis"));
        assert_eq!(all(&["60000"]), ["1970-01-01T00:01"]);
        let declared = |word: &str| Times::Declared(TimeForm::parse(word).unwrap());
        assert_eq!(read(declared("seconds"), &["1669852800.25"]), ["2022-12-01T00:00:00.250Z"]);
        assert_eq!(read(declared("micros"), &["1669852800000000"]), ["2022-12-01T00:00"]);
        assert!(read(declared("micros"), &["1669852800000001"])[0].contains("more precise"));
        assert!(read(declared("seconds"), &["1e3"])[0].contains("written as seconds"));
        assert!(all(&["1669852800.25"])[0].contains("--times at=seconds"));
    }

    #[test]
    fn unparsable_values_do_not_affect_the_recognized_form() {
        let read = all(&["n/a", "", "n/a", "20221201"]);
        assert_eq!(read[3], "2022-12-01T00:00");
        assert!(read[0].starts_with("expected a year"), "{read:?}");
        assert!(matches!(recognized(&["n/a"]).unwrap(), Times::Unknown));
    }

    #[test]
    fn a_declared_form_is_taken_at_its_word() {
        let declared = |word: &str| Times::Declared(TimeForm::parse(word).unwrap());
        assert_eq!(read(declared("count"), &["60000", "20221201"])[0], "1970-01-01T00:01");
        assert_eq!(read(declared("count"), &["20221201"]), ["1970-01-01T05:37:01.201Z"]);
        assert_eq!(read(declared("seconds"), &["1669852800"]), ["2022-12-01T00:00"]);
        assert_eq!(read(declared("iso"), &["2022"]), ["2022-01-01T00:00"]);
        assert!(read(declared("iso"), &["20221201"])[0].contains("written as iso"));
        assert!(read(declared("ymd"), &["2022"])[0].contains("written as ymd"));
        assert!(read(declared("seconds"), &["9223372036854775808"])[0].contains("as seconds"));
        assert!(TimeForm::parse("days").unwrap_err().message().ends_with("nanos: times=days"));
    }
}
