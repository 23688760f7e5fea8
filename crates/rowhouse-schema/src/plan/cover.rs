//! Covers qualifier ranges with prefixes, to which a MultipleColumnPrefixFilter seeks.
//!
//! ```text
//! [b37, b52)      b37 b38 … b3\xFF   b4   b5 b50 b51
//!                 behind its start   all   up to its stop
//! ```
//!
//! A qualifier passes the filter if it begins with the greatest prefix that is not greater than it.
//! So `b5`, listed before longer prefixes, passes `b5` itself and not `b53`. A store that passes
//! everything beginning with `b5` reads more and loses nothing.

use std::collections::{BTreeMap, BTreeSet};

use rowhouse_model::{Bytes, RowRange};

use super::ranges::coarsen;

/// The most prefixes, because HBase iterates over those less than each cell's qualifier.
const PREFIXES_MAX: usize = 2_000;
/// The most prefixes that one bound may take.
const ROOM_MAX: usize = 1_024;

/// Returns prefixes that cover all qualifiers in these ranges, and as few others as the limits
/// allow.
pub(super) fn cover(ranges: &[RowRange]) -> BTreeSet<Bytes> {
    // With no room for the bounds, a range takes up to two prefixes.
    let ranges = coarsen(ranges.to_vec(), PREFIXES_MAX / 2);
    let mut room = ROOM_MAX;
    loop {
        let mut cover = Cover { room, prefixes: BTreeMap::new() };
        let fits = ranges.iter().all(|range| {
            cover.range(range);
            room == 0 || cover.prefixes.len() <= PREFIXES_MAX
        });
        if fits {
            return cover.finish();
        }
        room /= 2;
    }
}

struct Cover {
    /// The most prefixes that may separate one bound from the qualifiers outside the range.
    room: usize,
    prefixes: BTreeMap<Vec<u8>, Coverage>,
}

/// The qualifiers that a prefix is meant to cover.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Coverage {
    /// Only the qualifier that equals the prefix.
    Itself,
    /// All qualifiers that begin with the prefix.
    All,
}

impl Cover {
    fn range(&mut self, RowRange { start, stop }: &RowRange) {
        if stop.is_empty() {
            return self.from(start, 0);
        }
        let shared = start.iter().zip(stop).take_while(|(a, b)| a == b).count();
        if shared == start.len() {
            return self.up_to(stop, shared);
        }
        let between = start[shared] + 1..stop[shared];
        if between.len() > self.room {
            return self.put(&start[..shared], Coverage::All);
        }
        self.put_range(&start[..shared], between);
        self.from(start, shared + 1);
        self.up_to(stop, shared + 1);
    }

    /// Covers the qualifiers from `start` on that share the first `shared` bytes of `start`.
    fn from(&mut self, start: &[u8], shared: usize) {
        let mut room = self.room;
        for at in shared..start.len() {
            let siblings = usize::from(u8::MAX - start[at]);
            if siblings > room {
                return self.put(&start[..at], Coverage::All);
            }
            room -= siblings;
            (start[at]..=u8::MAX).skip(1).for_each(|last| self.put_extended(&start[..at], last));
        }
        self.put(start, Coverage::All);
    }

    /// Covers the qualifiers before `stop` that share the first `shared` bytes of `stop`.
    fn up_to(&mut self, stop: &[u8], shared: usize) {
        let mut room = self.room;
        for at in shared..stop.len() {
            let siblings = usize::from(stop[at]) + 1;
            if siblings > room {
                return self.put(&stop[..at], Coverage::All);
            }
            room -= siblings;
            self.put(&stop[..at], Coverage::Itself);
            self.put_range(&stop[..at], 0..stop[at]);
        }
    }

    /// Covers all qualifiers that begin with `shared` and one of these bytes.
    fn put_range(&mut self, shared: &[u8], bytes: std::ops::Range<u8>) {
        bytes.for_each(|last| self.put_extended(shared, last));
    }

    fn put_extended(&mut self, shared: &[u8], last: u8) {
        self.put(&[shared, &[last]].concat(), Coverage::All);
    }

    fn put(&mut self, prefix: &[u8], meant: Coverage) {
        let coverage = self.prefixes.entry(prefix.to_vec()).or_insert(meant);
        *coverage = meant.max(*coverage);
    }

    /// Drops prefixes that a shorter one covers: the filter would match the longer one, and reject
    /// qualifiers that the shorter one is meant to cover.
    fn finish(self) -> BTreeSet<Bytes> {
        let mut all: Option<Vec<u8>> = None;
        let mut prefixes = BTreeSet::new();
        for (prefix, meant) in self.prefixes {
            if all.as_ref().is_some_and(|all| prefix.starts_with(all)) {
                continue;
            }
            prefixes.insert(Bytes::copy_from_slice(&prefix));
            if meant == Coverage::All {
                all = Some(prefix);
            }
        }
        prefixes
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::ranges::normalize;
    use super::*;

    fn passes(prefixes: &BTreeSet<Bytes>, qualifier: &[u8]) -> bool {
        let greatest = prefixes.iter().rev().find(|prefix| prefix[..] <= *qualifier);
        greatest.is_some_and(|prefix| qualifier.starts_with(prefix))
    }

    fn range(start: &'static [u8], stop: &'static [u8]) -> RowRange {
        RowRange::new(start, stop)
    }

    #[test]
    fn bounds_are_exact_to_the_byte() {
        let prefixes = cover(&[range(b"b37", b"b52"), range(b"d", b"e"), range(b"x", b"x\0")]);
        for (qualifier, is_in) in [
            (&b"b36\xff"[..], false),
            (b"b37", true),
            (b"b3\xff", true),
            (b"b4", true),
            (b"b5", true),
            (b"b51\xff", true),
            (b"b52", false),
            (b"b6", false),
            (b"c", false),
            (b"dz", true),
            (b"e", false),
            (b"x", true),
            (b"y", false),
        ] {
            assert_eq!(passes(&prefixes, qualifier), is_in, "{qualifier:?}");
        }
    }

    #[test]
    fn many_ranges_take_no_more_prefixes_than_may_be() {
        let range = |nth: u32| {
            RowRange::new((nth * 7).to_be_bytes().to_vec(), (nth * 7 + 3).to_be_bytes().to_vec())
        };
        for count in [2, 100, 499, 501, 5_000] {
            let ranges: Vec<_> = (0..count).map(range).collect();
            assert!(cover(&ranges).len() <= PREFIXES_MAX, "{count}");
        }
    }

    proptest! {
        #[test]
        fn every_qualifier_of_the_ranges_passes(
            bounds in prop::collection::vec(prop::collection::vec(0..4_u8, 0..4), 0..60),
            wide: bool,
            qualifiers in prop::collection::vec(prop::collection::vec(0..4_u8, 0..5), 50),
        ) {
            // Bytes at both ends of the byte value range.
            let spread = |bytes: &Vec<u8>| -> Vec<u8> {
                bytes.iter().map(|byte| if wide { byte.wrapping_sub(2) } else { *byte }).collect()
            };
            let pairs = bounds.chunks_exact(2);
            let ranges = pairs.map(|pair| RowRange::new(spread(&pair[0]), spread(&pair[1])));
            let ranges = normalize(ranges.collect());
            let prefixes = cover(&ranges);
            for qualifier in qualifiers.iter().map(spread) {
                let is_in = ranges.iter().any(|range| range.contains(&qualifier));
                prop_assert!(!is_in || passes(&prefixes, &qualifier), "{:?}", qualifier);
            }
        }
    }
}
