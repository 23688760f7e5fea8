//! Regions that split by themselves: `choose` says which, `due` holds those that are to be looked at, `rows` says
//! where, as for splits by hand. What a split does is `store/regions.rs`.

mod choose;
mod due;
mod rows;

pub(crate) use choose::{Situation, is_too_large};
pub(crate) use due::Due;
