//! One table's heat, which the regions share.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use parking_lot::Mutex;
use rowhouse_model::{Columns, HeatReport, HotRow, mixed};

use super::budget::Budget;
use super::column::Column;
use super::column_sets::ColumnSets;
use super::file::StoredHeat;
use super::grid::Grid;
use super::history::{History, MINUTE_MILLIS};
use super::hot_rows::HotRows;
use super::load::Load;
use super::rate::Rate;
use super::report::shown;
use super::sample::Sample;

/// A table's heat. It survives region splits, merges and moves, and allocates the columns with the
/// first request.
///
/// A request is recorded with a probability of one in a power of two, which follows the request
/// rate, and then counts as often as that power says: sums are right on average, and exact while
/// there are fewer than some thousand requests per second.
pub(crate) struct TableHeat {
    budget: Arc<Budget>,
    /// The power of two, or [`OFF`].
    sampling: AtomicU32,
    /// `None` before the first request.
    state: Mutex<Option<Box<State>>>,
}

/// Nothing is recorded: too many tables are in use.
const OFF: u32 = u32::MAX;
/// A clock that was set back by less than this leaves the current column.
const SET_BACK_MILLIS: i64 = 5 * MINUTE_MILLIS;

struct State {
    grid: Grid,
    sample: Sample,
    /// When the current column began.
    minute_millis: i64,
    /// Whether requests in the current column count for several.
    sampled: bool,
    history: History,
    hot_rows: HotRows,
    column_sets: ColumnSets,
    rate: Rate,
}

impl TableHeat {
    pub(super) fn new(budget: &Arc<Budget>) -> Self {
        let sampling = AtomicU32::new(0);
        let state = Mutex::new(None);
        Self { budget: Arc::clone(budget), sampling, state }
    }

    /// Returns for how many requests the `nth` request in a region counts; `None` if it is not to
    /// be recorded.
    #[inline]
    pub(crate) fn weight(&self, nth: u64) -> Option<u64> {
        let sampling = self.sampling.load(Ordering::Relaxed);
        if sampling == 0 {
            return Some(1);
        }
        // Requests may recur in any order, so their numbers are mixed. `OFF` shifts by 63: the rest
        // is decided when it is recorded.
        let weight = 1u64 << (sampling & 63);
        (mixed(nth) & (weight - 1) == 0).then_some(weight)
    }

    /// Records requests at a row, for `weight` as many. `is_of_row` is true if all requests are for
    /// this row, rather than for rows from it on; `columns` are the columns that reads request.
    pub(crate) fn record(
        &self,
        row: &[u8],
        load: Load,
        weight: u64,
        is_of_row: bool,
        columns: Option<&Columns>,
    ) {
        let now_millis = self.budget.now_millis();
        let mut slot = self.state.lock();
        let state = match &mut *slot {
            Some(state) => state,
            None if self.sampling.load(Ordering::Relaxed) == OFF => return,
            None if !self.budget.add_table() => return self.sampling.store(OFF, Ordering::Relaxed),
            None => slot.insert(Box::new(State::new(&self.budget, now_millis))),
        };
        state.turn(now_millis, &self.budget);
        let load = load.times(weight);
        state.grid.add(row, load);
        state.sample.add(row, load, now_millis);
        if is_of_row {
            state.hot_rows.add(row, load.reads, load.writes, now_millis);
        }
        if let Some(columns) = columns {
            state.column_sets.add(columns, load.reads, now_millis);
        }
        state.sampled |= weight > 1;
        let sampling = self.sampling.load(Ordering::Relaxed);
        let next = state.rate.next(sampling, now_millis);
        if next != sampling {
            self.sampling.store(next, Ordering::Relaxed);
        }
        self.budget.note_change();
    }

    /// Adds the heat from an earlier time when the store was open.
    pub(super) fn add_earlier(&self, stored: StoredHeat) {
        let now_millis = self.budget.now_millis();
        let mut slot = self.state.lock();
        if slot.is_none() && self.budget.add_table() {
            *slot = Some(Box::new(State::new(&self.budget, now_millis)));
        }
        if let Some(state) = &mut *slot {
            state.history.add_earlier(stored.columns);
            state.hot_rows.add_earlier(stored.hot_rows, now_millis);
            state.thin(now_millis, &self.budget);
        }
    }

    /// Completes the column once the minute is over, and obeys a budget that has become smaller.
    pub(super) fn keep(&self) {
        let now_millis = self.budget.now_millis();
        if let Some(state) = &mut *self.state.lock()
            && !state.turn(now_millis, &self.budget)
        {
            state.thin(now_millis, &self.budget);
        }
    }

    /// Returns the heat as the file has it.
    pub(super) fn stored(&self) -> StoredHeat {
        let slot = self.state.lock();
        let Some(state) = &*slot else { return StoredHeat::default() };
        StoredHeat { columns: state.columns(), hot_rows: state.hot_rows.stored().into() }
    }

    /// Returns the columns that overlap a time span, and the hot rows.
    pub(super) fn report(&self, from_millis: i64, to_millis: i64) -> HeatReport {
        let now_millis = self.budget.now_millis();
        let parts = self.state.lock().as_mut().map(|state| {
            let hot_rows = state.hot_rows.rows(now_millis);
            (state.columns(), hot_rows, state.column_sets.report(now_millis))
        });
        let (columns, mut hot_rows, column_sets) = parts.unwrap_or_default();
        hot_rows.retain(HotRow::is_certain);
        // Decoded without the lock, for which requests would wait.
        let columns = columns.into_iter();
        let selected =
            columns.filter(|it| it.start_millis < to_millis && from_millis < it.end_millis());
        let mut sampled = false;
        let mut shown_columns = Vec::new();
        for column in selected {
            sampled |= column.sampled;
            shown_columns.push(shown(&column));
        }
        HeatReport {
            columns: shown_columns,
            hot_rows,
            column_sets,
            is_sampled: sampled,
            is_by_region: false,
        }
    }

    /// Returns the bytes it has allocated.
    #[cfg(test)]
    pub(super) fn bytes(&self) -> usize {
        self.state.lock().as_ref().map_or(0, |state| state.bytes() + state.history.bytes())
    }
}

impl Drop for TableHeat {
    fn drop(&mut self) {
        if self.state.get_mut().is_some() {
            self.budget.remove_table();
        }
    }
}

impl State {
    fn new(budget: &Budget, now_millis: i64) -> Self {
        let places = budget.places();
        Self {
            grid: Grid::new(places),
            sample: Sample::new(budget.sampled()),
            minute_millis: minute_of(now_millis),
            sampled: false,
            history: History::default(),
            hot_rows: HotRows::new(places),
            column_sets: ColumnSets::new(places),
            rate: Rate::default(),
        }
    }

    /// Begins the minute's column, unless it is the current one. Returns true if it has completed a
    /// column, and obeys the budget.
    fn turn(&mut self, now_millis: i64, budget: &Budget) -> bool {
        let minute_millis = minute_of(now_millis);
        let ahead = self.minute_millis - minute_millis;
        if (0..SET_BACK_MILLIS).contains(&ahead) {
            return false;
        }
        let column = self.column();
        let is_completed = column.is_some();
        if let Some(column) = column {
            self.history.push(column);
            // Before the sample is cleared: the next one takes as much.
            self.thin(now_millis, budget);
        }
        self.grid.begin_minute();
        self.sample.clear();
        self.minute_millis = minute_millis;
        self.sampled = false;
        is_completed
    }

    /// Returns all columns, by time, the current one included.
    fn columns(&self) -> Vec<Column> {
        self.history.columns().iter().cloned().chain(self.column()).collect()
    }

    /// Returns the current column; `None` if there were no requests.
    fn column(&self) -> Option<Column> {
        let mut loads = self.grid.loads();
        loads.any(|(_, load)| !load.is_nothing()).then(|| {
            Column::new(self.minute_millis, MINUTE_MILLIS, self.sampled, self.grid.loads())
                .with_sample(self.sample.encoded(self.minute_millis))
        })
    }

    fn thin(&mut self, now_millis: i64, budget: &Budget) {
        let places = budget.places();
        self.grid.set_ranges_max(places);
        self.sample.set_requests_max(budget.sampled());
        self.hot_rows.set_rows_max(places);
        self.column_sets.set_sets_max(places);
        self.history.thin(now_millis, budget.table_bytes().saturating_sub(self.bytes()));
    }

    /// Returns how many bytes it takes besides the columns.
    fn bytes(&self) -> usize {
        let sketches = self.hot_rows.bytes() + self.column_sets.bytes();
        size_of::<Self>() + self.grid.bytes() + self.sample.bytes() + sketches
    }
}

fn minute_of(millis: i64) -> i64 {
    millis - millis.rem_euclid(MINUTE_MILLIS)
}
