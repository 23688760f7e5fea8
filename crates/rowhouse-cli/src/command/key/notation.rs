//! Key and value notation, in text and in JSON.

use std::fmt::Write;

use rowhouse::key::{escape, unescape};
use rowhouse::{Error, Result, Value};
use rowhouse_model::escape_line;
use serde_json::Value as Json;

use super::zone::Zone;

/// The notation of keys.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(super) struct Notation {
    /// Keys are hexadecimal, instead of text with \xHH
    #[arg(long)]
    hex: bool,
}

impl Notation {
    /// Returns a key as text.
    pub(super) fn print(self, key: &[u8]) -> String {
        if self.hex { hex(key) } else { escape(key) }
    }

    /// Parses the bytes of a key.
    pub(super) fn read(self, text: &str) -> Result<Vec<u8>> {
        if !self.hex {
            return unescape(text);
        }
        let digit = |c: u8| char::from(c).to_digit(16).map(|digit| digit as u8);
        let byte = |pair: &[u8]| match pair {
            [high, low] => Some(digit(*high)? << 4 | digit(*low)?),
            _ => None,
        };
        text.as_bytes().chunks(2).map(byte).collect::<Option<_>>().ok_or_else(|| {
            Error::invalid(format!("expected pairs of hexadecimal digits: key={text}"))
        })
    }
}

/// Returns a value on one line, as queries write it: texts are in single quotes, and characters
/// that would break the line or move a terminal's cursor are written `\xHH`.
pub(super) fn text(value: &Value, zone: Zone) -> String {
    match value {
        Value::Text(content) => format!("'{}'", escape_line(content).replace('\'', "''")),
        Value::Uuid(uuid) => format!("'{uuid}'"),
        Value::Time(time) => zone.print(*time),
        Value::List(values) => {
            let values: Vec<_> = values.iter().map(|value| text(value, zone)).collect();
            format!("({})", values.join(", "))
        }
        other => other.to_string(),
    }
}

/// Returns a value in JSON. Integers of more than 64 bits, decimals, numbers that are not finite,
/// times, bytes and uuids are text.
pub(super) fn json(value: &Value, zone: Zone) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Bool(flag) => (*flag).into(),
        Value::Unsigned(number) => {
            number_or_text(number, u64::try_from(*number).ok().map(Json::from))
        }
        Value::Signed(number) => {
            number_or_text(number, i64::try_from(*number).ok().map(Json::from))
        }
        // JSON has no infinity.
        Value::Float(float) if float.get().is_finite() => float.get().into(),
        Value::Text(text) => text.as_str().into(),
        Value::Time(time) => zone.print(*time).into(),
        Value::List(values) => values.iter().map(|value| json(value, zone)).collect(),
        other => other.to_string().into(),
    }
}

/// Returns `fitting`, the number in 64 bits, if there is one; otherwise its digits as text.
fn number_or_text(number: impl ToString, fitting: Option<Json>) -> Json {
    fitting.unwrap_or_else(|| number.to_string().into())
}

fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        write!(text, "{byte:02x}").expect("writing to a String cannot fail");
    }
    text
}
