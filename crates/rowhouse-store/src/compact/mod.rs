//! Merging files: `policy` and `choose` say which, `keep` what of them stays, `run` does it,
//! `running` knows which files are being merged, `schedule` says when, `pace` how fast.

mod choose;
mod elsewhere;
mod keep;
mod overlap;
mod pace;
mod policy;
mod run;
mod running;
mod schedule;

pub use choose::CompactionKind;
pub(crate) use choose::{Choice, Drops, FileFacts, Situation, Surplus, choose};
pub(crate) use elsewhere::Elsewhere;
#[cfg(test)]
pub(crate) use keep::is_plain;
pub(crate) use keep::{Keep, RowKinds};
pub(crate) use overlap::crowding;
pub(crate) use policy::Policy;
pub(crate) use run::{Hurry, compact, rewrite_wider};
pub(crate) use running::Running;
#[cfg(test)]
pub(crate) use schedule::work_by_hand;
pub(crate) use schedule::{Compactions, Share, work};

#[cfg(test)]
mod tests;
