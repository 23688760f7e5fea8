//! `hbase:meta` and `hbase:namespace`, synthesised (`docs/formats/meta.md`).
//!
//! A server makes a [`MetaTable`] of what its store knows and reads it like a table; a client asks
//! with [`lookup`] and reads the rows with [`RegionRow::from_row`].

mod order;
mod row;
mod table;

pub use order::compare_rows;
pub use row::{RegionRow, State, lookup, namespace_cell, regions_of, table_state_cell};
pub use table::{MetaTable, RowOrder};
