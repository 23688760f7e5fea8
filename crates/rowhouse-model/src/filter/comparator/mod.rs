//! HBase's comparators, which filters and conditions apply to bytes.
//!
//! A [`Comparison`] is a value; a [`ComparisonRun`] is its executable form.

mod charset;
mod decimal;
mod regex;
mod run;

use bytes::Bytes;

pub use regex::FullMatch;
pub(in crate::filter) use regex::RegexMemoryLimit;
pub use run::ComparisonRun;

/// A comparator with an operator.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// The required result of the comparison.
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

/// A comparator: one variant for each of HBase's classes.
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
    /// BitComparator: combines two bit strings and tests whether any bit of the result is set. Only
    /// equal or not equal.
    Bit {
        /// The bits.
        value: Bytes,
        /// The bitwise operation.
        operator: BitOperator,
    },
    /// LongComparator: a signed eight-byte big-endian number.
    Long(i64),
    /// BigDecimalComparator: Java's BigDecimal in the format of `Bytes.toBytes`.
    BigDecimal(Bytes),
}

/// The bitwise operation of [`Comparator::Bit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BitOperator {
    /// And.
    And,
    /// Or.
    Or,
    /// Exclusive or.
    Xor,
}

/// A regular expression of [`Comparator::Regex`], in Java's syntax.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegexPattern {
    /// The expression.
    pub pattern: String,
    /// `java.util.regex.Pattern`'s flags: [`RegexPattern::CASE_INSENSITIVE`] and others.
    pub flags: i32,
    /// The charset of the bytes: UTF-8, ISO-8859-1, US-ASCII, UTF-16, UTF-16BE or UTF-16LE.
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
