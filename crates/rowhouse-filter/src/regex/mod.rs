//! Java's regular expressions, executed by the crate `fancy-regex`.
//!
//! The two dialects differ in what the same syntax means (`\d`, `.`, `$`, case, nested classes). An
//! expression is therefore parsed as Java does and translated with every meaning made explicit.
//! Syntax without a translation is an error that names the position. Matching is bounded: exceeding
//! the limit is an error.

mod class;
mod error;
mod escapes;
mod flags;
mod groups;
mod names;
mod translate;

use rowhouse_model::{Comparator, Error, Filter, RegexPattern, Result};

use crate::charset::Charset;
use crate::depth::check_depth;

/// How many backtracking steps a match takes at most: about a third of a second.
const BACKTRACK_STEPS_MAX: usize = 4_000_000;

/// Memory limits in bytes for one compiled expression, and for all expressions in one filter
/// together.
const PROGRAM_BYTES_MAX: usize = 10 << 20;
const PROGRAMS_BYTES_MAX: usize = 64 << 20;

/// Memory limit in bytes for an expression's DFA cache.
const CACHE_BYTES_MAX: usize = 1 << 20;

/// Memory limit in bytes for each regular expression in a filter.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RegexMemoryLimit(usize);

impl RegexMemoryLimit {
    /// Divides the filter's limit evenly among this many expressions.
    pub(crate) fn for_several(regexes: usize) -> Self {
        Self((PROGRAMS_BYTES_MAX / regexes.max(1)).min(PROGRAM_BYTES_MAX))
    }
}

/// A compiled expression.
#[derive(Clone, Debug)]
pub(crate) struct Regex {
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
    pub(crate) fn start(pattern: &RegexPattern, room: RegexMemoryLimit) -> Result<Self> {
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
                    "regular expression cannot be compiled: {source}: bytes_max={}, expression={}",
                    room.0, pattern.pattern
                ))
            })?;
        Ok(Self { regex, charset, pattern: pattern.pattern.clone() })
    }

    /// Returns true if the expression occurs anywhere in the text.
    ///
    /// # Errors
    /// `InvalidRequest` if the match exceeds the step limit.
    pub(crate) fn has_match_in(&self, bytes: &[u8]) -> Result<bool> {
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
    /// `InvalidRequest` for an expression that Java rejects, `Unsupported` for one that is not
    /// supported here.
    pub fn new(pattern: &str) -> Result<Self> {
        let pattern = RegexPattern::new(pattern, 0);
        let translated = translate::translate(&pattern.pattern, pattern.flags, pattern.engine)?;
        let whole = format!(r"\A(?:{})\z", translated.regex);
        Ok(Self { regex: Regex::build(&pattern, &whole, RegexMemoryLimit::for_several(1))? })
    }

    /// Returns true if the expression matches all of `text`.
    ///
    /// # Errors
    /// `InvalidRequest` if the match exceeds the step limit.
    pub fn matches(&self, text: &str) -> Result<bool> {
        self.regex.has_match_in(text.as_bytes())
    }
}

/// Compiles each regular expression in a filter, and adds the flags that the expression sets itself
/// (a leading `(?i)`, for example) to the filter's flags, as HBase's RegexStringComparator
/// constructor does. A filter that is sent to HBase afterwards has the same bytes as a filter from
/// HBase's own parser.
///
/// # Errors
/// `InvalidRequest` for an expression that Java rejects, and for a filter nested deeper than
/// [`FILTER_DEPTH_MAX`](rowhouse_model::FILTER_DEPTH_MAX); `Unsupported` for an expression that is
/// not supported here.
pub fn with_java_flags(mut filter: Filter) -> Result<Filter> {
    check_depth(&filter)?;
    add_java_flags(&mut filter)?;
    Ok(filter)
}

fn add_java_flags(filter: &mut Filter) -> Result<()> {
    if let Some(Comparator::Regex(pattern)) =
        filter.comparison_mut().map(|comparison| &mut comparison.comparator)
    {
        pattern.flags = java_flags(pattern)?;
    }
    filter.children_mut().iter_mut().try_for_each(add_java_flags)
}

/// Compiles an expression and returns the flags, with the flags that it sets itself.
fn java_flags(pattern: &RegexPattern) -> Result<i32> {
    Regex::start(pattern, RegexMemoryLimit::for_several(1))?;
    Ok(translate::translate(&pattern.pattern, pattern.flags, pattern.engine)?.flags)
}

#[cfg(test)]
mod tests;
