//! The parts of a key, after each of which keys can be grouped.

use crate::KeySchema;

/// The bytes after which a key without a template and of no text may be parted.
const BINARY_PART: usize = 4;

/// Returns where the parts of a key end. With a template they are the fields.
pub(super) fn ends(schema: Option<&KeySchema>, row: &[u8]) -> Vec<usize> {
    match schema {
        Some(schema) => schema.field_ends(row).into_iter().map(|(_, end)| end).collect(),
        None => match std::str::from_utf8(row) {
            Ok(text) if !text.contains(char::is_control) => ends_of_text(text),
            _ => (1..).map(|nth| nth * BINARY_PART).take_while(|end| *end < row.len()).collect(),
        },
    }
}

/// Changes between letters and digits above which a word is a hash or a number in hex.
const CHANGES_MAX: usize = 2;

/// A part of a text is a word with what separates it from the next one. The last word is parted at
/// its number: digits are one part, since the first of them say little about the load.
fn ends_of_text(text: &str) -> Vec<usize> {
    let starts = text.char_indices().zip(text.chars().skip(1));
    let after = |((at, char), next): ((usize, char), char)| {
        (!char.is_alphanumeric() && next.is_alphanumeric()).then_some(at + char.len_utf8())
    };
    let mut ends: Vec<usize> = starts.filter_map(after).collect();
    let last = ends.last().copied().unwrap_or(0);
    let word = &text[last..];
    let pairs = word.char_indices().zip(word.char_indices().skip(1));
    let changes = pairs.filter(|((_, one), (_, next))| {
        next.is_alphanumeric() && one.is_alphabetic() != next.is_alphabetic()
    });
    let changes: Vec<usize> = changes.map(|(_, (at, _))| last + at).collect();
    if changes.len() <= CHANGES_MAX {
        ends.extend(changes);
    }
    ends
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_parted_at_separators_and_the_last_number_and_bytes_every_four() {
        let parts = |row: &[u8]| {
            let mut ends = ends(None, row);
            ends.push(row.len());
            let starts = std::iter::once(0).chain(ends.clone());
            let parts = starts.zip(&ends).map(|(from, to)| row[from..*to].escape_ascii());
            parts.map(|part| part.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(parts(b"row0000123"), ["row", "0000123"]);
        assert_eq!(parts(b"bob/2023-11"), ["bob/", "2023-", "11"]);
        assert_eq!(parts(b"u7--x"), ["u7--", "x"]);
        assert_eq!(parts(b"u007/3"), ["u007/", "3"]);
        assert_eq!(parts(b"00000a3f09c17"), ["00000a3f09c17"]);
        assert_eq!(parts(b"\x00\x00\x00\x01\xff\xff"), ["\\x00\\x00\\x00\\x01", "\\xff\\xff"]);
        let schema = KeySchema::parse("[user string][n u8]").unwrap();
        assert_eq!(ends_of(&schema, b"bob\x00\x01\x07"), [5, 6]);
    }

    fn ends_of(schema: &KeySchema, row: &[u8]) -> Vec<usize> {
        ends(Some(schema), row)
    }
}
