//! From a delete marker past those behind it, over links that say that nothing else lies between.

use rowhouse_format::hfile::OwnedKey;
use rowhouse_model::{CellKind, Key, equal_bytes};

use super::MemstoreCursor;
use super::cursor::place;
use super::link::Between;
use super::node::NodeRef;

impl MemstoreCursor {
    /// Where the run ends that this stands in.
    pub(crate) fn run_end(&self) -> Option<OwnedKey> {
        let node = self.node().filter(|node| node.beside() > Between::Anything)?;
        behind_markers(node, None).as_ref().map(OwnedKey::new)
    }

    /// As [`Cells::pass_markers`], but none that may cover `bound`, a cell of another source.
    ///
    /// [`Cells::pass_markers`]: crate::cells::Cells::pass_markers
    pub(crate) fn pass_markers_to(&mut self, bound: Option<&Key<'_>>) -> bool {
        let Some(key) = self.node().and_then(|node| behind_markers(node, bound)) else {
            return false;
        };
        let found = self.memstore().cells.seek(&place(&key)).map(NodeRef::as_ptr);
        self.stand_at(found);
        true
    }
}

/// Where to go on from a marker that a reader has judged: in front of the first one behind it that may matter to what is
/// behind the run, or to `bound`. `None` where there is nothing in between.
///
/// Markers of columns cover in their own column, those of versions at their own timestamp as well. A whole column is what
/// the one here covers in its own, unless it may have expired.
pub(super) fn behind_markers<'a>(here: NodeRef<'a>, bound: Option<&Key<'_>>) -> Option<Key<'a>> {
    let cell = here.cell();
    let covers_column = cell.key.kind == CellKind::DeleteColumn.code() && cell.tags.is_empty();
    let (last, between) = last_marker(here, Between::Markers, bound)?;
    let same_column = equal_bytes(last.qualifier, cell.key.qualifier);
    let last = match between {
        Between::Versions => last,
        _ if !same_column => return Some(Key::column_start(last.row, last.family, last.qualifier)),
        _ if covers_column => last,
        // Some of them cover what is older, so they have to be judged.
        _ => last_marker(here, Between::Versions, bound)?.0,
    };
    // Of several at one timestamp the first may be the only one that covers: others may have expired.
    Some(Key { kind: u8::MAX, ..last }).filter(|key| *key > cell.key)
}

/// The last cell of the row, not behind `bound`, up to which there is nothing but markers that allow a link to say `least`;
/// and what all of them allow.
fn last_marker<'a>(
    from: NodeRef<'a>,
    least: Between,
    bound: Option<&Key<'_>>,
) -> Option<(Key<'a>, Between)> {
    let row = from.cell().key.row;
    let goes_on = |node: NodeRef<'_>| {
        let key = node.cell().key;
        node.beside() >= least
            && equal_bytes(key.row, row)
            && bound.is_none_or(|bound| key <= *bound)
    };
    let mut last = None;
    while let Some((node, between)) = step(last.map_or(from, |(node, _)| node), least, goes_on) {
        let all = last.map_or(Between::Versions, |(_, all)| all);
        last = Some((node, all.min(between).min(node.beside())));
    }
    last.map(|(node, all)| (node.cell().key, all))
}

/// As far as one link leads that says enough, if it `goes_on` from there; and what it says.
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
