//! Bytes as hexadecimal digits.

/// Returns two lower-case hexadecimal digits for each byte.
///
/// ```
/// use rowhouse_model::{hex, unhex};
///
/// assert_eq!(hex(b"a\xff"), "61ff");
/// assert_eq!(unhex("61fF").unwrap(), b"a\xff");
/// assert!(unhex("6").is_none() && unhex("+6").is_none());
/// ```
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the bytes for hexadecimal digits, two each, in lower or upper case; `None` for another
/// text.
pub fn unhex(text: &str) -> Option<Vec<u8>> {
    let is_hex = text.len().is_multiple_of(2) && text.bytes().all(|it| it.is_ascii_hexdigit());
    let byte = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).ok();
    is_hex.then(|| (0..text.len()).step_by(2).map(byte).collect()).flatten()
}
