//! How the planner sees a codec: the key ranges for the conditions on a field, and the single
//! values that can be enumerated. Ranges here are relative to the bytes pinned so far; an empty
//! stop is where all keys end that begin with these.

use rowhouse_model::{Bytes, RowRange};

use super::key_ranges::KeyRanges;
use super::number::number_keys;
use super::ranges::{intersect, normalize, subtract};
use super::sequence::sequence_keys;
use super::set::{BytesSet, BytesTest, FieldConditions, Set};
use super::shortest::shortest_keys;
use crate::encode::shortest::put_canonical;
use crate::encode::{Body, Codec, Marker, Number, Repeat};

/// A value as encoded in a key.
#[derive(Clone, Debug)]
pub(super) struct Pin {
    pub(super) bytes: Vec<u8>,
    /// The value's bytes before any modifier, if they are known: the input for buckets.
    pub(super) canonical: Option<Vec<u8>>,
    /// How many trailing bytes are omitted at a key's end.
    pub(super) cut: usize,
}

impl Pin {
    fn new(bytes: Vec<u8>, canonical: Option<Vec<u8>>) -> Self {
        Self { bytes, canonical, cut: 0 }
    }

    /// Returns the range for all keys that begin with this value.
    pub(super) fn rows(&self) -> RowRange {
        let start = Bytes::copy_from_slice(&self.bytes[..self.bytes.len() - self.cut]);
        RowRange { start, stop: RowRange::prefix(&self.bytes).stop }
    }
}

/// Returns the keys that match the conditions on a field, in about `limit` ranges at most.
pub(super) fn matching_keys(
    codec: &Codec,
    conditions: Option<&FieldConditions>,
    limit: usize,
) -> KeyRanges {
    let Some(conditions) = conditions else { return KeyRanges::exact(vec![RowRange::all()]) };
    let values = match (&codec.body, &conditions.set) {
        (Body::Number(number), Set::Numbers(set)) => number_keys(number, set),
        (Body::Shortest(shortest), Set::Numbers(set)) => shortest_keys(shortest, set),
        (Body::Sequence(sequence), Set::Bytes(set)) => sequence_keys(sequence, set, limit),
        (Body::Repeat(repeat), Set::Bytes(set)) => repeat_keys(repeat, set),
        // Conditions on hashes ask for single ones, or for all.
        _ => KeyRanges::exact(vec![RowRange::all()]),
    };
    if codec.lead.is_none() { values } else { led(codec.lead, values, conditions.nulls) }
}

/// Adds the leading byte to value ranges, and the range for null if it is requested.
fn led(lead: Marker, values: KeyRanges, nulls: bool) -> KeyRanges {
    let mut ranges: Vec<RowRange> = match (lead.value, lead.nulls()) {
        (Some(value), _) => values.ranges.iter().map(|range| under(&[value], range)).collect(),
        // No value begins with the byte for null.
        (None, Some(null)) => values
            .ranges
            .into_iter()
            .flat_map(|range| subtract(range, vec![null.clone()]))
            .collect(),
        (None, None) => values.ranges,
    };
    ranges.extend(lead.nulls().filter(|_| nulls));
    KeyRanges { ranges: normalize(ranges), exact: values.exact }
}

fn repeat_keys(repeat: &Repeat, set: &BytesSet) -> KeyRanges {
    let mut ranges = vec![RowRange::all()];
    for test in &set.tests {
        if let BytesTest::StartsWith(start) = test {
            debug_assert_eq!(start.len() % repeat.group_width(), 0);
            ranges = intersect(&ranges, &[RowRange::prefix(start)]);
        }
    }
    KeyRanges::exact(ranges)
}

/// Puts these bytes before a relative range.
pub(super) fn under(prefix: &[u8], range: &RowRange) -> RowRange {
    let join = |bytes: &Bytes| Bytes::from([prefix, bytes].concat());
    let stop =
        if range.stop.is_empty() { RowRange::prefix(prefix).stop } else { join(&range.stop) };
    RowRange { start: join(&range.start), stop }
}

/// Returns the requested values one by one, in byte order, if they can be listed.
pub(super) fn pins(codec: &Codec, conditions: &FieldConditions) -> Option<Vec<Pin>> {
    let values: Vec<Pin> = match (&codec.body, &conditions.set) {
        (Body::Number(number), Set::Numbers(set)) => match set.singles() {
            Some(singles) => singles.iter().map(|value| pin_of_number(number, *value)).collect(),
            // If several numbers share one step, only the step is known.
            None if set.low < set.high && number.floor(set.low) == number.floor(set.high) => {
                vec![Pin { canonical: None, ..pin_of_number(number, set.low) }]
            }
            None => return None,
        },
        (Body::Shortest(shortest), Set::Numbers(set)) => {
            let pin = |value: &i128| {
                let mut bytes = Vec::new();
                let mut canonical = Vec::new();
                shortest.put(*value, &mut bytes);
                put_canonical(*value, &mut canonical);
                Pin::new(bytes, Some(canonical))
            };
            set.singles()?.iter().map(pin).collect()
        }
        // Closing the list dropped the values that cannot be encoded.
        (Body::Sequence(sequence), Set::Bytes(set)) => set
            .list
            .as_ref()?
            .iter()
            .filter_map(|value| {
                let mut bytes = Vec::new();
                sequence.put(value.into(), &mut bytes).ok()?;
                Some(Pin::new(bytes, Some(value.clone())))
            })
            .collect(),
        (Body::Repeat(_), Set::Bytes(set)) => set
            .list
            .as_ref()?
            .iter()
            .map(|value| Pin::new(value.clone(), Some(value.clone())))
            .collect(),
        (Body::Hashed(hashed), Set::Hashes(list)) => list
            .as_ref()?
            .iter()
            .map(|hash| {
                let mut bytes = Vec::new();
                hashed.fixed.put(&hash.stored, &mut bytes);
                Pin::new(bytes, hash.canonical.clone())
            })
            .collect(),
        _ => return None,
    };
    Some(marked(codec, values, conditions.nulls))
}

/// How many values a field has, if they can be counted.
pub(super) fn values_count(codec: &Codec) -> Option<u128> {
    let Body::Number(number) = &codec.body else { return None };
    let nulls = u128::from(codec.is_nullable());
    Some(number.count(number.domain.min, number.domain.max).saturating_add(nulls))
}

/// Returns all values of a small field, in byte order, so that a scan can enumerate them to reach a
/// condition on a later field. `None` if there are more than `max`.
pub(super) fn all_values(
    codec: &Codec,
    conditions: Option<&FieldConditions>,
    max: usize,
) -> Option<Vec<Pin>> {
    let Body::Number(number) = &codec.body else { return None };
    let set = match conditions.map(|conditions| &conditions.set) {
        Some(Set::Numbers(set)) => Some(set),
        _ => None,
    };
    let (low, high) = set.map_or((number.domain.min, number.domain.max), |set| (set.low, set.high));
    if low > high || number.count(low, high) > max as u128 {
        return None;
    }
    let values = number.each(low, high).filter(|value| set.is_none_or(|set| set.passes(*value)));
    let values = values.map(|value| match pin_of_number(number, value) {
        // Several numbers are stored as the same step; a floored number is one among them.
        pin if number.is_floored() => Pin { canonical: None, ..pin },
        pin => pin,
    });
    let nulls = codec.is_nullable() && conditions.is_none_or(|conditions| conditions.nulls);
    Some(marked(codec, values.collect(), nulls))
}

fn pin_of_number(number: &Number, value: i128) -> Pin {
    let mut bytes = Vec::new();
    let mut canonical = Vec::new();
    number.put(value, &mut bytes);
    number.put_canonical(value, &mut canonical);
    Pin::new(bytes, Some(canonical))
}

/// Adds the leading byte to the values, and null to the list.
fn marked(codec: &Codec, mut pins: Vec<Pin>, nulls: bool) -> Vec<Pin> {
    if let Some(value) = codec.lead.value {
        pins.iter_mut().for_each(|pin| pin.bytes.insert(0, value));
    }
    if let Some(null) = codec.lead.null {
        let null = Pin::new(vec![null], Some(Vec::new()));
        pins.extend(nulls.then_some(null));
    }
    if let Some(separated) = codec.tail() {
        pins.iter_mut()
            .for_each(|pin| pin.cut = pin.bytes.len() - separated.retained_len(&pin.bytes));
    }
    if pins.len() > 1 {
        pins.sort_unstable_by(|a, b| a.bytes.cmp(&b.bytes));
    }
    pins
}
