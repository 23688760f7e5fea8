//! Text that comes from data, for output whose lines mean something.

use rowhouse::escape;

/// The text without what would break the line or move a terminal's cursor: that is `\xHH`, and so is a
/// backslash.
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
