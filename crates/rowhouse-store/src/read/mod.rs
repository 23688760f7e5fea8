//! Reading: merging memstores and files, judging what is visible, making rows.

mod merge;
mod point;
mod scan;
mod visible;

pub(crate) use merge::{Merge, Source};
pub(crate) use point::At;
pub use point::ReadPoint;
pub use scan::RegionScanner;
pub(crate) use scan::read_row;
pub(crate) use visible::{Kept, Rules, Verdict, Visible, unexpired_from};
