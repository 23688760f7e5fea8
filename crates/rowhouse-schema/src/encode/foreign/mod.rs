//! Other systems' types in those systems' exact bytes.
//!
//! `types.rs` describes each type in a line; numbers that are not plain big-endian also have a
//! [`ByteMapping`], whose bytes are in one file per system. Both result in the codecs that native
//! types use, so the planner does not know about foreign types.

mod big_endian;
mod byte_mapping;
mod decimal;
mod facts;
mod integer;
mod java;
mod numeric;
mod order_break;
mod ordered_code;
mod phoenix;
mod tuple;
mod types;

use std::fmt;
use std::hash::{Hash, Hasher};

use super::{Marker, OrdinalDomain, Shape};
use crate::transform::NullPlace;
pub(crate) use byte_mapping::ByteMapping;
pub(crate) use decimal::DecimalEncoding;
pub(crate) use facts::{Frame, Layout, Null, TypeDescription};
pub(crate) use integer::IntegerEncoding;
pub(crate) use numeric::Numeric;
pub(crate) use order_break::OrderBreak;
use types::FAMILIES;

/// A type from another system: `java.long`, `phoenix.varchar`, `ordered.string`, …
///
/// ```
/// use rowhouse_schema::{FieldOrder, FieldType, KeySchema};
///
/// // Bytes.toBytes(-1L): eight bytes FF, after all numbers that are not negative.
/// let schema = KeySchema::parse("[id java.long]")?;
/// let FieldType::Foreign(long) = schema.fields()[0].field_type() else { panic!() };
/// assert_eq!(long.name(), "java.long");
/// assert_eq!(schema.encode(&[("id", (-1).into())])?[..], [0xFF; 8]);
/// assert_eq!(schema.fields()[0].order(), FieldOrder::AsStored);
/// # Ok::<(), rowhouse_model::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct ForeignType {
    facts: &'static TypeDescription,
    /// The number after the word, for types that have one.
    width: Option<u16>,
}

/// How bucket numbers by `java.hashcode` are encoded: Java's short.
pub(crate) fn java_remainder() -> Shape {
    Shape::Foreign(ByteMapping::JavaInteger { bytes: 2 })
}

impl ForeignType {
    /// Returns the type with this name, without a width.
    pub(crate) fn named(word: &str) -> Option<Self> {
        let mut all = FAMILIES.iter().copied().flatten();
        all.find(|facts| facts.word == word).map(|facts| Self { facts, width: None })
    }

    /// All types' names.
    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        FAMILIES.iter().copied().flatten().map(|facts| facts.word)
    }

    /// The name in templates, without a width.
    pub fn name(&self) -> &'static str {
        self.facts.word
    }

    /// The number after the name, for `phoenix.char N` and `phoenix.binary N`: the width in bytes.
    pub fn width(&self) -> Option<u16> {
        self.width
    }

    /// Returns true if a width follows the name.
    pub(crate) fn has_width(&self) -> bool {
        matches!(self.facts.layout, Layout::Sequence(_, Frame::Width { .. }))
    }

    pub(crate) fn set_width(&mut self, width: u16) {
        self.width = Some(width);
    }

    /// Returns true if the type has a descending order.
    pub(crate) fn has_desc(&self) -> bool {
        self.facts.desc
    }

    /// Returns advice: the types with the same values that have a descending order.
    pub(crate) fn with_desc(&self) -> Option<&'static str> {
        types::with_desc(self.name())
    }

    /// Returns true if values extend to the key's end.
    pub(crate) fn is_open(&self, desc: bool) -> bool {
        match self.facts.layout {
            Layout::Sequence(_, Frame::Rest) => true,
            Layout::Sequence(_, Frame::Copy) => !desc,
            Layout::Sequence(..) | Layout::Number(..) => false,
        }
    }

    /// The ordinal domain, if the values are numbers in one.
    pub(crate) fn domain(&self) -> Option<OrdinalDomain> {
        match &self.facts.layout {
            Layout::Number(values, _) => Some(values.domain()),
            Layout::Sequence(..) => None,
        }
    }

    /// Returns the byte before the value's own bytes.
    pub(crate) fn lead(&self, is_nullable: bool, desc: bool) -> Marker {
        let null = match self.facts.null {
            Null::Tag(tag) if is_nullable => Some(tag),
            Null::Separator if is_nullable => return Marker { value: None, null: Some(0) },
            Null::Tag(_) | Null::Separator | Null::Never => None,
        };
        let lead = Marker { value: self.facts.tag, null };
        if desc { lead.complemented() } else { lead }
    }

    /// Null's position among the values, if the type can be null.
    pub(crate) fn null_place(&self, desc: bool) -> Option<NullPlace> {
        match self.facts.null {
            Null::Never => None,
            Null::Tag(_) if desc => Some(NullPlace::Last),
            Null::Tag(_) | Null::Separator => Some(NullPlace::First),
        }
    }

    /// Returns where the type's values are stored.
    pub(super) fn layout(&self) -> &'static Layout {
        &self.facts.layout
    }
}

impl PartialEq for ForeignType {
    fn eq(&self, other: &Self) -> bool {
        (self.facts.word, self.width) == (other.facts.word, other.width)
    }
}

impl Eq for ForeignType {}

impl Hash for ForeignType {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (self.facts.word, self.width).hash(state);
    }
}

impl fmt::Display for ForeignType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.facts.word)?;
        self.width.map_or(Ok(()), |width| write!(f, " {width}"))
    }
}

impl fmt::Debug for ForeignType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ForeignType({self})")
    }
}
