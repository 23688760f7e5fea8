//! The codec for values that are not null, by the kind of the encoding.

use super::codec::Codec;
use super::content::Content;
use super::field_type::FieldType;
use super::foreign::{self, ForeignType};
use super::hashed::Hashed;
use super::holds::Holds;
use super::number::Number;
use super::open::End;
use super::ordinal_domain::{OrdinalDomain, ValueForm, integer};
use super::own::Layout;
use super::plain::read_bytes;
use super::repeat::Repeat;
use super::sequence::{Container, Sequence};
use super::shortest::{ShortestDigits, put_canonical};
use crate::error::{Fault, KeyMismatch};
use crate::transform::Modifiers;
use crate::value::{Decimal, FieldValue, Value};

/// The codec for values that are not null.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Body {
    /// Whole numbers from an ordinal domain, with fixed width.
    Number(Number),
    /// Whole numbers as the shortest decimal text.
    Shortest(ShortestDigits),
    /// Texts and bytes.
    Sequence(Sequence),
    /// Groups with fixed width.
    Repeat(Repeat),
    /// A hash of the value.
    Hashed(Hashed),
}

impl Body {
    pub(super) fn new(
        field_type: &FieldType,
        modifiers: &Modifiers,
        end: End,
    ) -> Result<Self, String> {
        match field_type.layout() {
            Layout::Number(domain, shape) => {
                Number::new(field_type, (domain, shape), modifiers).map(Self::Number)
            }
            Layout::Shortest => Ok(Self::Shortest(ShortestDigits::new(end, modifiers.reverse))),
            Layout::Sequence(content, arrangement, frame) => {
                Ok(Self::Sequence(Sequence::new((content, arrangement, frame), modifiers, end)))
            }
            Layout::Repeat(types) => {
                let plain = Modifiers::default();
                let group = types.iter().map(|inner| Codec::new(inner, &plain, End::Key));
                Ok(Self::Repeat(Repeat { group: group.collect::<Result<_, _>>()? }))
            }
            Layout::Foreign(foreign) => Ok(Self::foreign(foreign, modifiers.desc)),
        }
    }

    /// Creates the codec for values in another system's encoding.
    fn foreign(foreign: &ForeignType, desc: bool) -> Self {
        match foreign.layout() {
            foreign::Layout::Number(values, shape) => {
                Self::Number(Number::foreign(values.domain(), *shape, desc))
            }
            foreign::Layout::Sequence(content, frame) => {
                let container = Container::foreign(*frame, foreign.width(), desc);
                Self::Sequence(Sequence::foreign(*content, container))
            }
        }
    }

    pub(super) fn encode(&self, value: &Value, out: &mut Vec<u8>) -> Result<(), String> {
        match self {
            Self::Number(number) => number.encode(value, out),
            Self::Shortest(shortest) => shortest.encode(value, out),
            Self::Sequence(sequence) => sequence.encode(value, out),
            Self::Repeat(repeat) => repeat.encode(value, out),
            Self::Hashed(hashed) => hashed.encode(value, out),
        }
    }

    pub(super) fn decode<'k>(
        &self,
        form: ValueForm,
        key: &'k [u8],
        at: usize,
    ) -> Result<(FieldValue<'k>, usize), KeyMismatch> {
        let (value, next) = match self {
            Self::Number(number) => {
                let (read, next) = number.decode(key, at)?;
                (number.domain.value_as(read, form), next)
            }
            Self::Shortest(shortest) => {
                let (read, next) = shortest.decode(key, at)?;
                (shortest.domain.value_as(read, form), next)
            }
            Self::Sequence(sequence) => return sequence.decode(key, at),
            Self::Repeat(repeat) => repeat.decode(key, at)?,
            Self::Hashed(hashed) => hashed.decode(key, at)?,
        };
        Ok((FieldValue::Other(value), next))
    }

    /// The ordinal domain, if values are numbers from one.
    pub(crate) fn domain(&self) -> Option<&OrdinalDomain> {
        match self {
            Self::Number(number) => Some(&number.domain),
            Self::Shortest(shortest) => Some(&shortest.domain),
            _ => None,
        }
    }

    /// The sets from which a Rust type must hold one to fit these values.
    pub(crate) fn needs(&self) -> Vec<Holds> {
        match self {
            Self::Sequence(Sequence { content, container, .. }) => match (content, container) {
                (Content::Text | Content::Ascii | Content::Hex { .. }, _) => vec![Holds::Text],
                (Content::Decimal(_), _) => vec![Holds::Decimal],
                (Content::Integer(image), _) => {
                    let (min, max) = image.limits();
                    vec![Holds::Whole { min, max }]
                }
                (Content::Uuid, _) => vec![Holds::Uuid, Holds::Array { len: 16 }],
                (Content::Raw, Container::Fixed(fixed)) => {
                    vec![Holds::Array { len: fixed.width.into() }, Holds::Bytes]
                }
                (Content::Raw | Content::Some, _) => vec![Holds::Bytes],
            },
            Self::Repeat(_) | Self::Hashed(_) => Vec::new(),
            Self::Number(_) | Self::Shortest(_) => {
                self.domain().map_or(Vec::new(), |domain| domain.needs())
            }
        }
    }
    pub(crate) fn put_canonical(&self, value: &Value, out: &mut Vec<u8>) -> Result<(), String> {
        match self {
            Self::Number(number) => number.put_canonical(number.domain.number(value)?, out),
            Self::Shortest(shortest) => {
                put_canonical(shortest.domain.number(value)?, out);
            }
            Self::Sequence(sequence) => out.extend_from_slice(&sequence.content.bytes(value)?),
            Self::Repeat(repeat) => repeat.encode(value, out)?,
            Self::Hashed(hashed) => match value {
                Value::Hashed(_) => return Err("a hash is given, but the value is needed".into()),
                value => hashed.of.put_canonical(value, out)?,
            },
        }
        Ok(())
    }

    pub(super) fn read(&self, text: &str) -> Result<Value, Fault> {
        match self {
            Self::Number(number) => number.domain.read(text),
            Self::Shortest(shortest) => shortest.domain.read(text),
            Self::Sequence(Sequence { content: Content::Raw | Content::Some, .. }) => {
                read_bytes(text)
                    .map(Value::Bytes)
                    .ok_or_else(|| Fault::new(0, "expected bytes such as 0x00ff"))
            }
            Self::Sequence(Sequence { content: Content::Decimal(_), .. }) => Decimal::parse(text)
                .map(Value::Decimal)
                .ok_or_else(|| Fault::new(0, "expected a decimal number of at most 38 digits")),
            Self::Sequence(Sequence { content: Content::Integer(_), .. }) => integer(text)
                .map(Value::Signed)
                .ok_or_else(|| Fault::new(0, "expected a whole number")),
            Self::Sequence(_) => Ok(text.into()),
            Self::Repeat(_) => Err(Fault::new(0, "a list cannot be written as plain text")),
            // A text that looks like a stored hash is a text: the meaning must not depend on the
            // content.
            Self::Hashed(hashed) => hashed.of.read(text),
        }
    }
}
