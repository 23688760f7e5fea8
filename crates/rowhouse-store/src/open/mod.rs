//! Opening a store: lock the directory, read the manifest, find the files, replay the log.
//!
//! `builder` runs the steps in order. Before anything is changed, it checks that the manifest and
//! the log reach each other (`wal/moment.rs`). `settle` removes or moves aside files that no edit
//! names, and `replay` puts the log's cells into memstores; full ones are flushed meanwhile, so the
//! log may be larger than memory. The bytes after a log that ends early tell the causes apart
//! (`docs/formats/wal.md`): a killed process and a power cut are repaired, anything else is refused
//! with file and offset.

mod builder;
mod replay;
mod settle;

pub use builder::Builder;
pub(crate) use builder::open_files_max;
pub(crate) use replay::log_known;
