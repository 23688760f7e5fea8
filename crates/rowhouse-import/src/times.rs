//! The form of the times of a file's column: the same for all of them.
//!
//! `20221201` can be a day or a count of milliseconds, and `2022` a year or a count. A column has
//! one form, declared by `--times` or recognized from all of its values; a value of another form is
//! rejected.

use std::fmt;

use rowhouse::key::{Time, TimeUnit};
use rowhouse::{Error, Result, Value};

/// A form of times: how all times of a field or column are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeForm {
    /// `2022`, `2022-12-01`, `2022-12-01T08:00:00+08:00`.
    Iso,
    /// `20221201`, `202212010800`, `20221201080000`.
    Digits(Precision),
    /// A count of the units of the field or column.
    Count,
    /// A count of this unit since 1970. Only by declaration: a count does not show its unit.
    CountOf(TimeUnit),
}

/// The precision of the digits of a calendar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// `20221201`
    Day,
    /// `202212010800`
    Minute,
    /// `20221201080000`
    Second,
}

/// The names of the forms.
const WORDS: [(&str, TimeForm); 9] = [
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
    /// Returns the form of this name: `iso`, `ymd`, `ymdhm`, `ymdhms`, `count`, `seconds`,
    /// `millis`, `micros` or `nanos`.
    ///
    /// # Errors
    /// `InvalidRequest` for any other.
    pub fn parse(word: &str) -> Result<Self> {
        let found = WORDS.iter().find(|(known, _)| *known == word);
        found.map(|(_, form)| *form).ok_or_else(|| {
            let known: Vec<_> = WORDS.iter().map(|(word, _)| *word).collect();
            Error::invalid(format!("expected one of {}: times={word}", known.join(", ")))
        })
    }

    /// Returns the form that a text looks like; `None` if it does not look like a time.
    fn of(text: &str) -> Option<Self> {
        if !is_count(text) {
            return Time::parse(text).is_ok().then_some(Self::Iso);
        }
        let digits = [Precision::Day, Precision::Minute, Precision::Second];
        match digits.into_iter().find(|precision| precision.iso(text).is_some()) {
            Some(precision) => Some(Self::Digits(precision)),
            None if text.len() == 4 => Some(Self::Iso),
            None => Some(Self::Count),
        }
    }
}

impl fmt::Display for TimeForm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = WORDS.iter().find(|(_, form)| form == self).map_or("", |(word, _)| *word);
        f.write_str(word)
    }
}

impl Precision {
    /// Returns the time in ISO 8601, if the text consists of the digits of one.
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

/// The form of one column.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Times {
    /// No value of the file is a time.
    #[default]
    Unknown,
    /// Values that look like another form are rejected.
    Recognized(TimeForm),
    /// Digits are read as declared, regardless of their number.
    Declared(TimeForm),
}

impl Times {
    /// Reads a time; `parse` reads texts to which the form does not apply.
    pub(crate) fn read(self, text: &str, parse: impl Fn(&str) -> Result<Value>) -> Result<Value> {
        let form = match self {
            Self::Unknown => return parse(text),
            Self::Recognized(form) => match TimeForm::of(text) {
                None => return parse(text),
                Some(own) if own == form => form,
                Some(own) => {
                    return Err(Error::invalid(format!(
                        "the times of this column of the file are written as {form}, and this one \
                         as {own}; --times sets the form of all: value={text}"
                    )));
                }
            },
            Self::Declared(form) => form,
        };
        let wrong =
            || Error::invalid(format!("expected a time that is written as {form}: value={text}"));
        match form {
            TimeForm::Iso => match is_count(text) && text.len() != 4 {
                true => Err(wrong()),
                false => parse(text),
            },
            TimeForm::Digits(precision) => parse(&precision.iso(text).ok_or_else(wrong)?),
            TimeForm::Count => count(text).map(Value::from).ok_or_else(wrong),
            TimeForm::CountOf(unit) => {
                let count = count(text).and_then(|count| i64::try_from(count).ok());
                Ok(Time::new(count.ok_or_else(wrong)?, unit).into())
            }
        }
    }

    /// Returns whether the form was recognized, and differs from the printed one.
    pub(crate) fn differs_from_printed(self) -> bool {
        match self {
            Self::Unknown | Self::Recognized(TimeForm::Iso) | Self::Declared(_) => false,
            Self::Recognized(_) => true,
        }
    }
}

fn count(text: &str) -> Option<i128> {
    if is_count(text) { text.parse().ok() } else { None }
}

/// The number of values of a column that look like each form, and the first of them.
#[derive(Debug, Default)]
pub(crate) struct FormCounts {
    forms: Vec<(TimeForm, u64, String)>,
}

impl FormCounts {
    pub(crate) fn note(&mut self, text: &str) {
        let Some(form) = TimeForm::of(text) else { return };
        match self.forms.iter_mut().find(|(known, ..)| *known == form) {
            Some((_, count, _)) => *count += 1,
            None => self.forms.push((form, 1, text.to_owned())),
        }
    }

    /// Returns the form that most values have, and the first value of it.
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
            [(form, _, first), ..] => Ok(Some((*form, first))),
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

    /// Returns each text as it is read, in the form of all.
    fn read(times: Times, texts: &[&str]) -> Vec<String> {
        let schema = KeySchema::parse("[at millis]").unwrap();
        let one = |text: &&str| {
            let value = times.read(text, |text| schema.fields()[0].parse_value(text));
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
    fn what_is_no_time_has_no_vote() {
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
