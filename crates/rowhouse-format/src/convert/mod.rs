//! Conversion between the model and protobuf; each file has both directions for one type.
//!
//! Message parts that the model cannot represent are rejected by name. The few ignored fields do
//! not affect results; the file that ignores one states the reason.

pub mod cell;
pub mod changes;
pub mod comparator;
pub mod condition;
pub mod delete;
pub mod endpoint;
pub mod filter;
pub mod get;
pub mod multi;
pub mod mutate;
pub mod names;
pub mod procedure;
pub mod region;
pub mod replication;
pub mod result;
pub mod scan;
pub mod search;
pub mod snapshot;
pub mod table;

pub mod attributes;
mod columns;

pub use cell::CellPlacement;
