//! `tuple.*`: elements in FoundationDB's tuple layer.
//!
//! A code before each element identifies the type and, for a whole number, the length. No element
//! begins with FF, so the zero byte that ends a text or bytes can be told from a zero that is
//! escaped as 00 FF.

/// The code for zero. The next codes are for positive numbers with one to eight bytes, the previous
/// ones for negative numbers.
const ZERO: u8 = 0x14;
/// The codes for numbers with more than eight bytes. The byte count follows the code; it is
/// complemented for negative numbers.
const POSITIVE_LONG: u8 = 0x1D;
const NEGATIVE_LONG: u8 = 0x0B;
/// The greatest length in bytes that has a separate code.
const SHORT_MAX: usize = 8;
/// The maximum length in bytes: 38 digits need 16.
const LEN_MAX: usize = 16;

/// Appends a whole number in as few bytes as possible; a negative number's bytes complement the
/// absolute value.
pub(super) fn write_integer(number: i128, out: &mut Vec<u8>) {
    let size = number.unsigned_abs();
    let len = LEN_MAX - size.leading_zeros() as usize / 8;
    let count = len as u8;
    match (number < 0, len <= SHORT_MAX) {
        (false, true) => out.push(ZERO + count),
        (true, true) => out.push(ZERO - count),
        (false, false) => out.extend_from_slice(&[POSITIVE_LONG, count]),
        (true, false) => out.extend_from_slice(&[NEGATIVE_LONG, !count]),
    }
    let bytes = if number < 0 { !size } else { size };
    out.extend_from_slice(&bytes.to_be_bytes()[LEN_MAX - len..]);
}

/// Returns a whole number's encoded length, including the code, from the first two bytes.
pub(super) fn integer_len(head: [Option<u8>; 2]) -> Result<usize, &'static str> {
    let [Some(code), count] = head else { return Err("not a code of a whole number") };
    let long = |count: Option<u8>| match count.map(usize::from) {
        None => Err("the length of a whole number is missing"),
        Some(count) if count > LEN_MAX => Err("a whole number of more than 38 digits"),
        Some(count) => Ok(2 + count),
    };
    match code {
        0x0C..=0x1C => Ok(1 + usize::from(code.abs_diff(ZERO))),
        POSITIVE_LONG => long(count),
        NEGATIVE_LONG => long(count.map(|count| !count)),
        _ => Err("not a code of a whole number"),
    }
}

/// Decodes a whole number from all its bytes. `None` if it does not fit an `i128`.
pub(super) fn read_integer(bytes: &[u8]) -> Option<i128> {
    let (&code, rest) = bytes.split_first()?;
    let rest = if matches!(code, POSITIVE_LONG | NEGATIVE_LONG) { rest.get(1..)? } else { rest };
    let flip = if code < ZERO { 0xFF } else { 0 };
    let size = rest.iter().fold(0_u128, |size, &byte| size << 8 | u128::from(byte ^ flip));
    let size = i128::try_from(size).ok()?;
    Some(if code < ZERO { -size } else { size })
}
