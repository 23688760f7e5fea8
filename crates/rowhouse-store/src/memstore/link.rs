//! A link between two nodes, with a span that bounds which cell kinds it skips.

use std::ptr::{self, NonNull};
use std::sync::atomic::Ordering::{Relaxed, Release, SeqCst};

use rowhouse_model::CellKind;

use super::node::Node;
use super::sync::AtomicPtr;

/// The pointer to the next node on a level; null after the last. The low bits hold the span, so
/// that both change atomically.
#[derive(Default)]
pub(super) struct Link(AtomicPtr<Node>);

/// A bound on the cell kinds strictly between a link's ends. Each variant admits a subset of the
/// one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Between {
    Anything,
    /// Only column and version markers, or nothing.
    Markers,
    /// Only version markers, or nothing.
    Versions,
}

/// The bound that a link states for the cells between the ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    /// The bound that is certain.
    pub(super) known: Between,
    /// At least [`Span::known`]. If it is more, the writer that set the link is still determining
    /// the bound.
    pub(super) possible: Between,
}

/// A link's value when it was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) node: Option<NonNull<Node>>,
    pub(super) span: Span,
}

/// The pointer's low bits that hold the span: nodes are aligned to more than this.
const SPAN_BITS: usize = 0b111;

const _: () = assert!(align_of::<Node>() > SPAN_BITS);

impl Between {
    /// Returns the highest bound that a link over a cell of this kind may state.
    #[inline]
    pub(super) fn beside(kind: u8) -> Self {
        const COLUMN: u8 = CellKind::DeleteColumn.code();
        const VERSION: u8 = CellKind::DeleteVersion.code();
        match kind {
            VERSION => Self::Versions,
            COLUMN => Self::Markers,
            _ => Self::Anything,
        }
    }
}

impl Span {
    /// Nothing is known, and no writer is determining the bound.
    pub(super) const UNKNOWN: Self = Self::of(Between::Anything);
    /// There is no cell in between.
    pub(super) const EMPTY: Self = Self::of(Between::Versions);

    /// Spans by their bits; two bit patterns are unused.
    const ALL: [Self; 8] = {
        use Between::{Anything, Markers, Versions};
        [
            Self::UNKNOWN,
            Self { known: Anything, possible: Markers },
            Self { known: Anything, possible: Versions },
            Self::of(Markers),
            Self { known: Markers, possible: Versions },
            Self::UNKNOWN,
            Self::EMPTY,
            Self::UNKNOWN,
        ]
    };

    const fn of(known: Between) -> Self {
        Self { known, possible: known }
    }

    #[inline]
    fn from_bits(bits: usize) -> Self {
        Self::ALL[bits & SPAN_BITS]
    }

    #[inline]
    fn bits(self) -> usize {
        self.known as usize * 2 + self.possible as usize
    }

    /// Whether a writer is still determining the bound.
    #[inline]
    pub(super) fn is_open(self) -> bool {
        self.known != self.possible
    }

    /// Returns the span for both halves after a node is inserted between; the node itself is in
    /// neither half. After inserting a marker the writer may determine more; after any other cell
    /// the span is never used.
    #[inline]
    pub(super) fn split_by(self, node: Between) -> Self {
        match node {
            Between::Anything => Self::UNKNOWN,
            Between::Markers | Between::Versions => Self { possible: Between::Versions, ..self },
        }
    }

    /// Returns the span with nothing known yet.
    #[inline]
    pub(super) fn uncertain(self) -> Self {
        Self { known: Between::Anything, ..self }
    }

    /// Returns the span lowered to the bound `cell` that a cell allows.
    #[inline]
    pub(super) fn over(self, cell: Between) -> Self {
        Self { known: self.known.min(cell), possible: self.possible.min(cell) }
    }

    /// Returns the span after a scan that determined `bound`.
    #[inline]
    pub(super) fn with_bound(self, bound: Between) -> Self {
        Self::of(self.known.max(self.possible.min(bound)))
    }
}

impl Seen {
    #[inline]
    fn of(word: *mut Node) -> Self {
        Self { node: NonNull::new(without_span(word)), span: Span::from_bits(word.addr()) }
    }

    #[inline]
    fn word(self) -> *mut Node {
        let node = self.node.map_or(ptr::null_mut(), NonNull::as_ptr);
        node.map_addr(|addr| addr | self.span.bits())
    }
}

impl Link {
    /// Returns the node it points to. Acquire would suffice for readers, since the writer that
    /// linked the node released it; a writer's search must take part in the total order that
    /// `spans` requires.
    #[inline]
    pub(super) fn node(&self) -> Option<NonNull<Node>> {
        let word = self.0.load(SeqCst);
        NonNull::new(if word.addr() & SPAN_BITS == 0 { word } else { without_span(word) })
    }

    /// Returns an address in the part that is read first in the next node, for prefetching; null if
    /// there is none.
    #[inline]
    pub(super) fn address(&self) -> *const Node {
        self.0.load(Relaxed)
    }

    /// Reads the node and the span, in the total order of all link reads and changes.
    #[inline]
    pub(super) fn look(&self) -> Seen {
        Seen::of(self.0.load(SeqCst))
    }

    /// Sets a link in a node that is not linked on that level. Uses release, since a walk on a
    /// lower level may already be at the node and follow this link.
    #[inline]
    pub(super) fn set(&self, to: Seen) {
        self.0.store(to.word(), Release);
    }

    /// Changes the link if it still is `from`; returns true if it did.
    #[inline]
    pub(super) fn change(&self, from: Seen, to: Seen) -> bool {
        self.0.compare_exchange(from.word(), to.word(), SeqCst, Relaxed).is_ok()
    }
}

/// Kept out of line: a search waits for one address after the other, and without markers it need
/// not wait for this mask as well, which would be 8 % of a get.
#[cold]
#[inline(never)]
fn without_span(word: *mut Node) -> *mut Node {
    word.map_addr(|addr| addr & !SPAN_BITS)
}

#[cfg(test)]
#[cfg(not(loom))]
mod tests {
    use super::Between::{Anything, Markers, Versions};
    use super::*;

    fn spans() -> impl Iterator<Item = Span> {
        let each = [Anything, Markers, Versions];
        let all = each
            .into_iter()
            .flat_map(move |known| each.into_iter().map(move |possible| Span { known, possible }));
        all.filter(|span| span.known <= span.possible)
    }

    #[test]
    fn spans_fit_into_the_bits_of_a_pointer() {
        assert_eq!(Seen::of(ptr::null_mut()).span, Span::UNKNOWN);
        for span in spans() {
            assert!(span.bits() <= SPAN_BITS);
            assert_eq!(Span::from_bits(span.bits()), span);
        }
    }

    #[test]
    fn a_span_says_no_more_than_is_certain_and_no_more_than_a_cell_in_it_allows() {
        for span in spans() {
            for of in [Anything, Markers, Versions] {
                assert!(span.over(of).known <= of && span.over(of).possible <= of);
                assert!(!span.with_bound(of).is_open() && span.with_bound(of).known >= span.known);
                assert!(span.with_bound(of).known <= of.max(span.known).min(span.possible));
                assert!(span.split_by(of).known <= span.known);
                assert_eq!(span.split_by(of).uncertain().known, Anything);
            }
        }
        assert!(Span::UNKNOWN.split_by(Markers).is_open());
        assert!(!Span::EMPTY.split_by(Versions).is_open());
    }
}
