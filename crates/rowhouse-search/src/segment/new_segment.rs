//! A segment that a merge writes to cells, part by part, while tantivy makes it.

use std::collections::HashMap;
use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use rowhouse_model::{Bytes, Cell, Error, Result};
use rowhouse_store::Table;
use tantivy::Directory;
use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    AntiCallToken, DirectoryLock, FileHandle, Lock, TerminatingWrite, WatchCallback, WatchHandle,
    WritePtr,
};

use super::files::{META, META_PATH};
use super::part_cache::PartCache;
use super::parts::{PART_BYTES, PartsDirectory, RECORD_BYTES_MAX, SegmentId, part_cell, read_only};

/// Writes a record of cells. An error ends the merge.
pub(crate) type WriteRecord = Box<dyn Fn(Vec<Cell>) -> Result<()> + Send + Sync>;

/// A segment that is being written, as a tantivy directory. Files go to the table as they grow;
/// those that are ended are read from there. Memory holds at most a part for each open file and a
/// record.
#[derive(Clone)]
pub(crate) struct NewSegment {
    inner: Arc<Inner>,
}

struct Inner {
    table: Arc<Table>,
    number: u64,
    write: WriteRecord,
    cache: Arc<PartCache>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    record: Vec<Cell>,
    record_bytes: usize,
    /// The files that are ended, each with the length.
    files: Vec<(String, u64)>,
    /// Tantivy's lists of segments and files, by path.
    lists: HashMap<PathBuf, Vec<u8>>,
    /// The error that ended the merge. Tantivy may return another one.
    failure: Option<Error>,
}

/// Writes a file.
struct FileWriter {
    inner: Arc<Inner>,
    name: String,
    /// How many parts are written, and the next one.
    parts: usize,
    part: Vec<u8>,
}

impl NewSegment {
    /// Begins a segment. `write` writes records; `cache` is for what tantivy reads back.
    pub(crate) fn new(
        table: &Arc<Table>,
        number: u64,
        write: WriteRecord,
        cache: &Arc<PartCache>,
    ) -> Self {
        let table = Arc::clone(table);
        let cache = Arc::clone(cache);
        let state = Mutex::default();
        Self { inner: Arc::new(Inner { table, number, write, cache, state }) }
    }

    /// Ends the segment: writes tantivy's list of segments and the last record. Returns the
    /// segment's number and files.
    ///
    /// # Errors
    /// As for writes.
    pub(super) fn finish(&self) -> Result<SegmentId> {
        let meta = self.inner.state.lock().lists.get(Path::new(META_PATH)).cloned();
        let mut file = FileWriter::new(&self.inner, META);
        file.add(&meta.unwrap_or_default())?;
        file.end()?;
        let mut files = self.inner.state.lock().files.clone();
        files.sort();
        Ok(SegmentId { number: self.inner.number, files })
    }

    /// The error with which a write failed.
    pub(super) fn failure(&self) -> Option<Error> {
        self.inner.state.lock().failure.clone()
    }

    /// The files that are ended.
    fn ended(&self) -> PartsDirectory {
        let files = self.inner.state.lock().files.clone();
        PartsDirectory {
            table: Arc::clone(&self.inner.table),
            id: Arc::new(SegmentId { number: self.inner.number, files }),
            cache: Arc::clone(&self.inner.cache),
        }
    }
}

impl Inner {
    /// Adds a part to the record, and writes the record if it is full.
    fn add(&self, cell: Cell) -> Result<()> {
        let is_full = {
            let mut state = self.state.lock();
            state.record_bytes += cell.value().len();
            state.record.push(cell);
            state.record_bytes + PART_BYTES > RECORD_BYTES_MAX
        };
        if is_full { self.write_record() } else { Ok(()) }
    }

    fn write_record(&self) -> Result<()> {
        let record = {
            let mut state = self.state.lock();
            state.record_bytes = 0;
            std::mem::take(&mut state.record)
        };
        if record.is_empty() {
            return Ok(());
        }
        (self.write)(record).inspect_err(|error| {
            self.state.lock().failure.get_or_insert_with(|| error.clone());
        })
    }
}

impl FileWriter {
    fn new(inner: &Arc<Inner>, name: &str) -> Self {
        Self { inner: Arc::clone(inner), name: name.to_owned(), parts: 0, part: Vec::new() }
    }

    fn add(&mut self, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            if self.part.is_empty() {
                self.part.reserve_exact(PART_BYTES);
            }
            let (taken, rest) = bytes.split_at(bytes.len().min(PART_BYTES - self.part.len()));
            self.part.extend_from_slice(taken);
            bytes = rest;
            if self.part.len() == PART_BYTES {
                self.end_part()?;
            }
        }
        Ok(())
    }

    fn end_part(&mut self) -> Result<()> {
        let mut part = std::mem::take(&mut self.part);
        part.shrink_to_fit();
        let cell = part_cell(self.inner.number, &self.name, self.parts, Bytes::from(part))?;
        self.parts += 1;
        self.inner.add(cell)
    }

    /// Writes what is left, so that the file can be read.
    fn end(&mut self) -> Result<()> {
        let len = self.parts * PART_BYTES + self.part.len();
        if !self.part.is_empty() {
            self.end_part()?;
        }
        self.inner.write_record()?;
        self.inner.state.lock().files.push((self.name.clone(), len as u64));
        Ok(())
    }
}

impl Write for FileWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.add(bytes).map_err(io::Error::other)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl TerminatingWrite for FileWriter {
    fn terminate_ref(&mut self, _: AntiCallToken) -> io::Result<()> {
        self.end().map_err(io::Error::other)
    }
}

impl fmt::Debug for NewSegment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "NewSegment({}, {})", self.inner.table.name(), self.inner.number)
    }
}

impl Directory for NewSegment {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        self.ended().get_file_handle(path)
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        Err(DeleteError::IoError { io_error: Arc::new(read_only(path)), filepath: path.to_owned() })
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        Ok(self.inner.state.lock().lists.contains_key(path) || self.ended().exists(path)?)
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        let Some(name) = path.extension().and_then(|it| it.to_str()) else {
            return Err(OpenWriteError::wrap_io_error(read_only(path), path.to_owned()));
        };
        Ok(io::BufWriter::new(Box::new(FileWriter::new(&self.inner, name))))
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        let list = self.inner.state.lock().lists.get(path).cloned();
        list.ok_or_else(|| OpenReadError::FileDoesNotExist(path.to_owned()))
    }

    fn atomic_write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.inner.state.lock().lists.insert(path.to_owned(), bytes.to_vec());
        Ok(())
    }

    fn sync_directory(&self) -> io::Result<()> {
        Ok(())
    }

    fn acquire_lock(&self, _: &Lock) -> Result<DirectoryLock, LockError> {
        // Nothing else writes the segment.
        Ok(DirectoryLock::from(Box::new(())))
    }

    fn watch(&self, _: WatchCallback) -> tantivy::Result<WatchHandle> {
        Ok(WatchHandle::empty())
    }
}
