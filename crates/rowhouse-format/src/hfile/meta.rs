//! The part of an open file that stays in memory: index, bloom filters and file info.

use std::ops::RangeInclusive;
use std::sync::Arc;

use bytes::Bytes;
use prost::Message;
use rowhouse_model::{BloomKind, Compression, DataBlockEncoding, Error, Key, Result};

use super::block::{Block, BlockHandle, BlockKind};
use super::bloom::{Bloom, BloomChunk};
use super::data_block::{BlockOutline, DataBlock, Layout};
use super::file_info::{FileInfo, PROTOBUF_MAGIC, name};
use super::index::Index;
use super::key::OwnedKey;
use super::marker_runs::{self, MarkerRun};
use super::trailer::Trailer;

/// The checksum over a file's meta, which extends from `offset` to the file's end. It is stored
/// outside the file, because nothing inside covers these bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetaChecksum {
    /// The load-on-open section's offset.
    pub offset: u64,
    /// CRC32C over load-on-open section and trailer.
    pub crc: u32,
}

/// Compares the CRC32C over `bytes`, which extend from [`MetaChecksum::offset`] to the file's end,
/// with the one recorded when the file was written.
///
/// # Errors
/// `Corruption` if they differ.
pub fn verify_meta(seal: &MetaChecksum, bytes: &[u8]) -> Result<()> {
    let crc = crc32c::crc32c(bytes);
    if crc != seal.crc {
        return Err(Error::corruption(format!(
            "checksum mismatch in hfile meta: offset={}, len={}, stored={:08x}, computed={crc:08x}",
            seal.offset,
            bytes.len(),
            seal.crc
        )));
    }
    Ok(())
}

/// An open file's in-memory part.
#[derive(Clone, Debug)]
pub struct FileMeta {
    trailer: Trailer,
    info: FileInfo,
    layout: Layout,
    index: Arc<Index>,
    last_key: Option<OwnedKey>,
    marker_runs: Box<[MarkerRun]>,
    bloom: Option<Bloom>,
    delete_family_bloom: Option<Bloom>,
}

impl FileMeta {
    /// Parses the byte range that [`Trailer::load_on_open`] returns.
    ///
    /// # Errors
    /// `Corruption` if the section is damaged or malformed; `Unsupported` for an unknown encoding.
    pub fn parse(trailer: Trailer, load_on_open: Bytes) -> Result<Self> {
        let section = trailer.load_on_open();
        if load_on_open.len() as u64 != section.end - section.start {
            return Err(Error::corruption(format!(
                "hfile load-on-open section cut short: offset={}, want={}, have={}",
                section.start,
                section.end - section.start,
                load_on_open.len()
            )));
        }
        let mut blocks = Section { rest: load_on_open, offset: section.start, trailer: &trailer };
        let root = blocks.next(BlockKind::RootIndex)?;
        blocks.next(BlockKind::RootIndex)?;
        let info_offset = blocks.offset;
        if info_offset != trailer.file_info_offset {
            return Err(Error::corruption(format!(
                "hfile file info is not where the trailer says: trailer={}, offset={info_offset}",
                trailer.file_info_offset
            )));
        }
        let info = FileInfo::parse(&blocks.next(BlockKind::FileInfo)?.payload)?;
        let layout = layout(&info)?;
        let limit = trailer.load_on_open_offset;
        let index = Index::parse_root(&root, trailer.root_entries, trailer.index_levels, limit)?;
        let last_key = info.get(name::LAST_KEY).cloned().map(OwnedKey::parse).transpose()?;
        if index.is_empty() != (trailer.cells == 0) || index.is_empty() != last_key.is_none() {
            return Err(Error::corruption(format!(
                "hfile contradicts itself: cells={}, index entries={}, last key={last_key:?}",
                trailer.cells,
                index.len()
            )));
        }
        let marker_runs = info.get(name::MARKER_RUNS).map(marker_runs::parse).transpose()?;
        let marker_runs = marker_runs.unwrap_or_default();
        let kind = bloom_kind(&info)?;
        let mut bloom = None;
        let mut delete_family_bloom = None;
        while !blocks.rest.is_empty() {
            let block = blocks.any()?;
            match block.kind {
                BlockKind::BloomMeta if kind != BloomKind::None => {
                    let last_key = info.get(name::LAST_BLOOM_KEY).cloned();
                    bloom = Bloom::parse(&block, kind, last_key, limit)?;
                }
                BlockKind::DeleteFamilyBloomMeta => {
                    delete_family_bloom = Bloom::parse(&block, BloomKind::Row, None, limit)?;
                }
                // A bloom filter of another kind, or a block type that HBase added later.
                _ => {}
            }
        }
        let index = Arc::new(index);
        Ok(Self { trailer, info, layout, index, last_key, marker_runs, bloom, delete_family_bloom })
    }

    /// Returns the trailer.
    pub fn trailer(&self) -> &Trailer {
        &self.trailer
    }

    /// Returns the file info.
    pub fn info(&self) -> &FileInfo {
        &self.info
    }

    /// Returns the cell layout in data blocks.
    pub fn layout(&self) -> Layout {
        self.layout
    }

    /// Returns the index root.
    pub fn index(&self) -> &Arc<Index> {
        &self.index
    }

    /// Returns the bloom filter over rows or columns. Without one, the file may hold any row.
    pub fn bloom(&self) -> Option<&Bloom> {
        self.bloom.as_ref()
    }

    /// Returns the bloom filter over the rows with DeleteFamily or DeleteFamilyVersion cells.
    pub fn delete_family_bloom(&self) -> Option<&Bloom> {
        self.delete_family_bloom.as_ref()
    }

    /// Returns how many cells the file has.
    pub fn cells(&self) -> u64 {
        self.trailer.cells
    }

    /// Returns the first cell's key; `None` if the file has no cells.
    pub fn first_key(&self) -> Option<Key<'_>> {
        self.index.key(0)
    }

    /// Returns the last cell's key; `None` if the file has no cells.
    pub fn last_key(&self) -> Option<Key<'_>> {
        self.last_key.as_ref().map(OwnedKey::view)
    }

    /// Returns the longest delete marker runs, in cell order; empty if the file records none.
    pub fn marker_runs(&self) -> &[MarkerRun] {
        &self.marker_runs
    }

    /// Returns the cells' timestamp range in milliseconds. DeleteColumn and DeleteFamily cells
    /// extend it to 0, because they cover all older versions. The range is empty for a file without
    /// cells; `None` if the file does not record it.
    pub fn time_range(&self) -> Option<RangeInclusive<i64>> {
        let bytes = self.info.get(name::TIME_RANGE)?;
        if let Some(message) = bytes.strip_prefix(PROTOBUF_MAGIC) {
            let range = TimeRangeTracker::decode(message).ok()?;
            return Some(i64::try_from(range.from?).ok()?..=i64::try_from(range.to?).ok()?);
        }
        // HBase 1.x leaves 16 unused bytes after the two numbers.
        let (numbers, _) = bytes.as_chunks::<8>();
        let [first, last, ..] = numbers else { return None };
        Some(i64::from_be_bytes(*first)..=i64::from_be_bytes(*last))
    }

    /// Returns MAX_SEQ_ID_KEY: all mutations up to this sequence number are in this file or older
    /// ones.
    ///
    /// # Errors
    /// `Corruption` if the value is not a number.
    pub fn sequence_max(&self) -> Result<Option<u64>> {
        Ok(self.info.long(name::MAX_SEQ_ID)?.and_then(|number| u64::try_from(number).ok()))
    }

    /// Returns EARLIEST_PUT_TS, the lowest timestamp that any put has, in milliseconds; `None` if
    /// the file does not record it.
    ///
    /// # Errors
    /// `Corruption` if the value is not a number.
    pub fn earliest_put(&self) -> Result<Option<i64>> {
        self.info.long(name::EARLIEST_PUT_TS)
    }

    /// Returns MAJOR_COMPACTION_KEY: whether a major compaction wrote the file.
    ///
    /// # Errors
    /// `Corruption` if the value is not a boolean.
    pub fn is_major_compaction(&self) -> Result<bool> {
        self.info.flag(name::MAJOR_COMPACTION)
    }

    /// Parses the data block that was read at `handle`.
    ///
    /// # Errors
    /// `Corruption`, naming the offset, if the block is damaged or malformed.
    pub fn data_block(&self, handle: &BlockHandle, bytes: Bytes) -> Result<DataBlock> {
        DataBlock::parse(self.block(handle, bytes)?, self.layout)
    }

    /// Returns what a reader needs to read parts of a data block later; `None` if the block must be
    /// read as a whole. `block` was parsed from `bytes`.
    pub fn outline(&self, block: &DataBlock, bytes: &[u8]) -> Option<BlockOutline> {
        let is_plain = self.trailer.compression == Compression::None;
        if is_plain { BlockOutline::of(block, bytes) } else { None }
    }

    /// Parses the index block that was read at `handle`.
    ///
    /// # Errors
    /// As [`FileMeta::data_block`].
    pub fn index_block(&self, handle: &BlockHandle, bytes: Bytes) -> Result<Index> {
        let block = self.block(handle, bytes)?;
        Index::parse_node(&block, handle, self.trailer.load_on_open_offset)
    }

    /// Parses the bloom filter chunk that was read at `handle`.
    ///
    /// # Errors
    /// As [`FileMeta::data_block`].
    pub fn bloom_chunk(&self, handle: &BlockHandle, bytes: Bytes) -> Result<BloomChunk> {
        BloomChunk::parse(self.block(handle, bytes)?)
    }

    fn block(&self, handle: &BlockHandle, bytes: Bytes) -> Result<Block> {
        if bytes.len() != handle.len as usize {
            return Err(Error::corruption(format!(
                "hfile block cut short: offset={}, want={}, have={}",
                handle.offset,
                handle.len,
                bytes.len()
            )));
        }
        Block::parse(bytes, handle.offset, self.trailer.compression)
    }

    /// Returns approximately how many bytes this value occupies in memory.
    pub fn memory_len(&self) -> usize {
        let blooms = [&self.bloom, &self.delete_family_bloom];
        size_of::<Self>()
            + self.index.memory_len()
            + size_of_val(&*self.marker_runs)
            + blooms.into_iter().flatten().map(Bloom::memory_len).sum::<usize>()
            + self.info.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>()
    }
}

/// An iterator over the blocks in the load-on-open section.
struct Section<'a> {
    rest: Bytes,
    offset: u64,
    trailer: &'a Trailer,
}

impl Section<'_> {
    fn any(&mut self) -> Result<Block> {
        let (block, next) = Block::take(&mut self.rest, self.offset, self.trailer.compression)?;
        self.offset = next;
        Ok(block)
    }

    fn next(&mut self, want: BlockKind) -> Result<Block> {
        let block = self.any()?;
        if block.kind != want {
            return Err(Error::corruption(format!(
                "hfile load-on-open section out of order: offset={}, want={want:?}, have={:?}",
                block.offset, block.kind
            )));
        }
        Ok(block)
    }
}

/// Returns the bloom filter kind from the file info; `BloomKind::None` also for an unknown kind.
fn bloom_kind(info: &FileInfo) -> Result<BloomKind> {
    let Some(word) = info.text(name::BLOOM_FILTER_TYPE) else { return Ok(BloomKind::None) };
    if word != BloomKind::RowPrefix(0).name() {
        return Ok(BloomKind::from_name(&word).unwrap_or(BloomKind::None));
    }
    let len = info.int(name::BLOOM_FILTER_PARAM)?.unwrap_or(0);
    match u16::try_from(len) {
        Ok(len) if len > 0 => Ok(BloomKind::RowPrefix(len)),
        _ => Err(Error::corruption(format!(
            "malformed hfile file info: bloom of prefixes, len={len}"
        ))),
    }
}

/// Returns the cell layout from the file info.
fn layout(info: &FileInfo) -> Result<Layout> {
    let encoding = match info.text(name::DATA_BLOCK_ENCODING) {
        None => DataBlockEncoding::None,
        Some(name) => DataBlockEncoding::from_name(&name).ok_or_else(|| {
            let supported = DataBlockEncoding::ALL.map(DataBlockEncoding::name).join(", ");
            Error::unsupported(format!(
                "hfile data block encoding {name} is not supported: supported={supported}"
            ))
        })?,
    };
    if let Some(other) = info.text(name::INDEX_BLOCK_ENCODING).filter(|word| word != "NONE") {
        return Err(Error::unsupported(format!(
            "hfile index block encoding {other} is not supported: supported=NONE"
        )));
    }
    let sequences = match info.int(name::KEY_VALUE_VERSION)? {
        None => false,
        Some(1) => true,
        Some(other) => {
            return Err(Error::unsupported(format!(
                "hfile key value version {other} is not supported: supported=1"
            )));
        }
    };
    let tags = info.get(name::MAX_TAGS_LEN).is_some();
    let tags_compressed = tags && info.flag(name::TAGS_COMPRESSED)?;
    Ok(Layout { encoding, tags, tags_compressed, sequences })
}

/// The time range as HBase 2.0 and 2.1 wrote it, before HBASE-21012 restored the two plain numbers.
#[derive(Clone, PartialEq, prost::Message)]
struct TimeRangeTracker {
    #[prost(uint64, optional, tag = "1")]
    from: Option<u64>,
    #[prost(uint64, optional, tag = "2")]
    to: Option<u64>,
}
