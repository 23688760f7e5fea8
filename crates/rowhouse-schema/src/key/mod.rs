//! Parsed templates: encoding values as keys, and decoding keys.

mod compute;
mod computed_steps;
mod decode;
mod encode;
mod logical;
mod named;
mod prefix;
mod reader;
mod schema;
mod splits;
mod steps;
mod values;
mod written_value;

pub use named::NamedValues;
pub use prefix::KeyPrefix;
pub use reader::KeyReader;
pub use schema::{INDEX_OF_ATTRIBUTE, KEY_ATTRIBUTE, KeySchema};
pub(crate) use schema::{LANGUAGE_VERSION, without_version};
pub use values::Values;
