//! `phoenix.*`: primary-key columns in Apache Phoenix.
//!
//! Descending order complements every value byte. A column with fixed width is never null.

use crate::value::Decimal;

/// One millisecond in nanoseconds.
pub(super) const MILLI: i128 = 1_000_000;

/// Appends a timestamp: the milliseconds as for a date, then four bytes with the nanoseconds within
/// the last millisecond.
pub(super) fn write_timestamp(nanos: i128, signed: bool, out: &mut Vec<u8>) {
    let millis = nanos.div_euclid(MILLI) as i64;
    let within = nanos.rem_euclid(MILLI) as u32;
    out.extend_from_slice(&(millis as u64 ^ sign(signed)).to_be_bytes());
    out.extend_from_slice(&within.to_be_bytes());
}

/// Decodes a timestamp to nanoseconds; `None` if those within the last millisecond exceed it.
pub(super) fn read_timestamp(bytes: &[u8], signed: bool) -> Option<i128> {
    let (millis, within) = bytes.split_at_checked(8)?;
    let millis = u64::from_be_bytes(millis.try_into().ok()?) ^ sign(signed);
    let within = i128::from(u32::from_be_bytes(within.try_into().ok()?));
    // An unsigned timestamp with the sign bit set becomes negative, which is outside the type's
    // domain.
    (within < MILLI).then_some(i128::from(millis as i64) * MILLI + within)
}

fn sign(signed: bool) -> u64 {
    if signed { 1 << 63 } else { 0 }
}

/// The greatest power of 100. Phoenix allows greater ones, where some numbers begin with a
/// separator.
const POWER_MAX: i32 = 61;
/// The least power of 100. Below it, Phoenix writes other numbers without an error.
const POWER_MIN: i32 = -64;
/// A negative number with more digit pairs ends differently.
const NEGATIVE_PAIRS_MAX: usize = 19;

const ZERO: u8 = 0x80;
/// The first byte for a number from 1 to 99, and for one from -99 to -1.
const POSITIVE: u8 = 0xC1;
const NEGATIVE: u8 = 0x3E;
/// The number added to a positive number's digits, and the one from which a negative number's
/// digits are subtracted.
const POSITIVE_DIGIT: u8 = 1;
const NEGATIVE_DIGIT: u8 = 101;
/// The byte after a negative number's digits; greater than every digit.
const NEGATIVE_END: u8 = 102;

/// Returns a decimal's digits in base 100, and the first digit's power of 100.
fn digits(number: Decimal) -> (Vec<u8>, i32) {
    let (digits, power) = number.centesimal();
    (digits, power - 1)
}

/// Checks that keys can hold a decimal.
pub(super) fn check_decimal(number: Decimal) -> Result<(), String> {
    let (digits, power) = digits(number);
    if !digits.is_empty() && !(POWER_MIN..=POWER_MAX).contains(&power) {
        return Err(format!("too large or too small: value={number}, min=1E-128, max<1E+124"));
    }
    if number.signum() < 0 && digits.len() > NEGATIVE_PAIRS_MAX {
        return Err(format!(
            "too many digits of a negative number: value={number}, pairs={}, max={NEGATIVE_PAIRS_MAX}",
            digits.len()
        ));
    }
    Ok(())
}

/// Returns a decimal's bytes. If no key can hold it, they are at the decimal's position in the
/// order.
pub(super) fn decimal_bytes(number: Decimal) -> Vec<u8> {
    let (digits, power) = digits(number);
    let is_negative = number.signum() < 0;
    match (is_negative, power) {
        _ if digits.is_empty() => return vec![ZERO],
        (false, power) if power > POWER_MAX => return vec![POSITIVE + POWER_MAX as u8, 0xFE],
        (true, power) if power > POWER_MAX => return vec![NEGATIVE - POWER_MAX as u8, 0x01],
        (false, power) if power < POWER_MIN => return vec![ZERO, 0x01],
        (true, power) if power < POWER_MIN => return vec![ZERO - 1],
        _ => {}
    }
    let size = power as i8;
    let mut bytes = Vec::with_capacity(digits.len() + 2);
    if is_negative {
        bytes.push(NEGATIVE.wrapping_add_signed(-size));
        bytes.extend(digits.iter().map(|digit| NEGATIVE_DIGIT - digit));
        bytes.push(NEGATIVE_END);
    } else {
        bytes.push(POSITIVE.wrapping_add_signed(size));
        bytes.extend(digits.iter().map(|digit| digit + POSITIVE_DIGIT));
    }
    bytes
}

/// Decodes a decimal.
pub(super) fn decimal(bytes: &[u8]) -> Option<Decimal> {
    let (first, rest) = bytes.split_first()?;
    let power = |from: u8| i32::from(*first) - i32::from(from) + 1;
    let digits = |digit: fn(u8) -> Option<u8>, rest: &[u8]| -> Option<Vec<u8>> {
        rest.iter().map(|byte| digit(*byte).filter(|digit| *digit < 100)).collect()
    };
    match *first {
        ZERO if rest.is_empty() => Some(Decimal::from(0)),
        0x81.. => {
            let digits = digits(|byte| byte.checked_sub(POSITIVE_DIGIT), rest)?;
            Decimal::of_centesimal(false, &digits, power(POSITIVE))
        }
        ..ZERO => {
            let rest = rest.strip_suffix(&[NEGATIVE_END])?;
            let digits = digits(|byte| NEGATIVE_DIGIT.checked_sub(byte), rest)?;
            let power = i32::from(NEGATIVE) - i32::from(*first) + 1;
            Decimal::of_centesimal(true, &digits, power)
        }
        _ => None,
    }
}
