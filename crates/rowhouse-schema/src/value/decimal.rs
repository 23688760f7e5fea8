//! Exact decimal numbers, which binary floats cannot represent.

use std::cmp::Ordering;
use std::fmt;

/// A decimal number: up to 38 digits, times a power of ten.
///
/// Numbers that differ only in trailing zeros are equal.
///
/// ```
/// use rowhouse_schema::Decimal;
///
/// let price = Decimal::parse("1.50").unwrap();
/// assert_eq!(price, Decimal::new(15, -1).unwrap());
/// assert_eq!(price.to_string(), "1.5");
/// assert!(price > Decimal::from(1));
/// assert_eq!(Decimal::parse("1E+100").unwrap().to_string(), "1E+100");
/// assert_eq!(Decimal::parse("1,5"), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Decimal {
    /// Has no trailing zeros, unless it is zero.
    digits: i128,
    exponent: i32,
}

/// The most digits that fit into 128 bits.
const DIGITS_MAX: u32 = 38;
/// Beyond the numbers in any system's keys.
const EXPONENT_MAX: i32 = 1_000_000;

impl Decimal {
    /// Returns `digits` times ten to the power of `exponent`; `None` if there are more than 38
    /// digits, or the exponent is beyond ±1,000,000.
    pub fn new(mut digits: i128, mut exponent: i32) -> Option<Self> {
        while digits != 0 && digits % 10 == 0 {
            digits /= 10;
            exponent = exponent.checked_add(1)?;
        }
        if digits == 0 {
            exponent = 0;
        }
        let fits = digits.unsigned_abs() < 10_u128.pow(DIGITS_MAX)
            && exponent.unsigned_abs() <= EXPONENT_MAX.unsigned_abs();
        fits.then_some(Self { digits, exponent })
    }

    /// Parses `-1.5`, `15E-1`, `1e100`.
    pub fn parse(text: &str) -> Option<Self> {
        let (number, exponent) = match text.split_once(['e', 'E']) {
            Some((number, exponent)) => (number, exponent.parse::<i32>().ok()?),
            None => (text, 0),
        };
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let is_negative = whole.starts_with('-');
        let whole = whole.strip_prefix(['-', '+']).unwrap_or(whole);
        if whole.is_empty() || number.ends_with('.') {
            return None;
        }
        let mut digits = 0_i128;
        let mut dropped = 0_i32;
        for c in whole.chars().chain(fraction.chars()) {
            let digit = i128::from(c.to_digit(10).filter(|_| c.is_ascii())?);
            // Trailing zeros take no digits.
            if digit == 0 && digits != 0 {
                dropped = dropped.checked_add(1)?;
                continue;
            }
            let shift = 10_i128.checked_pow(dropped.try_into().ok()?)?.checked_mul(10)?;
            digits = digits.checked_mul(shift)?.checked_add(digit)?;
            dropped = 0;
        }
        let exponent =
            exponent.checked_add(dropped)?.checked_sub(fraction.len().try_into().ok()?)?;
        Self::new(if is_negative { -digits } else { digits }, exponent)
    }

    /// The whole number, if it is one and fits.
    pub(crate) fn integer(self) -> Option<i128> {
        let power = 10_i128.checked_pow(self.exponent.try_into().ok()?)?;
        self.digits.checked_mul(power)
    }

    pub(crate) fn signum(self) -> i128 {
        self.digits.signum()
    }

    /// How many decimal digits there are.
    pub(crate) fn digits_count(self) -> u32 {
        self.digits.unsigned_abs().checked_ilog10().map_or(1, |log| log + 1)
    }

    /// The least power of ten that is greater than the absolute value.
    fn magnitude(self) -> i32 {
        self.exponent + self.digits_count() as i32
    }

    /// Returns the absolute value in base 100: the digits after the point, without leading and
    /// trailing zeros, and the power of 100 by which they are multiplied. Zero has no digits.
    pub(crate) fn centesimal(self) -> (Vec<u8>, i32) {
        if self.digits == 0 {
            return (Vec::new(), 0);
        }
        let power = (self.magnitude() + 1).div_euclid(2);
        let text = self.digits.unsigned_abs().to_string();
        let mut digits: Vec<u8> = text.bytes().map(|c| c - b'0').collect();
        if 2 * power != self.magnitude() {
            digits.insert(0, 0);
        }
        let pairs = digits.chunks(2).map(|pair| 10 * pair[0] + pair.get(1).copied().unwrap_or(0));
        (pairs.collect(), power)
    }

    /// Returns the number with these [`Decimal::centesimal`] digits; `None` if there are too many.
    pub(crate) fn of_centesimal(is_negative: bool, digits: &[u8], power: i32) -> Option<Self> {
        let append = |number: i128, base: i128, digit: u8| {
            number.checked_mul(base)?.checked_add(digit.into())
        };
        let Some((&last, head)) = digits.split_last() else { return Self::new(0, 0) };
        let head = head.iter().try_fold(0, |number, &digit| append(number, 100, digit))?;
        // A trailing zero takes no digit.
        let is_round = last % 10 == 0;
        let number = if is_round { append(head, 10, last / 10) } else { append(head, 100, last) }?;
        let exponent = 2 * (power - i32::try_from(digits.len()).ok()?) + i32::from(is_round);
        Self::new(if is_negative { -number } else { number }, exponent)
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        let sign = self.signum();
        if sign != other.signum() || sign == 0 {
            return sign.cmp(&other.signum());
        }
        // With equal magnitudes, the first digits have the same weight.
        let digits = |decimal: &Self| {
            decimal.digits.unsigned_abs() * 10_u128.pow(DIGITS_MAX - decimal.digits_count())
        };
        let order = (self.magnitude(), digits(self)).cmp(&(other.magnitude(), digits(other)));
        if sign < 0 { order.reverse() } else { order }
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl From<i64> for Decimal {
    fn from(number: i64) -> Self {
        // An i64 has at most 19 digits.
        Self::new(number.into(), 0).unwrap_or(Self { digits: 0, exponent: 0 })
    }
}

impl fmt::Display for Decimal {
    /// Writes a point if there are few zeros, otherwise a power of ten: `0.001`, `1E+100`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = if self.digits < 0 { "-" } else { "" };
        let digits = self.digits.unsigned_abs().to_string();
        let len = digits.len() as i32;
        let magnitude = self.magnitude();
        match magnitude {
            _ if self.exponent >= 0 && magnitude <= DIGITS_MAX as i32 => {
                write!(f, "{sign}{digits}{}", "0".repeat(self.exponent.unsigned_abs() as usize))
            }
            1.. if magnitude < len => {
                let (whole, fraction) = digits.split_at(magnitude.unsigned_abs() as usize);
                write!(f, "{sign}{whole}.{fraction}")
            }
            -5..=0 => {
                let zeros = "0".repeat(magnitude.unsigned_abs() as usize);
                write!(f, "{sign}0.{zeros}{digits}")
            }
            _ => {
                let (first, rest) = digits.split_at(1);
                let point = if rest.is_empty() { "" } else { "." };
                write!(f, "{sign}{first}{point}{rest}E{:+}", magnitude - 1)
            }
        }
    }
}

impl fmt::Debug for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_come_back() {
        for text in [
            "0",
            "1",
            "-1",
            "10",
            "1.5",
            "-0.001",
            "0.0123",
            "99.9",
            "1E+100",
            "-1.5E-100",
            "12345678901234567890123456789012345678",
            "1E+38",
            "1E-7",
            "0.00001",
        ] {
            assert_eq!(Decimal::parse(text).unwrap().to_string(), text);
        }
        for (text, same) in
            [("1.0", "1"), ("-0", "0"), ("1E2", "100"), ("0100e-2", "1"), ("0.00", "0")]
        {
            assert_eq!(Decimal::parse(text).unwrap().to_string(), same);
        }
        let wrong = ["", "-", ".5", "5.", "1e", "1,5", "0x1", "NaN", "1e9999999", "١"];
        for text in wrong {
            assert_eq!(Decimal::parse(text), None, "{text}");
        }
        assert_eq!(Decimal::parse(&"1".repeat(39)), None);
        assert_eq!(Decimal::parse(&format!("1{}", "0".repeat(300))).unwrap().to_string(), "1E+300");
    }

    #[test]
    fn numbers_are_in_order_and_come_back_from_base_100() {
        let texts = [
            "-1E+100", "-101", "-100", "-99.5", "-1", "-0.01", "-1E-9", "0", "1E-9", "0.1", "0.11",
            "1", "1.5", "9", "10", "11", "99.9", "100", "1E+100",
        ];
        let numbers: Vec<_> = texts.iter().map(|text| Decimal::parse(text).unwrap()).collect();
        assert!(numbers.is_sorted());
        for number in numbers {
            let (digits, power) = number.centesimal();
            let again = Decimal::of_centesimal(number.signum() < 0, &digits, power);
            assert_eq!(again, Some(number));
        }
    }
}
