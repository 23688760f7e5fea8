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

/// One piece of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Element {
    /// Bytes that every key has.
    Literal(Vec<u8>),
    /// A stored field, by its position among the fields.
    Field(usize),
    /// A computed field, by its position among the computed fields.
    Computed(usize),
}
