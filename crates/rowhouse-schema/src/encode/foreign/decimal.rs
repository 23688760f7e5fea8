//! Decimal numbers as other systems write them: bytes that compare as the numbers do.

use super::{numeric, phoenix};
use crate::value::{Decimal, Value};

/// Whose decimal numbers they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DecimalImage {
    /// `ordered.numeric`.
    Ordered,
    /// `phoenix.decimal`.
    Phoenix,
}

impl DecimalImage {
    /// The bytes of a value that keys can hold.
    pub(crate) fn bytes(self, value: &Value) -> Result<Vec<u8>, String> {
        let number = decimal(value)?;
        match self {
            Self::Ordered => numeric::check(number)?,
            Self::Phoenix => phoenix::check_decimal(number)?,
        }
        Ok(self.of(number))
    }

    /// The bytes of a constant; of one that no key holds they stand where it would.
    pub(crate) fn part(self, value: &Value) -> Result<Vec<u8>, String> {
        decimal(value).map(|number| self.of(number))
    }

    fn of(self, number: Decimal) -> Vec<u8> {
        match self {
            Self::Ordered => numeric::bytes(number),
            Self::Phoenix => phoenix::decimal_bytes(number),
        }
    }

    /// The value of these bytes; nothing if no value has them.
    pub(crate) fn value(self, bytes: &[u8]) -> Option<Value> {
        let number = match self {
            Self::Ordered => numeric::number(bytes),
            Self::Phoenix => phoenix::decimal(bytes),
        };
        let value = Value::Decimal(number?);
        // Zeros at the ends, or numbers out of range, would make other bytes.
        self.bytes(&value).is_ok_and(|again| again == bytes).then_some(value)
    }
}

fn decimal(value: &Value) -> Result<Decimal, String> {
    match value {
        Value::Decimal(decimal) => Ok(*decimal),
        value => match value.as_integer() {
            Some(number) => Decimal::new(number, 0)
                .ok_or_else(|| format!("takes numbers of at most 38 digits: value={value}")),
            None => Err(format!("takes a decimal number, not {}", value.described())),
        },
    }
}
