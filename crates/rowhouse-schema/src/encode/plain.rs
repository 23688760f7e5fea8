//! Characters and bytes in plain text, as templates and queries write them.

use crate::value::parse_hex;

/// Parses bytes in the form `0x00ff` or `x'00ff'`.
pub(crate) fn read_bytes(word: &str) -> Option<Vec<u8>> {
    let quoted = word.strip_prefix("x'").and_then(|rest| rest.strip_suffix('\''));
    let digits = quoted.or_else(|| word.strip_prefix("0x"));
    digits.and_then(parse_hex)
}

/// Returns true if a character needs no escape in a template.
pub(crate) fn is_plain(c: char) -> bool {
    !matches!(c, '[' | ']' | '\\') && !c.is_whitespace() && !c.is_control()
}
