//! Synthesized `hbase:meta` and `hbase:namespace` (`docs/formats/meta.md`).
//!
//! A server builds a [`MetaTable`] from its store's metadata and reads it like a table; a client
//! scans with [`lookup`] and parses the rows with [`RegionRow::from_row`].

mod order;
mod row;
mod table;

pub use order::compare_rows;
pub use row::{RegionRow, State, lookup, namespace_cell, regions_of, table_state_cell};
pub use table::{MetaTable, RowOrder};
