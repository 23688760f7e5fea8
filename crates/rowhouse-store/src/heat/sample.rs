//! A random sample of a minute's requests, in the order in which they came.

use bytes::Bytes;
use rowhouse_model::thinned;

use super::load::Load;
use super::number::{put_number, take_number};
use super::random::Random;

/// The maximum bytes retained from a row key.
pub(super) const ROW_BYTES_MAX: usize = 128;

/// A reservoir for each kind: every request so far is in it with the same probability.
#[derive(Debug)]
pub(super) struct Sample {
    reads: Reservoir,
    writes: Reservoir,
    /// How many requests there can be of each kind.
    requests_max: usize,
    random: Random,
}

#[derive(Debug, Default)]
struct Reservoir {
    requests: u64,
    chosen: Vec<Chosen>,
}

/// A request in a sample.
#[derive(Debug)]
struct Chosen {
    /// Larger than that of earlier requests.
    nth: u64,
    at_millis: i64,
    row: Vec<u8>,
}

impl Sample {
    /// Makes an empty sample, which may have so many requests of each kind.
    pub(super) fn new(requests_max: usize) -> Self {
        let [reads, writes] = Default::default();
        Self { reads, writes, requests_max, random: Random::default() }
    }

    /// Adds requests at a row.
    pub(super) fn add(&mut self, row: &[u8], load: Load, now_millis: i64) {
        let nth = self.reads.requests.wrapping_add(self.writes.requests);
        let kinds = [(&mut self.reads, load.reads), (&mut self.writes, load.writes)];
        for (reservoir, requests) in kinds {
            reservoir.add((row, nth, now_millis), requests, self.requests_max, &mut self.random);
        }
    }

    /// Sets how many requests of each kind there may be.
    pub(super) fn set_requests_max(&mut self, requests_max: usize) {
        self.requests_max = requests_max;
        for reservoir in [&mut self.reads, &mut self.writes] {
            while reservoir.chosen.len() > self.requests_max {
                let at = self.random.next() as usize % reservoir.chosen.len();
                reservoir.chosen.swap_remove(at);
            }
            reservoir.chosen.shrink_to_fit();
        }
    }

    /// Begins the next minute.
    pub(super) fn clear(&mut self) {
        for reservoir in [&mut self.reads, &mut self.writes] {
            reservoir.requests = 0;
            reservoir.chosen.clear();
        }
    }

    /// Returns the encoded requests, for a column that began then.
    pub(super) fn encoded(&self, start_millis: i64) -> SampledRequests {
        let of = |reservoir: &Reservoir, is_write| {
            let chosen = reservoir.chosen.iter();
            chosen.map(|it| (it.nth, it.request(is_write))).collect::<Vec<_>>()
        };
        let mut requests = of(&self.reads, false);
        requests.extend(of(&self.writes, true));
        requests.sort_by_key(|(nth, _)| *nth);
        SampledRequests::new(start_millis, requests.into_iter().map(|(_, request)| request))
    }

    /// Returns the bytes it has allocated.
    pub(super) fn bytes(&self) -> usize {
        let chosen = |reservoir: &Reservoir| {
            let rows: usize = reservoir.chosen.iter().map(|it| it.row.capacity()).sum();
            rows + reservoir.chosen.capacity() * size_of::<Chosen>()
        };
        chosen(&self.reads) + chosen(&self.writes)
    }
}

impl Reservoir {
    fn add(
        &mut self,
        (row, nth, at_millis): (&[u8], u64, i64),
        requests: u64,
        requests_max: usize,
        random: &mut Random,
    ) {
        if requests == 0 {
            return;
        }
        self.requests = self.requests.saturating_add(requests);
        let cut = &row[..row.len().min(ROW_BYTES_MAX)];
        if self.chosen.len() < requests_max {
            self.chosen.push(Chosen { nth, at_millis, row: cut.to_vec() });
            return;
        }
        // Requests that count for several are as likely as these.
        let place = random.below(self.requests) / requests;
        if let Some(chosen) = self.chosen.get_mut(usize::try_from(place).unwrap_or(usize::MAX)) {
            chosen.row.clear();
            chosen.row.extend_from_slice(cut);
            chosen.nth = nth;
            chosen.at_millis = at_millis;
        }
    }
}

impl Chosen {
    fn request(&self, is_write: bool) -> SampledRequest {
        let row = Bytes::copy_from_slice(&self.row);
        SampledRequest { at_millis: self.at_millis, row, is_write }
    }
}

/// A request in a column's sample.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct SampledRequest {
    pub(super) at_millis: i64,
    /// The row key's first [`ROW_BYTES_MAX`] bytes.
    pub(super) row: Bytes,
    pub(super) is_write: bool,
}

/// A finished column's sample, encoded (`docs/formats/heat.md`). Each read in it counts for as many
/// of the column's reads as the others, and each write likewise.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SampledRequests {
    encoded: Bytes,
    reads: usize,
    writes: usize,
}

impl SampledRequests {
    /// Encodes requests, which are in the order in which they came.
    pub(super) fn new(start_millis: i64, requests: impl Iterator<Item = SampledRequest>) -> Self {
        let mut bytes = Vec::new();
        let mut counts = [0; 2];
        let mut last_millis = start_millis;
        let mut last_row = Bytes::new();
        for request in requests {
            // A clock may have been set back within the column.
            let since = request.at_millis.saturating_sub(last_millis).max(0);
            last_millis += since;
            put_number(&mut bytes, (since as u64) << 1 | u64::from(request.is_write));
            let shared = request.row.iter().zip(&last_row).take_while(|(a, b)| a == b).count();
            put_number(&mut bytes, shared as u64);
            put_number(&mut bytes, (request.row.len() - shared) as u64);
            bytes.extend_from_slice(&request.row[shared..]);
            last_row = request.row;
            counts[usize::from(request.is_write)] += 1;
        }
        let [reads, writes] = counts;
        Self { encoded: Bytes::from(bytes.into_boxed_slice()), reads, writes }
    }

    /// Returns a stored sample of a column that began then; `None` if it is not one.
    pub(super) fn stored(start_millis: i64, encoded: Bytes) -> Option<Self> {
        let requests = decode(start_millis, &encoded)?;
        let writes = requests.iter().filter(|request| request.is_write).count();
        Some(Self { reads: requests.len() - writes, writes, encoded })
    }

    /// Returns the requests, for a column that began then, in the order in which they came.
    pub(super) fn requests(&self, start_millis: i64) -> Vec<SampledRequest> {
        decode(start_millis, &self.encoded).expect("samples are checked when they are read")
    }

    pub(super) fn encoded(&self) -> &[u8] {
        &self.encoded
    }

    /// Returns the requests of the kind that has most.
    pub(super) fn len_max(&self) -> usize {
        self.reads.max(self.writes)
    }

    /// Returns how many of a column's requests each request in the sample counts for.
    pub(super) fn weight(&self, load: Load, is_write: bool) -> f64 {
        let (requests, sampled) =
            if is_write { (load.writes, self.writes) } else { (load.reads, self.reads) };
        requests as f64 / sampled.max(1) as f64
    }

    /// Returns one sample for several columns, with at most so many requests of each kind, for a
    /// column that began then. The columns are in the order of time.
    pub(super) fn joined(
        start_millis: i64,
        columns: &[(i64, Load, &Self)],
        requests_max: usize,
    ) -> Self {
        let mut joined = Vec::new();
        for is_write in [false, true] {
            let weighted = columns.iter().flat_map(|(start_millis, load, sample)| {
                let weight = sample.weight(*load, is_write);
                let requests = sample.requests(*start_millis).into_iter();
                requests.filter(move |it| it.is_write == is_write).map(move |it| (weight, it))
            });
            joined.extend(thinned(weighted.collect(), requests_max));
        }
        joined.sort_by_key(|request| request.at_millis);
        Self::new(start_millis, joined.into_iter())
    }
}

fn decode(start_millis: i64, mut bytes: &[u8]) -> Option<Vec<SampledRequest>> {
    let mut requests = Vec::new();
    let mut at_millis = start_millis;
    let mut row = Vec::new();
    while !bytes.is_empty() {
        let number = take_number(&mut bytes)?;
        at_millis = at_millis.checked_add_unsigned(number >> 1)?;
        let shared = usize::try_from(take_number(&mut bytes)?).ok()?;
        let more = usize::try_from(take_number(&mut bytes)?).ok()?;
        if shared > row.len() || more > ROW_BYTES_MAX - shared.min(ROW_BYTES_MAX) {
            return None;
        }
        row.truncate(shared);
        row.extend_from_slice(bytes.split_off(..more)?);
        let is_write = number & 1 == 1;
        requests.push(SampledRequest { at_millis, row: Bytes::copy_from_slice(&row), is_write });
    }
    Some(requests)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn filled(requests: u64, requests_max: usize) -> Sample {
        let mut sample = Sample::new(requests_max);
        for nth in 0..requests {
            sample.add(format!("row{nth:06}").as_bytes(), Load::of_reads(1, 10), nth as i64);
        }
        sample
    }

    #[test]
    fn requests_are_sampled_evenly_and_in_order() {
        let requests = filled(20_000, 256).encoded(0).requests(0);
        assert_eq!(requests.len(), 256);
        assert!(requests.is_sorted_by_key(|request| request.at_millis));
        let early = requests.iter().filter(|request| request.at_millis < 5_000).count();
        assert!((40..90).contains(&early), "{early}");
    }

    #[test]
    fn a_request_that_counts_for_several_is_sampled_as_often() {
        let mut sample = Sample::new(256);
        for nth in 0..20_000 {
            let rows = if nth % 10 == 0 { 9 } else { 1 };
            let row: &[u8] = if rows == 9 { b"scan" } else { b"get" };
            sample.add(row, Load::of_reads(rows, 10), nth);
        }
        let requests = sample.encoded(0).requests(0);
        let scans = requests.iter().filter(|request| request.row == "scan").count();
        assert!((104..152).contains(&scans), "{scans}");
    }

    #[test]
    fn each_kind_has_a_sample() {
        let mut sample = filled(5_000, 64);
        sample.add(b"written", Load::of_write(1), 5_000);
        let requests = sample.encoded(0).requests(0);
        assert_eq!(requests.len(), 65);
        assert_eq!(requests[64].row, "written");
        assert!(requests[64].is_write);
    }

    #[test]
    fn joined_samples_have_each_column_by_the_load() {
        let early = filled(256, 256).encoded(0);
        let late = filled(20_000, 256).encoded(60_000);
        let loads = [256, 768].map(|reads| Load::of_reads(reads, 0));
        let columns = [(0, loads[0], &early), (60_000, loads[1], &late)];
        let joined = SampledRequests::joined(0, &columns, 128).requests(0);
        assert!((120..=128).contains(&joined.len()), "{}", joined.len());
        let early = joined.iter().filter(|request| request.at_millis < 60_000).count();
        assert!((28..=36).contains(&early), "{early}");
        assert!(joined.windows(2).all(|pair| pair[0] != pair[1]), "no request counts twice");
    }

    proptest! {
        #[test]
        fn samples_are_read_as_they_were_stored_and_no_bytes_panic(
            rows in prop::collection::vec(("[a-c]{0,4}|x{125,140}", any::<bool>(), 0i64..300), 0..60),
            bytes in prop::collection::vec(any::<u8>(), 0..80),
        ) {
            let mut sample = Sample::new(16);
            let mut now = 1_000;
            for (row, is_write, millis) in &rows {
                let load = if *is_write { Load::of_write(1) } else { Load::of_reads(1, 1) };
                now += millis;
                sample.add(row.as_bytes(), load, now);
            }
            let encoded = sample.encoded(1_000);
            let stored = SampledRequests::stored(1_000, Bytes::copy_from_slice(encoded.encoded()));
            prop_assert_eq!(stored, Some(encoded.clone()));
            let requests = encoded.requests(1_000);
            prop_assert!(requests.len() <= 32);
            let _ = SampledRequests::stored(0, bytes.into());
        }
    }
}
