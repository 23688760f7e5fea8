//! The counters of BUFFERED families whose newest values are in memstores and not in the log
//! (decision 0086).
//!
//! Increments note their cells here. Whoever logs a row's counters takes them out, and puts them
//! back if the log refuses the record. Both hold the row's lock and the freeze latch shared, or the
//! freeze latch exclusively, so that no other commit of the row comes in between.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rowhouse_model::{CellRef, Nonce};

use super::Touched;

/// Increments in one region after which the values are logged before the period ends.
const INCREMENTS_MAX: u64 = 10_000;

/// Bytes of all cells and nonces here, with their overhead, from which on increments are logged at
/// once.
const BYTES_MAX: usize = 8 << 20;

/// How long a log that has refused counters is left alone.
const RETRY_WAIT: Duration = Duration::from_secs(1);

/// Overhead in bytes per row or cell.
const ENTRY_BYTES: usize = 96;

/// The unlogged counters of all regions. While there are none, a commit pays for one atomic load.
#[derive(Default)]
pub(crate) struct UnloggedCounters {
    /// The number of rows with unlogged counters.
    rows: AtomicUsize,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    regions: BTreeMap<u64, RegionCounters>,
    bytes: usize,
    /// The log has refused some of them.
    is_refused: bool,
}

/// A region's unlogged counters; at least one.
struct RegionCounters {
    rows: BTreeMap<Vec<u8>, RowCounters>,
    /// The shortest period of the families.
    period: Duration,
    /// The time at which they are logged.
    due: Instant,
    /// How many increments are not in the log.
    increments: u64,
}

/// A row's unlogged counters. To be logged, or put back by [`UnloggedCounters::put_back`].
#[must_use]
#[derive(Default)]
pub(crate) struct RowCounters {
    /// By column, as [`column_of`] has it, the newest cell, in HBase's KeyValue layout.
    cells: BTreeMap<Box<[u8]>, Vec<u8>>,
    /// The nonces of the increments that are not in the log.
    nonces: Vec<Nonce>,
    /// The log is synced when it has them.
    is_synced: bool,
    bytes: usize,
}

/// Counters of rows that are to be logged, or put back: each with region id and row key.
pub(crate) type TakenCounters = Vec<(u64, Vec<u8>, RowCounters)>;

/// How an increment is buffered.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Buffering {
    /// The longest time for which it may stay out of the log.
    pub(crate) period: Duration,
    /// Whether the log is synced when it has the values.
    pub(crate) is_synced: bool,
}

/// The rows of a region whose counters are due.
pub(crate) struct DueCounters {
    pub(crate) region: u64,
    pub(crate) rows: Vec<Vec<u8>>,
}

impl UnloggedCounters {
    /// Returns true if there are none.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.load(Ordering::Acquire) == 0
    }

    /// Returns true if another increment may stay out of the log.
    pub(crate) fn has_room(&self) -> bool {
        let state = self.state.lock();
        state.bytes < BYTES_MAX && !state.is_refused
    }

    /// Notes an increment of a row: the cells that it wrote and the nonces. Returns true if the
    /// time at which to log counters has come nearer.
    pub(crate) fn note<'c>(
        &self,
        region: u64,
        row: &[u8],
        cells: impl Iterator<Item = &'c [u8]>,
        nonces: &[Nonce],
        buffering: Buffering,
        now: Instant,
    ) -> bool {
        let mut state = self.state.lock();
        let state = &mut *state;
        let mut is_nearer = false;
        let in_region = state.regions.entry(region).or_insert_with(|| {
            is_nearer = true;
            RegionCounters::new(buffering.period, now)
        });
        is_nearer |= in_region.count(buffering, now);
        if !in_region.rows.contains_key(row) {
            self.rows.fetch_add(1, Ordering::Release);
            state.bytes += row.len() + ENTRY_BYTES;
            in_region.rows.insert(row.to_vec(), RowCounters::default());
        }
        let counters = in_region.rows.get_mut(row).expect("it was added above");
        state.bytes -= counters.bytes;
        cells.for_each(|cell| counters.set(cell));
        counters.nonces.extend(nonces);
        counters.is_synced |= buffering.is_synced;
        counters.bytes += size_of_val(nonces);
        state.bytes += counters.bytes;
        is_nearer
    }

    /// Takes the counters of rows, given by region id and key.
    pub(crate) fn take_rows<'r>(
        &self,
        rows: impl Iterator<Item = (u64, &'r [u8])>,
    ) -> TakenCounters {
        let mut state = self.state.lock();
        let mut taken = TakenCounters::new();
        let mut last = None;
        for (region, row) in rows {
            // The cells of a row are neighbours.
            if last.replace((region, row)) != Some((region, row)) {
                self.take(&mut state, region, row, &mut taken);
            }
        }
        taken
    }

    /// Takes the counters of the rows in a region that `touched` selects.
    pub(crate) fn take_touched(&self, region: u64, touched: &Touched, taken: &mut TakenCounters) {
        let mut state = self.state.lock();
        match touched {
            Touched::Row(row) => self.take(&mut state, region, row, taken),
            Touched::Range(range) => {
                let rows = state.regions.get(&region).into_iter().flat_map(|it| it.rows.keys());
                let rows: Vec<_> = rows.filter(|row| range.contains(row)).cloned().collect();
                rows.iter().for_each(|row| self.take(&mut state, region, row, taken));
            }
        }
    }

    /// Takes all counters of a region.
    pub(crate) fn take_region(&self, region: u64) -> TakenCounters {
        let mut state = self.state.lock();
        let Some(in_region) = state.regions.remove(&region) else { return TakenCounters::new() };
        for (row, counters) in &in_region.rows {
            self.forget(&mut state, row, counters);
        }
        let rows = in_region.rows.into_iter();
        rows.map(|(row, counters)| (region, row, counters)).collect()
    }

    /// Takes a row's counters, if there are any.
    fn take(&self, state: &mut State, region: u64, row: &[u8], taken: &mut TakenCounters) {
        let Some(in_region) = state.regions.get_mut(&region) else { return };
        let Some((row, counters)) = in_region.rows.remove_entry(row) else { return };
        if in_region.rows.is_empty() {
            state.regions.remove(&region);
        }
        self.forget(state, &row, &counters);
        taken.push((region, row, counters));
    }

    /// Puts counters back that the log has refused. They are due again after [`RETRY_WAIT`]. Until
    /// all are logged, no increment stays out of the log: each gets the error of the log.
    pub(crate) fn put_back(&self, taken: TakenCounters) {
        let mut state = self.state.lock();
        let state = &mut *state;
        let now = Instant::now();
        for (region, row, counters) in taken {
            state.is_refused = true;
            let in_region = state.regions.entry(region);
            let in_region = in_region.or_insert_with(|| RegionCounters::new(RETRY_WAIT, now));
            in_region.due = now + RETRY_WAIT;
            state.bytes += row.len() + ENTRY_BYTES + counters.bytes;
            self.rows.fetch_add(1, Ordering::Release);
            let before = in_region.rows.insert(row, counters);
            debug_assert!(before.is_none(), "the row is locked");
        }
    }

    /// Discards the counters of a family that was dropped. The caller holds the freeze latch
    /// exclusively.
    pub(crate) fn discard(&self, region: u64, family: &[u8]) {
        if self.is_empty() {
            return;
        }
        let mut state = self.state.lock();
        let Some(mut in_region) = state.regions.remove(&region) else { return };
        let rows = std::mem::take(&mut in_region.rows);
        for (row, mut counters) in rows {
            self.forget(&mut state, &row, &counters);
            counters.drop_family(family);
            if !counters.cells.is_empty() {
                state.bytes += row.len() + ENTRY_BYTES + counters.bytes;
                self.rows.fetch_add(1, Ordering::Release);
                in_region.rows.insert(row, counters);
            }
        }
        if !in_region.rows.is_empty() {
            state.regions.insert(region, in_region);
        }
    }

    /// Returns the regions that have counters.
    pub(crate) fn regions(&self) -> Vec<u64> {
        self.state.lock().regions.keys().copied().collect()
    }

    /// Returns when counters are due next; `None` if there are none.
    pub(crate) fn next_due(&self) -> Option<Instant> {
        self.state.lock().regions.values().map(|region| region.due).min()
    }

    /// Returns the rows whose counters are due at `now`; increments that come from now on are due
    /// after their period.
    pub(crate) fn due(&self, now: Instant) -> Vec<DueCounters> {
        let mut state = self.state.lock();
        let due = state.regions.iter_mut().filter(|(_, in_region)| in_region.due <= now);
        let due = due.map(|(region, in_region)| {
            in_region.due = now + in_region.period;
            in_region.increments = 0;
            DueCounters { region: *region, rows: in_region.rows.keys().cloned().collect() }
        });
        due.collect()
    }

    fn forget(&self, state: &mut State, row: &[u8], counters: &RowCounters) {
        state.bytes -= row.len() + ENTRY_BYTES + counters.bytes;
        if self.rows.fetch_sub(1, Ordering::Release) == 1 {
            state.is_refused = false;
        }
    }
}

impl RegionCounters {
    fn new(period: Duration, now: Instant) -> Self {
        let rows = BTreeMap::new();
        Self { rows, period, due: now + period, increments: 0 }
    }

    /// Counts an increment. Returns true if the counters are due earlier than before.
    fn count(&mut self, buffering: Buffering, now: Instant) -> bool {
        let before = self.due;
        self.period = self.period.min(buffering.period);
        self.due = self.due.min(now + buffering.period);
        self.increments += 1;
        if self.increments == INCREMENTS_MAX {
            self.due = now;
        }
        self.due < before
    }
}

impl RowCounters {
    /// Replaces a counter's cell.
    fn set(&mut self, key_value: &[u8]) {
        let column = column_of(key_value);
        if let Some(cell) = self.cells.get_mut(column) {
            self.bytes -= cell.len();
            cell.clear();
            cell.extend_from_slice(key_value);
        } else {
            self.bytes += column.len() + ENTRY_BYTES;
            self.cells.insert(column.into(), key_value.to_vec());
        }
        self.bytes += key_value.len();
    }

    fn drop_family(&mut self, family: &[u8]) {
        let bytes = &mut self.bytes;
        self.cells.retain(|column, cell| {
            let stays = CellRef::from_checked(cell, 0).key.family != family;
            if !stays {
                *bytes -= column.len() + ENTRY_BYTES + cell.len();
            }
            stays
        });
    }

    /// The newest cells, in HBase's KeyValue layout, in order of families.
    pub(crate) fn cells(&self) -> impl Iterator<Item = &[u8]> {
        self.cells.values().map(Vec::as_slice)
    }

    /// Returns the bytes that they take here, which are more than in a record.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns true if the log is to be synced once it has them.
    pub(crate) fn is_synced(&self) -> bool {
        self.is_synced
    }

    /// The nonces of the increments that are not in the log.
    pub(crate) fn nonces(&self) -> &[Nonce] {
        &self.nonces
    }
}

/// Returns the part of a KeyValue that names the column: the family with its length, and the
/// qualifier.
fn column_of(key_value: &[u8]) -> &[u8] {
    let key = CellRef::from_checked(key_value, 0).key;
    // Two lengths of four bytes, the row with a length of two bytes.
    let begin = 4 + 4 + 2 + key.row.len();
    &key_value[begin..][..1 + key.family.len() + key.qualifier.len()]
}
