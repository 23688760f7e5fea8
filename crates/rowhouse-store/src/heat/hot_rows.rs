//! The rows with the most requests, by the space-saving sketch that Metwally, Agrawal and El Abbadi
//! published ("Efficient computation of frequent and top-k elements in data streams", ICDT 2005).

use std::hash::{DefaultHasher, Hash, Hasher};

use rowhouse_model::{Bytes, HotRow};

/// The window that the sketch covers has two halves of this length: it is 5 to 10 minutes long.
pub(super) const HALF_MILLIS: i64 = 5 * 60_000;
/// The maximum bytes retained from a row key; longer keys are distinguished by a hash.
pub(super) const ROW_BYTES_MAX: usize = 256;

/// A sketch that finds the hottest rows in a sliding window with two halves. For every row with `n`
/// requests in the window and every result: `n <= reads + writes <= n + overestimate`, and
/// `overestimate` is at most the requests in both halves divided by `rows_max`. A row that is in
/// neither half's results has at most that many requests.
#[derive(Debug)]
pub(super) struct HotRows {
    /// The current half, and the one before.
    halves: [Half; 2],
    start_millis: i64,
    rows_max: usize,
}

impl HotRows {
    pub(super) fn new(rows_max: usize) -> Self {
        Self { halves: Default::default(), start_millis: 0, rows_max: rows_max.max(1) }
    }

    /// Adds requests for a row.
    pub(super) fn add(&mut self, row: &[u8], reads: u64, writes: u64, now_millis: i64) {
        self.turn(now_millis);
        self.halves[0].add(row, reads, writes, self.rows_max);
    }

    /// Returns the window's rows, starting with the rows that certainly had the most requests.
    pub(super) fn rows(&mut self, now_millis: i64) -> Vec<HotRow> {
        self.turn(now_millis);
        let mut rows = Vec::new();
        let [current, before] = &self.halves;
        let both = [(current, before), (before, current)];
        for (nth, (half, other)) in both.into_iter().enumerate() {
            for (hash, entry) in half.hashes.iter().zip(&half.entries) {
                let at_other = other.hashes.iter().position(|have| have == hash);
                // Rows in both halves are found in the first.
                if nth == 1 && at_other.is_some() {
                    continue;
                }
                let more = match at_other {
                    Some(at) => other.entries[at].counts,
                    None => other.dropped.as_bound(),
                };
                let counts = entry.counts.and(more);
                rows.push(HotRow {
                    row: Bytes::copy_from_slice(&entry.row),
                    reads: counts.reads,
                    writes: counts.writes,
                    overestimate: counts.overestimate,
                });
            }
        }
        rows.sort_by(|a, b| {
            b.requests_min().cmp(&a.requests_min()).then_with(|| a.row.cmp(&b.row))
        });
        rows.truncate(self.rows_max);
        rows
    }

    /// Returns the halves as they are stored, the current one first. A row that was cut has no
    /// place there: it is known by a hash alone, which another version of the program may compute
    /// in another way. It counts as dropped.
    pub(super) fn stored(&self) -> [StoredHalf; 2] {
        let starts = [self.start_millis, self.start_millis - HALF_MILLIS];
        let halves = self.halves.iter().zip(starts);
        let stored = halves.map(|(half, start_millis)| {
            let (whole, cut): (Vec<_>, Vec<_>) =
                half.entries.iter().partition(|entry| entry.row.len() < ROW_BYTES_MAX);
            let cut = cut.into_iter().map(|entry| entry.counts);
            let dropped = cut.chain([half.dropped]).max_by_key(Counts::requests);
            let rows = whole.into_iter().map(|entry| (entry.row.clone(), entry.counts));
            StoredHalf { start_millis, rows: rows.collect(), dropped: dropped.unwrap_or_default() }
        });
        let mut stored = stored;
        [(); 2].map(|()| stored.next().expect("there are two halves"))
    }

    /// Adds the halves from an earlier time when the store was open; those that are over are left
    /// out.
    pub(super) fn add_earlier(&mut self, stored: Vec<StoredHalf>, now_millis: i64) {
        self.turn(now_millis);
        for half in stored {
            let starts = [self.start_millis, self.start_millis - HALF_MILLIS];
            if let Some(at) = starts.iter().position(|start| *start == half.start_millis) {
                self.halves[at].absorb(half, self.rows_max);
            }
        }
    }

    /// Sets the maximum row count for each half.
    pub(super) fn set_rows_max(&mut self, rows_max: usize) {
        self.rows_max = rows_max.max(1);
        for half in &mut self.halves {
            while half.entries.len() > self.rows_max {
                half.drop_least();
            }
            half.hashes.shrink_to_fit();
            half.requests.shrink_to_fit();
            half.entries.shrink_to_fit();
        }
    }

    /// Returns the bytes it has allocated.
    pub(super) fn bytes(&self) -> usize {
        self.halves.iter().map(Half::bytes).sum()
    }

    /// Begins a new half if the current one is over, or if the clock was set back.
    fn turn(&mut self, now_millis: i64) {
        let age = now_millis.saturating_sub(self.start_millis);
        if (0..HALF_MILLIS).contains(&age) {
            return;
        }
        self.halves.swap(0, 1);
        self.halves[0].clear();
        if !(0..2 * HALF_MILLIS).contains(&age) {
            self.halves[1].clear();
        }
        self.start_millis = now_millis - now_millis.rem_euclid(HALF_MILLIS);
    }
}

/// A sketch of one half of the window.
#[derive(Debug, Default)]
struct Half {
    /// The hash for each entry's row, and the entry's requests, apart from the entries: searches
    /// read only them.
    hashes: Vec<u64>,
    requests: Vec<u64>,
    entries: Vec<Entry>,
    /// The last dropped entry's counts. No row without an entry has more requests: the least entry
    /// is dropped, and later entries have at least as many.
    dropped: Counts,
}

#[derive(Debug)]
struct Entry {
    row: Vec<u8>,
    counts: Counts,
}

/// A row's requests in one half.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) reads: u64,
    pub(super) writes: u64,
    /// How much too high both together may be.
    pub(super) overestimate: u64,
}

/// One half of the window, as the file has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct StoredHalf {
    pub(super) start_millis: i64,
    pub(super) rows: Vec<(Vec<u8>, Counts)>,
    /// No other row has more requests.
    pub(super) dropped: Counts,
}

impl Counts {
    fn requests(&self) -> u64 {
        self.reads.saturating_add(self.writes)
    }

    fn and(self, other: Self) -> Self {
        Self {
            reads: self.reads.saturating_add(other.reads),
            writes: self.writes.saturating_add(other.writes),
            overestimate: self.overestimate.saturating_add(other.overestimate),
        }
    }

    /// Returns the counts for a row of which only this is known: that it has at most as many.
    fn as_bound(self) -> Self {
        Self { overestimate: self.requests(), ..self }
    }
}

impl Half {
    fn add(&mut self, row: &[u8], reads: u64, writes: u64, rows_max: usize) {
        let hash = hash(row);
        let more = Counts { reads, writes, overestimate: 0 };
        if let Some(at) = self.hashes.iter().position(|have| *have == hash) {
            let counts = &mut self.entries[at].counts;
            *counts = counts.and(more);
            self.requests[at] = counts.requests();
            return;
        }
        let mut space = Vec::new();
        if self.entries.len() >= rows_max {
            space = self.drop_least().unwrap_or_default();
        }
        // It may have been dropped before, with at most as many requests as the last one.
        let counts = self.dropped.as_bound().and(more);
        space.clear();
        space.extend_from_slice(&row[..row.len().min(ROW_BYTES_MAX)]);
        self.hashes.push(hash);
        self.requests.push(counts.requests());
        self.entries.push(Entry { row: space, counts });
    }

    /// Adds the same half from an earlier time when the store was open. A row that only one of
    /// them has may have been dropped by the other.
    fn absorb(&mut self, stored: StoredHalf, rows_max: usize) {
        let own_bound = self.dropped.as_bound();
        let mut missing: Vec<bool> = vec![true; self.entries.len()];
        for (row, counts) in stored.rows {
            let hash = hash(&row);
            match self.hashes.iter().position(|have| *have == hash) {
                Some(at) => {
                    missing[at] = false;
                    self.entries[at].counts = self.entries[at].counts.and(counts);
                }
                None => {
                    missing.push(false);
                    self.hashes.push(hash);
                    self.requests.push(0);
                    self.entries.push(Entry { row, counts: counts.and(own_bound) });
                }
            }
        }
        for (entry, is_missing) in self.entries.iter_mut().zip(missing) {
            if is_missing {
                entry.counts = entry.counts.and(stored.dropped.as_bound());
            }
        }
        for (requests, entry) in self.requests.iter_mut().zip(&self.entries) {
            *requests = entry.counts.requests();
        }
        self.dropped = self.dropped.and(stored.dropped);
        while self.entries.len() > rows_max {
            let least = self.dropped;
            self.drop_least();
            if self.dropped.requests() < least.requests() {
                self.dropped = least;
            }
        }
    }

    /// Drops the entry with the fewest requests; returns the row.
    fn drop_least(&mut self) -> Option<Vec<u8>> {
        let (at, _) = self.requests.iter().enumerate().min_by_key(|(_, requests)| **requests)?;
        self.hashes.swap_remove(at);
        self.requests.swap_remove(at);
        let entry = self.entries.swap_remove(at);
        self.dropped = entry.counts;
        Some(entry.row)
    }

    fn clear(&mut self) {
        self.hashes.clear();
        self.requests.clear();
        self.entries.clear();
        self.dropped = Counts::default();
    }

    fn bytes(&self) -> usize {
        let rows: usize = self.entries.iter().map(|entry| entry.row.capacity()).sum();
        let each = 2 * size_of::<u64>() + size_of::<Entry>();
        rows + self.entries.capacity() * each
    }
}

fn hash(row: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    row.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn one_hot_row_is_detected_among_many_others() {
        let mut hot = HotRows::new(64);
        for nth in 0..100_000u64 {
            let other = format!("row{:06}", nth * 7919 % 100_000);
            hot.add(other.as_bytes(), 1, 0, 0);
            if nth.is_multiple_of(10) {
                hot.add(b"hot", 0, 1, 0);
            }
        }
        let rows = hot.rows(0);
        assert_eq!(rows[0].row, "hot");
        let requests = rows[0].reads + rows[0].writes;
        assert!((10_000..=10_000 + rows[0].overestimate).contains(&requests), "{rows:?}");
        assert!(rows[0].overestimate <= 110_000 / 64);
        assert!(rows[1].requests_min() < 100, "{:?}", rows[1]);
    }

    #[test]
    fn a_row_that_was_dropped_comes_back_with_at_least_its_requests() {
        let mut hot = HotRows::new(2);
        for (row, reads) in [("a", 4), ("b", 9), ("c", 1), ("d", 1), ("a", 6)] {
            hot.add(row.as_bytes(), reads, 0, 0);
        }
        let a = hot.rows(0).into_iter().find(|hot_row| hot_row.row == "a").unwrap();
        assert_eq!((a.reads, a.overestimate), (12, 6));
    }

    #[test]
    fn rows_leave_after_ten_minutes() {
        let mut hot = HotRows::new(64);
        hot.add(b"early", 5, 0, 0);
        hot.add(b"late", 3, 1, HALF_MILLIS);
        let names = |hot: &mut HotRows, now| {
            let rows = hot.rows(now).into_iter();
            rows.map(|row| String::from_utf8(row.row.to_vec()).unwrap()).collect::<Vec<_>>()
        };
        assert_eq!(names(&mut hot, HALF_MILLIS), ["early", "late"]);
        assert_eq!(names(&mut hot, 2 * HALF_MILLIS), ["late"]);
        assert!(names(&mut hot, 4 * HALF_MILLIS).is_empty());
        hot.add(b"early", 1, 0, 5 * HALF_MILLIS);
        assert!(names(&mut hot, 0).is_empty(), "the clock was set back");
    }

    #[test]
    fn halves_of_an_earlier_open_are_added_until_they_are_over() {
        let mut early = HotRows::new(2);
        let long = "p".repeat(300);
        for (row, reads) in [("a", 9), ("b", 1), (&long, 4), ("c", 5)] {
            early.add(row.as_bytes(), reads, 0, HALF_MILLIS);
        }
        let stored = early.stored();
        assert_eq!(stored[0].start_millis, HALF_MILLIS);
        assert!(stored[0].dropped.requests() >= 4, "a cut row counts as dropped: {stored:?}");
        let mut late = HotRows::new(2);
        late.add(b"a", 0, 3, HALF_MILLIS);
        late.add_earlier(stored.to_vec(), HALF_MILLIS);
        let rows = late.rows(HALF_MILLIS);
        assert_eq!((&rows[0].row[..], rows[0].reads, rows[0].writes), (&b"a"[..], 9, 3));
        let mut after = HotRows::new(2);
        after.add_earlier(stored.to_vec(), 2 * HALF_MILLIS);
        assert_eq!(after.rows(2 * HALF_MILLIS)[0].row, "a");
        after.add_earlier(stored.to_vec(), 4 * HALF_MILLIS);
        assert_eq!(after.rows(4 * HALF_MILLIS), []);
    }

    #[test]
    fn long_rows_with_the_same_prefix_are_distinguished() {
        let mut hot = HotRows::new(64);
        let prefix = "p".repeat(300);
        hot.add(format!("{prefix}a").as_bytes(), 2, 0, 0);
        hot.add(format!("{prefix}b").as_bytes(), 1, 0, 0);
        let rows = hot.rows(0);
        assert_eq!(rows.iter().map(|row| row.reads).collect::<Vec<_>>(), [2, 1]);
        assert!(rows.iter().all(|row| row.row == "p".repeat(256)));
    }

    proptest! {
        #[test]
        fn results_are_never_too_low_and_too_high_by_their_overestimate_at_most(
            requests in prop::collection::vec((0u8..40, 1u64..20, any::<bool>()), 0..400),
            rows_max in 1usize..20,
            fewer in 1usize..20,
            reopened in prop::option::of(0usize..400),
        ) {
            let mut hot = HotRows::new(rows_max);
            let mut earlier = Vec::new();
            let mut actual: HashMap<u8, u64> = HashMap::new();
            let mut all = 0;
            for (nth, (row, weight, reads)) in requests.iter().enumerate() {
                let now = if nth < requests.len() / 2 { 0 } else { HALF_MILLIS };
                let (reads, writes) = if *reads { (*weight, 0) } else { (0, *weight) };
                if Some(nth) == reopened {
                    earlier = hot.stored().to_vec();
                    hot = HotRows::new(rows_max);
                }
                hot.add(&[*row], reads, writes, now);
                *actual.entry(*row).or_default() += weight;
                all += weight;
            }
            let now = if requests.len() < 2 { 0 } else { HALF_MILLIS };
            let is_reopened = !earlier.is_empty();
            hot.add_earlier(earlier, now);
            for (rows_max, is_shrunk) in [(rows_max, false), (rows_max.min(fewer), true)] {
                if is_shrunk {
                    hot.set_rows_max(rows_max);
                }
                let rows = hot.rows(now);
                prop_assert!(rows.len() <= rows_max);
                for hot_row in &rows {
                    let count = actual[&hot_row.row[0]];
                    let requests = hot_row.reads + hot_row.writes;
                    prop_assert!(count <= requests, "{hot_row:?} {count}");
                    prop_assert!(requests <= count + hot_row.overestimate, "{hot_row:?} {count}");
                    let is_bounded = is_shrunk || is_reopened;
                    prop_assert!(is_bounded || hot_row.overestimate <= all / rows_max as u64);
                }
            }
        }
    }
}
