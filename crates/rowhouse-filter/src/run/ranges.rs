//! MultiRowRangeFilter.

use std::cmp::Ordering;

use rowhouse_model::{CellRef, Error, FilterRange, Key, KeyBuf, Result, escape};

use super::base::FilterBase;
use super::rows::row_hint;
use super::verdict::FilterVerdict;

/// The execution state for MultiRowRangeFilter.
#[derive(Debug)]
pub(super) struct Ranges {
    /// Disjoint ranges in scan order.
    ranges: Vec<FilterRange>,
    reversed: bool,
    /// The index of the range that contained the last row, or of the next one.
    current: usize,
    has_started: bool,
    is_done: bool,
    verdict: FilterVerdict,
}

impl Ranges {
    pub(super) fn start(ranges: &[FilterRange], reversed: bool) -> Result<Self> {
        let mut ranges = merged(ranges)?;
        if reversed {
            ranges.reverse();
        }
        let verdict = FilterVerdict::NextRow;
        Ok(Self { ranges, reversed, current: 0, has_started: false, is_done: false, verdict })
    }

    /// Compares the range end that a scan reaches first with a row, in scan order.
    fn compare(&self, range: &FilterRange, row: &[u8]) -> Ordering {
        if !self.reversed {
            range.start[..].cmp(row)
        } else if range.stop.is_empty() {
            Ordering::Less
        } else {
            row.cmp(&range.stop)
        }
    }
}

impl FilterBase for Ranges {
    fn is_done(&self) -> bool {
        self.is_done
    }

    /// Finds the row's range. It excludes rows by key only once the scan is done: a hint, available
    /// with the first cell, skips further.
    fn filters_row_key(&mut self, row: &[u8]) -> Result<bool> {
        if self.is_done {
            return Ok(true);
        }
        if self.has_started && contains(&self.ranges[self.current], row) {
            self.verdict = FilterVerdict::Include;
            return Ok(false);
        }
        self.has_started = true;
        self.verdict = match self.ranges.binary_search_by(|range| self.compare(range, row)) {
            Ok(at) => {
                self.current = at;
                if contains(&self.ranges[at], row) {
                    FilterVerdict::Include
                } else {
                    FilterVerdict::NextRow
                }
            }
            Err(at) if at > 0 && contains(&self.ranges[at - 1], row) => {
                self.current = at - 1;
                FilterVerdict::Include
            }
            Err(at) if at == self.ranges.len() => {
                self.is_done = true;
                FilterVerdict::NextRow
            }
            Err(at) => {
                self.current = at;
                FilterVerdict::SeekToHint
            }
        };
        Ok(false)
    }

    fn judge(&mut self, _: &CellRef<'_>) -> Result<FilterVerdict> {
        Ok(self.verdict)
    }

    /// Returns the next range's start in scan order.
    fn hint(&mut self, _: Key<'_>) -> Option<KeyBuf> {
        let range = &self.ranges[self.current];
        Some(row_hint(if self.reversed { range.stop.clone() } else { range.start.clone() }))
    }

    fn is_hinting(&self) -> bool {
        true
    }
}

/// Returns true if the range contains a row.
fn contains(range: &FilterRange, row: &[u8]) -> bool {
    let is_after_start = match row.cmp(&range.start) {
        Ordering::Less => false,
        Ordering::Equal => range.start_inclusive,
        Ordering::Greater => true,
    };
    is_after_start
        && (range.stop.is_empty()
            || match row.cmp(&range.stop) {
                Ordering::Less => true,
                Ordering::Equal => range.stop_inclusive,
                Ordering::Greater => false,
            })
}

/// Returns true if HBase accepts the range: it must not end before it begins.
fn is_valid(range: &FilterRange) -> bool {
    range.start.is_empty()
        || range.stop.is_empty()
        || match range.start.cmp(&range.stop) {
            Ordering::Less => true,
            Ordering::Equal => range.stop_inclusive,
            Ordering::Greater => false,
        }
}

/// Returns true if `next`, which does not begin before this range, begins in it or directly after
/// it.
fn touches(range: &FilterRange, next: &FilterRange) -> bool {
    range.stop.is_empty()
        || match range.stop.cmp(&next.start) {
            Ordering::Greater => true,
            Ordering::Equal => range.stop_inclusive || next.start_inclusive,
            Ordering::Less => false,
        }
}

/// Extends this range to the end of `next`.
fn extend(range: &mut FilterRange, next: FilterRange) {
    if range.stop.is_empty() {
        return;
    }
    let order = if next.stop.is_empty() { Ordering::Less } else { range.stop.cmp(&next.stop) };
    match order {
        Ordering::Less => {
            (range.stop, range.stop_inclusive) = (next.stop, next.stop_inclusive);
        }
        Ordering::Equal => range.stop_inclusive |= next.stop_inclusive,
        Ordering::Greater => {}
    }
}

/// Returns the ranges sorted, with overlapping and adjacent ones merged.
fn merged(ranges: &[FilterRange]) -> Result<Vec<FilterRange>> {
    if ranges.is_empty() {
        return Err(Error::invalid("MultiRowRangeFilter needs a range: ranges=0"));
    }
    if let Some(range) = ranges.iter().find(|range| !is_valid(range)) {
        return Err(Error::invalid(format!(
            "range of MultiRowRangeFilter ends before it begins: start={}, stop={}",
            escape(&range.start),
            escape(&range.stop)
        )));
    }
    let mut sorted = ranges.to_vec();
    sorted.sort_by(|a, b| {
        a.start.cmp(&b.start).then_with(|| b.start_inclusive.cmp(&a.start_inclusive))
    });
    let mut merged: Vec<FilterRange> = Vec::with_capacity(sorted.len());
    for range in sorted {
        match merged.last_mut() {
            Some(last) if touches(last, &range) => extend(last, range),
            _ => merged.push(range),
        }
    }
    Ok(merged)
}
