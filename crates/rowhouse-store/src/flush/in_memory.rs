//! Rewrites the memstore of an index in memory without the entries that no row has any more, as
//! flushes and major compactions do for other families.
//!
//! Writers go on meanwhile. The timestamps of an entry only grow, so a marker that is dropped with
//! the cells it covers uncovers nothing that is written later. Open readers go on in the old
//! memstore, which counts as index memory until the last of them ends; they never continue in the
//! new one.

use rowhouse_model::{CellRef, Result};

use crate::compact::CompactionFilter;
use crate::compaction_policy::CompactionKind;
use crate::engine::{CELLS_BETWEEN_CHECKS, Engine};
use crate::family::{FamilyStore, InMemory};
use crate::memstore::Memstore;

/// Rewrites the memstore if enough of it can be freed. The caller holds `family.flushing`.
///
/// Without room for the new memstore beside the old one, the old one stays.
pub(super) fn rewrite(engine: &Engine, family: &FamilyStore, in_memory: &InMemory) -> Result<()> {
    let super_version = family.super_version();
    // A rewrite that broke off has left a frozen memstore, which the next one would not copy.
    let is_whole = super_version.frozen.is_empty();
    if !is_whole || !in_memory.is_rewrite_due(super_version.active.bytes()) {
        return Ok(());
    }
    let live = in_memory.live_bytes(super_version.active.bytes());
    drop(super_version);
    // The copy must not fill the memory: a writer that finds it full puts an index off.
    if engine.index_memory.check(live).is_err() {
        in_memory.reset_garbage();
        return Ok(());
    }
    let old = {
        let _latch = engine.freeze_latch.write();
        in_memory.reset_garbage();
        family.begin_rewrite(in_memory)
    };
    let new = in_memory.memstore();
    let is_copied = copy(engine, family, &old, &new)?;
    let (stays, readable_from) = if is_copied { (new, old.last_sequence()) } else { (old, 0) };
    let _latch = engine.freeze_latch.write();
    if !family.is_dropped() {
        // The few cells that were written meanwhile.
        stays.count(stays.insert_sorted(family.active().cells()));
        family.end_rewrite(stays, readable_from);
    }
    Ok(())
}

/// Copies the cells that a new reader can see. Returns `false` if they have no room.
fn copy(engine: &Engine, family: &FamilyStore, old: &Memstore, new: &Memstore) -> Result<bool> {
    let now_millis = engine.timestamps.now_millis();
    let mut keep =
        CompactionFilter::of_family(CompactionKind::Major, family, i64::MIN, now_millis, None);
    let mut cells = old
        .cells()
        .filter(|&(key_value, sequence)| keep.keeps(&CellRef::from_checked(key_value, sequence)));
    while let Some(first) = cells.next() {
        let rest = cells.by_ref().take(CELLS_BETWEEN_CHECKS as usize);
        new.count(new.insert_sorted(std::iter::once(first).chain(rest)));
        engine.check_working()?;
        if engine.index_memory.check(0).is_err() {
            return Ok(false);
        }
    }
    Ok(true)
}
