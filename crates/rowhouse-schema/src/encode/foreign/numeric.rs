//! `ordered.numeric`: decimal numbers of any size, in numeric order.
//!
//! A tag identifies sign and size: negative numbers, zero, positive ones. After it come the power
//! of 100, unless the tag implies it, and the digits in base 100. In a negative number everything
//! but the tag is complemented.
//!
//! ```text
//! 07 −∞ · 08 ~E ~M, E > 10 · 09…12 ~M, E = 10…1 · 14 (−E) ~M, E ≤ 0 · 15 zero
//! 16 ~(−E) M, E ≤ 0 · 18…21 M, E = 1…10 · 22 E M, E > 10 · 23 +∞ · 26 NaN
//! ```
//!
//! A digit d is stored as 2d+1, and the last one as 2d, which marks the end.

use crate::error::KeyMismatch;
use crate::value::Decimal;

/// OrderedBytes rounds numbers with more digits; here they are refused.
const DIGITS_MAX: u32 = 31;
/// Greater powers of 100 take more than one byte.
const POWER_MAX: i32 = 240;
/// The tag implies the power of 100 up to this one.
const TAGGED_MAX: i32 = 10;

const NEGATIVE_LARGE: u8 = 0x08;
/// Minus the power, this is the tag for a negative number whose tag implies the power.
const NEGATIVE: u8 = 0x13;
const NEGATIVE_SMALL: u8 = 0x14;
const ZERO: u8 = 0x15;
const POSITIVE_SMALL: u8 = 0x16;
/// Plus the power, this is the tag for a positive number whose tag implies the power.
const POSITIVE: u8 = 0x17;
const POSITIVE_LARGE: u8 = 0x22;
const POSITIVE_INFINITY: u8 = 0x23;

/// Checks that keys can hold a number.
pub(super) fn check(number: Decimal) -> Result<(), String> {
    let count = number.digits_count();
    if count > DIGITS_MAX {
        return Err(format!("too many digits: value={number}, digits={count}, max={DIGITS_MAX}"));
    }
    if number.centesimal().1.abs() > POWER_MAX {
        return Err(format!("too large or too small: value={number}, min=1E-482, max<1E+480"));
    }
    Ok(())
}

/// Returns a number's bytes. If no key can hold it, they are at the number's position in the order.
pub(super) fn bytes(number: Decimal) -> Vec<u8> {
    let (digits, power) = number.centesimal();
    let is_negative = number.signum() < 0;
    // The byte after `POSITIVE_SMALL` is at least !240, and after `NEGATIVE_SMALL` at most 240, so
    // 00 and FF there are beyond all numbers.
    match (is_negative, power) {
        _ if digits.is_empty() => return vec![ZERO],
        (false, power) if power > POWER_MAX => return vec![POSITIVE_INFINITY],
        (true, power) if power > POWER_MAX => return vec![NEGATIVE_LARGE, 0],
        (false, power) if power < -POWER_MAX => return vec![POSITIVE_SMALL, 0],
        (true, power) if power < -POWER_MAX => return vec![NEGATIVE_SMALL, 0xFF],
        _ => {}
    }
    let flip = if is_negative { 0xFF } else { 0 };
    let size = power.unsigned_abs() as u8;
    let mut bytes = match (is_negative, power) {
        (false, 1..=TAGGED_MAX) => vec![POSITIVE + size],
        (true, 1..=TAGGED_MAX) => vec![NEGATIVE - size],
        (false, 1..) => vec![POSITIVE_LARGE, size],
        (true, 1..) => vec![NEGATIVE_LARGE, !size],
        (false, _) => vec![POSITIVE_SMALL, !size],
        (true, _) => vec![NEGATIVE_SMALL, size],
    };
    let last = digits.len() - 1;
    bytes.extend(digits.iter().enumerate().map(|(nth, digit)| {
        let goes_on = u8::from(nth < last);
        (2 * digit + goes_on) ^ flip
    }));
    bytes
}

/// A number's layout, from the first bytes: the sign, the power and the digits' offset.
struct Head {
    is_negative: bool,
    power: i32,
    digits_at: usize,
}

fn head(bytes: impl Fn(usize) -> Option<u8>) -> Option<Head> {
    let tag = bytes(0)?;
    let size = |flip: u8| bytes(1).map(|size| i32::from(size ^ flip));
    let (is_negative, power, digits_at) = match tag {
        NEGATIVE_LARGE => (true, size(0xFF)?, 2),
        0x09..=0x12 => (true, i32::from(NEGATIVE - tag), 1),
        NEGATIVE_SMALL => (true, -size(0)?, 2),
        POSITIVE_SMALL => (false, -size(0xFF)?, 2),
        0x18..=0x21 => (false, i32::from(tag - POSITIVE), 1),
        POSITIVE_LARGE => (false, size(0)?, 2),
        _ => return None,
    };
    Some(Head { is_negative, power, digits_at })
}

/// A number's container: the number's own bytes determine where it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Numeric {
    pub(in crate::encode) desc: bool,
}

impl Numeric {
    pub(crate) fn is_desc(self) -> bool {
        self.desc
    }

    /// Appends a number's bytes, complemented in descending order.
    pub(crate) fn put(self, bytes: &[u8], out: &mut Vec<u8>) {
        let flip = self.flip();
        out.extend(bytes.iter().map(|byte| byte ^ flip));
    }

    /// Returns the ascending bytes for the number at `at`, and the end offset.
    pub(crate) fn cut(self, key: &[u8], at: usize) -> Result<(Vec<u8>, usize), KeyMismatch> {
        let flip = self.flip();
        let len = len(&key[at..], flip).ok_or_else(|| {
            KeyMismatch::new(at, "not the tag of a number, or its digits do not end")
        })?;
        Ok((key[at..at + len].iter().map(|byte| byte ^ flip).collect(), at + len))
    }

    fn flip(self) -> u8 {
        if self.desc { 0xFF } else { 0 }
    }
}

/// The byte count of the number with which `rest` begins; every byte in `rest` is xored with
/// `flip`.
fn len(rest: &[u8], flip: u8) -> Option<usize> {
    let byte = |at: usize| rest.get(at).map(|byte| byte ^ flip);
    if byte(0)? == ZERO {
        return Some(1);
    }
    let head = head(byte)?;
    let parity = u8::from(head.is_negative);
    let is_last = |at: &usize| byte(*at).is_some_and(|digit| digit & 1 == parity);
    let last = (head.digits_at..rest.len()).find(is_last)?;
    Some(last + 1)
}

/// Decodes the number that these bytes are.
pub(super) fn number(bytes: &[u8]) -> Option<Decimal> {
    if *bytes == [ZERO] {
        return Some(Decimal::from(0));
    }
    let head = head(|at| bytes.get(at).copied())?;
    let flip = if head.is_negative { 0xFF } else { 0 };
    let digits: Vec<u8> = bytes[head.digits_at..].iter().map(|digit| (digit ^ flip) / 2).collect();
    Decimal::of_centesimal(head.is_negative, &digits, head.power)
}
