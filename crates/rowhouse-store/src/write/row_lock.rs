//! Locks of rows, and when those were last deleted.
//!
//! A row is locked by the stripe its hash falls into, so a lock costs no memory and no allocation.
//! Two rows of one stripe wait for each other needlessly; with a thousand stripes and locks held
//! for microseconds that is rare.
//!
//! A delete hides what has its timestamp, so what is written behind it must have a later one, also within one millisecond.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::time::Duration;

use parking_lot::{Mutex, MutexGuard};
use rowhouse_model::Timestamp;

use super::patience::{Patience, Tried};

const STRIPES: usize = 1024;

/// How long a caller waits for a row that may not wait.
const MOMENT: Duration = Duration::from_micros(200);

/// How many deleted rows of a stripe are told apart within a millisecond.
const ROWS_MAX: usize = 4;

/// The stripes.
pub(crate) struct RowLocks {
    stripes: Box<[Mutex<Deleted>]>,
    hasher: RandomState,
}

/// The rows of a stripe that were deleted last.
struct Deleted {
    /// With this timestamp, all of them.
    at: Timestamp,
    /// Their hashes.
    rows: [u64; ROWS_MAX],
    /// How many there were: when they are more than are told apart, it may have been any.
    count: usize,
}

impl Default for Deleted {
    fn default() -> Self {
        Self { at: Timestamp::MIN, rows: [0; ROWS_MAX], count: 0 }
    }
}

impl Deleted {
    fn note(&mut self, row: u64, at: Timestamp) {
        if at > self.at {
            *self = Self { at, ..Self::default() };
        }
        if at == self.at && !self.has(row) {
            if let Some(free) = self.rows.get_mut(self.count) {
                *free = row;
            }
            self.count += 1;
        }
    }

    fn has(&self, row: u64) -> bool {
        self.count > ROWS_MAX || self.rows[..self.count].contains(&row)
    }
}

/// A row, locked.
pub(crate) struct RowGuard<'a> {
    row: u64,
    stripe: MutexGuard<'a, Deleted>,
}

impl RowGuard<'_> {
    /// When the row was deleted, if that is not long ago.
    pub(crate) fn deleted_at(&self) -> Option<Timestamp> {
        self.stripe.has(self.row).then_some(self.stripe.at)
    }

    /// Notes that the row is deleted.
    pub(crate) fn note_delete(&mut self, at: Timestamp) {
        self.stripe.note(self.row, at);
    }
}

/// Rows, locked.
pub(crate) struct RowsGuard<'a> {
    /// The stripe of each row, and its hash; as they were named.
    rows: Vec<(usize, u64)>,
    /// By stripe.
    stripes: Vec<(usize, MutexGuard<'a, Deleted>)>,
}

impl RowsGuard<'_> {
    /// When the last of the rows was deleted, if that is not long ago.
    pub(crate) fn deleted_at(&self) -> Option<Timestamp> {
        let deleted = self.rows.iter().filter_map(|&(stripe, row)| {
            let at = self.stripes.binary_search_by_key(&stripe, |(stripe, _)| *stripe).ok()?;
            let deleted = &self.stripes[at].1;
            deleted.has(row).then_some(deleted.at)
        });
        deleted.max()
    }

    /// Notes that the `nth` of the rows is deleted.
    pub(crate) fn note_delete(&mut self, nth: usize, at: Timestamp) {
        let Some(&(stripe, row)) = self.rows.get(nth) else { return };
        if let Ok(found) = self.stripes.binary_search_by_key(&stripe, |(stripe, _)| *stripe) {
            self.stripes[found].1.note(row, at);
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

    /// Locks a row of a region. A caller that holds rows must not ask for more.
    pub(crate) fn lock_one(
        &self,
        region: u64,
        row: &[u8],
        patience: Patience,
    ) -> Tried<RowGuard<'_>> {
        let row = self.hasher.hash_one((region, row));
        self.lock_stripe(stripe_of(row), patience).map(|stripe| RowGuard { row, stripe })
    }

    /// Locks rows, each with the id of its region. Stripes are taken in their order, so two callers cannot wait for
    /// each other; a caller that holds rows must not ask for more.
    pub(crate) fn lock<'a>(
        &self,
        rows: impl Iterator<Item = (u64, &'a [u8])>,
        patience: Patience,
    ) -> Tried<RowsGuard<'_>> {
        let hashes = rows.map(|row| self.hasher.hash_one(row));
        let rows: Vec<(usize, u64)> = hashes.map(|row| (stripe_of(row), row)).collect();
        let mut stripes: Vec<usize> = rows.iter().map(|&(stripe, _)| stripe).collect();
        stripes.sort_unstable();
        stripes.dedup();
        let mut locked = Vec::with_capacity(stripes.len());
        for stripe in stripes {
            let Tried::Done(guard) = self.lock_stripe(stripe, patience) else {
                return Tried::WouldWait;
            };
            locked.push((stripe, guard));
        }
        Tried::Done(RowsGuard { rows, stripes: locked })
    }

    fn lock_stripe(&self, stripe: usize, patience: Patience) -> Tried<MutexGuard<'_, Deleted>> {
        let stripe = &self.stripes[stripe];
        match patience {
            Patience::Waits => Tried::Done(stripe.lock()),
            // As a rule it is held by a write that is done in a moment.
            Patience::None => stripe.try_lock_for(MOMENT).map_or(Tried::WouldWait, Tried::Done),
        }
    }
}

fn stripe_of(row: u64) -> usize {
    row as usize % STRIPES
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(at: i64) -> Timestamp {
        Timestamp::from_millis(at).unwrap()
    }

    fn lock<'a>(locks: &'a RowLocks, region: u64, row: &[u8]) -> RowGuard<'a> {
        locks.lock_one(region, row, Patience::Waits).done()
    }

    #[test]
    fn a_row_that_another_holds_is_not_waited_for_by_who_may_not_wait() {
        let locks = RowLocks::new();
        let held = lock(&locks, 1, b"a");
        assert!(matches!(locks.lock_one(1, b"a", Patience::None), Tried::WouldWait));
        let rows = || [(1, &b"b"[..]), (1, b"a")].into_iter();
        assert!(matches!(locks.lock(rows(), Patience::None), Tried::WouldWait));
        drop(held);
        assert!(matches!(locks.lock(rows(), Patience::None), Tried::Done(_)));
    }

    #[test]
    fn it_is_known_when_a_row_was_deleted_last() {
        let locks = RowLocks::new();
        let deleted_at = |row: &[u8]| lock(&locks, 1, row).deleted_at();
        assert_eq!(deleted_at(b"a"), None);
        lock(&locks, 1, b"a").note_delete(millis(5));
        assert_eq!((deleted_at(b"a"), deleted_at(b"b")), (Some(millis(5)), None));
        assert_eq!(lock(&locks, 2, b"a").deleted_at(), None);
        let rows = [(1, &b"b"[..]), (1, b"a"), (1, b"c")];
        let mut guard = locks.lock(rows.into_iter(), Patience::Waits).done();
        assert_eq!(guard.deleted_at(), Some(millis(5)));
        guard.note_delete(2, millis(6));
        drop(guard);
        assert_eq!(deleted_at(b"c"), Some(millis(6)));
    }

    #[test]
    fn where_too_many_rows_are_deleted_at_once_any_counts_as_one_of_them() {
        let mut deleted = Deleted::default();
        (0..4).for_each(|row| deleted.note(row, millis(5)));
        assert_eq!((deleted.has(3), deleted.has(4)), (true, false));
        deleted.note(4, millis(5));
        assert!(deleted.has(99));
        deleted.note(7, millis(6));
        assert_eq!((deleted.has(7), deleted.has(99)), (true, false));
    }
}
