//! Segments in cells in the index's table.
//!
//! ```text
//! family s   row: number of the segment (8 bytes, big-endian), name of the file
//!            qualifier: number of the part (4 bytes, big-endian), value: up to 1 MiB of it
//! ```

use std::fmt;
use std::io;
use std::ops::{Deref, Range};
use std::path::Path;
use std::sync::Arc;

use rowhouse_model::{Bytes, Cell, CellKind, Columns, Error, ErrorKind, Get, Result, Timestamp};
use rowhouse_schema::SEGMENT_FAMILY;
use rowhouse_store::Table;
use stable_deref_trait::StableDeref;
use tantivy::directory::error::{DeleteError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    DirectoryLock, FileHandle, Lock, OwnedBytes, WatchCallback, WatchHandle, WritePtr,
};
use tantivy::{Directory, HasLen};

use super::files::{META, META_PATH, SegmentFiles};
use super::guard::unwind_if_guarded;
use super::part_cache::PartCache;

/// How large a part of a file is, in bytes.
pub(super) const PART_BYTES: usize = 1 << 20;

/// How many cell bytes one log record has at most.
pub(crate) const RECORD_BYTES_MAX: usize = 4 << 20;

/// The timestamp for parts. Segment numbers are not used again, so no part has two versions.
const WRITTEN_AT: i64 = 1;

/// A segment's number and the file lengths.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct SegmentId {
    pub(crate) number: u64,
    /// Each with a name.
    pub(crate) files: Vec<(String, u64)>,
}

/// Returns a segment's cells.
///
/// # Errors
/// As for cells; none is reached.
pub(crate) fn cells_of(number: u64, segment: &SegmentFiles) -> Result<Vec<Cell>> {
    let mut cells = Vec::new();
    for (name, bytes) in &segment.files {
        for at in (0..bytes.len()).step_by(PART_BYTES) {
            let part = bytes.slice(at..bytes.len().min(at + PART_BYTES));
            cells.push(part_cell(number, name, at / PART_BYTES, part)?);
        }
    }
    Ok(cells)
}

/// Returns the cell that holds a part of a segment file.
///
/// # Errors
/// As for cells; none is reached.
pub(super) fn part_cell(number: u64, name: &str, part: usize, bytes: Bytes) -> Result<Cell> {
    Cell::new(
        row_of(number, name),
        SEGMENT_FAMILY.as_bytes(),
        part_number(part),
        Timestamp::from_millis(WRITTEN_AT)?,
        CellKind::Put,
        bytes,
    )
}

/// Returns the cells that remove a segment's files, by name.
///
/// # Errors
/// As for cells; none is reached.
pub(crate) fn removals_of(number: u64, files: &[String]) -> Result<Vec<Cell>> {
    files.iter().map(|name| removal_of(row_of(number, name))).collect()
}

/// Returns the cell that removes a segment file.
pub(crate) fn removal_of(row: Bytes) -> Result<Cell> {
    let at = Timestamp::from_millis(WRITTEN_AT)?;
    Cell::new(row, SEGMENT_FAMILY.as_bytes(), b"", at, CellKind::DeleteFamily, b"")
}

fn row_of(number: u64, name: &str) -> Bytes {
    [&number.to_be_bytes()[..], name.as_bytes()].concat().into()
}

fn part_number(part: usize) -> [u8; 4] {
    u32::try_from(part).unwrap_or(u32::MAX).to_be_bytes()
}

/// A segment's files in a table, as a tantivy directory. It only reads.
#[derive(Clone)]
pub(super) struct PartsDirectory {
    pub(super) table: Arc<Table>,
    pub(super) id: Arc<SegmentId>,
    pub(super) cache: Arc<PartCache>,
}

/// A file in parts.
#[derive(Clone)]
struct PartsFile {
    table: Arc<Table>,
    /// The segment number.
    number: u64,
    /// The file's position among the segment's files.
    position: usize,
    row: Bytes,
    len: usize,
    cache: Arc<PartCache>,
}

/// A slice of a part. It shares the block's bytes.
struct Part(Bytes);

impl Deref for Part {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.0
    }
}

// SAFETY: `Bytes` points to memory that it shares; moving or cloning it does not move that memory,
// which is never changed.
#[expect(unsafe_code, reason = "tantivy takes bytes without a copy only this way")]
unsafe impl StableDeref for Part {}

impl PartsFile {
    fn part(&self, part: usize) -> Result<Bytes> {
        let key = (self.table.id(), self.number, self.position, part);
        if let Some(bytes) = self.cache.get(&key) {
            return Ok(bytes);
        }
        let bytes = self.read_part(part).map_err(unwind_if_guarded)?;
        self.cache.insert(key, bytes.clone());
        Ok(bytes)
    }

    fn read_part(&self, part: usize) -> Result<Bytes> {
        self.cache.check()?;
        let mut get = Get::new(self.row.clone())?;
        let mut columns = Columns::all();
        columns.add_column(SEGMENT_FAMILY, Bytes::copy_from_slice(&part_number(part)));
        get.columns = columns;
        get.cache_blocks = self.cache.is_for_searches();
        let row = self.table.get(&get)?;
        let value = row.value(SEGMENT_FAMILY, part_number(part));
        let len = (self.len - part * PART_BYTES).min(PART_BYTES);
        value.filter(|value| value.len() == len).ok_or_else(|| self.missing(part))
    }

    /// Returns the error for a part that is not there.
    fn missing(&self, part: usize) -> Error {
        let table = self.table.name();
        if self.table.is_dropped() {
            let kind = ErrorKind::RegionTooBusy;
            let message = "the full-text index was replaced since the search: search again";
            return Error::new(kind, format!("{message}: table={table}"));
        }
        let (number, name) = self.row.split_at(8.min(self.row.len()));
        let number = u64::from_be_bytes(number.try_into().unwrap_or_default());
        let name = String::from_utf8_lossy(name);
        Error::corruption(format!(
            "a part of a segment of a full-text index is missing: table={table}, \
             segment={number}, file={name}, part={part}"
        ))
    }

    fn read(&self, range: Range<usize>) -> Result<OwnedBytes> {
        if range.is_empty() {
            return Ok(OwnedBytes::empty());
        }
        let first = range.start / PART_BYTES;
        let last = (range.end - 1) / PART_BYTES;
        if first == last {
            let begin = first * PART_BYTES;
            let part = self.part(first)?;
            return Ok(OwnedBytes::new(Part(part.slice(range.start - begin..range.end - begin))));
        }
        let mut bytes = Vec::with_capacity(range.len());
        for part in first..=last {
            let begin = part * PART_BYTES;
            let cell = self.part(part)?;
            let from = range.start.max(begin) - begin;
            let to = range.end.min(begin + PART_BYTES) - begin;
            bytes.extend_from_slice(&cell[from..to]);
        }
        Ok(OwnedBytes::new(bytes))
    }
}

impl FileHandle for PartsFile {
    fn read_bytes(&self, range: Range<usize>) -> io::Result<OwnedBytes> {
        if range.start > range.end || range.end > self.len {
            let message = format!("no such bytes: range={range:?}, len={}", self.len);
            return Err(io::Error::other(Error::corruption(message)));
        }
        self.read(range).map_err(io::Error::other)
    }
}

impl HasLen for PartsFile {
    fn len(&self) -> usize {
        self.len
    }
}

impl fmt::Debug for PartsFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PartsFile({}, {:?})", self.table.name(), self.row)
    }
}

impl PartsDirectory {
    /// Returns the file at a path; `None` if the segment has none.
    fn file(&self, path: &Path) -> Option<PartsFile> {
        let name = match path.to_str() {
            Some(META_PATH) => META,
            _ => path.extension()?.to_str()?,
        };
        let position = self.id.files.iter().position(|(of, _)| of == name)?;
        let (name, len) = &self.id.files[position];
        // All file names but `meta` end in an extension.
        if name == META && path.to_str() != Some(META_PATH) {
            return None;
        }
        let len = usize::try_from(*len).ok()?;
        let table = Arc::clone(&self.table);
        let cache = Arc::clone(&self.cache);
        let number = self.id.number;
        Some(PartsFile { table, number, position, row: row_of(number, name), len, cache })
    }
}

impl fmt::Debug for PartsDirectory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PartsDirectory({}, {})", self.table.name(), self.id.number)
    }
}

pub(super) fn read_only(path: &Path) -> io::Error {
    io::Error::new(io::ErrorKind::ReadOnlyFilesystem, format!("{}", path.display()))
}

impl Directory for PartsDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        match self.file(path) {
            Some(file) => Ok(Arc::new(file)),
            None => Err(OpenReadError::FileDoesNotExist(path.to_owned())),
        }
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        Err(DeleteError::IoError { io_error: Arc::new(read_only(path)), filepath: path.to_owned() })
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        Ok(self.file(path).is_some())
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        Err(OpenWriteError::wrap_io_error(read_only(path), path.to_owned()))
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        let Some(file) = self.file(path) else {
            return Err(OpenReadError::FileDoesNotExist(path.to_owned()));
        };
        let wrapped = |error| OpenReadError::wrap_io_error(error, path.to_owned());
        Ok(file.read_bytes(0..file.len).map_err(wrapped)?.to_vec())
    }

    fn atomic_write(&self, path: &Path, _: &[u8]) -> io::Result<()> {
        Err(read_only(path))
    }

    fn sync_directory(&self) -> io::Result<()> {
        Ok(())
    }

    fn acquire_lock(
        &self,
        _: &Lock,
    ) -> Result<DirectoryLock, tantivy::directory::error::LockError> {
        // Nothing is written.
        Ok(DirectoryLock::from(Box::new(())))
    }

    fn watch(&self, _: WatchCallback) -> tantivy::Result<WatchHandle> {
        Ok(WatchHandle::empty())
    }
}
