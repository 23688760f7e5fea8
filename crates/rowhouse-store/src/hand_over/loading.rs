//! A load under way: what it has written, and the one edit that makes it part of the table.

use std::collections::BTreeMap;
use std::sync::Arc;

use rowhouse_model::{Bytes, CellRef, Error, ErrorKind, Result, escape};

use crate::engine::Engine;
use crate::family::FamilyStore;
use crate::flush::{CELLS_BETWEEN_CHECKS, flush};
use crate::hfile::{HFile, HFileCells};
use crate::manifest::{Edit, EditKind, FileMeta, FilesLoaded, LoadedFile};
use crate::region::Region;
use crate::space::Need;
use crate::store_file::{self, NewFile, StoreFile};

/// Bytes of cells after which a load asks the disk for room again.
const BYTES_UNSEEN_MAX: u64 = 1 << 20;

/// A load under way. Dropped before it is installed, the files that it wrote are gone.
pub(super) struct Load<'a> {
    engine: &'a Arc<Engine>,
    written: Vec<Written>,
    cells: u64,
    /// Bytes of cells since the disk was asked for room.
    bytes_unseen: u64,
}

/// A file of the store that a load wrote.
struct Written {
    family: Bytes,
    meta: FileMeta,
    /// Where it goes: to the region that it was written for, or to those that came in the place of that.
    homes: Vec<Arc<FamilyStore>>,
    /// The sequence number of the file that its cells came from; 0 where that has none.
    source_sequence: u64,
}

impl<'a> Load<'a> {
    /// # Errors
    /// `RegionTooBusy` where the disk is full.
    pub(super) fn begin(engine: &'a Arc<Engine>) -> Result<Self> {
        engine.space.check(&*engine.disk, Need::Room)?;
        Ok(Self { engine, written: Vec::new(), cells: 0, bytes_unseen: 0 })
    }

    pub(super) fn engine(&self) -> &'a Arc<Engine> {
        self.engine
    }

    /// A file is whole, with cells of a file of `source_sequence`.
    pub(super) fn add(&mut self, family: &Bytes, meta: FileMeta, source_sequence: u64) {
        let family = family.clone();
        self.written.push(Written { family, meta, homes: Vec::new(), source_sequence });
    }

    /// One more cell is written; an error when the store is being closed meanwhile, or the disk is full.
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

    /// Cells that were written.
    pub(super) fn cells(&self) -> u64 {
        self.cells
    }

    /// Writes the cells of a file to files of the store, one for each region that has rows in it.
    ///
    /// # Errors
    /// `Corruption` for a row that `region_of` knows no region for: the file has others than it says.
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
                let (path, row) = (file.path().display(), escape(row));
                Error::corruption(format!("{path} has a row outside its first and last: row={row}"))
            })?;
            self.take_rows_of(&region, family, file, &mut cells)?;
        }
        Ok(())
    }

    /// Writes the cells from here on that lie in `region` to one file of the store.
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
            // The number of the load is told by the manifest.
            cell.sequence = 0;
            new.append(&cell)?;
            self.count_cell(&cell)?;
            cells.advance()?;
        }
        let meta = new.finish(0, false)?;
        self.add(family, meta, source_sequence(file)?);
        Ok(())
    }

    /// Has the files be part of `regions`, which have all their rows, all at once: of each that they may have rows of. The caller
    /// sees to it that no table is changed meanwhile.
    pub(super) fn install(mut self, regions: &[Arc<Region>]) -> Result<u64> {
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
            // A file's sequences are to be behind those of the files before it, as far as writers allow it: the policy of
            // compactions goes by that. Reads and merges compare the numbers of cells.
            flush(self.engine, home)?;
        }
        let sequence = self.publish()?;
        for home in homes.values() {
            self.engine.compactions.request(home, None);
            self.engine.splits.request(home.region_id());
        }
        Ok(sequence)
    }

    /// Gives each file its number: one for all that have the same of their own, greater ones for those of greater ones. The last of them
    /// is the load's.
    fn publish(&mut self) -> Result<u64> {
        let engine = self.engine;
        self.written.sort_by_key(|file| file.source_sequence);
        let mut sources: Vec<u64> = self.written.iter().map(|file| file.source_sequence).collect();
        sources.dedup();
        // No commit is half done, so the numbers' place among them is plain; writers wait for two syncs.
        let _latch = engine.freeze_latch.write();
        // What was written before is not to be lost where this is not, and an open takes all up to a number that the
        // manifest names for synced: an end of the log that a power cut tore would be damage.
        engine.sync_log()?;
        let sequences = engine.mvcc.reserve_several(sources.len().max(1) as u64);
        for Written { meta, source_sequence, .. } in &mut self.written {
            let place = sources.partition_point(|source| source < source_sequence);
            meta.sequence_max = sequences.start() + place as u64;
            meta.loaded = true;
        }
        let files = self.written.iter().flat_map(|Written { homes, meta, .. }| {
            homes.iter().map(|home| LoadedFile {
                region_id: home.region_id(),
                family: home.name().clone(),
                meta: meta.clone(),
            })
        });
        let edit = EditKind::FilesLoaded(FilesLoaded { files: files.collect() });
        let named = engine.manifest.append(&Edit::new(edit));
        let last = *sequences.end();
        if named.is_ok() {
            for Written { homes, meta, .. } in &self.written {
                let first = Arc::new(StoreFile::new(&engine.files, meta.clone()));
                // Named by all before a merge can give it up for one of them.
                let others: Vec<_> = homes.iter().skip(1).map(|_| first.share()).collect();
                for (home, file) in homes.iter().zip([first].into_iter().chain(others)) {
                    home.change(|super_version| super_version.files.push(file));
                }
            }
            engine.recent_writes.note_all(last);
        }
        // Also when the manifest refused: a sequence that is never published would stop all behind it.
        engine.mvcc.publish_several(sequences);
        named.map(|()| last)
    }
}

/// By which number a file's cells are older or newer than those of other files of its cluster: the one that its name says it was loaded with,
/// as HBase names files, or else that of its last mutation.
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
        // One that an edit may have named stays: whether it did is found out when the store is opened.
        for Written { meta, .. } in self.written.iter().filter(|file| !file.meta.loaded) {
            let _ = self.engine.disk.remove(&store_file::path(meta.file_id));
        }
    }
}

fn find_family(region: &Region, name: &[u8]) -> Result<Arc<FamilyStore>> {
    let families = region.families().iter();
    let found = families.into_iter().find(|family| family.name() == name);
    found.cloned().ok_or_else(|| {
        Error::new(
            ErrorKind::NoSuchColumnFamily,
            format!("Column family {} does not exist in region {}", escape(name), region.name()),
        )
    })
}
