//! The tables of foreign types, one for each system.

use super::DecimalEncoding;
use super::IntegerEncoding;
use super::byte_mapping::ByteMapping;
use super::facts::{Frame, Layout, Null, TypeDescription, Values};
use super::phoenix::MILLI;
use crate::encode::shortest::MAX;
use crate::encode::terminated::Style;
use crate::encode::{Content, Separation, Shape};
use crate::time::TimeUnit;

/// All systems' tables.
pub(super) const FAMILIES: &[&[TypeDescription]] =
    &[JAVA, ORDERED, PHOENIX, TUPLE, ORDERED_CODE, BIGTABLE, KIJI];

/// `java.*`: the bytes that HBase's `Bytes.toBytes` produces.
const JAVA: &[TypeDescription] = &[
    number("java.long", Values::signed(8), java_integer(8)),
    number("java.int", Values::signed(4), java_integer(4)),
    number("java.short", Values::signed(2), java_integer(2)),
    number("java.double", Values::Floats(8), mapped(ByteMapping::JavaFloat { bytes: 8 })),
    number("java.float", Values::Floats(4), mapped(ByteMapping::JavaFloat { bytes: 4 })),
    number("java.boolean", Values::Bools, mapped(ByteMapping::JavaBoolean)),
];

/// `ordered.*`: HBase's OrderedBytes, ascending and descending.
///
/// A tag tells the types apart; null's tag is less than all others. Descending order complements
/// everything, tags and terminators included.
const ORDERED: &[TypeDescription] = &[
    number("ordered.int8", Values::signed(1), signed(1)).ordered(0x29),
    number("ordered.int16", Values::signed(2), signed(2)).ordered(0x2A),
    number("ordered.int32", Values::signed(4), signed(4)).ordered(0x2B),
    number("ordered.int64", Values::signed(8), signed(8)).ordered(0x2C),
    number("ordered.float32", Values::Floats(4), unsigned(4)).ordered(0x30),
    number("ordered.float64", Values::Floats(8), unsigned(8)).ordered(0x31),
    sequence("ordered.string", Content::Text, Frame::Terminated(Style::Zero)).ordered(0x34),
    sequence("ordered.blob_var", Content::Raw, Frame::SevenBits).ordered(0x37),
    sequence("ordered.blob_copy", Content::Raw, Frame::Copy).ordered(0x38),
    TypeDescription {
        null: ORDERED_NULL,
        ..sequence("ordered.numeric", Content::Decimal(DecimalEncoding::Ordered), Frame::Numeric)
    }
    .with_desc(),
];

const ORDERED_NULL: Null = Null::Tag(0x05);

/// `phoenix.*`: primary-key columns in Apache Phoenix.
///
/// Descending order complements every value byte. A column with fixed width is never null.
const PHOENIX: &[TypeDescription] = &[
    number("phoenix.bigint", Values::signed(8), signed(8)).with_desc(),
    number("phoenix.integer", Values::signed(4), signed(4)).with_desc(),
    number("phoenix.smallint", Values::signed(2), signed(2)).with_desc(),
    number("phoenix.tinyint", Values::signed(1), signed(1)).with_desc(),
    number("phoenix.unsigned_long", Values::positive(8), unsigned(8)).with_desc(),
    number("phoenix.unsigned_int", Values::positive(4), unsigned(4)).with_desc(),
    number("phoenix.unsigned_smallint", Values::positive(2), unsigned(2)).with_desc(),
    number("phoenix.unsigned_tinyint", Values::positive(1), unsigned(1)).with_desc(),
    number("phoenix.date", MILLIS, signed(8)).with_desc(),
    number("phoenix.time", MILLIS, signed(8)).with_desc(),
    number("phoenix.unsigned_date", MILLIS_POSITIVE, unsigned(8)).with_desc(),
    number("phoenix.unsigned_time", MILLIS_POSITIVE, unsigned(8)).with_desc(),
    number("phoenix.timestamp", timestamps(i64::MIN), phoenix_timestamp(true)).with_desc(),
    number("phoenix.unsigned_timestamp", timestamps(0), phoenix_timestamp(false)).with_desc(),
    number("phoenix.double", Values::Floats(8), shifted(8, 1)).with_desc(),
    number("phoenix.float", Values::Floats(4), shifted(4, 1)).with_desc(),
    number("phoenix.unsigned_double", Values::PositiveFloats(8), shifted(8, -(1 << 63)))
        .with_desc(),
    number("phoenix.unsigned_float", Values::PositiveFloats(4), shifted(4, -(1 << 31))).with_desc(),
    number("phoenix.boolean", Values::Bools, mapped(ByteMapping::PhoenixBoolean)).with_desc(),
    sequence("phoenix.char", Content::Ascii, Frame::Width { pad: Some(b' ') }).with_desc(),
    sequence("phoenix.binary", Content::Raw, Frame::Width { pad: None }).with_desc(),
    phoenix_separated("phoenix.varchar", Content::Text),
    phoenix_separated("phoenix.decimal", Content::Decimal(DecimalEncoding::Phoenix)),
    sequence("phoenix.varbinary", Content::Some, Frame::Rest),
];

/// `tuple.*`: elements in FoundationDB's tuple layer.
///
/// A code before each element identifies the type and, for a whole number, the length. No element
/// begins with FF, so the zero byte that ends a text or bytes can be told from a zero that is
/// escaped as 00 FF.
const TUPLE: &[TypeDescription] = &[
    number("tuple.int", Values::Integers(-MAX, MAX), mapped(ByteMapping::TupleInteger))
        .element(None),
    number("tuple.float", Values::FloatsAndNans(4), unsigned(4)).element(Some(0x20)),
    number("tuple.double", Values::FloatsAndNans(8), unsigned(8)).element(Some(0x21)),
    number("tuple.bool", Values::Bools, shifted(1, 0x26)).element(None),
    sequence("tuple.bytes", Content::Raw, Frame::Terminated(Style::BareZero)).element(Some(0x01)),
    sequence("tuple.string", Content::Text, Frame::Terminated(Style::BareZero)).element(Some(0x02)),
    sequence("tuple.uuid", Content::Uuid, Frame::Fixed(16)).element(Some(0x30)),
];

/// `ordered_code.*`: Google's orderedcode. Descending order complements every byte, terminators
/// included.
const ORDERED_CODE: &[TypeDescription] = &[
    sequence("ordered_code.string", Content::Text, Frame::Terminated(Style::PairOfBoth))
        .with_desc(),
    sequence("ordered_code.bytes", Content::Raw, Frame::Terminated(Style::PairOfBoth)).with_desc(),
    number("ordered_code.int64", Values::signed(8), mapped(ByteMapping::CodeSigned)).with_desc(),
    number(
        "ordered_code.uint64",
        Values::Integers(0, u64::MAX as i128),
        mapped(ByteMapping::CodeUnsigned),
    )
    .with_desc(),
    number("ordered_code.float64", Values::Floats(8), mapped(ByteMapping::CodeFloat)).with_desc(),
];

/// `bigtable.*`: fields in Bigtable's structs in ordered code, with their separators.
const BIGTABLE: &[TypeDescription] = &[
    bigtable("bigtable.ordered_string", Content::Text),
    bigtable("bigtable.ordered_bytes", Content::Raw),
    bigtable("bigtable.ordered_int64", Content::Integer(IntegerEncoding::OrderedCode)),
    bigtable("bigtable.big_endian_int64", Content::Integer(IntegerEncoding::BigEndian)),
];

/// `kiji.*`: the components in Kiji's formatted keys. The hash before them is a computed field with
/// md5.
const KIJI: &[TypeDescription] = &[
    sequence("kiji.string", Content::Text, Frame::Terminated(Style::Zero)),
    number("kiji.int", Values::signed(4), signed(4)),
    number("kiji.long", Values::signed(8), signed(8)),
];

/// A type that is never null and has no descending order.
const fn number(word: &'static str, values: Values, shape: Shape) -> TypeDescription {
    let layout = Layout::Number(values, shape);
    TypeDescription { word, layout, tag: None, null: Null::Never, desc: false }
}

/// As [`number`], for texts and bytes.
const fn sequence(word: &'static str, content: Content, frame: Frame) -> TypeDescription {
    let layout = Layout::Sequence(content, frame);
    TypeDescription { word, layout, tag: None, null: Null::Never, desc: false }
}

const fn phoenix_separated(word: &'static str, content: Content) -> TypeDescription {
    let base = sequence(word, content, Frame::Separated(Separation::Phoenix)).with_desc();
    TypeDescription { null: Null::Separator, ..base }
}

const fn bigtable(word: &'static str, content: Content) -> TypeDescription {
    sequence(word, content, Frame::Separated(Separation::Bigtable))
}

impl TypeDescription {
    const fn with_desc(self) -> Self {
        Self { desc: true, ..self }
    }

    /// A type in OrderedBytes with this tag.
    const fn ordered(self, tag: u8) -> Self {
        Self { tag: Some(tag), null: ORDERED_NULL, desc: true, ..self }
    }

    /// An element of a tuple with this code, unless the code is part of the value's bytes.
    const fn element(self, tag: Option<u8>) -> Self {
        Self { tag, null: Null::Tag(0x00), ..self }
    }
}

const fn mapped(mapping: ByteMapping) -> Shape {
    Shape::Foreign(mapping)
}

const fn signed(bytes: u8) -> Shape {
    Shape::Binary { bytes, signed: true }
}

const fn unsigned(bytes: u8) -> Shape {
    Shape::Binary { bytes, signed: false }
}

const fn java_integer(bytes: u8) -> Shape {
    mapped(ByteMapping::JavaInteger { bytes })
}

const fn shifted(bytes: u8, add: i128) -> Shape {
    mapped(ByteMapping::Shifted { bytes, add })
}

const fn phoenix_timestamp(signed: bool) -> Shape {
    mapped(ByteMapping::PhoenixTimestamp { signed })
}

const MILLIS: Values = Values::Times(TimeUnit::Millis, i64::MIN as i128, i64::MAX as i128);
const MILLIS_POSITIVE: Values = Values::Times(TimeUnit::Millis, 0, i64::MAX as i128);

/// Timestamps in nanoseconds, from the millisecond `first` on.
const fn timestamps(first: i64) -> Values {
    let last = i64::MAX as i128 * MILLI + MILLI - 1;
    Values::Times(TimeUnit::Nanos, first as i128 * MILLI, last)
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
