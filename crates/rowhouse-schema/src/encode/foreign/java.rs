//! `java.*`: the bytes that HBase's `Bytes.toBytes` produces for Java's types.
//!
//! They are not in numeric order: negative numbers come after all others, negative floats in
//! reverse.

use super::big_endian;
use super::order_break::OrderBreak;
use crate::encode::float;

/// Positive floats come first, then the negative ones from the greatest to the least.
pub(super) fn float_order_break(bytes: u8) -> OrderBreak {
    OrderBreak { at: float::zero(bytes), lower_is_descending: true }
}

pub(super) fn read_integer(bytes: &[u8]) -> i128 {
    let sign = if bytes.first().is_some_and(|byte| *byte >= 0x80) { -1 } else { 0 };
    bytes.iter().fold(sign, |number, &byte| number << 8 | i128::from(byte))
}

pub(super) fn write_float(number: i128, bytes: u8, out: &mut Vec<u8>) {
    big_endian::write(float::bits(number, bytes), bytes, out);
}

pub(super) fn read_float(bytes: &[u8], width: u8) -> i128 {
    let bits = bytes.iter().fold(0, |bits, &byte| bits << 8 | i128::from(byte));
    float::of_bits(bits, width)
}
