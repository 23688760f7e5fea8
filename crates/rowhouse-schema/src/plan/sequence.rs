//! Key ranges for conditions on texts or bytes, for every arrangement and container.

use rowhouse_model::RowRange;

use super::fixed::fixed_keys;
use super::key_ranges::KeyRanges;
use super::open::open_keys;
use super::predicate::Comparison;
use super::ranges::{intersect, normalize};
use super::separated::separated_keys;
use super::set::{BytesSet, BytesTest};
use super::stored_test::{StoredTest, compared};
use super::terminated::terminated_keys;
use crate::encode::foreign::Numeric;
use crate::encode::{Arrangement, Container, Sequence};

pub(super) fn sequence_keys(sequence: &Sequence, set: &BytesSet, limit: usize) -> KeyRanges {
    let mut all = KeyRanges::exact(vec![RowRange::all()]);
    let list = set.list.as_ref().map(|list| {
        let equal = |value: &Vec<u8>| {
            let stored = sequence.arrangement.order_break(sequence.content, value.into());
            stored_keys(sequence, StoredTest::Compare(Comparison::Equal, &stored), limit)
        };
        list.iter().map(equal).reduce(either).unwrap_or_else(KeyRanges::none)
    });
    // The values in a list have passed the tests.
    if let Some(list) = list {
        return list;
    }
    for test in &set.tests {
        let matched = keys(sequence, test, limit);
        all.exact &= matched.exact;
        all.ranges = intersect(&all.ranges, &matched.ranges);
    }
    all
}

fn either(a: KeyRanges, b: KeyRanges) -> KeyRanges {
    let ranges = a.ranges.into_iter().chain(b.ranges).collect();
    KeyRanges { ranges: normalize(ranges), exact: a.exact && b.exact }
}

fn keys(sequence: &Sequence, test: &BytesTest, limit: usize) -> KeyRanges {
    let turned = |bytes: &[u8]| {
        sequence.arrangement.order_break(sequence.content, bytes.into()).into_owned()
    };
    let stored = |test: StoredTest<'_>| stored_keys(sequence, test, limit);
    match (sequence.arrangement, test) {
        (Arrangement::AsGiven, BytesTest::Compare(comparison, constant)) => {
            stored(StoredTest::Compare(*comparison, constant))
        }
        (Arrangement::AsGiven, BytesTest::StartsWith(start)) => {
            stored(StoredTest::StartsWith(start))
        }
        (Arrangement::Reversed, BytesTest::EndsWith(end)) => {
            stored(StoredTest::StartsWith(&turned(end)))
        }
        (Arrangement::Labels, BytesTest::Under(domain)) => {
            let mut domain = turned(domain);
            let itself = stored(StoredTest::Compare(Comparison::Equal, &domain));
            domain.push(b'.');
            either(itself, stored(StoredTest::StartsWith(&domain)))
        }
        (Arrangement::Labels, BytesTest::EndsWith(end)) => {
            // All parts but the leftmost are complete, and are stored first.
            let Some(dot) = end.iter().position(|byte| *byte == b'.') else {
                return KeyRanges::candidates(RowRange::all());
            };
            let part = &end[..dot];
            let mut whole = turned(&end[dot + 1..]);
            whole.push(b'.');
            let matched = stored(StoredTest::StartsWith(&whole));
            KeyRanges { exact: matched.exact && part.is_empty(), ..matched }
        }
        _ => KeyRanges::candidates(RowRange::all()),
    }
}

fn stored_keys(sequence: &Sequence, test: StoredTest<'_>, limit: usize) -> KeyRanges {
    match &sequence.container {
        Container::Open(end) => open_keys(end, test, limit),
        Container::Terminated(terminated) => terminated_keys(*terminated, test),
        Container::Fixed(fixed) => fixed_keys(*fixed, test, sequence.content.is_text()),
        Container::SevenBits(seven) => match test {
            StoredTest::Compare(Comparison::Equal, constant) => {
                let mut bytes = Vec::new();
                seven.put(constant, &mut bytes);
                KeyRanges::exact(vec![RowRange::prefix(&bytes)])
            }
            _ => KeyRanges::candidates(RowRange::all()),
        },
        Container::Numeric(numeric) => numeric_keys(*numeric, test),
        Container::Separated(separated) => separated_keys(*separated, test),
    }
}

/// Returns the keys for numbers whose bytes are in numeric order.
fn numeric_keys(numeric: Numeric, test: StoredTest<'_>) -> KeyRanges {
    let StoredTest::Compare(comparison, constant) = test else { return KeyRanges::none() };
    let mut bytes = Vec::new();
    numeric.put(constant, &mut bytes);
    let comparison = if numeric.is_desc() { comparison.mirrored() } else { comparison };
    KeyRanges::exact(compared(comparison, RowRange::prefix(&bytes)).into_iter().collect())
}
