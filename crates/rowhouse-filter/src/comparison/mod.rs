//! Executes comparisons.

use std::cmp::Ordering;

use bytes::Bytes;
use rowhouse_model::{BitOperator, Comparator, CompareOperator, Comparison, Error, Result, escape};

use crate::decimal::Decimal;
use crate::regex::{Regex, RegexMemoryLimit};

/// A comparison that is ready to execute, with the regular expression compiled and the number
/// parsed.
#[derive(Clone, Debug)]
pub struct ComparisonRun {
    operator: CompareOperator,
    comparator: PreparedComparator,
}

/// A comparator that is ready to execute.
#[derive(Clone, Debug)]
enum PreparedComparator {
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

impl ComparisonRun {
    /// Prepares the comparison for execution.
    ///
    /// # Errors
    /// `InvalidRequest` for an invalid regular expression or number, `Unsupported` for a Java
    /// regular expression that is not supported here.
    pub fn new(comparison: &Comparison) -> Result<Self> {
        Self::start(comparison, RegexMemoryLimit::for_several(1))
    }

    /// As [`ComparisonRun::new`], with a memory limit for a regular expression.
    pub(crate) fn start(comparison: &Comparison, room: RegexMemoryLimit) -> Result<Self> {
        let comparator = match &comparison.comparator {
            Comparator::Binary(value) => PreparedComparator::Binary(value.clone()),
            Comparator::BinaryPrefix(value) => PreparedComparator::BinaryPrefix(value.clone()),
            Comparator::BinaryComponent { value, offset } => PreparedComparator::BinaryComponent {
                value: value.clone(),
                offset: *offset as usize,
            },
            Comparator::Substring(part) => PreparedComparator::Substring(part.to_lowercase()),
            Comparator::Regex(pattern) => {
                PreparedComparator::Regex(Box::new(Regex::start(pattern, room)?))
            }
            Comparator::Null => PreparedComparator::Null,
            Comparator::Bit { value, operator } => {
                PreparedComparator::Bit { value: value.clone(), operator: *operator }
            }
            Comparator::Long(number) => PreparedComparator::Long(*number),
            Comparator::BigDecimal(bytes) => PreparedComparator::BigDecimal(Decimal::read(bytes)?),
        };
        Ok(Self { operator: comparison.operator, comparator })
    }

    /// Returns true if the bytes satisfy the comparison; false if they cannot be compared.
    /// [`ComparisonRun::try_matches`] distinguishes the two.
    pub fn matches(&self, bytes: &[u8]) -> bool {
        self.try_matches(bytes).unwrap_or(false)
    }

    /// Returns true if the bytes satisfy the comparison.
    ///
    /// # Errors
    /// `InvalidRequest` if the comparator requires a number and the bytes are none, or if a regular
    /// expression exceeds the step limit. HBase ends the scan with an exception then.
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

impl PreparedComparator {
    /// Compares the bytes with the comparator. As in HBase, comparators that only test equality
    /// return `Less` for unequal bytes.
    fn compare(&self, bytes: &[u8]) -> Result<Ordering> {
        Ok(match self {
            Self::Binary(value) => bytes.cmp(value),
            Self::BinaryPrefix(value) => bytes[..bytes.len().min(value.len())].cmp(value),
            Self::BinaryComponent { value, offset } => {
                // HBase reads past the end where bytes are too short.
                let from = bytes.get(*offset..).unwrap_or_default();
                from[..from.len().min(value.len())].cmp(value)
            }
            Self::Substring(part) => {
                equal_or_less(String::from_utf8_lossy(bytes).to_lowercase().contains(part))
            }
            Self::Regex(regex) => equal_or_less(regex.has_match_in(bytes)?),
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

/// How many bytes of a value an error shows at most.
const SHOWN_LEN_MAX: usize = 32;

#[cfg(test)]
mod tests;
