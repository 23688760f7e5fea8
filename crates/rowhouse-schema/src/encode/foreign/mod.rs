//! Types of other systems, byte for byte as these write them: a file for each family.
//!
//! A family is a table of [`Facts`]; numbers that are not simply big-endian have an [`Image`] besides. What
//! comes of both are the codecs that native types have too, so planning knows no foreign type.

mod facts;
mod image;
mod java;

use std::fmt;
use std::hash::{Hash, Hasher};

use super::{Body, Lead, Number, Scale};
use crate::transform::NullPlace;
pub(crate) use facts::{Facts, Layout, Null};
pub(crate) use image::{Image, Turn};

/// A type of another system: `java.long`, `phoenix.varchar`, `ordered.string`, …
///
/// ```
/// use rowhouse_schema::{FieldOrder, FieldType, KeySchema};
///
/// // Bytes.toBytes(-1L): eight bytes FF, behind all numbers that are not negative.
/// let schema = KeySchema::parse("[id java.long]")?;
/// let FieldType::Foreign(long) = schema.fields()[0].field_type() else { panic!() };
/// assert_eq!(long.name(), "java.long");
/// assert_eq!(schema.encode(&[("id", (-1).into())])?, [0xFF; 8]);
/// assert_eq!(schema.fields()[0].order(), FieldOrder::AsStored);
/// # Ok::<(), rowhouse_model::Error>(())
/// ```
#[derive(Clone, Copy)]
pub struct ForeignType {
    facts: &'static Facts,
}

/// The tables of all families.
const FAMILIES: &[&[Facts]] = &[java::TYPES];

impl ForeignType {
    /// The type of that name.
    pub(crate) fn named(word: &str) -> Option<Self> {
        FAMILIES
            .iter()
            .copied()
            .flatten()
            .find(|facts| facts.word == word)
            .map(|facts| Self { facts })
    }

    /// The names of all types.
    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        FAMILIES.iter().copied().flatten().map(|facts| facts.word)
    }

    /// Its name, as templates write it, without a width.
    pub fn name(&self) -> &'static str {
        self.facts.word
    }

    pub(crate) fn facts(&self) -> &'static Facts {
        self.facts
    }

    /// The scale, if its values are numbers of one.
    pub(crate) fn scale(&self) -> Option<Scale> {
        match &self.facts.layout {
            Layout::Number(values, _) => Some(values.scale()),
        }
    }

    /// What stands in front of its bytes.
    pub(crate) fn lead(&self, is_nullable: bool, desc: bool) -> Lead {
        let null = match self.facts.null {
            Null::Tag(tag) if is_nullable => Some(tag),
            Null::Tag(_) | Null::Never => None,
        };
        let lead = Lead { value: self.facts.tag, null };
        if desc { lead.complemented() } else { lead }
    }

    /// Where null stands among the values, if there may be none.
    pub(crate) fn null_place(&self, desc: bool) -> Option<NullPlace> {
        match self.facts.null {
            Null::Never => None,
            Null::Tag(_) if desc => Some(NullPlace::Last),
            Null::Tag(_) => Some(NullPlace::First),
        }
    }

    pub(crate) fn body(&self, desc: bool) -> Body {
        match &self.facts.layout {
            Layout::Number(values, shape) => {
                Body::Number(Number::foreign(values.scale(), *shape, desc))
            }
        }
    }
}

impl PartialEq for ForeignType {
    fn eq(&self, other: &Self) -> bool {
        self.facts.word == other.facts.word
    }
}

impl Eq for ForeignType {}

impl Hash for ForeignType {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.facts.word.hash(state);
    }
}

impl fmt::Display for ForeignType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.facts.word)
    }
}

impl fmt::Debug for ForeignType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ForeignType({self})")
    }
}
