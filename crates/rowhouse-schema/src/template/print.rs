//! Printing elements.

use std::fmt;

use crate::encode::is_plain;

/// Prints a literal; parsing it returns the same bytes.
pub(crate) fn print_literal(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '[' | ']' | '\\' => write!(f, "\\{c}")?,
                c if is_plain(c) => write!(f, "{c}")?,
                c => print_hex(c.encode_utf8(&mut [0; 4]).as_bytes(), f)?,
            }
        }
        print_hex(chunk.invalid(), f)?;
    }
    Ok(())
}

fn print_hex(bytes: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(f, "\\x{byte:02X}"))
}
