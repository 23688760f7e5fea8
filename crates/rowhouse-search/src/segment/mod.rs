//! Index segments: immutable document sets, written and read by tantivy.
//!
//! [`Layout`] maps the declared fields to tantivy's fields, [`SegmentBuilder`] makes a segment from
//! documents in memory, [`files`] names its files, [`parts`] stores them in cells in the index's
//! table, [`OpenSegment`] reads a segment from either place, [`merge`] makes one from several in
//! memory, and [`merge_in_table`] in cells, as a [`NewSegment`].

mod alive;
mod builder;
mod contents;
mod error;
mod files;
mod guard;
mod layout;
mod merge;
mod new_segment;
mod open;
mod part_cache;
mod parts;
mod stop;

pub(crate) use alive::alive_of;
pub(crate) use builder::{Document, SegmentBuilder};
pub(crate) use contents::contents;
pub(crate) use error::{damaged, failed};
pub(crate) use files::SegmentFiles;
pub(crate) use guard::guarded;
pub(crate) use layout::{
    Layout, UNKNOWN, VALUE_BYTES_MAX, encoded_value, stored_range, stored_value,
};
pub(crate) use merge::{merge, merge_in_table};
pub(crate) use new_segment::NewSegment;
pub(crate) use open::{DocRange, OpenSegment, docs_in, term_ords};
pub(crate) use part_cache::PartCache;
pub(crate) use parts::{RECORD_BYTES_MAX, SegmentId, cells_of, removal_of, removals_of};
pub(crate) use stop::Stop;
