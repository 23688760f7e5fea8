//! Cell values as numbers, with the same semantics as in HBase's column interpreters.

use std::cmp::Ordering;

use bytes::Bytes;
use num_bigint::BigInt;
use prost::Message;
use rowhouse_format::proto;
use rowhouse_model::{Error, Result, escape};

/// A number that supports aggregation.
pub(super) trait Number: Sized + Clone {
    /// Parses a value; returns `None` for a value that the interpreter skips.
    ///
    /// # Errors
    /// `InvalidRequest` for a value that is neither a number nor skipped.
    fn read(value: &[u8]) -> Result<Option<Self>>;

    fn zero() -> Self;

    fn plus(&self, other: &Self) -> Self;

    fn times(&self, other: &Self) -> Self;

    fn compare(&self, other: &Self) -> Ordering;

    /// Returns the interpreter's minimum value, which stands for the weight sum if there is no
    /// weight column.
    fn least() -> Self;

    /// Encodes the number for the answer.
    fn to_bytes(&self) -> Bytes;
}

/// A Java long; sums wrap around.
#[derive(Clone, Copy)]
pub(super) struct Long(i64);

impl Number for Long {
    fn read(value: &[u8]) -> Result<Option<Self>> {
        Ok(value.try_into().ok().map(|bytes| Self(i64::from_be_bytes(bytes))))
    }

    fn zero() -> Self {
        Self(0)
    }

    fn plus(&self, other: &Self) -> Self {
        Self(self.0.wrapping_add(other.0))
    }

    fn times(&self, other: &Self) -> Self {
        Self(self.0.wrapping_mul(other.0))
    }

    fn compare(&self, other: &Self) -> Ordering {
        self.0.cmp(&other.0)
    }

    fn least() -> Self {
        Self(i64::MIN)
    }

    fn to_bytes(&self) -> Bytes {
        proto::LongMsg { long_msg: self.0 }.encode_to_vec().into()
    }
}

/// A Java double.
#[derive(Clone, Copy)]
pub(super) struct Double(f64);

impl Number for Double {
    fn read(value: &[u8]) -> Result<Option<Self>> {
        Ok(value.try_into().ok().map(|bytes| Self(f64::from_be_bytes(bytes))))
    }

    fn zero() -> Self {
        Self(0.0)
    }

    fn plus(&self, other: &Self) -> Self {
        Self(self.0 + other.0)
    }

    fn times(&self, other: &Self) -> Self {
        Self(self.0 * other.0)
    }

    /// Compares as Java does: all NaNs are equal and greatest, and 0 is greater than -0.
    fn compare(&self, other: &Self) -> Ordering {
        match (self.0.is_nan(), other.0.is_nan()) {
            (false, false) => self.0.total_cmp(&other.0),
            (one, other) => one.cmp(&other),
        }
    }

    /// Java's `Double.MIN_VALUE` is the least positive value.
    fn least() -> Self {
        Self(f64::from_bits(1))
    }

    fn to_bytes(&self) -> Bytes {
        proto::DoubleMsg { double_msg: self.0 }.encode_to_vec().into()
    }
}

/// A Java BigDecimal, rounded half-even to two decimal places as in HBase's interpreter.
#[derive(Clone)]
pub(super) struct Decimal {
    unscaled: BigInt,
    scale: i32,
}

impl Decimal {
    const SCALE: i32 = 2;
    /// Maximum distance between a scale and [`Decimal::SCALE`]: rounding needs as many digits.
    const SCALE_DIFFERENCE_MAX: u32 = 10_000;

    /// Returns the number rounded to two decimal places.
    fn rounded(unscaled: BigInt, scale: i32) -> Result<Self> {
        let difference = scale.abs_diff(Self::SCALE);
        if difference > Self::SCALE_DIFFERENCE_MAX {
            return Err(Error::invalid(format!(
                "the scale of a BigDecimal is too far from 2 to be rounded: scale={scale}, max={}",
                Self::SCALE_DIFFERENCE_MAX
            )));
        }
        let factor = BigInt::from(10).pow(difference);
        let unscaled = if scale <= Self::SCALE {
            unscaled * factor
        } else {
            divide_half_even(&unscaled, &factor)
        };
        Ok(Self { unscaled, scale: Self::SCALE })
    }
}

/// Returns the quotient, rounded half-even. `divisor` is positive.
fn divide_half_even(number: &BigInt, divisor: &BigInt) -> BigInt {
    let zero = BigInt::from(0);
    // Division truncates toward 0, so the remainder has the number's sign.
    let quotient = number / divisor;
    let rest = number % divisor;
    let away = if *number < zero { -1 } else { 1 };
    let twice: BigInt = &rest * (2 * away);
    let is_odd = &quotient % 2 != zero;
    match twice.cmp(divisor) {
        Ordering::Greater => quotient + away,
        Ordering::Equal if is_odd => quotient + away,
        Ordering::Equal | Ordering::Less => quotient,
    }
}

impl Number for Decimal {
    fn read(value: &[u8]) -> Result<Option<Self>> {
        let parts = value.split_first_chunk::<4>().filter(|(_, unscaled)| !unscaled.is_empty());
        let Some((scale, unscaled)) = parts else {
            return Err(Error::invalid(format!(
                "the value is not a BigDecimal: len={}, min=5, value={}",
                value.len(),
                escape(value)
            )));
        };
        let unscaled = BigInt::from_signed_bytes_be(unscaled);
        Self::rounded(unscaled, i32::from_be_bytes(*scale)).map(Some)
    }

    fn zero() -> Self {
        Self { unscaled: BigInt::ZERO, scale: Self::SCALE }
    }

    fn plus(&self, other: &Self) -> Self {
        Self { unscaled: &self.unscaled + &other.unscaled, scale: self.scale }
    }

    fn times(&self, other: &Self) -> Self {
        // The product has four decimal places, and two remain.
        let unscaled = divide_half_even(&(&self.unscaled * &other.unscaled), &BigInt::from(100));
        Self { unscaled, scale: Self::SCALE }
    }

    fn compare(&self, other: &Self) -> Ordering {
        self.unscaled.cmp(&other.unscaled)
    }

    /// Java's `BigDecimal.valueOf(Double.MIN_VALUE)`: 4.9E-324.
    fn least() -> Self {
        Self { unscaled: BigInt::from(49), scale: 325 }
    }

    fn to_bytes(&self) -> Bytes {
        let unscaled = self.unscaled.to_signed_bytes_be();
        let bytes = [&self.scale.to_be_bytes()[..], &unscaled].concat();
        proto::BigDecimalMsg { bigdecimal_msg: bytes.into() }.encode_to_vec().into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decimal(unscaled: i64, scale: i32) -> Decimal {
        let unscaled = BigInt::from(unscaled).to_signed_bytes_be();
        Decimal::read(&[&scale.to_be_bytes()[..], &unscaled].concat()).unwrap().unwrap()
    }

    #[test]
    fn decimals_are_rounded_to_two_places_from_the_middle_to_the_even_one() {
        for (unscaled, scale, hundredths) in [
            (5, 0, 500),
            (-5, -1, -5000),
            (1234, 2, 1234),
            (12345, 3, 1234),
            (12355, 3, 1236),
            (-12345, 3, -1234),
            (-12355, 3, -1236),
            (123_451, 4, 1235),
            (4, 3, 0),
            (1, 400, 0),
        ] {
            assert_eq!(decimal(unscaled, scale).unscaled, BigInt::from(hundredths), "{unscaled}");
        }
        assert!(Decimal::read(&[0x7F, 0xFF, 0xFF, 0xFF, 1]).is_err());
        assert!(Decimal::read(&[0, 0, 0, 2]).is_err());
    }

    #[test]
    fn products_of_decimals_are_rounded_too() {
        assert_eq!(decimal(15, 2).times(&decimal(10, 2)).unscaled, BigInt::from(2));
        assert_eq!(decimal(250, 2).times(&decimal(-300, 2)).unscaled, BigInt::from(-750));
    }

    #[test]
    fn doubles_are_ordered_as_in_java_and_longs_wrap() {
        let nan = Double(f64::NAN);
        let zero = Double(0.0);
        assert_eq!(nan.compare(&Double(f64::INFINITY)), Ordering::Greater);
        assert_eq!(nan.compare(&Double(-f64::NAN)), Ordering::Equal);
        assert_eq!(zero.compare(&Double(-0.0)), Ordering::Greater);
        assert_eq!(Long(i64::MAX).plus(&Long(1)).0, i64::MIN);
    }

    #[test]
    fn values_of_another_width_are_passed_over() {
        assert!(Long::read(b"1234567").unwrap().is_none());
        assert!(Double::read(b"123456789").unwrap().is_none());
    }
}
