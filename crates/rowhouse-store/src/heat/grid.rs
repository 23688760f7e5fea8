//! A table's current minute: key ranges whose bounds follow the load.

use super::key::Key;
use super::load::{Load, share};
use super::random::Random;

/// Keys sampled per range, from which the split bound is chosen.
const SAMPLES: usize = 8;
/// Once a range has all samples, one request in this many replaces a sample.
const SAMPLE_EVERY: u64 = 4;
/// A range is split once it has this many times the mean load.
const SPLIT_SHARE: u64 = 2;

/// The current minute's key ranges and their loads. They cover all keys. A range with more than
/// twice the mean load is split at the median of a key sample, and the neighbours that have least
/// together become one range, so that there are never more than `ranges_max`.
///
/// Splits and merges compare loads that are halved each minute, so that the ranges in a minute
/// begin as the previous minute's ranges and an idle second does not undo them.
#[derive(Debug)]
pub(super) struct Grid {
    ranges: Vec<Range>,
    ranges_max: usize,
    /// The decaying requests across all ranges.
    recent: u64,
    random: Random,
}

#[derive(Debug)]
struct Range {
    start: Key,
    /// The load in this minute.
    load: Load,
    /// Decaying requests.
    recent: u64,
    samples: Vec<Key>,
}

impl Range {
    fn new(start: Key) -> Self {
        Self { start, load: Load::default(), recent: 0, samples: Vec::new() }
    }
}

impl Grid {
    pub(super) fn new(ranges_max: usize) -> Self {
        let ranges_max = ranges_max.max(2);
        let random = Random::default();
        Self { ranges: vec![Range::new(Key::FIRST)], ranges_max, recent: 0, random }
    }

    /// Adds requests at a row.
    pub(super) fn add(&mut self, row: &[u8], load: Load) {
        let at = self.ranges.partition_point(|range| range.start.as_slice() <= row);
        let at = at.saturating_sub(1);
        let range = &mut self.ranges[at];
        range.load += load;
        range.recent = range.recent.saturating_add(load.requests());
        self.recent = self.recent.saturating_add(load.requests());
        if range.samples.len() < SAMPLES {
            range.samples.push(Key::cut(row));
        } else {
            let random = self.random.next();
            if random.is_multiple_of(SAMPLE_EVERY) {
                range.samples[(random / SAMPLE_EVERY) as usize % SAMPLES] = Key::cut(row);
            }
            if range.recent / SPLIT_SHARE > self.recent / self.ranges_max as u64 {
                self.split(at);
            }
        }
    }

    /// Returns this minute's ranges, by start key, with their loads.
    pub(super) fn loads(&self) -> impl Iterator<Item = (&[u8], Load)> {
        self.ranges.iter().map(|range| (range.start.as_slice(), range.load))
    }

    /// Begins the next minute with the same ranges.
    pub(super) fn begin_minute(&mut self) {
        for range in &mut self.ranges {
            range.load = Load::default();
            range.recent /= 2;
        }
        self.recent = self.ranges.iter().map(|range| range.recent).sum();
    }

    /// Sets the maximum range count.
    pub(super) fn set_ranges_max(&mut self, ranges_max: usize) {
        self.ranges_max = ranges_max.max(2);
        while self.ranges.len() > self.ranges_max {
            self.merge_coldest();
        }
        self.ranges.shrink_to_fit();
    }

    /// Returns the bytes it has allocated.
    pub(super) fn bytes(&self) -> usize {
        let samples = self.ranges.iter().map(|range| range.samples.capacity()).sum::<usize>();
        self.ranges.capacity() * size_of::<Range>() + samples * size_of::<Key>()
    }

    /// Splits a range that has all samples, unless it is a single row.
    fn split(&mut self, at: usize) {
        let stop = self.ranges.get(at + 1).map(|next| next.start);
        let range = &mut self.ranges[at];
        range.samples.sort_unstable();
        let middle = range.samples[SAMPLES / 2];
        // If half the requests are for the first row, it becomes a separate range.
        let bound = if middle > range.start { Some(middle) } else { middle.next() };
        let Some(bound) = bound.filter(|bound| stop.is_none_or(|stop| *bound < stop)) else {
            return;
        };
        let left = range.samples.partition_point(|key| *key < bound);
        let right_samples = range.samples.split_off(left);
        let part = right_samples.len() as u64;
        let whole = SAMPLES as u64;
        let right = Range {
            start: bound,
            load: range.load.take(part, whole),
            recent: share(range.recent, part, whole),
            samples: right_samples,
        };
        range.recent -= right.recent;
        self.ranges.insert(at + 1, right);
        if self.ranges.len() > self.ranges_max {
            self.merge_coldest();
        }
    }

    /// Merges the two neighbours that have least load together.
    fn merge_coldest(&mut self) {
        let pairs = self.ranges.windows(2).enumerate();
        let coldest = pairs.min_by_key(|(_, pair)| pair[0].recent.saturating_add(pair[1].recent));
        let Some((at, _)) = coldest else { return };
        let right = self.ranges.remove(at + 1);
        let left = &mut self.ranges[at];
        left.load += right.load;
        left.recent = left.recent.saturating_add(right.recent);
        left.samples.extend(right.samples);
        while left.samples.len() > SAMPLES {
            let place = self.random.next() as usize % left.samples.len();
            left.samples.swap_remove(place);
        }
        left.samples.shrink_to(SAMPLES);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(grid: &mut Grid, row: &str, times: u64) {
        (0..times).for_each(|_| grid.add(row.as_bytes(), Load::of_reads(1, 10)));
    }

    fn total(grid: &Grid) -> Load {
        let mut total = Load::default();
        grid.loads().for_each(|(_, load)| total += load);
        total
    }

    /// Returns how many reads the range that has the row counted, and whether it has only this row.
    fn of_row(grid: &Grid, row: &str) -> (u64, bool) {
        let ranges: Vec<_> = grid.loads().collect();
        let at = ranges.partition_point(|(start, _)| *start <= row.as_bytes()) - 1;
        let next = [row.as_bytes(), &[0]].concat();
        let stops = ranges.get(at + 1).is_some_and(|(start, _)| *start == next);
        (ranges[at].1.reads, stops && ranges[at].0 == row.as_bytes())
    }

    #[test]
    fn a_hot_row_among_many_becomes_a_range_of_its_own() {
        let mut grid = Grid::new(64);
        for round in 0..2000 {
            read(&mut grid, &format!("row{:04}", round * 7919 % 2000), 1);
            read(&mut grid, "row0777", 1);
        }
        grid.begin_minute();
        for round in 0..2000 {
            read(&mut grid, &format!("row{:04}", round * 7919 % 2000), 1);
            read(&mut grid, "row0777", 1);
        }
        let (reads, alone) = of_row(&grid, "row0777");
        assert!(alone, "{:?}", grid.loads().collect::<Vec<_>>());
        assert!((2000..2010).contains(&reads), "{reads}");
    }

    #[test]
    fn even_load_is_in_ranges_of_about_the_same_load() {
        let mut grid = Grid::new(64);
        for minute in 0..3 {
            for round in 0..20_000u64 {
                let row = round.wrapping_mul(7_368_787) % 1_000_003;
                read(&mut grid, &format!("row{row:07}"), 1);
            }
            if minute < 2 {
                grid.begin_minute();
            }
        }
        let reads: Vec<u64> = grid.loads().map(|(_, load)| load.reads).collect();
        assert!(reads.len() > 32, "{reads:?}");
        assert!(reads.iter().all(|&reads| reads <= 4 * 20_000 / 64), "{reads:?}");
    }

    #[test]
    fn ranges_follow_a_load_that_moves() {
        let mut grid = Grid::new(16);
        for row in 0..50_000 {
            read(&mut grid, &format!("{row:08}"), 1);
        }
        grid.begin_minute();
        for row in 50_000..100_000 {
            read(&mut grid, &format!("{row:08}"), 1);
        }
        let late = grid.loads().filter(|(start, _)| *start >= &b"00050000"[..]).count();
        assert!(late >= 8, "{:?}", grid.loads().collect::<Vec<_>>());
    }

    #[test]
    fn rows_whose_keys_are_cut_are_not_taken_for_one_row() {
        let mut grid = Grid::new(64);
        let prefix = "p".repeat(80);
        (0..1000).for_each(|row| read(&mut grid, &format!("{prefix}{row}"), 1));
        let last = grid.loads().last().unwrap();
        assert_eq!(last.0, &prefix.as_bytes()[..64]);
        assert!(last.1.reads > 900);
    }

    proptest! {
        #[test]
        fn ranges_keep_the_sum_are_sorted_and_within_their_number(
            rows in prop::collection::vec(("[a-c]{0,4}", 1u64..1000, any::<bool>()), 0..2000),
            ranges_max in 2usize..20,
        ) {
            let mut grid = Grid::new(ranges_max);
            let mut sum = Load::default();
            for (row, weight, writes) in rows {
                let load = if writes { Load::of_write(7) } else { Load::of_reads(3, 11) };
                let load = load.times(weight);
                sum += load;
                grid.add(row.as_bytes(), load);
            }
            prop_assert_eq!(total(&grid), sum);
            let starts: Vec<_> = grid.loads().map(|(start, _)| start.to_vec()).collect();
            prop_assert_eq!(&starts[0], b"");
            prop_assert!(starts.windows(2).all(|pair| pair[0] < pair[1]));
            prop_assert!(starts.len() <= ranges_max);
            grid.set_ranges_max(3);
            prop_assert_eq!(total(&grid), sum);
            prop_assert!(grid.loads().count() <= 3);
        }
    }
}
