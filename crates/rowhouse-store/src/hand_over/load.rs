//! Puts HFiles from outside the store into a table: HBase's bulk load.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rowhouse_model::{Bytes, Error, ErrorKind, Result, RowRange, TableDescriptor, TableName};
use rowhouse_schema::IndexSchema;

use super::loading::{Load, LoadedIndexes};
use crate::check::Progress;
use crate::hfile::HFile;
use crate::region::{Region, not_serving};
use crate::store::Store;
use crate::table::Table;

/// The result of [`Store::bulk_load`].
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct LoadReport {
    /// HFiles read.
    pub files: usize,
    /// Cells in these files.
    pub cells: u64,
    /// The sequence number from which on all cells are visible, which the newest cells have; 0 if
    /// there were no cells.
    pub sequence: u64,
}

/// Returns the HFiles under `dir`, each with its family: every file in a folder with a family's
/// name. Ignores files whose names begin with `_` and everything that begins with `.`, as HBase's
/// bulk load does.
///
/// # Errors
/// `Io` for a failed listing; `InvalidRequest` for a file in place of a family folder, and for a
/// folder inside a family folder.
pub fn files_to_load(dir: impl AsRef<Path>) -> Result<Vec<(Bytes, PathBuf)>> {
    let mut files = Vec::new();
    for folder in listed(dir.as_ref())? {
        if !folder.is_dir() {
            return Err(Error::invalid(format!("{} is not a family's folder", folder.display())));
        }
        let family = folder.file_name().unwrap_or_default().as_bytes();
        let family = Bytes::copy_from_slice(family);
        for file in listed(&folder)? {
            if file.is_dir() {
                return Err(Error::invalid(format!("{} is not an HFile", file.display())));
            }
            files.push((family.clone(), file));
        }
    }
    Ok(files)
}

/// Returns the directory entries that are not ignored, by name.
fn listed(dir: &Path) -> Result<Vec<PathBuf>> {
    let io = |source| Error::io(format_args!("cannot read {}", dir.display()), source);
    let mut paths = Vec::new();
    for entry in fs::read_dir(dir).map_err(io)? {
        let entry = entry.map_err(io)?;
        let path = entry.path();
        let is_passed = match entry.file_name().as_bytes().first() {
            Some(b'.') => true,
            // A family's name may begin with `_`.
            Some(b'_') => !path.is_dir(),
            _ => false,
        };
        if !is_passed {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

impl Store {
    /// Puts the cells in HFiles, each with its family, into `table`. All cells become visible
    /// atomically, also across a crash. They get new sequence numbers, so they count as written
    /// now. If two files hold the same cell, the cell in the file whose original sequence number is
    /// higher wins, as in their cluster. The files are read completely and not changed. A file with
    /// rows from several regions is divided among the regions, including regions that a concurrent
    /// split or merge creates. The store's copies are compressed as the table declares.
    ///
    /// # Errors
    /// `TableNotFound`, `TableNotEnabled`, `NoSuchColumnFamily`; `InvalidRequest` for a read-only
    /// table and for a cell of another family than its file's; `Io`, `Corruption` and `Unsupported`
    /// for unreadable files; `RegionTooBusy` if the disk is full; `NotServingRegion` for a region
    /// that is not assigned, and if the table was dropped meanwhile. After an error nothing was
    /// changed.
    pub fn bulk_load(
        &self,
        table: &TableName,
        files: &[(Bytes, PathBuf)],
        mut progress: impl FnMut(Progress<'_>),
    ) -> Result<LoadReport> {
        let table = self.table_to_load(table)?;
        let hfiles = look_at_all(table.descriptor(), files)?;
        let bytes_total = hfiles.iter().map(|file| file.len).sum();
        let mut load = Load::begin(self.engine())?;
        let mut bytes_done = 0;
        for file in &hfiles {
            progress(Progress::new(&file.path.display().to_string(), bytes_done, bytes_total));
            load.take(file.family, &file.open()?, |row| Some(Arc::clone(table.region_of(row))))?;
            bytes_done += file.len;
        }
        progress(Progress::new("", bytes_done, bytes_total));
        self.install(load, hfiles.len(), &table, None)
    }

    /// Returns a table that accepts loads.
    pub(super) fn table_to_load(&self, table: &TableName) -> Result<Arc<Table>> {
        let table = self.table(table)?;
        table.check_enabled()?;
        self.check_loadable(&table)?;
        Ok(table)
    }

    /// Puts the cells in HFiles, each with its family, into one region, as [`Store::bulk_load`]
    /// does for a table. Returns `None`, and changes nothing, if a file has rows from other
    /// regions: the caller then divides it by the current regions.
    ///
    /// # Errors
    /// `NotServingRegion`, also if other regions replaced this one meanwhile; otherwise as
    /// [`Store::bulk_load`].
    pub fn bulk_load_region(
        &self,
        region: &Arc<Region>,
        files: &[(Bytes, PathBuf)],
    ) -> Result<Option<LoadReport>> {
        region.check_serving()?;
        let table = self.table(&region.info().table)?;
        self.check_loadable(&table)?;
        let hfiles = look_at_all(table.descriptor(), files)?;
        let range = &region.info().range;
        if !hfiles.iter().all(|file| file.fits(range)) {
            return Ok(None);
        }
        let mut load = Load::begin(self.engine())?;
        for file in &hfiles {
            let region_of = |row: &[u8]| range.contains(row).then(|| Arc::clone(region));
            load.take(file.family, &file.open()?, region_of)?;
        }
        self.install(load, hfiles.len(), &table, Some(region)).map(Some)
    }

    /// Adds the written files to the table, or to the region `only`, if it still accepts loads.
    /// `files` is how many HFiles were read.
    pub(super) fn install(
        &self,
        load: Load<'_>,
        files: usize,
        table: &Table,
        only: Option<&Arc<Region>>,
    ) -> Result<LoadReport> {
        let mut report = LoadReport { files, cells: load.cells(), ..LoadReport::default() };
        if load.cells() == 0 {
            return Ok(report);
        }
        // Before the changes lock, as index builds take them.
        let reindexing = table.reindexing.lock();
        let changing = self.changing();
        let now = self.table_to_load(table.name())?;
        if now.id() != table.id() {
            return Err(Error::new(
                ErrorKind::NotServingRegion,
                format!("the table was dropped while files were loaded: table={}", table.name()),
            ));
        }
        let regions = match only {
            // The caller named a region: it has to find the replacements and load into each.
            Some(region) if !now.regions().iter().any(|it| Arc::ptr_eq(it, region)) => {
                return Err(not_serving(region.name()));
            }
            Some(region) => std::slice::from_ref(region),
            None => now.regions(),
        };
        self.reset_indexes(&now)?;
        let repairing = self.repairing_indexes(&now)?;
        let indexes = LoadedIndexes {
            edits: repairing.edits(),
            install: &|| self.install_indexes(&repairing),
        };
        let installed = load.install(regions, &indexes)?;
        drop(changing);
        self.queue_loaded_rows(&now, &repairing, &installed)?;
        self.index_loaded_rows(&now, &repairing, &installed)?;
        drop(reindexing);
        report.sequence = installed.last;
        Ok(report)
    }

    fn check_loadable(&self, table: &Table) -> Result<()> {
        if table.descriptor().is_read_only() {
            return Err(Error::invalid(format!("{} is read-only", table.name())));
        }
        Store::refuse_index_table(table.descriptor())?;
        self.effects().observers.check(table.name())?;
        let indexes = table.indexes()?.map(IndexSchema::indexes).unwrap_or_default();
        match indexes.iter().find(|index| index.is_unique()) {
            None => Ok(()),
            Some(index) => Err(Error::unsupported(format!(
                "files cannot be loaded into a table with a unique index: table={}, index={}; drop \
                 the index, and declare it again after the load",
                table.name(),
                index.name()
            ))),
        }
    }
}

/// A file to load that was inspected. It is not held open: there may be more files than the process
/// may have open.
struct LoadFile<'a> {
    family: &'a Bytes,
    path: &'a Path,
    len: u64,
    /// The rows that the first and last cell have.
    ends: Vec<Bytes>,
}

/// Inspects the files before anything is written.
fn look_at_all<'a>(
    table: &TableDescriptor,
    files: &'a [(Bytes, PathBuf)],
) -> Result<Vec<LoadFile<'a>>> {
    let look_at = |(family, path): &'a (Bytes, PathBuf)| {
        table.find_family(family)?;
        let file = HFile::open(path)?;
        let ends = [file.meta().first_key(), file.meta().last_key()];
        let ends = ends.iter().flatten().map(|key| Bytes::copy_from_slice(key.row)).collect();
        Ok(LoadFile { family, path, len: file.meta().trailer().file_len, ends })
    };
    files.iter().map(look_at).collect()
}

impl LoadFile<'_> {
    /// Returns true if all rows in the file, according to the metadata, are in `range`.
    fn fits(&self, range: &RowRange) -> bool {
        self.ends.iter().all(|row| range.contains(row))
    }

    /// Opens the file for reading.
    fn open(&self) -> Result<HFile> {
        let file = HFile::open(self.path)?;
        if file.meta().trailer().file_len != self.len {
            let path = self.path.display();
            return Err(Error::invalid(format!("{path} was changed while files were loaded")));
        }
        Ok(file)
    }
}
