//! Row sets as lists of ranges that are sorted, not empty, and do not touch.

use rowhouse_model::{Bytes, ROW_LEN_MAX, RowRange};

/// The most ranges in a plan. A query that would need more gets fewer and wider ranges, a residual,
/// and a note about it.
pub const RANGES_MAX: usize = 10_000;

/// Sorts ranges, drops empty ones, and joins those that overlap or touch.
pub(super) fn normalize(mut ranges: Vec<RowRange>) -> Vec<RowRange> {
    ranges.retain(|range| !range.is_empty());
    ranges.sort_unstable_by(|a, b| a.start.cmp(&b.start));
    let mut joined: Vec<RowRange> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match joined.last_mut() {
            Some(last) if last.stop.is_empty() || range.start <= last.stop => {
                last.stop = later(&last.stop, &range.stop);
            }
            _ => joined.push(range),
        }
    }
    joined
}

/// Returns the rows in both sets.
pub(super) fn intersect(a: &[RowRange], b: &[RowRange]) -> Vec<RowRange> {
    let mut i = 0;
    let mut j = 0;
    let mut both = Vec::new();
    while let (Some(left), Some(right)) = (a.get(i), b.get(j)) {
        let range = left.intersect(right);
        if !range.is_empty() {
            both.push(range);
        }
        // The range that ends first overlaps nothing more.
        if later(&left.stop, &right.stop) == left.stop { j += 1 } else { i += 1 }
    }
    both
}

/// Returns a range's rows that are in no hole.
pub(super) fn subtract(range: RowRange, holes: Vec<RowRange>) -> Vec<RowRange> {
    let mut left = Vec::new();
    let mut start = range.start;
    for hole in normalize(holes) {
        // Nothing is before a hole that starts at the first row; the empty start is not a stop.
        if hole.start > start {
            let stop = earlier(&hole.start, &range.stop);
            left.push(RowRange { start: start.clone(), stop });
        }
        if hole.stop.is_empty() {
            return normalize(left);
        }
        start = start.max(hole.stop);
    }
    left.push(RowRange { start, stop: range.stop });
    normalize(left)
}

/// Joins neighbours until there are at most `max` ranges.
pub(super) fn coarsen(ranges: Vec<RowRange>, max: usize) -> Vec<RowRange> {
    let size = ranges.len().div_ceil(max).max(1);
    ranges.chunks(size).filter_map(hull).collect()
}

/// Returns the range from the first row in these ranges to the last.
pub(super) fn hull(ranges: &[RowRange]) -> Option<RowRange> {
    let mut ranges = ranges.iter();
    let first = ranges.next()?.clone();
    Some(ranges.fold(first, |hull, range| RowRange {
        start: hull.start.min(range.start.clone()),
        stop: later(&hull.stop, &range.stop),
    }))
}

/// Returns the same rows, with bounds no longer than a row key can be. No row extends a row with
/// the greatest length, so the first row after the prefix with that length replaces a longer bound.
pub(super) fn bounded(range: RowRange) -> Option<RowRange> {
    let cut = |bound: &Bytes| RowRange::prefix(&bound[..ROW_LEN_MAX]).stop;
    let start = if range.start.len() > ROW_LEN_MAX {
        Some(cut(&range.start)).filter(|start| !start.is_empty())?
    } else {
        range.start
    };
    let stop = if range.stop.len() > ROW_LEN_MAX { cut(&range.stop) } else { range.stop };
    Some(RowRange { start, stop }).filter(|range| !range.is_empty())
}

/// Returns the later stop; an empty stop is the last.
fn later(a: &Bytes, b: &Bytes) -> Bytes {
    if a.is_empty() || b.is_empty() { Bytes::new() } else { a.max(b).clone() }
}

/// Returns the start or the stop, whichever is earlier.
fn earlier(start: &Bytes, stop: &Bytes) -> Bytes {
    if stop.is_empty() { start.clone() } else { start.min(stop).clone() }
}
