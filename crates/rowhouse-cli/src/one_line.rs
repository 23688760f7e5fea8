//! Escaping of text from data, for output in which lines are significant.

use rowhouse::key::escape;

/// Returns the text with characters that would break the line or move a terminal's cursor as
/// `\xHH`, and backslashes escaped in the same way.
pub(crate) fn on_one_line(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => shown.push_str("\\x5C"),
            c if c.is_control() => shown.push_str(&escape(c.encode_utf8(&mut [0; 4]).as_bytes())),
            c => shown.push(c),
        }
    }
    shown
}
