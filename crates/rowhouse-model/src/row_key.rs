//! The limits of row keys.

use crate::{Error, Result};

/// Longest row key in bytes: HBase stores the length in a signed 16-bit number.
pub const ROW_LEN_MAX: usize = i16::MAX as usize;

/// Checks that `row` is a valid row key: not empty, at most [`ROW_LEN_MAX`] bytes.
pub fn check_row(row: &[u8]) -> Result<()> {
    if row.is_empty() {
        return Err(Error::invalid("Row length is 0"));
    }
    if row.len() > ROW_LEN_MAX {
        return Err(Error::invalid(format!("Row length {} is > {ROW_LEN_MAX}", row.len())));
    }
    Ok(())
}
