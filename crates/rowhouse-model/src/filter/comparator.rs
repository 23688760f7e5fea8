//! HBase's comparators, which filters and conditions apply to bytes.

use bytes::Bytes;

/// A comparator with an operator.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The required comparison result.
    pub operator: CompareOperator,
    /// The comparator.
    pub comparator: Comparator,
}

/// HBase's CompareOperator: `Less` requires bytes less than the comparator's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompareOperator {
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `=`
    Equal,
    /// `!=`
    NotEqual,
    /// `>=`
    GreaterOrEqual,
    /// `>`
    Greater,
    /// NO_OP: never satisfied.
    NoOp,
}

/// A comparator: one variant for each HBase class.
#[derive(Clone, Debug, PartialEq)]
pub enum Comparator {
    /// BinaryComparator: compares bytes as unsigned numbers. HBase's null is represented as empty.
    Binary(Bytes),
    /// BinaryPrefixComparator: as `Binary`, for as many bytes as these.
    BinaryPrefix(Bytes),
    /// BinaryComponentComparator: as `Binary`, starting at an offset.
    BinaryComponent {
        /// The bytes.
        value: Bytes,
        /// The offset at which the comparison starts.
        offset: u32,
    },
    /// SubstringComparator: tests whether UTF-8 text contains this text, both in Java's
    /// locale-independent lower case. Only equal or not equal.
    Substring(String),
    /// RegexStringComparator: tests whether a regular expression occurs in text. Only equal or not
    /// equal.
    Regex(RegexPattern),
    /// NullComparator: no existing value equals it.
    Null,
    /// BitComparator: combines two bit strings and tests whether any bit in the result is set. Only
    /// equal or not equal.
    Bit {
        /// The bits.
        value: Bytes,
        /// The bitwise operation.
        operator: BitOperator,
    },
    /// LongComparator: a signed eight-byte big-endian number.
    Long(i64),
    /// BigDecimalComparator: Java's BigDecimal in the `Bytes.toBytes` format.
    BigDecimal(Bytes),
}

/// The bitwise operation in [`Comparator::Bit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BitOperator {
    /// And.
    And,
    /// Or.
    Or,
    /// Exclusive or.
    Xor,
}

/// A regular expression for [`Comparator::Regex`], in Java's syntax.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegexPattern {
    /// The expression.
    pub pattern: String,
    /// `java.util.regex.Pattern`'s flags: [`RegexPattern::CASE_INSENSITIVE`] and others.
    pub flags: i32,
    /// The bytes' charset: UTF-8, ISO-8859-1, US-ASCII, UTF-16, UTF-16BE or UTF-16LE.
    pub charset: String,
    /// The engine that HBase uses.
    pub engine: RegexEngine,
}

/// The engine that HBase uses for a [`RegexPattern`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegexEngine {
    /// `java.util.regex`.
    Java,
    /// Joni.
    Joni,
}

impl RegexPattern {
    /// Only `\n` ends a line.
    pub const UNIX_LINES: i32 = 0x01;
    /// Ignores case: for ASCII letters, or for all letters if [`RegexPattern::UNICODE_CASE`] is
    /// also set.
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
    /// flags)` does; without flags HBase uses [`RegexPattern::DOTALL`]. The expression is compiled
    /// where the filter is executed, so a mistake in it is an error of the read.
    pub fn new(pattern: impl Into<String>, flags: i32) -> Self {
        Self { pattern: pattern.into(), flags, charset: "UTF-8".into(), engine: RegexEngine::Java }
    }
}
