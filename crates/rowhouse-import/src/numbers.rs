//! Numbers and bools in other programs' notations: `.5`, `1.0` for 1, `1.234,56`, `TRUE`.
//!
//! A notation is read if it has one meaning. If it has several, the number is refused, and the
//! message names the option that declares one.

use std::borrow::Cow;
use std::fmt;

use rowhouse::key::Decimal;
use rowhouse::{Error, Result, Value};

/// The marks in a text file's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NumberMarks {
    pub(crate) decimal: char,
    /// The mark between three-digit groups.
    pub(crate) thousands: Option<char>,
}

/// Reads a number with these marks; `parse` reads it in the notation of the field's values.
pub(crate) fn read_number(
    text: &str,
    marks: NumberMarks,
    parse: impl Fn(&str) -> Result<Value>,
) -> Result<Value> {
    let text = text.trim();
    let plain = marks
        .plain(text)
        .ok_or_else(|| Error::invalid(format!("expected a number with {marks}: value={text}")))?;
    parse(&plain).or_else(|error| {
        let zero = with_leading_zero(&plain);
        if let Some(value) = parse(&zero).ok().filter(|_| *zero != plain) {
            return Ok(value);
        }
        let whole = whole(&zero).and_then(|whole| parse(&whole).ok());
        whole.ok_or_else(|| match advice(text) {
            Some(advice) if marks == NumberMarks::default() => with_advice(error, advice),
            _ => error,
        })
    })
}

/// Reads a bool; `parse` reads it in the notation of the field's values. The words are
/// PostgreSQL's, in upper or lower case.
pub(crate) fn read_bool(text: &str, parse: impl Fn(&str) -> Result<Value>) -> Result<Value> {
    let word = text.trim().to_ascii_lowercase();
    match word.as_str() {
        "true" | "t" | "yes" | "y" | "on" | "1" => parse("true"),
        "false" | "f" | "no" | "n" | "off" | "0" => parse("false"),
        _ => parse(text),
    }
}

/// Adds advice to an error's first line, before the values.
pub(crate) fn with_advice(error: Error, advice: &str) -> Error {
    let (first, rest) = error.message().split_once('\n').unwrap_or((error.message(), ""));
    let (why, values) = first.split_once(": ").unwrap_or((first, ""));
    let mut message = format!("{why}; {advice}");
    for (mark, part) in [(": ", values), ("\n", rest)] {
        if !part.is_empty() {
            message.push_str(mark);
            message.push_str(part);
        }
    }
    error.with_message(message)
}

impl NumberMarks {
    /// Returns the number with a decimal point and without marks between digits; `None` if it has
    /// marks in other places.
    fn plain(self, text: &str) -> Option<Cow<'_, str>> {
        if self == Self::default() {
            return Some(text.into());
        }
        let (whole, fraction) = match text.split_once(self.decimal) {
            Some((whole, fraction)) => (whole, Some(fraction)),
            None => (text, None),
        };
        // Another decimal point would have another meaning than in `parse`.
        if self.decimal != '.' && self.thousands != Some('.') && text.contains('.') {
            return None;
        }
        let mut plain = match self.thousands {
            Some(mark) => without_groups(whole, mark)?,
            None => whole.to_owned(),
        };
        if let Some(fraction) = fraction {
            plain.push('.');
            plain.push_str(fraction);
        }
        Some(plain.into())
    }
}

impl Default for NumberMarks {
    fn default() -> Self {
        Self { decimal: '.', thousands: None }
    }
}

impl fmt::Display for NumberMarks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the decimal mark '{}'", self.decimal)?;
        match self.thousands {
            Some(mark) => write!(f, " and '{mark}' between groups of three digits"),
            None => Ok(()),
        }
    }
}

/// Removes the mark between three-digit groups; `None` if a group has another length.
fn without_groups(whole: &str, mark: char) -> Option<String> {
    let digits = whole.trim_start_matches(['-', '+']);
    let mut groups = digits.split(mark);
    let first = groups.next().unwrap_or_default();
    let mut has_groups = false;
    for group in groups {
        has_groups = true;
        if group.len() != 3 || !group.bytes().all(|c| c.is_ascii_digit()) {
            return None;
        }
    }
    if has_groups && !(1..=3).contains(&first.len()) {
        None
    } else {
        Some(whole.chars().filter(|c| *c != mark).collect())
    }
}

/// Returns `0.5` for `.5`.
fn with_leading_zero(text: &str) -> Cow<'_, str> {
    let digits = text.trim_start_matches(['-', '+']);
    if digits.starts_with('.') {
        format!("{}0{digits}", &text[..text.len() - digits.len()]).into()
    } else {
        text.into()
    }
}

/// Returns `1` for `1.0`, and for other numbers with a point or an exponent that are whole.
fn whole(text: &str) -> Option<String> {
    let value = Value::from(Decimal::parse(text)?);
    let unsigned = value.as_u64().map(|whole| whole.to_string());
    unsigned.or_else(|| value.as_i64().map(|whole| whole.to_string()))
}

/// Returns the option that may be missing for a number.
fn advice(text: &str) -> Option<&'static str> {
    let digits = text.trim_start_matches(['-', '+']);
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit());
    let first = digits.split('.').next().unwrap_or_default();
    if first.contains(',') && without_groups(first, ',').is_some_and(|whole| is_digits(&whole)) {
        return Some(
            "if the comma separates thousands, give --thousands ','; if it is the decimal mark, \
             --decimal-mark ','",
        );
    }
    let (whole, fraction) = digits.rsplit_once(',')?;
    let is_whole = is_digits(whole) || without_groups(whole, '.').is_some_and(|it| is_digits(&it));
    (is_whole && is_digits(fraction)).then_some(
        "if the comma is the decimal mark, give --decimal-mark ',', and --thousands '.' if points \
         separate thousands",
    )
}

#[cfg(test)]
mod tests {
    use rowhouse::key::KeySchema;

    use super::*;

    /// Returns a number as a field with this type reads it.
    fn read(field_type: &str, marks: NumberMarks, text: &str) -> String {
        let schema = KeySchema::parse(&format!("[v {field_type}]")).unwrap();
        let field = &schema.fields()[0];
        match read_number(text, marks, |text| field.parse_value(text)) {
            Ok(value) => value.to_string(),
            Err(error) => error.message().lines().next().unwrap().to_owned(),
        }
    }

    #[test]
    fn whole_numbers_may_have_a_point_if_nothing_is_lost() {
        let whole = |text| read("i64", NumberMarks::default(), text);
        for text in ["12", " 12\t", "+12", "12.0", "12.000", "1.2E1", "1200e-2", "012"] {
            assert_eq!(whole(text), "12", "{text}");
        }
        assert_eq!(whole("-12.0"), "-12");
        assert_eq!(whole("9223372036854775807.0"), "9223372036854775807");
        for text in ["12.5", ".5", "1e-1", "12.", "1 2", "", "0x12", "--1"] {
            assert!(whole(text).starts_with("expected a whole number"), "{text}: {}", whole(text));
        }
    }

    #[test]
    fn marks_are_read_only_where_they_are_declared() {
        let comma = NumberMarks { decimal: ',', thousands: None };
        let german = NumberMarks { decimal: ',', thousands: Some('.') };
        let english = NumberMarks { decimal: '.', thousands: Some(',') };
        let french = NumberMarks { decimal: ',', thousands: Some('\u{202F}') };
        for (marks, text, want) in [
            (comma, "1,5", "1.5"),
            (comma, "-,5", "-0.5"),
            (german, "1.234.567,5", "1234567.5"),
            (german, "1234,5", "1234.5"),
            (english, "-1,234,567.5", "-1234567.5"),
            (english, "0.5", "0.5"),
            (french, "1\u{202F}234,5", "1234.5"),
        ] {
            assert_eq!(read("f64", marks, text), want, "{text}");
        }
        for (marks, text) in [
            (comma, "1.5"),
            (german, "1.5"),
            (german, "12.34"),
            (english, "1,23"),
            (english, "1234,567"),
        ] {
            assert!(read("f64", marks, text).starts_with("expected a number with"), "{text}");
        }
        let plain = |text| read("f64", NumberMarks::default(), text);
        assert!(plain("1,234").contains("--thousands ','"));
        assert!(plain("1,23").contains("--decimal-mark ','"));
        assert!(plain("1.234,5").contains("--thousands '.'"));
        assert_eq!(plain("many"), "expected a number: offset=0");
    }

    #[test]
    fn bools_are_read_as_postgresql_does() {
        let schema = KeySchema::parse("[v bool]").unwrap();
        let read = |text: &str| read_bool(text, |text| schema.fields()[0].parse_value(text));
        for text in ["True", "TRUE", "t", "1", "yes", " Y ", "on"] {
            assert_eq!(read(text).unwrap(), Value::Bool(true), "{text}");
        }
        for text in ["False", "FALSE", "f", "0", "no", "N", "off"] {
            assert_eq!(read(text).unwrap(), Value::Bool(false), "{text}");
        }
        assert!(read("2").is_err() && read("").is_err());
    }
}
