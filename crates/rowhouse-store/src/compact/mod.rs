//! Compactions: `compaction_filter` decides which cells to keep, `run` does the work, and
//! `schedule` runs the compactions that are due on a few threads.

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
