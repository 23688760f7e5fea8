//! Regular expressions of Java's, on the crate `fancy-regex`.
//!
//! The two differ in what the same text means (`\d`, `.`, `$`, case, classes within classes), so that
//! an expression is read as Java reads it and written anew, every meaning spelt out. What cannot be
//! written is refused with its place. Matching is bounded: what takes too long is an error.

mod class;
mod escapes;
mod flags;
mod groups;
mod names;
mod translate;

use super::charset::Charset;
use super::{RegexEngine, RegexPattern};
use crate::{Error, ErrorKind, Result};

/// How often a match may go back to try something else: a third of a second.
const STEPS_BACK_MAX: usize = 4_000_000;

/// The most memory that an expression may take once it is made ready, in bytes; and all of one filter together.
const PROGRAM_BYTES_MAX: usize = 10 << 20;
const PROGRAMS_BYTES_MAX: usize = 64 << 20;

/// The most memory that an expression takes to match faster, in bytes.
const CACHE_BYTES_MAX: usize = 1 << 20;

/// How much memory each of the regular expressions of a filter may take, in bytes.
#[derive(Clone, Copy, Debug)]
pub(in crate::filter) struct RegexRoom(usize);

impl RegexRoom {
    /// Each of so many gets the same share.
    pub(in crate::filter) fn for_several(regexes: usize) -> Self {
        Self((PROGRAMS_BYTES_MAX / regexes.max(1)).min(PROGRAM_BYTES_MAX))
    }
}

/// An expression that is ready.
#[derive(Clone, Debug)]
pub(super) struct Regex {
    regex: fancy_regex::Regex,
    charset: Charset,
    pattern: String,
}

impl Regex {
    /// Makes an expression ready.
    ///
    /// # Errors
    /// `InvalidRequest` for what Java refuses, `Unsupported` for what cannot be had here, or not in the room there is;
    /// both with the expression, and the place if there is one.
    pub(super) fn start(pattern: &RegexPattern, room: RegexRoom) -> Result<Self> {
        let translated = translate::translate(&pattern.pattern, pattern.flags, pattern.engine)?;
        Self::build(pattern, &translated.regex, room)
    }

    /// Compiles the translation of an expression.
    fn build(pattern: &RegexPattern, translated: &str, room: RegexRoom) -> Result<Self> {
        let charset = Charset::named(&pattern.charset)?;
        let regex = fancy_regex::RegexBuilder::new(translated)
            .backtrack_limit(STEPS_BACK_MAX)
            .delegate_size_limit(room.0)
            .delegate_dfa_size_limit(room.0.min(CACHE_BYTES_MAX))
            .build()
            .map_err(|source| {
                Error::unsupported(format!(
                    "regular expression cannot be had here: {source}: bytes_max={}, expression={}",
                    room.0, pattern.pattern
                ))
            })?;
        Ok(Self { regex, charset, pattern: pattern.pattern.clone() })
    }

    /// Whether it is found anywhere in the text that the bytes are.
    ///
    /// # Errors
    /// `InvalidRequest` when it takes too long to say.
    pub(super) fn is_found_in(&self, bytes: &[u8]) -> Result<bool> {
        let text = self.charset.decode(bytes);
        self.regex.is_match(&*text).map_err(|_| {
            Error::invalid(format!(
                "regular expression takes too long: steps_back_max={STEPS_BACK_MAX}, len={}, \
                 expression={}",
                bytes.len(),
                self.pattern
            ))
        })
    }
}

/// A Java regular expression that matches whole texts, as Java's `Matcher.matches`.
#[derive(Clone, Debug)]
pub struct FullMatch {
    regex: Regex,
}

impl FullMatch {
    /// Compiles an expression.
    ///
    /// # Errors
    /// As [`RegexPattern::new`].
    pub fn new(pattern: &str) -> Result<Self> {
        let pattern = RegexPattern::new(pattern, 0)?;
        let translated = translate::translate(&pattern.pattern, pattern.flags, pattern.engine)?;
        let whole = format!(r"\A(?:{})\z", translated.regex);
        Ok(Self { regex: Regex::build(&pattern, &whole, RegexRoom::for_several(1))? })
    }

    /// Whether the expression matches all of `text`.
    ///
    /// # Errors
    /// `InvalidRequest` when it takes too long to say.
    pub fn matches(&self, text: &str) -> Result<bool> {
        self.regex.is_found_in(text.as_bytes())
    }
}

impl RegexPattern {
    /// Only `\n` ends a line.
    pub const UNIX_LINES: i32 = 0x01;
    /// Capitals do not matter: those of ASCII, unless [`RegexPattern::UNICODE_CASE`] is set too.
    pub const CASE_INSENSITIVE: i32 = 0x02;
    /// White space is passed over, and what is behind a `#`.
    pub const COMMENTS: i32 = 0x04;
    /// `^` and `$` stand at lines as well.
    pub const MULTILINE: i32 = 0x08;
    /// The expression is a text that stands for itself.
    pub const LITERAL: i32 = 0x10;
    /// `.` is any character, ends of lines too.
    pub const DOTALL: i32 = 0x20;
    /// Capitals of all languages do not matter.
    pub const UNICODE_CASE: i32 = 0x40;
    /// Characters that are canonically the same are; refused here.
    pub const CANON_EQ: i32 = 0x80;
    /// `\d`, `\w`, `\s` and the classes of POSIX are Unicode's.
    pub const UNICODE_CHARACTER_CLASS: i32 = 0x100;

    /// An expression in UTF-8 for Java's own engine, as `new RegexStringComparator(pattern, flags)`;
    /// without flags HBase takes [`RegexPattern::DOTALL`]. Flags that the expression sets itself, as
    /// `(?i)` at its beginning, are added, because Java does so.
    ///
    /// # Errors
    /// `InvalidRequest` for what Java refuses, `Unsupported` for what cannot be had here.
    pub fn new(pattern: impl Into<String>, flags: i32) -> Result<Self> {
        let mut pattern = Self {
            pattern: pattern.into(),
            flags,
            charset: "UTF-8".into(),
            engine: RegexEngine::Java,
        };
        Regex::start(&pattern, RegexRoom::for_several(1))?;
        pattern.flags = translate::translate(&pattern.pattern, flags, pattern.engine)?.flags;
        Ok(pattern)
    }
}

/// Why an expression cannot be had, before its text is known.
#[derive(Debug)]
struct Refusal {
    kind: ErrorKind,
    what: String,
    /// Which character.
    at: usize,
}

impl Refusal {
    /// What Java refuses.
    fn invalid(what: impl Into<String>, at: usize) -> Self {
        Self { kind: ErrorKind::InvalidRequest, what: what.into(), at }
    }

    /// What Java takes.
    fn unsupported(what: impl Into<String>, at: usize) -> Self {
        Self { kind: ErrorKind::Unsupported, what: what.into(), at }
    }

    fn into_error(self, pattern: &str) -> Error {
        let about = match self.kind {
            ErrorKind::Unsupported => "regular expression is not supported",
            _ => "not a regular expression",
        };
        Error::new(
            self.kind,
            format!("{about}: {}, at={}, expression={pattern}", self.what, self.at),
        )
    }
}

#[cfg(test)]
mod tests;
