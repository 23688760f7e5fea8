//! Which files to compact: pure functions of file properties and a family's policy.

mod choose;
mod other_files;
mod overlap;
mod policy;

pub use choose::CompactionKind;
pub(crate) use choose::{Choice, Drops, PolicyInput, choose};
pub(crate) use other_files::OtherFiles;
pub(crate) use overlap::read_amplification;
pub(crate) use policy::Policy;
