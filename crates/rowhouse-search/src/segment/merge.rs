//! Makes one segment from several.

use std::sync::Arc;

use rowhouse_model::Result;
use rowhouse_store::Table;
use tantivy::directory::RamDirectory;
use tantivy::fastfield::AliveBitSet;
use tantivy::indexer::merge_filtered_segments;
use tantivy::{Index, Segment};

use super::error::{damaged, failed};
use super::files::SegmentFiles;
use super::guard::guarded;
use super::layout::Layout;
use super::new_segment::NewSegment;
use super::open::OpenSegment;
use super::part_cache::PartCache;
use super::parts::{PartsDirectory, SegmentId};

/// Merges segments, leaving out documents that are not alive. No row may be alive in two of them.
/// The output is in memory.
pub(crate) fn merge(inputs: &[(&OpenSegment, AliveBitSet)]) -> Result<SegmentFiles> {
    let segments: Vec<_> = inputs.iter().map(|(segment, _)| segment.tantivy().clone()).collect();
    let alive = inputs.iter().map(|(_, alive)| Some(alive.clone())).collect();
    let long_words = inputs.iter().map(|(segment, _)| segment.long_words()).sum();
    let directory = RamDirectory::create();
    guarded(|| {
        let settings = Layout::merge_settings();
        let index = merge_filtered_segments(&segments, settings, alive, directory.clone());
        let index = index.map_err(|error| failed(&error))?;
        SegmentFiles::of(&index, &directory, long_words)
    })
}

/// Merges segments in a table as [`merge`] does. The output goes to the table part by part. Inputs
/// are read through the cache. Returns the output's number and files, and how many documents it
/// has.
///
/// What memory is needed grows with the documents (their places before and after, and one column
/// at a time), with the terms, and with the longest list of documents for a term: about 50 bytes
/// for each document.
///
/// # Errors
/// As for reads and writes.
pub(crate) fn merge_in_table(
    table: &Arc<Table>,
    inputs: &[(SegmentId, AliveBitSet)],
    output: &NewSegment,
    cache: &Arc<PartCache>,
) -> Result<(SegmentId, u32)> {
    let merged = guarded(|| {
        let mut segments = Vec::with_capacity(inputs.len());
        for (id, _) in inputs {
            let segment = segment_of(table, id, cache);
            segments.push(segment.map_err(|error| damaged(id.number, &error))?);
        }
        let alive = inputs.iter().map(|(_, alive)| Some(alive.clone())).collect();
        let settings = Layout::merge_settings();
        let index = merge_filtered_segments(&segments, settings, alive, output.clone());
        let meta = index.and_then(|index| index.load_metas()).map_err(|error| failed(&error))?;
        let docs = meta.segments.iter().map(|segment| segment.max_doc()).sum();
        Ok((output.finish()?, docs))
    });
    merged.map_err(|error| output.failure().unwrap_or(error))
}

fn segment_of(
    table: &Arc<Table>,
    id: &SegmentId,
    cache: &Arc<PartCache>,
) -> tantivy::Result<Segment> {
    let table = Arc::clone(table);
    let cache = Arc::clone(cache);
    let index = Index::open(PartsDirectory { table, id: Arc::new(id.clone()), cache })?;
    let segment = index.searchable_segments()?.pop();
    segment.ok_or_else(|| tantivy::TantivyError::InternalError("it has no documents".to_owned()))
}
