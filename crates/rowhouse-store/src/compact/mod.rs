//! Compactions: `compaction_filter` decides which cells to keep, `run` does the work, and
//! `schedule` runs the compactions that are due on a few threads.
//!
//! `compaction_policy` chooses the files, as a pure function over sizes, ages, rows and times. A
//! *minor* compaction takes some files and drops cells that no read could ever show, and surplus
//! versions (decision 0050); for rows that no other file can contain it drops what a major one
//! drops. A *major* compaction takes all files: every 7 days, when two fifths of the cells are
//! garbage, or on request. It drops cells that no read shows now, delete markers included. A file
//! in which all cells have expired is removed without being read (decision 0050).
//!
//! While old files are compacted, another compaction may take newer ones (`family/running.rs`). A
//! failed compaction leaves the files unchanged and waits before it is retried. Reads never wait
//! for one. Writers are slowed from 12 files over one row on (decision 0045), wait in a family that
//! has 16 files and a full memstore, and are refused after 10 s.

mod compaction_filter;
mod run;
mod schedule;

#[cfg(test)]
pub(crate) use compaction_filter::is_plain;
pub(crate) use compaction_filter::{CompactionFilter, RowKinds};
pub(crate) use run::{Pacing, compact, rewrite_wider};
#[cfg(test)]
pub(crate) use schedule::work_by_hand;
pub(crate) use schedule::{Share, work};

#[cfg(test)]
mod tests;
