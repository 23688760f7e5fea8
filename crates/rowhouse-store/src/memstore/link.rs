//! A link between two nodes: where it leads, and what is known of the cells it leads over.

use std::ptr::{self, NonNull};
use std::sync::atomic::Ordering::{Relaxed, Release, SeqCst};

use rowhouse_model::CellKind;

use super::node::Node;
use super::sync::AtomicPtr;

/// Leads to the next node of a level; null behind the last. The low bits of the pointer say what lies between, so that
/// both change at once.
#[derive(Default)]
pub(super) struct Link(AtomicPtr<Node>);

/// What lies strictly between the ends of a link; each is part of the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Between {
    Anything,
    /// Markers of columns and of versions, or nothing.
    Markers,
    /// Markers of versions, or nothing.
    Versions,
}

/// What a link says of what lies between its ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    /// This is certain.
    pub(super) known: Between,
    /// At least [`Span::known`]. Where it is more, whoever set the link is finding out whether it is so much.
    pub(super) possible: Between,
}

/// A link at some moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) node: Option<NonNull<Node>>,
    pub(super) span: Span,
}

/// The bits of a pointer that are not the pointer's: nodes are aligned to more than this.
const SPAN_BITS: usize = 0b111;

const _: () = assert!(align_of::<Node>() > SPAN_BITS);

impl Between {
    /// What a cell of this kind lets a link over it say.
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
    /// Nothing is known, and nobody looks.
    pub(super) const UNKNOWN: Self = Self::of(Between::Anything);
    /// There is nothing.
    pub(super) const EMPTY: Self = Self::of(Between::Versions);

    /// By their bits; two of them are of none.
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

    /// Whether somebody is still finding out.
    #[inline]
    pub(super) fn is_open(self) -> bool {
        self.known != self.possible
    }

    /// What is left to say of both halves when a node is put between, which is itself part of neither. A marker's writer may
    /// find out more; beside anything else nobody asks.
    #[inline]
    pub(super) fn split_by(self, node: Between) -> Self {
        match node {
            Between::Anything => Self::UNKNOWN,
            Between::Markers | Between::Versions => Self { possible: Between::Versions, ..self },
        }
    }

    /// The same as long as nothing is certain.
    #[inline]
    pub(super) fn uncertain(self) -> Self {
        Self { known: Between::Anything, ..self }
    }

    /// What is left to say over a cell that allows so much.
    #[inline]
    pub(super) fn over(self, cell: Between) -> Self {
        Self { known: self.known.min(cell), possible: self.possible.min(cell) }
    }

    /// What is known when so much was found.
    #[inline]
    pub(super) fn found(self, found: Between) -> Self {
        Self::of(self.known.max(self.possible.min(found)))
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
    /// The node that it leads to. Acquire would do for readers, since whoever linked the node released it; a writer's way to
    /// its place is part of the one order that `spans` asks for.
    #[inline]
    pub(super) fn node(&self) -> Option<NonNull<Node>> {
        let word = self.0.load(SeqCst);
        NonNull::new(if word.addr() & SPAN_BITS == 0 { word } else { without_span(word) })
    }

    /// An address in what is looked at first of the node that it leads to, if any: to have it at hand soon.
    #[inline]
    pub(super) fn address(&self) -> *const Node {
        self.0.load(Relaxed)
    }

    /// The node that it leads to and what lies between, in the order that all agree on who look and change.
    #[inline]
    pub(super) fn look(&self) -> Seen {
        Seen::of(self.0.load(SeqCst))
    }

    /// Sets a link of a node that nobody knows on its level. With release, since a walk on a lower level can be there
    /// already and go on over this link.
    #[inline]
    pub(super) fn set(&self, to: Seen) {
        self.0.store(to.word(), Release);
    }

    /// Changes it if it is as it was seen.
    #[inline]
    pub(super) fn change(&self, from: Seen, to: Seen) -> bool {
        self.0.compare_exchange(from.word(), to.word(), SeqCst, Relaxed).is_ok()
    }
}

/// Kept away from where it is called: a search waits for one address after the other, and where no markers are it need not
/// wait for this too, which is 8 % of a get.
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
    fn what_is_said_fits_into_the_bits_of_a_pointer() {
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
                assert!(!span.found(of).is_open() && span.found(of).known >= span.known);
                assert!(span.found(of).known <= of.max(span.known).min(span.possible));
                assert!(span.split_by(of).known <= span.known);
                assert_eq!(span.split_by(of).uncertain().known, Anything);
            }
        }
        assert!(Span::UNKNOWN.split_by(Markers).is_open());
        assert!(!Span::EMPTY.split_by(Versions).is_open());
    }
}
