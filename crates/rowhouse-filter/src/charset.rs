//! Decodes bytes in Java's charsets. Malformed input decodes to U+FFFD.

use std::borrow::Cow;

use rowhouse_model::{Error, Result};

/// A comparator's charset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Charset {
    Utf8,
    Latin1,
    Ascii,
    /// Big-endian unless a byte order mark says otherwise.
    Utf16,
    Utf16Be,
    Utf16Le,
}

/// Java's charset names; the first is the canonical name.
const NAMES: [(Charset, &[&str]); 6] = [
    (Charset::Utf8, &["UTF-8", "UTF8", "unicode-1-1-utf-8"]),
    (Charset::Latin1, &["ISO-8859-1", "ISO8859_1", "ISO8859-1", "latin1", "l1", "cp819"]),
    (Charset::Ascii, &["US-ASCII", "ASCII", "ISO646-US", "us", "646"]),
    (Charset::Utf16, &["UTF-16", "UTF_16", "UnicodeBig", "unicode"]),
    (Charset::Utf16Be, &["UTF-16BE", "UTF_16BE", "X-UTF-16BE", "UnicodeBigUnmarked"]),
    (Charset::Utf16Le, &["UTF-16LE", "UTF_16LE", "X-UTF-16LE", "UnicodeLittleUnmarked"]),
];

impl Charset {
    /// Returns the charset with this name, ignoring case.
    ///
    /// # Errors
    /// `Unsupported` for any other name.
    pub(crate) fn named(name: &str) -> Result<Self> {
        let is_called = |names: &[&str]| names.iter().any(|known| known.eq_ignore_ascii_case(name));
        NAMES.iter().find(|(_, names)| is_called(names)).map(|&(charset, _)| charset).ok_or_else(
            || {
                let known: Vec<_> = NAMES.iter().map(|(_, names)| names[0]).collect();
                Error::unsupported(format!(
                    "charset of a RegexStringComparator is not supported: charset={name}, supported={}",
                    known.join(", ")
                ))
            },
        )
    }

    /// Decodes bytes as text.
    pub(crate) fn decode(self, bytes: &[u8]) -> Cow<'_, str> {
        match self {
            Self::Utf8 => String::from_utf8_lossy(bytes),
            Self::Latin1 => bytes.iter().map(|&byte| char::from(byte)).collect(),
            Self::Ascii => bytes.iter().map(|&byte| ascii(byte)).collect(),
            Self::Utf16 => match bytes {
                [0xFF, 0xFE, rest @ ..] => utf16(rest, u16::from_le_bytes),
                [0xFE, 0xFF, rest @ ..] => utf16(rest, u16::from_be_bytes),
                _ => utf16(bytes, u16::from_be_bytes),
            },
            Self::Utf16Be => utf16(bytes, u16::from_be_bytes),
            Self::Utf16Le => utf16(bytes, u16::from_le_bytes),
        }
    }
}

fn ascii(byte: u8) -> char {
    if byte.is_ascii() { char::from(byte) } else { char::REPLACEMENT_CHARACTER }
}

fn utf16(bytes: &[u8], read: fn([u8; 2]) -> u16) -> Cow<'_, str> {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let units = pairs.iter().map(|&pair| read(pair));
    let mut text: String =
        char::decode_utf16(units).map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
    if !rest.is_empty() {
        text.push(char::REPLACEMENT_CHARACTER);
    }
    text.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_read_in_each_charset() {
        let read = |name, bytes| Charset::named(name).unwrap().decode(bytes).into_owned();
        assert_eq!(read("utf-8", b"\xC3\xA4\xFF"), "ä\u{FFFD}");
        assert_eq!(read("ISO-8859-1", b"a\xE4"), "aä");
        assert_eq!(read("US-ASCII", b"a\xE4"), "a\u{FFFD}");
        assert_eq!(read("UTF-16", b"\0a\xD8\x3D\xDE\0\0"), "a😀\u{FFFD}");
        assert_eq!(read("UTF-16", b"\xFF\xFEa\0"), "a");
        assert_eq!(read("UTF-16LE", b"a\0\0\xD8"), "a\u{FFFD}");
    }

    #[test]
    fn another_charset_is_refused_by_name() {
        let error = Charset::named("Big5").unwrap_err();
        assert!(error.message().contains("charset=Big5"), "{error}");
    }
}
