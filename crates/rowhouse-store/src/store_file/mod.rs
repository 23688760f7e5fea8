//! HFiles of the store: opened when first read, read through the block cache, written by flushes
//! and compactions.

mod cursor;
mod new;

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use rowhouse_format::hfile::{
    self, BlockHandle, BloomChunk, DataBlock, Index, MetaSeal, Trailer, verify_meta,
};
use rowhouse_model::{Bytes, Error, ErrorKind, Result, RowRange};

pub(crate) use cursor::FileCursor;
pub(crate) use new::NewFile;

use crate::block_cache::{BlockCache, CachedBlock};
use crate::disk::{Disk, DiskFile};
use crate::engine::Engine;
use crate::manifest::FileMeta;

/// The directory of the files.
pub(crate) const FILES_DIR: &str = "files";

/// A file's name in [`FILES_DIR`].
pub(crate) fn file_name(id: u64) -> String {
    format!("{id:010}.hfile")
}

/// A file's path.
pub(crate) fn path(id: u64) -> String {
    format!("{FILES_DIR}/{}", file_name(id))
}

/// A file that the manifest names.
pub(crate) struct StoreFile {
    meta: FileMeta,
    disk: Arc<dyn Disk>,
    opened: OnceLock<Opened>,
    opening: Mutex<()>,
    /// Nothing names it any more: it goes with its last reader.
    remove: AtomicBool,
}

/// What reading it needs.
struct Opened {
    file: Arc<dyn DiskFile>,
    hfile: hfile::FileMeta,
}

impl StoreFile {
    /// A file that will be opened when it is first read.
    pub(crate) fn new(disk: &Arc<dyn Disk>, meta: FileMeta) -> Self {
        Self {
            meta,
            disk: Arc::clone(disk),
            opened: OnceLock::new(),
            opening: Mutex::default(),
            remove: AtomicBool::new(false),
        }
    }

    pub(crate) fn id(&self) -> u64 {
        self.meta.file_id
    }

    /// Bytes on disk.
    pub(crate) fn len(&self) -> u64 {
        self.meta.len
    }

    /// The highest sequence in it.
    pub(crate) fn sequence_max(&self) -> u64 {
        self.meta.sequence_max
    }

    /// Whether it came of a merge of all files.
    pub(crate) fn is_major(&self) -> bool {
        self.meta.major
    }

    /// Whether cells may have tags.
    pub(crate) fn has_tags(&self) -> Result<bool> {
        Ok(self.opened()?.hfile.layout().tags)
    }

    /// Whether any row of the file lies in `range`.
    pub(crate) fn may_hold_rows(&self, range: &RowRange) -> bool {
        range.start <= self.meta.last_row
            && (range.stop.is_empty() || self.meta.first_row < range.stop)
    }

    /// Whether the file may have cells of `row`; `false` is certain.
    pub(crate) fn may_hold_row(&self, engine: &Engine, row: &[u8]) -> Result<bool> {
        if row < &self.meta.first_row[..] || row > &self.meta.last_row[..] {
            return Ok(false);
        }
        let opened = self.opened()?;
        let Some(bloom) = opened.hfile.bloom() else { return Ok(true) };
        let Some(handle) = bloom.chunk_for(row) else { return Ok(false) };
        let chunk = self.bloom_chunk(&engine.cache, opened, &handle)?;
        Ok(bloom.chunk_contains(&chunk, row))
    }

    /// Has the file removed once nobody reads it any more.
    pub(crate) fn remove_when_unused(&self) {
        self.remove.store(true, Ordering::Release);
    }

    fn opened(&self) -> Result<&Opened> {
        if let Some(opened) = self.opened.get() {
            return Ok(opened);
        }
        let _opening = self.opening.lock();
        if let Some(opened) = self.opened.get() {
            return Ok(opened);
        }
        let opened = self.open()?;
        Ok(self.opened.get_or_init(|| opened))
    }

    fn open(&self) -> Result<Opened> {
        let path = path(self.meta.file_id);
        let io_error = |source: io::Error| Error::io(format_args!("cannot open {path}"), source);
        let file = self.disk.open(&path).map_err(io_error)?;
        let len = file.len().map_err(io_error)?;
        let meta_len = self.meta.len.checked_sub(self.meta.meta_offset);
        let (Some(meta_len), true) = (meta_len, len == self.meta.len) else {
            return Err(Error::corruption(format!(
                "{path} has another length than was written: len={len}, written={}",
                self.meta.len
            )));
        };
        let mut bytes = vec![0; meta_len as usize];
        file.read_exact_at(&mut bytes, self.meta.meta_offset).map_err(io_error)?;
        let seal = MetaSeal { offset: self.meta.meta_offset, crc: self.meta.meta_crc };
        let hfile = parse_meta(seal, bytes.into(), len).map_err(|error| self.named(error))?;
        Ok(Opened { file, hfile })
    }

    fn data_block(
        &self,
        cache: Option<&BlockCache>,
        opened: &Opened,
        handle: &BlockHandle,
    ) -> Result<Arc<DataBlock>> {
        let key = (self.meta.file_id, handle.offset);
        if let Some(CachedBlock::Data(block)) = cache.and_then(|cache| cache.get(key)) {
            return Ok(block);
        }
        let bytes = self.read(opened, handle)?;
        let block = opened.hfile.data_block(handle, bytes).map_err(|error| self.named(error))?;
        let block = Arc::new(block);
        if let Some(cache) = cache {
            cache.insert(key, CachedBlock::Data(Arc::clone(&block)));
        }
        Ok(block)
    }

    fn index_block(
        &self,
        cache: &BlockCache,
        opened: &Opened,
        handle: &BlockHandle,
    ) -> Result<Arc<Index>> {
        let key = (self.meta.file_id, handle.offset);
        if let Some(CachedBlock::Index(block)) = cache.get(key) {
            return Ok(block);
        }
        let bytes = self.read(opened, handle)?;
        let block = opened.hfile.index_block(handle, bytes).map_err(|error| self.named(error))?;
        let block = Arc::new(block);
        cache.insert(key, CachedBlock::Index(Arc::clone(&block)));
        Ok(block)
    }

    fn bloom_chunk(
        &self,
        cache: &BlockCache,
        opened: &Opened,
        handle: &BlockHandle,
    ) -> Result<Arc<BloomChunk>> {
        let key = (self.meta.file_id, handle.offset);
        if let Some(CachedBlock::Bloom(chunk)) = cache.get(key) {
            return Ok(chunk);
        }
        let bytes = self.read(opened, handle)?;
        let chunk = opened.hfile.bloom_chunk(handle, bytes).map_err(|error| self.named(error))?;
        let chunk = Arc::new(chunk);
        cache.insert(key, CachedBlock::Bloom(Arc::clone(&chunk)));
        Ok(chunk)
    }

    fn read(&self, opened: &Opened, handle: &BlockHandle) -> Result<Bytes> {
        let mut bytes = vec![0; handle.len as usize];
        opened.file.read_exact_at(&mut bytes, handle.offset).map_err(|source| {
            let path = path(self.meta.file_id);
            let (offset, len) = (handle.offset, handle.len);
            Error::io(format_args!("cannot read {path}: offset={offset}, len={len}"), source)
        })?;
        Ok(bytes.into())
    }

    /// An error of the format, told with the file's name.
    fn named(&self, error: Error) -> Error {
        let kind: ErrorKind = error.kind();
        Error::new(kind, format!("{}: {error}", path(self.meta.file_id))).with_source(error)
    }
}

fn parse_meta(seal: MetaSeal, bytes: Bytes, file_len: u64) -> Result<hfile::FileMeta> {
    verify_meta(&seal, &bytes)?;
    let trailer_at = bytes.len().checked_sub(Trailer::LEN).ok_or_else(|| {
        Error::corruption(format!("hfile is shorter than its trailer: len={file_len}"))
    })?;
    let trailer = Trailer::parse(&bytes[trailer_at..], file_len)?;
    hfile::FileMeta::parse(trailer, bytes.slice(..trailer_at))
}

impl Drop for StoreFile {
    fn drop(&mut self) {
        if *self.remove.get_mut() {
            let path = path(self.meta.file_id);
            match self.disk.remove(&path) {
                Ok(()) => tracing::debug!(file = path, "file removed"),
                // It is in no edit, so the next open moves it aside.
                Err(error) => tracing::warn!(file = path, %error, "a file cannot be removed"),
            }
        }
    }
}
