//! Key ranges for conditions on values with fixed width.
//!
//! With a padding other than zeros, values are not entirely in their own order: `ab` padded with
//! `~` comes after `abc`. As before a literal (see `open.rs`), the values that are out of order
//! with a constant are shorter ones that it begins with, and each has a separate key.

use rowhouse_model::{Bytes, RowRange};

use super::key_ranges::KeyRanges;
use super::predicate::Comparison;
use super::ranges::{normalize, subtract};
use super::stored_test::{StoredTest, is_boundary};
use crate::encode::Fixed;

pub(super) fn fixed_keys(fixed: Fixed, test: StoredTest<'_>, is_text: bool) -> KeyRanges {
    if fixed.low_first {
        return digits_reversed(fixed, test);
    }
    let plain = Fixed { desc: false, hex: false, ..fixed };
    let ranges = match test {
        StoredTest::Compare(comparison, constant) => {
            Compared { fixed: plain, constant, is_text }.ranges(comparison)
        }
        StoredTest::StartsWith(start) => starting(plain, start),
    };
    let ranges = ranges.into_iter().filter_map(|range| {
        let range = if fixed.desc { complemented(&range)? } else { range };
        Some(if fixed.hex { in_hex(&range) } else { range })
    });
    KeyRanges::exact(ranges.collect())
}

/// As [`fixed_keys`], for bytes whose hex digits are stored in reverse order. Tests can address
/// only the first digits as stored, and queries ask just that about reversed values.
fn digits_reversed(fixed: Fixed, test: StoredTest<'_>) -> KeyRanges {
    let start = match test {
        StoredTest::Compare(Comparison::Equal, constant) if fixed.check(constant).is_err() => {
            return KeyRanges::none();
        }
        StoredTest::StartsWith(start) if start.len() > usize::from(fixed.width) => {
            return KeyRanges::none();
        }
        StoredTest::Compare(Comparison::Equal, start) | StoredTest::StartsWith(start) => start,
        StoredTest::Compare(..) => return KeyRanges::candidates(RowRange::all()),
    };
    let mut digits = Vec::with_capacity(2 * start.len());
    fixed.write(start, &mut digits);
    KeyRanges::exact(vec![RowRange::prefix(&digits)])
}

struct Compared<'a> {
    fixed: Fixed,
    constant: &'a [u8],
    is_text: bool,
}

impl Compared<'_> {
    fn ranges(&self, comparison: Comparison) -> Vec<RowRange> {
        let itself = || {
            let is_value = self.fixed.check(self.constant).is_ok();
            is_value.then(|| RowRange::prefix(&self.stored(self.constant)))
        };
        match comparison {
            Comparison::Equal => itself().into_iter().collect(),
            Comparison::Less => normalize(self.below()),
            Comparison::LessOrEqual => {
                normalize(self.below().into_iter().chain(itself()).collect())
            }
            Comparison::GreaterOrEqual => subtract(RowRange::all(), self.below()),
            Comparison::Greater => {
                subtract(RowRange::all(), self.below().into_iter().chain(itself()).collect())
            }
        }
    }

    /// Returns the keys for values that are less than the constant.
    fn below(&self) -> Vec<RowRange> {
        let width = usize::from(self.fixed.width);
        let constant = &self.constant[..self.constant.len().min(width)];
        // A value that the constant extends is less than the constant.
        let stop = if self.constant.len() > width {
            RowRange::prefix(constant).stop
        } else if constant.is_empty() {
            return self.out_of_order_ranges(constant);
        } else if self.fixed.pad == Some(0) && self.fixed.check(constant).is_ok() {
            // Padded with zeros, values are in their own order.
            self.stored(constant).into()
        } else {
            Bytes::copy_from_slice(constant)
        };
        let mut ranges = self.out_of_order_ranges(constant);
        ranges.push(RowRange { start: Bytes::new(), stop });
        ranges
    }

    /// Returns the keys for shorter values that the constant begins with and whose keys are not
    /// less than it.
    fn out_of_order_ranges(&self, constant: &[u8]) -> Vec<RowRange> {
        let values = (0..constant.len())
            .map(|len| &constant[..len])
            .filter(|value| !self.is_text || is_boundary(constant, value.len()))
            .filter(|value| self.fixed.check(value).is_ok());
        let keys = values.map(|value| self.stored(value));
        keys.filter(|key| key.as_slice() >= constant).map(|key| RowRange::prefix(&key)).collect()
    }

    fn stored(&self, value: &[u8]) -> Vec<u8> {
        let mut stored = Vec::new();
        self.fixed.put(value, &mut stored);
        stored
    }
}

/// Returns the keys for values that begin with `start`: the keys that begin with these bytes,
/// without the one value whose padding makes up the end part of these bytes.
fn starting(fixed: Fixed, start: &[u8]) -> Vec<RowRange> {
    if start.len() > usize::from(fixed.width) {
        return Vec::new();
    }
    let all = RowRange::prefix(start);
    let value = start.iter().rposition(|byte| Some(*byte) != fixed.pad).map_or(0, |last| last + 1);
    if value == start.len() {
        return vec![all];
    }
    let mut stored = Vec::new();
    fixed.put(&start[..value], &mut stored);
    subtract(all, vec![RowRange::prefix(&stored)])
}

/// Returns the range that the complements of a range's bytes form; `None` if it is empty.
fn complemented(range: &RowRange) -> Option<RowRange> {
    let flipped = |bound: &Bytes| bound.iter().map(|byte| !byte).collect::<Vec<_>>();
    // No range is left if no bytes are greater than all keys with the complement's prefix.
    let start = if range.stop.is_empty() {
        Bytes::new()
    } else {
        Some(RowRange::prefix(&flipped(&range.stop)).stop).filter(|start| !start.is_empty())?
    };
    Some(RowRange { start, stop: RowRange::prefix(&flipped(&range.start)).stop })
}

fn in_hex(range: &RowRange) -> RowRange {
    let hex = |bound: &Bytes| {
        let mut digits = Vec::with_capacity(2 * bound.len());
        Fixed { hex: true, ..Fixed::new(0) }.write(bound, &mut digits);
        Bytes::from(digits)
    };
    RowRange { start: hex(&range.start), stop: hex(&range.stop) }
}
