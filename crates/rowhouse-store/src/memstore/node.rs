//! A cell in the arena, with its links.
//!
//! ```text
//!    link h-1 │ … │ link 1 │ link 0 │ sequence │ length, height, flag │ KeyValue
//!                                   └ where pointers to the node point
//! ```
//!
//! The links lie in front, the lowest last: what a search looks at (a low link, the row) is
//! together in one or two cache lines whatever the height.

use std::cmp::Ordering;
use std::marker::PhantomData;
use std::ptr::{self, NonNull};
use std::sync::atomic::Ordering::Relaxed;

use rowhouse_model::{CellRef, Key};

use super::arena::{ALIGN, Arena};
use super::link::{Between, Link, Seen, Span};
use super::sync::{AtomicBool, Watched};

/// Links a node can have. With one node in four a level higher, a list of 4¹² (17 million) cells.
pub(super) const HEIGHT_MAX: usize = 12;

/// The fixed part. What is not atomic never changes once a link leads here.
#[repr(C)]
pub(super) struct Node {
    sequence: u64,
    len: u32,
    height: u8,
    /// What the cell lets a link over it say: beside the links, where readers who go past many look.
    beside: Between,
    /// A cell with the same key and sequence came later.
    overwritten: AtomicBool,
    plain: Watched,
}

const _: () = assert!(align_of::<Node>() <= ALIGN && align_of::<Link>() <= ALIGN);
const _: () = assert!(size_of::<Node>().is_multiple_of(align_of::<Link>()));
const _: () = assert!(size_of::<Link>().is_multiple_of(align_of::<Node>()));

/// Bytes of a KeyValue in front of the row, and what of the row is looked at first.
const ROW_OFFSET: usize = 4 + 4 + 2;
const PREFIX_LEN: usize = 8;

/// A node that a link leads to, or that its maker has finished; alive and unmoved for `'a`.
#[derive(Clone, Copy)]
pub(super) struct NodeRef<'a> {
    node: NonNull<Node>,
    arena: PhantomData<&'a Arena>,
}

impl<'a> NodeRef<'a> {
    /// Copies a cell into the arena, with `height` links that lead nowhere. Also gives back how
    /// many bytes the arena grew by.
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
        // SAFETY: the piece is ours alone, aligned, and as long as its three parts together.
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

    /// A node whose pointer was kept.
    ///
    /// # Safety
    /// `node` came of [`NodeRef::as_ptr`], and its arena lives for `'a`.
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
        // SAFETY: a `NodeRef` leads to a node that was finished before a link led to it, and that
        // lives for 'a.
        let head = unsafe { &*self.node.as_ptr() };
        head.plain.read();
        head
    }

    /// The sequence number of the mutation that wrote the cell.
    #[inline]
    pub(super) fn sequence(self) -> u64 {
        self.head().sequence
    }

    /// The cell's bytes.
    #[inline]
    pub(super) fn key_value(self) -> &'a [u8] {
        let len = self.head().len as usize;
        // SAFETY: `len` bytes behind the head were written before a link led here, and never again.
        // The pointer is the piece's own, not one made from the reference to the head.
        unsafe { std::slice::from_raw_parts(self.node.add(1).cast::<u8>().as_ptr(), len) }
    }

    /// The cell.
    #[inline]
    pub(super) fn cell(self) -> CellRef<'a> {
        CellRef::from_checked(self.key_value(), self.sequence())
    }

    /// What a link over it can say.
    #[inline]
    pub(super) fn beside(self) -> Between {
        self.head().beside
    }

    /// The cell's row.
    #[inline]
    pub(super) fn row(self) -> &'a [u8] {
        row(self.key_value())
    }

    /// The links, for going on from here.
    #[inline]
    pub(super) fn tower(self) -> Tower<'a> {
        // SAFETY: a node has one link at least, right in front of it.
        let lowest = unsafe { self.node.cast::<Link>().sub(1) };
        Tower { lowest, arena: PhantomData }
    }

    /// The next node.
    #[inline]
    pub(super) fn next(self) -> Option<Self> {
        // SAFETY: every node has a lowest link.
        unsafe { self.tower().next(0) }
    }

    /// A node some way ahead, where one is at hand.
    #[inline]
    pub(super) fn ahead(self) -> Option<Self> {
        // SAFETY: it has a second link.
        if self.height() > 1 { unsafe { self.tower().next(1) } } else { None }
    }

    /// Asks the processor for nodes that a walk comes to soon. On the lowest level one node leads to
    /// the next, and each has to be waited for; a higher link leads past some, to one that can be
    /// fetched meanwhile, and when that is here, so can what follows it.
    #[inline]
    pub(super) fn prefetch_ahead(self) {
        if let Some(ahead) = self.ahead() {
            // SAFETY: a node that a second link leads to has one.
            unsafe {
                ahead.tower().prefetch(0);
                ahead.tower().prefetch(1);
            }
        }
    }

    /// How many links it has.
    #[inline]
    pub(super) fn height(self) -> usize {
        self.head().height as usize
    }

    /// Says that the same cell was put in again.
    pub(super) fn overwrite(self) {
        self.head().overwritten.store(true, Relaxed);
    }

    /// Whether the same cell was put in again. A reader that may see the cells' sequence has been
    /// told of it after both were in, so it finds exactly one of them.
    #[inline]
    pub(super) fn is_overwritten(self) -> bool {
        self.head().overwritten.load(Relaxed)
    }

    /// How this cell compares with a place.
    #[inline]
    pub(super) fn compare(self, place: &SearchKey<'_>) -> Ordering {
        match row_prefix(self.key_value()).cmp(&place.prefix) {
            Ordering::Equal => self.compare_behind_prefix(place),
            decided => decided,
        }
    }

    /// The same where the rows' prefixes are equal, as with rows that all begin alike.
    #[inline]
    fn compare_behind_prefix(self, place: &SearchKey<'_>) -> Ordering {
        match compare_behind_prefix(row(self.key_value()), place.key.row) {
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

/// The row of a KeyValue.
#[inline]
fn row(key_value: &[u8]) -> &[u8] {
    let len = u16::from_be_bytes([key_value[8], key_value[9]]) as usize;
    &key_value[ROW_OFFSET..ROW_OFFSET + len]
}

/// Compares rows that are equal as far as their prefixes go: eight bytes at a time, since a call of
/// `memcmp` costs more than the few comparisons that rows are mostly decided by.
#[inline]
fn compare_behind_prefix(a: &[u8], b: &[u8]) -> Ordering {
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

/// [`rowhouse_model::row_prefix`] of a KeyValue's row, read at once with what lies in front of it.
#[inline]
fn row_prefix(key_value: &[u8]) -> u64 {
    let Some(head) = key_value.first_chunk::<{ ROW_OFFSET + PREFIX_LEN }>() else { return 0 };
    let len = u16::from_be_bytes([head[8], head[9]]) as usize;
    let prefix = u64::from_be_bytes(*head.last_chunk().expect("eight bytes of eighteen"));
    // What follows a short row is not the row's.
    if len >= PREFIX_LEN { prefix } else { prefix & !(u64::MAX >> (8 * len)) }
}

/// What is searched for.
pub(super) struct SearchKey<'a> {
    prefix: u64,
    key: Key<'a>,
    sequence: u64,
}

impl<'a> SearchKey<'a> {
    /// Where a cell stands, or would.
    #[inline]
    pub(super) fn new(key: Key<'a>, sequence: u64) -> Self {
        Self { prefix: rowhouse_model::row_prefix(key.row), key, sequence }
    }
}

/// The links of a node, or those that a list begins with.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Tower<'a> {
    lowest: NonNull<Link>,
    arena: PhantomData<&'a Arena>,
}

impl<'a> Tower<'a> {
    /// The links that a list begins with, the lowest last.
    pub(super) fn of_head(links: &'a [Link; HEIGHT_MAX]) -> Self {
        // Made from the whole array, so that all of it can be reached.
        let links = NonNull::from(links).cast::<Link>();
        // SAFETY: the last of `HEIGHT_MAX`.
        Self { lowest: unsafe { links.add(HEIGHT_MAX - 1) }, arena: PhantomData }
    }

    /// The link of a level.
    ///
    /// # Safety
    /// The tower has more than `level` links.
    #[inline]
    unsafe fn link(self, level: usize) -> &'a Link {
        // SAFETY: links lie below each other in memory; the caller says that there are so many.
        // They were written before a link led here and are atomic.
        unsafe { self.lowest.sub(level).as_ref() }
    }

    /// The next node of a level.
    ///
    /// # Safety
    /// The tower has more than `level` links.
    #[inline]
    pub(super) unsafe fn next(self, level: usize) -> Option<NodeRef<'a>> {
        // SAFETY: as the caller says.
        let node = unsafe { self.link(level) }.node()?;
        Some(NodeRef { node, arena: PhantomData })
    }

    /// Asks the processor to have the next node of a level at hand soon.
    ///
    /// # Safety
    /// The tower has more than `level` links.
    #[inline]
    pub(super) unsafe fn prefetch(self, level: usize) {
        // SAFETY: as the caller says.
        prefetch_at(unsafe { self.link(level) }.address());
    }

    /// The next node of a level, and what lies between.
    ///
    /// # Safety
    /// The tower has more than `level` links.
    #[inline]
    pub(super) unsafe fn look(self, level: usize) -> Hop<'a> {
        // SAFETY: as the caller says.
        let Seen { node, span } = unsafe { self.link(level) }.look();
        let next = node.map(|node| NodeRef { node, arena: PhantomData });
        Hop { next, span: if level == 0 { Span::EMPTY } else { span } }
    }

    /// Has the link of a level above the lowest say something else, if it is as it was.
    ///
    /// # Safety
    /// The tower has more than `level` links.
    #[inline]
    pub(super) unsafe fn say(self, level: usize, was: Hop<'a>, span: Span) -> bool {
        // SAFETY: as the caller says.
        unsafe { self.link(level) }.change(was.seen(), Hop { span, ..was }.seen())
    }

    /// Has the link of a node that nobody knows on this level lead to `next`, and this one's to the node, if it still leads
    /// to `next`. Gives what this one says then; that of the node says nothing for certain, since a reader can be there
    /// already.
    ///
    /// # Safety
    /// Both towers have more than `level` links, and are of one list.
    #[inline]
    pub(super) unsafe fn insert(
        self,
        level: usize,
        node: NodeRef<'a>,
        beside: Between,
        next: Option<NodeRef<'a>>,
    ) -> Option<Span> {
        // SAFETY: as the caller says.
        let (link, link_of_node) = unsafe { (self.link(level), node.tower().link(level)) };
        // The lowest links have nothing to say.
        let seen = if level == 0 { Hop { next, span: Span::UNKNOWN }.seen() } else { link.look() };
        if seen.node != next.map(NodeRef::as_ptr) {
            return None;
        }
        let halves = if level == 0 { Span::UNKNOWN } else { seen.span.split_by(beside) };
        // Nor has one that leads nowhere: it is for whoever comes there to find out.
        let behind = if next.is_some() { halves.uncertain() } else { Span::UNKNOWN };
        link_of_node.set(Seen { span: behind, ..seen });
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

/// Asks the processor to have a node at hand soon.
#[inline]
pub(super) fn prefetch(node: Option<NodeRef<'_>>) {
    if let Some(node) = node {
        prefetch_at(node.node.as_ptr());
    }
}

#[inline]
fn prefetch_at(node: *const Node) {
    #[cfg(all(target_arch = "x86_64", not(miri)))]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: prefetching touches nothing, whatever the address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(node.cast()) };
    }
    #[cfg(not(all(target_arch = "x86_64", not(miri))))]
    let _ = node;
}
