//! A half-open row range.

use bytes::Bytes;

use crate::{compare_bytes, escape};

/// The rows from `start` (inclusive) to `stop` (exclusive). An empty `start` is before the first
/// row, an empty `stop` after the last.
#[derive(Clone, PartialEq, Eq, Hash, Default)]
pub struct RowRange {
    /// The first row in the range.
    pub start: Bytes,
    /// The first row after the range; empty for no end.
    pub stop: Bytes,
}

impl RowRange {
    /// Creates a range over every row.
    pub fn all() -> Self {
        Self::default()
    }

    /// Creates a range from `start` to `stop` (exclusive).
    pub fn new(start: impl Into<Bytes>, stop: impl Into<Bytes>) -> Self {
        Self { start: start.into(), stop: stop.into() }
    }

    /// Creates a range over the single row `row`.
    pub fn row(row: &[u8]) -> Self {
        Self { start: Bytes::copy_from_slice(row), stop: after(row) }
    }

    /// Creates a range over all rows that begin with `prefix`.
    pub fn prefix(prefix: &[u8]) -> Self {
        Self { start: Bytes::copy_from_slice(prefix), stop: successor(prefix) }
    }

    /// Returns true if a range among these, which are in order and do not overlap, contains `row`.
    ///
    /// ```
    /// use rowhouse_model::RowRange;
    ///
    /// let ranges = [RowRange::new("a", "c"), RowRange::new("f", "g")];
    /// assert!(RowRange::one_contains(&ranges, b"b") && !RowRange::one_contains(&ranges, b"d"));
    /// ```
    pub fn one_contains(ranges: &[Self], row: &[u8]) -> bool {
        let after_start = ranges.partition_point(|range| range.start[..] <= *row);
        after_start.checked_sub(1).is_some_and(|at| ranges[at].contains(row))
    }

    /// Returns true if `row` is in the range.
    pub fn contains(&self, row: &[u8]) -> bool {
        compare_bytes(&self.start, row).is_le()
            && (self.stop.is_empty() || compare_bytes(row, &self.stop).is_lt())
    }

    /// Returns true if the range cannot contain a row.
    pub fn is_empty(&self) -> bool {
        !self.stop.is_empty() && self.start >= self.stop
    }

    /// Returns the first `len` bytes of every row in the range, if all rows share them.
    pub fn shared_prefix(&self, len: usize) -> Option<&[u8]> {
        let prefix = self.start.get(..len)?;
        let prefix_end = successor(prefix);
        let within = prefix_end.is_empty() || !self.stop.is_empty() && self.stop <= prefix_end;
        within.then_some(prefix)
    }

    /// Returns the intersection between two ranges.
    pub fn intersect(&self, other: &Self) -> Self {
        let start = self.start.clone().max(other.start.clone());
        let stop = match (self.stop.is_empty(), other.stop.is_empty()) {
            (true, _) => other.stop.clone(),
            (_, true) => self.stop.clone(),
            _ => self.stop.clone().min(other.stop.clone()),
        };
        Self { start, stop }
    }

    /// Returns true if the two ranges can have a row in common.
    pub fn overlaps(&self, other: &Self) -> bool {
        !self.intersect(other).is_empty()
    }
}

/// Returns the row directly after `row`: `row` and a zero byte.
fn after(row: &[u8]) -> Bytes {
    let mut bytes = Vec::with_capacity(row.len() + 1);
    bytes.extend_from_slice(row);
    bytes.push(0);
    bytes.into()
}

/// Returns the first row after all rows that begin with `prefix`; empty if there is none (all bytes
/// FF).
fn successor(prefix: &[u8]) -> Bytes {
    let Some(last) = prefix.iter().rposition(|&byte| byte != 0xFF) else {
        return Bytes::new();
    };
    let mut bytes = prefix[..=last].to_vec();
    bytes[last] += 1;
    bytes.into()
}

impl std::fmt::Debug for RowRange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "[{}, {})", escape(&self.start), escape(&self.stop))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_prefix_is_shared_where_the_range_does_not_leave_it() {
        let shared = |start: &'static [u8], stop: &'static [u8], len| {
            RowRange::new(start, stop).shared_prefix(len).map(<[u8]>::to_vec)
        };
        assert_eq!(shared(b"ab1", b"ab7", 2), Some(b"ab".to_vec()));
        assert_eq!(shared(b"ab", b"ac", 2), Some(b"ab".to_vec()));
        assert_eq!(shared(b"ab", b"ac\x00", 2), None);
        assert_eq!(shared(b"ab", b"", 2), None);
        assert_eq!(shared(b"a", b"b", 2), None);
        assert_eq!(shared(b"\xFF\xFF1", b"", 2), Some(b"\xFF\xFF".to_vec()));
        assert_eq!(shared(b"a", b"b", 0), Some(vec![]));
    }

    proptest! {
        #[test]
        fn prefix_range_holds_exactly_the_rows_with_the_prefix(
            prefix in prop::collection::vec(prop::sample::select(vec![0u8, 1, 0xFE, 0xFF]), 0..4),
            row in prop::collection::vec(prop::sample::select(vec![0u8, 1, 0xFE, 0xFF]), 0..6),
        ) {
            prop_assert_eq!(RowRange::prefix(&prefix).contains(&row), row.starts_with(&prefix));
        }

        #[test]
        fn intersection_holds_the_rows_in_both(
            a in (any::<[u8; 1]>(), any::<[u8; 1]>()),
            b in (any::<[u8; 1]>(), any::<[u8; 1]>()),
            row in any::<[u8; 1]>(),
        ) {
            let a = RowRange::new(a.0.to_vec(), a.1.to_vec());
            let b = RowRange::new(b.0.to_vec(), b.1.to_vec());
            let both = a.intersect(&b);
            prop_assert_eq!(both.contains(&row), a.contains(&row) && b.contains(&row));
        }
    }

    #[test]
    fn row_range_holds_one_row() {
        let range = RowRange::row(b"a");
        assert!(range.contains(b"a"));
        assert!(!range.contains(b"a\0"));
        assert!(!range.contains(b"b"));
    }
}
