//! A table's finished columns, coarser the older they are.

use super::column::Column;

/// A minute: the length of a new column.
pub(super) const MINUTE_MILLIS: i64 = 60_000;
const DAY_MILLIS: i64 = 24 * 60 * MINUTE_MILLIS;
/// The age at which columns are dropped.
const AGE_MILLIS_MAX: i64 = 7 * DAY_MILLIS;
/// The length of columns older than a day, and the maximum range count in each.
const OLD_LENGTH_MILLIS: i64 = 15 * MINUTE_MILLIS;
const OLD_RANGES_MAX: usize = 16;
/// The part of the memory that samples may take; and how many requests of each kind the samples of
/// the oldest columns have if they would take more.
const SAMPLES_PART: usize = 4;
const OLD_SAMPLE_MAX: usize = 32;
/// The newest columns, whose samples stay whole: verdicts for alerts read them. In little memory
/// they are fewer, so that they take at most this part.
const WHOLE_SAMPLES: usize = 10;
const WHOLE_PART: f64 = 0.75;
/// Columns for which there is spare space.
const SPARE_MAX: usize = 32;
/// The maximum range count in a column that was merged from several for lack of memory.
const MERGED_RANGES_MAX: usize = 32;

/// Columns in time order. They do not overlap; a minute without requests has none.
#[derive(Debug, Default)]
pub(super) struct History {
    columns: Vec<Column>,
}

impl History {
    pub(super) fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Returns the bytes that the columns take.
    pub(super) fn bytes(&self) -> usize {
        let spare = self.columns.capacity() - self.columns.len();
        self.columns.iter().map(Column::bytes).sum::<usize>() + spare * size_of::<Column>()
    }

    /// Adds a column. Columns that are later are dropped: the clock was set back.
    pub(super) fn push(&mut self, column: Column) {
        self.columns.retain(|have| have.start_millis <= column.start_millis);
        match self.columns.last_mut() {
            // The store was closed and opened within a minute.
            Some(last) if last.end_millis() > column.start_millis => {
                *last = last.merged(&column, column.ranges_count().max(last.ranges_count()));
            }
            _ => {
                // Doubling the space would cost the old columns theirs.
                if self.columns.len() == self.columns.capacity() {
                    self.columns.reserve_exact(SPARE_MAX);
                }
                self.columns.push(column);
            }
        }
    }

    /// Adds the columns from an earlier time when the store was open.
    pub(super) fn add_earlier(&mut self, mut columns: Vec<Column>) {
        columns.sort_by_key(|column| column.start_millis);
        let own = std::mem::take(&mut self.columns);
        columns.into_iter().chain(own).for_each(|column| self.push(column));
    }

    /// Makes the columns coarser until they take `bytes_max` bytes or only one is left, and drops
    /// columns older than a week. Columns at least a day old are a quarter of an hour long. If
    /// memory is still short, the two neighbours that are shortest for their age become one, again
    /// and again: of columns with the same length the oldest two.
    pub(super) fn thin(&mut self, now_millis: i64, bytes_max: usize) {
        self.columns.retain(|column| column.end_millis() > now_millis - AGE_MILLIS_MAX);
        self.thin_samples(bytes_max);
        self.thin_old(now_millis);
        self.columns.shrink_to(self.columns.len() + SPARE_MAX);
        let mut bytes = self.bytes();
        while bytes > bytes_max && self.columns.len() > 1 {
            let pairs = self.columns.windows(2).enumerate();
            let shortest = pairs.min_by(|(_, one), (_, other)| {
                let [one, other] = [one, other].map(|pair| relative_length(pair, now_millis));
                one.total_cmp(&other)
            });
            let Some((at, _)) = shortest else { return };
            bytes = bytes.saturating_sub(self.merge(at, MERGED_RANGES_MAX));
        }
    }

    /// Makes the oldest columns' samples smaller until all samples take their part of `bytes_max`
    /// bytes, or all but the newest are small.
    fn thin_samples(&mut self, bytes_max: usize) {
        let bytes_of = |column: &Column| column.sample().encoded().len();
        let whole_bytes_max = (bytes_max as f64 * WHOLE_PART) as usize;
        let mut whole_bytes = 0;
        let newest = self.columns.iter().rev().take(WHOLE_SAMPLES);
        let is_whole = |column: &&Column| {
            whole_bytes += bytes_of(column);
            whole_bytes <= whole_bytes_max
        };
        let old = self.columns.len() - newest.take_while(is_whole).count();
        let mut bytes: usize = self.columns.iter().map(bytes_of).sum();
        for column in &mut self.columns[..old] {
            if bytes <= bytes_max / SAMPLES_PART {
                return;
            }
            if column.sample().len_max() > OLD_SAMPLE_MAX {
                bytes -= bytes_of(column);
                *column = column.with_fewer_samples(OLD_SAMPLE_MAX);
                bytes += bytes_of(column);
            }
        }
    }

    fn thin_old(&mut self, now_millis: i64) {
        let is_old = |column: &Column| column.end_millis() <= now_millis - DAY_MILLIS;
        let quarter = |column: &Column| column.start_millis.div_euclid(OLD_LENGTH_MILLIS);
        let mut at = 0;
        while self.columns.get(at).is_some_and(is_old) {
            let next = self.columns.get(at + 1).filter(|next| is_old(next));
            if next.is_some_and(|next| quarter(next) == quarter(&self.columns[at])) {
                self.merge(at, OLD_RANGES_MAX);
                continue;
            }
            let column = &mut self.columns[at];
            if column.ranges_count() > OLD_RANGES_MAX {
                *column = column.narrowed(OLD_RANGES_MAX);
            }
            at += 1;
        }
    }

    /// Merges two neighbours; returns the bytes that this frees.
    fn merge(&mut self, at: usize, ranges_max: usize) -> usize {
        let other = self.columns.remove(at + 1);
        let column = &mut self.columns[at];
        let before = column.bytes() + other.bytes();
        *column = column.merged(&other, ranges_max);
        // The list entry that the other column had is spare now.
        (before - size_of::<Column>()).saturating_sub(column.bytes())
    }
}

/// Returns the length that two neighbours would have as one, relative to their age.
fn relative_length(pair: &[Column], now_millis: i64) -> f64 {
    let start = pair[0].start_millis;
    let length = (pair[1].end_millis() - start) as f64;
    length / (now_millis - start).max(MINUTE_MILLIS) as f64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::load::Load;
    use super::super::random::Random;
    use super::super::sample::Sample;
    use super::*;

    /// Returns a one-minute column with so many ranges, each with a read.
    fn column(minute: i64, ranges: usize) -> Column {
        let starts: Vec<String> = (0..ranges).map(|nth| format!("row{nth:04}")).collect();
        let starts = starts.iter().enumerate();
        let starts = starts.map(|(nth, start)| if nth == 0 { &b""[..] } else { start.as_bytes() });
        let ranges = starts.map(|start| (start, Load::of_reads(1, 100)));
        Column::new(minute * MINUTE_MILLIS, MINUTE_MILLIS, false, ranges)
    }

    fn reads(history: &History) -> u64 {
        let ranges = history.columns().iter().flat_map(Column::ranges);
        ranges.map(|(_, load)| load.reads).sum()
    }

    fn is_in_order(history: &History) -> bool {
        history.columns().windows(2).all(|pair| pair[0].end_millis() <= pair[1].start_millis)
    }

    #[test]
    fn two_days_of_minutes_fit_the_budget_and_new_columns_stay_fine() {
        let mut history = History::default();
        let minutes = 2 * 24 * 60;
        for minute in 0..minutes {
            history.push(column(minute, 64));
            history.thin((minute + 1) * MINUTE_MILLIS, 256 << 10);
            assert!(history.bytes() <= 256 << 10);
        }
        assert_eq!(reads(&history), 64 * minutes as u64);
        assert!(is_in_order(&history));
        let columns = history.columns();
        let newest = columns.iter().rev().take(20);
        assert!(newest.clone().all(|it| it.length_millis == MINUTE_MILLIS), "{newest:?}");
        let longest = columns.iter().map(|it| it.length_millis / MINUTE_MILLIS).max();
        assert!(longest <= Some(64), "{longest:?}");
        assert!(columns.len() > 150, "{}", columns.len());
    }

    /// Returns a one-minute column with so many reads and writes, of rows with long random keys.
    fn sampled(minute: i64, requests: u64, random: &mut Random) -> Column {
        let mut sample = Sample::new(requests as usize);
        let start_millis = minute * MINUTE_MILLIS;
        for nth in 0..2 * requests {
            let row: Vec<u8> = (0..16).flat_map(|_| random.next().to_be_bytes()).collect();
            let load = if nth % 2 == 0 { Load::of_reads(1, 100) } else { Load::of_write(100) };
            sample.add(&row, load, start_millis);
        }
        let both = Load { reads: requests, writes: requests, ..Load::default() };
        let ranges = [(&b""[..], both)];
        Column::new(start_millis, MINUTE_MILLIS, false, ranges.into_iter())
            .with_sample(sample.encoded(start_millis))
    }

    #[test]
    fn the_newest_ten_samples_stay_whole_under_a_long_load_with_long_keys() {
        let mut random = Random::default();
        for (bytes_max, whole) in [(900 << 10, 10), (128 << 10, 1)] {
            let mut history = History::default();
            for minute in 0..240 {
                history.push(sampled(minute, 256, &mut random));
                history.thin((minute + 1) * MINUTE_MILLIS, bytes_max);
                assert!(history.bytes() <= bytes_max);
            }
            let newest = history.columns().iter().rev().take(whole);
            let newest = newest.map(|it| (it.length_millis, it.sample().len_max()));
            assert_eq!(newest.collect::<Vec<_>>(), vec![(MINUTE_MILLIS, 256); whole]);
            let older = history.columns().iter().rev().skip(whole);
            assert!(older.map(|it| it.sample().len_max()).all(|len| len <= OLD_SAMPLE_MAX));
            assert_eq!(reads(&history), 240 * 256);
        }
    }

    #[test]
    fn columns_are_a_quarter_of_an_hour_after_a_day_and_gone_after_a_week() {
        let mut history = History::default();
        let day = 24 * 60;
        for minute in 0..9 * day {
            // An hour a day.
            if minute % day < 60 {
                history.push(column(minute, 40));
            }
            history.thin((minute + 1) * MINUTE_MILLIS, 1 << 20);
        }
        let lengths = history.columns().iter().map(|column| column.length_millis / MINUTE_MILLIS);
        // The last day's hour is 23 hours old.
        let expected = [15; 6 * 4].into_iter().chain([1; 60]);
        assert_eq!(lengths.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
        let mut old = history.columns().iter().take(6 * 4);
        assert!(old.all(|column| column.ranges().len() <= 16));
    }

    #[test]
    fn a_clock_that_is_set_back_drops_later_columns() {
        let mut history = History::default();
        [1, 2, 100].into_iter().for_each(|minute| history.push(column(minute, 1)));
        history.push(column(3, 1));
        let starts = history.columns().iter().map(|column| column.start_millis / MINUTE_MILLIS);
        assert_eq!(starts.collect::<Vec<_>>(), [1, 2, 3]);
    }

    #[test]
    fn the_columns_of_an_earlier_open_come_first_and_share_a_minute() {
        let mut history = History::default();
        history.push(column(5, 2));
        history.add_earlier(vec![column(5, 3), column(4, 1)]);
        let starts = history.columns().iter().map(|column| column.start_millis / MINUTE_MILLIS);
        assert_eq!(starts.collect::<Vec<_>>(), [4, 5]);
        assert_eq!(reads(&history), 6);
    }

    proptest! {
        #[test]
        fn thinning_keeps_the_sum_of_a_day_in_order_within_the_budget(
            minutes in prop::collection::btree_set(0i64..1400, 1..200),
            ranges in 1usize..40,
            bytes_max in 4usize << 10..64 << 10,
        ) {
            let mut history = History::default();
            minutes.iter().for_each(|&minute| history.push(column(minute, ranges)));
            history.thin(1400 * MINUTE_MILLIS, bytes_max);
            prop_assert_eq!(reads(&history), (minutes.len() * ranges) as u64);
            prop_assert!(is_in_order(&history));
            let spare = 256 * size_of::<Column>();
            prop_assert!(history.bytes() <= bytes_max + spare || history.columns().len() == 1);
        }
    }
}
