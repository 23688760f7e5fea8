//! Runs compactions.

use std::sync::Arc;

use rowhouse_model::{Error, ErrorKind, Key, Result};

use super::RowKinds;
use super::compaction_filter::CompactionFilter;
use crate::cells::Cells;
use crate::compaction_policy::{Choice, CompactionKind, OtherFiles, choose};
use crate::engine::{CELLS_BETWEEN_CHECKS, Engine};
use crate::family::{DropLimits, FamilyStore, Inputs};
use crate::manifest::{EditKind, FileMeta, FilesChanged};
use crate::new_file::NewFile;
use crate::read::{Merge, Source};
use crate::store_file::{FileCursor, FileSummary, StoreFile};

/// Row and value bytes between two checks whether to stop or wait, if [`CELLS_BETWEEN_CHECKS`]
/// cells are more: large cells would delay the check for too long.
const BYTES_BETWEEN_CHECKS: u64 = 256 << 10;

/// Whether a caller waits for the compaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pacing {
    /// No caller waits: runs at the configured pace.
    Paced,
    /// The caller waits: runs as fast as possible.
    Waited,
}

/// Drops files whose cells have all expired, then runs the one compaction that is requested or,
/// without a request, due. The caller holds `family.compacting`; other compactions may run on older
/// files concurrently.
///
/// # Errors
/// `ServerNotRunning` if the store closes meanwhile, `NotServingRegion` if the region is dropped.
/// After any error the files are as they were.
pub(crate) fn compact(
    engine: &Engine,
    family: &FamilyStore,
    requested: Option<CompactionKind>,
    hurry: Pacing,
) -> Result<()> {
    loop {
        check(engine, family)?;
        let choosing = family.merges.choosing();
        let files = family.super_version().files.clone();
        let facts: Vec<FileSummary<'_>> =
            files.iter().map(|file| file.facts(family.range())).collect();
        let now_millis = engine.timestamps.now_millis();
        let busy = choosing.busy(&files);
        if busy > 0 && requested == Some(CompactionKind::Major) {
            drop(choosing);
            // A major compaction takes all files, so it waits for those being compacted.
            engine.compactions.request(family, requested);
            return Ok(());
        }
        let situation = family.situation(&facts, busy, now_millis, requested);
        let (kind, run) = match choose(&situation, family.policy()) {
            Choice::Nothing => return Ok(()),
            Choice::DropExpired(expired) => {
                let expired: Vec<_> = expired.iter().map(|&at| Arc::clone(&files[at])).collect();
                let _claim = choosing.take(CompactionKind::Minor, &expired);
                // The change is invisible, so every sequence stays readable. If the files have not
                // expired any more, by an alteration, others are chosen.
                let limits = DropLimits::keeping_all(family);
                replace(engine, family, &expired, None, 0, Some(&limits))?;
                continue;
            }
            Choice::Merge(run, kind) => (kind, run),
        };
        let kinds = match (kind, requested) {
            (CompactionKind::Minor, None) => {
                let others = facts[..run.start].iter().chain(&facts[run.end..]);
                RowKinds::MajorExcept(OtherFiles::of(others))
            }
            _ => RowKinds::All(kind),
        };
        let chosen = &files[run];
        let _claim = choosing.take(kind, chosen);
        return merge(engine, family, kinds, chosen, now_millis, hurry);
    }
}

/// Rewrites the files that a split left, without the rows from other regions, and waits until that
/// is done.
///
/// # Errors
/// As [`compact`].
pub(crate) fn rewrite_wider(engine: &Engine, family: &FamilyStore) -> Result<()> {
    let _compacting = family.compacting.write();
    check(engine, family)?;
    let files = family.super_version().files.clone();
    let is_wider = |file: &Arc<StoreFile>| file.is_wider_than(family.range());
    let Some(first) = files.iter().position(is_wider) else { return Ok(()) };
    let last = files.iter().rposition(is_wider).unwrap_or(first);
    let run = &files[first..=last];
    let all = run.len() == files.len();
    let kind = if all { CompactionKind::Major } else { CompactionKind::Minor };
    merge(engine, family, kind.into(), run, engine.timestamps.now_millis(), Pacing::Waited)
}

/// Returns an error if a compaction would be useless.
fn check(engine: &Engine, family: &FamilyStore) -> Result<()> {
    engine.check_working()?;
    if family.is_closing() {
        return Err(Error::new(ErrorKind::NotServingRegion, "the region is being dropped"));
    }
    Ok(())
}

/// Compacts `files`, neighbours in this family, into one; `kinds` gives the kind for each row.
pub(super) fn merge(
    engine: &Engine,
    family: &FamilyStore,
    kinds: RowKinds,
    files: &[Arc<StoreFile>],
    now_millis: i64,
    hurry: Pacing,
) -> Result<()> {
    engine.manifest.check_writable()?;
    let bytes = files.iter().map(|file| file.len()).sum::<u64>();
    let status = format!("{} files of {bytes} bytes", files.len());
    let _task = engine.begin_family_task("Compacting", family, status);
    // A reader at this sequence or later sees all cells in these files: they were visible before
    // they were flushed.
    let readable_from = engine.mvcc.visible();
    let is_steady = family.is_steady();
    let limits = is_steady.then(|| DropLimits::find(family, Inputs::Files(files), kinds.apart()));
    let mut run = (kinds, limits.transpose()?);
    let merged = loop {
        let (kinds, limits) = run;
        let (merged, limits) =
            merge_files(engine, family, kinds, limits, files, now_millis, hurry)?;
        let id = merged.as_ref().map(|meta| meta.file_id);
        if replace(engine, family, files, merged.clone(), readable_from, limits.as_ref())? {
            break merged;
        }
        // Cells came in that the dropped ones would matter to.
        id.into_iter().for_each(|id| engine.remove_unnamed(id));
        run = (CompactionKind::Minor.into(), Some(DropLimits::keeping_all(family)));
    };
    tracing::debug!(
        region = family.region_id(),
        family = %rowhouse_model::escape(family.name()),
        major = merged.as_ref().is_none_or(|meta| meta.major),
        files = files.len(),
        bytes,
        bytes_left = merged.as_ref().map_or(0, |meta| meta.len),
        "files compacted"
    );
    Ok(())
}

/// Replaces `files` by `merged`, in the manifest and for readers. Returns `false`, and does
/// nothing, if rows in a steady family would change.
fn replace(
    engine: &Engine,
    family: &FamilyStore,
    files: &[Arc<StoreFile>],
    merged: Option<FileMeta>,
    readable_from: u64,
    limits: Option<&DropLimits>,
) -> Result<bool> {
    let _replacing = engine.replacing.lock();
    let install = || {
        engine.append_edit(EditKind::FilesChanged(FilesChanged {
            region_id: family.region_id(),
            family: family.name().clone(),
            added: merged.iter().cloned().collect(),
            removed: files.iter().map(|file| file.id()).collect(),
            flushed_sequence: 0,
            starts_after: 0,
        }))?;
        let merged = merged.map(|meta| Arc::new(StoreFile::new(&engine.files, meta)));
        family.replace_files(files, merged, readable_from);
        Ok(())
    };
    if !family.install(limits, Inputs::Files(files), install)? {
        return Ok(false);
    }
    // Without files shared with other regions, a region made by a split can be split again.
    engine.splits.request(family.region_id());
    // Writers may be waiting for fewer files.
    engine.memory.wake();
    Ok(true)
}

/// Writes the cells to keep to one file; returns `None` if there are none. Returns the limits
/// within which cells in a steady family were dropped.
fn merge_files(
    engine: &Engine,
    family: &FamilyStore,
    kinds: RowKinds,
    limits: Option<DropLimits>,
    files: &[Arc<StoreFile>],
    now_millis: i64,
    hurry: Pacing,
) -> Result<(Option<FileMeta>, Option<DropLimits>)> {
    let range = family.range();
    let start = Key::row_start(&range.start);
    let mut sources = Vec::with_capacity(files.len());
    let mut with_tags = false;
    let mut sequence_max = 0;
    let mut logged_max = 0;
    let mut earliest_put = i64::MAX;
    for file in files {
        with_tags |= file.has_tags()?;
        earliest_put = earliest_put.min(file.earliest_put()?);
        sequence_max = sequence_max.max(file.sequence_max());
        logged_max = logged_max.max(file.logged_up_to());
        sources.push(Source::File(FileCursor::open_once(file, &start)?));
    }
    let mut merge = Merge::new(sources, u64::MAX)?;
    let compression = if kinds.are_all_major() {
        family.descriptor().major_compaction_compression()
    } else {
        family.descriptor().minor_compaction_compression()
    };
    let mut keep = CompactionFilter::of_family(kinds, family, earliest_put, now_millis, limits);
    let mut progress = Progress::new(engine, family, hurry);
    let mut output: Option<NewFile<'_>> = None;
    // A file that a split left continues with rows from another region.
    while let Some(cell) = merge.cell().filter(|cell| range.contains(cell.key.row)) {
        let keeps = keep.keeps(&cell);
        progress.passed(cell.key.row.len() + cell.value.len(), keeps)?;
        if keeps {
            let file = match &mut output {
                Some(file) => file,
                None => output.insert(NewFile::create_compressed(
                    engine,
                    family,
                    with_tags,
                    compression,
                )?),
            };
            file.append(&cell)?;
        }
        merge.advance()?;
    }
    let merged = output.map(|file| file.finish(sequence_max, keep.is_major())).transpose()?;
    let logged_max = Some(logged_max).filter(|&logged_max| logged_max < sequence_max);
    Ok((merged.map(|meta| FileMeta { logged_max, ..meta }), keep.into_limits()))
}

/// Stops and slows a compaction.
struct Progress<'a> {
    engine: &'a Engine,
    family: &'a FamilyStore,
    hurry: Pacing,
    cells: u64,
    read_bytes: u64,
    written_bytes: u64,
}

impl<'a> Progress<'a> {
    fn new(engine: &'a Engine, family: &'a FamilyStore, hurry: Pacing) -> Self {
        Self { engine, family, hurry, cells: 0, read_bytes: 0, written_bytes: 0 }
    }

    /// Counts a cell and, at intervals, checks whether to stop or wait.
    fn passed(&mut self, bytes: usize, written: bool) -> Result<()> {
        self.cells += 1;
        self.read_bytes += bytes as u64;
        if written {
            self.written_bytes += bytes as u64;
        }
        if self.cells < CELLS_BETWEEN_CHECKS && self.read_bytes < BYTES_BETWEEN_CHECKS {
            return Ok(());
        }
        let written = std::mem::take(&mut self.written_bytes);
        (self.cells, self.read_bytes) = (0, 0);
        let check = || check(self.engine, self.family);
        match self.hurry {
            Pacing::Paced => {
                if !self.engine.compactions.is_enabled() {
                    return Err(Error::new(ErrorKind::Unsupported, "compactions are switched off"));
                }
                self.engine.compactions.pace().wait_for(&self.engine.candidates(), written, check)
            }
            Pacing::Waited => check(),
        }
    }
}
