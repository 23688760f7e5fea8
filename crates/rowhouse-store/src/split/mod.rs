//! Regions that split by themselves: `choose` says which, `due` holds those that are to be looked at. What a split
//! does is `store/regions.rs`.

mod choose;
mod due;

pub(crate) use choose::{Situation, is_too_large};
pub(crate) use due::Due;
