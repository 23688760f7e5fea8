//! A table's heat, made small enough to be drawn.

use std::collections::BTreeMap;

use rowhouse_model::{Bytes, HeatBucket, HeatReport, RowRange};

/// The most columns that a map has, unless the report has longer ones.
const COLUMNS_MAX: i64 = 240;
/// The most rows that a map has.
const BOUNDS_MAX: usize = 128;

/// The loads in a time span, by key range.
#[derive(Clone, Debug, PartialEq, Eq)]
struct TimeColumn {
    start_millis: i64,
    length_millis: i64,
    /// Each range's first key and load, by key. The first range begins with the empty key, and a
    /// range ends where the next one begins.
    ranges: Vec<(Bytes, u64)>,
}

/// A map of a table's heat: time columns, whose key ranges lie between common bounds.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct HeatMap {
    /// Each map row's first key; at most 128 rows.
    pub bounds: Vec<Bytes>,
    /// At most 240 columns with equal length, or the longer ones for old times.
    pub columns: Vec<HeatMapColumn>,
}

/// A column in a map.
#[derive(Debug, PartialEq, Eq)]
pub struct HeatMapColumn {
    /// When it began, in milliseconds since 1970.
    pub start_millis: i64,
    /// The length in milliseconds.
    pub length_millis: i64,
    /// Each range's first map row and load, in order. A range ends where the next one begins.
    pub ranges: Vec<(usize, u64)>,
}

/// A range in a map.
#[derive(Debug, PartialEq, Eq)]
pub struct HottestRange {
    /// When the column began, in milliseconds since 1970.
    pub start_millis: i64,
    /// The first key.
    pub start: Bytes,
    /// The key after the last one; empty at the keys' end.
    pub stop: Bytes,
    /// The load.
    pub load: u64,
}

impl HeatMap {
    /// Makes the map that shows what `load` counts for the ranges that overlap `keys`, between two
    /// times in milliseconds since 1970. Neighbours are joined where there are too many: sums do
    /// not change.
    pub fn new(
        report: &HeatReport,
        load: impl Fn(&HeatBucket) -> u64,
        keys: &RowRange,
        from: i64,
        to: i64,
    ) -> Self {
        let columns = report.columns.iter().map(|column| TimeColumn {
            start_millis: column.start_millis,
            length_millis: column.length_millis,
            ranges: column.buckets.iter().map(|it| (it.start.clone(), load(it))).collect(),
        });
        Self::of(columns.collect(), keys, from, to)
    }

    fn of(columns: Vec<TimeColumn>, keys: &RowRange, from: i64, to: i64) -> Self {
        let columns = columns.into_iter().map(|column| column.within(keys));
        let columns = joined(columns.collect(), from, to);
        let bounds = choose_bounds(&columns);
        let columns = columns.into_iter().map(|column| column.between(&bounds)).collect();
        Self { bounds, columns }
    }

    /// Returns the `count` ranges with the highest loads, the highest first. `stop` is where the
    /// map's keys end.
    pub fn hottest(&self, count: usize, stop: &Bytes) -> Vec<HottestRange> {
        let mut all = Vec::new();
        for column in &self.columns {
            let stops = column.ranges.iter().skip(1).map(|(at, _)| &self.bounds[*at]);
            let stops = stops.chain([stop]);
            for ((at, load), stop) in column.ranges.iter().zip(stops) {
                all.push(HottestRange {
                    start_millis: column.start_millis,
                    start: self.bounds[*at].clone(),
                    stop: stop.clone(),
                    load: *load,
                });
            }
        }
        all.retain(|range| range.load > 0);
        all.sort_by_key(|range| std::cmp::Reverse(range.load));
        all.truncate(count);
        all
    }
}

impl TimeColumn {
    /// Leaves out ranges outside `keys`. The first one then begins where `keys` begin.
    fn within(mut self, keys: &RowRange) -> Self {
        let starts = self.ranges.iter().skip(1).map(|(start, _)| start.clone());
        let stops: Vec<_> = starts.chain([Bytes::new()]).collect();
        let ranges = std::mem::take(&mut self.ranges).into_iter().zip(stops);
        let ranges = ranges
            .filter(|((start, _), stop)| RowRange::new(start.clone(), stop.clone()).overlaps(keys));
        let clamped = |start: Bytes| if start < keys.start { keys.start.clone() } else { start };
        self.ranges = ranges.map(|((start, load), _)| (clamped(start), load)).collect();
        self
    }

    /// Adds another column's loads over both columns' bounds: a divided range is taken to have the
    /// load evenly in all parts.
    fn add(&mut self, other: Self) {
        let end = self.start_millis + self.length_millis;
        let end = end.max(other.start_millis + other.length_millis);
        self.start_millis = self.start_millis.min(other.start_millis);
        self.length_millis = end - self.start_millis;
        let mut sums = BTreeMap::new();
        let starts = self.ranges.iter().chain(&other.ranges).map(|(start, _)| (start.clone(), 0));
        sums.extend(starts);
        let bounds: Vec<_> = sums.keys().cloned().collect();
        for column in [&*self, &other] {
            for (start, load) in column.spread(&bounds) {
                *sums.entry(start).or_default() += load;
            }
        }
        self.ranges = sums.into_iter().collect();
    }

    /// Divides the ranges at these bounds, which include all the column's own bounds.
    fn spread<'a>(&'a self, bounds: &'a [Bytes]) -> impl Iterator<Item = (Bytes, u64)> + 'a {
        let at = |start: &Bytes| bounds.partition_point(|bound| bound < start);
        let stops = self.ranges.iter().skip(1).map(move |(start, _)| at(start));
        let stops = stops.chain([bounds.len()]);
        self.ranges.iter().zip(stops).flat_map(move |((start, load), stop)| {
            let parts = &bounds[at(start)..stop];
            let count = parts.len() as u64;
            // The first parts have what cannot be divided.
            let part = move |nth: u64| load / count + u64::from(nth < load % count);
            parts.iter().zip(0..).map(move |(bound, nth)| (bound.clone(), part(nth)))
        })
    }

    /// Joins the ranges that begin between two neighbouring bounds; the first bound is not after
    /// the column's own.
    fn between(self, bounds: &[Bytes]) -> HeatMapColumn {
        let mut ranges: Vec<(usize, u64)> = Vec::new();
        for (start, load) in self.ranges {
            let at = bounds.partition_point(|bound| *bound <= start).saturating_sub(1);
            match ranges.last_mut() {
                Some((last, sum)) if *last == at => *sum += load,
                _ => ranges.push((at, load)),
            }
        }
        let Self { start_millis, length_millis, .. } = self;
        HeatMapColumn { start_millis, length_millis, ranges }
    }
}

/// Joins columns that begin in the same span; there are [`COLUMNS_MAX`] equal spans, each a minute
/// or longer.
fn joined(columns: Vec<TimeColumn>, from: i64, to: i64) -> Vec<TimeColumn> {
    let span = (to.saturating_sub(from) / COLUMNS_MAX).max(0) / 60_000 * 60_000 + 60_000;
    let slot = |column: &TimeColumn| column.start_millis.saturating_sub(from).div_euclid(span);
    let mut joined: Vec<TimeColumn> = Vec::new();
    for column in columns {
        match joined.last_mut() {
            Some(last) if slot(last) == slot(&column) => last.add(column),
            _ => joined.push(column),
        }
    }
    joined
}

/// Returns every range's first key, or only the keys with the highest loads if there are too many.
fn choose_bounds(columns: &[TimeColumn]) -> Vec<Bytes> {
    let mut loads = BTreeMap::<&Bytes, u64>::new();
    for (start, load) in columns.iter().flat_map(|column| &column.ranges) {
        *loads.entry(start).or_default() += load;
    }
    // Each column's first key stays: loads for ranges before the first bound would be nowhere.
    let Some(first) = loads.keys().next().copied() else { return Vec::new() };
    let mut by_load: Vec<_> = loads.iter().filter(|(start, _)| **start != first).collect();
    by_load.sort_by(|one, other| other.1.cmp(one.1));
    let most = by_load.into_iter().take(BOUNDS_MAX - 1).map(|(start, _)| (*start).clone());
    let mut bounds: Vec<_> = most.chain([first.clone()]).collect();
    bounds.sort_unstable();
    bounds
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn column(minute: i64, ranges: &[(&'static str, u64)]) -> TimeColumn {
        let ranges = ranges.iter().map(|&(start, load)| (Bytes::from(start), load)).collect();
        TimeColumn { start_millis: minute * 60_000, length_millis: 60_000, ranges }
    }

    const HOUR: i64 = 3_600_000;

    #[test]
    fn columns_have_ranges_between_the_bounds_of_all() {
        let columns =
            vec![column(0, &[("", 1), ("b", 2)]), column(1, &[("", 3), ("a", 4), ("c", 5)])];
        let grid = HeatMap::of(columns, &RowRange::all(), 0, HOUR);
        assert_eq!(grid.bounds, ["", "a", "b", "c"]);
        assert_eq!(grid.columns[0].ranges, [(0, 1), (2, 2)]);
        assert_eq!(grid.columns[1].ranges, [(0, 3), (1, 4), (3, 5)]);
        let hottest = grid.hottest(2, &Bytes::new());
        let texts = hottest.iter().map(|it| (&it.start[..], &it.stop[..], it.load));
        assert_eq!(texts.collect::<Vec<_>>(), [(&b"c"[..], &b""[..], 5), (b"a", b"c", 4)]);
    }

    #[test]
    fn only_ranges_that_overlap_the_keys_are_there() {
        let columns = vec![column(0, &[("", 1), ("b", 2), ("d", 3), ("f", 4)])];
        let grid = HeatMap::of(columns, &RowRange::new("c", "f"), 0, HOUR);
        assert_eq!(grid.bounds, ["c", "d"]);
        assert_eq!(grid.columns[0].ranges, [(0, 2), (1, 3)]);
    }

    #[test]
    fn neighbours_are_one_column_if_the_time_is_long() {
        let columns = (0..480).map(|minute| column(minute, &[("", 1), ("b", 2)])).collect();
        let grid = HeatMap::of(columns, &RowRange::all(), 0, 8 * HOUR);
        assert!(grid.columns.len() <= COLUMNS_MAX as usize);
        let sum: u64 = grid.columns.iter().flat_map(|it| &it.ranges).map(|(_, load)| load).sum();
        assert_eq!(sum, 480 * 3);
        assert!(
            grid.columns.windows(2).all(|pair| {
                pair[0].start_millis + pair[0].length_millis <= pair[1].start_millis
            })
        );
    }

    #[test]
    fn a_load_is_divided_without_a_rest_and_nothing_makes_nothing() {
        let mut sum = column(0, &[("", 10)]);
        sum.add(column(1, &[("", 0), ("a", 1), ("b", 0)]));
        assert_eq!(sum.ranges, column(0, &[("", 4), ("a", 4), ("b", 3)]).ranges);
        assert_eq!(sum.length_millis, 120_000);
        assert_eq!(HeatMap::of(Vec::new(), &RowRange::all(), 0, 0), HeatMap::default());
    }

    proptest! {
        #[test]
        fn sums_do_not_change(
            minutes in proptest::collection::vec(
                proptest::collection::btree_map(0u16..2_000, 0u64..1_000, 0..64), 0..20),
            hours in 1i64..400,
        ) {
            let columns = minutes.iter().zip(0..).map(|(ranges, minute)| {
                let first = (Bytes::new(), 7);
                let others = ranges.iter();
                let others = others.map(|(key, load)| (key.to_be_bytes().to_vec().into(), *load));
                TimeColumn {
                    start_millis: minute * 60_000,
                    length_millis: 60_000,
                    ranges: [first].into_iter().chain(others).collect(),
                }
            });
            let columns: Vec<_> = columns.collect();
            let before: u64 = columns.iter().flat_map(|it| &it.ranges).map(|it| it.1).sum();
            let grid = HeatMap::of(columns, &RowRange::all(), 0, hours * HOUR);
            let after: u64 = grid.columns.iter().flat_map(|it| &it.ranges).map(|it| it.1).sum();
            prop_assert_eq!(before, after);
            prop_assert!(grid.bounds.len() <= BOUNDS_MAX);
            prop_assert!(grid.bounds.is_sorted());
            for column in &grid.columns {
                prop_assert_eq!(column.ranges[0].0, 0);
                prop_assert!(column.ranges.windows(2).all(|pair| pair[0].0 < pair[1].0));
            }
        }
    }
}
