//! Tests on bytes as they are stored, and what all containers need for them.

use rowhouse_model::RowRange;

use super::predicate::Comparison;

/// A test on bytes as they are stored.
#[derive(Clone, Copy, Debug)]
pub(super) enum StoredTest<'a> {
    Compare(Comparison, &'a [u8]),
    StartsWith(&'a [u8]),
}

/// Returns the keys that compare in this way with a range that holds one value's keys.
pub(super) fn compared(comparison: Comparison, this: RowRange) -> Option<RowRange> {
    let all = RowRange::all();
    match comparison {
        Comparison::Equal => Some(this),
        // Nothing is before the first row.
        Comparison::Less if this.start.is_empty() => None,
        Comparison::Less => Some(RowRange { start: all.start, stop: this.start }),
        Comparison::LessOrEqual => Some(RowRange { start: all.start, stop: this.stop }),
        // An empty stop is where all rows end.
        Comparison::Greater if this.stop.is_empty() => None,
        Comparison::Greater => Some(RowRange { start: this.stop, stop: all.stop }),
        Comparison::GreaterOrEqual => Some(RowRange { start: this.start, stop: all.stop }),
    }
}

/// Returns true if a text can be cut before this byte: it does not split a UTF-8 character.
pub(super) fn is_boundary(text: &[u8], at: usize) -> bool {
    text.get(at).is_none_or(|byte| byte & 0xC0 != 0x80)
}
