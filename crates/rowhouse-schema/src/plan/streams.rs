//! A plan's ranges, grouped by bucket. Within a group, rows come in logical key order, and merging
//! all groups returns that order.

use std::collections::BTreeSet;
use std::ops::Range;

use rowhouse_model::RowRange;

use super::ranges::{RANGES_MAX, bounded, coarsen, normalize};
use super::set::FieldConditions;
use super::walk::{Path, one_row};
use crate::key::KeySchema;

/// A walk's result.
#[derive(Default)]
pub(super) struct Walked {
    /// Ranges, each with the path's position.
    pub(super) ranges: Vec<(usize, RowRange)>,
    pub(super) streams: Vec<Stream>,
    /// The slots for fields that remain to be checked.
    pub(super) residual: BTreeSet<usize>,
    pub(super) coarsened: bool,
    /// True if rows cannot be merged into logical key order.
    pub(super) physical: bool,
    /// True if no row can match.
    pub(super) empty: bool,
    /// True if each range with the form "all keys with this prefix" holds only the row equal to the
    /// prefix.
    pub(super) one_row_each: bool,
}

/// The ranges for one combination of buckets or salts.
#[derive(Clone, Debug, Default)]
pub(super) struct Stream {
    /// The bytes with which all keys in the ranges begin, up to the last computed field.
    pub(super) prefix: Vec<u8>,
    /// The computed fields' positions in the prefix.
    pub(super) cuts: Vec<Range<usize>>,
    pub(super) ranges: Vec<RowRange>,
}

impl Stream {
    /// Returns the prefix without the computed fields.
    pub(super) fn logical_prefix(&self) -> Vec<u8> {
        let mut logical = Vec::with_capacity(self.prefix.len());
        let mut at = 0;
        for cut in &self.cuts {
            logical.extend_from_slice(&self.prefix[at..cut.start]);
            at = cut.end;
        }
        logical.extend_from_slice(&self.prefix[at..]);
        logical
    }
}

/// Returns true if streams that are read one after the other return rows in logical key order: each
/// comes after the one before it, regardless of the bucket.
pub(super) fn are_in_order(streams: &[Stream]) -> bool {
    streams.windows(2).all(|pair| {
        let before = pair[0].logical_prefix();
        let after = pair[1].logical_prefix();
        before < after && !after.starts_with(&before)
    })
}

impl Walked {
    /// Groups the ranges into streams, and drops fields without conditions from the residual.
    pub(super) fn into_streams(
        mut self,
        schema: &KeySchema,
        paths: &[Path],
        conditions: &[Option<FieldConditions>],
    ) -> Self {
        let ranges = std::mem::take(&mut self.ranges);
        if self.empty {
            self.residual.clear();
            return self;
        }
        self.streams = if self.physical || schema.computed().is_empty() {
            let ranges = ranges.into_iter().map(|(_, range)| range).collect();
            vec![Stream { ranges, ..Stream::default() }]
        } else {
            grouped(paths, ranges)
        };
        for stream in &mut self.streams {
            stream.ranges = normalize(std::mem::take(&mut stream.ranges));
            if self.one_row_each {
                stream.ranges.iter_mut().for_each(one_row);
            }
        }
        self.limit(schema.slots());
        for stream in &mut self.streams {
            let ranges = std::mem::take(&mut stream.ranges);
            stream.ranges = ranges.into_iter().filter_map(bounded).collect();
        }
        self.streams.retain(|stream| !stream.ranges.is_empty());
        self.residual.retain(|slot| conditions[*slot].is_some());
        self
    }

    /// Widens ranges if there are too many.
    fn limit(&mut self, slots: usize) {
        let count: usize = self.streams.iter().map(|stream| stream.ranges.len()).sum();
        if count <= RANGES_MAX {
            return;
        }
        // There are no more streams than paths, and at most `RANGES_MAX` paths.
        let each = (RANGES_MAX / self.streams.len()).max(1);
        for stream in &mut self.streams {
            stream.ranges = coarsen(std::mem::take(&mut stream.ranges), each);
        }
        self.coarsened = true;
        self.residual.extend(0..slots);
    }
}

/// Groups the ranges from paths that agree up to their last computed field into streams.
fn grouped(paths: &[Path], mut ranges: Vec<(usize, RowRange)>) -> Vec<Stream> {
    let prefix = |path: &Path| path.cuts.last().map_or(0, |cut| cut.end);
    ranges.sort_unstable_by(|(_, a), (_, b)| a.start.cmp(&b.start));
    let mut streams: Vec<Stream> = Vec::new();
    for (at, range) in ranges {
        let path = &paths[at];
        let prefix = &path.bytes[..prefix(path)];
        match streams.last_mut() {
            Some(stream) if stream.prefix == prefix => stream.ranges.push(range),
            _ => streams.push(Stream {
                prefix: prefix.to_vec(),
                cuts: path.cuts.clone(),
                ranges: vec![range],
            }),
        }
    }
    streams
}
