//! Flushes memstores to files.
//!
//! A full memstore is frozen while the freeze latch is held for writing, so that no commit is half
//! in it; the region's counters are logged at that moment (decision 0086). The log is synced before
//! the manifest edit that adds the file: a power cut cannot lose cells that the same mutation has
//! in other families. A flush drops the cells that a minor compaction would drop (decision 0050).
//! Open scanners resume in the new file (decision 0062). A log segment is removed when all its
//! records are in files.

mod compact_memory;
mod in_memory;
mod log_counters;
mod relief;

use std::collections::BTreeSet;
use std::sync::Arc;

use rowhouse_model::{Key, Result};

pub(crate) use compact_memory::compact_memory;
pub(crate) use log_counters::{
    body_of, log_counters, log_counters_latched, log_counters_of, log_due_counters,
};
pub(crate) use relief::{
    release_flushed_segments, roll_log, shrink_log, shrink_memory, trim_retained,
};

use crate::cells::Cells;
use crate::compact::CompactionFilter;
use crate::compaction_policy::CompactionKind;
use crate::engine::{CELLS_BETWEEN_CHECKS, Engine};
use crate::family::{DropLimits, FamilyStore, Inputs};
use crate::manifest::{EditKind, FileMeta, FilesChanged};
use crate::memstore::{FlushResult, Memstore, MemstoreCursor};
use crate::new_file::NewFile;
use crate::read::{Merge, Source};
use crate::retention::Retention;
use crate::store_file::StoreFile;

/// Flushes the family's memstores to a file, without the cells that a minor compaction drops as
/// well (decision 0050). A family in memory alone gets no file.
pub(crate) fn flush(engine: &Engine, family: &FamilyStore) -> Result<()> {
    let _flushing = family.flushing.lock();
    flush_locked(engine, family)
}

/// As [`flush`]; the caller holds `family.flushing`.
pub(crate) fn flush_locked(engine: &Engine, family: &FamilyStore) -> Result<()> {
    family.flush_begins();
    if family.is_dropped() {
        return Ok(());
    }
    engine.check_working()?;
    if let Some(in_memory) = family.in_memory() {
        return in_memory::rewrite(engine, family, in_memory);
    }
    let frozen_at = freeze(engine, family)?;
    flush_frozen(engine, family, frozen_at)
}

/// Flushes several families, all frozen at one point in time. The caller holds `flushing` for all
/// families, so that their files then hold exactly the data from that point. Returns the highest
/// sequence reserved at that point.
pub(crate) fn flush_all_locked(engine: &Engine, families: &[Arc<FamilyStore>]) -> Result<u64> {
    engine.check_working()?;
    let frozen_at = {
        let _latch = engine.freeze_latch.write();
        let flushed = || families.iter().filter(|family| family.in_memory().is_none());
        let regions: BTreeSet<u64> = flushed().map(|family| family.region_id()).collect();
        log_counters_latched(engine, regions)?;
        let filled = flushed().filter(|family| !family.active().is_empty());
        filled.for_each(|family| family.freeze_active());
        engine.mvcc.reserved()
    };
    let mut flushed = families.iter().filter(|it| it.in_memory().is_none());
    flushed.try_for_each(|family| flush_frozen(engine, family, Some(frozen_at)))?;
    Ok(frozen_at)
}

/// Flushes frozen memstores to a file. `frozen_at` is the highest sequence that can be in them, if
/// known.
fn flush_frozen(engine: &Engine, family: &FamilyStore, frozen_at: Option<u64>) -> Result<()> {
    // Includes memstores left by a failed flush and those filled by log replay.
    let memstores = family.super_version().frozen.clone();
    let Some(last) = memstores.iter().map(|memstore| memstore.last_sequence()).max() else {
        return Ok(());
    };
    // Without a known freeze point, the flush covers only sequences present in the memstores.
    write_frozen(engine, family, &memstores, frozen_at.unwrap_or(last))?;
    // Memory without readers is free now; readers holding the rest are requested to release it.
    drop(memstores);
    engine.reader_memory.free();
    Ok(())
}

/// Flushes a full memstore, unless there are so many files that some must be compacted first.
pub(crate) fn flush_full_memstore(engine: &Engine, family: &FamilyStore) -> Result<()> {
    if family.postpones_flush(engine.settings.compaction.blocking_wait) {
        family.flush_begins();
        engine.compactions.request(family, None);
        return Ok(());
    }
    flush(engine, family)
}

/// Freezes the active memstore while no commit is in progress. Returns the highest sequence that
/// can be in it; `None` if it is empty.
///
/// # Errors
/// Errors from the log, which refuses the counters: an increment of several families must not
/// survive in the file of one of them alone.
fn freeze(engine: &Engine, family: &FamilyStore) -> Result<Option<u64>> {
    let _latch = engine.freeze_latch.write();
    log_counters_latched(engine, [family.region_id()])?;
    if family.active().is_empty() {
        return Ok(None);
    }
    family.freeze_active();
    Ok(Some(engine.mvcc.reserved()))
}

/// Writes frozen memstores to a file, adds it to the manifest, and releases them.
fn write_frozen(
    engine: &Engine,
    family: &FamilyStore,
    memstores: &[Arc<Memstore>],
    flushed_sequence: u64,
) -> Result<()> {
    let bytes: u64 = memstores.iter().map(|memstore| memstore.bytes()).sum();
    let _task = engine.begin_family_task("Flushing", family, format!("{bytes} bytes"));
    // Write no file that the manifest could not record.
    engine.manifest.check_writable()?;
    let inputs = Inputs::Memstores(memstores);
    let is_steady = family.is_steady();
    let limits = is_steady.then(|| DropLimits::find(family, inputs, Vec::new()));
    let mut limits = limits.transpose()?;
    let mut files_len = 0;
    let (written, file) = loop {
        let written = write_file(engine, family, memstores, limits)?;
        // Other families' cells from the same mutations must survive a power failure before these
        // do.
        engine.sync_log()?;
        let added = written.file.clone();
        let file = added.clone().map(|meta| Arc::new(StoreFile::new(&engine.files, meta)));
        let is_installed = family.install(written.limits.as_ref(), inputs, || {
            engine.append_edit(EditKind::FilesChanged(FilesChanged {
                region_id: family.region_id(),
                family: family.name().clone(),
                added: added.into_iter().collect(),
                removed: Vec::new(),
                flushed_sequence,
                starts_after: 0,
            }))?;
            family.change(|super_version| {
                let is_flushed = |frozen: &Arc<Memstore>| {
                    memstores.iter().any(|flushed| Arc::ptr_eq(frozen, flushed))
                };
                super_version.frozen.retain(|frozen| !is_flushed(frozen));
                super_version.files.extend(file.clone());
                super_version.readable_from =
                    super_version.readable_from.max(written.readable_from);
                files_len = super_version.files.len();
            });
            Ok(())
        })?;
        if is_installed {
            break (written, file);
        }
        // A version was deleted meanwhile, and the file may lack the one that it uncovered.
        written.file.iter().for_each(|meta| engine.remove_unnamed(meta.file_id));
        limits = Some(DropLimits::keeping_all(family));
    };
    let Written { readable_from, now_millis, retention, .. } = written;
    let flushed = Arc::new(FlushResult { file, readable_from, now_millis, retention });
    memstores.iter().for_each(|memstore| memstore.set_flushed(Arc::clone(&flushed)));
    engine.leave_to_readers(memstores.iter());
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

/// The outcome of writing memstores to a file.
struct Written {
    /// `None` if no cell was worth keeping.
    file: Option<FileMeta>,
    /// The lowest sequence at which no dropped cell is visible.
    readable_from: u64,
    /// The time in milliseconds against which expired cells were dropped.
    now_millis: i64,
    retention: Retention,
    /// The limits within which cells in a steady family were dropped.
    limits: Option<DropLimits>,
}

fn write_file(
    engine: &Engine,
    family: &FamilyStore,
    memstores: &[Arc<Memstore>],
    limits: Option<DropLimits>,
) -> Result<Written> {
    let has_tags = memstores.iter().any(|memstore| memstore.has_tags());
    let last = memstores.iter().map(|memstore| memstore.last_sequence()).max().unwrap_or(0);
    let start = Key::row_start(b"");
    let cursor = |memstore| Source::Memory(MemstoreCursor::new(Arc::clone(memstore), &start));
    let mut merge = Merge::new(memstores.iter().map(cursor).collect(), u64::MAX)?;
    let now_millis = engine.timestamps.now_millis();
    // Readers that continue in the file must not lose cells. Cells newer than the oldest such
    // reader are written unfiltered, as if they were in the next memstore: they hide nothing here.
    let first = memstores.iter().filter_map(|memstore| memstore.first_sequence()).min();
    let judged_to = first.and_then(|first| engine.reader_memory.lowest_sequence(first));
    let judged_to = judged_to.unwrap_or(u64::MAX);
    let has_version_markers = memstores.iter().any(|memstore| memstore.has_version_markers());
    let misses_markers = judged_to < last && has_version_markers;
    let limits = limits.map(|limits| limits.keeping_surplus_if(misses_markers));
    let kind = CompactionKind::Minor;
    let mut keep = CompactionFilter::of_family(kind, family, i64::MIN, now_millis, limits);
    let mut file: Option<NewFile<'_>> = None;
    let mut cells = 0u64;
    let mut dropped = false;
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
    // A closed store does not wait for the disk here. The log has these cells, except cells from
    // mutations with SKIP_WAL, and closing has already flushed those or reported that it could not.
    engine.check_working()?;
    let file = file.map(|file| file.finish(last, false)).transpose()?;
    let readable_from = if dropped { last.min(judged_to) } else { 0 };
    let retention = family.descriptor().into();
    let limits = keep.into_limits();
    Ok(Written { file, readable_from, now_millis, retention, limits })
}

#[cfg(test)]
mod tests;
