//! HFiles from elsewhere, put into a table: HBase's bulk load.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rowhouse_model::{Bytes, Error, ErrorKind, Result, TableName, escape};

use crate::check::Progress;
use crate::engine::Engine;
use crate::family::FamilyStore;
use crate::flush::{CELLS_BETWEEN_CHECKS, flush};
use crate::hfile::HFile;
use crate::manifest::{Edit, EditKind, FileMeta, FilesLoaded, LoadedFile};
use crate::region::Region;
use crate::store::Store;
use crate::store_file::{self, NewFile, StoreFile};
use crate::table::Table;

/// What [`Store::bulk_load`] took.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct LoadReport {
    /// HFiles that were read.
    pub files: usize,
    /// Cells of those.
    pub cells: u64,
    /// The sequence number that all of them have now; 0 where there was no cell.
    pub sequence: u64,
}

/// The HFiles under `dir` with the family of each: every file in a folder that has a family's name. Names that begin with
/// `_` or `.` are passed over, as in HBase's bulk load.
///
/// # Errors
/// `Io` for what cannot be listed; `InvalidRequest` for a file where a family's folder is expected, and for a folder in
/// one of these.
pub fn files_to_load(dir: impl AsRef<Path>) -> Result<Vec<(Bytes, PathBuf)>> {
    let mut files = Vec::new();
    for folder in listed(dir.as_ref())? {
        if !folder.is_dir() {
            return Err(Error::invalid(format!("{} is no family's folder", folder.display())));
        }
        let family = folder.file_name().unwrap_or_default().as_bytes();
        let family = Bytes::copy_from_slice(family);
        for file in listed(&folder)? {
            if file.is_dir() {
                return Err(Error::invalid(format!("{} is no HFile", file.display())));
            }
            files.push((family.clone(), file));
        }
    }
    Ok(files)
}

/// What is in a directory and not passed over, by name.
fn listed(dir: &Path) -> Result<Vec<PathBuf>> {
    let io = |source| Error::io(format_args!("cannot read {}", dir.display()), source);
    let mut paths = Vec::new();
    for entry in fs::read_dir(dir).map_err(io)? {
        let entry = entry.map_err(io)?;
        if !matches!(entry.file_name().as_bytes().first(), Some(b'_' | b'.')) {
            paths.push(entry.path());
        }
    }
    paths.sort();
    Ok(paths)
}

impl Store {
    /// Puts the cells of HFiles, each with its family, into `table`. All of them are there at one moment, or none is:
    /// also after a crash. They have one new sequence number, whatever their files say, so they count as written now. The
    /// files are read to their last cell and not changed; a file with rows of several regions is divided among them. What the
    /// store keeps is compressed as the table declares.
    ///
    /// # Errors
    /// `TableNotFound`, `TableNotEnabled`, `NoSuchColumnFamily`; `InvalidRequest` for a read-only table and for a cell of another family than
    /// its file's; `Io`, `Corruption` and `Unsupported` for files that cannot be read; `RegionTooBusy` where the disk is full.
    pub fn bulk_load(
        &self,
        table: &TableName,
        files: &[(Bytes, PathBuf)],
        mut progress: impl FnMut(Progress<'_>),
    ) -> Result<LoadReport> {
        let table = self.table_to_load(table)?;
        let opened = open_all(&table, files)?;
        let bytes_total = opened.iter().map(|(_, file)| file.meta().trailer().file_len).sum();
        let mut load = Load::new(self.engine(), &table);
        let mut bytes_done = 0;
        for (family, file) in &opened {
            progress(Progress::new(&file.path().display().to_string(), bytes_done, bytes_total));
            load.divide(family, file)?;
            bytes_done += file.meta().trailer().file_len;
        }
        progress(Progress::new("", bytes_done, bytes_total));
        self.install(load, opened.len())
    }

    /// A table that takes files.
    pub(super) fn table_to_load(&self, table: &TableName) -> Result<Arc<Table>> {
        let table = self.table(table)?;
        table.check_enabled()?;
        if table.descriptor().is_read_only() {
            return Err(Error::invalid(format!("{} is read-only", table.name())));
        }
        Ok(table)
    }

    /// Ends a load that read so many HFiles: what was written is part of the table.
    pub(super) fn install(&self, load: Load<'_>, files: usize) -> Result<LoadReport> {
        let mut report = LoadReport { files, cells: load.cells, sequence: 0 };
        if !load.written.is_empty() {
            let _changing = self.changing();
            report.sequence = load.install()?;
        }
        Ok(report)
    }
}

/// Opens the files, before anything is written.
fn open_all(table: &Table, files: &[(Bytes, PathBuf)]) -> Result<Vec<(Bytes, HFile)>> {
    let mut opened = Vec::with_capacity(files.len());
    for (family, path) in files {
        table.descriptor().find_family(family)?;
        opened.push((family.clone(), HFile::open(path)?));
    }
    Ok(opened)
}

/// A load under way. Dropped before it is installed, the files that it wrote are gone.
pub(super) struct Load<'a> {
    engine: &'a Arc<Engine>,
    table: &'a Table,
    written: Vec<(Arc<FamilyStore>, FileMeta)>,
    cells: u64,
}

impl<'a> Load<'a> {
    pub(super) fn new(engine: &'a Arc<Engine>, table: &'a Table) -> Self {
        Self { engine, table, written: Vec::new(), cells: 0 }
    }

    pub(super) fn engine(&self) -> &'a Arc<Engine> {
        self.engine
    }

    /// A file is whole.
    pub(super) fn add(&mut self, family: &Arc<FamilyStore>, meta: FileMeta) {
        self.written.push((Arc::clone(family), meta));
    }

    /// One more cell is written; an error when the store is being closed meanwhile.
    pub(super) fn count_cell(&mut self) -> Result<()> {
        self.cells += 1;
        match self.cells.is_multiple_of(CELLS_BETWEEN_CHECKS) {
            true => self.engine.check_open(),
            false => Ok(()),
        }
    }

    /// Writes the cells of a file to files of the store, one for each region that has rows in it.
    fn divide(&mut self, family: &Bytes, file: &HFile) -> Result<()> {
        let with_tags = file.meta().layout().tags;
        let mut cells = file.cells()?;
        while let Some(first) = cells.cell() {
            let region = Arc::clone(self.table.region_of(first.key.row));
            let store = find_family(&region, family)?;
            let mut new = NewFile::create(self.engine, &store, with_tags)?;
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
                self.count_cell()?;
                cells.advance()?;
            }
            let meta = new.finish(0, false)?;
            self.add(&store, meta);
        }
        Ok(())
    }

    /// Has the files be part of the table, all at once. The caller sees to it that no table is changed meanwhile.
    fn install(mut self) -> Result<u64> {
        for (family, _) in &self.written {
            self.check_there(family)?;
            // A file's sequences are to be behind those of the files before it, as far as writers allow it: the policy of
            // compactions goes by that. Reads and merges compare the numbers of cells.
            flush(self.engine, family)?;
        }
        let sequence = self.publish()?;
        for (family, _) in self.written.drain(..) {
            self.engine.compactions.request(&family, None);
        }
        Ok(sequence)
    }

    fn check_there(&self, family: &Arc<FamilyStore>) -> Result<()> {
        let there = self.engine.find_family(family.region_id(), family.name());
        if there.is_some_and(|there| Arc::ptr_eq(&there, family)) {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::NotServingRegion,
            format!("the regions of {} changed while files were loaded", self.table.name()),
        ))
    }

    fn publish(&mut self) -> Result<u64> {
        let engine = self.engine;
        // No commit is half done, so the number's place among them is plain; writers wait for one sync.
        let _gate = engine.gate.write();
        let sequence = engine.mvcc.reserve();
        for (_, meta) in &mut self.written {
            meta.sequence_max = sequence;
            meta.loaded = true;
        }
        let files = self.written.iter().map(|(family, meta)| LoadedFile {
            region_id: family.region_id(),
            family: family.name().clone(),
            meta: meta.clone(),
        });
        let edit = EditKind::FilesLoaded(FilesLoaded { files: files.collect() });
        let named = engine.manifest.append(&Edit::new(edit));
        if named.is_ok() {
            for (family, meta) in &self.written {
                let file = Arc::new(StoreFile::new(&engine.files, meta.clone()));
                family.change(|parts| parts.files.push(file));
            }
            engine.recent_writes.note_all(sequence);
        }
        // Also when the manifest refused: a sequence that is never published would stop all behind it.
        engine.mvcc.publish(sequence);
        named.map(|()| sequence)
    }
}

impl Drop for Load<'_> {
    fn drop(&mut self) {
        // One that an edit may have named stays: whether it did is found out when the store is opened.
        for (_, meta) in self.written.iter().filter(|(_, meta)| !meta.loaded) {
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
