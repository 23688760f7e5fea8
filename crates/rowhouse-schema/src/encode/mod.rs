//! The bytes of values: one file per kind of encoding, both directions together.

mod number;
mod string;
mod text;

use crate::error::{Fault, NotFitting};
use crate::field::{FieldType, Modifiers};
use crate::time::{TimeLiteral, TimeZone};
use crate::value::Value;

pub(crate) use number::{Number, integer, is_count};
pub(crate) use string::Terminated;
pub(crate) use text::{Text, TextEnd, ends_at_its_end};

/// How the values of one field become bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Codec {
    /// Fixed width, ordered: numbers, times, digits.
    Number(Number),
    /// Escaped and terminated.
    String(Terminated),
    /// As it is.
    Text(Text),
}

impl Codec {
    /// The codec of a field; `end` says where it would end if it were a text.
    pub(crate) fn new(field_type: FieldType, modifiers: Modifiers, end: TextEnd) -> Self {
        match field_type {
            FieldType::Text => Self::Text(Text { end }),
            FieldType::String => Self::String(Terminated { desc: modifiers.desc }),
            FieldType::Unsigned { .. }
            | FieldType::Signed { .. }
            | FieldType::Time { .. }
            | FieldType::Digits { .. } => Self::Number(Number::new(field_type, modifiers)),
        }
    }

    /// The number of bytes, if it is always the same.
    pub(crate) fn width(&self) -> Option<usize> {
        match self {
            Self::Number(number) => Some(number.width()),
            Self::String(_) | Self::Text(_) => None,
        }
    }

    /// Appends a value's bytes, or says what is wrong with the value.
    pub(crate) fn encode(&self, value: &Value, out: &mut Vec<u8>) -> Result<(), String> {
        match self {
            Self::Number(number) => number.encode(value, out),
            Self::String(string) => {
                string.put(text_of(value)?, out);
                Ok(())
            }
            Self::Text(text) => text.encode(text_of(value)?, out),
        }
    }

    /// The value that somebody wrote as plain text, without quotes.
    pub(crate) fn read(&self, text: &str) -> Result<Value, Fault> {
        let Self::Number(number) = self else { return Ok(text.into()) };
        match integer(text) {
            Some(count) if number.unit().is_none() || is_count(text) => Ok(count.into()),
            _ if number.unit().is_some() => {
                Ok(TimeLiteral::parse(text)?.instant(&TimeZone::UTC)?.into())
            }
            _ => Err(Fault::new(0, "expected a whole number")),
        }
    }

    /// Reads the value that begins at `at` and says where it ends.
    pub(crate) fn decode(&self, key: &[u8], at: usize) -> Result<(Value, usize), NotFitting> {
        match self {
            Self::Number(number) => number.decode(key, at),
            Self::String(string) => string.decode(key, at),
            Self::Text(text) => text.decode(key, at),
        }
    }
}

fn text_of(value: &Value) -> Result<&str, String> {
    value.as_str().ok_or_else(|| format!("takes a text, not {}", value.described()))
}

/// The text of these bytes of a key, which begin at `at`.
fn utf8(bytes: Vec<u8>, at: usize) -> Result<Value, NotFitting> {
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Value::Text(text)),
        Err(error) => Err(NotFitting::new(at + error.utf8_error().valid_up_to(), "not UTF-8")),
    }
}
