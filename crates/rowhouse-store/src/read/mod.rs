//! Reading: merges memstores and files, matches cells for visibility, and builds rows.
//!
//! A reader takes a sequence number first, and then references to the memstores and files: nothing
//! that it reads can disappear, and compactions ignore readers. Only read points, and scanners that
//! hold memstores, register their numbers with the store (decision 0062).
//!
//! `family` merges the sources of one family, `visible` decides on deletes, versions, expiry and
//! times as a pure function that compactions use as well, and `post_filter` applies filters in
//! HBase's order (decision 0031); a read without them skips that step. Cells from one file that
//! need no decision are added to a row without a check for each. A row larger than one answer may
//! hold is interrupted and resumed (`ReadBudget`). In a reversed scan each source seeks to the
//! first cell in the previous row and reads forward from there.
//!
//! `select` has the row selections of queries: the scanner seeks from one range to the next, so
//! filters, limits and batches apply to selected rows alone. `counts` counts requests by region and
//! samples them for the heat (decision 0074). `trace` notes which files, blocks and cells a read
//! point looks at (decision 0077).

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
pub use select::{RowSelection, RowsInOrder, SelectedRows};
pub(crate) use trace::{CallTimer, TableTrace};
pub use trace::{FamilyReads, ReadReport, ReadTotals, ReadTrace, RegionReads, TableReads};
pub(crate) use visible::{Fate, Verdict, Visible};
