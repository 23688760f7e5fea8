//! Index segments: immutable document sets, written and read by tantivy.
//!
//! [`Layout`] maps the declared fields to tantivy's fields, [`SegmentBuilder`] makes a segment from
//! documents in memory, [`files`] names its files, [`parts`] stores them in cells in the index's
//! table, [`OpenSegment`] reads a segment from either place, and [`merge`] makes one from several.

mod alive;
mod builder;
mod contents;
mod error;
mod files;
mod layout;
mod merge;
mod open;
mod part_cache;
mod parts;

pub(crate) use alive::alive_of;
pub(crate) use builder::{Document, SegmentBuilder};
pub(crate) use contents::contents;
pub(crate) use error::{damaged, failed};
pub(crate) use files::SegmentFiles;
pub(crate) use layout::{
    Layout, UNKNOWN, VALUE_BYTES_MAX, encoded_value, stored_range, stored_value,
};
pub(crate) use merge::merge;
pub(crate) use open::{DocRange, OpenSegment, docs_in, term_ords};
pub(crate) use part_cache::PartCache;
pub(crate) use parts::{SegmentId, cells_of, removal_of};
