//! Skips runs of delete markers over links whose spans show that nothing else lies between.

use rowhouse_format::hfile::OwnedKey;
use rowhouse_model::{CellKind, Key, equal_bytes};

use super::MemstoreCursor;
use super::cursor::place;
use super::link::Between;
use super::node::NodeRef;

impl MemstoreCursor {
    /// Returns where the run at the cursor's position ends.
    pub(crate) fn run_end(&self) -> Option<OwnedKey> {
        let node = self.node().filter(|node| node.beside() > Between::Anything)?;
        after_markers(node, false, None).map(|(key, _)| OwnedKey::new(&key))
    }

    /// As [`Cells::skip_markers`], but skips no marker that may cover `bound`, a cell from another
    /// source.
    ///
    /// [`Cells::skip_markers`]: crate::cells::Cells::pass_markers
    pub(crate) fn pass_markers_to(&mut self, bound: Option<&Key<'_>>) -> bool {
        let Some((key, near)) = self.node().and_then(|node| after_markers(node, true, bound))
        else {
            return false;
        };
        let node = self.memstore().cells.seek_near(near, &place(&key)).map(NodeRef::as_ptr);
        self.stand_at(node);
        true
    }
}

/// Returns the key at which to continue from a marker, and a node near it: before the first later
/// marker that may cover a cell after the run, or `bound`. Returns `None` if that skips nothing.
///
/// Column markers cover only cells in the same column, version markers only cells in the same
/// column and at the same timestamp. A column marker that the reader has already matched (`judged`)
/// covers the rest of the column, unless it may have expired.
pub(super) fn after_markers<'a>(
    here: NodeRef<'a>,
    judged: bool,
    bound: Option<&Key<'_>>,
) -> Option<(Key<'a>, NodeRef<'a>)> {
    let cell = here.cell();
    let is_of_column = cell.key.kind == CellKind::DeleteColumn.code();
    let covers_column = is_of_column && cell.tags.is_empty();
    let run = Run::from(here, Between::Markers, bound)?;
    let last = run.last.cell().key;
    let same_column = equal_bytes(last.qualifier, cell.key.qualifier);
    if same_column && is_of_column && !judged {
        return None;
    }
    if run.all != Between::Versions && !same_column {
        return Some((Key::column_start(last.row, last.family, last.qualifier), run.before));
    }
    let run = match run.all {
        // Some markers cover older cells, so they must be matched.
        Between::Markers if !covers_column => Run::from(here, Between::Versions, bound)?,
        _ => run,
    };
    // Of several markers at one timestamp, the first may be the only one that covers: others may
    // have expired.
    let key = Key { kind: u8::MAX, ..run.last.cell().key };
    (key > cell.key).then_some((key, run.before))
}

/// A run of markers after a cell.
struct Run<'a> {
    last: NodeRef<'a>,
    /// A marker before the last, or the cell itself.
    before: NodeRef<'a>,
    /// The highest bound that a link over all markers could state.
    all: Between,
}

impl<'a> Run<'a> {
    /// Returns the run after `start` in the same row, up to `bound`, as far as each marker allows
    /// the span `least`.
    fn from(start: NodeRef<'a>, least: Between, bound: Option<&Key<'_>>) -> Option<Self> {
        let row = start.row();
        let goes_on = |node: NodeRef<'_>| {
            node.beside() >= least
                && equal_bytes(node.row(), row)
                && bound.is_none_or(|bound| node.cell().key <= *bound)
        };
        let mut run = Self { last: start, before: start, all: Between::Versions };
        while let Some((node, between)) = step(run.last, least, goes_on) {
            let all = run.all.min(between).min(node.beside());
            run = Self { last: node, before: run.last, all };
        }
        (run.last != start).then_some(run)
    }
}

/// Follows the highest link whose span is at least `least` and whose target satisfies `goes_on`;
/// returns the target and the span.
fn step<'a>(
    from: NodeRef<'a>,
    least: Between,
    goes_on: impl Fn(NodeRef<'a>) -> bool,
) -> Option<(NodeRef<'a>, Between)> {
    (0..from.height()).rev().find_map(|level| {
        // SAFETY: the node has more than `level` links.
        let step = unsafe { from.tower().look(level) };
        let between = step.span.known;
        let node = step.next.filter(|&node| between >= least && goes_on(node))?;
        Some((node, between))
    })
}

#[cfg(test)]
#[cfg(not(loom))]
mod tests;
