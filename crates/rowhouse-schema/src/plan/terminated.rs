//! Which keys hold the strings or blobs wanted: they are in their own order.

use rowhouse_model::RowRange;

use super::found::Found;
use super::predicate::Comparison;
use super::sequence::StoredTest;
use crate::encode::Terminated;

pub(super) fn terminated_keys(terminated: Terminated, test: StoredTest<'_>) -> Found {
    let mut bytes = Vec::new();
    let (comparison, constant) = match test {
        StoredTest::Compare(comparison, constant) => (comparison, constant),
        StoredTest::StartsWith(start) => {
            terminated.start(start, &mut bytes);
            return Found::exact(vec![RowRange::prefix(&bytes)]);
        }
    };
    terminated.put(constant, &mut bytes);
    let all = RowRange::all();
    // A terminator is never all FF, so there is always a first row behind it.
    let this = RowRange::prefix(&bytes);
    let range = match if terminated.desc { comparison.mirrored() } else { comparison } {
        Comparison::Equal => this,
        Comparison::Less => RowRange { start: all.start, stop: this.start },
        Comparison::LessOrEqual => RowRange { start: all.start, stop: this.stop },
        Comparison::Greater => RowRange { start: this.stop, stop: all.stop },
        Comparison::GreaterOrEqual => RowRange { start: this.start, stop: all.stop },
    };
    Found::exact(vec![range])
}
