//! Writing rows: row locks, conditions, applying mutations, and the commit path.
//!
//! `apply` has the steps of every write. Row locks are striped, and also hold the last timestamp
//! of each row (decision 0060). `batch` resolves timestamps and "the newest version", `delta` adds
//! increments and appends, and both copy cells into the pending log record. In `complete`,
//! observers may refuse the record or add mutations; then index entries and queued rows join it.
//!
//! `commit` takes the freeze latch for reading, so that no memstore is frozen between the log and
//! the memstores. Between reserving a sequence number and publishing it, nothing waits and nothing
//! is skipped: a refused append still publishes the number, as a hole, and the next record uses the
//! position in the log. A background thread creates the next log segment ahead of time, and syncs,
//! a second later, records written without a request for a sync.
//!
//! A transaction reads at a read point without a commit. The private memstores with its writes lie
//! under that number. To commit, it takes the freeze latch for writing and checks in
//! `commits/recent_writes.rs` whether a later commit wrote a row that it read or wrote; then it
//! starts again. Commits are recorded there only while a transaction is open.

pub(crate) mod admit;
pub(crate) mod apply;
mod batch;
pub(crate) mod cells;
mod checks;
pub(crate) mod commit;
mod complete;
mod condition;
mod copy;
mod delta;
mod index;
pub(crate) mod index_fill;
pub(crate) mod index_scan;
mod lock;
mod matching;
mod observe;
mod outcomes;
pub(crate) mod queue;
mod record;
pub(crate) mod record_builder;
mod region;
mod region_in_mode;
mod row_entries;
mod steady;
mod table;
pub(crate) mod transaction;

pub use region_in_mode::RegionInMode;
