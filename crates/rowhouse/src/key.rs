//! Row keys: templates, their fields and values, and keys that are structs.
//!
//! How is a key made and read without a table?
//!
//! ```
//! use rowhouse::key::{KeySchema, escape};
//!
//! let schema = KeySchema::parse("[user string][n u16]")?;
//! let key = schema.encode(&[("user", "bob".into()), ("n", 7.into())])?;
//! assert_eq!(escape(&key), r"bob\x00\x01\x00\x07");
//! assert_eq!(schema.decode(&key)?["n"].as_u64(), Some(7));
//! # Ok::<(), rowhouse::Error>(())
//! ```

pub use rowhouse_model::{escape, unescape};
pub use rowhouse_schema::{
    Calendar, Computed, Date, Decimal, Field, FieldType, FieldValue, Float, ForeignType, FromField,
    FromRowKey, Holds, KeyMismatch, KeyPrefix, KeyReader, KeySchema, Labels, NamedValues, RowKey,
    Time, TimeUnit, TimeZone, ToField, Uuid, Values, derived,
};

#[cfg(feature = "derive")]
pub use rowhouse_derive::FacadeRowKey as RowKey;
