//! `ordered_code.*`: Google's orderedcode. Descending order complements every byte, terminators
//! included.

use super::big_endian::unsigned;
use crate::encode::float;

/// The bits in each byte that hold the number; the eighth belongs to the length prefix.
const OWN_BITS: usize = 7;
/// The bytes that a 64-bit number needs.
pub(super) const SIGNED_LEN_MAX: usize = 10;
const UNSIGNED_LEN_MAX: usize = 8;

/// Appends a number: as many one bits as it has bytes, a zero bit, the number. A negative number is
/// the complement of its complement's encoding.
pub(super) fn write_signed(number: i128, out: &mut Vec<u8>) {
    let size = if number < 0 { !number } else { number }.unsigned_abs();
    let len = (1..SIGNED_LEN_MAX).find(|len| size >> (OWN_BITS * len - 1) == 0);
    let len = len.unwrap_or(SIGNED_LEN_MAX);
    let count = ((1_u128 << len) - 1) << (OWN_BITS * len);
    let bytes = if number < 0 { !(count | size) } else { count | size };
    out.extend_from_slice(&bytes.to_be_bytes()[16 - len..]);
}

/// How many bytes a number has that begins with these.
pub(super) fn signed_len(head: [Option<u8>; 2]) -> Result<usize, &'static str> {
    let [Some(first), second] = head else { return Err("a number is missing") };
    let flip = if first & 0x80 == 0 { 0xFF } else { 0 };
    let ones = (first ^ flip).leading_ones();
    let more = if ones < 8 { 0 } else { second.map_or(0, |second| (second ^ flip).leading_ones()) };
    let len = (ones + more) as usize;
    if len > SIGNED_LEN_MAX { Err("a number of more than 64 bits") } else { Ok(len) }
}

/// Decodes a number from bytes of the right length.
pub(super) fn read_signed(bytes: &[u8]) -> Option<i128> {
    let is_negative = bytes.first()? & 0x80 == 0;
    let flip = if is_negative { 0xFF } else { 0 };
    let counted = bytes.iter().fold(0_i128, |number, &byte| number << 8 | i128::from(byte ^ flip));
    let size = counted & ((1 << (OWN_BITS * bytes.len())) - 1);
    Some(if is_negative { !size } else { size })
}

/// Appends a number's length in bytes, and these bytes.
pub(super) fn write_unsigned(number: i128, out: &mut Vec<u8>) {
    let bytes = (number as u64).to_be_bytes();
    let zeros = bytes.iter().take_while(|byte| **byte == 0).count();
    out.push((UNSIGNED_LEN_MAX - zeros) as u8);
    out.extend_from_slice(&bytes[zeros..]);
}

/// How many bytes a number has that begins with these.
pub(super) fn unsigned_len(head: [Option<u8>; 2]) -> Result<usize, &'static str> {
    match head[0].map(usize::from) {
        None => Err("a number is missing"),
        Some(len) if len > UNSIGNED_LEN_MAX => Err("a number of more than 64 bits"),
        Some(len) => Ok(1 + len),
    }
}

/// Decodes a number from bytes of the right length.
pub(super) fn read_unsigned(bytes: &[u8]) -> Option<i128> {
    bytes.split_first().map(|(_, rest)| unsigned(rest))
}

/// Appends a float in the domain. Both zeros have the same bytes.
pub(super) fn write_float(number: i128, out: &mut Vec<u8>) {
    let distance = number - float::zero(8);
    write_signed(if distance < 0 { distance + 1 } else { distance }, out);
}

/// Decodes a float; zero is the positive one.
pub(super) fn read_float(bytes: &[u8]) -> Option<i128> {
    let distance = read_signed(bytes)?;
    Some(float::zero(8) + if distance < 0 { distance - 1 } else { distance })
}
