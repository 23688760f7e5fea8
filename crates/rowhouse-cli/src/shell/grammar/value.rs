//! Values in command arguments.

use std::fmt;

use rowhouse::Bytes;
use rowhouse::key::escape;

/// One command argument, or a part of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// A text. It holds bytes, because escapes in double quotes can express any byte.
    Text(Bytes),
    /// A whole number.
    Integer(i64),
    /// A number with a fraction or an exponent, as Ruby prints it.
    Decimal(String),
    /// A bare upper-case word. In HBase's shell the value is the word itself.
    Constant(String),
    /// `true` or `false`.
    Boolean(bool),
    /// `nil`.
    Nil,
    /// `[…]`.
    Array(Vec<Value>),
    /// `{…}`, or the pairs that end a call.
    Hash(Hash),
}

/// Pairs, in the order written.
pub(crate) type Hash = Vec<(String, Value)>;

impl Value {
    /// Returns the bytes into which HBase's shell converts the value where it expects a text, or
    /// `None` for nil, arrays and hashes.
    pub(crate) fn to_bytes(&self) -> Option<Bytes> {
        match self {
            Self::Text(bytes) => Some(bytes.clone()),
            Self::Integer(number) => Some(number.to_string().into()),
            Self::Decimal(number) => Some(number.clone().into()),
            Self::Constant(name) => Some(name.clone().into()),
            Self::Boolean(truth) => Some(truth.to_string().into()),
            Self::Nil | Self::Array(_) | Self::Hash(_) => None,
        }
    }

    /// Returns the type name, for messages.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Text(_) => "a text",
            Self::Integer(_) => "a number",
            Self::Decimal(_) => "a number with a fraction",
            Self::Constant(_) => "a constant",
            Self::Boolean(_) => "true or false",
            Self::Nil => "nil",
            Self::Array(_) => "an array",
            Self::Hash(_) => "a hash",
        }
    }
}

impl fmt::Display for Value {
    /// Writes the value in the shell's syntax.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(bytes) => f.write_str(&quoted(bytes)),
            Self::Integer(number) => write!(f, "{number}"),
            Self::Decimal(number) => f.write_str(number),
            Self::Constant(name) => f.write_str(name),
            Self::Boolean(truth) => write!(f, "{truth}"),
            Self::Nil => f.write_str("nil"),
            Self::Array(values) => {
                f.write_str("[")?;
                for (nth, value) in values.iter().enumerate() {
                    write!(f, "{}{value}", if nth == 0 { "" } else { ", " })?;
                }
                f.write_str("]")
            }
            Self::Hash(pairs) => {
                f.write_str("{")?;
                for (nth, (key, value)) in pairs.iter().enumerate() {
                    let comma = if nth == 0 { "" } else { ", " };
                    write!(f, "{comma}{} => {value}", quoted(key.as_bytes()))?;
                }
                f.write_str("}")
            }
        }
    }
}

/// Returns bytes as a shell text: in single quotes if possible, else in double quotes with escapes,
/// so that parsing it returns the same bytes.
pub(crate) fn quoted(bytes: &[u8]) -> String {
    let plain = |byte: &u8| matches!(byte, b' '..=b'~') && !b"'\\".contains(byte);
    if bytes.iter().all(plain) {
        return format!("'{}'", String::from_utf8_lossy(bytes));
    }
    let escaped = escape(bytes).replace('"', "\\\"").replace('#', "\\#");
    format!("\"{escaped}\"")
}
