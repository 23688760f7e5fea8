//! Java's BigDecimal in the `Bytes.toBytes` format: an int scale, then the unscaled number in two's
//! complement, big-endian. The value is unscaled × 10^−scale.

use std::cmp::Ordering;

use rowhouse_model::{Error, Result};

/// Longest unscaled number in bytes. A comparison's time is quadratic in the length; at this limit
/// it is at most a tenth of a second.
const UNSCALED_LEN_MAX: usize = 32 * 1024;

/// The greatest power of ten that fits a word, and the base-10 logarithm.
const TEN_POWER: (u64, u64) = (10_000_000_000_000_000_000, 19);

/// A decimal number.
#[derive(Clone, Debug)]
pub(crate) struct Decimal {
    is_negative: bool,
    /// The unscaled number's absolute value, in words, least significant first, without trailing
    /// zero words. Empty for 0.
    magnitude: Vec<u64>,
    scale: i32,
}

impl Decimal {
    /// Parses a number.
    ///
    /// # Errors
    /// `InvalidRequest` if the bytes are too few for a number, or too many to compare.
    pub(crate) fn read(bytes: &[u8]) -> Result<Self> {
        let Some((scale, unscaled)) =
            bytes.split_first_chunk().filter(|(_, rest)| !rest.is_empty())
        else {
            return Err(Error::invalid(format!(
                "BigDecimalComparator compares an int and a number: len={}, min=5",
                bytes.len()
            )));
        };
        if unscaled.len() > UNSCALED_LEN_MAX {
            return Err(Error::invalid(format!(
                "number too long for BigDecimalComparator: len={}, max={UNSCALED_LEN_MAX}",
                unscaled.len()
            )));
        }
        let is_negative = unscaled[0] >= 0x80;
        let magnitude = magnitude(unscaled, is_negative);
        Ok(Self { is_negative, magnitude, scale: i32::from_be_bytes(*scale) })
    }

    /// Compares the values, regardless of scale: 1.0 equals 1.00.
    pub(crate) fn compare(&self, other: &Self) -> Ordering {
        match self.sign().cmp(&other.sign()) {
            Ordering::Equal if self.is_negative => other.compare_magnitude(self),
            Ordering::Equal => self.compare_magnitude(other),
            order => order,
        }
    }

    fn sign(&self) -> i32 {
        match (self.magnitude.is_empty(), self.is_negative) {
            (true, _) => 0,
            (false, true) => -1,
            (false, false) => 1,
        }
    }

    fn compare_magnitude(&self, other: &Self) -> Ordering {
        if self.magnitude.is_empty() {
            return Ordering::Equal;
        }
        // Numbers of different orders of magnitude compare without scaling.
        let (least, most) = self.digits();
        let (other_least, other_most) = other.digits();
        if least > other_most {
            return Ordering::Greater;
        }
        if most < other_least {
            return Ordering::Less;
        }
        let zeros = i64::from(self.scale) - i64::from(other.scale);
        match zeros {
            0.. => compare_words(&self.magnitude, &raised(&other.magnitude, zeros as u64)),
            _ => compare_words(&raised(&self.magnitude, zeros.unsigned_abs()), &other.magnitude),
        }
    }

    /// Returns bounds, lower and upper, for how many digits are before the decimal point; negative
    /// for zeros after it.
    fn digits(&self) -> (i64, i64) {
        let words = self.magnitude.len() as i64;
        let high = self.magnitude.last().map_or(0, |word| i64::from(word.leading_zeros()));
        let bits = words * 64 - high;
        // log10(2) is between 0.30102 and 0.30103.
        let scale = i64::from(self.scale);
        ((bits - 1) * 30_102 / 100_000 + 1 - scale, bits * 30_103 / 100_000 + 1 - scale)
    }
}

fn magnitude(unscaled: &[u8], is_negative: bool) -> Vec<u64> {
    let flip = if is_negative { 0xFF } else { 0 };
    let mut words: Vec<u64> = unscaled
        .rchunks(8)
        .map(|chunk| chunk.iter().fold(0, |word, byte| word << 8 | u64::from(byte ^ flip)))
        .collect();
    if is_negative {
        add(&mut words, 1);
    }
    trim(&mut words);
    words
}

fn add(words: &mut Vec<u64>, mut carry: u64) {
    for word in words.iter_mut() {
        let (sum, overflows) = word.overflowing_add(carry);
        *word = sum;
        carry = u64::from(overflows);
    }
    if carry != 0 {
        words.push(carry);
    }
}

fn trim(words: &mut Vec<u64>) {
    while words.last() == Some(&0) {
        words.pop();
    }
}

/// Returns the number multiplied by ten to the power `zeros`.
fn raised(words: &[u64], zeros: u64) -> Vec<u64> {
    let mut raised = words.to_vec();
    for _ in 0..zeros / TEN_POWER.1 {
        multiply(&mut raised, TEN_POWER.0);
    }
    multiply(&mut raised, 10u64.pow((zeros % TEN_POWER.1) as u32));
    raised
}

fn multiply(words: &mut Vec<u64>, factor: u64) {
    let mut carry = 0;
    for word in words.iter_mut() {
        let product = u128::from(*word) * u128::from(factor) + carry;
        *word = product as u64;
        carry = product >> 64;
    }
    if carry != 0 {
        words.push(carry as u64);
    }
}

fn compare_words(a: &[u64], b: &[u64]) -> Ordering {
    a.len().cmp(&b.len()).then_with(|| a.iter().rev().cmp(b.iter().rev()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn decimal(scale: i32, unscaled: &[u8]) -> Decimal {
        Decimal::read(&[&scale.to_be_bytes()[..], unscaled].concat()).unwrap()
    }

    fn of(scale: i32, unscaled: i128) -> Decimal {
        decimal(scale, &unscaled.to_be_bytes())
    }

    #[test]
    fn numbers_of_different_scales_compare() {
        assert_eq!(of(0, 1).compare(&of(2, 100)), Ordering::Equal);
        assert_eq!(of(1, 15).compare(&of(0, 1)), Ordering::Greater);
        assert_eq!(of(1, -15).compare(&of(0, -1)), Ordering::Less);
        assert_eq!(of(i32::MAX, 0).compare(&of(i32::MIN, 0)), Ordering::Equal);
        assert_eq!(of(i32::MIN, 1).compare(&of(i32::MAX, i128::MAX)), Ordering::Greater);
        assert_eq!(of(i32::MIN, -1).compare(&of(i32::MAX, i128::MIN)), Ordering::Less);
        assert_eq!(decimal(0, &[0xFF]).compare(&decimal(0, &[0xFF; 20])), Ordering::Equal);
        assert_eq!(decimal(0, &[0x80]).compare(&of(0, -128)), Ordering::Equal);
    }

    #[test]
    fn too_few_and_too_many_bytes_are_refused() {
        assert!(Decimal::read(&[0; 4]).is_err());
        assert!(Decimal::read(&vec![1; 5 + UNSCALED_LEN_MAX]).is_err());
        assert!(Decimal::read(&vec![1; 4 + UNSCALED_LEN_MAX]).is_ok());
    }

    proptest! {
        #[test]
        fn they_compare_as_whole_numbers_of_one_scale(
            a in -(1i128 << 60)..1 << 60, a_scale in 0i32..18,
            b in -(1i128 << 60)..1 << 60, b_scale in 0i32..18,
            near in any::<bool>(),
        ) {
            let b = if near { a / 10i128.pow(a_scale as u32) * 10i128.pow(b_scale as u32) } else { b };
            let whole = |n: i128, scale: i32| n.checked_mul(10i128.pow(17 - scale as u32));
            if let (Some(x), Some(y)) = (whole(a, a_scale), whole(b, b_scale)) {
                prop_assert_eq!(of(a_scale, a).compare(&of(b_scale, b)), x.cmp(&y));
            }
        }
    }
}
