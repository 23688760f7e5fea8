//! Errors in templates and queries, with the mistake's position, and the reason why a key does not
//! fit a template.

use std::borrow::Cow;
use std::fmt;

use rowhouse_model::{Error, blanks, full_width_hint};

/// A mistake in text that a user wrote, before it becomes a [`rowhouse_model::Error`].
///
/// Parsers in other crates report with it as well, so that all texts show their mistakes alike.
///
/// ```
/// use rowhouse_schema::Fault;
///
/// let error = Fault::new(4, "a word is missing").hint("write one").in_text("one AND");
/// assert_eq!(error.message(), "a word is missing; write one: offset=4\n  one AND\n      ^");
/// ```
#[derive(Debug)]
pub struct Fault {
    /// The wrong character's byte offset.
    pub at: usize,
    message: String,
    unsupported: bool,
}

impl Fault {
    /// Reports a mistake at byte `at` in the text. A longer message is cut to the first 2,000
    /// characters: it may repeat a word from the text.
    pub fn new(at: usize, message: impl Into<String>) -> Self {
        let message = cut(message.into(), MESSAGE_CHARS_MAX);
        Self { at, message, unsupported: false }
    }

    /// Reports a word that the language defines and this version does not support.
    pub(crate) fn unsupported(at: usize, word: &str) -> Self {
        let message = format!("`{word}` is not supported yet by this version of rowhouse");
        Self { at, message, unsupported: true }
    }

    /// Appends advice to the message.
    pub fn hint(mut self, hint: impl fmt::Display) -> Self {
        self.message = cut(format!("{}; {hint}", self.message), MESSAGE_CHARS_MAX);
        self
    }

    /// Returns the same fault for a longer text in which this one begins at `offset`.
    pub fn shifted(mut self, offset: usize) -> Self {
        self.at += offset;
        self
    }

    /// Returns an error with the message, the offset in characters, the text, and a caret under the
    /// character. For a text with several lines, it has the line number, that line and the offset
    /// in it. For a line with more than 200 characters, it has the part around the character.
    pub fn in_text(self, text: &str) -> Error {
        let before = text.get(..self.at).unwrap_or_default();
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        let line = text[start..].lines().next().unwrap_or_default();
        let at = before[start..].chars().count();
        let (part, caret) = around(line, at);
        let end = part.char_indices().nth(caret).map_or(part.len(), |(end, _)| end);
        let space = blanks(&part[..end]);
        let shown = if text.is_empty() { String::new() } else { format!("\n  {part}\n  {space}^") };
        let place = if text.contains('\n') {
            format!("line={}, offset={at}", before.matches('\n').count() + 1)
        } else {
            format!("offset={at}")
        };
        let hint = full_width_hint(text);
        self.finish(|message| format!("{message}{hint}: {place}{shown}"))
    }

    /// Returns an error with the message only, for a schema that was not parsed from text.
    pub(crate) fn without_text(self) -> Error {
        self.finish(|message| message)
    }

    fn finish(self, message: impl FnOnce(String) -> String) -> Error {
        let message = message(self.message);
        if self.unsupported { Error::unsupported(message) } else { Error::invalid(message) }
    }
}

/// How many characters a message has at most.
const MESSAGE_CHARS_MAX: usize = 2_000;

/// Returns a text, or the beginning if it has more characters.
pub(crate) fn cut(mut text: String, chars_max: usize) -> String {
    if let Some((end, _)) = text.char_indices().nth(chars_max) {
        text.truncate(end);
        text.push('…');
    }
    text
}

/// How many characters of a line an error shows.
const LINE_CHARS_MAX: usize = 200;

/// Returns the line part around a character, and the character's position in the part.
fn around(line: &str, at: usize) -> (Cow<'_, str>, usize) {
    let chars = line.chars().count();
    if chars <= LINE_CHARS_MAX {
        return (line.into(), at);
    }
    let start = at.saturating_sub(LINE_CHARS_MAX / 2).min(chars - LINE_CHARS_MAX);
    let mut part: String = line.chars().skip(start).take(LINE_CHARS_MAX).collect();
    if start + LINE_CHARS_MAX < chars {
        part.push('…');
    }
    if start == 0 {
        return (part.into(), at);
    }
    part.insert(0, '…');
    (part.into(), at - start + 1)
}

/// Why a row key does not fit a template, and at which key byte.
///
/// It is not an error in the query: a table may hold rows that were written before the template was
/// declared, or by a program that does not know it. Such rows are shown as bytes and counted.
///
/// ```
/// use rowhouse_schema::KeySchema;
///
/// let schema = KeySchema::parse("[blogger text]_[at millis digits desc]")?;
/// let why = schema.decode(b"123_92233704").unwrap_err();
/// assert_eq!(why.at, 4);
/// assert_eq!(why.to_string(), "key does not fit: field `at`: needs 19 bytes, 8 are left: at=4");
/// # Ok::<(), rowhouse_model::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyMismatch {
    /// The offset in bytes of the first key part that does not fit.
    pub at: usize,
    /// The reason: what the template requires at that offset.
    pub why: Cow<'static, str>,
}

impl KeyMismatch {
    pub(crate) fn new(at: usize, why: impl Into<Cow<'static, str>>) -> Self {
        Self { at, why: why.into() }
    }
}

impl fmt::Display for KeyMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "key does not fit: {}: at={}", self.why, self.at)
    }
}

impl std::error::Error for KeyMismatch {}

impl From<KeyMismatch> for Error {
    fn from(why: KeyMismatch) -> Self {
        Error::invalid(why.to_string()).with_source(why)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caret_stands_under_its_character_also_after_wide_ones() {
        let text = "a = '分' und b = 1";
        let error = Fault::new(text.find("und").unwrap(), "m").in_text(text);
        let expected = "m: offset=8\n  a = '分' und b = 1\n       \u{3000}  ^";
        assert_eq!(error.message(), expected);
    }

    #[test]
    fn long_line_is_shown_around_the_mistake() {
        let text = format!("{}!{}", "行".repeat(5_000), "b".repeat(5_000_000));
        let shown = |at: usize| {
            let error = Fault::new(at, "wrong").in_text(&text);
            let lines: Vec<_> = error.message().lines().map(str::to_owned).collect();
            let caret = lines[2].chars().count() - 1;
            (lines[1].chars().count(), lines[1].chars().nth(caret).unwrap(), lines[0].clone())
        };
        assert_eq!(shown(0), (2 + 200 + 1, '行', "wrong: offset=0".to_owned()));
        assert_eq!(shown(15_000), (2 + 200 + 2, '!', "wrong: offset=5000".to_owned()));
        let last = text.len() - 1;
        assert_eq!(shown(last), (2 + 200 + 1, 'b', "wrong: offset=5005000".to_owned()));
        let long = format!("expected a value, not {text}");
        let error = Fault::new(0, long).hint("write one").in_text(&text);
        assert!(error.message().chars().count() < 2_300, "{}", error.message());
        let whole = "a".repeat(200);
        let error = Fault::new(200, "wrong").in_text(&whole);
        assert_eq!(
            error.message(),
            format!("wrong: offset=200\n  {whole}\n  {}^", " ".repeat(200))
        );
    }
}
