//! Keys as Rust structs: [`RowKey`] and [`FromRowKey`], which `rowhouse-derive` implements, and the
//! Rust types of their fields.

mod from_field;
mod holds;
mod plain;
mod row_key;
mod to_field;

pub use from_field::FromField;
pub use holds::Holds;
pub use plain::{PlainNumber, PlainReader, PlainStep, PlainWriter};
pub use row_key::{FromRowKey, RowKey};
pub use to_field::ToField;
