//! Compacts the memstores of a BUFFERED family in memory: of each counter the newest versions stay
//! (decision 0086). Readers continue in the memstores with which they began.

use std::sync::Arc;

use rowhouse_model::{Cell, Key, Result};

use crate::cells::Cells;
use crate::compact::CompactionFilter;
use crate::compaction_policy::CompactionKind;
use crate::engine::{CELLS_BETWEEN_CHECKS, Engine};
use crate::family::{FamilyStore, Inputs};
use crate::memstore::{Memstore, MemstoreCursor};
use crate::read::{Merge, Source};

/// Compacts the memstores of a BUFFERED family, or flushes them if they are full even so.
pub(crate) fn compact_memory(engine: &Engine, family: &FamilyStore) -> Result<()> {
    let _flushing = family.flushing.lock();
    family.memory_compaction_begins();
    // A steady family drops cells within limits that only a flush respects.
    if family.is_dropped() || family.is_steady() {
        return Ok(());
    }
    engine.check_working()?;
    if family.memstore_bytes() >= engine.settings.memstore_flush_bytes {
        family.request_flush(&engine.queue);
        return Ok(());
    }
    {
        let _latch = engine.freeze_latch.write();
        if !family.active().is_empty() {
            family.freeze_active();
        }
    }
    let frozen = family.super_version().frozen.clone();
    let first = frozen.iter().filter_map(|memstore| memstore.first_sequence()).min();
    let Some(first) = first else { return Ok(()) };
    let last = frozen.iter().map(|memstore| memstore.last_sequence()).max().unwrap_or(first);
    // The log must retain the older values of counters whose newest ones it does not have yet.
    let compacted = Memstore::of_sequences(first..=last);
    if frozen.iter().any(|memstore| memstore.is_unlogged()) {
        compacted.set_unlogged();
    }
    let start = Key::row_start(b"");
    let cursor = |memstore| Source::Memory(MemstoreCursor::new(Arc::clone(memstore), &start));
    let mut merge = Merge::new(frozen.iter().map(cursor).collect(), u64::MAX)?;
    let now_millis = engine.timestamps.now_millis();
    let mut keep =
        CompactionFilter::of_family(CompactionKind::Minor, family, i64::MIN, now_millis, None);
    let mut bytes = 0;
    let mut cells: u64 = 0;
    while let Some(cell) = merge.cell() {
        cells += 1;
        if cells.is_multiple_of(CELLS_BETWEEN_CHECKS) {
            engine.check_working()?;
        }
        if keep.keeps(&cell) {
            let copy = Cell::from_parts(cell.key, cell.value, cell.tags)?;
            bytes += compacted.insert(copy.as_bytes(), cell.sequence);
        }
        merge.advance()?;
    }
    let compacted = Arc::new(compacted);
    // It may be steady meanwhile.
    let is_installed = family.install(None, Inputs::Memstores(&frozen), || {
        engine.memory.add(bytes);
        family.change(|super_version| {
            super_version.frozen.retain(|it| !frozen.iter().any(|old| Arc::ptr_eq(it, old)));
            super_version.frozen.insert(0, compacted);
            super_version.readable_from = super_version.readable_from.max(last);
        });
        Ok(())
    })?;
    if is_installed {
        engine.leave_to_readers(frozen.iter());
        drop(frozen);
        engine.reader_memory.free();
    }
    Ok(())
}
