//! Decimal numbers in other systems' encodings, whose bytes compare as the numbers do.

use super::{numeric, phoenix};
use crate::value::{Decimal, Value};

/// The system that defines the encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DecimalEncoding {
    /// `ordered.numeric`.
    Ordered,
    /// `phoenix.decimal`.
    Phoenix,
}

impl DecimalEncoding {
    /// Returns the bytes for a value that keys can hold.
    pub(crate) fn bytes(self, value: &Value) -> Result<Vec<u8>, String> {
        let number = decimal(value)?;
        match self {
            Self::Ordered => numeric::check(number)?,
            Self::Phoenix => phoenix::check_decimal(number)?,
        }
        Ok(self.of(number))
    }

    /// Returns a constant's bytes. If no key can hold it, they are at the constant's position in
    /// the order.
    pub(crate) fn part(self, value: &Value) -> Result<Vec<u8>, String> {
        decimal(value).map(|number| self.of(number))
    }

    fn of(self, number: Decimal) -> Vec<u8> {
        match self {
            Self::Ordered => numeric::bytes(number),
            Self::Phoenix => phoenix::decimal_bytes(number),
        }
    }

    /// Returns the value for these bytes; `None` if no value has them.
    pub(crate) fn value(self, bytes: &[u8]) -> Option<Value> {
        let number = match self {
            Self::Ordered => numeric::number(bytes),
            Self::Phoenix => phoenix::decimal(bytes),
        };
        let value = Value::Decimal(number?);
        // Zeros at either end and numbers outside the range would have other bytes.
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
