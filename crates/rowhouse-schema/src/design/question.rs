//! A question in a workload: a query with `?` for values that are drawn from the rows.

use std::fmt;

use super::words::{Millis, Rate};
use crate::error::Fault;
use crate::plan::Predicate;
use crate::time::Time;
use crate::value::{Quoted, Value};

/// A query that is asked at a rate, with `?` in place of values.
///
/// Each time it is asked, a row is drawn from all that are written, and `?` is the value that this
/// row has: a value that many rows have is asked for as much more often. `? + 1h` and `? - 100` lie
/// beside it. In a list, `in (?, ?)`, each `?` comes from another row. `now` is when the last write
/// happens, and `now - 1d` is a day before it.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// The query as written.
    pub(super) text: String,
    parts: Vec<Part>,
    /// How many rows are requested; all if it is `None`.
    pub limit: Option<u64>,
    /// True if the newest rows are requested, and not any rows.
    pub newest: bool,
    /// How often it is asked.
    pub per_second: f64,
}

/// A part of a query text.
#[derive(Clone, Debug, PartialEq)]
enum Part {
    Text(String),
    /// A field value from the `row`th row that is drawn, and how far it is moved.
    Drawn {
        field: String,
        row: usize,
        moved: Moved,
    },
    /// The last write's time, moved by milliseconds.
    Now(i64),
}

/// How far a value lies from the one that is drawn.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Moved {
    Not,
    By(i128),
    Millis(i64),
}

impl Question {
    /// Parses the query, which begins at byte `at` in the workload's text.
    pub(super) fn parse(text: &str, at: usize) -> Result<Self, Fault> {
        let parts = Scanner { text, at: 0, offset: at }.parts()?;
        let text = text.trim().to_owned();
        Ok(Self { text, parts, limit: None, newest: false, per_second: 0.0 })
    }

    /// The query as written, with `?`.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The names of the fields and columns whose values are drawn.
    pub(super) fn drawn(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|part| match part {
            Part::Drawn { field, .. } => Some(field.as_str()),
            Part::Text(_) | Part::Now(_) => None,
        })
    }

    /// How many rows are drawn for one question.
    pub(super) fn rows_drawn(&self) -> usize {
        let rows = self.parts.iter().map(|part| match part {
            Part::Drawn { row, .. } => row + 1,
            Part::Text(_) | Part::Now(_) => 0,
        });
        rows.max().unwrap_or(0)
    }

    /// Returns the query with values. `value` returns a field's value in the nth row that is drawn,
    /// and `now` is the last write's time in milliseconds.
    ///
    /// # Errors
    /// Says which value cannot be moved.
    pub(super) fn with_values(
        &self,
        value: impl Fn(&str, usize) -> Value,
        now: i64,
    ) -> Result<String, String> {
        let mut query = String::new();
        for part in &self.parts {
            match part {
                Part::Text(text) => query.push_str(text),
                Part::Now(millis) => query.push_str(&Time::from_millis(now + millis).to_string()),
                Part::Drawn { field, row, moved } => {
                    let value = moved.apply(value(field, *row), field)?;
                    query.push_str(&Quoted(&value).to_string());
                }
            }
        }
        Ok(query)
    }

    /// Parses the query with values, to find the conditions' fields and signs.
    pub(super) fn predicate(query: &str) -> rowhouse_model::Result<Predicate> {
        Predicate::parse(query)
    }
}

impl Moved {
    fn apply(self, value: Value, field: &str) -> Result<Value, String> {
        match (self, &value) {
            (Self::Not, _) => Ok(value),
            (Self::By(by), Value::Unsigned(_) | Value::Signed(_)) => {
                let number = value.as_integer().unwrap_or(0).saturating_add(by);
                Ok(Value::Signed(number.max(0)))
            }
            (Self::Millis(by), Value::Time(_) | Value::Date(_)) => {
                let time = value.as_time().unwrap_or(Time::from_millis(0));
                let nanos = time.as_nanos() + i128::from(by) * 1_000_000;
                Ok(Value::Time(Time::from_nanos(nanos)))
            }
            (Self::By(_), _) => Err(format!("`{field}` is no number, so nothing is added to it")),
            (Self::Millis(_), _) => {
                Err(format!("`{field}` is no time, so no duration is added to it"))
            }
        }
    }
}

impl fmt::Display for Question {
    /// Writes the question as workloads do, with the rate.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        if let Some(limit) = self.limit {
            let separator = if self.text.is_empty() { "" } else { " " };
            write!(f, "{separator}{} {limit}", if self.newest { "newest" } else { "limit" })?;
        }
        write!(f, " : {}", Rate(self.per_second))
    }
}

/// Finds `?` and `now` in a query.
struct Scanner<'t> {
    text: &'t str,
    at: usize,
    /// The query's offset in the workload's text.
    offset: usize,
}

impl<'t> Scanner<'t> {
    fn parts(mut self) -> Result<Vec<Part>, Fault> {
        let mut parts = Vec::new();
        let mut plain = 0;
        // The condition's field, and whether the next `and` belongs to `between`.
        let mut field = None::<&str>;
        let mut between = false;
        let mut in_list = None;
        while let Some(first) = self.text[self.at..].chars().next() {
            let begin = self.at;
            match first {
                '\'' => self.skip_quoted(),
                '?' => {
                    let Some(name) = field else {
                        let fault = Fault::new(self.offset + begin, "`?` is of no field");
                        return Err(fault.hint("for example user = ?"));
                    };
                    self.at += 1;
                    let moved = self.moved()?;
                    push_text(&mut parts, &self.text[plain..begin]);
                    let row = in_list.unwrap_or(0);
                    in_list = in_list.map(|row: usize| row + 1);
                    parts.push(Part::Drawn { field: name.to_owned(), row, moved });
                    plain = self.at;
                }
                '(' | ')' => {
                    in_list = (first == '(').then_some(0);
                    self.at += 1;
                }
                c if c.is_alphabetic() || c == '_' => match (self.word(), field) {
                    (word, None) => field = Some(word),
                    ("and", _) if between => between = false,
                    ("and", _) => field = None,
                    ("between", _) => between = true,
                    ("now", _) => {
                        push_text(&mut parts, &self.text[plain..begin]);
                        let at = self.offset + self.at;
                        match self.moved()? {
                            Moved::Not => parts.push(Part::Now(0)),
                            Moved::Millis(millis) => parts.push(Part::Now(millis)),
                            Moved::By(_) => {
                                let fault = Fault::new(at, "expected a duration");
                                return Err(fault.hint("for example now - 1d"));
                            }
                        }
                        plain = self.at;
                    }
                    _ => {}
                },
                // A number or a time, which may have letters.
                c if c.is_ascii_digit() => {
                    self.word();
                }
                c => self.at += c.len_utf8(),
            }
        }
        push_text(&mut parts, &self.text[plain..]);
        Ok(parts)
    }

    fn word(&mut self) -> &'t str {
        let rest = &self.text[self.at..];
        let len = rest.find(|c: char| !(c.is_alphanumeric() || "_.:".contains(c)));
        let word = &rest[..len.unwrap_or(rest.len())];
        self.at += word.len();
        word
    }

    fn skip_quoted(&mut self) {
        let rest = &self.text[self.at + 1..];
        self.at += 1 + rest.find('\'').map_or(rest.len(), |end| end + 1);
    }

    /// Reads `+ 1h`, `- 100` or nothing.
    fn moved(&mut self) -> Result<Moved, Fault> {
        let rest = self.text[self.at..].trim_start();
        let sign = match rest.chars().next() {
            Some('+') => 1,
            Some('-') => -1,
            _ => return Ok(Moved::Not),
        };
        let amount = rest[1..].trim_start();
        let len = amount.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(amount.len());
        let at = self.text.len() - amount.len();
        self.at = at + len;
        let amount = &amount[..len];
        if let Ok(number) = amount.parse::<u64>() {
            return Ok(Moved::By(sign * i128::from(number)));
        }
        match Millis::read(amount) {
            Some(millis) => Ok(Moved::Millis(sign as i64 * millis)),
            None => {
                let fault = Fault::new(self.offset + at, "expected a number or a duration");
                Err(fault.hint("durations are 1d, 12h, 30m, 10s and 5ms"))
            }
        }
    }
}

fn push_text(parts: &mut Vec<Part>, text: &str) {
    if !text.is_empty() {
        parts.push(Part::Text(text.to_owned()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn filled(text: &str) -> String {
        let question = Question::parse(text, 0).unwrap();
        let value = |field: &str, row: usize| match field {
            "at" => Value::Time(Time::from_millis(3_600_000)),
            "n" => Value::Unsigned(7),
            field => Value::Text(format!("{field}{row}")),
        };
        question.with_values(value, 86_400_000).unwrap()
    }

    #[test]
    fn each_mark_is_a_value_of_its_field() {
        assert_eq!(filled("user = ? and n = ?"), "user = 'user0' and n = 7");
        assert_eq!(filled("user in (?, ?, ?)"), "user in ('user0', 'user1', 'user2')");
        assert_eq!(filled("n between ? and ? + 3"), "n between 7 and 10");
        assert_eq!(
            filled("at >= ? and at < ?+1h"),
            "at >= 1970-01-01T01:00:00.000Z and at < 1970-01-01T02:00:00.000Z"
        );
        assert_eq!(filled("at >= now - 1d"), "at >= 1970-01-01T00:00:00.000Z");
        assert_eq!(filled("user = 'why?' and n > ? - 2"), "user = 'why?' and n > 5");
    }

    #[test]
    fn a_mark_needs_a_field_and_a_readable_distance() {
        let error = Question::parse("? = 3", 0).unwrap_err().in_text("? = 3");
        assert!(error.message().starts_with("`?` is of no field"), "{error}");
        let text = "at > ? - 1y";
        let error = Question::parse(text, 0).unwrap_err().in_text(text);
        assert!(error.message().contains("offset=9"), "{error}");
    }
}
