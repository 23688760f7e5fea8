//! A load in progress: the files it has written, and the single edit that adds them to the table.

use std::collections::BTreeMap;
use std::sync::Arc;

use rowhouse_model::{Bytes, CellRef, Error, ErrorKind, Result, escape};

use crate::engine::{CELLS_BETWEEN_CHECKS, Engine, TableChangeLatch};
use crate::family::{FamilyStore, LoadGuard};
use crate::flush::flush;
use crate::hfile::{HFile, HFileCells};
use crate::layout::file_path;
use crate::manifest::{EditKind, FileMeta, FilesLoaded, LoadedFile};
use crate::new_file::NewFile;
use crate::observer::TableChange;
use crate::region::Region;
use crate::space::Need;
use crate::store_file::StoreFile;

/// Cell bytes after which a load checks the free disk space again.
const BYTES_UNSEEN_MAX: u64 = 1 << 20;

/// A load in progress. On drop the load's files are removed unless they were installed.
pub(super) struct Load<'a> {
    engine: &'a Arc<Engine>,
    written: Vec<Written>,
    cells: u64,
    /// Cell bytes since the free disk space was last checked.
    bytes_unseen: u64,
}

/// The index changes that belong to a load.
pub(super) struct LoadedIndexes<'i> {
    /// The edits that record them.
    pub(super) edits: Vec<EditKind>,
    /// Makes the changes, while no commit is in progress.
    pub(super) install: &'i dyn Fn(),
}

/// An installed load.
pub(super) struct Installed {
    /// The sequence number before the load's numbers.
    pub(super) before: u64,
    /// The load's last sequence number.
    pub(super) last: u64,
    pub(super) files: Vec<Arc<StoreFile>>,
}

/// A store file that a load wrote.
struct Written {
    family: Bytes,
    meta: FileMeta,
    /// The stores that will name it: the store for the region it was written for, or the stores for
    /// the regions that replaced that region.
    homes: Vec<Arc<FamilyStore>>,
    /// The sequence number that the source file has; 0 if it has none.
    source_sequence: u64,
}

impl<'a> Load<'a> {
    /// Begins a load.
    ///
    /// # Errors
    /// `RegionTooBusy` if the disk is full.
    pub(super) fn begin(engine: &'a Arc<Engine>) -> Result<Self> {
        engine.space.check(&*engine.disk, Need::Room)?;
        Ok(Self { engine, written: Vec::new(), cells: 0, bytes_unseen: 0 })
    }

    pub(super) fn engine(&self) -> &'a Arc<Engine> {
        self.engine
    }

    /// Adds a complete file with cells from a file that has `source_sequence`.
    pub(super) fn add(&mut self, family: &Bytes, meta: FileMeta, source_sequence: u64) {
        let family = family.clone();
        self.written.push(Written { family, meta, homes: Vec::new(), source_sequence });
    }

    /// Counts a written cell. Returns an error when the store is being closed or the disk is full.
    pub(super) fn count_cell(&mut self, cell: &CellRef<'_>) -> Result<()> {
        self.cells += 1;
        self.bytes_unseen += (cell.key.row.len() + cell.value.len()) as u64;
        if self.cells.is_multiple_of(CELLS_BETWEEN_CHECKS) || self.bytes_unseen >= BYTES_UNSEEN_MAX
        {
            self.engine.space.wrote(std::mem::take(&mut self.bytes_unseen));
            self.engine.space.check(&*self.engine.disk, Need::Room)?;
            self.engine.check_open()?;
        }
        Ok(())
    }

    /// Returns how many cells were written.
    pub(super) fn cells(&self) -> u64 {
        self.cells
    }

    /// Writes the cells in a file to store files, one for each region that has rows in it.
    ///
    /// # Errors
    /// `Corruption` for a row without a region according to `region_of`: the file has rows outside
    /// the bounds that it declares.
    pub(super) fn take(
        &mut self,
        family: &Bytes,
        file: &HFile,
        region_of: impl Fn(&[u8]) -> Option<Arc<Region>>,
    ) -> Result<()> {
        let mut cells = file.cells()?;
        while let Some(first) = cells.cell() {
            let row = first.key.row;
            let region = region_of(row).ok_or_else(|| {
                let path = file.path().display();
                let row = escape(row);
                Error::corruption(format!("{path} has a row outside its first and last: row={row}"))
            })?;
            self.take_rows_of(&region, family, file, &mut cells)?;
        }
        Ok(())
    }

    /// Writes `region`'s cells, from the current one on, to one store file.
    fn take_rows_of(
        &mut self,
        region: &Region,
        family: &Bytes,
        file: &HFile,
        cells: &mut HFileCells<'_>,
    ) -> Result<()> {
        let store = find_family(region, family)?;
        let mut new = NewFile::create(self.engine, &store, file.meta().layout().tags)?;
        let range = &region.info().range;
        while let Some(mut cell) = cells.cell().filter(|cell| range.contains(cell.key.row)) {
            if cell.key.family != family {
                return Err(Error::invalid(format!(
                    "{} has a cell of another family: want={}, have={}",
                    file.path().display(),
                    escape(family),
                    escape(cell.key.family)
                )));
            }
            // The manifest has the load's sequence number.
            cell.sequence = 0;
            new.append(&cell)?;
            self.count_cell(&cell)?;
            cells.advance()?;
        }
        let meta = new.finish(0, false)?;
        self.add(family, meta, source_sequence(file)?);
        Ok(())
    }

    /// Adds the files to the `regions` that may hold their rows, atomically. Together `regions`
    /// hold all rows in the files. The caller prevents table changes meanwhile.
    pub(super) fn install(
        mut self,
        regions: &[Arc<Region>],
        indexes: &LoadedIndexes<'_>,
    ) -> Result<Installed> {
        for file in &mut self.written {
            let homes = regions.iter().filter(|it| file.meta.may_hold_rows(&it.info().range));
            let homes = homes.map(|region| {
                region.check_serving()?;
                find_family(region, &file.family)
            });
            file.homes = homes.collect::<Result<_>>()?;
        }
        let homes = self.written.iter().flat_map(|file| &file.homes);
        let homes = homes.map(|home| ((home.region_id(), home.name().clone()), Arc::clone(home)));
        let homes: BTreeMap<_, _> = homes.collect();
        for home in homes.values() {
            // Flushes first, so that file sequence numbers do not overlap, as far as concurrent
            // writers allow: the compaction policy relies on it. Reads and compactions compare the
            // cells' sequence numbers.
            flush(self.engine, home)?;
        }
        let installed = self.publish(indexes)?;
        if let Some(region) = regions.first() {
            region.effects().observers.note(&region.info().table, TableChange::Loaded);
        }
        for home in homes.values() {
            self.engine.compactions.request(home, None);
            self.engine.splits.request(home.region_id());
        }
        Ok(installed)
    }

    /// Assigns sequence numbers to the files: the same one to files with equal source sequence
    /// numbers, higher ones to files with higher ones. Returns the last, which is the load's.
    fn publish(&mut self, indexes: &LoadedIndexes<'_>) -> Result<Installed> {
        let engine = self.engine;
        self.written.sort_by_key(|file| file.source_sequence);
        let mut sources: Vec<u64> = self.written.iter().map(|file| file.source_sequence).collect();
        sources.dedup();
        let homes: Vec<_> = self.written.iter().flat_map(|file| file.homes.clone()).collect();
        let _steady = LoadGuard::of(homes.iter());
        // No commit is in progress, so the load has a definite place among commits. Writers wait
        // for two syncs.
        let _latch = engine.freeze_latch.write();
        let edit = |files| EditKind::FilesLoaded(FilesLoaded { files });
        let files = edit(self.loaded_files());
        // Until the files are visible.
        let _hold = engine.log_table_changes(&files, TableChangeLatch::Held)?;
        // Earlier writes must survive whenever this load does. An open also takes the log to be
        // synced up to the highest sequence number in the manifest, and would report a torn end
        // before it as damage.
        engine.sync_log()?;
        let sequences = engine.mvcc.reserve_several(sources.len().max(1) as u64);
        for Written { meta, source_sequence, .. } in &mut self.written {
            let place = sources.partition_point(|source| source < source_sequence);
            meta.sequence_max = sequences.start() + place as u64;
            meta.loaded = true;
        }
        let edit = edit(self.loaded_files());
        let edits = std::iter::once(edit).chain(indexes.edits.iter().cloned()).collect();
        let named = engine.append_edit(EditKind::together(edits));
        let last = *sequences.end();
        let mut loaded = Vec::new();
        if named.is_ok() {
            (indexes.install)();
            for Written { homes, meta, .. } in &self.written {
                let first = Arc::new(StoreFile::new(&engine.files, meta.clone()));
                loaded.push(Arc::clone(&first));
                // Every region must name the file before a compaction can release it for one of
                // them.
                let others: Vec<_> = homes.iter().skip(1).map(|_| first.share()).collect();
                for (home, file) in homes.iter().zip([first].into_iter().chain(others)) {
                    home.change(|super_version| super_version.files.push(file));
                }
            }
            engine.recent_writes.note_all(last);
        }
        let before = sequences.start() - 1;
        // Also if the edit failed: an unpublished sequence number would block all later ones.
        engine.mvcc.publish_several(sequences);
        named.map(|()| Installed { before, last, files: loaded })
    }
}

impl Load<'_> {
    /// Returns the files as the edit names them.
    fn loaded_files(&self) -> Vec<LoadedFile> {
        let files = self.written.iter().flat_map(|Written { homes, meta, .. }| {
            homes.iter().map(|home| LoadedFile {
                region_id: home.region_id(),
                family: home.name().clone(),
                meta: meta.clone(),
            })
        });
        files.collect()
    }
}

/// Returns the number that orders a file's cells among other files in the same cluster: the bulk
/// load's sequence number, which HBase puts into the file name, otherwise the number of the last
/// mutation.
fn source_sequence(file: &HFile) -> Result<u64> {
    let name = file.path().file_name().and_then(|name| name.to_str());
    let named = name.and_then(|name| name.rsplit_once("_SeqId_")?.1.split_once('_'));
    match named.and_then(|(number, _)| number.parse().ok()) {
        Some(number) => Ok(number),
        None => Ok(file.meta().sequence_max()?.unwrap_or(0)),
    }
}

impl Drop for Load<'_> {
    fn drop(&mut self) {
        // Keep a file that an edit may have named: the next open finds out whether one did.
        for Written { meta, .. } in self.written.iter().filter(|file| !file.meta.loaded) {
            let _ = self.engine.disk.remove(&file_path(meta.file_id));
        }
    }
}

fn find_family(region: &Region, name: &[u8]) -> Result<Arc<FamilyStore>> {
    let families = region.families().iter();
    let family = families.into_iter().find(|family| family.name() == name);
    family.cloned().ok_or_else(|| {
        Error::new(
            ErrorKind::NoSuchColumnFamily,
            format!("Column family {} does not exist in region {}", escape(name), region.name()),
        )
    })
}
