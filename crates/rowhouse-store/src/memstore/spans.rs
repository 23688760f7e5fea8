//! The spans on links above the lowest level, kept valid under concurrent inserts.
//!
//! A cell's bound is the highest [`Between`] that a link over it may state. A reader follows a link
//! with the bound `Markers` or `Versions` without looking at the cells in between. So a link's
//! bound must never exceed the bound for any cell in between whose insert is complete. An insert
//! goes up the levels, and on each it does one of two things:
//!
//! - On the levels where its node belongs it *links* the node. A marker's insert keeps the `known`
//!   bound on the link it splits and, in the same exchange, sets a higher `possible` bound for both
//!   halves. Then it scans each half one level below and takes the minimum over the bounds it
//!   finds. The half after the node has nothing known before that scan: a reader coming from a
//!   lower level sees that link before the node is linked on its level, when no other insert can
//!   lower it.
//! - On the levels above it *lowers* the link over the node to the node's bound, both `known` and
//!   `possible`.
//!
//! **A lowered bound stays lowered.** Let P be an insert that has linked its node on a level or
//! lowered the link there. From then on the `known` bound on the link over P on that level never
//! exceeds P's bound. The proof is by induction over levels; on the lowest level P is linked. A
//! split keeps the `known` bound from that time. A link with a higher `possible` bound belongs to
//! the insert N that last split it: a link's pointer only ever changes to nearer nodes, so N's last
//! exchange cannot succeed on another link. If P read the link after N's split, P lowered
//! `possible`, and N respects that. If P read it before, then P was done one level below before N
//! scanned there, and N's scan meets P itself, or a link over it whose `known` bound does not
//! exceed P's bound; N ignores bounds that are only possible.
//!
//! For one of the two to see the other, their accesses need a total order: P links below and reads
//! above, N splits above and reads below. Hence `SeqCst` for links, where they are changed and
//! where they are followed. Readers need less: everything a completed insert read or changed
//! happened before they read.
//!
//! P continues to the first level that has no node after it. A node is linked there only later, so
//! the node's insert sees the result of P on the levels below. Without markers no link has a known
//! bound, and an insert that sees no marker after it has linked a node is done: the first marker
//! sets `has_markers` before it is linked anywhere.

use std::cmp::Ordering;

use super::link::Between;
use super::node::{NodeRef, SearchKey, Tower};
use super::sync::fence;

/// How often an insert reads a link whose bound another insert is still determining; that insert
/// has only a few nodes to scan.
const READS_MAX: usize = if cfg!(loom) { 1 } else { 64 };

/// Determines the spans for both halves after a marker has just split a link. `known` is the bound
/// on the whole link.
///
/// # Safety
/// `before` points to `node` on `level`, which is not the lowest, and `node` points to `next`, or
/// did when it was linked.
#[inline(never)]
pub(super) unsafe fn determine<'a>(
    before: Tower<'a>,
    level: usize,
    node: NodeRef<'a>,
    next: Option<NodeRef<'a>>,
    known: Between,
) {
    fence();
    // SAFETY: guaranteed by the caller.
    unsafe {
        determine_half(before, level, node, known);
        if let Some(next) = next {
            determine_half(node.tower(), level, next, known);
        }
    }
}

/// Determines the span on the link from `before` to `node`, unless another insert has split it.
///
/// # Safety
/// `before` points to `node` on `level`, which is not the lowest, or did.
unsafe fn determine_half<'a>(before: Tower<'a>, level: usize, node: NodeRef<'a>, known: Between) {
    let bound = match known {
        Between::Versions => known,
        // SAFETY: a tower with a level has the one below, and a node linked on a level is linked
        // below.
        _ => unsafe { least_between(before, level - 1, node, known) },
    };
    loop {
        // SAFETY: guaranteed by the caller.
        let step = unsafe { before.look(level) };
        // An insert that splits the link takes over this task; one that lowers it does not.
        if step.next != Some(node) || !step.span.is_open() {
            return;
        }
        // SAFETY: as above.
        if unsafe { before.set_span(level, step, step.span.with_bound(bound)) } {
            return;
        }
    }
}

/// Returns the bound for the cells between a tower and a node, according to the links on a level;
/// at least `known`.
///
/// # Safety
/// The links on `level` lead from `before` to `node`.
unsafe fn least_between<'a>(
    mut before: Tower<'a>,
    level: usize,
    node: NodeRef<'a>,
    known: Between,
) -> Between {
    let mut least = Between::Versions;
    loop {
        // SAFETY: the tower was reached on this level.
        let look = || unsafe { before.look(level) };
        let mut step = look();
        for _ in 1..READS_MAX {
            if !step.span.is_open() {
                break;
            }
            std::hint::spin_loop();
            step = look();
        }
        least = least.min(step.span.known);
        // Once a link has no higher bound than `known`, the rest of the scan cannot raise it.
        let Some(next) = step.next.filter(|_| least > known) else { return known };
        if next == node {
            return least;
        }
        least = least.min(next.beside());
        before = next.tower();
    }
}

/// Lowers the link over a node that is linked on all levels below but not on this one. `after` is
/// a node known to be after it. Returns true if there is such a link on this level.
///
/// # Safety
/// `before` has more than `level` links and is before `place`, the node's position.
pub(super) unsafe fn lower<'a>(
    mut before: Tower<'a>,
    level: usize,
    place: &SearchKey<'_>,
    after: Option<NodeRef<'a>>,
    beside: Between,
) -> bool {
    fence();
    loop {
        // SAFETY: guaranteed by the caller at first; then a tower reached on this level.
        let step = unsafe { before.look(level) };
        let Some(next) = step.next else { return false };
        if step.next != after && next.compare(place) == Ordering::Less {
            before = next.tower();
            continue;
        }
        let span = step.span.over(beside);
        // SAFETY: as above.
        if span == step.span || unsafe { before.set_span(level, step, span) } {
            return true;
        }
    }
}

/// A link's known bound and the actual bound for the cells it skips.
#[cfg(test)]
pub(super) struct LinkBounds<'a> {
    pub(super) from: rowhouse_model::CellRef<'a>,
    pub(super) to: rowhouse_model::CellRef<'a>,
    pub(super) known: Between,
    pub(super) between: Between,
}

/// Returns both bounds for each link between nodes. No writer may be active.
#[cfg(test)]
pub(super) fn link_bounds(list: &super::skip_list::SkipList) -> Vec<LinkBounds<'_>> {
    let nodes: Vec<_> = std::iter::successors(list.first(), |node| node.next()).collect();
    let mut links = Vec::new();
    for (at, node) in nodes.iter().enumerate() {
        for level in 1..node.height() {
            // SAFETY: the node has more than `level` links.
            let step = unsafe { node.tower().look(level) };
            let Some(next) = step.next else { continue };
            assert!(!step.span.is_open());
            let to = at + nodes[at..].iter().position(|node| *node == next).expect("links lead on");
            let between = nodes[at + 1..to].iter().map(|node| node.beside()).min();
            links.push(LinkBounds {
                from: node.cell(),
                to: next.cell(),
                known: step.span.known,
                between: between.unwrap_or(Between::Versions),
            });
        }
    }
    links
}
