//! Java's regular expressions, executed by the crate `fancy-regex`.
//!
//! The two dialects differ in the meaning of the same syntax (`\d`, `.`, `$`, case, nested
//! classes). An expression is therefore parsed as Java does and translated with every meaning made
//! explicit. Syntax without a translation is an error that names its position. Matching is bounded:
//! exceeding the limit is an error.

mod class;
mod escapes;
mod flags;
mod groups;
mod names;
mod translate;

use super::charset::Charset;
use super::{RegexEngine, RegexPattern};
use crate::{Error, ErrorKind, Result};

/// Most backtracking steps of a match: about a third of a second.
const BACKTRACK_STEPS_MAX: usize = 4_000_000;

/// Memory limits in bytes for one compiled expression, and for all expressions of one filter
/// together.
const PROGRAM_BYTES_MAX: usize = 10 << 20;
const PROGRAMS_BYTES_MAX: usize = 64 << 20;

/// Memory limit in bytes of an expression's DFA cache.
const CACHE_BYTES_MAX: usize = 1 << 20;

/// Memory limit in bytes for each regular expression of a filter.
#[derive(Clone, Copy, Debug)]
pub(in crate::filter) struct RegexMemoryLimit(usize);

impl RegexMemoryLimit {
    /// Divides the filter's limit evenly among this many expressions.
    pub(in crate::filter) fn for_several(regexes: usize) -> Self {
        Self((PROGRAMS_BYTES_MAX / regexes.max(1)).min(PROGRAM_BYTES_MAX))
    }
}

/// A compiled expression.
#[derive(Clone, Debug)]
pub(super) struct Regex {
    regex: fancy_regex::Regex,
    charset: Charset,
    pattern: String,
}

impl Regex {
    /// Compiles an expression.
    ///
    /// # Errors
    /// `InvalidRequest` for an expression that Java rejects, `Unsupported` for one that is not
    /// supported here or exceeds the memory limit. Both contain the expression, and the position if
    /// there is one.
    pub(super) fn start(pattern: &RegexPattern, room: RegexMemoryLimit) -> Result<Self> {
        let translated = translate::translate(&pattern.pattern, pattern.flags, pattern.engine)?;
        Self::build(pattern, &translated.regex, room)
    }

    /// Compiles a translated expression.
    fn build(pattern: &RegexPattern, translated: &str, room: RegexMemoryLimit) -> Result<Self> {
        let charset = Charset::named(&pattern.charset)?;
        let regex = fancy_regex::RegexBuilder::new(translated)
            .backtrack_limit(BACKTRACK_STEPS_MAX)
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

    /// Returns whether the expression occurs anywhere in the text.
    ///
    /// # Errors
    /// `InvalidRequest` if the match exceeds the step limit.
    pub(super) fn is_found_in(&self, bytes: &[u8]) -> Result<bool> {
        let text = self.charset.decode(bytes);
        self.regex.is_match(&*text).map_err(|_| {
            Error::invalid(format!(
                "regular expression takes too long: steps_back_max={BACKTRACK_STEPS_MAX}, len={}, \
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
        Ok(Self { regex: Regex::build(&pattern, &whole, RegexMemoryLimit::for_several(1))? })
    }

    /// Returns whether the expression matches all of `text`.
    ///
    /// # Errors
    /// `InvalidRequest` if the match exceeds the step limit.
    pub fn matches(&self, text: &str) -> Result<bool> {
        self.regex.is_found_in(text.as_bytes())
    }
}

impl RegexPattern {
    /// Only `\n` ends a line.
    pub const UNIX_LINES: i32 = 0x01;
    /// Ignores case: of ASCII letters, or of all letters if [`RegexPattern::UNICODE_CASE`] is also
    /// set.
    pub const CASE_INSENSITIVE: i32 = 0x02;
    /// Ignores white space, and comments that begin with `#`.
    pub const COMMENTS: i32 = 0x04;
    /// `^` and `$` also match at lines.
    pub const MULTILINE: i32 = 0x08;
    /// The expression is a literal string.
    pub const LITERAL: i32 = 0x10;
    /// `.` matches any character, line ends included.
    pub const DOTALL: i32 = 0x20;
    /// Case-insensitive matching applies to all letters.
    pub const UNICODE_CASE: i32 = 0x40;
    /// Canonically equivalent characters match; not supported here.
    pub const CANON_EQ: i32 = 0x80;
    /// `\d`, `\w`, `\s` and the POSIX classes use Unicode definitions.
    pub const UNICODE_CHARACTER_CLASS: i32 = 0x100;

    /// Creates an expression in UTF-8 for Java's own engine, as `new RegexStringComparator(pattern,
    /// flags)` does; without flags HBase uses [`RegexPattern::DOTALL`]. Flags that the expression
    /// sets itself, for example with a leading `(?i)`, are added, as in Java.
    ///
    /// # Errors
    /// `InvalidRequest` for an expression that Java rejects, `Unsupported` for one that is not
    /// supported here.
    pub fn new(pattern: impl Into<String>, flags: i32) -> Result<Self> {
        let mut pattern = Self {
            pattern: pattern.into(),
            flags,
            charset: "UTF-8".into(),
            engine: RegexEngine::Java,
        };
        Regex::start(&pattern, RegexMemoryLimit::for_several(1))?;
        pattern.flags = translate::translate(&pattern.pattern, flags, pattern.engine)?.flags;
        Ok(pattern)
    }
}

/// The reason for rejecting an expression, without the expression's text.
#[derive(Debug)]
struct PatternError {
    kind: ErrorKind,
    what: String,
    /// Index of the offending character.
    at: usize,
}

impl PatternError {
    /// Creates the error for an expression that Java rejects.
    fn invalid(what: impl Into<String>, at: usize) -> Self {
        Self { kind: ErrorKind::InvalidRequest, what: what.into(), at }
    }

    /// Creates the error for an expression that Java accepts.
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
