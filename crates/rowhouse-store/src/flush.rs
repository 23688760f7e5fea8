//! From memstore to file.

use std::sync::Arc;

use rowhouse_model::{Key, Result};

use crate::cells::Cells;
use crate::compact::{CompactionFilter, CompactionKind};
use crate::engine::Engine;
use crate::family::FamilyStore;
use crate::manifest::{Edit, EditKind, FileMeta, FilesChanged};
use crate::memstore::{Flushed, Memstore, MemstoreCursor};
use crate::read::{Merge, Retention, Source};
use crate::store_file::{NewFile, StoreFile};
use crate::tasks::Tasks;

/// Cells after which the writing of a file looks whether the store is closing.
pub(crate) const CELLS_BETWEEN_CHECKS: u64 = 4096;

/// Writes what is in memory now to files, but for what a merge of some files drops too (decision 0051).
pub(crate) fn flush(engine: &Arc<Engine>, family: &FamilyStore) -> Result<()> {
    let _flushing = family.flushing.lock();
    flush_locked(engine, family)
}

/// The same, by who holds `family.flushing`.
pub(crate) fn flush_locked(engine: &Arc<Engine>, family: &FamilyStore) -> Result<()> {
    family.flush_begins();
    if family.is_dropped() {
        return Ok(());
    }
    engine.check_working()?;
    let frozen_at = freeze(engine, family);
    flush_frozen(engine, family, frozen_at)
}

/// Writes what was in memory of several families at one moment to files, by who holds `flushing` of all of
/// them: then that is what is in their files. Gives the highest sequence there was.
pub(crate) fn flush_all_locked(engine: &Arc<Engine>, families: &[Arc<FamilyStore>]) -> Result<u64> {
    engine.check_working()?;
    let frozen_at = {
        let _latch = engine.freeze_latch.write();
        let filled = families.iter().filter(|family| !family.active().is_empty());
        filled.for_each(|family| family.set_aside_active());
        engine.mvcc.reserved()
    };
    families.iter().try_for_each(|family| flush_frozen(engine, family, Some(frozen_at)))?;
    Ok(frozen_at)
}

/// Writes memstores that were set aside to a file: `frozen_at` is the highest sequence that can be in
/// them, if that is known.
fn flush_frozen(engine: &Arc<Engine>, family: &FamilyStore, frozen_at: Option<u64>) -> Result<()> {
    // With what is left over from a flush that failed, and what a long log came back in.
    let memstores = family.super_version().frozen.clone();
    let Some(last) = memstores.iter().map(|memstore| memstore.last_sequence()).max() else {
        return Ok(());
    };
    // Of what was frozen before, only what lies in it is known to be flushed with it.
    write_frozen(engine, family, &memstores, frozen_at.unwrap_or(last))
}

/// Flushes a memstore that is full, unless there are so many files that some are to be merged first.
pub(crate) fn flush_full_memstore(engine: &Arc<Engine>, family: &FamilyStore) -> Result<()> {
    if family.puts_off_flush(engine.settings.compaction.blocking_wait) {
        family.flush_begins();
        engine.compactions.request(family, None);
        return Ok(());
    }
    flush(engine, family)
}

/// Takes the memstore out of the way of writers, at a moment when no commit is half done. Gives the
/// highest sequence that can be in it; `None` when it is empty.
fn freeze(engine: &Engine, family: &FamilyStore) -> Option<u64> {
    let _latch = engine.freeze_latch.write();
    if family.active().is_empty() {
        return None;
    }
    family.set_aside_active();
    Some(engine.mvcc.reserved())
}

/// Writes frozen memstores to a file, names it, and lets them go.
fn write_frozen(
    engine: &Arc<Engine>,
    family: &FamilyStore,
    memstores: &[Arc<Memstore>],
    flushed_sequence: u64,
) -> Result<()> {
    let bytes = memstores.iter().map(|memstore| memstore.bytes()).sum();
    let _task = Tasks::begin_family(engine, "Flushing", family, format!("{bytes} bytes"));
    // What cannot be named need not be written.
    engine.manifest.check_writable()?;
    let written = write_file(engine, family, memstores)?;
    // Before a mutation's cells of this family survive a power cut, those of its others must.
    engine.sync_log()?;
    engine.manifest.append(&Edit::new(EditKind::FilesChanged(FilesChanged {
        region_id: family.region_id(),
        family: family.name().clone(),
        added: written.file.iter().cloned().collect(),
        removed: Vec::new(),
        flushed_sequence,
        begins_behind: 0,
    })))?;
    let file = written.file.map(|meta| Arc::new(StoreFile::new(&engine.files, meta)));
    let mut files_len = 0;
    family.change(|super_version| {
        let is_flushed =
            |frozen: &Arc<Memstore>| memstores.iter().any(|flushed| Arc::ptr_eq(frozen, flushed));
        super_version.frozen.retain(|frozen| !is_flushed(frozen));
        super_version.files.extend(file.clone());
        super_version.readable_from = super_version.readable_from.max(written.readable_from);
        files_len = super_version.files.len();
    });
    let Written { readable_from, now_millis, retention, .. } = written;
    let flushed = Arc::new(Flushed { file, readable_from, now_millis, retention });
    memstores.iter().for_each(|memstore| memstore.set_flushed(Arc::clone(&flushed)));
    engine.memory.free(bytes);
    tracing::debug!(
        region = family.region_id(),
        family = %rowhouse_model::escape(family.name()),
        memstore_bytes = bytes,
        memstores = memstores.len(),
        "flushed"
    );
    engine.splits.request(family.region_id());
    if files_len >= family.policy().files_min {
        engine.compactions.request(family, None);
    }
    Ok(())
}

/// What became of memstores.
struct Written {
    /// `None` when nothing of them was worth keeping.
    file: Option<FileMeta>,
    /// The lowest sequence at which nothing is missed of what was dropped.
    readable_from: u64,
    /// What had expired then was dropped.
    now_millis: i64,
    retention: Retention,
}

fn write_file(
    engine: &Engine,
    family: &FamilyStore,
    memstores: &[Arc<Memstore>],
) -> Result<Written> {
    let has_tags = memstores.iter().any(|memstore| memstore.has_tags());
    let last = memstores.iter().map(|memstore| memstore.last_sequence()).max().unwrap_or(0);
    let start = Key::row_start(b"");
    let cursor = |memstore| Source::Memory(MemstoreCursor::new(Arc::clone(memstore), &start));
    let mut merge = Merge::new(memstores.iter().map(cursor).collect(), u64::MAX)?;
    let now_millis = engine.timestamps.now_millis();
    let mut keep = CompactionFilter::of_family(CompactionKind::Minor, family, i64::MIN, now_millis);
    // What came behind the oldest of those who read on in the file is written as if it came into the next
    // memstore: it covers nothing here.
    let judged_to = memstores.iter().filter_map(|memstore| memstore.lowest_reader()).min();
    let judged_to = judged_to.unwrap_or(u64::MAX);
    let mut file: Option<NewFile<'_>> = None;
    let (mut cells, mut dropped) = (0u64, false);
    while let Some(cell) = merge.cell() {
        if cell.sequence > judged_to || keep.keeps(&cell) {
            let file = match &mut file {
                Some(file) => file,
                None => file.insert(NewFile::create(engine, family, has_tags)?),
            };
            file.append(&cell)?;
        } else {
            dropped = true;
        }
        merge.advance()?;
        cells += 1;
        if cells.is_multiple_of(CELLS_BETWEEN_CHECKS) {
            engine.check_working()?;
        }
    }
    // A closed store does not wait for the disk here. The log has these cells, but for those of
    // mutations with SKIP_WAL, and closing has flushed those before, or says that it could not.
    engine.check_working()?;
    let file = file.map(|file| file.finish(last, false)).transpose()?;
    let readable_from = if dropped { last.min(judged_to) } else { 0 };
    Ok(Written { file, readable_from, now_millis, retention: family.descriptor().into() })
}

#[cfg(test)]
mod tests;
