//! The values of counters.

use crate::{Error, Result};

/// Decodes a counter's value or an amount.
///
/// # Errors
/// `InvalidRequest` with HBase's message if the value is not eight bytes.
pub fn counter_value(value: &[u8]) -> Result<i64> {
    let bytes = value.try_into().map_err(|_| {
        Error::invalid(format!("Field is not a long, it's {} bytes wide", value.len()))
    })?;
    Ok(i64::from_be_bytes(bytes))
}
