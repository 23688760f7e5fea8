//! Reading: merges memstores and files, matches cells for visibility, and builds rows.

mod context;
mod counts;
mod deletes;
mod explain;
mod family;
mod get;
mod markers;
mod merge;
mod newest_version;
mod own_ttl;
mod pending;
mod point;
mod post_filter;
mod row;
mod rules;
mod scan;
mod scanner;
mod select;
mod trace;
mod visible;

pub(crate) use context::ReadContext;
pub(crate) use counts::RegionCounts;
pub(crate) use explain::{explain_cell, only_column};
pub(crate) use family::Rows;
pub(crate) use get::{
    ReadLimit, ReadRequest, RowVersion, TimedRow, read_row, read_row_at_time, stored_cells,
    trace_row,
};
pub(crate) use merge::{Merge, Source};
pub(crate) use own_ttl::own_ttl;
pub(crate) use pending::Pending;
pub(crate) use point::ReadAt;
pub use point::ReadPoint;
pub(crate) use rules::Rules;
pub(crate) use scan::Opening;
pub use scan::{ScanLimits, ScanProgress, Scanned};
pub use scanner::RegionScanner;
pub use select::{RangesInOrder, RowSelection};
pub(crate) use trace::{CallTimer, TableTrace};
pub use trace::{FamilyReads, ReadReport, ReadTotals, ReadTrace, RegionReads, TableReads};
pub(crate) use visible::{Fate, Verdict, Visible};
