//! Row locks, with the last timestamps that rows were given.
//!
//! A row is locked through the stripe that its hash selects, so a lock needs no separate memory and
//! no allocation. Two rows in one stripe wait for each other needlessly; with a thousand stripes
//! and locks held for microseconds that is rare.
//!
//! A stripe also keeps the timestamps that rows in it were given last. A delete hides cells with
//! the delete's timestamp or an older one, so a later put needs a newer one, even within one
//! millisecond; and two puts to one cell are two versions only at two timestamps (decision 0060).

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use rowhouse_model::Timestamp;

use crate::clock::TimestampFloor;
use crate::wait_mode::{NonBlocking, WaitMode};

const STRIPES: usize = 1024;

/// How long a non-blocking caller waits for a row.
const LOCK_WAIT_MAX: Duration = Duration::from_micros(200);

/// How many rows a stripe tracks individually.
const ROWS_MAX: usize = 4;

/// The lock stripes.
pub(crate) struct RowLocks {
    stripes: Box<[Mutex<StripeTimestamps>]>,
    hasher: RandomState,
}

/// The timestamps that a stripe's rows were given last.
pub(crate) struct StripeTimestamps {
    /// Hashes for the tracked rows.
    rows: [u64; ROWS_MAX],
    stamps: [RowTimestamps; ROWS_MAX],
    /// At least as high as the timestamps in every other row.
    others: RowTimestamps,
}

/// The last timestamps of a row; [`Timestamp::MIN`] if unknown.
#[derive(Clone, Copy)]
struct RowTimestamps {
    /// The newest timestamp of any cell.
    written: Timestamp,
    /// The newest timestamp of a delete.
    deleted: Timestamp,
}

impl Default for RowTimestamps {
    fn default() -> Self {
        Self { written: Timestamp::MIN, deleted: Timestamp::MIN }
    }
}

impl RowTimestamps {
    fn merge(&mut self, other: Self) {
        self.written = self.written.max(other.written);
        self.deleted = self.deleted.max(other.deleted);
    }

    fn is_unknown(&self) -> bool {
        self.written == Timestamp::MIN
    }

    /// Returns the limits for this row's next timestamp.
    fn floor(self) -> TimestampFloor {
        if self.is_unknown() {
            return TimestampFloor::NOTHING;
        }
        TimestampFloor { distinct: self.written.saturating_add(1), ..self.floor_of_others() }
    }

    /// Returns the limits for a row that is not tracked individually. They do not require distinct
    /// versions: otherwise puts to many rows within one millisecond would push each other ahead of
    /// the clock.
    fn floor_of_others(self) -> TimestampFloor {
        if self.is_unknown() {
            return TimestampFloor::NOTHING;
        }
        let mut least = self.written;
        if self.deleted > Timestamp::MIN {
            least = least.max(self.deleted.saturating_add(1));
        }
        TimestampFloor { least, distinct: least, covering: self.written }
    }
}

impl Default for StripeTimestamps {
    fn default() -> Self {
        let stamps = [RowTimestamps::default(); ROWS_MAX];
        Self { rows: [0; ROWS_MAX], stamps, others: RowTimestamps::default() }
    }
}

impl StripeTimestamps {
    fn note(&mut self, row: u64, stamps: RowTimestamps) {
        if let Some(known) = self.rows.iter().position(|known| *known == row) {
            self.stamps[known].merge(stamps);
            return;
        }
        let oldest = (0..ROWS_MAX).min_by_key(|&at| self.stamps[at].written).unwrap_or(0);
        self.others.merge(self.stamps[oldest]);
        self.rows[oldest] = row;
        self.stamps[oldest] = stamps;
    }

    fn after(&self, row: u64) -> TimestampFloor {
        match self.rows.iter().position(|known| *known == row) {
            Some(known) => self.stamps[known].floor(),
            None => self.others.floor_of_others(),
        }
    }
}

fn put_at(at: Timestamp) -> RowTimestamps {
    RowTimestamps { written: at, deleted: Timestamp::MIN }
}

fn deleted_at(at: Timestamp) -> RowTimestamps {
    RowTimestamps { written: at, deleted: at }
}

/// Locked rows.
pub(crate) enum RowsGuard<'a> {
    /// No rows.
    None,
    /// The row in most writes: needs no allocation.
    One(LockedRow, StripeGuard<'a>),
    Several {
        /// In the caller's order.
        rows: Vec<LockedRow>,
        /// The locked stripes, sorted.
        stripes: Vec<(usize, StripeGuard<'a>)>,
    },
}

pub(crate) type StripeGuard<'a> = MutexGuard<'a, StripeTimestamps>;

/// A row's stripe and hash.
#[derive(Clone, Copy)]
pub(crate) struct LockedRow {
    stripe: usize,
    hash: u64,
}

impl LockedRow {
    /// Returns the place, in the same stripe, for timestamps on the row's index entries.
    pub(crate) fn of_entries(self) -> Self {
        Self { hash: !self.hash, ..self }
    }
}

impl<'a> RowsGuard<'a> {
    /// Returns the limits for the next timestamp across all rows together.
    pub(crate) fn after(&self) -> TimestampFloor {
        match self {
            Self::None => TimestampFloor::NOTHING,
            Self::One(row, stripe) => stripe.after(row.hash),
            Self::Several { rows, .. } => {
                let after = rows.iter().filter_map(|row| Some(self.stripe(*row)?.after(row.hash)));
                after.fold(TimestampFloor::NOTHING, TimestampFloor::and)
            }
        }
    }

    /// Returns the limits for the next timestamp in the `nth` row.
    pub(crate) fn after_nth(&self, nth: usize) -> TimestampFloor {
        self.nth(nth).map_or(TimestampFloor::NOTHING, |row| self.after_of(row))
    }

    /// Returns the limits for the next timestamp in a row whose stripe is locked.
    pub(crate) fn after_of(&self, row: LockedRow) -> TimestampFloor {
        self.stripe(row).map_or(TimestampFloor::NOTHING, |stripe| stripe.after(row.hash))
    }

    /// Whether a row's stripe is locked.
    pub(crate) fn holds(&self, row: LockedRow) -> bool {
        self.stripe(row).is_some()
    }

    /// Records a delete in the `nth` row.
    pub(crate) fn note_delete(&mut self, nth: usize, at: Timestamp) {
        if let Some(row) = self.nth(nth) {
            self.note_delete_of(row, at);
        }
    }

    /// Records a put to the `nth` row.
    pub(crate) fn note_put(&mut self, nth: usize, at: Timestamp) {
        if let Some(row) = self.nth(nth) {
            self.note_put_of(row, at);
        }
    }

    /// Records a delete in a row whose stripe is locked.
    pub(crate) fn note_delete_of(&mut self, row: LockedRow, at: Timestamp) {
        self.note(row, deleted_at(at));
    }

    /// Records a put to a row whose stripe is locked.
    pub(crate) fn note_put_of(&mut self, row: LockedRow, at: Timestamp) {
        self.note(row, put_at(at));
    }

    fn nth(&self, nth: usize) -> Option<LockedRow> {
        match self {
            Self::None => None,
            Self::One(row, _) => (nth == 0).then_some(*row),
            Self::Several { rows, .. } => rows.get(nth).copied(),
        }
    }

    fn note(&mut self, row: LockedRow, stamps: RowTimestamps) {
        let stripe = match self {
            Self::None => None,
            Self::One(locked, stripe) => (locked.stripe == row.stripe).then_some(stripe),
            Self::Several { stripes, .. } => stripes
                .binary_search_by_key(&row.stripe, |(stripe, _)| *stripe)
                .ok()
                .map(|at| &mut stripes[at].1),
        };
        if let Some(stripe) = stripe {
            stripe.note(row.hash, stamps);
        }
    }

    fn stripe(&self, row: LockedRow) -> Option<&StripeGuard<'a>> {
        match self {
            Self::None => None,
            Self::One(locked, stripe) => (locked.stripe == row.stripe).then_some(stripe),
            Self::Several { stripes, .. } => {
                let at = stripes.binary_search_by_key(&row.stripe, |(stripe, _)| *stripe).ok()?;
                Some(&stripes[at].1)
            }
        }
    }
}

impl RowLocks {
    pub(crate) fn new() -> Self {
        Self {
            stripes: (0..STRIPES).map(|_| Mutex::default()).collect(),
            hasher: RandomState::new(),
        }
    }

    /// Returns the stripe and hash for a region's row.
    pub(crate) fn place(&self, region: u64, row: &[u8]) -> LockedRow {
        let hash = self.hasher.hash_one((region, row));
        LockedRow { stripe: hash as usize % STRIPES, hash }
    }

    /// Locks rows, each given with the region's id. Stripes are locked in order, so two callers
    /// cannot deadlock; a caller that holds row locks must not request more.
    pub(crate) fn lock<'a>(
        &self,
        rows: impl Iterator<Item = (u64, &'a [u8])>,
        wait_mode: WaitMode,
    ) -> NonBlocking<RowsGuard<'_>> {
        let mut rows = rows.map(|(region, row)| self.place(region, row));
        let (Some(first), second) = (rows.next(), rows.next()) else {
            return NonBlocking::Done(RowsGuard::None);
        };
        let Some(second) = second else {
            let stripe = self.lock_stripe(first.stripe, wait_mode);
            return stripe.map(|stripe| RowsGuard::One(first, stripe));
        };
        let rows: Vec<LockedRow> = [first, second].into_iter().chain(rows).collect();
        let stripes = rows.iter().map(|row| row.stripe).collect();
        self.lock_stripes(rows, stripes, wait_mode)
    }

    /// As [`RowLocks::lock`], with the stripes in `more` locked as well. Waits as long as it takes.
    pub(crate) fn lock_with<'a, 'm>(
        &self,
        rows: impl Iterator<Item = (u64, &'a [u8])>,
        more: impl Iterator<Item = (u64, &'m [u8])>,
    ) -> RowsGuard<'_> {
        let rows: Vec<_> = rows.map(|(region, row)| self.place(region, row)).collect();
        let more = more.map(|(region, row)| self.place(region, row));
        let stripes = rows.iter().copied().chain(more).map(|row| row.stripe).collect();
        self.lock_stripes(rows, stripes, WaitMode::Blocking).done()
    }

    /// As [`RowLocks::lock`], with all rows in all regions locked. Waits as long as it takes.
    pub(crate) fn lock_all<'a>(
        &self,
        rows: impl Iterator<Item = (u64, &'a [u8])>,
    ) -> RowsGuard<'_> {
        let rows = rows.map(|(region, row)| self.place(region, row)).collect();
        self.lock_stripes(rows, (0..STRIPES).collect(), WaitMode::Blocking).done()
    }

    fn lock_stripes(
        &self,
        rows: Vec<LockedRow>,
        mut stripes: Vec<usize>,
        wait_mode: WaitMode,
    ) -> NonBlocking<RowsGuard<'_>> {
        stripes.sort_unstable();
        stripes.dedup();
        let mut locked = Vec::with_capacity(stripes.len());
        for stripe in stripes {
            let NonBlocking::Done(guard) = self.lock_stripe(stripe, wait_mode) else {
                return NonBlocking::WouldBlock;
            };
            locked.push((stripe, guard));
        }
        NonBlocking::Done(RowsGuard::Several { rows, stripes: locked })
    }

    fn lock_stripe(
        &self,
        stripe: usize,
        wait_mode: WaitMode,
    ) -> NonBlocking<MutexGuard<'_, StripeTimestamps>> {
        let lock = &self.stripes[stripe];
        match wait_mode {
            WaitMode::Blocking => NonBlocking::Done(lock.lock()),
            // Usually held by a write that ends within microseconds.
            WaitMode::NonBlocking => {
                lock.try_lock_for(LOCK_WAIT_MAX).map_or(NonBlocking::WouldBlock, NonBlocking::Done)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(at: i64) -> Timestamp {
        Timestamp::from_millis(at).unwrap()
    }

    fn lock<'a>(locks: &'a RowLocks, region: u64, row: &[u8]) -> RowsGuard<'a> {
        locks.lock(std::iter::once((region, row)), WaitMode::Blocking).done()
    }

    #[test]
    fn a_nonblocking_lock_does_not_wait_for_a_held_row() {
        let locks = RowLocks::new();
        let held = lock(&locks, 1, b"a");
        let one = || [(1, &b"a"[..])].into_iter();
        assert!(matches!(locks.lock(one(), WaitMode::NonBlocking), NonBlocking::WouldBlock));
        let rows = || [(1, &b"b"[..]), (1, b"a")].into_iter();
        assert!(matches!(locks.lock(rows(), WaitMode::NonBlocking), NonBlocking::WouldBlock));
        drop(held);
        assert!(matches!(locks.lock(rows(), WaitMode::NonBlocking), NonBlocking::Done(_)));
    }

    /// Returns how far the limits lie from the fifth millisecond: `least`, `distinct`, `covering`.
    fn after(after: TimestampFloor) -> Option<[i64; 3]> {
        let from = |at: Timestamp| at.as_millis() - 5;
        (after != TimestampFloor::NOTHING)
            .then(|| [from(after.least), from(after.distinct), from(after.covering)])
    }

    #[test]
    fn a_put_after_a_delete_is_later_and_one_after_a_put_is_so_where_it_is_a_version_of_its_own() {
        let locks = RowLocks::new();
        let of = |row: &[u8]| after(lock(&locks, 1, row).after());
        assert_eq!(of(b"a"), None);
        lock(&locks, 1, b"a").note_put(0, millis(5));
        assert_eq!((of(b"a"), of(b"b")), (Some([0, 1, 0]), None));
        assert_eq!(after(lock(&locks, 2, b"a").after()), None, "another region");
        lock(&locks, 1, b"a").note_delete(0, millis(5));
        assert_eq!(of(b"a"), Some([1, 1, 0]));
        lock(&locks, 1, b"a").note_put(0, millis(6));
        assert_eq!(of(b"a"), Some([1, 2, 1]));
        let rows = [(1, &b"b"[..]), (1, b"a"), (1, b"c")];
        let mut guard = locks.lock(rows.into_iter(), WaitMode::Blocking).done();
        assert_eq!(after(guard.after()), Some([1, 2, 1]), "of several rows the latest");
        guard.note_delete(2, millis(7));
        drop(guard);
        assert_eq!(of(b"c"), Some([3, 3, 2]));
    }

    #[test]
    fn an_evicted_row_never_gets_an_older_timestamp() {
        let mut stripe = StripeTimestamps::default();
        (1..=4).for_each(|row| stripe.note(row, put_at(millis(5))));
        assert_eq!((after(stripe.after(3)), after(stripe.after(9))), (Some([0, 1, 0]), None));
        // Evicts another row.
        stripe.note(5, put_at(millis(6)));
        assert_eq!(after(stripe.after(5)), Some([1, 2, 1]));
        let gone = (1..=4).find(|row| !stripe.rows.contains(row)).unwrap();
        assert_eq!(after(stripe.after(gone)), Some([0, 0, 0]));
        assert_eq!(after(stripe.after(9)), Some([0, 0, 0]), "it may have been any");
        (11..=15).for_each(|row| stripe.note(row, deleted_at(millis(8))));
        assert_eq!(after(stripe.after(9)), Some([4, 4, 3]));
    }
}
