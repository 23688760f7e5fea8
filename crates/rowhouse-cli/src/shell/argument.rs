//! An argument or option value, as the type that the command takes. Errors begin with the argument
//! name.

use rowhouse::Bytes;

use super::failure::{Failure, Result, usage_error};
use super::grammar::Value;

/// Returns a value as UTF-8.
pub(crate) fn text(name: &str, value: &Value) -> Result<String> {
    let bytes = bytes(name, value)?;
    String::from_utf8(bytes.to_vec())
        .map_err(|_| Failure::Usage(format!("{name} must be UTF-8: {value}")))
}

/// Returns a value as bytes.
pub(crate) fn bytes(name: &str, value: &Value) -> Result<Bytes> {
    value
        .to_bytes()
        .ok_or_else(|| Failure::Usage(format!("{name} must be a text, not {}", value.kind())))
}

/// Returns a value as a number.
pub(crate) fn integer(name: &str, value: &Value) -> Result<i64> {
    match value {
        Value::Integer(number) => Ok(*number),
        other => usage_error(format!("{name} must be a number, not {}: {other}", other.kind())),
    }
}
