//! Chooses the segments to merge.
//!
//! Segments are in classes by powers of ten of their bytes, as in a log-structured merge tree: ten
//! segments of a class become one of the next, with the smaller ones beside them. A document is
//! therefore written about once for each class up to the greatest merged size, four times after the
//! first. A segment with too many outdated documents is rewritten alone: at most two documents are
//! written for each that is left out. One that is small by then, between segments that are not
//! merged any more, becomes one with its neighbour: at most three more are written.

use std::ops::Range;

use super::limits::MergeLimits;

/// The most segments in a merge: the parts that are read at one time fit into its cache.
const INPUTS_MAX: usize = 20;

/// How many classes there are up to the greatest merged size. Where larger segments come after
/// smaller ones, these do not become many of one class; as many segments as all classes may have
/// are merged whatever their classes.
const CLASSES: usize = 4;

/// The lowest class, by the decimal logarithm of bytes. Smaller segments are in it too.
const CLASS_MIN: u32 = 5;

/// The class of segments that are not merged with others.
const CLASS_FULL: u32 = u32::MAX;

/// A segment of one in this many outdated documents is rewritten, if it has more than that.
const OUTDATED_PART: u64 = 3;

/// The size of a segment in the list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SegmentSize {
    pub(crate) bytes: u64,
    pub(crate) docs: u64,
    /// The documents that a merge leaves out.
    pub(crate) outdated: u64,
    /// Whether a merge that runs reads it.
    pub(crate) is_merging: bool,
}

/// Returns runs of segments, by position, each of which is to become one segment: the most urgent
/// first. They may overlap. None has a segment that is being merged, and no two older and newer
/// segments are in a run without all between them.
pub(crate) fn due(segments: &[SegmentSize], limits: &MergeLimits) -> Vec<Range<usize>> {
    let mut due: Vec<_> = crowded(segments, limits).chain(stranded(segments, limits)).collect();
    let has_many_outdated = |at: &usize| {
        let segment = &segments[*at];
        !segment.is_merging && segment.outdated * OUTDATED_PART > segment.docs
    };
    due.extend((0..segments.len()).filter(has_many_outdated).map(|at| at..at + 1));
    due
}

/// Returns the newest segments up to each class, if many of them are in it.
fn crowded<'s>(
    segments: &'s [SegmentSize],
    limits: &'s MergeLimits,
) -> impl Iterator<Item = Range<usize>> + 's {
    let class = |segment: &SegmentSize| class(segment, limits);
    let in_use = segments.iter().rposition(|it| it.is_merging).map_or(0, |at| at + 1);
    let classes = segments[in_use..].iter().map(class).filter(|class| *class != CLASS_FULL);
    let largest = classes.max().unwrap_or(0);
    (CLASS_MIN..=largest).filter_map(move |limit| {
        let from = segments.iter().rposition(|it| class(it) > limit).map_or(0, |at| at + 1);
        let from = from.max(in_use);
        let of_class = segments[from..].iter().filter(|it| class(it) == limit).count();
        let many = limits.segments.max(2);
        let is_crowded = of_class >= many || segments.len() - from >= many * CLASSES;
        is_crowded.then(|| from..from + fitting(&segments[from..], limits))
    })
}

/// Returns pairs of neighbours before the newest full segment that together are not full.
fn stranded<'s>(
    segments: &'s [SegmentSize],
    limits: &'s MergeLimits,
) -> impl Iterator<Item = Range<usize>> + 's {
    let last_full = segments.iter().rposition(|it| class(it, limits) == CLASS_FULL);
    let before = &segments[..last_full.unwrap_or(0)];
    let is_small = |pair: &[SegmentSize]| {
        let bytes = pair.iter().map(|it| it.bytes).sum();
        let docs = pair.iter().map(|it| it.docs).sum();
        let is_merging = pair.iter().any(|it| it.is_merging);
        !is_merging && class(&SegmentSize { bytes, docs, ..pair[0] }, limits) != CLASS_FULL
    };
    let pairs = before.windows(2).enumerate();
    pairs.filter(move |(_, pair)| is_small(pair)).map(|(at, _)| at..at + 2)
}

/// Returns a segment's class.
fn class(segment: &SegmentSize, limits: &MergeLimits) -> u32 {
    if segment.bytes >= limits.bytes_max / 2 || segment.docs >= limits.documents_max / 2 {
        return CLASS_FULL;
    }
    segment.bytes.max(1).ilog10().max(CLASS_MIN)
}

/// Returns how many segments, from the first, fit into one. Two that are not full always do.
fn fitting(segments: &[SegmentSize], limits: &MergeLimits) -> usize {
    let mut bytes = 0;
    let mut docs = 0;
    let fits = |segment: &&SegmentSize| {
        bytes += segment.bytes;
        docs += segment.docs;
        bytes <= limits.bytes_max && docs <= limits.documents_max
    };
    segments.iter().take(INPUTS_MAX).take_while(fits).count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn size(bytes: u64) -> SegmentSize {
        SegmentSize { bytes, docs: bytes / 1_000, outdated: 0, is_merging: false }
    }

    fn sizes(megabytes: &[u64]) -> Vec<SegmentSize> {
        megabytes.iter().map(|it| size(it * 1_000_000)).collect()
    }

    fn first(segments: &[SegmentSize]) -> Option<Range<usize>> {
        due(segments, &MergeLimits::default()).first().cloned()
    }

    #[test]
    fn ten_newest_segments_of_a_size_are_merged() {
        assert_eq!(first(&sizes(&[2; 9])), None);
        assert_eq!(first(&sizes(&[2; 10])), Some(0..10));
        assert_eq!(first(&sizes(&[50, 2, 2, 2, 2, 2, 2, 2, 2, 2])), None);
        assert_eq!(first(&sizes(&[50, 2, 2, 2, 2, 2, 2, 2, 2, 2, 2])), Some(1..11));
        let [nine, ten] = [9, 10].map(|small| {
            let mut segments = sizes(&[300, 300]);
            segments.resize(small + 2, size(1));
            first(&segments)
        });
        assert_eq!((nine, ten), (None, Some(2..12)));
    }

    #[test]
    fn merged_segments_have_at_most_the_greatest_size() {
        assert_eq!(first(&sizes(&[400; 10])), Some(0..5));
        assert_eq!(first(&sizes(&[999; 10])), Some(0..2));
        assert_eq!(first(&sizes(&[1_000; 20])), None, "full ones stay");
        let mut many = vec![size(2_000_000); 100];
        assert_eq!(first(&many), Some(0..INPUTS_MAX));
        many.iter_mut().for_each(|it| it.docs = 1_600_000);
        assert_eq!(first(&many), Some(0..3), "few bytes, many documents");
    }

    #[test]
    fn segment_of_any_size_is_rewritten_if_many_documents_are_outdated() {
        for bytes in [1_000, 1_000_000, 1_000_000_000, 9_000_000_000] {
            let mut segments = vec![size(bytes); 3];
            segments[1].outdated = segments[1].docs / 3;
            assert_eq!(first(&segments), None);
            segments[1].outdated += 1;
            assert_eq!(first(&segments), Some(1..2));
            segments[1].is_merging = true;
            assert_eq!(first(&segments), None);
        }
    }

    #[test]
    fn small_segments_between_full_ones_are_merged() {
        assert_eq!(first(&sizes(&[1_200, 300, 300, 1_200])), Some(1..3));
        assert_eq!(first(&sizes(&[300, 300, 1_200])), Some(0..2));
        assert_eq!(first(&sizes(&[1_200, 600, 600, 1_200])), None);
        assert_eq!(first(&sizes(&[1_200, 300, 1_200, 300, 300])), None, "others follow these");
        let mut merging = sizes(&[1_200, 300, 300, 1_200]);
        merging[2].is_merging = true;
        assert_eq!(first(&merging), None);
    }

    #[test]
    fn segments_newer_than_those_being_merged_are_merged_among_themselves() {
        let mut segments = sizes(&[20; 10]);
        segments.iter_mut().for_each(|it| it.is_merging = true);
        segments.extend(sizes(&[2; 9]));
        assert_eq!(first(&segments), None);
        segments.push(size(2_000_000));
        assert_eq!(first(&segments), Some(10..20));
    }

    /// The bytes of a new segment: of any size, of few rows, or as many as fit.
    fn flushed() -> impl Strategy<Value = u64> {
        prop_oneof![2_000u64..30_000_000, 2_000u64..100_000, Just(25_000_000)]
    }

    proptest! {
        /// Segments are written and outdated, and all that is due is merged.
        #[test]
        fn segments_stay_few_and_amplification_low(
            flushes in prop::collection::vec((flushed(), 0u64..100, 0u64..100), 1..400),
            document_bytes in 20u64..2_000,
        ) {
            let limits = MergeLimits::default();
            let mut segments: Vec<SegmentSize> = Vec::new();
            let mut added = 0;
            let mut outdated = 0;
            let mut written = 0;
            for (bytes, at, percent) in flushes {
                if let Some(older) = segments.len().checked_sub(1).map(|last| at as usize % (last + 1)) {
                    let older = &mut segments[older];
                    let more = (older.docs - older.outdated) * percent / 100;
                    older.outdated += more;
                    outdated += more;
                }
                let docs = (bytes / document_bytes).max(1);
                segments.push(SegmentSize { bytes, docs, outdated: 0, is_merging: false });
                added += docs;
                while let Some(run) = due(&segments, &limits).first().cloned() {
                    let inputs = &segments[run.clone()];
                    prop_assert!(inputs.len() > 1 || inputs[0].outdated * 3 > inputs[0].docs);
                    let docs: u64 = inputs.iter().map(|it| it.docs - it.outdated).sum();
                    let bytes: u64 =
                        inputs.iter().map(|it| it.bytes * (it.docs - it.outdated) / it.docs).sum();
                    prop_assert!(bytes <= limits.bytes_max && docs <= limits.documents_max);
                    // Smaller ones cost little, and are written more often.
                    written += if bytes < 1_000_000 { 0 } else { docs };
                    let merged = SegmentSize { bytes, docs, outdated: 0, is_merging: false };
                    segments.splice(run, (docs > 0).then_some(merged));
                }
            }
            let newest = segments.iter().rev().take_while(|it| {
                it.bytes < limits.bytes_max / 2 && it.docs < limits.documents_max / 2
            });
            prop_assert!(newest.count() < 4 * limits.segments, "{segments:?}");
            let full = |it: &SegmentSize| {
                it.bytes as f64 / (limits.bytes_max / 2) as f64
                    + it.docs as f64 / (limits.documents_max / 2) as f64
            };
            let full: f64 = segments.iter().map(full).sum();
            prop_assert!(segments.len() as f64 <= 40.0 + 3.0 * full, "{segments:?}");
            prop_assert!(written <= added * 5 + outdated * 5, "{written}, {added}, {outdated}");
            prop_assert!(segments.iter().all(|it| it.outdated * 3 <= it.docs));
        }
    }
}
