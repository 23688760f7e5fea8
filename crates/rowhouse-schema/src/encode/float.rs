//! Floats as whole numbers in their order: the bits, with all of them flipped if the sign is set and
//! only the sign bit otherwise, as IEEE 754's total order has it. −0 comes directly before 0.

use super::scale::Point;

/// The numbers of −∞ and ∞.
pub(super) fn ends(bytes: u8) -> (i128, i128) {
    (rank(f64::NEG_INFINITY, bytes), rank(f64::INFINITY, bytes))
}

/// The number of a float, which is exactly one of so many bytes.
pub(super) fn number(float: f64, bytes: u8) -> Result<i128, String> {
    if float.is_nan() {
        return Err("NaN has no place in an order and cannot be held".to_owned());
    }
    if bytes == 4 && f64::from(float as f32).to_bits() != float.to_bits() {
        return Err(format!("an f32 cannot hold the value exactly, use f64: value={float:?}"));
    }
    Ok(rank(float, bytes))
}

/// The float of a number of the scale.
pub(super) fn value(number: i128, bytes: u8) -> f64 {
    let sign = 1_i128 << (8 * bytes - 1);
    let bits = if number & sign != 0 { number ^ sign } else { !number & (2 * sign - 1) };
    match bytes {
        4 => f32::from_bits(bits as u32).into(),
        _ => f64::from_bits(bits as u64),
    }
}

/// The number of the float with these bits.
pub(super) fn of_bits(bits: i128, bytes: u8) -> i128 {
    let sign = 1_i128 << (8 * bytes - 1);
    if bits & sign != 0 { !bits & (2 * sign - 1) } else { bits | sign }
}

/// The number of positive zero; negative floats have lesser ones.
pub(super) fn zero(bytes: u8) -> i128 {
    1 << (8 * bytes - 1)
}

/// Where a float lies: zero is two numbers, one that an f32 cannot hold is none.
pub(super) fn point(float: f64, bytes: u8) -> Result<Point, String> {
    if float.is_nan() {
        return Err("nothing compares with NaN".to_owned());
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

/// Where a whole number lies among the floats.
pub(super) fn integer_point(number: i128, bytes: u8) -> Point {
    if number == 0 {
        return Point { low: rank(-0.0, bytes), high: rank(0.0, bytes) };
    }
    let near = match bytes {
        4 => f64::from(number as f32),
        _ => number as f64,
    };
    // All floats that whole numbers come near to are whole, and 2^127 is the only one beyond i128.
    let order = if near >= i128::MAX as f64 {
        std::cmp::Ordering::Greater
    } else {
        (near as i128).cmp(&number)
    };
    beside(rank(near, bytes), order)
}

/// Where a float lies among the whole numbers.
pub(super) fn whole_point(float: f64) -> Point {
    let floor = float.floor() as i128;
    if float.fract() == 0.0 { Point::exact(floor) } else { Point::behind(floor) }
}

/// The point of a constant, given the number of a float near it and how that compares with it.
fn beside(near: i128, order: std::cmp::Ordering) -> Point {
    match order {
        std::cmp::Ordering::Equal => Point::exact(near),
        std::cmp::Ordering::Less => Point::behind(near),
        std::cmp::Ordering::Greater => Point::behind(near - 1),
    }
}

/// A float as somebody wrote it.
pub(super) fn read(word: &str) -> Option<f64> {
    let digits = word.trim_start_matches(['-', '+']);
    let known = digits.starts_with(|c: char| c.is_ascii_digit()) || digits == "inf";
    word.parse().ok().filter(|_| known)
}

fn rank(float: f64, bytes: u8) -> i128 {
    let bits = match bytes {
        4 => i128::from((float as f32).to_bits()),
        _ => i128::from(float.to_bits()),
    };
    of_bits(bits, bytes)
}

/// The bits of a number's float, as IEEE 754 lays them out.
pub(super) fn bits(number: i128, bytes: u8) -> i128 {
    match bytes {
        4 => i128::from((value(number, 4) as f32).to_bits()),
        _ => i128::from(value(number, 8).to_bits()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn constants_between_two_floats_have_a_place_between_them() {
        // 0.1 is no f32; the nearest one is greater.
        let point = point(0.1, 4).unwrap();
        assert!(value(point.high, 4) < 0.1 && 0.1 < value(point.low, 4));
        // 2^53 + 1 is no f64; it rounds down.
        let point = integer_point((1 << 53) + 1, 8);
        assert_eq!(value(point.high, 8), 9_007_199_254_740_992.0);
        assert_eq!(integer_point(1 << 53, 8), Point::exact(point.high));
        // The greatest whole number there is rounds up.
        assert!(integer_point(i128::MAX, 8).high < integer_point(i128::MAX, 8).low);
    }
}
