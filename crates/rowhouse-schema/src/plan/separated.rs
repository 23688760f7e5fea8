//! Key ranges for conditions on values with separators.
//!
//! A value's rows have the value bytes followed by the separator or, at the key's end, by nothing.

use rowhouse_model::RowRange;

use super::key_ranges::KeyRanges;
use super::predicate::Comparison;
use super::stored_test::{StoredTest, compared};
use crate::encode::{Separated, Separation};

pub(super) fn separated_keys(separated: Separated, test: StoredTest<'_>) -> KeyRanges {
    let mut bytes = Vec::new();
    let (comparison, constant) = match test {
        StoredTest::StartsWith(start) if separated.cut(start).is_some() => {
            return KeyRanges::none();
        }
        StoredTest::StartsWith(start) => {
            separated.start(start, &mut bytes);
            return KeyRanges::exact(vec![RowRange::prefix(&bytes)]);
        }
        StoredTest::Compare(comparison, constant) => match separated.cut(constant) {
            None => (comparison, constant),
            Some(_) if comparison == Comparison::Equal => return KeyRanges::none(),
            // A value that the constant begins with is less than the constant.
            Some(value) => match comparison {
                Comparison::Less | Comparison::LessOrEqual => (Comparison::LessOrEqual, value),
                _ => (Comparison::Greater, value),
            },
        },
    };
    if separated.separation == Separation::Phoenix && constant.is_empty() {
        // No value is empty, so all are greater.
        return match comparison {
            Comparison::Greater | Comparison::GreaterOrEqual => {
                KeyRanges::exact(vec![RowRange::all()])
            }
            Comparison::Equal | Comparison::Less | Comparison::LessOrEqual => KeyRanges::none(),
        };
    }
    let comparison = if separated.desc { comparison.mirrored() } else { comparison };
    KeyRanges::exact(compared(comparison, rows(separated, constant)).into_iter().collect())
}

/// Returns a value's rows.
fn rows(separated: Separated, value: &[u8]) -> RowRange {
    let mut start = Vec::new();
    separated.start(value, &mut start);
    if separated.desc {
        // A descending value's separator is never omitted.
        let mut bytes = Vec::new();
        separated.put(value, &mut bytes);
        return RowRange::prefix(&bytes);
    }
    let mut stop = start.clone();
    separated.extend_past(&mut stop);
    RowRange { start: start.into(), stop: stop.into() }
}
