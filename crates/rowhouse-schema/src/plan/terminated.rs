//! Key ranges for conditions on strings or blobs, which are stored in their own order.

use rowhouse_model::{Bytes, RowRange};

use super::key_ranges::KeyRanges;
use super::predicate::Comparison;
use super::stored_test::{StoredTest, compared};
use crate::encode::Terminated;

pub(super) fn terminated_keys(terminated: Terminated, test: StoredTest<'_>) -> KeyRanges {
    let mut bytes = Vec::new();
    let (comparison, constant) = match test {
        StoredTest::Compare(comparison, constant) => match cut(terminated, constant) {
            None => (comparison, constant),
            Some(_) if comparison == Comparison::Equal => return KeyRanges::none(),
            // A value that the constant begins with is less than the constant.
            Some(value) => match comparison {
                Comparison::Less | Comparison::LessOrEqual => (Comparison::LessOrEqual, value),
                _ => (Comparison::Greater, value),
            },
        },
        StoredTest::StartsWith(start) if cut(terminated, start).is_some() => {
            return KeyRanges::none();
        }
        StoredTest::StartsWith(start) => {
            terminated.start(start, &mut bytes);
            return KeyRanges::exact(vec![RowRange::prefix(&bytes)]);
        }
    };
    terminated.put(constant, &mut bytes);
    let mut this = RowRange::prefix(&bytes);
    if !terminated.is_prefix_free() {
        bytes.push(0xFF);
        this.stop = Bytes::from(bytes);
    }
    let comparison = if terminated.desc { comparison.mirrored() } else { comparison };
    KeyRanges::exact(compared(comparison, this).into_iter().collect())
}

/// Returns the constant up to the first zero, if values cannot hold zeros.
fn cut(terminated: Terminated, constant: &[u8]) -> Option<&[u8]> {
    let zero = constant.iter().position(|byte| *byte == 0)?;
    terminated.check(constant).is_err().then(|| &constant[..zero])
}
