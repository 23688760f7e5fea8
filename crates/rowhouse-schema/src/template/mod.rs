//! The template language: parsing and printing.

mod bracket;
mod computed;
mod field;
mod field_type;
mod modifier;
mod parse;
mod print;
mod value;
mod words;

pub(crate) use bracket::{check_name, is_name};
pub(crate) use parse::{COMPUTED_MAX, Parsed, parse, parse_literal};
pub(crate) use print::print_literal;
pub(crate) use value::parse_value;
pub(crate) use words::is_type;

/// Which names template fields may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Naming {
    /// Each name once.
    Key,
    /// In an index template: qualifier fields too, `tagged.tag`, and a name may stand for parts of
    /// a value (a hash, a step) before it stands for the whole.
    Index,
}

/// One template piece.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Element {
    /// Bytes that every key has.
    Literal(Vec<u8>),
    /// A stored field, by position among the fields.
    Field(usize),
    /// A computed field, by position among the computed fields.
    Computed(usize),
}
