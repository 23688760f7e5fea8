//! Makes one segment from several.

use rowhouse_model::Result;
use tantivy::directory::RamDirectory;
use tantivy::fastfield::AliveBitSet;
use tantivy::indexer::merge_filtered_segments;

use super::error::failed;
use super::files::SegmentFiles;
use super::layout::Layout;
use super::open::OpenSegment;

/// Merges segments, leaving out documents that are not alive. No row may be alive in two of them.
/// The output is in memory.
pub(crate) fn merge(inputs: &[(&OpenSegment, AliveBitSet)]) -> Result<SegmentFiles> {
    let segments: Vec<_> = inputs.iter().map(|(segment, _)| segment.tantivy().clone()).collect();
    let alive = inputs.iter().map(|(_, alive)| Some(alive.clone())).collect();
    let long_words = inputs.iter().map(|(segment, _)| segment.long_words()).sum();
    let directory = RamDirectory::create();
    let index =
        merge_filtered_segments(&segments, Layout::merge_settings(), alive, directory.clone())
            .map_err(|error| failed(&error))?;
    SegmentFiles::of(&index, &directory, long_words)
}
