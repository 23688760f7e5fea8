//! What filters and conditions compare bytes with: HBase's comparators.
//!
//! A [`Comparison`] is a value; a [`ComparisonRun`] is one that is ready to compare.

mod charset;
mod decimal;
mod regex;
mod run;

use bytes::Bytes;

pub use regex::FullMatch;
pub(in crate::filter) use regex::RegexRoom;
pub use run::ComparisonRun;

/// A comparator with what must come of comparing.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// How bytes must compare.
    pub operator: CompareOperator,
    /// To what.
    pub comparator: Comparator,
}

/// HBase's CompareOperator: `Less` asks for bytes that are less than the comparator's.
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
    /// NO_OP: nothing compares so.
    NoOp,
}

/// A comparator: one variant for each class of HBase's, under its name there.
#[derive(Clone, Debug, PartialEq)]
pub enum Comparator {
    /// BinaryComparator: bytes, as unsigned numbers. HBase's null is empty.
    Binary(Bytes),
    /// BinaryPrefixComparator: the same, for as many bytes as these are.
    BinaryPrefix(Bytes),
    /// BinaryComponentComparator: the same, from an offset on.
    BinaryComponent {
        /// The bytes.
        value: Bytes,
        /// From where on they are compared.
        offset: u32,
    },
    /// SubstringComparator: UTF-8 text that has this in it, both in Java's lower case of no language.
    /// Equal or not, no more.
    Substring(String),
    /// RegexStringComparator: text in which a regular expression is found. Equal or not, no more.
    Regex(RegexPattern),
    /// NullComparator: nothing is equal to it that is there.
    Null,
    /// BitComparator: bits, taken together bit by bit, of which one is set. Equal or not, no more.
    Bit {
        /// The bits.
        value: Bytes,
        /// How they are taken together.
        operator: BitOperator,
    },
    /// LongComparator: eight bytes, big-endian, with a sign.
    Long(i64),
    /// BigDecimalComparator: a number of Java's BigDecimal, as `Bytes.toBytes` writes it.
    BigDecimal(Bytes),
}

/// How [`Comparator::Bit`] takes bits together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BitOperator {
    /// Both.
    And,
    /// Either.
    Or,
    /// One, not both.
    Xor,
}

/// A regular expression of [`Comparator::Regex`], in Java's syntax.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegexPattern {
    /// The expression.
    pub pattern: String,
    /// `java.util.regex.Pattern`'s flags: [`RegexPattern::CASE_INSENSITIVE`] and others.
    pub flags: i32,
    /// In which bytes are read: UTF-8, ISO-8859-1, US-ASCII, UTF-16, UTF-16BE or UTF-16LE.
    pub charset: String,
    /// Which engine Java takes.
    pub engine: RegexEngine,
}

/// Which engine HBase runs a [`RegexPattern`] with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegexEngine {
    /// `java.util.regex`.
    Java,
    /// Joni.
    Joni,
}
