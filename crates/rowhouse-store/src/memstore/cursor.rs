//! A position in a memstore.

use std::ptr::NonNull;
use std::sync::Arc;

use rowhouse_model::{CellRef, Key, RowBuilder};

use super::Memstore;
use super::node::{Node, NodeRef, SearchKey, prefetch};

/// How many cells are stepped over before the list is searched: what is nearer costs less to walk
/// to, and from the top to search for than from here, since everybody's way leads over the top.
const STEPS_BEFORE_SEARCH: usize = 4;

/// A position in a memstore, keeping it alive. Cells that are put in behind it are met.
pub(crate) struct MemstoreCursor {
    /// Always a node of `memstore`.
    node: Option<NonNull<Node>>,
    memstore: Arc<Memstore>,
}

// SAFETY: what `node` leads to lives as long as `memstore`, and is only read, but for its atomics.
unsafe impl Send for MemstoreCursor {}
// SAFETY: as above.
unsafe impl Sync for MemstoreCursor {}

impl MemstoreCursor {
    /// A cursor on the first cell at or behind `key`.
    pub(crate) fn new(memstore: Arc<Memstore>, key: &Key<'_>) -> Self {
        let mut cursor = Self { node: None, memstore };
        cursor.stand_at(cursor.memstore.cells.seek(&place(key)).map(NodeRef::as_ptr));
        cursor
    }

    /// A cursor behind the last cell.
    pub(crate) fn at_end(memstore: Arc<Memstore>) -> Self {
        Self { node: None, memstore }
    }

    /// The memstore.
    pub(crate) fn memstore(&self) -> &Arc<Memstore> {
        &self.memstore
    }

    /// The current cell; `None` behind the last.
    #[inline]
    pub(crate) fn cell(&self) -> Option<CellRef<'_>> {
        self.node().map(NodeRef::cell)
    }

    /// The current cell's sequence.
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

    /// To the next cell.
    #[inline]
    pub(crate) fn advance(&mut self) {
        if let Some(node) = self.node() {
            let next = node.next().map(NodeRef::as_ptr);
            self.stand_at(next);
        }
    }

    /// Forward to the first cell at or behind `key`; never back.
    pub(crate) fn seek(&mut self, key: &Key<'_>) {
        let place = place(key);
        for _ in 0..STEPS_BEFORE_SEARCH {
            match self.node() {
                Some(node) if node.compare(&place).is_lt() => self.advance(),
                _ => return,
            }
        }
        let found = self.memstore.cells.seek(&place).map(NodeRef::as_ptr);
        self.stand_at(found);
    }

    /// To the first cell of the last row before `row`, or of the last row at all; behind the last cell
    /// when there is none.
    pub(crate) fn seek_row_before(&mut self, row: Option<&[u8]>) {
        let end = row.map(|row| place(&Key::row_start(row)));
        let cells = &self.memstore.cells;
        let start = cells
            .last_before(end.as_ref())
            .and_then(|last| cells.seek(&place(&Key::row_start(last.cell().key.row))));
        self.stand_at(start.map(NodeRef::as_ptr));
    }

    /// At `node`, or at the first behind it that was not overwritten.
    #[inline]
    pub(super) fn stand_at(&mut self, node: Option<NonNull<Node>>) {
        self.node = node;
        while let Some(node) = self.node() {
            let next = node.next();
            if !node.is_overwritten() {
                prefetch(next);
                node.prefetch_ahead();
                return;
            }
            self.node = next.map(NodeRef::as_ptr);
        }
    }

    #[inline]
    pub(super) fn node(&self) -> Option<NodeRef<'_>> {
        // SAFETY: the node is one of `memstore`, which lives as long as the cursor is borrowed.
        self.node.map(|node| unsafe { NodeRef::from_ptr(node) })
    }
}

/// Before every cell with this key.
pub(super) fn place<'a>(key: &Key<'a>) -> SearchKey<'a> {
    SearchKey::new(*key, u64::MAX)
}
