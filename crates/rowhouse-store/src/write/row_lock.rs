//! Locks of rows.
//!
//! A row is locked by the stripe its hash falls into, so a lock costs no memory and no allocation.
//! Two rows of one stripe wait for each other needlessly; with a thousand stripes and locks held
//! for microseconds that is rare.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

use parking_lot::{Mutex, MutexGuard};

const STRIPES: usize = 1024;

/// The stripes.
pub(crate) struct RowLocks {
    stripes: Box<[Mutex<()>]>,
    hasher: RandomState,
}

/// Rows, locked.
pub(crate) struct RowGuard<'a> {
    _stripes: Vec<MutexGuard<'a, ()>>,
}

impl RowLocks {
    pub(crate) fn new() -> Self {
        Self {
            stripes: (0..STRIPES).map(|_| Mutex::default()).collect(),
            hasher: RandomState::new(),
        }
    }

    /// Locks a row of a region. A caller that holds rows must not ask for more.
    pub(crate) fn lock_one(&self, region: u64, row: &[u8]) -> MutexGuard<'_, ()> {
        self.stripes[self.hasher.hash_one((region, row)) as usize % STRIPES].lock()
    }

    /// Locks rows, each with the id of its region. Stripes are taken in their order, so two callers cannot wait for
    /// each other; a caller that holds rows must not ask for more.
    pub(crate) fn lock<'a>(&self, rows: impl Iterator<Item = (u64, &'a [u8])>) -> RowGuard<'_> {
        let mut stripes: Vec<usize> =
            rows.map(|row| self.hasher.hash_one(row) as usize % STRIPES).collect();
        stripes.sort_unstable();
        stripes.dedup();
        RowGuard { _stripes: stripes.iter().map(|&stripe| self.stripes[stripe].lock()).collect() }
    }
}
