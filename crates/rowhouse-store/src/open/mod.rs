//! Opening a store: lock the directory, read the manifest, find the files, replay the log.

mod builder;
mod replay;
mod settle;

pub use builder::Builder;
pub(crate) use builder::open_files_max;
pub(crate) use replay::log_known;
