//! Field types and value encodings. Each file has one encoding kind, for both directions.
//!
//! A [`Codec`] is built from a type and the modifiers once, when the template is parsed, so that
//! encoding and decoding need no lookups. The planner (`plan/`) asks codecs for the properties that
//! it needs, never for the type.

mod body;
mod calendar;
mod codec;
mod content;
mod encodable;
mod field_type;
mod fixed;
mod float;
pub(crate) mod foreign;
mod form;
mod hashed;
mod holds;
mod labels;
mod lead;
mod number;
mod open;
mod ordinal_domain;
mod own;
mod plain;
mod point;
mod quick;
mod repeat;
mod separated;
mod sequence;
mod seven_bits;
pub(crate) mod shortest;
mod terminated;

pub(crate) use body::Body;
pub use calendar::Calendar;
pub(crate) use codec::Codec;
pub(crate) use content::{Arrangement, Content};
pub(crate) use encodable::Encodable;
pub use field_type::FieldType;
pub(crate) use fixed::Fixed;
pub use foreign::ForeignType;
pub(crate) use form::{Shape, digits_of};
pub use holds::Holds;
pub use labels::Labels;
pub(crate) use lead::Marker;
pub(crate) use number::Number;
pub use number::PlainNumber;
pub(crate) use open::{End, ends_at_its_end};
pub(crate) use ordinal_domain::{OrdinalDomain, Tick, ValueForm, count_ticks, integer, is_count};
pub(crate) use plain::{is_plain, read_bytes};
pub(crate) use point::Point;
pub(crate) use quick::FastNumber;
pub(crate) use repeat::Repeat;
pub(crate) use separated::{Separated, Separation};
pub(crate) use sequence::{Container, Sequence};
pub(crate) use shortest::ShortestDigits;
pub(crate) use terminated::Terminated;
