//! The segments that become one.

use std::ops::Range;
use std::sync::Arc;

use rowhouse_model::Result;
use tantivy::BitSet;
use tantivy::fastfield::AliveBitSet;

use super::policy::SegmentSize;
use crate::list::ListedSegment;
use crate::segment::{OpenSegment, SegmentFiles, alive_of, merge};
use crate::view::OpenSegments;

/// A segment that is merged.
pub(crate) struct MergeInput {
    pub(crate) listed: ListedSegment,
    pub(crate) segment: Arc<OpenSegment>,
    /// The documents that the merged segment has.
    pub(crate) alive: AliveBitSet,
}

impl MergeInput {
    /// Returns a run of segments, by position, without outdated documents. Rows that show nothing
    /// have documents only to outdate older ones: the oldest segment needs none.
    pub(crate) fn of(open: &OpenSegments, run: &Range<usize>) -> Vec<Self> {
        let listed = open.list().segments.iter();
        let run_of = listed.zip(open.in_table()).skip(run.start).take(run.len());
        run_of
            .map(|(listed, (segment, newest))| {
                let mut alive = newest.clone();
                if run.start == 0 {
                    segment.gone().iter().for_each(|doc| alive.remove(*doc));
                }
                let listed = listed.clone();
                Self { listed, segment: Arc::clone(segment), alive: alive_of(&alive) }
            })
            .collect()
    }

    /// Returns the sizes of all segments, the oldest first. `merging` are the numbers of those that
    /// a merge reads.
    pub(crate) fn sizes(open: &OpenSegments, merging: &[u64]) -> Vec<SegmentSize> {
        let in_table = open.list().segments.iter().zip(open.in_table()).enumerate();
        let size = |(at, (listed, (segment, newest))): (usize, (&ListedSegment, (_, &BitSet)))| {
            let segment: &Arc<OpenSegment> = segment;
            let docs = u64::from(segment.docs());
            let gone = segment.gone().iter().filter(|doc| at == 0 && newest.contains(**doc));
            let outdated = docs - newest.len() as u64 + gone.count() as u64;
            let is_merging = merging.contains(&segment.number);
            SegmentSize { bytes: listed.bytes(), docs, outdated, is_merging }
        };
        in_table.map(size).collect()
    }

    /// Merges segments in memory; `None` if no document is left.
    pub(crate) fn merge(inputs: &[Self]) -> Result<Option<SegmentFiles>> {
        if Self::docs(inputs) == 0 {
            return Ok(None);
        }
        let inputs: Vec<_> =
            inputs.iter().map(|input| (&*input.segment, input.alive.clone())).collect();
        merge(&inputs).map(Some)
    }

    /// How many documents the merged segment has.
    pub(crate) fn docs(inputs: &[Self]) -> usize {
        inputs.iter().map(|input| input.alive.num_alive_docs()).sum()
    }
}
