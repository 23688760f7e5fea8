//! The template language: parsing and printing.

mod bracket;
mod computed;
mod element;
mod field;
mod field_type;
mod modifier;
mod parse;
mod print;
mod value;
mod words;

pub(crate) use bracket::{check_name, is_name};
pub(crate) use element::{Element, Naming};
pub(crate) use parse::{COMPUTED_MAX, Parsed, parse, parse_literal};
pub(crate) use print::print_literal;
pub(crate) use value::parse_value;
pub(crate) use words::is_type;
