//! Compactions: `policy` and `choose` select the files, `compaction_filter` the cells to keep,
//! `run` does the work, `running` records which files are being compacted, `schedule` decides when
//! and `pace` how fast.

mod choose;
mod compaction_filter;
mod other_files;
mod overlap;
mod pace;
mod policy;
mod run;
mod running;
mod schedule;

pub use choose::CompactionKind;
pub(crate) use choose::{Choice, Drops, FileSummary, PolicyInput, Surplus, choose};
#[cfg(test)]
pub(crate) use compaction_filter::is_plain;
pub(crate) use compaction_filter::{CompactionFilter, RowKinds};
pub(crate) use other_files::OtherFiles;
pub(crate) use overlap::read_amplification;
pub(crate) use policy::Policy;
pub(crate) use run::{Pacing, compact, rewrite_wider};
pub(crate) use running::Running;
#[cfg(test)]
pub(crate) use schedule::work_by_hand;
pub(crate) use schedule::{Compactions, Share, work};

#[cfg(test)]
mod tests;
