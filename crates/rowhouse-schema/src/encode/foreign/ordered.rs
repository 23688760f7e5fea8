//! `ordered.*`: HBase's OrderedBytes, ascending and descending.
//!
//! A tag tells the types apart; null's tag is less than all others. Descending order complements
//! everything, tags and terminators included.

use super::DecimalEncoding;
use super::facts::{Frame, Layout, Null, TypeDescription, Values};
use crate::encode::terminated::Style;
use crate::encode::{Content, Shape};

pub(super) const TYPES: &[TypeDescription] = &[
    number("ordered.int8", 0x29, Values::signed(1), binary(1, true)),
    number("ordered.int16", 0x2A, Values::signed(2), binary(2, true)),
    number("ordered.int32", 0x2B, Values::signed(4), binary(4, true)),
    number("ordered.int64", 0x2C, Values::signed(8), binary(8, true)),
    number("ordered.float32", 0x30, Values::Floats(4), binary(4, false)),
    number("ordered.float64", 0x31, Values::Floats(8), binary(8, false)),
    sequence("ordered.string", 0x34, Content::Text, Frame::Terminated(Style::Zero)),
    sequence("ordered.blob_var", 0x37, Content::Raw, Frame::SevenBits),
    sequence("ordered.blob_copy", 0x38, Content::Raw, Frame::Copy),
    TypeDescription {
        word: "ordered.numeric",
        layout: Layout::Sequence(Content::Decimal(DecimalEncoding::Ordered), Frame::Numeric),
        tag: None,
        null: NULL,
        desc: true,
    },
];

const fn binary(bytes: u8, signed: bool) -> Shape {
    Shape::Binary { bytes, signed }
}

const fn number(word: &'static str, tag: u8, values: Values, shape: Shape) -> TypeDescription {
    TypeDescription {
        word,
        layout: Layout::Number(values, shape),
        tag: Some(tag),
        null: NULL,
        desc: true,
    }
}

const fn sequence(word: &'static str, tag: u8, content: Content, frame: Frame) -> TypeDescription {
    TypeDescription {
        word,
        layout: Layout::Sequence(content, frame),
        tag: Some(tag),
        null: NULL,
        desc: true,
    }
}

const NULL: Null = Null::Tag(0x05);
