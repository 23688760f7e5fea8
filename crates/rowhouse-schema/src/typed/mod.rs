//! Keys as Rust structs: [`RowKey`] and [`FromRowKey`], which the crate `rowhouse-derive` writes, and the
//! Rust types that fields can have.

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
