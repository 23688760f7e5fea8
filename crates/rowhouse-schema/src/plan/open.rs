//! Key ranges for conditions on open texts.
//!
//! The hard case is a text before a literal D (`[user text]_…`). Keys come in v·D order, not in v
//! order: `ab_…` comes after `ab!c_…`, though `ab` is less than `ab!c`. The texts that are out of
//! order with a constant x are proper prefixes of x. Each has one key range, which is added to the
//! keys less than x and subtracted from the others.

use rowhouse_model::RowRange;

use super::key_ranges::KeyRanges;
use super::predicate::Comparison;
use super::ranges::subtract;
use super::stored_test::{StoredTest, is_boundary};
use crate::encode::{End, ends_at_its_end};

/// Returns the keys for texts that pass the test, in about `limit` ranges at most.
pub(super) fn open_keys(end: &End, test: StoredTest<'_>, limit: usize) -> KeyRanges {
    match (end, test) {
        (End::Key, StoredTest::StartsWith(start)) => {
            KeyRanges::exact(vec![RowRange::prefix(start)])
        }
        (End::Key, StoredTest::Compare(comparison, constant)) => {
            KeyRanges::exact(last_text_keys(comparison, constant).into_iter().collect())
        }
        (End::Literal(literal), StoredTest::StartsWith(start)) => starting_keys(literal, start),
        (End::Literal(literal), StoredTest::Compare(comparison, constant)) => {
            Delimited { literal, constant, limit }.compare(comparison)
        }
        (End::Before(_), StoredTest::StartsWith(start)) => {
            KeyRanges::candidates(RowRange::prefix(start))
        }
        (End::Before(_), StoredTest::Compare(comparison, constant)) => {
            KeyRanges::candidates(match comparison {
                Comparison::Equal => RowRange::prefix(constant),
                // A text that begins the constant may be followed by any bytes.
                Comparison::Less | Comparison::LessOrEqual => RowRange::all(),
                Comparison::Greater | Comparison::GreaterOrEqual => from(constant),
            })
        }
    }
}

/// A text at the key's end is in its own order.
fn last_text_keys(comparison: Comparison, constant: &[u8]) -> Option<RowRange> {
    let this = RowRange::row(constant);
    Some(match comparison {
        Comparison::Equal => this,
        Comparison::Less => return below(constant),
        Comparison::LessOrEqual => RowRange { start: RowRange::all().start, stop: this.stop },
        Comparison::Greater => RowRange { start: this.stop, stop: RowRange::all().stop },
        Comparison::GreaterOrEqual => from(constant),
    })
}

fn from(start: &[u8]) -> RowRange {
    RowRange::new(start.to_vec(), Vec::new())
}

/// Returns the range that holds all keys less than the constant. `None` if that is empty: an empty
/// stop would mean no end.
fn below(constant: &[u8]) -> Option<RowRange> {
    (!constant.is_empty()).then(|| RowRange::new(Vec::new(), constant.to_vec()))
}

/// Returns the keys for texts before a literal that begin with `start`: the keys that begin with
/// these bytes, without the shorter texts whose literal makes up the rest of the bytes.
fn starting_keys(literal: &[u8], start: &[u8]) -> KeyRanges {
    let mut holes = Vec::new();
    for len in (0..start.len()).filter(|&len| is_boundary(start, len)) {
        let (text, rest) = start.split_at(len);
        if !ends_at_its_end(text, literal) {
            continue;
        }
        if rest.starts_with(literal) {
            // Any text that begins so ends at the literal.
            return KeyRanges::none();
        }
        if literal.starts_with(rest) {
            holes.push(RowRange::prefix(&[text, literal].concat()));
        }
    }
    KeyRanges::exact(subtract(RowRange::prefix(start), holes))
}

/// Compares texts before a literal with a constant.
struct Delimited<'a> {
    literal: &'a [u8],
    constant: &'a [u8],
    limit: usize,
}

impl Delimited<'_> {
    fn compare(&self, comparison: Comparison) -> KeyRanges {
        let equal = || RowRange::prefix(&[self.constant, self.literal].concat());
        // True if the constant can be a field value.
        let is_value = ends_at_its_end(self.constant, self.literal);
        let Some(mut out_of_order_ranges) = self.out_of_order_ranges() else {
            return self.candidates(comparison);
        };
        match comparison {
            Comparison::Equal => KeyRanges::exact(is_value.then(equal).into_iter().collect()),
            Comparison::Less | Comparison::LessOrEqual => {
                out_of_order_ranges.extend(below(self.constant));
                out_of_order_ranges
                    .extend((comparison == Comparison::LessOrEqual && is_value).then(equal));
                KeyRanges::exact(out_of_order_ranges)
            }
            Comparison::Greater | Comparison::GreaterOrEqual => {
                out_of_order_ranges
                    .extend((comparison == Comparison::Greater && is_value).then(equal));
                KeyRanges::exact(subtract(from(self.constant), out_of_order_ranges))
            }
        }
    }

    /// Returns the ranges for the texts that are less than the constant and whose keys are not all
    /// less than it; `None` if there are too many.
    fn out_of_order_ranges(&self) -> Option<Vec<RowRange>> {
        let lens = (0..self.constant.len()).filter(|&len| {
            let rest = &self.constant[len..];
            is_boundary(self.constant, len)
                && (self.literal > rest || rest.starts_with(self.literal))
                && ends_at_its_end(&self.constant[..len], self.literal)
        });
        let lens: Vec<_> = lens.take(self.limit + 1).collect();
        if lens.len() > self.limit {
            return None;
        }
        let texts = lens.into_iter().map(|len| &self.constant[..len]);
        Some(texts.map(|text| RowRange::prefix(&[text, self.literal].concat())).collect())
    }

    /// Returns one range that holds all matching keys, and others.
    fn candidates(&self, comparison: Comparison) -> KeyRanges {
        KeyRanges::candidates(match comparison {
            Comparison::Equal => RowRange::prefix(&[self.constant, self.literal].concat()),
            Comparison::Less | Comparison::LessOrEqual => RowRange::all(),
            Comparison::Greater | Comparison::GreaterOrEqual => from(self.constant),
        })
    }
}
