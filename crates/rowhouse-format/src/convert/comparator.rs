//! Comparators, identified by Java class name, and compare operators.

use bytes::Bytes;
use prost::Message;
use rowhouse_model::{
    BitOperator, Comparator, CompareOperator, Comparison, Error, RegexEngine, RegexPattern, Result,
};

use super::filter::{PACKAGE, missing, read};
use crate::proto;
use crate::proto::CompareType;
use crate::proto::bit_comparator::BitwiseOp;

/// Decodes a comparator with the operator.
///
/// # Errors
/// As [`from_proto`]; `InvalidRequest` without an operator.
pub fn comparison_from_proto(
    operator: Option<i32>,
    comparator: proto::Comparator,
) -> Result<Comparison> {
    let operator = operator_from_proto(operator)?;
    Ok(Comparison { operator, comparator: from_proto(comparator)? })
}

/// Decodes a comparator.
///
/// # Errors
/// `Unsupported`, naming the class, if it is not an HBase class; `InvalidRequest` if the bytes are
/// not in the class's format.
pub fn from_proto(message: proto::Comparator) -> Result<Comparator> {
    let proto::Comparator { name, serialized_comparator } = message;
    let bytes = serialized_comparator.unwrap_or_default();
    Ok(match name.strip_prefix(PACKAGE) {
        Some("BinaryComparator") => Comparator::Binary(value(&name, bytes)?),
        Some("BinaryPrefixComparator") => Comparator::BinaryPrefix(value(&name, bytes)?),
        Some("BinaryComponentComparator") => {
            let read: proto::BinaryComponentComparator = read(&name, bytes)?;
            Comparator::BinaryComponent {
                value: read.value.ok_or_else(|| missing(&name, "value"))?,
                offset: read.offset.ok_or_else(|| missing(&name, "offset"))?,
            }
        }
        Some("SubstringComparator") => {
            let read: proto::SubstringComparator = read(&name, bytes)?;
            Comparator::Substring(read.substr.ok_or_else(|| missing(&name, "substr"))?)
        }
        Some("RegexStringComparator") => Comparator::Regex(regex_from_proto(&name, bytes)?),
        Some("NullComparator") => {
            let proto::NullComparator {} = read(&name, bytes)?;
            Comparator::Null
        }
        Some("BitComparator") => bits_from_proto(&name, bytes)?,
        Some("LongComparator") => {
            let value = value(&name, bytes)?;
            // HBase uses a longer value's first eight bytes.
            let number = value.first_chunk().copied().ok_or_else(|| {
                Error::invalid(format!("{name} has too few bytes: len={}, min=8", value.len()))
            })?;
            Comparator::Long(i64::from_be_bytes(number))
        }
        Some("BigDecimalComparator") => Comparator::BigDecimal(value(&name, bytes)?),
        _ => return Err(Error::unsupported(format!("comparator is not supported: name={name}"))),
    })
}

/// Encodes a comparator in the class's format.
pub fn to_proto(comparator: &Comparator) -> proto::Comparator {
    let (class, bytes) = match comparator {
        Comparator::Binary(value) => ("BinaryComparator", bytes_to_proto(value.clone())),
        Comparator::BinaryPrefix(value) => {
            ("BinaryPrefixComparator", bytes_to_proto(value.clone()))
        }
        Comparator::BinaryComponent { value, offset } => {
            let message = proto::BinaryComponentComparator {
                value: Some(value.clone()),
                offset: Some(*offset),
            };
            ("BinaryComponentComparator", message.encode_to_vec())
        }
        Comparator::Substring(part) => {
            let message = proto::SubstringComparator { substr: Some(part.to_lowercase()) };
            ("SubstringComparator", message.encode_to_vec())
        }
        Comparator::Regex(pattern) => {
            let engine = match pattern.engine {
                RegexEngine::Java => "JAVA",
                RegexEngine::Joni => "JONI",
            };
            let message = proto::RegexStringComparator {
                pattern: Some(pattern.pattern.clone()),
                pattern_flags: Some(pattern.flags),
                charset: Some(pattern.charset.clone()),
                engine: Some(engine.into()),
            };
            ("RegexStringComparator", message.encode_to_vec())
        }
        Comparator::Null => ("NullComparator", proto::NullComparator {}.encode_to_vec()),
        Comparator::Bit { value, operator } => {
            let operator = match operator {
                BitOperator::And => BitwiseOp::And,
                BitOperator::Or => BitwiseOp::Or,
                BitOperator::Xor => BitwiseOp::Xor,
            };
            let message = proto::BitComparator {
                comparable: Some(proto::ByteArrayComparable { value: Some(value.clone()) }),
                bitwise_op: Some(operator.into()),
            };
            ("BitComparator", message.encode_to_vec())
        }
        Comparator::Long(number) => {
            ("LongComparator", bytes_to_proto(Bytes::copy_from_slice(&number.to_be_bytes())))
        }
        Comparator::BigDecimal(value) => ("BigDecimalComparator", bytes_to_proto(value.clone())),
    };
    proto::Comparator {
        name: format!("{PACKAGE}{class}"),
        serialized_comparator: Some(bytes.into()),
    }
}

/// Decodes an operator.
///
/// # Errors
/// `InvalidRequest` if it is missing, or unknown to HBase.
pub fn operator_from_proto(operator: Option<i32>) -> Result<CompareOperator> {
    let operator = operator.ok_or_else(|| Error::invalid("compare operator is missing"))?;
    let known = CompareType::try_from(operator)
        .map_err(|_| Error::invalid(format!("unknown compare operator: {operator}")))?;
    Ok(match known {
        CompareType::Less => CompareOperator::Less,
        CompareType::LessOrEqual => CompareOperator::LessOrEqual,
        CompareType::Equal => CompareOperator::Equal,
        CompareType::NotEqual => CompareOperator::NotEqual,
        CompareType::GreaterOrEqual => CompareOperator::GreaterOrEqual,
        CompareType::Greater => CompareOperator::Greater,
        CompareType::NoOp => CompareOperator::NoOp,
    })
}

/// Encodes an operator.
pub fn operator_to_proto(operator: CompareOperator) -> CompareType {
    match operator {
        CompareOperator::Less => CompareType::Less,
        CompareOperator::LessOrEqual => CompareType::LessOrEqual,
        CompareOperator::Equal => CompareType::Equal,
        CompareOperator::NotEqual => CompareType::NotEqual,
        CompareOperator::GreaterOrEqual => CompareType::GreaterOrEqual,
        CompareOperator::Greater => CompareType::Greater,
        CompareOperator::NoOp => CompareType::NoOp,
    }
}

/// Decodes the value in a comparator without other fields; Java's null becomes empty.
fn value(name: &str, bytes: Bytes) -> Result<Bytes> {
    let read: proto::BytesComparator = read(name, bytes)?;
    let comparable = read.comparable.ok_or_else(|| missing(name, "comparable"))?;
    Ok(comparable.value.unwrap_or_default())
}

fn bytes_to_proto(value: Bytes) -> Vec<u8> {
    let comparable = Some(proto::ByteArrayComparable { value: Some(value) });
    proto::BytesComparator { comparable }.encode_to_vec()
}

fn regex_from_proto(name: &str, bytes: Bytes) -> Result<RegexPattern> {
    let read: proto::RegexStringComparator = read(name, bytes)?;
    let engine = match read.engine.as_deref() {
        None | Some("JAVA") => RegexEngine::Java,
        Some("JONI") => RegexEngine::Joni,
        Some(other) => return Err(Error::invalid(format!("{name} has no such engine: {other}"))),
    };
    let charset = read.charset.ok_or_else(|| missing(name, "charset"))?;
    Ok(RegexPattern {
        pattern: read.pattern.ok_or_else(|| missing(name, "pattern"))?,
        flags: read.pattern_flags.ok_or_else(|| missing(name, "pattern_flags"))?,
        charset: if charset.is_empty() { "UTF-8".into() } else { charset },
        engine,
    })
}

fn bits_from_proto(name: &str, bytes: Bytes) -> Result<Comparator> {
    let read: proto::BitComparator = read(name, bytes)?;
    let comparable = read.comparable.ok_or_else(|| missing(name, "comparable"))?;
    let operator = read.bitwise_op.and_then(|operator| BitwiseOp::try_from(operator).ok());
    let operator = match operator.ok_or_else(|| missing(name, "bitwise_op"))? {
        BitwiseOp::And => BitOperator::And,
        BitwiseOp::Or => BitOperator::Or,
        BitwiseOp::Xor => BitOperator::Xor,
    };
    Ok(Comparator::Bit { value: comparable.value.unwrap_or_default(), operator })
}
