//! HBase's printable form for bytes: printable ASCII unchanged, everything else as `\xHH`; and
//! texts in XML.

use std::fmt::Write;

use crate::{Error, Result};

/// Prints bytes as HBase's shell and `Bytes.toStringBinary` do: characters from space to `~`
/// unchanged, the backslash and all other bytes as `\xHH` with upper-case digits.
///
/// ```
/// assert_eq!(rowhouse_model::escape(b"a\\b\x00\xff"), r"a\x5Cb\x00\xFF");
/// ```
pub fn escape(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for &byte in bytes {
        match byte {
            b' '..=b'~' if byte != b'\\' => text.push(byte as char),
            _ => write!(text, "\\x{byte:02X}").expect("writing to a String cannot fail"),
        }
    }
    text
}

/// Parses what [`escape`] returns. Characters outside ASCII stand for their UTF-8 bytes. A
/// backslash that does not begin `\xHH` is an error: HBase silently drops or keeps such bytes,
/// which loses keys.
///
/// ```
/// assert_eq!(&rowhouse_model::unescape(r"a\x00\xff")?[..], b"a\x00\xff");
/// assert!(rowhouse_model::unescape(r"a\q").is_err());
/// # Ok::<(), rowhouse_model::Error>(())
/// ```
pub fn unescape(text: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        if first != b'\\' {
            bytes.push(first);
            rest = tail;
            continue;
        }
        let digit = |at: usize| tail.get(at).and_then(|&c| (c as char).to_digit(16));
        match (tail.first(), digit(1), digit(2)) {
            (Some(b'x'), Some(high), Some(low)) => {
                bytes.push((high * 16 + low) as u8);
                rest = &tail[3..];
            }
            _ => {
                let at = text.len() - rest.len();
                return Err(Error::invalid(format!(
                    "a backslash must begin \\xHH with two hex digits: at={at}, text={text}"
                )));
            }
        }
    }
    Ok(bytes)
}

/// Returns the text with characters that would break the line or move a terminal's cursor as
/// `\xHH`. Backslashes stay: this is for texts that have escapes already.
pub fn escape_controls(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if c.is_control() {
            shown.push_str(&escape(c.encode_utf8(&mut [0; 4]).as_bytes()));
        } else {
            shown.push(c);
        }
    }
    shown
}

/// As [`escape_controls`], with backslashes escaped in the same way.
pub fn escape_line(text: &str) -> String {
    escape_controls(&text.replace('\\', "\\x5C"))
}

/// Returns the text as the content for an element in XML or SVG.
///
/// ```
/// assert_eq!(rowhouse_model::escape_xml("a < b & c"), "a &lt; b &amp; c");
/// ```
pub fn escape_xml(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

/// Returns blank characters that are as wide as the text in a fixed-width font, so that a caret
/// after them stands under the character that follows the text in the line above.
///
/// ```
/// assert_eq!(rowhouse_model::blanks("a = 分\t"), "    \u{3000}\t");
/// ```
pub fn blanks(text: &str) -> String {
    let blank = |c: char| match c {
        '\t' => Some('\t'),
        // Marks that combine with the character before them, and joiners.
        '\u{300}'..='\u{36f}' | '\u{200b}'..='\u{200d}' | '\u{fe00}'..='\u{fe0f}' => None,
        c if is_wide(c) => Some('\u{3000}'),
        _ => Some(' '),
    };
    text.chars().filter_map(blank).collect()
}

/// Returns true for two-column characters: Chinese, Japanese and Korean ones, full-width forms and
/// pictures (the blocks with wide characters in Unicode's annex 11).
fn is_wide(c: char) -> bool {
    matches!(c,
        '\u{1100}'..='\u{115f}' | '\u{2e80}'..='\u{303e}' | '\u{3041}'..='\u{a4cf}'
        | '\u{ac00}'..='\u{d7a3}' | '\u{f900}'..='\u{faff}' | '\u{fe30}'..='\u{fe6f}'
        | '\u{ff00}'..='\u{ff60}' | '\u{ffe0}'..='\u{ffe6}' | '\u{1f300}'..='\u{1faff}'
        | '\u{20000}'..='\u{3fffd}')
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn unescape_undoes_escape(bytes: Vec<u8>) {
            prop_assert_eq!(unescape(&escape(&bytes)).unwrap(), bytes);
        }
    }

    #[test]
    fn text_outside_ascii_is_taken_as_utf8() {
        assert_eq!(unescape("分").unwrap(), "分".as_bytes());
    }
}
