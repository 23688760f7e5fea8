//! Key ranges for conditions on whole numbers stored as the shortest decimal text. Texts with the
//! same digit count are in numeric order, so there is one range for each digit count.

use rowhouse_model::RowRange;

use super::key_ranges::KeyRanges;
use super::set::NumberSet;
use crate::encode::{ShortestDigits, digits_of};

pub(super) fn shortest_keys(shortest: &ShortestDigits, set: &NumberSet) -> KeyRanges {
    let &NumberSet { low, high, .. } = set;
    if set.list.as_ref().is_some_and(Vec::is_empty) || low > high {
        return KeyRanges::none();
    }
    if low == shortest.domain.min && high == shortest.domain.max {
        return KeyRanges::exact(vec![RowRange::all()]);
    }
    if shortest.reversed {
        return KeyRanges::candidates(RowRange::all());
    }
    let ranges = (digits_of(low)..=digits_of(high)).map(|digits| {
        let least = if digits == 1 { 0 } else { 10_i128.pow(u32::from(digits) - 1) };
        let greatest = 10_i128.pow(digits.into()) - 1;
        let start = low.max(least).to_string();
        let last = high.min(greatest).to_string();
        RowRange { start: start.into_bytes().into(), stop: RowRange::prefix(last.as_bytes()).stop }
    });
    KeyRanges { exact: false, ..KeyRanges::exact(ranges.collect()) }
}
