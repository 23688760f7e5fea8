//! The cells of one (region, family) that are in the log but in no file yet.

use std::borrow::Borrow;
use std::cmp::Ordering;
use std::collections::VecDeque;
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use crossbeam_skiplist::SkipSet;
use rowhouse_model::{Cell, CellRef, Key, compare};

/// What an entry costs beside its bytes: the cell, its reference count, the skip list's node.
const ENTRY_OVERHEAD_BYTES: u64 = 144;
/// How many cells a cursor takes from the list at once: few at first, for gets.
const BATCH_LEN: std::ops::RangeInclusive<usize> = 4..=256;

/// A sorted set of cells. Readers never wait for a writer, and see its cells at any time: those
/// above their read point are for them to skip.
#[derive(Default)]
pub(crate) struct Memstore {
    cells: SkipSet<Entry>,
    bytes: AtomicU64,
    /// The lowest sequence put in; 0 while empty.
    first_sequence: AtomicU64,
    /// The highest sequence put in.
    last_sequence: AtomicU64,
}

impl Memstore {
    /// Adds a cell, which takes the place of one with the same key and sequence. Gives back how
    /// many bytes of memory it takes.
    pub(crate) fn insert(&self, cell: Cell) -> u64 {
        let bytes = cell.as_key_value().len() as u64 + ENTRY_OVERHEAD_BYTES;
        let sequence = cell.sequence();
        self.cells.insert(Entry(cell));
        self.bytes.fetch_add(bytes, Relaxed);
        let _ = self.first_sequence.fetch_update(Relaxed, Relaxed, |first| {
            (first == 0 || sequence < first).then_some(sequence)
        });
        self.last_sequence.fetch_max(sequence, Relaxed);
        bytes
    }

    /// Bytes of memory it takes.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Relaxed)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.cells.is_empty()
    }

    /// The lowest sequence in it, which its log segment must outlive.
    pub(crate) fn first_sequence(&self) -> Option<u64> {
        Some(self.first_sequence.load(Relaxed)).filter(|&first| first != 0)
    }

    /// The highest sequence in it.
    pub(crate) fn last_sequence(&self) -> u64 {
        self.last_sequence.load(Relaxed)
    }

    /// Whether any cell carries tags.
    pub(crate) fn has_tags(&self) -> bool {
        self.cells.iter().any(|entry| !entry.value().0.tags().is_empty())
    }
}

/// A position in a memstore, keeping it alive.
pub(crate) struct MemstoreCursor {
    memstore: Arc<Memstore>,
    /// Cells taken from the list, the current one in front. What is inserted between them later
    /// has a sequence above that of any reader that is here already.
    batch: VecDeque<Cell>,
    batch_len: usize,
}

impl MemstoreCursor {
    /// A cursor on the first cell at or behind `key`.
    pub(crate) fn new(memstore: Arc<Memstore>, key: &Key<'_>) -> Self {
        let mut cursor = Self { memstore, batch: VecDeque::new(), batch_len: *BATCH_LEN.start() };
        cursor.seek(key);
        cursor
    }

    /// The current cell; `None` behind the last.
    pub(crate) fn cell(&self) -> Option<&Cell> {
        self.batch.front()
    }

    /// To the next cell.
    pub(crate) fn advance(&mut self) {
        let Some(current) = self.batch.pop_front() else { return };
        if self.batch.is_empty() {
            self.batch_len = (self.batch_len * 2).min(*BATCH_LEN.end());
            let from = current.view();
            self.fill(Bound::Excluded(&from));
        }
    }

    /// Forward to the first cell at or behind `key`.
    pub(crate) fn seek(&mut self, key: &Key<'_>) {
        let passed = self.batch.iter().take_while(|cell| cell.key() < *key).count();
        self.batch.drain(..passed);
        if self.batch.is_empty() {
            let from = CellRef { key: *key, value: b"", tags: b"", sequence: u64::MAX };
            self.fill(Bound::Included(&from));
        }
    }

    fn fill(&mut self, from: Bound<&CellRef<'_>>) {
        let from: Bound<&dyn Place> = match &from {
            Bound::Included(cell) => Bound::Included(*cell),
            Bound::Excluded(cell) => Bound::Excluded(*cell),
            Bound::Unbounded => Bound::Unbounded,
        };
        let entries = self.memstore.cells.range::<dyn Place, _>((from, Bound::Unbounded));
        self.batch.extend(entries.take(self.batch_len).map(|entry| entry.value().0.clone()));
    }
}

/// A cell in the list. Its order is THE order of cells.
struct Entry(Cell);

/// Where something stands in the order: lets the list be searched with a borrowed key.
trait Place {
    fn place(&self) -> CellRef<'_>;
}

impl Place for Entry {
    fn place(&self) -> CellRef<'_> {
        self.0.view()
    }
}

impl Place for CellRef<'_> {
    fn place(&self) -> CellRef<'_> {
        *self
    }
}

impl<'a> Borrow<dyn Place + 'a> for Entry {
    fn borrow(&self) -> &(dyn Place + 'a) {
        self
    }
}

impl Ord for dyn Place + '_ {
    fn cmp(&self, other: &Self) -> Ordering {
        compare(&self.place(), &other.place())
    }
}

impl PartialOrd for dyn Place + '_ {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for dyn Place + '_ {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for dyn Place + '_ {}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> Ordering {
        compare(&self.0.view(), &other.0.view())
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Entry {}

#[cfg(test)]
mod tests {
    use rowhouse_model::{CellKind, Timestamp};

    use super::*;

    fn cell(row: &str, millis: i64, sequence: u64) -> Cell {
        let at = Timestamp::from_millis(millis).unwrap();
        Cell::new(row, "f", "q", at, CellKind::Put, "v").unwrap().with_sequence(sequence)
    }

    fn rows(cursor: &mut MemstoreCursor) -> Vec<(String, u64)> {
        let mut rows = Vec::new();
        while let Some(cell) = cursor.cell() {
            rows.push((String::from_utf8(cell.row().to_vec()).unwrap(), cell.sequence()));
            cursor.advance();
        }
        rows
    }

    #[test]
    fn cursor_walks_in_cell_order_over_many_batches() {
        let memstore = Arc::new(Memstore::default());
        let mut expected: Vec<_> = (0..2000).map(|n| (format!("{:04}", n * 7 % 2000), n)).collect();
        for (row, sequence) in &expected {
            memstore.insert(cell(row, 1, *sequence));
        }
        expected.sort();
        let mut cursor = MemstoreCursor::new(Arc::clone(&memstore), &Key::row_start(b""));
        assert_eq!(rows(&mut cursor), expected);
        let mut cursor = MemstoreCursor::new(memstore, &Key::row_start(b"0003"));
        cursor.seek(&Key::row_start(b"1234"));
        assert_eq!(rows(&mut cursor), expected[1234..]);
    }

    #[test]
    fn same_key_under_a_newer_sequence_comes_first() {
        let memstore = Arc::new(Memstore::default());
        memstore.insert(cell("r", 5, 1));
        memstore.insert(cell("r", 5, 2));
        memstore.insert(cell("r", 6, 1));
        let mut cursor = MemstoreCursor::new(Arc::clone(&memstore), &Key::row_start(b"r"));
        let sequences: Vec<_> = rows(&mut cursor).into_iter().map(|(_, s)| s).collect();
        assert_eq!(sequences, [1, 2, 1]);
        assert_eq!(memstore.first_sequence(), Some(1));
    }
}
