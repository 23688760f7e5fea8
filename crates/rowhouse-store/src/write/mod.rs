//! Writing rows: row locks, conditions, applying mutations, and the commit path.

pub(crate) mod admit;
pub(crate) mod apply;
mod batch;
pub(crate) mod cells;
pub(crate) mod commit;
mod condition;
mod copy;
mod delta;
mod index;
pub(crate) mod index_fill;
mod observe;
mod outcomes;
pub(crate) mod queue;
mod record;
pub(crate) mod record_builder;
mod region;
mod region_in_mode;
mod row_entries;
mod table;
pub(crate) mod transaction;

pub use region_in_mode::RegionInMode;
