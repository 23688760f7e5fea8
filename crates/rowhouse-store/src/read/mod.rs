//! Reading: merging memstores and files, judging what is visible, making rows.

mod family;
mod get;
mod merge;
mod point;
mod rules;
mod scan;
mod visible;

pub(crate) use get::read_row;
pub(crate) use merge::{Merge, Source};
pub(crate) use point::At;
pub use point::ReadPoint;
pub(crate) use rules::{Kept, Rules, unexpired_from};
pub use scan::RegionScanner;
pub(crate) use visible::{Verdict, Visible};
