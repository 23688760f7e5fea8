//! From memstore to file.

use std::sync::Arc;

use rowhouse_model::{Key, Result};

use crate::engine::Engine;
use crate::family::FamilyStore;
use crate::manifest::{Edit, EditKind, FilesChanged};
use crate::memstore::{Memstore, MemstoreCursor};
use crate::store_file::{NewFile, StoreFile};

/// Cells after which the writing of a file looks whether the store is closing.
pub(crate) const CELLS_BETWEEN_CHECKS: u64 = 4096;

/// Writes everything that is in memory now to files. Drops no cell: what a later delete could
/// uncover must still be there.
pub(crate) fn flush(engine: &Arc<Engine>, family: &FamilyStore) -> Result<()> {
    let _flushing = family.flushing.lock();
    family.flush_begins();
    if family.is_dropped() {
        return Ok(());
    }
    engine.check_working()?;
    // Left over from a flush that failed. Only what lies in it is known to be flushed with it.
    for memstore in family.parts().frozen.clone() {
        let sequence = memstore.last_sequence();
        flush_memstore(engine, family, &memstore, sequence)?;
    }
    match freeze(engine, family) {
        Some((memstore, sequence)) => flush_memstore(engine, family, &memstore, sequence),
        None => Ok(()),
    }
}

/// Flushes a memstore that is full, unless there are so many files that some are to be merged first.
pub(crate) fn flush_full(engine: &Arc<Engine>, family: &FamilyStore) -> Result<()> {
    if family.puts_off_flush(engine.settings.compaction.blocking_wait) {
        family.flush_begins();
        engine.compactions.request(family, None);
        return Ok(());
    }
    flush(engine, family)
}

/// Takes the memstore out of the way of writers, at a moment when no commit is half done. Gives it
/// back with the highest sequence that can be in it; `None` when it is empty.
fn freeze(engine: &Engine, family: &FamilyStore) -> Option<(Arc<Memstore>, u64)> {
    let _gate = engine.gate.write();
    let active = family.active();
    if active.is_empty() {
        return None;
    }
    family.set_aside_active();
    Some((active, engine.mvcc.reserved()))
}

/// Writes a frozen memstore to a file, names it, and lets the memstore go.
fn flush_memstore(
    engine: &Arc<Engine>,
    family: &FamilyStore,
    memstore: &Arc<Memstore>,
    flushed_sequence: u64,
) -> Result<()> {
    let bytes = memstore.bytes();
    // What cannot be named need not be written.
    engine.manifest.check_writable()?;
    let meta = write_file(engine, family, memstore)?;
    // Before a mutation's cells of this family survive a power cut, those of its others must.
    engine.sync_log()?;
    engine.manifest.append(&Edit::new(EditKind::FilesChanged(FilesChanged {
        region_id: family.region_id(),
        family: family.name().clone(),
        added: vec![meta.clone()],
        removed: Vec::new(),
        flushed_sequence,
    })))?;
    let file = Arc::new(StoreFile::new(&engine.files, meta));
    let mut files_len = 0;
    family.change(|parts| {
        parts.frozen.retain(|frozen| !Arc::ptr_eq(frozen, memstore));
        parts.files.push(file);
        files_len = parts.files.len();
    });
    engine.memory.free(bytes);
    tracing::debug!(
        region = family.region_id(),
        family = %rowhouse_model::escape(family.name()),
        memstore_bytes = bytes,
        "memstore flushed"
    );
    if files_len >= family.policy().files_min {
        engine.compactions.request(family, None);
    }
    Ok(())
}

fn write_file(
    engine: &Engine,
    family: &FamilyStore,
    memstore: &Arc<Memstore>,
) -> Result<crate::manifest::FileMeta> {
    let mut file = NewFile::create(engine, family.descriptor(), memstore.has_tags())?;
    let mut cursor = MemstoreCursor::new(Arc::clone(memstore), &Key::row_start(b""));
    let mut cells = 0u64;
    while let Some(cell) = cursor.cell() {
        file.append(&cell)?;
        cursor.advance();
        cells += 1;
        if cells.is_multiple_of(CELLS_BETWEEN_CHECKS) {
            engine.check_working()?;
        }
    }
    // A closed store does not wait for the disk here. The log has these cells, but for those of
    // mutations with SKIP_WAL, and closing has flushed those before, or says that it could not.
    engine.check_working()?;
    file.finish(memstore.last_sequence(), false)
}
