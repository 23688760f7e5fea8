//! `bigtable.*`: fields of Bigtable's structs in ordered code, with their separators.

use super::facts::{Facts, Frame, Layout, Null};
use super::integer::IntegerImage;
use crate::encode::{Content, Separation};

pub(super) const TYPES: &[Facts] = &[
    field("bigtable.ordered_string", Content::Text),
    field("bigtable.ordered_bytes", Content::Raw),
    field("bigtable.ordered_int64", Content::Integer(IntegerImage::OrderedCode)),
    field("bigtable.big_endian_int64", Content::Integer(IntegerImage::BigEndian)),
];

const fn field(word: &'static str, content: Content) -> Facts {
    let layout = Layout::Sequence(content, Frame::Separated(Separation::Bigtable));
    Facts { word, layout, tag: None, null: Null::Never, desc: false }
}
