//! Maps floats to whole numbers in the same order: the bits, all flipped if the sign is set, and
//! otherwise only the sign bit, as in IEEE 754's total order. −0 comes directly before 0, and NaNs
//! are beyond −∞ and ∞, depending on their sign.

use super::point::Point;

/// Returns the numbers for −∞ and ∞.
pub(super) fn ends(bytes: u8) -> (i128, i128) {
    (rank(f64::NEG_INFINITY, bytes), rank(f64::INFINITY, bytes))
}

/// Returns the least and the greatest number that floats have, NaNs included.
pub(super) fn ends_with_nans(bytes: u8) -> (i128, i128) {
    (0, (1 << (8 * bytes)) - 1)
}

/// Returns a float's number, which has to be exact in `bytes` bytes.
pub(super) fn number(float: f64, bytes: u8) -> Result<i128, String> {
    if bytes == 4 && widened(narrowed(float)).to_bits() != float.to_bits() {
        return Err(format!("an f32 cannot hold the value exactly, use f64: value={float:?}"));
    }
    Ok(rank(float, bytes))
}

/// Returns a number's float.
pub(super) fn value(number: i128, bytes: u8) -> f64 {
    let sign = 1_i128 << (8 * bytes - 1);
    let bits = if number & sign != 0 { number ^ sign } else { !number & (2 * sign - 1) };
    match bytes {
        4 => widened(bits as u32),
        _ => f64::from_bits(bits as u64),
    }
}

/// Returns the number for the float with these bits.
pub(super) fn of_bits(bits: i128, bytes: u8) -> i128 {
    let sign = 1_i128 << (8 * bytes - 1);
    if bits & sign != 0 { !bits & (2 * sign - 1) } else { bits | sign }
}

/// Returns the number for positive zero; negative floats have lesser numbers.
pub(super) fn zero(bytes: u8) -> i128 {
    1 << (8 * bytes - 1)
}

/// Returns a float's position: zero equals two numbers, a float that an f32 cannot hold equals
/// none.
pub(super) fn point(float: f64, bytes: u8) -> Result<Point, String> {
    if float.is_nan() {
        return Err("NaN cannot be compared".to_owned());
    }
    if float == 0.0 {
        return Ok(Point { low: rank(-0.0, bytes), high: rank(0.0, bytes) });
    }
    let near = match bytes {
        4 => f64::from(float as f32),
        _ => float,
    };
    Ok(beside(rank(near, bytes), near.total_cmp(&float)))
}

/// Returns a whole number's position among the floats.
pub(super) fn integer_point(number: i128, bytes: u8) -> Point {
    if number == 0 {
        return Point { low: rank(-0.0, bytes), high: rank(0.0, bytes) };
    }
    let near = match bytes {
        4 => f64::from(number as f32),
        _ => number as f64,
    };
    // The float nearest to a whole number is whole, and 2^127 is the only one that exceeds i128.
    let order = if near >= i128::MAX as f64 {
        std::cmp::Ordering::Greater
    } else {
        (near as i128).cmp(&number)
    };
    beside(rank(near, bytes), order)
}

/// Returns a float's position among the whole numbers.
pub(super) fn whole_point(float: f64) -> Point {
    let floor = float.floor() as i128;
    if float.fract() == 0.0 { Point::exact(floor) } else { Point::after(floor) }
}

/// Returns a constant's position, given the number for a float near it and how that float compares
/// with it.
fn beside(near: i128, order: std::cmp::Ordering) -> Point {
    match order {
        std::cmp::Ordering::Equal => Point::exact(near),
        std::cmp::Ordering::Less => Point::after(near),
        std::cmp::Ordering::Greater => Point::after(near - 1),
    }
}

/// Parses a float in a query or in plain text.
pub(super) fn read(word: &str) -> Option<f64> {
    let digits = word.trim_start_matches(['-', '+']);
    let known = digits.starts_with(|c: char| c.is_ascii_digit()) || matches!(digits, "inf" | "NaN");
    word.parse().ok().filter(|_| known)
}

/// Returns true if the float is the number in the text, or near it. Numbers that are too large or
/// too close to zero have no float near them.
pub(super) fn is_near(word: &str, float: f64) -> bool {
    let mantissa = word.split(['e', 'E']).next().unwrap_or(word);
    let is_zero = !mantissa.contains(|c: char| ('1'..='9').contains(&c));
    let is_number = mantissa.contains(|c: char| c.is_ascii_digit());
    !is_number || (float.is_finite() && (float != 0.0 || is_zero))
}

fn rank(float: f64, bytes: u8) -> i128 {
    let bits = match bytes {
        4 => i128::from(narrowed(float)),
        _ => i128::from(float.to_bits()),
    };
    of_bits(bits, bytes)
}

/// Returns the float with an f32's bits. A NaN's bits are moved by hand, because a cast may change
/// them.
fn widened(bits: u32) -> f64 {
    let float = f32::from_bits(bits);
    if !float.is_nan() {
        return float.into();
    }
    let sign = u64::from(bits >> 31);
    let mantissa = u64::from(bits & F32_MANTISSA);
    f64::from_bits(
        sign << 63 | f64::INFINITY.to_bits() | mantissa << (F64_MANTISSA_LEN - F32_MANTISSA_LEN),
    )
}

/// Returns the bits for the f32 equal to a float, or nearest to it.
fn narrowed(float: f64) -> u32 {
    if !float.is_nan() {
        return (float as f32).to_bits();
    }
    let bits = float.to_bits();
    let mantissa = (bits >> (F64_MANTISSA_LEN - F32_MANTISSA_LEN)) as u32 & F32_MANTISSA;
    (bits >> 63 << 31) as u32 | f32::INFINITY.to_bits() | mantissa
}

const F32_MANTISSA_LEN: u32 = f32::MANTISSA_DIGITS - 1;
const F64_MANTISSA_LEN: u32 = f64::MANTISSA_DIGITS - 1;
const F32_MANTISSA: u32 = (1 << F32_MANTISSA_LEN) - 1;

/// Returns the IEEE 754 bits for a number's float.
pub(super) fn bits(number: i128, bytes: u8) -> i128 {
    match bytes {
        4 => i128::from(narrowed(value(number, 4))),
        _ => i128::from(value(number, 8).to_bits()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constants_beyond_the_floats_are_near_none_of_them() {
        let is_near = |word: &str| is_near(word, read(word).unwrap());
        for word in ["0", "-0.0", "0e999", "1e308", "-5e-324", "inf", "-inf", "9.99", "1E3"] {
            assert!(is_near(word), "{word}");
        }
        for word in ["1e309", "-1e400", "1e-400", "-3.5E-999"] {
            assert!(!is_near(word), "{word}");
        }
    }

    #[test]
    fn numbers_are_in_the_order_of_floats() {
        let floats =
            [f64::NEG_INFINITY, -1e300, -1.5, -1e-320, -0.0, 0.0, 1e-320, 1.5, f64::INFINITY];
        for pair in floats.windows(2) {
            assert!(number(pair[0], 8).unwrap() < number(pair[1], 8).unwrap(), "{pair:?}");
        }
        for float in floats {
            assert_eq!(value(number(float, 8).unwrap(), 8).to_bits(), float.to_bits());
        }
        assert_eq!(value(number(-2.5, 4).unwrap(), 4), -2.5);
        assert_eq!(number(0.0, 4).unwrap() - number(-0.0, 4).unwrap(), 1);
    }

    #[test]
    fn every_float_keeps_its_bits() {
        for bits in
            [0x7F80_0000, 0x7F80_0001, 0x7FC0_0000, 0x7FFF_FFFF, 0xFF80_0001, 0xFFC0_1234_u32]
        {
            let rank = of_bits(bits.into(), 4);
            assert_eq!(super::bits(rank, 4), bits.into());
            assert_eq!(number(value(rank, 4), 4), Ok(rank), "{bits:x}");
        }
        for bits in [0x7FF0_0000_0000_0001, 0x7FF8_0000_0000_0001, 0xFFF8_0000_0000_0000_u64] {
            let rank = of_bits(bits.into(), 8);
            assert_eq!(value(rank, 8).to_bits(), bits);
            assert_eq!(number(f64::from_bits(bits), 8), Ok(rank));
        }
        // An f32 has fewer bits.
        assert!(number(f64::from_bits(0x7FF8_0000_0000_0001), 4).is_err());
    }

    #[test]
    fn constants_between_two_floats_have_a_place_between_them() {
        // 0.1 is not an f32; the nearest one is greater.
        let point = point(0.1, 4).unwrap();
        assert!(value(point.high, 4) < 0.1 && 0.1 < value(point.low, 4));
        // 2^53 + 1 is not an f64; it rounds down.
        let point = integer_point((1 << 53) + 1, 8);
        assert_eq!(value(point.high, 8), 9_007_199_254_740_992.0);
        assert_eq!(integer_point(1 << 53, 8), Point::exact(point.high));
        // The greatest i128 rounds up.
        assert!(integer_point(i128::MAX, 8).high < integer_point(i128::MAX, 8).low);
    }
}
