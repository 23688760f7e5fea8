//! Which segments are merged, and the merges that run beside other work.
//!
//! [`due`] chooses runs of segments by their sizes. A small run is merged at once
//! ([`MergeInput::merge`]); a [`LargeMerge`] is planned, run while rows are written and searched,
//! and put into the list when it ends (`maintain.rs`).

mod input;
mod large;
mod limits;
mod policy;

pub(crate) use input::MergeInput;
pub(crate) use large::LargeMerge;
pub use limits::MergeLimits;
pub(crate) use policy::due;
