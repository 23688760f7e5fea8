//! HFiles of the store: opened when first read, read through the block cache, written by flushes
//! and compactions.

mod bloom_places;
mod cursor;
mod files;
mod markers;
mod new;
mod snapshots;
mod stamp;
mod walk;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use rowhouse_format::hfile::{
    self, BlockHandle, Bloom, BloomChunk, BloomKey, DataBlock, Index, MarkerRun, MetaSeal, Trailer,
    verify_meta,
};
use rowhouse_model::{
    BloomKind, Bytes, Error, ErrorKind, Qualifiers, Result, RowRange, TimeRange, compare_bytes,
};

pub(crate) use bloom_places::KeptChunk;
use bloom_places::{BloomPlaces, gives_sign};
pub(crate) use cursor::FileCursor;
pub(crate) use files::Files;
use markers::MarkerRuns;
pub(crate) use new::NewFile;
pub(crate) use snapshots::SnapshotFiles;
pub(crate) use stamp::StampedFile;

use crate::block_cache::{CachedBlock, Caching};
use crate::compact::{FileFacts, Surplus};
use crate::manifest::FileMeta;

/// The directory of the files.
pub(crate) const FILES_DIR: &str = "files";

/// Data blocks of more bytes are not kept in memory.
const CACHED_BLOCK_BYTES_MAX: usize = 1 << 20;

/// A file's name in [`FILES_DIR`].
pub(crate) fn file_name(id: u64) -> String {
    format!("{id:010}.hfile")
}

/// The id in a file's name; `None` when it is no file's.
pub(crate) fn id_of(name: &str) -> Option<u64> {
    name.strip_suffix(".hfile")?.parse().ok()
}

/// A file's path.
pub(crate) fn path(id: u64) -> String {
    format!("{FILES_DIR}/{}", file_name(id))
}

/// A file that the manifest names: for each region that has rows in it, of one table or, after clones,
/// of several, and for each snapshot.
pub(crate) struct StoreFile {
    meta: FileMeta,
    files: Arc<Files>,
    /// What reading it needs.
    opened: OnceLock<hfile::FileMeta>,
    opening: Mutex<()>,
    bloom_places: BloomPlaces,
    /// Chunks of its bloom that could not be read, and why.
    unread_bloom: Mutex<BTreeMap<usize, Error>>,
    marker_runs: MarkerRuns,
    /// How many regions name it.
    names: AtomicUsize,
    /// How many snapshots do. When nobody does any more it goes with its last reader.
    snapshots: AtomicUsize,
}

/// Bytes of a file's blocks that fall to one of the regions that name it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BlockSizes {
    /// All of them, before compression.
    pub(crate) uncompressed: u64,
    /// The index, before compression.
    pub(crate) index: u64,
    /// The blooms.
    pub(crate) bloom: u64,
}

impl StoreFile {
    /// A file that will be opened when it is first read.
    pub(crate) fn new(files: &Arc<Files>, meta: FileMeta) -> Self {
        Self {
            meta,
            files: Arc::clone(files),
            opened: OnceLock::new(),
            opening: Mutex::default(),
            bloom_places: BloomPlaces::default(),
            unread_bloom: Mutex::default(),
            marker_runs: MarkerRuns::default(),
            names: AtomicUsize::new(1),
            snapshots: AtomicUsize::new(0),
        }
    }

    pub(crate) fn id(&self) -> u64 {
        self.meta.file_id
    }

    /// The first row in it.
    pub(crate) fn first_row(&self) -> &[u8] {
        &self.meta.first_row
    }

    /// Bytes on disk.
    pub(crate) fn len(&self) -> u64 {
        self.meta.len
    }

    /// Whether a merge of all files wrote it.
    pub(crate) fn is_major(&self) -> bool {
        self.meta.major
    }

    /// When it was written; 0 when its version did not say.
    pub(crate) fn created_millis(&self) -> i64 {
        self.meta.created_millis
    }

    /// The highest sequence in it.
    pub(crate) fn sequence_max(&self) -> u64 {
        self.meta.sequence_max
    }

    /// As [`FileMeta::logged_max`].
    pub(crate) fn logged_up_to(&self) -> u64 {
        self.meta.logged_up_to()
    }

    /// Whether it came by a bulk load: all its cells have its highest sequence, and what stands in the file means nothing.
    fn is_loaded(&self) -> bool {
        self.meta.loaded
    }

    /// What matters in choosing what to merge in the region of `range`.
    pub(crate) fn facts(&self, range: &RowRange) -> FileFacts<'_> {
        let meta = &self.meta;
        FileFacts {
            wider: self.is_wider_than(range),
            id: meta.file_id,
            len: meta.len,
            first_row: &meta.first_row,
            last_row: &meta.last_row,
            timestamp_min: meta.timestamp_min,
            timestamp_max: meta.timestamp_max,
            created_millis: meta.created_millis,
            cells: meta.cells,
            surplus: meta
                .markers
                .zip(meta.behind)
                .map(|(markers, behind)| Surplus { markers, behind }),
            major: meta.major,
        }
    }

    /// Whether cells may have tags.
    pub(crate) fn has_tags(&self) -> Result<bool> {
        Ok(self.opened()?.layout().tags)
    }

    /// No put in it has a lower timestamp.
    pub(crate) fn earliest_put(&self) -> Result<i64> {
        Ok(self.opened()?.earliest_put()?.unwrap_or(i64::MIN))
    }

    /// The runs of delete markers that it tells.
    pub(crate) fn marker_runs(&self) -> Result<&[MarkerRun]> {
        Ok(self.opened()?.marker_runs())
    }

    /// What its bloom is over.
    pub(crate) fn bloom_kind(&self) -> Result<BloomKind> {
        Ok(self.opened()?.bloom().map_or(BloomKind::None, Bloom::kind))
    }

    /// Whether any row of the file lies in `range`.
    pub(crate) fn may_hold_rows(&self, range: &RowRange) -> bool {
        self.meta.may_hold_rows(range)
    }

    /// The same, asking a bloom over the first bytes of rows too, which the family's files have if it declares one.
    pub(crate) fn may_hold_prefix(&self, range: &RowRange) -> Result<bool> {
        if !self.may_hold_rows(range) {
            return Ok(false);
        }
        let opened = self.opened()?;
        let Some(bloom) = opened.bloom() else { return Ok(true) };
        match bloom.kind() {
            BloomKind::RowPrefix(len) => match range.shared_prefix(len.into()) {
                Some(prefix) => self.may_hold_key(opened, bloom, &bloom.key(prefix, b"")),
                None => Ok(true),
            },
            BloomKind::Row | BloomKind::RowCol | BloomKind::None => Ok(true),
        }
    }

    /// Whether any cell of the file can matter to who reads the versions of `range`. What deletes
    /// cover counts as theirs: the least timestamp of a file with markers over older cells is 0.
    pub(crate) fn may_hold_versions(&self, range: &TimeRange) -> bool {
        let first = self.meta.timestamp_min.max(range.min().as_millis());
        first <= self.meta.timestamp_max && range.contains(first)
    }

    /// Whether the file may have cells of `row` that matter to who reads these columns of it, all
    /// when `None`; `false` is certain. Which columns is asked only where the bloom is over columns.
    pub(crate) fn may_hold_row<'a>(
        &self,
        row: &[u8],
        qualifiers: impl FnOnce() -> Option<&'a Qualifiers>,
    ) -> Result<bool> {
        let (first, last) = (&self.meta.first_row, &self.meta.last_row);
        if compare_bytes(row, first).is_lt() || compare_bytes(row, last).is_gt() {
            return Ok(false);
        }
        let opened = self.opened()?;
        let Some(bloom) = opened.bloom() else { return Ok(true) };
        let asks = |qualifier: &[u8]| self.may_hold_key(opened, bloom, &bloom.key(row, qualifier));
        match bloom.kind() {
            BloomKind::Row | BloomKind::RowPrefix(_) => asks(b""),
            BloomKind::RowCol => {
                let Some(qualifiers) = qualifiers() else { return Ok(true) };
                // Markers over the family matter to every column. They have no qualifier, so they
                // are in the bloom as the column without a name.
                if asks(b"")? {
                    return Ok(true);
                }
                for qualifier in qualifiers.named() {
                    if asks(qualifier)? {
                        return Ok(true);
                    }
                }
                Ok(false)
            }
            BloomKind::None => Ok(true),
        }
    }

    fn may_hold_key(
        &self,
        opened: &hfile::FileMeta,
        bloom: &Bloom,
        key: &BloomKey<'_>,
    ) -> Result<bool> {
        let Some(number) = bloom.chunk_for(key) else { return Ok(false) };
        if let Some(chunk) = &*self.bloom_places.get(number, bloom.chunks().len()) {
            if gives_sign() {
                self.files.blocks.get((self.meta.file_id, bloom.chunk(number).offset));
            }
            return Ok(bloom.chunk_contains(chunk, key));
        }
        if self.is_damaged_bloom(number) {
            return Ok(true);
        }
        match self.read_bloom_chunk(opened, bloom, number) {
            Ok(chunk) => Ok(bloom.chunk_contains(&chunk, key)),
            Err(error) => {
                self.pass_over_bloom(number, error);
                Ok(true)
            }
        }
    }

    /// What cannot be read of its bloom, as far as it was asked. Reads go on without it.
    pub(crate) fn unread_bloom(&self) -> Vec<String> {
        self.unread_bloom.lock().values().map(Error::to_string).collect()
    }

    /// Whether a chunk was read and is not what was written. Another read may succeed after other errors.
    fn is_damaged_bloom(&self, chunk: usize) -> bool {
        let unread = self.unread_bloom.lock();
        unread.get(&chunk).is_some_and(|error| error.kind() == ErrorKind::Corruption)
    }

    /// A bloom only saves reads: without it every row may be there. Warns once for each chunk.
    fn pass_over_bloom(&self, chunk: usize, error: Error) {
        if let Entry::Vacant(place) = self.unread_bloom.lock().entry(chunk) {
            tracing::warn!(%error, "a bloom filter cannot be read, reads go on without it");
            place.insert(error);
        }
    }

    /// The same file, named once more.
    pub(crate) fn share(self: &Arc<Self>) -> Arc<Self> {
        self.names.fetch_add(1, Ordering::AcqRel);
        Arc::clone(self)
    }

    /// A region does not name it any more: when nobody does, it is removed once nobody reads it.
    pub(crate) fn release(&self) {
        self.names.fetch_sub(1, Ordering::AcqRel);
    }

    /// The same file, named by one snapshot more.
    fn keep(self: &Arc<Self>) -> Arc<Self> {
        self.snapshots.fetch_add(1, Ordering::AcqRel);
        Arc::clone(self)
    }

    /// A snapshot does not name it any more: as [`StoreFile::release`].
    fn let_go(&self) {
        self.snapshots.fetch_sub(1, Ordering::AcqRel);
    }

    /// What the manifest says of it.
    pub(crate) fn meta(&self) -> &FileMeta {
        &self.meta
    }

    /// Bytes of it that fall to one of the regions that name it: an equal share.
    pub(crate) fn share_len(&self) -> u64 {
        self.meta.len / self.names.load(Ordering::Relaxed).max(1) as u64
    }

    /// What is known of its blocks once it was opened: before, it counts as neither compressed nor
    /// indexed.
    pub(crate) fn block_sizes(&self) -> BlockSizes {
        let names = self.names.load(Ordering::Relaxed).max(1) as u64;
        let Some(opened) = self.opened.get() else {
            return BlockSizes { uncompressed: self.share_len(), ..BlockSizes::default() };
        };
        let blooms = opened.bloom().into_iter().chain(opened.delete_family_bloom());
        let chunks = blooms.flat_map(|bloom| bloom.chunks());
        BlockSizes {
            uncompressed: opened.trailer().uncompressed_len / names,
            index: opened.trailer().uncompressed_index_len / names,
            bloom: chunks.map(|chunk| u64::from(chunk.len)).sum::<u64>() / names,
        }
    }

    /// As [`FileMeta::is_wider_than`].
    pub(crate) fn is_wider_than(&self, range: &RowRange) -> bool {
        self.meta.is_wider_than(range)
    }

    /// As [`FileCursor::first_row_in`].
    pub(crate) fn first_row_in(self: &Arc<Self>, range: &RowRange) -> Result<Option<Bytes>> {
        FileCursor::first_row_in(self, range)
    }

    /// As [`FileCursor::middle_row`].
    pub(crate) fn middle_row(self: &Arc<Self>, range: &RowRange) -> Result<Option<Bytes>> {
        FileCursor::middle_row(self, range)
    }

    /// Whether it was read since it was written, or since the store was opened.
    #[cfg(test)]
    pub(crate) fn is_open(&self) -> bool {
        self.opened.get().is_some()
    }

    fn opened(&self) -> Result<&hfile::FileMeta> {
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

    fn open(&self) -> Result<hfile::FileMeta> {
        let bytes = self.read_meta()?;
        let seal = MetaSeal { offset: self.meta.meta_offset, crc: self.meta.meta_crc };
        let parsed = verify_meta(&seal, &bytes).and_then(|()| parse_meta(bytes, self.meta.len));
        parsed.map_err(|error| self.named(error))
    }

    /// Everything behind the blocks.
    fn read_meta(&self) -> Result<Bytes> {
        let path = path(self.meta.file_id);
        let io_error = |source: io::Error| Error::io(format_args!("cannot open {path}"), source);
        let file = self.files.open(self.meta.file_id).map_err(io_error)?;
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
        Ok(bytes.into())
    }

    /// A data block. Those that are read once are read past the cache, and so are those of one large
    /// cell, which would push out many others.
    fn data_block(
        &self,
        opened: &hfile::FileMeta,
        handle: &BlockHandle,
        caching: Caching,
    ) -> Result<Arc<DataBlock>> {
        let key = (self.meta.file_id, handle.offset);
        let blocks = &self.files.blocks;
        if caching != Caching::Past
            && let Some(CachedBlock::Data(block)) = blocks.get(key)
        {
            return Ok(block);
        }
        let bytes = self.read(handle)?;
        let block = opened.data_block(handle, bytes).map_err(|error| self.named(error))?;
        let block = Arc::new(block);
        if block.memory_len() <= CACHED_BLOCK_BYTES_MAX {
            blocks.insert_by(caching, key, CachedBlock::Data(Arc::clone(&block)));
        }
        Ok(block)
    }

    fn index_block(&self, opened: &hfile::FileMeta, handle: &BlockHandle) -> Result<Arc<Index>> {
        let key = (self.meta.file_id, handle.offset);
        if let Some(CachedBlock::Index(block)) = self.files.blocks.get(key) {
            return Ok(block);
        }
        let bytes = self.read(handle)?;
        let block = opened.index_block(handle, bytes).map_err(|error| self.named(error))?;
        let block = Arc::new(block);
        self.files.blocks.insert(key, CachedBlock::Index(Arc::clone(&block)));
        Ok(block)
    }

    fn read_bloom_chunk(
        &self,
        opened: &hfile::FileMeta,
        bloom: &Bloom,
        number: usize,
    ) -> Result<Arc<BloomChunk>> {
        let handle = bloom.chunk(number);
        let bytes = self.read(&handle)?;
        let chunk = opened.bloom_chunk(&handle, bytes).map_err(|error| self.named(error))?;
        let chunk = Arc::new(chunk);
        let kept = self.bloom_places.keep(number, bloom.chunks().len(), &chunk);
        self.files.blocks.insert((self.meta.file_id, handle.offset), CachedBlock::Bloom(kept));
        Ok(chunk)
    }

    fn read(&self, handle: &BlockHandle) -> Result<Bytes> {
        let mut bytes = vec![0; handle.len as usize];
        let file = self.files.open(self.meta.file_id);
        let read = file.and_then(|file| file.read_exact_at(&mut bytes, handle.offset));
        read.map_err(|source| {
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

fn parse_meta(bytes: Bytes, file_len: u64) -> Result<hfile::FileMeta> {
    let trailer_at = bytes.len().checked_sub(Trailer::LEN).ok_or_else(|| {
        Error::corruption(format!("hfile is shorter than its trailer: len={file_len}"))
    })?;
    let trailer = Trailer::parse(&bytes[trailer_at..], file_len)?;
    // What is parsed shares these bytes for as long as the file is open, and the trailer has 4 KiB of its own.
    hfile::FileMeta::parse(trailer, Bytes::copy_from_slice(&bytes[..trailer_at]))
}

impl Drop for StoreFile {
    fn drop(&mut self) {
        if *self.names.get_mut() == 0 && *self.snapshots.get_mut() == 0 {
            let path = path(self.meta.file_id);
            match self.files.remove(self.meta.file_id) {
                Ok(()) => tracing::debug!(file = path, "file removed"),
                // It is in no edit, so the next open moves it aside.
                Err(error) => tracing::warn!(file = path, %error, "a file cannot be removed"),
            }
        }
    }
}
