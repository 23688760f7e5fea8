//! `decimal`: a whole number as the shortest decimal text. Numbers with fractions, which other
//! systems store, are values with type [`Decimal`](crate::Decimal).

use super::form::{digits_of, read_digits, write_digits};
use super::open::End;
use super::ordinal_domain::OrdinalDomain;
use crate::error::KeyMismatch;
use crate::value::Value;

/// The greatest number: 38 digits, as in `digits 38`.
pub(crate) const MAX: i128 = 10_i128.pow(38) - 1;

/// The codec for `decimal`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ShortestDigits {
    pub(crate) domain: OrdinalDomain,
    pub(crate) end: End,
    pub(crate) reversed: bool,
}

impl ShortestDigits {
    pub(crate) fn new(end: End, reversed: bool) -> Self {
        Self { domain: OrdinalDomain::up_to(MAX), end, reversed }
    }

    pub(crate) fn encode(&self, value: &Value, out: &mut Vec<u8>) -> Result<(), String> {
        self.put(self.domain.number(value)?, out);
        Ok(())
    }

    /// Appends a number in the domain.
    pub(crate) fn put(&self, number: i128, out: &mut Vec<u8>) {
        let start = out.len();
        put_canonical(number, out);
        if self.reversed {
            out[start..].reverse();
        }
    }

    /// Decodes the number at `at`; returns it and the end offset.
    pub(crate) fn decode(&self, key: &[u8], at: usize) -> Result<(i128, usize), KeyMismatch> {
        let stored = self.end.cut(key, at)?;
        let mut digits = stored.to_vec();
        if self.reversed {
            digits.reverse();
        }
        let shortest = digits == b"0" || !digits.starts_with(b"0");
        let number = match digits.len() {
            1..=38 if shortest => read_digits(&digits),
            _ => None,
        };
        match number {
            Some(number) => Ok((number, at + stored.len())),
            None => {
                let why = format!("{} is not a decimal number", rowhouse_model::escape(stored));
                Err(KeyMismatch::new(at, why))
            }
        }
    }
}

/// Appends a number's digits.
pub(crate) fn put_canonical(number: i128, out: &mut Vec<u8>) {
    write_digits(number.unsigned_abs(), digits_of(number).into(), out);
}
