//! A finished column in a table's heat: the encoding, and how two columns become one.

use bytes::Bytes;

use super::load::Load;
use super::number::{put_number, take_number};
use super::sample::SampledRequests;

/// A time span, with key ranges and their loads in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Column {
    /// Milliseconds since 1970.
    pub(super) start_millis: i64,
    pub(super) length_millis: i64,
    /// Whether some requests in it count for several.
    pub(super) sampled: bool,
    /// The ranges, encoded: a tenth of their size in memory.
    ranges: Bytes,
    ranges_count: u16,
    sample: SampledRequests,
}

/// A column's ranges, by start key. The first starts at the empty key.
pub(super) type Ranges = Vec<(Bytes, Load)>;

impl Column {
    /// Encodes a column. Neighbouring ranges without load become one.
    pub(super) fn new<'r>(
        start_millis: i64,
        length_millis: i64,
        sampled: bool,
        ranges: impl Iterator<Item = (&'r [u8], Load)>,
    ) -> Self {
        let (ranges, ranges_count) = encode(ranges);
        let sample = SampledRequests::default();
        Self { start_millis, length_millis, sampled, ranges, ranges_count, sample }
    }

    /// Sets the sample of the column's requests.
    pub(super) fn with_sample(self, sample: SampledRequests) -> Self {
        Self { sample, ..self }
    }

    /// Returns a stored column; `None` if the time span is not one since 1970, or if the ranges or
    /// the sample are no encoding.
    pub(super) fn stored(
        start_millis: i64,
        length_millis: i64,
        sampled: bool,
        ranges: Bytes,
        sample: Bytes,
    ) -> Option<Self> {
        let is_valid = start_millis >= 0
            && length_millis > 0
            && start_millis.checked_add(length_millis).is_some();
        let ranges_count = u16::try_from(decode(&ranges)?.len()).ok()?;
        let sample = SampledRequests::stored(start_millis, sample)?;
        let column = Self { start_millis, length_millis, sampled, ranges, ranges_count, sample };
        is_valid.then_some(column)
    }

    /// Returns the encoded ranges.
    pub(super) fn encoded(&self) -> &[u8] {
        &self.ranges
    }

    pub(super) fn sample(&self) -> &SampledRequests {
        &self.sample
    }

    pub(super) fn ranges_count(&self) -> usize {
        self.ranges_count.into()
    }

    pub(super) fn ranges(&self) -> Ranges {
        decode(&self.ranges).expect("ranges are checked when they are read")
    }

    pub(super) fn end_millis(&self) -> i64 {
        self.start_millis + self.length_millis
    }

    /// Returns the bytes it takes in memory.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Self>() + self.ranges.len() + self.sample.encoded().len() + 2 * ALLOCATION_BYTES
    }

    /// Returns the column for both spans and the time between them, in at most `ranges_max` ranges.
    /// The sum of the loads stays. A range that the other column divides is taken to have had its
    /// load evenly in the parts. The sample has as many requests as the larger of both.
    pub(super) fn merged(&self, other: &Self, ranges_max: usize) -> Self {
        let (early, late) =
            if other.start_millis < self.start_millis { (other, self) } else { (self, other) };
        let start_millis = early.start_millis;
        let length_millis = early.end_millis().max(late.end_millis()) - start_millis;
        let sample = SampledRequests::joined(
            start_millis,
            &[early, late].map(|it| (it.start_millis, it.load(), &it.sample)),
            early.sample.len_max().max(late.sample.len_max()),
        );
        let mut ranges = union(self.ranges(), other.ranges());
        narrow(&mut ranges, ranges_max);
        let sampled = self.sampled || other.sampled;
        Self::of(start_millis, length_millis, sampled, &ranges).with_sample(sample)
    }

    /// Returns the column with at most so many requests of each kind in the sample.
    pub(super) fn with_fewer_samples(&self, requests_max: usize) -> Self {
        let parts = [(self.start_millis, self.load(), &self.sample)];
        let sample = SampledRequests::joined(self.start_millis, &parts, requests_max);
        self.clone().with_sample(sample)
    }

    /// Returns the sum of the ranges' loads.
    pub(super) fn load(&self) -> Load {
        let mut sum = Load::default();
        self.ranges().into_iter().for_each(|(_, load)| sum += load);
        sum
    }

    /// Returns the column in at most `ranges_max` ranges.
    pub(super) fn narrowed(&self, ranges_max: usize) -> Self {
        let mut ranges = self.ranges();
        narrow(&mut ranges, ranges_max);
        Self::of(self.start_millis, self.length_millis, self.sampled, &ranges)
            .with_sample(self.sample.clone())
    }

    fn of(start_millis: i64, length_millis: i64, sampled: bool, ranges: &Ranges) -> Self {
        let ranges = ranges.iter().map(|(start, load)| (&start[..], *load));
        Self::new(start_millis, length_millis, sampled, ranges)
    }
}

/// About what an allocation costs besides the bytes: the header, and the reference count.
const ALLOCATION_BYTES: usize = 48;

/// Adds the loads in two columns over the union of their bounds.
fn union(left: Ranges, right: Ranges) -> Ranges {
    let mut bounds: Vec<Bytes> =
        left.iter().chain(&right).map(|(start, _)| start.clone()).collect();
    bounds.sort_unstable();
    bounds.dedup();
    let mut sum: Ranges = bounds.into_iter().map(|start| (start, Load::default())).collect();
    for ranges in [left, right] {
        let mut from = 0;
        for (nth, (_, load)) in ranges.iter().enumerate() {
            let to = match ranges.get(nth + 1) {
                Some((stop, _)) => from + sum[from..].partition_point(|(start, _)| start < stop),
                None => sum.len(),
            };
            let mut rest = *load;
            for (at, (_, load)) in sum[from..to].iter_mut().enumerate() {
                *load += rest.take(1, (to - from - at) as u64);
            }
            from = to;
        }
    }
    sum
}

/// Merges the neighbours that have least load together until there are `ranges_max` ranges.
fn narrow(ranges: &mut Ranges, ranges_max: usize) {
    while ranges.len() > ranges_max.max(1) {
        let of_pair =
            |pair: &[(Bytes, Load)]| pair[0].1.requests().saturating_add(pair[1].1.requests());
        let pairs = ranges.windows(2).map(of_pair).enumerate();
        let Some((at, _)) = pairs.min_by_key(|(_, requests)| *requests) else { return };
        let (_, load) = ranges.remove(at + 1);
        ranges[at].1 += load;
    }
}

/// Encodes ranges (`docs/formats/heat.md`); also returns how many there are.
fn encode<'r>(ranges: impl Iterator<Item = (&'r [u8], Load)>) -> (Bytes, u16) {
    let mut bytes = Vec::new();
    let mut ranges_count = 0;
    let mut last: (&[u8], Option<Load>) = (&[], None);
    for (start, load) in ranges {
        if load.is_nothing() && last.1.is_some_and(|last| last.is_nothing()) {
            continue;
        }
        let shared = start.iter().zip(last.0).take_while(|(a, b)| a == b).count();
        put_number(&mut bytes, shared as u64);
        put_number(&mut bytes, (start.len() - shared) as u64);
        bytes.extend_from_slice(&start[shared..]);
        for count in [load.reads, load.writes, load.read_bytes, load.written_bytes] {
            put_number(&mut bytes, count);
        }
        last = (start, Some(load));
        ranges_count += 1;
    }
    (Bytes::from(bytes.into_boxed_slice()), ranges_count)
}

fn decode(mut bytes: &[u8]) -> Option<Ranges> {
    let mut ranges: Ranges = Vec::new();
    let mut start = Vec::new();
    while !bytes.is_empty() {
        let shared = usize::try_from(take_number(&mut bytes)?).ok()?;
        let more = usize::try_from(take_number(&mut bytes)?).ok()?;
        if shared > start.len() {
            return None;
        }
        start.truncate(shared);
        start.extend_from_slice(bytes.split_off(..more)?);
        let load = Load {
            reads: take_number(&mut bytes)?,
            writes: take_number(&mut bytes)?,
            read_bytes: take_number(&mut bytes)?,
            written_bytes: take_number(&mut bytes)?,
        };
        let is_next = match ranges.last() {
            None => start.is_empty(),
            Some((last, _)) => last[..] < start[..],
        };
        if !is_next {
            return None;
        }
        ranges.push((Bytes::copy_from_slice(&start), load));
    }
    (!ranges.is_empty()).then_some(ranges)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    fn loads() -> impl Strategy<Value = Load> {
        let count = prop_oneof![3 => Just(0), 3 => 0u64..100, 1 => 0..1u64 << 40];
        (count.clone(), count.clone(), count.clone(), count).prop_map(|counts| Load {
            reads: counts.0,
            writes: counts.1,
            read_bytes: counts.2,
            written_bytes: counts.3,
        })
    }

    fn columns() -> impl Strategy<Value = Column> {
        let ranges = prop::collection::btree_map("[a-d]{1,3}", loads(), 0..20);
        (loads(), ranges, 0i64..100).prop_map(|(first, ranges, minute)| {
            let mut all = BTreeMap::from([(String::new(), first)]);
            all.extend(ranges);
            let ranges = all.iter().map(|(start, load)| (start.as_bytes(), *load));
            Column::new(minute * 60_000, 60_000, false, ranges)
        })
    }

    fn sum(columns: &[&Column]) -> Load {
        let mut sum = Load::default();
        let ranges = columns.iter().flat_map(|column| column.ranges());
        ranges.for_each(|(_, load)| sum += load);
        sum
    }

    #[test]
    fn the_bytes_of_ranges_are_those_of_the_format_page() {
        let loads = [(&b""[..], Load::of_reads(1, 300)), (b"ab", Load::of_write(2))];
        let more = [(&b"ac"[..], Load::default()), (b"ad", Load::default())];
        let column = Column::new(0, 60_000, false, loads.into_iter().chain(more));
        let expected = [
            &[0, 0, 1, 0, 0xac, 2, 0][..],
            &[0, 2, b'a', b'b', 0, 1, 0, 2],
            &[1, 1, b'c', 0, 0, 0, 0],
        ];
        assert_eq!(column.encoded(), expected.concat());
    }

    #[test]
    fn a_range_that_the_other_column_divides_has_its_load_evenly_in_the_parts() {
        let one = [(&b""[..], Load::of_reads(9, 0))];
        let other = [(&b""[..], Load::default()), (b"m", Load::of_reads(100, 0))];
        let one = Column::new(0, 60_000, false, one.into_iter());
        let other = Column::new(120_000, 60_000, true, other.into_iter());
        let merged = one.merged(&other, 64);
        assert_eq!((merged.start_millis, merged.length_millis), (0, 180_000));
        assert!(merged.sampled);
        let reads = merged.ranges().into_iter().map(|(start, load)| (start.to_vec(), load.reads));
        assert_eq!(reads.collect::<Vec<_>>(), [(b"".to_vec(), 4), (b"m".to_vec(), 105)]);
    }

    proptest! {
        #[test]
        fn merging_keeps_the_sum_and_obeys_the_number_of_ranges(
            one in columns(), other in columns(), ranges_max in 1usize..40,
        ) {
            let merged = one.merged(&other, ranges_max);
            prop_assert_eq!(sum(&[&merged]), sum(&[&one, &other]));
            prop_assert!(merged.ranges().len() <= ranges_max);
            prop_assert_eq!(&merged, &other.merged(&one, ranges_max));
            prop_assert_eq!(sum(&[&one.narrowed(ranges_max)]), sum(&[&one]));
        }

        #[test]
        fn stored_columns_are_read_back_and_no_bytes_panic(
            column in columns(), bytes in prop::collection::vec(any::<u8>(), 0..60),
        ) {
            let Column { start_millis, length_millis, sampled, ranges, .. } = column.clone();
            let stored_ranges = ranges.clone();
            let stored = Column::stored(start_millis, length_millis, sampled, ranges, Bytes::new());
            prop_assert_eq!(stored, Some(column));
            let bytes = Bytes::from(bytes);
            let before_1970 = Column::stored(-1, 1, false, stored_ranges, Bytes::new());
            prop_assert_eq!(before_1970, None);
            let _ = Column::stored(0, 1, false, bytes.clone(), Bytes::new());
            let _ = Column::stored(0, 1, false, Bytes::from_static(&[0; 6]), bytes);
        }
    }
}
