//! A cursor over a memstore.

use std::ops::RangeInclusive;
use std::ptr::NonNull;
use std::sync::Arc;

use rowhouse_model::{CellKind, CellRef, Key, RowBuilder, compare_bytes, equal_bytes};

use super::Memstore;
use super::node::{Node, NodeRef, SearchKey, prefetch};

/// Cells stepped over before a search: nearer cells are cheaper to walk to. A search starts at the
/// list's top, whose nodes are in the cache because every search passes them, and so is cheaper
/// than one from here.
const STEPS_BEFORE_SEARCH: usize = 4;

/// Cells added to a row before the reader checks its limits.
const CELLS_AT_ONCE: usize = 64;

/// A cursor over a memstore, which it keeps alive. It meets cells that are inserted after the
/// current position.
pub(crate) struct MemstoreCursor {
    /// Always a node in `memstore`.
    node: Option<NonNull<Node>>,
    memstore: Arc<Memstore>,
}

// SAFETY: the node lives as long as `memstore`, and is only read, apart from the atomics.
unsafe impl Send for MemstoreCursor {}
// SAFETY: as above.
unsafe impl Sync for MemstoreCursor {}

impl MemstoreCursor {
    /// Creates a cursor at the first cell at or after `key`.
    pub(crate) fn new(memstore: Arc<Memstore>, key: &Key<'_>) -> Self {
        let mut cursor = Self { node: None, memstore };
        cursor.stand_at(cursor.memstore.cells.seek(&place(key)).map(NodeRef::as_ptr));
        cursor
    }

    /// Creates a cursor after the last cell.
    pub(crate) fn at_end(memstore: Arc<Memstore>) -> Self {
        Self { node: None, memstore }
    }

    /// Returns the memstore.
    pub(crate) fn memstore(&self) -> &Arc<Memstore> {
        &self.memstore
    }

    /// Returns the current cell; `None` after the last.
    #[inline]
    pub(crate) fn cell(&self) -> Option<CellRef<'_>> {
        self.node().map(NodeRef::cell)
    }

    /// Returns the current cell's sequence.
    #[inline]
    pub(crate) fn sequence(&self) -> Option<u64> {
        self.node().map(NodeRef::sequence)
    }

    /// Adds a copy of the current cell to a row, which must not keep the memstore alive.
    #[inline]
    pub(crate) fn push_to(&self, row: &mut RowBuilder) {
        if let Some(node) = self.node() {
            row.push_copy(node.key_value(), node.sequence());
        }
    }

    /// As [`Cells::push_columns`](crate::cells::Cells::push_columns), for columns before `end` and
    /// cells up to `sequence_max`. Stops once the row has `bytes_max` bytes.
    pub(crate) fn push_columns_before(
        &mut self,
        end: Option<&[u8]>,
        sequence_max: u64,
        bytes_max: u64,
        times: &RangeInclusive<i64>,
        row: &mut RowBuilder,
    ) -> bool {
        let is_selected = |cell: &CellRef<'_>| {
            cell.kind() == CellKind::Put
                && cell.tags.is_empty()
                && cell.sequence <= sequence_max
                && times.contains(&cell.key.timestamp)
        };
        let Some(mut node) = self.node().filter(|node| is_selected(&node.cell())) else {
            return false;
        };
        let mut next = None;
        for _ in 0..CELLS_AT_ONCE {
            row.push_copy(node.key_value(), node.sequence());
            next = settled(node.next());
            let Some(next) = next else { break };
            let key = node.cell().key;
            let cell = next.cell();
            if !equal_bytes(key.row, cell.key.row)
                || equal_bytes(key.qualifier, cell.key.qualifier)
                || row.byte_len() >= bytes_max
                || end.is_some_and(|end| compare_bytes(cell.key.qualifier, end).is_ge())
                || !is_selected(&cell)
            {
                break;
            }
            node = next;
        }
        self.node = next.map(NodeRef::as_ptr);
        true
    }

    /// Moves to the next cell.
    #[inline]
    pub(crate) fn advance(&mut self) {
        if let Some(node) = self.node() {
            let next = node.next().map(NodeRef::as_ptr);
            self.stand_at(next);
        }
    }

    /// Moves forward to the first cell at or after `key`; never moves backward.
    pub(crate) fn seek(&mut self, key: &Key<'_>) {
        let place = place(key);
        for _ in 0..STEPS_BEFORE_SEARCH {
            match self.node() {
                Some(node) if node.compare(&place).is_lt() => self.advance(),
                _ => return,
            }
        }
        let node = self.memstore.cells.seek(&place).map(NodeRef::as_ptr);
        self.stand_at(node);
    }

    /// Moves to the first cell in the last row before `row`, or in the last row if it is `None`;
    /// after the last cell if there is no such row.
    pub(crate) fn seek_row_before(&mut self, row: Option<&[u8]>) {
        let end = row.map(|row| place(&Key::row_start(row)));
        let cells = &self.memstore.cells;
        let start = cells
            .last_before(end.as_ref())
            .and_then(|last| cells.seek(&place(&Key::row_start(last.cell().key.row))));
        self.stand_at(start.map(NodeRef::as_ptr));
    }

    /// Moves to `node`, or to the first node after it that was not overwritten.
    #[inline]
    pub(super) fn stand_at(&mut self, node: Option<NonNull<Node>>) {
        self.node = node;
        self.node = settled(self.node()).map(NodeRef::as_ptr);
    }

    #[inline]
    pub(super) fn node(&self) -> Option<NodeRef<'_>> {
        // SAFETY: the node belongs to `memstore`, which lives while the cursor is borrowed.
        self.node.map(|node| unsafe { NodeRef::from_ptr(node) })
    }
}

/// Returns the node, or the first node after it that was not overwritten. Prefetches what a cursor
/// reads next.
#[inline]
fn settled(mut node: Option<NodeRef<'_>>) -> Option<NodeRef<'_>> {
    while let Some(here) = node {
        let next = here.next();
        if !here.is_overwritten() {
            prefetch(next);
            here.prefetch_ahead();
            break;
        }
        node = next;
    }
    node
}

/// Returns the search key before every cell with this key.
pub(super) fn place<'a>(key: &Key<'a>) -> SearchKey<'a> {
    SearchKey::new(*key, u64::MAX)
}
