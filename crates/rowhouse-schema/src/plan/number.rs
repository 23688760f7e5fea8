//! Key ranges for conditions on numbers.

use rowhouse_model::{Bytes, RowRange};

use super::key_ranges::KeyRanges;
use super::set::NumberSet;
use crate::encode::Number;
use crate::encode::foreign::OrderBreak;

pub(super) fn number_keys(number: &Number, set: &NumberSet) -> KeyRanges {
    match &set.list {
        Some(list) if !number.is_ordered() => KeyRanges::exact(
            list.iter().map(|&value| RowRange::prefix(&bytes(number, value))).collect(),
        ),
        Some(list) => {
            let ranges = runs(number, list).into_iter().map(|run| number_range(number, run));
            KeyRanges::exact(ranges.collect())
        }
        None if set.low > set.high => KeyRanges::none(),
        None if number.has_last_digit_first() => last_digits(number, set),
        None if !number.is_ordered() => match number.order_break() {
            Some(order_break) => KeyRanges::exact(halves(number, set, order_break)),
            // Reversed numbers are not in numeric order.
            None => {
                let all = set.low == number.domain.min && set.high == number.domain.max;
                KeyRanges { exact: all, ..KeyRanges::candidates(RowRange::all()) }
            }
        },
        None => {
            let range = number_range(number, (set.low, set.high));
            KeyRanges { exact: set.last.is_none(), ..KeyRanges::exact(vec![range]) }
        }
    }
}

/// Returns the range for the numbers that end with given digits, where keys begin with these.
fn last_digits(number: &Number, set: &NumberSet) -> KeyRanges {
    let range = match set.last {
        Some(last) => RowRange::prefix(&bytes(number, last.number)[..last.count as usize]),
        None => RowRange::all(),
    };
    let all = set.low == number.domain.min && set.high == number.domain.max;
    KeyRanges { exact: all, ..KeyRanges::exact(vec![range]) }
}

/// Returns the range for the numbers from `low` to `high`. The bounds are the bytes of the first
/// number and of the first one after the last, where these exist.
fn number_range(number: &Number, (low, high): (i128, i128)) -> RowRange {
    let first = number.floor(low) > number.floor(number.domain.min);
    let (start, stop) = if number.is_desc() {
        (number.following(high).map(|_| high), number.preceding(low))
    } else {
        (first.then_some(low), number.following(high))
    };
    let bound =
        |value: Option<i128>| value.map_or_else(Bytes::new, |value| bytes(number, value).into());
    RowRange { start: bound(start), stop: bound(stop) }
}

/// Returns the ranges for a number set whose encodings form two halves: one range in each half.
fn halves(number: &Number, set: &NumberSet, order_break: OrderBreak) -> Vec<RowRange> {
    let below = (set.low, set.high.min(order_break.at - 1), order_break.lower_is_descending);
    let above = (set.low.max(order_break.at), set.high, false);
    let halves = [below, above].into_iter().filter(|(low, high, _)| low <= high);
    let range = |(low, high, is_backward): (i128, i128, bool)| {
        let (first, last) = if is_backward { (high, low) } else { (low, high) };
        let stop = RowRange::prefix(&bytes(number, last)).stop;
        RowRange { start: bytes(number, first).into(), stop }
    };
    halves.map(range).collect()
}

fn bytes(number: &Number, value: i128) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(number.width().unwrap_or(0));
    number.put(value, &mut bytes);
    bytes
}

/// Splits a sorted list into runs of adjacent numbers.
fn runs(number: &Number, list: &[i128]) -> Vec<(i128, i128)> {
    let mut runs: Vec<(i128, i128)> = Vec::new();
    for &value in list {
        match runs.last_mut() {
            Some((_, high)) if number.floor(*high) == number.floor(value) => *high = value,
            Some((_, high)) if number.following(*high) == Some(number.floor(value)) => {
                *high = value;
            }
            _ => runs.push((value, value)),
        }
    }
    runs
}
