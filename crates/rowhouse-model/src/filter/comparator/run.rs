//! A comparison at work.

use std::cmp::Ordering;

use bytes::Bytes;

use super::decimal::Decimal;
use super::regex::{Regex, RegexRoom};
use super::{BitOperator, Comparator, CompareOperator, Comparison};
use crate::{Error, Result, escape};

/// A comparison at work: what can be made ready is.
#[derive(Clone, Debug)]
pub struct ComparisonRun {
    operator: CompareOperator,
    comparator: Ready,
}

/// A comparator that is ready.
#[derive(Clone, Debug)]
enum Ready {
    Binary(Bytes),
    BinaryPrefix(Bytes),
    BinaryComponent {
        value: Bytes,
        offset: usize,
    },
    /// In lower case.
    Substring(String),
    Regex(Box<Regex>),
    Null,
    Bit {
        value: Bytes,
        operator: BitOperator,
    },
    Long(i64),
    BigDecimal(Decimal),
}

impl Comparison {
    /// Makes it ready.
    ///
    /// # Errors
    /// `InvalidRequest` for a regular expression that is none and a number that is none,
    /// `Unsupported` for a regular expression of Java's that cannot be had here.
    pub fn start(&self) -> Result<ComparisonRun> {
        self.start_in(RegexRoom::for_several(1))
    }

    /// As [`Comparison::start`], with so much room for a regular expression.
    pub(in crate::filter) fn start_in(&self, room: RegexRoom) -> Result<ComparisonRun> {
        let comparator = match &self.comparator {
            Comparator::Binary(value) => Ready::Binary(value.clone()),
            Comparator::BinaryPrefix(value) => Ready::BinaryPrefix(value.clone()),
            Comparator::BinaryComponent { value, offset } => {
                Ready::BinaryComponent { value: value.clone(), offset: *offset as usize }
            }
            Comparator::Substring(part) => Ready::Substring(part.to_lowercase()),
            Comparator::Regex(pattern) => Ready::Regex(Box::new(Regex::start(pattern, room)?)),
            Comparator::Null => Ready::Null,
            Comparator::Bit { value, operator } => {
                Ready::Bit { value: value.clone(), operator: *operator }
            }
            Comparator::Long(number) => Ready::Long(*number),
            Comparator::BigDecimal(bytes) => Ready::BigDecimal(Decimal::read(bytes)?),
        };
        Ok(ComparisonRun { operator: self.operator, comparator })
    }
}

impl ComparisonRun {
    /// Whether bytes compare as asked. Bytes that cannot be compared do not, whatever is asked:
    /// [`ComparisonRun::try_matches`] says which.
    pub fn matches(&self, bytes: &[u8]) -> bool {
        self.try_matches(bytes).unwrap_or(false)
    }

    /// Whether bytes compare as asked.
    ///
    /// # Errors
    /// `InvalidRequest` for bytes that are not a number where one is compared, and for text on which a
    /// regular expression takes too long. HBase ends the scan with an exception there.
    pub fn try_matches(&self, bytes: &[u8]) -> Result<bool> {
        if self.operator == CompareOperator::NoOp {
            return Ok(false);
        }
        let order = self.comparator.compare(bytes)?;
        Ok(match self.operator {
            CompareOperator::Less => order.is_lt(),
            CompareOperator::LessOrEqual => order.is_le(),
            CompareOperator::Equal => order.is_eq(),
            CompareOperator::NotEqual => order.is_ne(),
            CompareOperator::GreaterOrEqual => order.is_ge(),
            CompareOperator::Greater => order.is_gt(),
            CompareOperator::NoOp => false,
        })
    }
}

impl Ready {
    /// How bytes stand to the comparator. Those that only tell equal from not call the latter less, as
    /// HBase does.
    fn compare(&self, bytes: &[u8]) -> Result<Ordering> {
        Ok(match self {
            Self::Binary(value) => bytes.cmp(value),
            Self::BinaryPrefix(value) => bytes[..bytes.len().min(value.len())].cmp(value),
            Self::BinaryComponent { value, offset } => {
                // HBase reads on behind the end of what is too short.
                let from = bytes.get(*offset..).unwrap_or_default();
                from[..from.len().min(value.len())].cmp(value)
            }
            Self::Substring(part) => {
                equal_or_less(String::from_utf8_lossy(bytes).to_lowercase().contains(part))
            }
            Self::Regex(regex) => equal_or_less(regex.is_found_in(bytes)?),
            Self::Null => Ordering::Less,
            Self::Bit { value, operator } => equal_or_less(any_bit(value, *operator, bytes)),
            Self::Long(number) => read_long(bytes)?.cmp(number),
            Self::BigDecimal(number) => Decimal::read(bytes)?.compare(number),
        })
    }
}

fn equal_or_less(equal: bool) -> Ordering {
    if equal { Ordering::Equal } else { Ordering::Less }
}

fn any_bit(value: &[u8], operator: BitOperator, bytes: &[u8]) -> bool {
    let together = |(&a, &b): (&u8, &u8)| match operator {
        BitOperator::And => a & b,
        BitOperator::Or => a | b,
        BitOperator::Xor => a ^ b,
    };
    value.len() == bytes.len() && value.iter().zip(bytes).any(|pair| together(pair) != 0)
}

fn read_long(bytes: &[u8]) -> Result<i64> {
    bytes.try_into().map(i64::from_be_bytes).map_err(|_| {
        Error::invalid(format!(
            "LongComparator compares eight bytes: len={}, bytes={}",
            bytes.len(),
            escape(&bytes[..bytes.len().min(SHOWN_LEN_MAX)])
        ))
    })
}

/// How many bytes of a value an error shows.
const SHOWN_LEN_MAX: usize = 32;

#[cfg(test)]
mod tests;
