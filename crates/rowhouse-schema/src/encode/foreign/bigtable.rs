//! `bigtable.*`: fields in Bigtable's structs in ordered code, with their separators.

use super::facts::{Frame, Layout, Null, TypeDescription};
use super::integer::IntegerEncoding;
use crate::encode::{Content, Separation};

pub(super) const TYPES: &[TypeDescription] = &[
    field("bigtable.ordered_string", Content::Text),
    field("bigtable.ordered_bytes", Content::Raw),
    field("bigtable.ordered_int64", Content::Integer(IntegerEncoding::OrderedCode)),
    field("bigtable.big_endian_int64", Content::Integer(IntegerEncoding::BigEndian)),
];

const fn field(word: &'static str, content: Content) -> TypeDescription {
    let layout = Layout::Sequence(content, Frame::Separated(Separation::Bigtable));
    TypeDescription { word, layout, tag: None, null: Null::Never, desc: false }
}
