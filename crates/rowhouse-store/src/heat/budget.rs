//! What the heats of all tables share: their memory, and the clock.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::clock::Clock;

/// Bytes that the heat of one table may take, and the heat of all tables together.
const TABLE_BYTES_MAX: usize = 1 << 20;
const BYTES_MAX: usize = 16 << 20;
/// How many tables have heat at most: each has 32 KiB then.
const TABLES_MAX: usize = 512;
/// How many key ranges and hot rows a table has, and how many requests of each kind a minute's
/// sample.
const PLACES: usize = 64;
const SAMPLED: usize = 256;
/// The same for a table with less memory than [`FEW_BYTES`].
const PLACES_FEW: usize = 16;
const SAMPLED_FEW: usize = 16;
const FEW_BYTES: usize = 128 << 10;

pub(super) struct Budget {
    clock: Arc<dyn Clock>,
    /// Tables that have allocated columns.
    tables: AtomicUsize,
    /// Set by recorded requests.
    changed: AtomicBool,
}

impl Budget {
    pub(super) fn new(clock: Arc<dyn Clock>) -> Self {
        Self { clock, tables: AtomicUsize::new(0), changed: AtomicBool::new(false) }
    }

    pub(super) fn now_millis(&self) -> i64 {
        self.clock.now_millis()
    }

    /// Counts a table; returns `false` if there are too many.
    pub(super) fn add_table(&self) -> bool {
        if self.tables.fetch_add(1, Ordering::Relaxed) < TABLES_MAX {
            return true;
        }
        self.remove_table();
        tracing::warn!(
            tables_max = TABLES_MAX,
            "a table has no heat: too many tables have been used since the store was opened"
        );
        false
    }

    pub(super) fn remove_table(&self) {
        self.tables.fetch_sub(1, Ordering::Relaxed);
    }

    pub(super) fn has_tables(&self) -> bool {
        self.tables.load(Ordering::Relaxed) > 0
    }

    /// Returns the bytes that each table may take. A table obeys within a minute.
    pub(super) fn table_bytes(&self) -> usize {
        // Steps, so that a table that is added does not make all others smaller.
        let tables = self.tables.load(Ordering::Relaxed).max(1).next_power_of_two();
        (BYTES_MAX / tables).min(TABLE_BYTES_MAX)
    }

    /// Returns how many key ranges and how many hot rows each table may have.
    pub(super) fn places(&self) -> usize {
        if self.table_bytes() < FEW_BYTES { PLACES_FEW } else { PLACES }
    }

    /// Returns how many requests of each kind a minute's sample may have.
    pub(super) fn sampled(&self) -> usize {
        if self.table_bytes() < FEW_BYTES { SAMPLED_FEW } else { SAMPLED }
    }

    pub(super) fn note_change(&self) {
        if !self.changed.load(Ordering::Relaxed) {
            self.changed.store(true, Ordering::Relaxed);
        }
    }

    /// Returns true if requests were recorded since the last call.
    pub(super) fn take_changed(&self) -> bool {
        self.changed.swap(false, Ordering::Relaxed)
    }
}
