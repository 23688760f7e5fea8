//! The nouns of rowhouse, and the one ordering of cells.
//!
//! Everything here is a value: no I/O, no clock, no threads. The store keeps these values, the
//! wire carries them, the schema derives them, and all of them mean the same thing by them.
//!
//! ```
//! use rowhouse_model::{Get, Put, TableName};
//!
//! let table = TableName::parse("blog")?;
//! let put = Put::new("123_9223370398279575807")?.add("cf", "title", "第一篇")?;
//! let get = Get::new(put.row().clone())?.column("cf", "title");
//! assert_eq!(table.to_string(), "blog");
//! assert_eq!(get.row(), put.row());
//! # Ok::<(), rowhouse_model::Error>(())
//! ```

mod cell;
mod error;
mod escape;
mod family;
mod key_value;
mod namespace;
mod op;
mod range;
mod region;
mod row;
mod table;
mod table_name;
mod time;

pub use bytes::Bytes;

pub use cell::{
    Cell, CellKind, CellRef, Key, QUALIFIER_VALUE_LEN_MAX, compare, compare_bytes, equal_bytes,
    row_prefix,
};
pub use error::{Action, Error, ErrorKind, Result};
pub use escape::{escape, unescape};
pub use family::{BloomKind, Compression, DataBlockEncoding, FamilyDescriptor};
pub use key_value::KeyValue;
pub use namespace::Namespace;
pub use op::{
    Columns, Condition, Delete, Durability, Get, Increment, Mutation, MutationOutcome, NoValue,
    Nonce, Put, Qualifiers, Scan, TimeRange,
};
pub use range::RowRange;
pub use region::{META_ENCODED_NAME, RegionInfo, RegionName, ServerName};
pub use row::{ROW_LEN_MAX, Row, RowBuilder, SharedRun, check_row};
pub use table::{TableDescriptor, TableState};
pub use table_name::TableName;
pub use time::Timestamp;
