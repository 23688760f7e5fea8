//! Exports a table's cells to a directory.

use std::fs::{self, File};
use std::io::{self, BufWriter};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rowhouse_format::hfile::{Finish, Writer, WriterOptions, ZstdForm};
use rowhouse_model::{Error, FamilyDescriptor, Key, Result, TableName};

use crate::cells::Cells;
use crate::check::Progress;
use crate::compact::CompactionFilter;
use crate::compaction_policy::CompactionKind;
use crate::engine::Engine;
use crate::family::{FamilyStore, SuperVersion};
use crate::indexed::refuse_in_memory;
use crate::memstore::MemstoreCursor;
use crate::read::{Merge, ReadPoint, Source};
use crate::region::Region;
use crate::store::Store;
use crate::store_file::FileCursor;

/// Which cells are exported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExportedCells {
    /// The cells that a major compaction would keep.
    #[default]
    Retained,
    /// All stored cells, including delete markers and the cells they cover.
    Raw,
}

/// How HFiles are exported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExportOptions {
    /// The cells to export.
    pub cells: ExportedCells,
    /// The ZSTD form that the cluster's codec reads, for families with ZSTD compression. Default:
    /// the form that HBase's default codec reads.
    pub zstd: ZstdForm,
}

impl From<ExportedCells> for ExportOptions {
    fn from(cells: ExportedCells) -> Self {
        Self { cells, ..Self::default() }
    }
}

/// The result of [`Store::export_hfiles`].
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct ExportReport {
    /// The HFiles; none for a region without cells in a family.
    pub files: Vec<PathBuf>,
    /// Bytes in these files.
    pub bytes: u64,
    /// Cells in these files.
    pub cells: u64,
}

impl Store {
    /// Writes `table`'s cells, as of one read point, to HFiles under `dir`: one for each region and
    /// family, compressed and encoded as the family declares. `dir` is created, or must be empty. A
    /// file gets the final name once it is complete and on disk. After an error the named files are
    /// complete, and the caller should remove `dir`.
    ///
    /// # Errors
    /// `TableNotFound`; `Unsupported` for the table of an index in memory; `InvalidRequest` for a
    /// directory that is not empty; `Io` and `Corruption`
    /// for failed reads and writes.
    pub fn export_hfiles(
        &self,
        table: &TableName,
        dir: impl AsRef<Path>,
        options: impl Into<ExportOptions>,
        mut progress: impl FnMut(Progress<'_>),
    ) -> Result<ExportReport> {
        let options = options.into();
        let dir = dir.as_ref();
        let table = self.table(table)?;
        refuse_in_memory(table.descriptor(), "exported")?;
        make_empty(dir)?;
        let point = self.read_point();
        let families = table.regions().iter();
        let families =
            families.flat_map(|region| region.families().iter().map(move |it| (region, it)));
        // Held from the beginning, so that the point may let go: a raw export shows what flushes
        // drop.
        let families = families.map(|(region, it)| Ok((region, it, point.super_version_of(it)?)));
        let families: Vec<_> = families.collect::<Result<_>>()?;
        let bytes_of = |super_version: &SuperVersion| {
            super_version.files.iter().map(|file| file.len()).sum::<u64>()
        };
        let bytes_total = families.iter().map(|(.., super_version)| bytes_of(super_version)).sum();
        let mut report = ExportReport::default();
        let mut bytes_done = 0;
        for (region, family, super_version) in families {
            let path = path_of(dir, region, family);
            progress(Progress::new(&path.display().to_string(), bytes_done, bytes_total));
            let export = Export { engine: self.engine(), point: &point, options };
            if let Some((cells, bytes)) = export.family(family, &super_version, &path)? {
                report.files.push(path);
                report.cells += cells;
                report.bytes += bytes;
            }
            bytes_done += bytes_of(&super_version);
        }
        progress(Progress::new("", bytes_done, bytes_total));
        sync_dir(dir)?;
        Ok(report)
    }
}

/// The settings that all files in an export share.
struct Export<'a> {
    engine: &'a Arc<Engine>,
    point: &'a ReadPoint,
    options: ExportOptions,
}

impl Export<'_> {
    /// Writes the cells in a region's family. Returns the cell count and the file's bytes; `None`
    /// if there are no cells.
    fn family(
        &self,
        family: &FamilyStore,
        super_version: &SuperVersion,
        path: &Path,
    ) -> Result<Option<(u64, u64)>> {
        // A file shared after a split has rows from both regions until it is compacted.
        let range = family.range();
        let start = Key::row_start(&range.start);
        let mut sources = Vec::new();
        let mut with_tags = false;
        let mut earliest_put = i64::MAX;
        for file in &super_version.files {
            with_tags |= file.has_tags()?;
            earliest_put = earliest_put.min(file.earliest_put()?);
            sources.push(Source::File(FileCursor::open_once(file, &start)?));
        }
        for memstore in super_version.frozen.iter().chain([&super_version.active]) {
            with_tags |= memstore.has_tags();
            if !memstore.is_empty() {
                // Memstores do not record it.
                earliest_put = i64::MIN;
            }
            sources.push(Source::Memory(MemstoreCursor::new(Arc::clone(memstore), &start)));
        }
        let now_millis = self.engine.timestamps.now_millis();
        let descriptor = family.descriptor();
        let mut keep =
            CompactionFilter::new(CompactionKind::Major, descriptor, earliest_put, now_millis);
        let mut merge = Merge::new(sources, self.point.sequence())?;
        let mut file: Option<NewHFile> = None;
        while let Some(cell) = merge.cell().filter(|cell| range.contains(cell.key.row)) {
            if self.options.cells == ExportedCells::Raw || keep.keeps(&cell) {
                let file = match &mut file {
                    Some(file) => file,
                    None => file.insert(self.create(path, descriptor, with_tags, now_millis)?),
                };
                file.writer.append(&cell)?;
            }
            merge.advance()?;
        }
        let major = self.options.cells == ExportedCells::Retained;
        file.map(|file| file.finish(self.point.sequence(), major)).transpose()
    }

    /// Begins a file.
    fn create(
        &self,
        path: &Path,
        family: &FamilyDescriptor,
        with_tags: bool,
        now_millis: i64,
    ) -> Result<NewHFile> {
        let dir = path.parent().unwrap_or(path);
        fs::create_dir_all(dir).map_err(|source| io("make", dir, source))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let tmp = path.with_file_name(format!(".{name}"));
        let file = File::create_new(&tmp).map_err(|source| io("make", &tmp, source))?;
        let options = WriterOptions {
            block_len: family.block_len(),
            encoding: family.data_block_encoding_declared(),
            compression: family.compression(),
            zstd: self.options.zstd,
            bloom: family.bloom(),
            with_tags,
            created_millis: now_millis.unsigned_abs(),
            ..WriterOptions::default()
        };
        let writer = Writer::new(BufWriter::new(file), options);
        Ok(NewHFile { writer, tmp, path: path.to_owned() })
    }
}

/// A file being written, under a name that bulk loads ignore.
struct NewHFile {
    writer: Writer<BufWriter<File>>,
    tmp: PathBuf,
    path: PathBuf,
}

impl NewHFile {
    /// Ends the file and renames it to the final name. Returns the cells and bytes in it.
    fn finish(self, sequence_max: u64, major_compaction: bool) -> Result<(u64, u64)> {
        let closing = Finish { sequence_max, major_compaction, ..Finish::default() };
        let (summary, out) = self.writer.finish(&closing)?;
        let name = || {
            out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
            fs::rename(&self.tmp, &self.path)
        };
        name().map_err(|source| io("finish", &self.path, source))?;
        sync_dir(self.path.parent().unwrap_or(&self.path))?;
        Ok((summary.cells, summary.len))
    }
}

fn path_of(dir: &Path, region: &Region, family: &FamilyStore) -> PathBuf {
    dir.join(std::ffi::OsStr::from_bytes(family.name())).join(&region.name().encoded)
}

/// Creates a directory, or checks that an existing one is empty.
fn make_empty(dir: &Path) -> Result<()> {
    fs::create_dir_all(dir).map_err(|source| io("make", dir, source))?;
    let mut names = fs::read_dir(dir).map_err(|source| io("read", dir, source))?;
    if names.next().is_some() {
        return Err(Error::invalid(format!("{} is not empty", dir.display())));
    }
    Ok(())
}

fn sync_dir(dir: &Path) -> Result<()> {
    let synced = File::open(dir).and_then(|dir| dir.sync_all());
    synced.map_err(|source| io("finish", dir, source))
}

fn io(doing: &str, path: &Path, source: io::Error) -> Error {
    Error::io(format_args!("cannot {doing} {}", path.display()), source)
}
