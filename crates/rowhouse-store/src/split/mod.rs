//! Automatic splits: `choose` decides which regions to split, `due` queues regions to check.
//! `region/split_rows.rs` finds split points, `store/regions.rs` performs a split.

mod choose;
mod due;

pub(crate) use choose::{Situation, is_too_large};
pub(crate) use due::SplitQueue;
