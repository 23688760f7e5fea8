//! HFiles from elsewhere, put into a table: HBase's bulk load.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rowhouse_model::{Bytes, Error, ErrorKind, Result, RowRange, TableDescriptor, TableName};

use super::loading::Load;
use crate::check::Progress;
use crate::hfile::HFile;
use crate::region::{Region, not_serving};
use crate::store::Store;
use crate::table::Table;

/// What [`Store::bulk_load`] took.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct LoadReport {
    /// HFiles that were read.
    pub files: usize,
    /// Cells of those.
    pub cells: u64,
    /// The sequence number from which on all of them are there, which the newest have; 0 where there was no cell.
    pub sequence: u64,
}

/// The HFiles under `dir` with the family of each: every file in a folder that has a family's name. Files whose names
/// begin with `_`, and what begins with `.`, are passed over, as in HBase's bulk load.
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
        let path = entry.path();
        let is_passed = match entry.file_name().as_bytes().first() {
            Some(b'.') => true,
            // A family's name may begin so.
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
    /// Puts the cells of HFiles, each with its family, into `table`. All of them are there at one moment, or none is:
    /// also after a crash. They have new sequence numbers, so they count as written now; of one cell that two files have, that of the
    /// file with the greater sequence number of its own counts, as it did in their cluster. The
    /// files are read to their last cell and not changed; a file with rows of several regions is divided among them, also of
    /// those that a split or merge brings meanwhile. What the store keeps is compressed as the table declares.
    ///
    /// # Errors
    /// `TableNotFound`, `TableNotEnabled`, `NoSuchColumnFamily`; `InvalidRequest` for a read-only table and for a cell of another family than
    /// its file's; `Io`, `Corruption` and `Unsupported` for files that cannot be read; `RegionTooBusy` where the disk is full;
    /// `NotServingRegion` for a region that is not assigned, and where the table was dropped meanwhile; then nothing was changed.
    pub fn bulk_load(
        &self,
        table: &TableName,
        files: &[(Bytes, PathBuf)],
        mut progress: impl FnMut(Progress<'_>),
    ) -> Result<LoadReport> {
        let table = self.table_to_load(table)?;
        let found = look_at_all(table.descriptor(), files)?;
        let bytes_total = found.iter().map(|file| file.len).sum();
        let mut load = Load::begin(self.engine())?;
        let mut bytes_done = 0;
        for file in &found {
            progress(Progress::new(&file.path.display().to_string(), bytes_done, bytes_total));
            load.take(file.family, &file.open()?, |row| Some(Arc::clone(table.region_of(row))))?;
            bytes_done += file.len;
        }
        progress(Progress::new("", bytes_done, bytes_total));
        self.install(load, found.len(), &table, None)
    }

    /// A table that takes files.
    pub(super) fn table_to_load(&self, table: &TableName) -> Result<Arc<Table>> {
        let table = self.table(table)?;
        table.check_enabled()?;
        check_writable(table.descriptor())?;
        Ok(table)
    }

    /// Puts the cells of HFiles, each with its family, into one region, as [`Store::bulk_load`] puts them into a table. `None`
    /// where a file has rows of other regions: then nothing was changed, and whoever loads divides it by the regions that there
    /// are by then.
    ///
    /// # Errors
    /// `NotServingRegion`, also where others came in the region's place meanwhile; else as [`Store::bulk_load`].
    pub fn bulk_load_region(
        &self,
        region: &Arc<Region>,
        files: &[(Bytes, PathBuf)],
    ) -> Result<Option<LoadReport>> {
        region.check_serving()?;
        let table = self.table(&region.info().table)?;
        check_writable(table.descriptor())?;
        let found = look_at_all(table.descriptor(), files)?;
        let range = &region.info().range;
        if !found.iter().all(|file| file.fits(range)) {
            return Ok(None);
        }
        let mut load = Load::begin(self.engine())?;
        for file in &found {
            let region_of = |row: &[u8]| range.contains(row).then(|| Arc::clone(region));
            load.take(file.family, &file.open()?, region_of)?;
        }
        self.install(load, found.len(), &table, Some(region)).map(Some)
    }

    /// Has what was written be part of the table, or of the one region that was asked for, if that still takes files; it
    /// read so many HFiles.
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
        let _changing = self.changing();
        let now = self.table_to_load(table.name())?;
        if now.id() != table.id() {
            return Err(Error::new(
                ErrorKind::NotServingRegion,
                format!("the table was dropped while files were loaded: table={}", table.name()),
            ));
        }
        let regions = match only {
            // Who named a region is to look for those in its place, and to load into each.
            Some(region) if !now.regions().iter().any(|it| Arc::ptr_eq(it, region)) => {
                return Err(not_serving(region.name()));
            }
            Some(region) => std::slice::from_ref(region),
            None => now.regions(),
        };
        report.sequence = load.install(regions)?;
        Ok(report)
    }
}

fn check_writable(table: &TableDescriptor) -> Result<()> {
    if table.is_read_only() {
        return Err(Error::invalid(format!("{} is read-only", table.name())));
    }
    Ok(())
}

/// A file to load that was looked at, and is not open: there may be more of them than the process may have open.
struct LoadFile<'a> {
    family: &'a Bytes,
    path: &'a Path,
    len: u64,
    /// The rows of its first and last cell.
    ends: Vec<Bytes>,
}

/// Looks at the files, before anything is written.
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
    /// Whether all rows that the file says it has are in `range`.
    fn fits(&self, range: &RowRange) -> bool {
        self.ends.iter().all(|row| range.contains(row))
    }

    /// Opens it, to be read.
    fn open(&self) -> Result<HFile> {
        let file = HFile::open(self.path)?;
        if file.meta().trailer().file_len != self.len {
            let path = self.path.display();
            return Err(Error::invalid(format!("{path} was changed while files were loaded")));
        }
        Ok(file)
    }
}
