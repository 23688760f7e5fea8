//! A skip list node: a cell in the arena with links.
//!
//! ```text
//!    link h-1 │ … │ link 1 │ link 0 │ sequence │ length, height, flag │ KeyValue
//!                                   └ where pointers to the node point
//! ```
//!
//! The links come first, the lowest last: the data a search reads (a low link, the row) lies in one
//! or two cache lines whatever the height.

use std::cmp::Ordering;
use std::marker::PhantomData;
use std::ptr::{self, NonNull};
use std::sync::atomic::Ordering::Relaxed;

use rowhouse_model::{CellRef, Key};

use super::arena::{ALIGN, Arena};
use super::link::{Between, Link, Seen, Span};
use super::sync::{AtomicBool, Watched};

/// Maximum links per node. One node in four is a level higher, so this suits a list of 4¹² (17
/// million) cells.
pub(super) const HEIGHT_MAX: usize = 12;

/// A node's fixed part. The non-atomic fields never change once a link points to it.
#[repr(C)]
pub(super) struct Node {
    sequence: u64,
    len: u32,
    height: u8,
    /// The highest bound that a link over the cell may state. Stored next to the links, because
    /// readers that skip many cells read it.
    beside: Between,
    /// A cell with the same key and sequence was inserted later.
    overwritten: AtomicBool,
    plain: Watched,
}

const _: () = assert!(align_of::<Node>() <= ALIGN && align_of::<Link>() <= ALIGN);
const _: () = assert!(size_of::<Node>().is_multiple_of(align_of::<Link>()));
const _: () = assert!(size_of::<Link>().is_multiple_of(align_of::<Node>()));

/// Bytes in a KeyValue before the row, and bytes in the row's prefix that are compared first.
const ROW_OFFSET: usize = 4 + 4 + 2;
const PREFIX_LEN: usize = 8;

/// A reference to a node that is linked or that its writer has finished; valid and unmoved for
/// `'a`.
#[derive(Clone, Copy)]
pub(super) struct NodeRef<'a> {
    node: NonNull<Node>,
    arena: PhantomData<&'a Arena>,
}

impl<'a> NodeRef<'a> {
    /// Copies a cell into the arena as a node with `height` null links. Also returns the bytes by
    /// which the arena grew.
    pub(super) fn new(
        arena: &'a Arena,
        key_value: &[u8],
        sequence: u64,
        height: usize,
    ) -> (Self, u64) {
        let beside = Between::beside(CellRef::from_checked(key_value, sequence).key.kind);
        debug_assert!((1..=HEIGHT_MAX).contains(&height));
        let links_len = height * size_of::<Link>();
        let piece = arena.take(links_len + size_of::<Node>() + key_value.len());
        let head = Node {
            sequence,
            len: u32::try_from(key_value.len()).expect("a KeyValue has less than 2 GiB"),
            height: height as u8,
            beside,
            overwritten: AtomicBool::new(false),
            plain: Watched::new(),
        };
        head.plain.write();
        // SAFETY: the piece is exclusively ours, aligned, and as long as the three parts together.
        let node = unsafe {
            let links = piece.start.cast::<Link>();
            for at in 0..height {
                links.add(at).write(Link::default());
            }
            let node = links.add(height).cast::<Node>();
            node.write(head);
            let bytes = node.add(1).cast::<u8>();
            ptr::copy_nonoverlapping(key_value.as_ptr(), bytes.as_ptr(), key_value.len());
            node
        };
        (Self { node, arena: PhantomData }, piece.added)
    }

    /// Restores a node from a pointer.
    ///
    /// # Safety
    /// `node` came from [`NodeRef::as_ptr`], and the arena lives for `'a`.
    #[inline]
    pub(super) unsafe fn from_ptr(node: NonNull<Node>) -> Self {
        Self { node, arena: PhantomData }
    }

    #[inline]
    pub(super) fn as_ptr(self) -> NonNull<Node> {
        self.node
    }

    #[inline]
    fn head(self) -> &'a Node {
        // SAFETY: a `NodeRef` refers to a node that was finished before it was linked and that
        // lives for 'a.
        let head = unsafe { &*self.node.as_ptr() };
        head.plain.read();
        head
    }

    /// Returns the sequence number of the mutation that wrote the cell.
    #[inline]
    pub(super) fn sequence(self) -> u64 {
        self.head().sequence
    }

    /// Returns the cell's bytes.
    #[inline]
    pub(super) fn key_value(self) -> &'a [u8] {
        let len = self.head().len as usize;
        // SAFETY: `len` bytes after the header were written before the node was linked, and never
        // again. The pointer has the whole piece's provenance, unlike the reference to the header.
        unsafe { std::slice::from_raw_parts(self.node.add(1).cast::<u8>().as_ptr(), len) }
    }

    /// Returns the cell.
    #[inline]
    pub(super) fn cell(self) -> CellRef<'a> {
        CellRef::from_checked(self.key_value(), self.sequence())
    }

    /// Returns the highest bound that a link over the cell may state.
    #[inline]
    pub(super) fn beside(self) -> Between {
        self.head().beside
    }

    /// Returns the cell's row.
    #[inline]
    pub(super) fn row(self) -> &'a [u8] {
        row(self.key_value())
    }

    /// Returns the node's links.
    #[inline]
    pub(super) fn tower(self) -> Tower<'a> {
        // SAFETY: a node has at least one link, directly before it.
        let lowest = unsafe { self.node.cast::<Link>().sub(1) };
        Tower { lowest, arena: PhantomData }
    }

    /// Returns the next node.
    #[inline]
    pub(super) fn next(self) -> Option<Self> {
        // SAFETY: every node has a lowest link.
        unsafe { self.tower().next(0) }
    }

    /// Returns a node some way ahead, if the node has a second link.
    #[inline]
    pub(super) fn ahead(self) -> Option<Self> {
        // SAFETY: it has a second link.
        if self.height() > 1 { unsafe { self.tower().next(1) } } else { None }
    }

    /// Prefetches nodes that a walk reaches soon. On the lowest level each node must be loaded
    /// before the next is known; a higher link leads past some nodes to one that can be loaded
    /// meanwhile, and so can the nodes after that one, once it is here.
    #[inline]
    pub(super) fn prefetch_ahead(self) {
        if let Some(ahead) = self.ahead() {
            // SAFETY: a node that a second-level link points to has two links.
            unsafe {
                ahead.tower().prefetch(0);
                ahead.tower().prefetch(1);
            }
        }
    }

    /// Returns how many links the node has.
    #[inline]
    pub(super) fn height(self) -> usize {
        self.head().height as usize
    }

    /// Marks that the same cell was inserted again.
    pub(super) fn overwrite(self) {
        self.head().overwritten.store(true, Relaxed);
    }

    /// Whether the same cell was inserted again. A read point that includes the cells' sequence was
    /// published after both inserts, so a reader there finds exactly one cell.
    #[inline]
    pub(super) fn is_overwritten(self) -> bool {
        self.head().overwritten.load(Relaxed)
    }

    /// Compares this cell with a search key.
    #[inline]
    pub(super) fn compare(self, place: &SearchKey<'_>) -> Ordering {
        match row_prefix(self.key_value()).cmp(&place.prefix) {
            Ordering::Equal => self.compare_after_prefix(place),
            decided => decided,
        }
    }

    /// Compares past equal row prefixes, as for rows that all begin alike.
    #[inline]
    fn compare_after_prefix(self, place: &SearchKey<'_>) -> Ordering {
        match compare_after_prefix(row(self.key_value()), place.key.row) {
            Ordering::Equal => self.compare_in_row(place),
            decided => decided,
        }
    }

    #[inline(never)]
    fn compare_in_row(self, place: &SearchKey<'_>) -> Ordering {
        let cell = self.cell();
        cell.key.cmp(&place.key).then_with(|| place.sequence.cmp(&cell.sequence))
    }
}

/// Returns a KeyValue's row.
#[inline]
fn row(key_value: &[u8]) -> &[u8] {
    let len = u16::from_be_bytes([key_value[8], key_value[9]]) as usize;
    &key_value[ROW_OFFSET..ROW_OFFSET + len]
}

/// Compares rows with equal prefixes, eight bytes at a time: a `memcmp` call costs more than the
/// few comparisons that usually decide.
#[inline]
fn compare_after_prefix(a: &[u8], b: &[u8]) -> Ordering {
    let (Some(mut a), Some(mut b)) = (a.get(PREFIX_LEN..), b.get(PREFIX_LEN..)) else {
        return a.cmp(b);
    };
    while let (Some((x, a_rest)), Some((y, b_rest))) =
        (a.split_first_chunk::<8>(), b.split_first_chunk::<8>())
    {
        if x != y {
            return u64::from_be_bytes(*x).cmp(&u64::from_be_bytes(*y));
        }
        (a, b) = (a_rest, b_rest);
    }
    if a.is_empty() || b.is_empty() { a.len().cmp(&b.len()) } else { a.cmp(b) }
}

/// Returns [`rowhouse_model::row_prefix`] for a KeyValue's row, with one load for it and the bytes
/// before it.
#[inline]
fn row_prefix(key_value: &[u8]) -> u64 {
    let Some(head) = key_value.first_chunk::<{ ROW_OFFSET + PREFIX_LEN }>() else { return 0 };
    let len = u16::from_be_bytes([head[8], head[9]]) as usize;
    let prefix = u64::from_be_bytes(*head.last_chunk().expect("eight bytes of eighteen"));
    // Mask the bytes after a short row.
    if len >= PREFIX_LEN { prefix } else { prefix & !(u64::MAX >> (8 * len)) }
}

/// A position to search for.
pub(super) struct SearchKey<'a> {
    prefix: u64,
    key: Key<'a>,
    sequence: u64,
}

impl<'a> SearchKey<'a> {
    /// Creates the key for a cell's position.
    #[inline]
    pub(super) fn new(key: Key<'a>, sequence: u64) -> Self {
        Self { prefix: rowhouse_model::row_prefix(key.row), key, sequence }
    }
}

/// The links of a node or of the list's head.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Tower<'a> {
    lowest: NonNull<Link>,
    arena: PhantomData<&'a Arena>,
}

impl<'a> Tower<'a> {
    /// Returns the head's links, the lowest last.
    pub(super) fn of_head(links: &'a [Link; HEIGHT_MAX]) -> Self {
        // Derive the pointer from the whole array, so that it may reach every element.
        let links = NonNull::from(links).cast::<Link>();
        // SAFETY: the index is within the `HEIGHT_MAX` links.
        Self { lowest: unsafe { links.add(HEIGHT_MAX - 1) }, arena: PhantomData }
    }

    /// Returns a level's link.
    ///
    /// # Safety
    /// The tower has more than `level` links.
    #[inline]
    unsafe fn link(self, level: usize) -> &'a Link {
        // SAFETY: links lie below each other in memory, and the caller guarantees that there are so
        // many. They were written before the node was linked and are atomic.
        unsafe { self.lowest.sub(level).as_ref() }
    }

    /// Returns the next node on a level.
    ///
    /// # Safety
    /// The tower has more than `level` links.
    #[inline]
    pub(super) unsafe fn next(self, level: usize) -> Option<NodeRef<'a>> {
        // SAFETY: guaranteed by the caller.
        let node = unsafe { self.link(level) }.node()?;
        Some(NodeRef { node, arena: PhantomData })
    }

    /// Prefetches the next node on a level.
    ///
    /// # Safety
    /// The tower has more than `level` links.
    #[inline]
    pub(super) unsafe fn prefetch(self, level: usize) {
        // SAFETY: guaranteed by the caller.
        prefetch_at(unsafe { self.link(level) }.address());
    }

    /// Returns the next node on a level and the link's span.
    ///
    /// # Safety
    /// The tower has more than `level` links.
    #[inline]
    pub(super) unsafe fn look(self, level: usize) -> Hop<'a> {
        // SAFETY: guaranteed by the caller.
        let Seen { node, span } = unsafe { self.link(level) }.look();
        let next = node.map(|node| NodeRef { node, arena: PhantomData });
        Hop { next, span: if level == 0 { Span::EMPTY } else { span } }
    }

    /// Replaces a link's span above the lowest level, if the link still is `was`; returns true if
    /// it did.
    ///
    /// # Safety
    /// The tower has more than `level` links.
    #[inline]
    pub(super) unsafe fn set_span(self, level: usize, was: Hop<'a>, span: Span) -> bool {
        // SAFETY: guaranteed by the caller.
        unsafe { self.link(level) }.change(was.seen(), Hop { span, ..was }.seen())
    }

    /// Inserts a node, not yet linked on this level, between this tower and `next`, if this link
    /// still points to `next`. Returns the link's new span. The span on the node's own link has
    /// nothing known, since a reader may already be at the node.
    ///
    /// # Safety
    /// Both towers have more than `level` links and belong to one list.
    #[inline]
    pub(super) unsafe fn insert(
        self,
        level: usize,
        node: NodeRef<'a>,
        beside: Between,
        next: Option<NodeRef<'a>>,
    ) -> Option<Span> {
        // SAFETY: guaranteed by the caller.
        let (link, link_of_node) = unsafe { (self.link(level), node.tower().link(level)) };
        // Links on the lowest level have no span.
        let seen = if level == 0 { Hop { next, span: Span::UNKNOWN }.seen() } else { link.look() };
        if seen.node != next.map(NodeRef::as_ptr) {
            return None;
        }
        let halves = if level == 0 { Span::UNKNOWN } else { seen.span.split_by(beside) };
        // Nor has a link to the end: inserting a node there determines the span.
        let span_after = if next.is_some() { halves.uncertain() } else { Span::UNKNOWN };
        link_of_node.set(Seen { span: span_after, ..seen });
        link.change(seen, Seen { node: Some(node.node), span: halves }).then_some(halves)
    }
}

/// A link as a step from a node.
#[derive(Clone, Copy)]
pub(super) struct Hop<'a> {
    pub(super) next: Option<NodeRef<'a>>,
    pub(super) span: Span,
}

impl Hop<'_> {
    fn seen(self) -> Seen {
        Seen { node: self.next.map(NodeRef::as_ptr), span: self.span }
    }
}

impl PartialEq for NodeRef<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.node == other.node
    }
}

/// Prefetches a node, with as much of the cell as usual cells have: a reader copies the whole cell.
#[inline]
pub(super) fn prefetch(node: Option<NodeRef<'_>>) {
    if let Some(node) = node {
        let start = node.node.as_ptr();
        for line in 0..3 {
            prefetch_at(start.wrapping_byte_add(64 * line));
        }
    }
}

/// Prefetches a cache line.
#[inline]
pub(super) fn prefetch_at<T>(place: *const T) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a prefetch accesses no memory, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(place.cast()) };
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = place;
}
