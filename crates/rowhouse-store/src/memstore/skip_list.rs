//! A concurrent, insert-only skip list.
//!
//! Nodes are never removed, so a position once found stays valid: only new nodes can appear between
//! it and the next one. A node is linked from the lowest level up with one compare-and-exchange per
//! level; a writer that loses the race continues searching from the same position. `spans`
//! describes the spans on links.

use std::cell::Cell;
use std::cmp::Ordering;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};

use rowhouse_model::CellRef;

use super::arena::Arena;
use super::link::{Between, Link};
use super::node::{HEIGHT_MAX, NodeRef, SearchKey, Tower};
use super::spans;
use super::sync::{AtomicBool, AtomicUsize, fence};

/// The skip list and its arena.
pub(super) struct SkipList {
    /// The links to the first node on each level, the lowest level last.
    head: [Link; HEIGHT_MAX],
    /// How many levels have nodes, or a few less while a node is being inserted.
    height: AtomicUsize,
    /// Links may have spans: the list has a marker or is about to get one.
    has_markers: AtomicBool,
    arena: Arena,
}

/// A position on a level: between a tower and the next node.
#[derive(Clone, Copy)]
struct Gap<'a> {
    before: Tower<'a>,
    next: Option<NodeRef<'a>>,
}

impl Default for SkipList {
    fn default() -> Self {
        Self {
            head: std::array::from_fn(|_| Link::default()),
            height: AtomicUsize::new(1),
            has_markers: AtomicBool::new(false),
            arena: Arena::default(),
        }
    }
}

impl SkipList {
    /// Returns the bytes requested from the allocator.
    pub(super) fn bytes(&self) -> u64 {
        self.arena.bytes()
    }

    /// Inserts a cell and marks an existing one with the same key and sequence as overwritten.
    /// Returns the bytes by which [`SkipList::bytes`] grew.
    pub(super) fn insert(&self, key_value: &[u8], sequence: u64) -> u64 {
        self.insert_with_height(key_value, sequence, random_height())
    }

    pub(super) fn insert_with_height(&self, key_value: &[u8], sequence: u64, height: usize) -> u64 {
        let (node, added) = NodeRef::new(&self.arena, key_value, sequence, height);
        let cell = CellRef::from_checked(key_value, sequence);
        let place = SearchKey::new(cell.key, sequence);
        let mut gaps = self.gaps();
        self.find(&place, &mut gaps);
        self.link(node, &place, &mut gaps);
        added
    }

    /// Inserts cells. Each cell that sorts after the one before it is searched from there, others
    /// from the head. Returns the bytes by which [`SkipList::bytes`] grew.
    pub(super) fn insert_sorted<'c>(&self, cells: impl Iterator<Item = (&'c [u8], u64)>) -> u64 {
        self.insert_with_heights(
            cells.map(|(key_value, sequence)| (key_value, sequence, random_height())),
        )
    }

    /// As [`SkipList::insert_sorted`], with a given link count for each cell.
    pub(super) fn insert_with_heights<'c>(
        &self,
        cells: impl Iterator<Item = (&'c [u8], u64, usize)>,
    ) -> u64 {
        let mut gaps = self.gaps();
        let mut last: Option<NodeRef<'_>> = None;
        let mut added = 0;
        for (key_value, sequence, height) in cells {
            let (node, grown) = NodeRef::new(&self.arena, key_value, sequence, height);
            let cell = CellRef::from_checked(key_value, sequence);
            let place = SearchKey::new(cell.key, sequence);
            // A repeated cell is linked before the one it replaces.
            if last.is_some_and(|last| last.compare(&place) == Ordering::Less) {
                self.find_onward(&place, &mut gaps);
            } else {
                gaps = self.gaps();
                self.find(&place, &mut gaps);
            }
            let alone = self.link(node, &place, &mut gaps);
            for gap in &mut gaps[..height] {
                gap.before = node.tower();
            }
            // If another node was inserted between on one level but not on those below, the next
            // cell may belong after it.
            last = Some(node).filter(|_| alone);
            added += grown;
        }
        added
    }

    /// Links a node from the lowest level up into the gaps found for it. Returns true if no other
    /// writer had changed them.
    #[inline]
    fn link<'a>(
        &'a self,
        node: NodeRef<'a>,
        place: &SearchKey<'_>,
        gaps: &mut [Gap<'a>; HEIGHT_MAX],
    ) -> bool {
        let height = node.height();
        let beside = node.beside();
        if beside != Between::Anything && !self.has_markers.load(SeqCst) {
            self.has_markers.store(true, SeqCst);
        }
        let mut alone = true;
        for (level, gap) in gaps.iter_mut().enumerate().take(height) {
            let halves = loop {
                // SAFETY: `gap.before` was reached on this level or is the head, which has all
                // levels; the node has `height` links.
                if let Some(halves) = unsafe { gap.before.insert(level, node, beside, gap.next) } {
                    break halves;
                }
                alone = false;
                // SAFETY: as above.
                *gap = unsafe { walk(gap.before, level, place, None) };
            };
            if level == 0 {
                overwrite_equal(gap.next, place);
            } else if beside != Between::Anything {
                // SAFETY: the node was just linked on this level.
                unsafe { spans::determine(gap.before, level, node, gap.next, halves.known) };
            }
        }
        if self.height.load(Relaxed) < height {
            self.height.fetch_max(height, Relaxed);
        }
        fence();
        if self.has_markers.load(SeqCst) && beside != Between::Versions {
            self.lower(place, height, beside, gaps);
        }
        alone
    }

    /// Lowers the spans on the links over a cell that was linked on the levels below `height`.
    #[cold]
    #[inline(never)]
    fn lower(
        &self,
        place: &SearchKey<'_>,
        height: usize,
        beside: Between,
        gaps: &[Gap<'_>; HEIGHT_MAX],
    ) {
        for (level, gap) in gaps.iter().enumerate().skip(height) {
            // SAFETY: as in `link`.
            if !unsafe { spans::lower(gap.before, level, place, gap.next, beside) } {
                return;
            }
        }
    }

    /// Returns the first node.
    pub(super) fn first(&self) -> Option<NodeRef<'_>> {
        // SAFETY: the head has all levels.
        unsafe { self.head_tower().next(0) }
    }

    /// Returns the first node at or after `place`.
    #[inline]
    pub(super) fn seek(&self, place: &SearchKey<'_>) -> Option<NodeRef<'_>> {
        let mut gaps = self.gaps();
        self.find(place, &mut gaps);
        gaps[0].next
    }

    /// As [`SkipList::seek`], starting from a node that may be near.
    pub(super) fn seek_near<'a>(
        &'a self,
        near: NodeRef<'a>,
        place: &SearchKey<'_>,
    ) -> Option<NodeRef<'a>> {
        if near.compare(place) != Ordering::Less {
            return self.seek(place);
        }
        let mut gap = Gap { before: near.tower(), next: None };
        for level in (0..near.height()).rev() {
            // SAFETY: the tower is the node's, or was reached on the level above.
            gap = unsafe { walk(gap.before, level, place, gap.next) };
        }
        gap.next
    }

    /// Returns the last node before `place`, or the last node if it is `None`.
    pub(super) fn last_before(&self, place: Option<&SearchKey<'_>>) -> Option<NodeRef<'_>> {
        let mut before = None;
        let mut tower = self.head_tower();
        for level in (0..self.height.load(Relaxed)).rev() {
            // SAFETY: the tower is the head, or was reached on this level or a higher one.
            while let Some(node) = unsafe { tower.next(level) } {
                if place.is_some_and(|place| node.compare(place) != Ordering::Less) {
                    break;
                }
                before = Some(node);
                tower = node.tower();
            }
        }
        before
    }

    /// Returns about how many cells lie from `start` to `stop` (exclusive; `None` for the end), and
    /// their bytes. Counts the nodes on the highest level with at least `nodes_min` nodes there:
    /// one node in four is on the next level. Exact if the lowest level has fewer.
    pub(super) fn estimate(
        &self,
        start: &SearchKey<'_>,
        stop: Option<&SearchKey<'_>>,
        nodes_min: u64,
    ) -> (u64, u64) {
        let mut gaps = self.gaps();
        self.find(start, &mut gaps);
        let is_before =
            |node: &NodeRef<'_>| stop.is_none_or(|stop| node.compare(stop) == Ordering::Less);
        let mut nodes = 0;
        let mut bytes = 0;
        for (level, gap) in gaps.iter().enumerate().rev() {
            (nodes, bytes) = (0, 0);
            let mut next = gap.next.filter(is_before);
            while let Some(node) = next {
                nodes += 1;
                bytes += node.key_value().len() as u64;
                // SAFETY: the node was reached on this level.
                next = unsafe { node.tower().next(level) }.filter(is_before);
            }
            if nodes >= nodes_min {
                return (nodes << (2 * level), bytes << (2 * level));
            }
        }
        (nodes, bytes)
    }

    /// Returns the gaps before any search: everything is after the head.
    fn gaps(&self) -> [Gap<'_>; HEIGHT_MAX] {
        [Gap { before: self.head_tower(), next: None }; HEIGHT_MAX]
    }

    fn head_tower(&self) -> Tower<'_> {
        Tower::of_head(&self.head)
    }

    /// Finds the gap for `place` on each level that has nodes.
    #[inline]
    fn find<'a>(&'a self, place: &SearchKey<'_>, gaps: &mut [Gap<'a>; HEIGHT_MAX]) {
        let mut gap = Gap { before: self.head_tower(), next: None };
        for level in (0..self.height.load(Relaxed)).rev() {
            // SAFETY: the tower is the head, or was reached on the level above.
            gap = unsafe { walk(gap.before, level, place, gap.next) };
            gaps[level] = gap;
        }
    }

    /// As [`SkipList::find`], starting from the gaps for a position not after this one.
    #[inline]
    fn find_onward<'a>(&'a self, place: &SearchKey<'_>, gaps: &mut [Gap<'a>; HEIGHT_MAX]) {
        let is_after =
            |gap: &Gap<'_>| gap.next.is_some_and(|next| next.compare(place) != Ordering::Less);
        let height = self.height.load(Relaxed);
        // From this level up `place` is in the existing gaps.
        let right = gaps[..height].iter().position(is_after).unwrap_or(height);
        let mut moved = None;
        for level in (0..right).rev() {
            let after = gaps.get(level + 1).and_then(|above| above.next);
            // A tower reached by moving on a higher level is past the gaps below.
            let before = moved.unwrap_or(gaps[level].before);
            // SAFETY: the tower is the gap's own, or was reached on a higher level.
            let gap = unsafe { walk(before, level, place, after) };
            if gap.before != gaps[level].before {
                moved = Some(gap.before);
            }
            gaps[level] = gap;
        }
    }
}

/// Walks along a level until the next node is at or after `place`. `after` is a node known to be.
///
/// # Safety
/// `before` has more than `level` links and is before `place`.
#[inline]
unsafe fn walk<'a>(
    mut before: Tower<'a>,
    level: usize,
    place: &SearchKey<'_>,
    after: Option<NodeRef<'a>>,
) -> Gap<'a> {
    loop {
        // SAFETY: guaranteed by the caller at first; then a tower reached on this level.
        let next = unsafe { before.next(level) };
        if level > 0 {
            // SAFETY: a tower with a level has all lower ones.
            unsafe { before.prefetch(level - 1) };
        }
        match next {
            Some(node) if next != after && node.compare(place) == Ordering::Less => {
                before = node.tower();
            }
            _ => return Gap { before, next },
        }
    }
}

/// Marks the next node as overwritten if it has the same key and sequence as the cell inserted
/// before it.
fn overwrite_equal(next: Option<NodeRef<'_>>, place: &SearchKey<'_>) {
    if let Some(node) = next.filter(|node| node.compare(place) == Ordering::Equal) {
        node.overwrite();
    }
}

/// Returns 1 for three nodes in four, 2 for three in four of the others, and so on.
fn random_height() -> usize {
    thread_local! {
        static STATE: Cell<u64> = const { Cell::new(0) };
    }
    let random = STATE.with(|state| {
        let mut number = state.get();
        if number == 0 {
            // Any seed will do; this one differs by thread.
            number = std::ptr::from_ref(state).addr() as u64 | 1;
        }
        // Marsaglia's xorshift: never zero, and the low bits are good enough here.
        number ^= number << 13;
        number ^= number >> 7;
        number ^= number << 17;
        state.set(number);
        number.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 32
    });
    (1 + random.trailing_ones() as usize / 2).min(HEIGHT_MAX)
}
