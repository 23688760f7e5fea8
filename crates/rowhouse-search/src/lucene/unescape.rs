//! Backslashes in words, phrases and range ends.

use rowhouse_schema::Fault;

/// Returns a text without the backslashes. `\u` and four hexadecimal digits are a UTF-16 unit, and
/// any other character after a backslash is itself. The text begins at byte `at` in the query.
pub(super) fn unescaped(text: &str, at: usize) -> Result<String, Fault> {
    if !text.contains('\\') {
        return Ok(text.to_owned());
    }
    let mut units = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let place = at + text.len() - rest.len();
        rest = &rest[c.len_utf8()..];
        if c != '\\' {
            units.extend_from_slice(c.encode_utf16(&mut [0; 2]));
        } else if let Some(digits) = rest.strip_prefix('u') {
            let (unit, after) = unit(digits)
                .ok_or_else(|| Fault::new(place, "`\\u` needs four hexadecimal digits after it"))?;
            units.push(unit);
            rest = after;
        } else {
            let escaped = rest.chars().next().ok_or_else(|| {
                Fault::new(place, "`\\` needs a character after it")
                    .hint("write \\\\ for a backslash")
            })?;
            units.extend_from_slice(escaped.encode_utf16(&mut [0; 2]));
            rest = &rest[escaped.len_utf8()..];
        }
    }
    String::from_utf16(&units)
        .map_err(|_| Fault::new(at, "`\\u` with half of a character, without the other half"))
}

fn unit(text: &str) -> Option<(u16, &str)> {
    let (digits, after) = text.split_at_checked(4)?;
    let is_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let unit = u16::from_str_radix(digits, 16).ok().filter(|_| is_hex)?;
    Some((unit, after))
}
