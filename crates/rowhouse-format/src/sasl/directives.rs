//! The directives that a DIGEST-MD5 message consists of: `name=value`, `name="value"`, joined by
//! commas.

use rowhouse_model::{Error, Result};

use super::MESSAGE_LEN_MAX;
use crate::exception::malformed;

/// A message's directives, in order.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct Directives(Vec<(String, String)>);

impl Directives {
    /// Parses a message.
    ///
    /// # Errors
    /// `Protocol` for a message that is too long, that is not such a list, or that has a directive
    /// twice.
    pub(super) fn parse(bytes: &[u8]) -> Result<Self> {
        if bytes.len() > MESSAGE_LEN_MAX {
            let len = bytes.len();
            return Err(invalid(format_args!("too long: len={len}, max={MESSAGE_LEN_MAX}")));
        }
        let text = std::str::from_utf8(bytes).map_err(|_| invalid("not UTF-8"))?;
        let mut rest = text.trim_start_matches(is_filler);
        let mut directives: Vec<(String, String)> = Vec::new();
        while !rest.is_empty() {
            let (name, after) = rest.split_once('=').ok_or_else(|| invalid("no `=`"))?;
            let name = name.trim();
            if name.is_empty()
                || !name.bytes().all(|byte| byte.is_ascii_alphabetic() || byte == b'-')
            {
                return Err(invalid("a name is not a word"));
            }
            if directives.iter().any(|(other, _)| other == name) {
                return Err(invalid(format_args!("`{name}` occurs twice")));
            }
            let (value, after) = take_value(after.trim_start())?;
            directives.push((name.to_owned(), value));
            let after = after.trim_start();
            if !after.is_empty() && !after.starts_with(',') {
                return Err(invalid(format_args!("no comma after `{name}`")));
            }
            rest = after.trim_start_matches(is_filler);
        }
        Ok(Self(directives))
    }

    /// Returns a directive's value.
    pub(super) fn value(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(has, _)| has == name).map(|(_, value)| &**value)
    }

    /// Returns the value of a directive that must be there.
    pub(super) fn required(&self, name: &str) -> Result<String> {
        self.value(name).map(str::to_owned).ok_or_else(|| invalid(format_args!("no `{name}`")))
    }
}

fn is_filler(c: char) -> bool {
    c == ',' || c.is_ascii_whitespace()
}

/// Takes a value off the front of `text`; returns it and the rest.
fn take_value(text: &str) -> Result<(String, &str)> {
    let Some(quoted) = text.strip_prefix('"') else {
        let end = text.find(is_filler).unwrap_or(text.len());
        return Ok((text[..end].to_owned(), &text[end..]));
    };
    let mut value = String::new();
    let mut chars = quoted.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '"' => return Ok((value, &quoted[at + 1..])),
            '\\' => value.extend(chars.next().map(|(_, c)| c)),
            c => value.push(c),
        }
    }
    Err(invalid("a quotation mark is missing"))
}

/// Appends `name="value"`.
pub(super) fn push_quoted(out: &mut String, name: &str, value: &str) {
    push_name(out, name);
    out.push('"');
    for c in value.chars() {
        if matches!(c, '"' | '\\') {
            out.push('\\');
        }
        out.push(c);
    }
    out.push('"');
}

/// Appends `name=value`.
pub(super) fn push_plain(out: &mut String, name: &str, value: &str) {
    push_name(out, name);
    out.push_str(value);
}

fn push_name(out: &mut String, name: &str) {
    if !out.is_empty() {
        out.push(',');
    }
    out.push_str(name);
    out.push('=');
}

/// Returns the error for a message that does not follow RFC 2831.
pub(super) fn invalid(why: impl std::fmt::Display) -> Error {
    malformed(format!("DIGEST-MD5: {why}"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn directives_are_parsed_with_quotes_blanks_and_empty_elements() {
        let parsed = Directives::parse(br#",a = 1 ,, b="x\"y\\,=",c="" "#).unwrap();
        assert_eq!(parsed.value("a"), Some("1"));
        assert_eq!(parsed.value("b"), Some(r#"x"y\,="#));
        assert_eq!(parsed.value("c"), Some(""));
        assert_eq!(parsed.value("d"), None);
    }

    #[test]
    fn malformed_directives_are_refused_with_the_reason() {
        for (text, why) in [
            (&b"a"[..], "no `=`"),
            (b"=1", "a name is not a word"),
            (b"a b=1", "a name is not a word"),
            (b"a=1,a=2", "`a` occurs twice"),
            (b"a=\"1", "a quotation mark is missing"),
            (b"a=\"1\"2", "no comma after `a`"),
            (b"a=\xFF", "not UTF-8"),
            (&[b'a'; MESSAGE_LEN_MAX + 1], "too long"),
        ] {
            let error = Directives::parse(text).err().unwrap();
            assert!(error.message().contains(why), "{error}");
        }
    }

    proptest! {
        #[test]
        fn quoted_values_are_parsed_as_written(first in "\\PC{0,20}", second in "\\PC{0,20}") {
            let mut text = String::new();
            push_quoted(&mut text, "a", &first);
            push_quoted(&mut text, "b", &second);
            let parsed = Directives::parse(text.as_bytes()).unwrap();
            prop_assert_eq!(parsed.value("a"), Some(&*first));
            prop_assert_eq!(parsed.value("b"), Some(&*second));
        }

        #[test]
        fn rubbish_never_panics(bytes: Vec<u8>) {
            let _ = Directives::parse(&bytes);
        }
    }
}
