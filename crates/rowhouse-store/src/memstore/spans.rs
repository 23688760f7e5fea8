//! What links above the lowest level say of the cells they lead over, while cells come.
//!
//! A reader goes over a link that says `Markers` or `Versions` without looking at what lies between. So no link may say
//! more than is true over a cell whose writer is done. A writer goes up the levels, and on each it does one of two things:
//!
//! - It *links* its node, on the levels that it has. A marker's writer keeps what was known of the whole link, and has both
//!   halves say with the same exchange that more is possible. Then it looks: it goes along each half one level below, and
//!   takes the least of what it finds. Of the half that leads on from the node nothing is certain before that: a reader who
//!   comes by a lower level sees that link before the node is linked by it, when nobody can lower it.
//! - It *lowers* the link over its node to what the node allows, on the levels above; also what is only possible.
//!
//! **What was lowered stays so.** Say P was linked or has lowered on a level; then whatever link is over P on that level has
//! no more *known* than P allows, for ever. By induction over levels; on the lowest P is linked. A split keeps what was
//! known at that moment, and a link of which more is possible belongs to the one that split there last, N: pointers of a
//! link only ever change to nearer nodes, so there is no other link for which N's last exchange could take it. If P looked
//! after N's split, it lowered what is possible, and N goes by that. If P looked before, then P was done one level below
//! before N looked there, and there N meets P itself, or a link over it that has no more known than P allows; what is
//! not certain yet N does not take for known.
//!
//! That one of the two sees the other asks for one order of what both do: P links below and looks above, N splits above and
//! looks below. Hence `SeqCst` for links, wherever they change and are followed. Readers need less: what a writer that is done
//! has seen or changed happened before they read.
//!
//! P goes on to the first level on which nothing is behind it. A node is linked there only after that, so its writer sees
//! what P has left below. Where there are no markers at all no link has anything known, and a writer that finds none behind
//! linking its node is done: the first marker says that it is there before it is linked anywhere.

use std::cmp::Ordering;

use super::link::Between;
use super::node::{NodeRef, SearchKey, Tower};
use super::sync::fence;

/// How often a link is looked at of which somebody is finding out more: they have a few nodes to look at.
const LOOKS_MAX: usize = if cfg!(loom) { 1 } else { 64 };

/// Finds out what lies in both halves of a link that was just split by a marker. So much was `known` of the whole.
///
/// # Safety
/// `before` leads to `node` on `level`, which is not the lowest, and `node` to `next`, or did when it was linked.
#[inline(never)]
pub(super) unsafe fn find_out<'a>(
    before: Tower<'a>,
    level: usize,
    node: NodeRef<'a>,
    next: Option<NodeRef<'a>>,
    known: Between,
) {
    fence();
    // SAFETY: as the caller says.
    unsafe {
        find_out_half(before, level, node, known);
        if let Some(next) = next {
            find_out_half(node.tower(), level, next, known);
        }
    }
}

/// # Safety
/// `before` leads to `node` on `level`, which is not the lowest, or did.
unsafe fn find_out_half<'a>(before: Tower<'a>, level: usize, node: NodeRef<'a>, known: Between) {
    let found = match known {
        Between::Versions => known,
        // SAFETY: a tower that has a level has the one below, and what is linked on a level is linked below.
        _ => unsafe { least_between(before, level - 1, node, known) },
    };
    loop {
        // SAFETY: as the caller says.
        let step = unsafe { before.look(level) };
        // Whoever splits the link has taken it over; whoever lowers it has not.
        if step.next != Some(node) || !step.span.is_open() {
            return;
        }
        // SAFETY: as above.
        if unsafe { before.say(level, step, step.span.found(found)) } {
            return;
        }
    }
}

/// What lies between a tower and a node, by the links of a level; `known` at least.
///
/// # Safety
/// The links of `level` lead from `before` to `node`.
unsafe fn least_between<'a>(
    mut before: Tower<'a>,
    level: usize,
    node: NodeRef<'a>,
    known: Between,
) -> Between {
    let mut least = Between::Versions;
    loop {
        // SAFETY: a tower that was reached on this level.
        let look = || unsafe { before.look(level) };
        let mut step = look();
        for _ in 1..LOOKS_MAX {
            if !step.span.is_open() {
                break;
            }
            std::hint::spin_loop();
            step = look();
        }
        least = least.min(step.span.known);
        let Some(next) = step.next.filter(|_| least > known) else { return known };
        if next == node {
            return least;
        }
        least = least.min(next.beside());
        before = next.tower();
    }
}

/// Lowers the link over a node that is linked on all levels below, and not on this one. `behind` is a node that is known to
/// come behind it. Whether there is one on this level.
///
/// # Safety
/// `before` has more than `level` links, and stands before `place`, where the node is.
pub(super) unsafe fn lower<'a>(
    mut before: Tower<'a>,
    level: usize,
    place: &SearchKey<'_>,
    behind: Option<NodeRef<'a>>,
    beside: Between,
) -> bool {
    fence();
    loop {
        // SAFETY: as the caller says at first; then a tower that was reached on this level.
        let step = unsafe { before.look(level) };
        let Some(next) = step.next else { return false };
        if step.next != behind && next.compare(place) == Ordering::Less {
            before = next.tower();
            continue;
        }
        let span = step.span.over(beside);
        // SAFETY: as above.
        if span == step.span || unsafe { before.say(level, step, span) } {
            return true;
        }
    }
}

/// What a link says lies between its ends, and what does.
#[cfg(test)]
pub(super) struct Said<'a> {
    pub(super) from: rowhouse_model::CellRef<'a>,
    pub(super) to: rowhouse_model::CellRef<'a>,
    pub(super) said: Between,
    pub(super) between: Between,
}

/// What each link between nodes says, when no writer is at work.
#[cfg(test)]
pub(super) fn said_by_links(list: &super::skip_list::SkipList) -> Vec<Said<'_>> {
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
            links.push(Said {
                from: node.cell(),
                to: next.cell(),
                said: step.span.known,
                between: between.unwrap_or(Between::Versions),
            });
        }
    }
    links
}
