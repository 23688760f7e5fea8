//! Merging files.

mod run;

pub(crate) use run::compact;
