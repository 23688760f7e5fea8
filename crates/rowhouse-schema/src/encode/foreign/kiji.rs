//! `kiji.*`: the components in Kiji's formatted keys. The hash before them is a computed field with
//! md5.

use super::facts::{Frame, Layout, Null, TypeDescription, Values};
use crate::encode::terminated::Style;
use crate::encode::{Content, Shape};

pub(super) const TYPES: &[TypeDescription] = &[
    component("kiji.string", Layout::Sequence(Content::Text, Frame::Terminated(Style::Zero))),
    component("kiji.int", integer(4)),
    component("kiji.long", integer(8)),
];

const fn component(word: &'static str, layout: Layout) -> TypeDescription {
    TypeDescription { word, layout, tag: None, null: Null::Never, desc: false }
}

const fn integer(bytes: u8) -> Layout {
    Layout::Number(Values::signed(bytes), Shape::Binary { bytes, signed: true })
}
