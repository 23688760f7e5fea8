//! Automatic splits: `choose` decides which regions to split, `due` queues regions to check, and
//! `rows` finds split points, also for requested splits. `store/regions.rs` performs a split.

mod choose;
mod due;
mod rows;

pub(crate) use choose::{Situation, is_too_large};
pub(crate) use due::SplitQueue;
