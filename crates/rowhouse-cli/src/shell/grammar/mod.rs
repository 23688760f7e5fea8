//! The language for HBase's shell: calls as in Ruby, with texts, numbers, constants, arrays and
//! hashes, and nothing else from Ruby.
//!
//! ```text
//! script    = { statement ( newline | ";" ) }
//! statement = command [ "(" arguments ")" | arguments ]
//! arguments = argument { "," argument }           a pair outside braces begins the trailing hash
//! argument  = value | value "=>" value
//! value     = text | number | CONSTANT | true | false | nil | "[" … "]" | "{" … "}"
//! ```
//!
//! A statement continues on the next line after `,` and `=>`, inside brackets and inside texts, and
//! after a `\` that ends a line. `#` begins a comment.

mod fault;
mod parse;
mod text;
mod token;
mod value;

pub(crate) use fault::{Fault, line_at};
pub(crate) use parse::{Parsed, Statement, parse};
#[cfg(test)]
pub(crate) use value::quoted;
pub(crate) use value::{Hash, Value};
