//! The store's HFiles: opened on the first read, read through the block cache, written by flushes
//! and compactions.

mod bloom_places;
mod cursor;
mod files;
mod markers;
mod row_part;
mod share;
mod snapshots;
mod stamp;
mod summary;
mod trace;
mod walk;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use rowhouse_format::hfile::{
    self, BlockHandle, Bloom, BloomChunk, BloomKey, DataBlock, Index, IndexStep, IndexWalk,
    MarkerRun, MetaChecksum, Trailer, verify_meta,
};
use rowhouse_model::{
    BloomKind, Bytes, Error, ErrorKind, Qualifiers, Result, RowRange, TimeRange, compare_bytes,
};
use rustix::io::Errno;

use bloom_places::{BloomSlots, should_touch_cache};
pub(crate) use cursor::FileCursor;
pub(crate) use files::Files;
use markers::MarkerRuns;
pub(crate) use snapshots::SnapshotFiles;
pub(crate) use stamp::{StampedFile, stamp_entry};
pub(crate) use summary::{FileSummary, Surplus};
pub use trace::{FILE_PARTS, FileReads};
pub(crate) use trace::{FileTrace, LeftOut};

use crate::block_cache::{CachedBlock, Caching};
use crate::layout::file_path;
use crate::manifest::FileMeta;

/// Larger data blocks are not cached.
const CACHED_BLOCK_BYTES_MAX: usize = 1 << 20;

/// A file that the manifest names: once for each region with rows in it, from one table or, after
/// clones, from several, and once for each snapshot.
pub(crate) struct StoreFile {
    meta: FileMeta,
    files: Arc<Files>,
    /// Metadata for reading it.
    opened: OnceLock<hfile::FileMeta>,
    opening: Mutex<()>,
    bloom_places: BloomSlots,
    /// Bloom chunks that could not be read, with the errors.
    unread_bloom: Mutex<BTreeMap<usize, Error>>,
    marker_runs: MarkerRuns,
    /// The number of regions that name the file.
    names: AtomicUsize,
    /// The number of snapshots that name the file. Once neither regions nor snapshots do, the file
    /// is removed with the last reader.
    snapshots: AtomicUsize,
}

/// Bytes of a file's blocks, divided among the regions that name it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BlockSizes {
    /// All blocks, before compression.
    pub(crate) uncompressed: u64,
    /// The index, before compression.
    pub(crate) index: u64,
    /// The blooms.
    pub(crate) bloom: u64,
}

impl StoreFile {
    /// Returns a file that is opened on the first read.
    pub(crate) fn new(files: &Arc<Files>, meta: FileMeta) -> Self {
        Self {
            meta,
            files: Arc::clone(files),
            opened: OnceLock::new(),
            opening: Mutex::default(),
            bloom_places: BloomSlots::default(),
            unread_bloom: Mutex::default(),
            marker_runs: MarkerRuns::default(),
            names: AtomicUsize::new(1),
            snapshots: AtomicUsize::new(0),
        }
    }

    pub(crate) fn id(&self) -> u64 {
        self.meta.file_id
    }

    /// Returns the first row in it.
    pub(crate) fn first_row(&self) -> &[u8] {
        &self.meta.first_row
    }

    /// Returns the file's bytes on disk.
    pub(crate) fn len(&self) -> u64 {
        self.meta.len
    }

    /// Returns true if a compaction over all files wrote it.
    pub(crate) fn is_major(&self) -> bool {
        self.meta.major
    }

    /// Returns when it was written; 0 when the file's version did not record it.
    pub(crate) fn created_millis(&self) -> i64 {
        self.meta.created_millis
    }

    /// Returns the highest sequence number in it.
    pub(crate) fn sequence_max(&self) -> u64 {
        self.meta.sequence_max
    }

    /// As [`FileMeta::logged_up_to`].
    pub(crate) fn logged_up_to(&self) -> u64 {
        self.meta.logged_up_to()
    }

    /// Returns true if a bulk load added the file. All cells then have the file's highest sequence
    /// number, and the sequence numbers stored in the file are ignored.
    fn is_loaded(&self) -> bool {
        self.meta.loaded
    }

    /// Returns the facts needed to choose compactions in the region with `range`.
    pub(crate) fn facts(&self, range: &RowRange) -> FileSummary<'_> {
        let meta = &self.meta;
        FileSummary {
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
                .zip(meta.older_versions)
                .map(|(markers, older_versions)| Surplus { markers, older_versions }),
            major: meta.major,
        }
    }

    /// Returns true if cells may have tags.
    pub(crate) fn has_tags(&self) -> Result<bool> {
        Ok(self.opened()?.layout().tags)
    }

    /// Returns a lower bound for the timestamps on the file's puts.
    pub(crate) fn earliest_put(&self) -> Result<i64> {
        Ok(self.opened()?.earliest_put()?.unwrap_or(i64::MIN))
    }

    /// Returns true if it may have single-version markers; `false` is certain.
    pub(crate) fn may_have_version_markers(&self) -> bool {
        let meta = &self.meta;
        meta.version_markers.or(meta.markers.filter(|&markers| markers == 0)) != Some(0)
    }

    /// Returns true if it certainly has no delete markers.
    pub(crate) fn has_no_markers(&self) -> bool {
        self.meta.markers == Some(0)
    }

    /// Returns the delete marker runs that the file records.
    pub(crate) fn marker_runs(&self) -> Result<&[MarkerRun]> {
        Ok(self.opened()?.marker_runs())
    }

    /// Returns the file's bloom kind.
    pub(crate) fn bloom_kind(&self) -> Result<BloomKind> {
        Ok(self.opened()?.bloom().map_or(BloomKind::None, Bloom::kind))
    }

    /// Returns true if any row in the file may lie in `range`.
    pub(crate) fn may_hold_rows(&self, range: &RowRange) -> bool {
        self.meta.may_hold_rows(range)
    }

    /// As [`StoreFile::may_hold_rows`], and also queries a bloom over row prefixes, which the file
    /// has if the family declares one.
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

    /// Returns true if any cell in the file can matter to a reader that requests the versions in
    /// `range`. Delete markers count as covering all older versions: the least timestamp of a file
    /// with markers over older cells is 0.
    pub(crate) fn may_hold_versions(&self, range: &TimeRange) -> bool {
        let first = self.meta.timestamp_min.max(range.min().as_millis());
        first <= self.meta.timestamp_max && range.contains(first)
    }

    /// Returns true if the file may have cells in `row` that matter to a reader that requests the
    /// given columns, all columns when `None`; `false` is certain. Evaluates `qualifiers` only if
    /// the bloom is over columns.
    pub(crate) fn may_hold_row<'a>(
        &self,
        row: &[u8],
        qualifiers: impl FnOnce() -> Option<&'a Qualifiers>,
    ) -> Result<bool> {
        let first = &self.meta.first_row;
        let last = &self.meta.last_row;
        if compare_bytes(row, first).is_lt() || compare_bytes(row, last).is_gt() {
            return Ok(false);
        }
        let opened = self.opened()?;
        let Some(bloom) = opened.bloom() else { return Ok(true) };
        let may_hold =
            |qualifier: &[u8]| self.may_hold_key(opened, bloom, &bloom.key(row, qualifier));
        match bloom.kind() {
            BloomKind::Row | BloomKind::RowPrefix(_) => may_hold(b""),
            BloomKind::RowCol => {
                let Some(qualifiers) = qualifiers() else { return Ok(true) };
                // Delete markers over the family matter to every column. They have no qualifier, so
                // the bloom has them as the column with an empty name.
                if may_hold(b"")? {
                    return Ok(true);
                }
                for qualifier in qualifiers.named() {
                    if may_hold(qualifier)? {
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
            if should_touch_cache() {
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
                self.note_unreadable_bloom(number, error);
                Ok(true)
            }
        }
    }

    /// Returns the errors of bloom chunks that reads tried and could not read. Reads continue
    /// without them.
    pub(crate) fn unread_bloom(&self) -> Vec<String> {
        self.unread_bloom.lock().values().map(Error::to_string).collect()
    }

    /// Returns true if a chunk was read and found damaged. After other errors a later read may
    /// succeed.
    fn is_damaged_bloom(&self, chunk: usize) -> bool {
        let unread = self.unread_bloom.lock();
        unread.get(&chunk).is_some_and(|error| error.kind() == ErrorKind::Corruption)
    }

    /// Treats an unreadable bloom chunk as one that may contain every key: a bloom only saves
    /// reads. Warns once for each chunk.
    fn note_unreadable_bloom(&self, chunk: usize, error: Error) {
        if let Entry::Vacant(place) = self.unread_bloom.lock().entry(chunk) {
            tracing::warn!(%error, "a bloom filter cannot be read, reads continue without it");
            place.insert(error);
        }
    }

    /// Adds a region that names the file.
    pub(crate) fn share(self: &Arc<Self>) -> Arc<Self> {
        self.names.fetch_add(1, Ordering::AcqRel);
        Arc::clone(self)
    }

    /// Removes a region that names the file. Once nothing names it, the file is removed after the
    /// last read.
    pub(crate) fn release(&self) {
        self.names.fetch_sub(1, Ordering::AcqRel);
    }

    /// Adds a snapshot that names the file.
    fn keep(self: &Arc<Self>) -> Arc<Self> {
        self.snapshots.fetch_add(1, Ordering::AcqRel);
        Arc::clone(self)
    }

    /// Removes a snapshot that names the file, as [`StoreFile::release`] does for a region.
    fn let_go(&self) {
        self.snapshots.fetch_sub(1, Ordering::AcqRel);
    }

    /// Returns the manifest's metadata for the file.
    pub(crate) fn meta(&self) -> &FileMeta {
        &self.meta
    }

    /// Returns the file's bytes divided by how many regions name it.
    pub(crate) fn share_len(&self) -> u64 {
        self.meta.len / self.names.load(Ordering::Relaxed).max(1) as u64
    }

    /// Returns the file's block sizes, known once it was opened. Before, the file counts as
    /// uncompressed and without an index.
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

    /// Returns true if it was read since it was written, or since the store was opened.
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
        let seal = MetaChecksum { offset: self.meta.meta_offset, crc: self.meta.meta_crc };
        let parsed = verify_meta(&seal, &bytes).and_then(|()| parse_meta(bytes, self.meta.len));
        parsed.map_err(|error| self.named(error))
    }

    /// Reads everything after the data blocks.
    fn read_meta(&self) -> Result<Bytes> {
        let path = file_path(self.meta.file_id);
        let io_error = |source| self.unread(source, format_args!("cannot open {path}"));
        let file = self.files.open(self.meta.file_id).map_err(io_error)?;
        let len = file.len().map_err(io_error)?;
        let meta_len = self.meta.len.checked_sub(self.meta.meta_offset);
        let (Some(meta_len), true) = (meta_len, len == self.meta.len) else {
            return Err(self.noted(Error::corruption(format!(
                "{path} has the wrong length: len={len}, written={}",
                self.meta.len
            ))));
        };
        let mut bytes = vec![0; meta_len as usize];
        file.read_exact_at(&mut bytes, self.meta.meta_offset).map_err(io_error)?;
        Ok(bytes.into())
    }

    /// Returns a data block. Bypasses the cache for blocks that are read once, and for blocks with
    /// a single large cell, which would evict many others.
    fn data_block(
        &self,
        opened: &hfile::FileMeta,
        handle: &BlockHandle,
        caching: Caching,
        trace: Option<&FileTrace>,
    ) -> Result<Arc<DataBlock>> {
        match self.cached_block(handle, caching, trace) {
            Some(block) => Ok(block),
            None => self.read_block(opened, handle, caching, trace),
        }
    }

    /// Returns a data block if it is in the cache.
    fn cached_block(
        &self,
        handle: &BlockHandle,
        caching: Caching,
        trace: Option<&FileTrace>,
    ) -> Option<Arc<DataBlock>> {
        if caching == Caching::Past {
            return None;
        }
        match self.files.blocks.get((self.meta.file_id, handle.offset)) {
            Some(CachedBlock::Data(block)) => {
                if let Some(trace) = trace {
                    trace.add_block(handle.offset, handle.len, true);
                }
                Some(block)
            }
            _ => None,
        }
    }

    /// Reads a data block that is not in the cache.
    fn read_block(
        &self,
        opened: &hfile::FileMeta,
        handle: &BlockHandle,
        caching: Caching,
        trace: Option<&FileTrace>,
    ) -> Result<Arc<DataBlock>> {
        Ok(self.read_block_and_bytes(opened, handle, caching, trace)?.0)
    }

    fn read_block_and_bytes(
        &self,
        opened: &hfile::FileMeta,
        handle: &BlockHandle,
        caching: Caching,
        trace: Option<&FileTrace>,
    ) -> Result<(Arc<DataBlock>, Bytes)> {
        if let Some(trace) = trace {
            trace.add_block(handle.offset, handle.len, false);
        }
        let bytes = self.read(handle)?;
        let block = opened.data_block(handle, bytes.clone()).map_err(|error| self.named(error))?;
        let block = Arc::new(block);
        if block.memory_len() <= CACHED_BLOCK_BYTES_MAX {
            let key = (self.meta.file_id, handle.offset);
            self.files.blocks.insert_by(caching, key, CachedBlock::Data(Arc::clone(&block)));
        }
        Ok((block, bytes))
    }

    fn index_block(
        &self,
        opened: &hfile::FileMeta,
        handle: &BlockHandle,
        trace: Option<&FileTrace>,
    ) -> Result<Arc<Index>> {
        let key = (self.meta.file_id, handle.offset);
        let cached = self.files.blocks.get(key);
        if let Some(trace) = trace {
            let is_cached = matches!(cached, Some(CachedBlock::Index(_)));
            trace.add_block(handle.offset, handle.len, is_cached);
        }
        if let Some(CachedBlock::Index(block)) = cached {
            return Ok(block);
        }
        let bytes = self.read(handle)?;
        let block = opened.index_block(handle, bytes).map_err(|error| self.named(error))?;
        let block = Arc::new(block);
        self.files.blocks.insert(key, CachedBlock::Index(Arc::clone(&block)));
        Ok(block)
    }

    /// Follows the index down to a data block, which is not read; `None` after the last.
    fn block_at(
        &self,
        opened: &hfile::FileMeta,
        walk: &mut IndexWalk,
        mut step: IndexStep,
        trace: Option<&FileTrace>,
    ) -> Result<Option<BlockHandle>> {
        loop {
            match step {
                IndexStep::Index(handle) => {
                    step = walk.enter(self.index_block(opened, &handle, trace)?);
                }
                IndexStep::Data(handle) => return Ok(Some(handle)),
                IndexStep::End => return Ok(None),
            }
        }
    }

    fn read_bloom_chunk(
        &self,
        opened: &hfile::FileMeta,
        bloom: &Bloom,
        number: usize,
    ) -> Result<Arc<BloomChunk>> {
        let handle = bloom.chunk(number);
        // Not noted as damage: reads go on without it.
        let bytes = self.read_bytes(&handle).map_err(|source| {
            let path = file_path(self.meta.file_id);
            Error::io(format_args!("cannot read {path}: offset={}", handle.offset), source)
        })?;
        let chunk = opened.bloom_chunk(&handle, bytes).map_err(|error| self.with_name(error))?;
        let chunk = Arc::new(chunk);
        let cached = self.bloom_places.keep(number, bloom.chunks().len(), &chunk);
        self.files.blocks.insert((self.meta.file_id, handle.offset), CachedBlock::Bloom(cached));
        Ok(chunk)
    }

    fn read(&self, handle: &BlockHandle) -> Result<Bytes> {
        self.read_bytes(handle).map_err(|source| {
            let path = file_path(self.meta.file_id);
            let offset = handle.offset;
            let len = handle.len;
            self.unread(source, format_args!("cannot read {path}: offset={offset}, len={len}"))
        })
    }

    fn read_bytes(&self, handle: &BlockHandle) -> io::Result<Bytes> {
        let mut bytes = vec![0; handle.len as usize];
        self.files.open(self.meta.file_id)?.read_exact_at(&mut bytes, handle.offset)?;
        Ok(bytes.into())
    }

    /// Adds the file's name to a format error, and notes damage.
    fn named(&self, error: Error) -> Error {
        self.noted(self.with_name(error))
    }

    fn with_name(&self, error: Error) -> Error {
        let kind: ErrorKind = error.kind();
        Error::new(kind, format!("{}: {error}", file_path(self.meta.file_id))).with_source(error)
    }

    /// Notes damage that a format error reports.
    fn noted(&self, error: Error) -> Error {
        match error.kind() {
            ErrorKind::Corruption => self.files.damage.note_file(self.meta.file_id, error),
            _ => error,
        }
    }

    /// Returns the error of a failed read, and notes damage if file bytes are lost.
    fn unread(&self, source: io::Error, doing: fmt::Arguments<'_>) -> Error {
        let note = |error| self.files.damage.note_file(self.meta.file_id, error);
        match source.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::UnexpectedEof => {
                let message = format!("{doing}: {source}");
                note(Error::corruption(message).with_source(source))
            }
            _ if source.raw_os_error() == Some(Errno::IO.raw_os_error()) => {
                note(Error::io(doing, source))
            }
            _ => Error::io(doing, source),
        }
    }
}

fn parse_meta(bytes: Bytes, file_len: u64) -> Result<hfile::FileMeta> {
    let trailer_at = bytes.len().checked_sub(Trailer::LEN).ok_or_else(|| {
        Error::corruption(format!("hfile is shorter than its trailer: len={file_len}"))
    })?;
    let trailer = Trailer::parse(&bytes[trailer_at..], file_len)?;
    // The parsed metadata shares these bytes while the file is open; the copy leaves out the
    // trailer, which takes 4 KiB.
    hfile::FileMeta::parse(trailer, Bytes::copy_from_slice(&bytes[..trailer_at]))
}

impl Drop for StoreFile {
    fn drop(&mut self) {
        if *self.names.get_mut() == 0 && *self.snapshots.get_mut() == 0 {
            let path = file_path(self.meta.file_id);
            let was_damaged = self.files.damage.forget_file(self.meta.file_id);
            match self.files.remove(self.meta.file_id) {
                Ok(()) => tracing::debug!(file = path, "file removed"),
                // It was moved aside, or lost.
                Err(error) if was_damaged && error.kind() == io::ErrorKind::NotFound => {}
                // No edit names it, so the next open moves it aside.
                Err(error) => tracing::warn!(file = path, %error, "a file cannot be removed"),
            }
        }
    }
}
