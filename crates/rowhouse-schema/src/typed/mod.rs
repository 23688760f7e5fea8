//! Keys as Rust structs: [`RowKey`] and [`FromRowKey`], which `rowhouse-derive` implements, and the
//! Rust types for their fields.

mod from_field;
mod plain;
mod reader;
mod row_key;
mod to_field;

pub use from_field::FromField;
pub use plain::{PlainReader, PlainStep, PlainWriter};
pub use row_key::{FromRowKey, RowKey};
pub use to_field::ToField;
