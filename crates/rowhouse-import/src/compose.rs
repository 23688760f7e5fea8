//! Values composed from several file fields: `{time_hour:.14}{minute:02}Z`.

use std::borrow::Cow;

use rowhouse::{Error, Result};

use crate::source::{Datum, Record};

/// A text with placeholders for file fields, by number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Composed {
    parts: Vec<Part>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Literal(String),
    Field {
        at: usize,
        /// Character count up to which the value is padded with leading zeros.
        fill: usize,
        /// How many leading characters are used.
        take: usize,
    },
}

impl Composed {
    /// Parses a text. `position` returns a field's index among the file's names.
    ///
    /// # Errors
    /// `InvalidRequest` for unclosed braces, for a field that the file does not have, and for an
    /// invalid format.
    pub(crate) fn parse(text: &str, position: impl Fn(&str) -> Result<usize>) -> Result<Self> {
        let mut parts = Vec::new();
        let mut literal = String::new();
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            match c {
                '{' | '}' if chars.peek() == Some(&c) => {
                    chars.next();
                    literal.push(c);
                }
                '{' => {
                    let mut inside = String::new();
                    loop {
                        match chars.next() {
                            Some('}') => break,
                            Some(c) => inside.push(c),
                            None => return Err(wrong(text, "a brace is not closed")),
                        }
                    }
                    if !literal.is_empty() {
                        parts.push(Part::Literal(std::mem::take(&mut literal)));
                    }
                    parts.push(field(text, &inside, &position)?);
                }
                '}' => return Err(wrong(text, "unmatched brace: write }} for a brace")),
                c => literal.push(c),
            }
        }
        if !literal.is_empty() {
            parts.push(Part::Literal(literal));
        }
        Ok(Self { parts })
    }

    /// Returns the field indexes in the text.
    pub(crate) fn fields(&self) -> impl Iterator<Item = usize> + '_ {
        self.parts.iter().filter_map(|part| match part {
            Part::Field { at, .. } => Some(*at),
            Part::Literal(_) => None,
        })
    }

    /// Returns the value for a row, or none if a field in it has none.
    pub(crate) fn datum(&self, record: &Record) -> Result<Datum<'static>> {
        let mut made = String::new();
        for part in &self.parts {
            match part {
                Part::Literal(text) => made.push_str(text),
                Part::Field { at, fill, take } => match record.datum(*at) {
                    Datum::Null => return Ok(Datum::Null),
                    Datum::Text(text) => {
                        let len = text.chars().count().min(*take);
                        made.extend(std::iter::repeat_n('0', fill.saturating_sub(len)));
                        made.extend(text.chars().take(*take));
                    }
                    Datum::Bytes(_) | Datum::List(_) | Datum::Foreign { .. } => {
                        return Err(Error::invalid("only texts and numbers can be part of a text"));
                    }
                },
            }
        }
        Ok(Datum::Text(Cow::Owned(made)))
    }
}

/// Parses `NAME`, `NAME:02` or `NAME:.14`.
fn field(text: &str, inside: &str, position: &impl Fn(&str) -> Result<usize>) -> Result<Part> {
    let (name, format) = inside.rsplit_once(':').unwrap_or((inside, ""));
    let number = |digits: &str| {
        let why =
            || wrong(text, "after the colon, expected 0 and a width, or a point and a length");
        digits.parse::<usize>().ok().filter(|number| *number <= WIDTH_MAX).ok_or_else(why)
    };
    let (fill, take) = match (format.strip_prefix('.'), format.strip_prefix('0')) {
        _ if format.is_empty() => (0, usize::MAX),
        (Some(length), _) => (0, number(length)?),
        (None, Some(width)) => (number(width)?, usize::MAX),
        (None, None) => (number("")?, usize::MAX),
    };
    Ok(Part::Field { at: position(name)?, fill, take })
}

fn wrong(text: &str, why: &str) -> Error {
    Error::invalid(format!("{why}: set={text}"))
}

const WIDTH_MAX: usize = 1_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn position(name: &str) -> Result<usize> {
        let names = ["hour", "minute", "stamp", "a:b"];
        let index = names.iter().position(|known| *known == name);
        index.ok_or_else(|| Error::invalid(format!("no field `{name}`")))
    }

    fn made(text: &str, values: &[Option<&str>]) -> Option<String> {
        let data = values.iter().map(|value| match value {
            Some(text) => Datum::Text(Cow::Owned((*text).to_owned())),
            None => Datum::Null,
        });
        let record = Record::of(data.collect());
        match Composed::parse(text, position).unwrap().datum(&record).unwrap() {
            Datum::Text(text) => Some(text.into_owned()),
            _ => None,
        }
    }

    #[test]
    fn fields_stand_in_the_text_filled_and_cut() {
        let values = [Some("5"), Some("7"), Some("2013-01-01T10:00:00Z"), Some("x")];
        assert_eq!(made("{hour:02}:{minute:02}", &values).unwrap(), "05:07");
        assert_eq!(made("{stamp:.14}{minute:02}Z", &values).unwrap(), "2013-01-01T10:07Z");
        assert_eq!(made("{{{hour}}}", &values).unwrap(), "{5}");
        assert_eq!(made("{a:b:}{hour:.0}", &values).unwrap(), "x");
        assert_eq!(made("true", &values).unwrap(), "true");
    }

    #[test]
    fn a_part_without_a_value_leaves_no_value() {
        assert_eq!(made("{hour}:{minute}", &[Some("5"), None]), None);
    }

    #[test]
    fn malformed_field_references_are_refused() {
        for text in ["{hour", "hour}", "{day}", "{hour:2}", "{hour:.x}", "{hour:0}", "{hour:05000}"]
        {
            assert!(Composed::parse(text, position).is_err(), "{text}");
        }
    }
}
