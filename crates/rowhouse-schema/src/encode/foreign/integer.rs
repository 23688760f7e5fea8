//! Whole numbers whose bytes are escaped as those of a text are: bytes that compare as the numbers do.

use super::ordered_code;
use crate::value::Value;

/// How the bytes are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IntegerImage {
    /// As `ordered_code.int64`.
    OrderedCode,
    /// Eight bytes, big-endian, of numbers that are not negative.
    BigEndian,
}

impl IntegerImage {
    /// The bytes of a value that keys can hold.
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

    /// The bytes of a constant; of one that no key holds they stand where it would.
    pub(crate) fn part(self, value: &Value) -> Result<Vec<u8>, String> {
        integer(value).map(|number| self.of(number))
    }

    fn of(self, number: i128) -> Vec<u8> {
        /// Beyond all numbers of 64 bits, and within the room of ordered code.
        const BEYOND: i128 = 1 << 68;
        match self {
            Self::OrderedCode => {
                let mut bytes = Vec::new();
                ordered_code::write_signed(number.clamp(-BEYOND, BEYOND), &mut bytes);
                bytes
            }
            // Less than all bytes are none, and greater are those of a number that would be negative.
            Self::BigEndian => match i64::try_from(number) {
                Ok(number @ 0..) => number.to_be_bytes().to_vec(),
                Ok(_) => Vec::new(),
                Err(_) if number < 0 => Vec::new(),
                Err(_) => vec![0x80],
            },
        }
    }

    /// The value of these bytes; nothing if no value has them.
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
