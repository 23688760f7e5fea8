//! Model ↔ protobuf, both directions of a noun in one file.
//!
//! What a message can say and the model cannot is refused by name, never ignored; the few things
//! that are passed over change no answer, and the file that passes over them says why.

pub mod backup;
pub mod cell;
pub mod comparator;
pub mod condition;
pub mod endpoint;
pub mod filter;
pub mod get;
pub mod multi;
pub mod mutate;
pub mod names;
pub mod procedure;
pub mod region;
pub mod result;
pub mod scan;
pub mod snapshot;
pub mod table;

mod attributes;
mod columns;

pub use cell::CellPlacement;
