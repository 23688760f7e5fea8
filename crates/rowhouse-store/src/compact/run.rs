//! Merging all files of a (region, family) into one.

use std::sync::Arc;

use rowhouse_model::{Key, Result};

use crate::engine::Engine;
use crate::family::FamilyStore;
use crate::flush::CELLS_BETWEEN_CHECKS;
use crate::manifest::{Edit, EditKind, FileMeta, FilesChanged};
use crate::read::{Merge, Rules, Source, Verdict, Visible};
use crate::store_file::{FileCursor, NewFile, StoreFile};

/// Merges all files into one (also a single one, unless that came of a merge) and drops what no reader can see any more: deleted, surplus and
/// expired cells, and the delete markers themselves.
pub(crate) fn compact(engine: &Arc<Engine>, family: &FamilyStore) -> Result<()> {
    let _compacting = family.compacting.lock();
    engine.check_open()?;
    let files = family.parts().files.clone();
    let is_compact = match &files[..] {
        [] => true,
        [file] => file.is_major(),
        _ => false,
    };
    if is_compact || family.is_dropped() {
        return Ok(());
    }
    engine.manifest.check_writable()?;
    let merged = merge_files(engine, family, &files)?;
    engine.manifest.append(&Edit::new(EditKind::FilesChanged(FilesChanged {
        region_id: family.region_id(),
        family: family.name().clone(),
        added: merged.iter().cloned().collect(),
        removed: files.iter().map(|file| file.id()).collect(),
        flushed_sequence: 0,
    })))?;
    let merged = merged.map(|meta| Arc::new(StoreFile::new(&engine.files, meta)));
    family.change(|parts| {
        parts.files.retain(|file| !files.iter().any(|old| old.id() == file.id()));
        // What was flushed meanwhile is newer.
        parts.files.splice(0..0, merged);
    });
    for file in &files {
        file.remove_when_unused();
    }
    tracing::debug!(
        region = family.region_id(),
        family = %rowhouse_model::escape(family.name()),
        files = files.len(),
        "files compacted"
    );
    Ok(())
}

/// One file of what is worth keeping; `None` when nothing is.
fn merge_files(
    engine: &Arc<Engine>,
    family: &FamilyStore,
    files: &[Arc<StoreFile>],
) -> Result<Option<FileMeta>> {
    let oldest_reader = engine.mvcc.oldest_reader();
    let now = engine.timestamps.now_millis();
    let mut visible = Visible::new(Rules::compact(family.descriptor(), oldest_reader, now));
    let start = Key::row_start(b"");
    let mut sources = Vec::with_capacity(files.len());
    let mut with_tags = false;
    let mut sequence_max = 0;
    for file in files {
        with_tags |= file.has_tags()?;
        sequence_max = sequence_max.max(file.sequence_max());
        sources.push(Source::File(FileCursor::open_once(engine, file, &start)?));
    }
    let mut merge = Merge::new(sources, u64::MAX)?;
    let mut file: Option<NewFile> = None;
    let mut row = Vec::new();
    let mut done_with_column: Option<Vec<u8>> = None;
    let mut cells = 0u64;
    while let Some(cell) = merge.cell() {
        cells += 1;
        if cells.is_multiple_of(CELLS_BETWEEN_CHECKS) {
            engine.check_open()?;
        }
        if row != cell.key.row {
            row.clear();
            row.extend_from_slice(cell.key.row);
            visible.begin_row();
            done_with_column = None;
        }
        // Behind a column's last visible cell there may still be cells that an older reader sees:
        // those alone are asked about one by one.
        let protected = cell.sequence > oldest_reader;
        let skip = !protected && done_with_column.as_deref() == Some(cell.key.qualifier);
        if !skip {
            match visible.judge(&cell) {
                Verdict::Include | Verdict::IncludeLast => {
                    let file = match &mut file {
                        Some(file) => file,
                        None => {
                            file.insert(NewFile::create(engine, family.descriptor(), with_tags)?)
                        }
                    };
                    file.append(&cell)?;
                }
                Verdict::Skip => {}
                Verdict::NextColumn => done_with_column = Some(cell.key.qualifier.to_vec()),
            }
        }
        merge.advance()?;
    }
    file.map(|file| file.finish(sequence_max, true)).transpose()
}
