//! Errors in templates and queries, with the position of the mistake, and the reason why a key does
//! not fit a template.

use std::borrow::Cow;
use std::fmt;

use rowhouse_model::Error;

/// A mistake in text that a user wrote, before it becomes a [`rowhouse_model::Error`].
///
/// Parsers of other crates report with it as well, so that all texts show their mistakes alike.
///
/// ```
/// use rowhouse_schema::Fault;
///
/// let error = Fault::new(4, "a word is missing").hint("write one").in_text("one AND");
/// assert_eq!(error.message(), "a word is missing; write one: offset=4\n  one AND\n      ^");
/// ```
#[derive(Debug)]
pub struct Fault {
    /// The byte offset of the wrong character.
    pub at: usize,
    message: String,
    unsupported: bool,
}

impl Fault {
    /// Reports a mistake at byte `at` of the text.
    pub fn new(at: usize, message: impl Into<String>) -> Self {
        Self { at, message: message.into(), unsupported: false }
    }

    /// Reports a word that the language defines and this version does not support.
    pub(crate) fn unsupported(at: usize, word: &str) -> Self {
        let message = format!("`{word}` is not supported yet by this version of rowhouse");
        Self { at, message, unsupported: true }
    }

    /// Reports a word of another system in a build without the feature `foreign`.
    pub(crate) fn without_foreign(at: usize, word: &str) -> Self {
        let message = format!(
            "`{word}` needs the feature `foreign` of rowhouse-schema, which this program was built without"
        );
        Self { at, message, unsupported: true }
    }

    /// Appends advice to the message.
    pub fn hint(mut self, hint: impl fmt::Display) -> Self {
        self.message = format!("{}; {hint}", self.message);
        self
    }

    /// Returns the same fault for a longer text in which this one begins at `offset`.
    pub fn behind(mut self, offset: usize) -> Self {
        self.at += offset;
        self
    }

    /// Returns an error with the message, the offset in characters, the text, and a caret under the
    /// character. For a text of several lines, it has the line number, that line and the offset in
    /// it.
    pub fn in_text(self, text: &str) -> Error {
        let before = text.get(..self.at).unwrap_or_default();
        let start = before.rfind('\n').map_or(0, |end| end + 1);
        let line = text[start..].lines().next().unwrap_or_default();
        let at = before[start..].chars().count();
        let space = " ".repeat(at);
        let shown = if text.is_empty() { String::new() } else { format!("\n  {line}\n  {space}^") };
        let place = match text.contains('\n') {
            true => format!("line={}, offset={at}", before.matches('\n').count() + 1),
            false => format!("offset={at}"),
        };
        self.finish(|message| format!("{message}: {place}{shown}"))
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

/// Why a row key does not fit a template, and at which byte of the key.
///
/// It is not an error of the query: a table may hold rows that were written before the template was
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
    /// The offset in bytes of the first part of the key that does not fit.
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
