//! The template language: text to elements and back.

mod field;
mod parse;
mod print;
mod words;

pub(crate) use parse::parse;
pub(crate) use print::print_literal;
pub(crate) use words::closest;

/// One piece of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Element {
    /// Bytes that stand in every key.
    Literal(Vec<u8>),
    /// A stored field, by its position among the fields.
    Field(usize),
}

/// Whether a character can stand for itself in a literal.
fn is_plain(c: char) -> bool {
    !matches!(c, '[' | ']' | '\\') && !c.is_whitespace() && !c.is_control()
}
