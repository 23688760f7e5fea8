//! `java.*`: the bytes that HBase's `Bytes.toBytes` produces for Java's types.
//!
//! They are not in numeric order: negative numbers come after all others, negative floats in
//! reverse.

use super::big_endian;
use super::byte_mapping::ByteMapping;
use super::facts::{Layout, Null, TypeDescription, Values};
use super::order_break::OrderBreak;
use crate::encode::{Shape, float};

pub(super) const TYPES: &[TypeDescription] = &[
    number("java.long", Values::signed(8), ByteMapping::JavaInteger { bytes: 8 }),
    number("java.int", Values::signed(4), ByteMapping::JavaInteger { bytes: 4 }),
    number("java.short", Values::signed(2), ByteMapping::JavaInteger { bytes: 2 }),
    number("java.double", Values::Floats(8), ByteMapping::JavaFloat { bytes: 8 }),
    number("java.float", Values::Floats(4), ByteMapping::JavaFloat { bytes: 4 }),
    number("java.boolean", Values::Bools, ByteMapping::JavaBoolean),
];

const fn number(word: &'static str, values: Values, mapping: ByteMapping) -> TypeDescription {
    let layout = Layout::Number(values, Shape::Foreign(mapping));
    TypeDescription { word, layout, tag: None, null: Null::Never, desc: false }
}

/// Returns advice: the types with the same values that have a descending order.
pub(super) fn with_desc(word: &str) -> Option<&'static str> {
    match word {
        "java.long" => Some("use i64, or u64, which has the same bytes for numbers from 0 on"),
        "java.int" => Some("use i32, or u32, which has the same bytes for numbers from 0 on"),
        "java.short" => Some("use i16, or u16, which has the same bytes for numbers from 0 on"),
        "java.double" => Some("use f64"),
        "java.float" => Some("use f32"),
        _ => None,
    }
}

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
