//! Whole numbers whose bytes are escaped like a text's bytes, and compare as the numbers do.

use super::ordered_code;
use crate::value::Value;

/// The encoding before escaping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IntegerEncoding {
    /// The form in `ordered_code.int64`.
    OrderedCode,
    /// Eight bytes, big-endian, for numbers that are not negative.
    BigEndian,
}

impl IntegerEncoding {
    /// Returns the bytes for a value that keys can hold.
    pub(crate) fn bytes(self, value: &Value) -> Result<Vec<u8>, String> {
        let number = integer(value)?;
        let (min, max) = self.limits();
        if number < min || number > max {
            return Err(format!("value out of range: value={number}, min={min}, max={max}"));
        }
        Ok(self.of(number))
    }

    /// The least and the greatest number.
    pub(crate) fn limits(self) -> (i128, i128) {
        let min = match self {
            Self::OrderedCode => i64::MIN.into(),
            Self::BigEndian => 0,
        };
        (min, i64::MAX.into())
    }

    /// Returns a constant's bytes. If no key can hold it, they are at the constant's position in
    /// the order.
    pub(crate) fn part(self, value: &Value) -> Result<Vec<u8>, String> {
        integer(value).map(|number| self.of(number))
    }

    fn of(self, number: i128) -> Vec<u8> {
        /// Beyond all 64-bit numbers, and within ordered code's range.
        const BEYOND: i128 = 1 << 68;
        match self {
            Self::OrderedCode => {
                let mut bytes = Vec::new();
                ordered_code::write_signed(number.clamp(-BEYOND, BEYOND), &mut bytes);
                bytes
            }
            // Empty bytes are less than all values; 80, which would begin a negative number, is
            // greater.
            Self::BigEndian => match i64::try_from(number) {
                Ok(number @ 0..) => number.to_be_bytes().to_vec(),
                Ok(_) => Vec::new(),
                Err(_) if number < 0 => Vec::new(),
                Err(_) => vec![0x80],
            },
        }
    }

    /// Returns the value for these bytes; `None` if no value has them.
    pub(crate) fn value(self, bytes: &[u8]) -> Option<Value> {
        let number = match self {
            Self::OrderedCode if bytes.len() > ordered_code::SIGNED_LEN_MAX => None,
            Self::OrderedCode => ordered_code::read_signed(bytes),
            Self::BigEndian => bytes.try_into().ok().map(|bytes| i64::from_be_bytes(bytes).into()),
        };
        let value = Value::Signed(number?);
        self.bytes(&value).is_ok_and(|again| again == bytes).then_some(value)
    }
}

fn integer(value: &Value) -> Result<i128, String> {
    value.as_integer().ok_or_else(|| format!("takes a whole number, not {}", value.described()))
}
