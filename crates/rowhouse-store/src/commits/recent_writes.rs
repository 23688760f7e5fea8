//! Recently written rows, which transactions check for conflicts.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::{Mutex, RwLock};
use rowhouse_model::RowRange;

/// Maximum bytes in remembered rows, with their overhead.
const BYTES_MAX: usize = 16 << 20;
/// Overhead in bytes per remembered row.
const ROW_BYTES: usize = 64;

/// The rows written since the oldest open transaction began. Without open transactions nothing is
/// recorded, and a commit pays for one atomic load.
#[derive(Default)]
pub(crate) struct RecentWrites {
    /// How many transactions are open.
    open: AtomicUsize,
    /// Serializes beginning and ending transactions.
    counting: Mutex<()>,
    rows: Mutex<Rows>,
}

/// By region and row, the sequence of the last commit to it.
#[derive(Default)]
struct Rows {
    regions: BTreeMap<u64, BTreeMap<Vec<u8>, u64>>,
    bytes: usize,
    /// Rows written up to this sequence may be missing.
    complete_from: u64,
}

/// A row or range in one region that a transaction has read or written.
#[derive(Clone, Debug)]
pub(crate) enum Touched {
    Row(Vec<u8>),
    Range(RowRange),
}

impl RecentWrites {
    /// Records every commit that is published after this call, until [`RecentWrites::end`] was
    /// called as often as this function. Waits until no commit is in progress.
    pub(crate) fn begin(&self, freeze_latch: &RwLock<()>) {
        let _counting = self.counting.lock();
        if self.open.load(Ordering::Relaxed) > 0 {
            self.open.fetch_add(1, Ordering::Relaxed);
            return;
        }
        // No commit is in progress while the latch is held: later ones see the new value.
        let _latch = freeze_latch.write();
        self.open.store(1, Ordering::Relaxed);
    }

    pub(crate) fn end(&self) {
        let _counting = self.counting.lock();
        if self.open.fetch_sub(1, Ordering::Relaxed) == 1 {
            let mut rows = self.rows.lock();
            rows.regions.clear();
            rows.bytes = 0;
        }
    }

    /// Records the rows in a commit, each with the region's id, before it is published, if a
    /// transaction is open. The caller holds the freeze latch.
    pub(crate) fn note<'r>(&self, written: impl Iterator<Item = (u64, &'r [u8])>, sequence: u64) {
        if self.open.load(Ordering::Relaxed) == 0 {
            return;
        }
        let mut rows = self.rows.lock();
        written.for_each(|(region, row)| rows.note(region, row, sequence, BYTES_MAX));
    }

    /// Records that any row may have been written with `sequence`. The caller holds the freeze
    /// latch for writing.
    pub(crate) fn note_all(&self, sequence: u64) {
        if self.open.load(Ordering::Relaxed) > 0 {
            let mut rows = self.rows.lock();
            rows.complete_from = rows.complete_from.max(sequence);
        }
    }

    /// Whether any rows or ranges may have been written after `sequence`. The caller holds the
    /// freeze latch for writing, so that all commits have been recorded.
    pub(crate) fn may_have_changed<'t>(
        &self,
        touched: impl IntoIterator<Item = (u64, &'t Touched)>,
        sequence: u64,
    ) -> bool {
        let rows = self.rows.lock();
        rows.complete_from > sequence
            || touched.into_iter().any(|(region, touched)| rows.changed(region, touched, sequence))
    }
}

impl Rows {
    fn note(&mut self, region: u64, row: &[u8], sequence: u64, bytes_max: usize) {
        let rows = self.regions.entry(region).or_default();
        if let Some(last) = rows.get_mut(row) {
            *last = sequence.max(*last);
            return;
        }
        rows.insert(row.to_vec(), sequence);
        self.bytes += row.len() + ROW_BYTES;
        if self.bytes > bytes_max {
            self.regions.clear();
            self.bytes = 0;
            self.complete_from = sequence.max(self.complete_from);
        }
    }

    fn changed(&self, region: u64, touched: &Touched, sequence: u64) -> bool {
        let Some(rows) = self.regions.get(&region) else { return false };
        match touched {
            Touched::Row(row) => rows.get(row).is_some_and(|last| *last > sequence),
            Touched::Range(range) if range.is_empty() => false,
            Touched::Range(range) => {
                let stop = match &range.stop[..] {
                    b"" => Bound::Unbounded,
                    stop => Bound::Excluded(stop),
                };
                let mut within = rows.range::<[u8], _>((Bound::Included(&range.start[..]), stop));
                within.any(|(_, last)| *last > sequence)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(row: &str) -> Touched {
        Touched::Row(row.as_bytes().to_vec())
    }

    fn range(start: &'static str, stop: &'static str) -> Touched {
        Touched::Range(RowRange::new(start, stop))
    }

    #[test]
    fn rows_and_ranges_changed_when_written_after_a_sequence() {
        let mut rows = Rows::default();
        for (name, sequence) in [("b", 5), ("d", 7), ("b", 6)] {
            rows.note(1, name.as_bytes(), sequence, BYTES_MAX);
        }
        let changed = |touched: &Touched, sequence| rows.changed(1, touched, sequence);
        assert!(changed(&row("b"), 5));
        assert!(!changed(&row("b"), 6), "not behind it");
        assert!(!changed(&row("c"), 0), "not written");
        assert!(!rows.changed(2, &row("b"), 0), "of another region");
        assert!(changed(&range("a", "c"), 5) && !changed(&range("a", "b"), 0));
        assert!(changed(&range("c", ""), 6) && !changed(&range("e", ""), 0));
        assert!(changed(&range("", ""), 6) && !changed(&range("", ""), 7));
        assert!(!changed(&range("d", "d"), 0), "a range of nothing");
    }

    #[test]
    fn forgotten_writes_may_have_changed_any_row() {
        let recent = RecentWrites::default();
        let may = |sequence| recent.may_have_changed([(1, &row("z"))], sequence);
        recent.rows.lock().note(1, b"a", 5, 100);
        assert!(!may(4));
        recent.rows.lock().note(1, b"b", 6, 100);
        assert!(may(5), "nobody knows");
        assert!(!may(6), "all of it is remembered from here on");
    }
}
