//! Automatic splits: `choose` decides which regions to split.
//! `region/split_rows.rs` finds split points, `store/regions.rs` performs a split.

mod choose;

pub(crate) use choose::{Situation, is_too_large};
