//! Segments: built from documents or merged from others, kept in parts, and opened for searches.

mod build;
mod build_directory;
mod memory;
mod meta;
mod open;
mod parts;
mod read_directory;

pub(crate) use build::{build, merge};
pub(crate) use memory::MemoryParts;
pub(crate) use meta::SegmentMeta;
pub(crate) use open::{OpenSegment, Opened};
pub(crate) use parts::{Component, PartId, Parts};
