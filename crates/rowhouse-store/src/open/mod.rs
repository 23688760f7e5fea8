//! Opening a store: hold the directory, read the manifest, find the files, replay the log.

mod builder;
mod replay;
mod settle;

pub(crate) use builder::Background;
pub use builder::Builder;
pub(crate) use replay::log_known;
pub(crate) use settle::{ASIDE_DIR, TMP_DIR, move_aside};
