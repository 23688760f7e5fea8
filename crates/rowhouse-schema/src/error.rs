//! What is wrong with a template or a query, and at which character; and why a key does not fit.

use std::borrow::Cow;
use std::fmt;

use rowhouse_model::Error;

/// A mistake in a text somebody wrote, before it is folded into [`rowhouse_model::Error`].
#[derive(Debug)]
pub(crate) struct Fault {
    /// Byte offset of the character that is wrong.
    pub(crate) at: usize,
    message: String,
    unsupported: bool,
}

impl Fault {
    pub(crate) fn new(at: usize, message: impl Into<String>) -> Self {
        Self { at, message: message.into(), unsupported: false }
    }

    /// A word that belongs to the language and that this version cannot do.
    pub(crate) fn unsupported(at: usize, word: &str) -> Self {
        let message = format!("`{word}` is not supported yet by this version of rowhouse");
        Self { at, message, unsupported: true }
    }

    pub(crate) fn hint(mut self, hint: impl fmt::Display) -> Self {
        self.message = format!("{}; {hint}", self.message);
        self
    }

    /// The same fault in a text in which this one begins at `offset`.
    pub(crate) fn behind(mut self, offset: usize) -> Self {
        self.at += offset;
        self
    }

    /// The message, the offset in characters, the text, and a caret under the character. Of a text of
    /// several lines, the line and the offset in it.
    pub(crate) fn in_text(self, text: &str) -> Error {
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

    /// The message alone, for what was never written as text.
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
/// Not an error of the query: a table may hold rows that were written before the template was
/// declared, or by somebody who never heard of it. They are shown as bytes and counted.
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
pub struct NotFitting {
    /// The offset in the key, in bytes, from which on it does not fit.
    pub at: usize,
    /// What the template asks for there.
    pub why: Cow<'static, str>,
}

impl NotFitting {
    pub(crate) fn new(at: usize, why: impl Into<Cow<'static, str>>) -> Self {
        Self { at, why: why.into() }
    }
}

impl fmt::Display for NotFitting {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "key does not fit: {}: at={}", self.why, self.at)
    }
}

impl std::error::Error for NotFitting {}

impl From<NotFitting> for Error {
    fn from(why: NotFitting) -> Self {
        Error::invalid(why.to_string()).with_source(why)
    }
}
