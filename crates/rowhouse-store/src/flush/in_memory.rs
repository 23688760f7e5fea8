//! Rewrites the memstore of an index in memory without the entries that no row has any more: what a
//! flush and a major compaction are for other families.
//!
//! Writers go on meanwhile. The timestamps of an entry only grow, so a marker that is dropped with
//! what it covers uncovers nothing that is written later. Open readers go on in the old memstore,
//! which counts as index memory until the last of them ends; they never continue in the new one.

use std::sync::Arc;

use rowhouse_model::{Cell, Key, Result};

use crate::cells::Cells;
use crate::compact::CompactionFilter;
use crate::compaction_policy::CompactionKind;
use crate::engine::Engine;
use crate::family::{FamilyStore, InMemory};
use crate::memstore::{Memstore, MemstoreCursor};
use crate::read::{Merge, Source};

/// Cells that are inserted together.
const CELLS_AT_ONCE: usize = 1024;

/// Rewrites the memstore if enough of it can be freed. The caller holds `family.flushing`.
///
/// Without room for the new memstore beside the old one, the old one stays.
pub(super) fn rewrite(engine: &Engine, family: &FamilyStore, in_memory: &InMemory) -> Result<()> {
    if !in_memory.is_rewrite_due(family.active().bytes()) {
        return Ok(());
    }
    let rewritten = {
        let _latch = engine.freeze_latch.write();
        in_memory.reset_garbage();
        family.begin_rewrite(in_memory)
    };
    let memstores = family.super_version().frozen.clone();
    let Some(readable_from) = copy(engine, family, &memstores, &rewritten)? else { return Ok(()) };
    let _latch = engine.freeze_latch.write();
    if family.is_dropped() {
        return Ok(());
    }
    // The few cells that were written meanwhile.
    let mut written = MemstoreCursor::new(family.active(), &Key::row_start(b""));
    while let Some(cell) = written.cell() {
        rewritten.count(rewritten.insert(&cell.to_cell().as_bytes()[..], cell.sequence));
        written.advance();
    }
    family.end_rewrite(rewritten, readable_from);
    Ok(())
}

/// Copies the cells that a new reader can see. Returns the lowest sequence at which none is missing;
/// `None` if they have no room.
fn copy(
    engine: &Engine,
    family: &FamilyStore,
    memstores: &[Arc<Memstore>],
    rewritten: &Memstore,
) -> Result<Option<u64>> {
    let last = memstores.iter().map(|memstore| memstore.last_sequence()).max().unwrap_or(0);
    let now_millis = engine.timestamps.now_millis();
    let mut keep =
        CompactionFilter::of_family(CompactionKind::Major, family, i64::MIN, now_millis, None);
    let start = Key::row_start(b"");
    let cursor = |memstore| Source::Memory(MemstoreCursor::new(Arc::clone(memstore), &start));
    let mut merge = Merge::new(memstores.iter().map(cursor).collect(), u64::MAX)?;
    let mut cells: Vec<Cell> = Vec::with_capacity(CELLS_AT_ONCE);
    loop {
        let is_at_end = merge.cell().is_none();
        if is_at_end || cells.len() == CELLS_AT_ONCE {
            let sorted = cells.iter().map(|cell| (&cell.as_bytes()[..], cell.sequence()));
            rewritten.count(rewritten.insert_sorted(sorted));
            cells.clear();
            engine.check_working()?;
            if engine.index_memory.check(0).is_err() {
                return Ok(None);
            }
        }
        let Some(cell) = merge.cell() else { return Ok(Some(last)) };
        if keep.keeps(&cell) {
            cells.push(cell.to_cell());
        }
        merge.advance()?;
    }
}
