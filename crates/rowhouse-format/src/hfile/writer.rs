//! The HFile writer, which writes a file front to back.

use std::cmp::Ordering;
use std::io::Write;
use std::ops::RangeInclusive;

use rowhouse_model::{
    BloomKind, CellKind, CellRef, Compression, DataBlockEncoding, Error, ROW_LEN_MAX, Result,
};

use super::block::{BLOCK_HEADER_LEN, BlockHandle, BlockKind, BlockSealer};
use super::bloom::BloomBuilder;
use super::compress::ZstdForm;
use super::data_block::{DataBlockBuilder, Layout};
use super::file_info::{FileInfo, PROTOBUF_MAGIC, name};
use super::index::IndexBuilder;
use super::key::{OwnedKey, compare_columns, view_key, write_key, write_midpoint};
use super::marker_runs::{self, MarkerRunFinder};
use super::meta::MetaChecksum;
use super::seen::Seen;
use super::trailer::Trailer;

/// A new file's format options.
#[derive(Clone, Debug)]
pub struct WriterOptions {
    /// BLOCKSIZE: a data block is closed once it holds this many cell bytes; 65,536 by default.
    pub block_len: u32,
    /// The data block encoding; row index (`ROW_INDEX_V1`) by default.
    pub encoding: DataBlockEncoding,
    /// The block payload compression; none by default.
    pub compression: Compression,
    /// The ZSTD format, used only with ZSTD compression; by default as in HBase's default codec.
    pub zstd: ZstdForm,
    /// What the bloom filter's keys are; rows by default.
    pub bloom: BloomKind,
    /// Whether cells may have tags, which costs two bytes per cell. If false, the default, a cell
    /// with tags is an error.
    pub with_tags: bool,
    /// The file's creation time in milliseconds since 1970; 0 by default.
    pub created_millis: u64,
    /// An index block is closed once it holds this many bytes; 131,072 by default.
    pub index_block_len: u32,
    /// A bloom filter chunk's length in bytes; 131,072 by default.
    pub bloom_block_len: u32,
    /// Bytes that one checksum covers; 4,096 by default, 16,384 in HBase. A get that misses the
    /// block cache reads one or two such chunks.
    pub checksum_len: u32,
}

impl Default for WriterOptions {
    fn default() -> Self {
        Self {
            block_len: 64 * 1024,
            encoding: DataBlockEncoding::RowIndexV1,
            compression: Compression::None,
            zstd: ZstdForm::default(),
            bloom: BloomKind::Row,
            with_tags: false,
            created_millis: 0,
            index_block_len: 128 * 1024,
            bloom_block_len: 128 * 1024,
            checksum_len: 4 * 1024,
        }
    }
}

/// Metadata that is known only when a flush or compaction ends.
#[derive(Clone, Debug, Default)]
pub struct Finish {
    /// MAX_SEQ_ID_KEY: all mutations up to this sequence number are in this file or older ones.
    pub sequence_max: u64,
    /// MAJOR_COMPACTION_KEY: true if the file replaces all files in the store.
    pub major_compaction: bool,
    /// EXCLUDE_FROM_MINOR_COMPACTION, for files to be bulk-loaded; not written by default.
    pub exclude_from_minor_compaction: Option<bool>,
    /// Additional file info entries. Names that begin with `hfile.` are an error.
    pub more: Vec<(Vec<u8>, Vec<u8>)>,
}

/// Statistics about a finished file.
#[derive(Clone, Debug)]
pub struct Summary {
    /// The file length in bytes.
    pub len: u64,
    /// How many cells there are.
    pub cells: u64,
    /// How many delete markers there are.
    pub deletes: u64,
    /// How many DeleteFamily and DeleteFamilyVersion cells there are.
    pub family_markers: u64,
    /// How many rows there are.
    pub rows: u64,
    /// How many cells follow another cell in the same column.
    pub same_column: u64,
    /// How long the cells are together as KeyValues, in bytes, tags and sequence numbers included.
    pub cells_len: u64,
    /// The first and the last cell's keys; `None` in a file without cells.
    pub keys: Option<(OwnedKey, OwnedKey)>,
    /// The timestamp range, as [`FileMeta::time_range`](super::FileMeta::time_range) defines it.
    pub time_range: RangeInclusive<i64>,
    /// The cells' sequence number range; empty in a file without cells.
    pub sequences: RangeInclusive<u64>,
    /// The checksum over everything after the scanned section, for the manifest.
    pub meta: MetaChecksum,
}

/// Writes cells, in cell order, to `out`. It buffers only the open blocks, so `W` receives few
/// large writes. It does not flush or sync `W`.
pub struct Writer<W: Write> {
    out: Out<W>,
    options: WriterOptions,
    layout: Layout,
    block: DataBlockBuilder,
    /// The open block's index key: the key of the file's first cell, or the midpoint between the
    /// previous block and this one.
    block_key: Vec<u8>,
    /// The last cell's serialized key.
    last_key: Vec<u8>,
    last_sequence: u64,
    index: IndexBuilder,
    bloom: Option<BloomBuilder>,
    /// `None` if the main bloom filter is over columns: it then holds a family marker as the column
    /// with the empty qualifier.
    delete_family_bloom: Option<BloomBuilder>,
    data_blocks: Option<(u64, u64)>,
    seen: Seen,
    marker_runs: MarkerRunFinder,
}

/// How the last cell compares with the next one.
struct Order {
    row: Ordering,
    key: Ordering,
    same_column: bool,
}

/// The output and the state while blocks are written to it.
struct Out<W> {
    inner: W,
    offset: u64,
    sealer: BlockSealer,
    /// Buffer in which all blocks except data blocks are built.
    scratch: Vec<u8>,
    /// How long the blocks are together before compression, in bytes, headers included, as the
    /// trailer counts them.
    uncompressed_len: u64,
    /// CRC32C over the bytes written since the load-on-open section's start.
    meta_crc: u32,
}

impl<W: Write> Writer<W> {
    /// Starts a file at the start of `out`.
    pub fn new(out: W, options: WriterOptions) -> Self {
        let layout = Layout {
            encoding: options.encoding,
            tags: options.with_tags,
            tags_compressed: false,
            sequences: true,
        };
        Self {
            out: Out {
                inner: out,
                offset: 0,
                sealer: BlockSealer::new(options.compression, options.zstd, options.checksum_len),
                scratch: Vec::new(),
                uncompressed_len: 0,
                meta_crc: 0,
            },
            layout,
            block: DataBlockBuilder::new(layout, options.block_len as usize),
            block_key: Vec::new(),
            last_key: Vec::new(),
            last_sequence: 0,
            index: IndexBuilder::new(options.index_block_len),
            bloom: (options.bloom != BloomKind::None)
                .then(|| BloomBuilder::new(options.bloom, options.bloom_block_len)),
            delete_family_bloom: (options.bloom != BloomKind::RowCol)
                .then(|| BloomBuilder::new(BloomKind::Row, options.bloom_block_len)),
            data_blocks: None,
            seen: Seen::default(),
            marker_runs: MarkerRunFinder::default(),
            options,
        }
    }

    /// Returns how many cells are appended.
    pub fn cells(&self) -> u64 {
        self.seen.cells
    }

    /// Returns the file's approximate length so far, in bytes.
    pub fn len(&self) -> u64 {
        self.out.offset + self.block.len() as u64
    }

    /// Returns true if no cell was appended.
    pub fn is_empty(&self) -> bool {
        self.seen.cells == 0
    }

    /// Appends the next cell.
    ///
    /// # Errors
    /// `InvalidRequest` if the cell sorts before the last one or does not fit the format; `Io` if
    /// `W` fails.
    pub fn append(&mut self, cell: &CellRef<'_>) -> Result<()> {
        let kind = check(cell, self.layout)?;
        let order = self.order(cell)?;
        let new_row = order.row != Ordering::Equal;
        self.seen.rows += u64::from(new_row);
        self.seen.same_column += u64::from(order.same_column);
        // As in HBase, add the cell to the bloom filters before closing the preceding block.
        if let Some(bloom) = &mut self.bloom
            && (new_row || self.options.bloom == BloomKind::RowCol)
        {
            bloom.push(cell.key.row, cell.key.qualifier);
        }
        if let Some(bloom) = &mut self.delete_family_bloom
            && matches!(kind, CellKind::DeleteFamily | CellKind::DeleteFamilyVersion)
        {
            bloom.push(cell.key.row, b"");
        }
        // Cells with equal keys share a block, so that a seek finds the newest first.
        let full = self.block.len() >= self.options.block_len as usize;
        if full && order.key != Ordering::Equal && !self.block.is_empty() {
            self.finish_block()?;
        }
        if self.block.is_empty() {
            self.block_key.clear();
            if self.seen.cells == 0 {
                write_key(&mut self.block_key, &cell.key);
            } else {
                write_midpoint(&mut self.block_key, &view_key(&self.last_key), &cell.key);
            }
        }
        let len = self.block.push(cell, new_row);
        self.last_key.clear();
        write_key(&mut self.last_key, &cell.key);
        self.last_sequence = cell.sequence;
        self.seen.note(cell, kind, len, &self.last_key);
        if self.marker_runs.accepts(cell.key.kind) {
            self.marker_runs.note(&self.last_key);
        }
        Ok(())
    }

    /// Compares the last cell with `next`, which must not sort before it.
    fn order(&self, next: &CellRef<'_>) -> Result<Order> {
        if self.seen.cells == 0 {
            return Ok(Order { row: Ordering::Less, key: Ordering::Less, same_column: false });
        }
        let last = view_key(&self.last_key);
        let row = last.row.cmp(next.key.row);
        let key = row.then_with(|| compare_columns(&last, &next.key));
        let ordered = match key {
            Ordering::Less => true,
            Ordering::Equal => self.last_sequence >= next.sequence,
            Ordering::Greater => false,
        };
        let same_column = row.is_eq() && last.qualifier == next.key.qualifier;
        if ordered { Ok(Order { row, key, same_column }) } else { Err(self.out_of_order(next)) }
    }

    #[cold]
    fn out_of_order(&self, cell: &CellRef<'_>) -> Error {
        Error::invalid(format!(
            "cell out of order for an hfile: last={:?}, sequence={}, next={:?}, sequence={}",
            OwnedKey::new(&view_key(&self.last_key)),
            self.last_sequence,
            OwnedKey::new(&cell.key),
            cell.sequence
        ))
    }

    /// Writes the open data block and any inline blocks that are due.
    fn finish_block(&mut self) -> Result<()> {
        if self.block.is_empty() {
            return Ok(());
        }
        let (kind, bytes) = self.block.finish();
        let handle = self.out.put(kind, bytes)?;
        let first = self.data_blocks.map_or(handle.offset, |(first, _)| first);
        self.data_blocks = Some((first, handle.offset));
        self.index.push(std::mem::take(&mut self.block_key), handle);
        self.block.clear();
        self.marker_runs.block_closed();
        self.inline_blocks(false)
    }

    /// Writes the leaf index block and the bloom chunks that are due.
    fn inline_blocks(&mut self, closing: bool) -> Result<()> {
        if self.index.leaf_is_due(closing) {
            let first_key = self.index.write_leaf(self.out.start());
            let handle = self.out.put_scratch(BlockKind::LeafIndex)?;
            self.index.leaf_written(first_key, handle);
        }
        for bloom in self.bloom.iter_mut().chain(&mut self.delete_family_bloom) {
            if closing || bloom.chunk_is_full() {
                bloom.finish_chunk();
            }
            while let Some(bits) = bloom.ready() {
                self.out.start().extend_from_slice(bits);
                let handle = self.out.put_scratch(BlockKind::BloomChunk)?;
                bloom.written(handle);
            }
        }
        Ok(())
    }

    /// Writes everything after the cells. Returns `W` without flushing or syncing it.
    ///
    /// # Errors
    /// `InvalidRequest` if `closing` has a reserved name; `Io` if `W` fails.
    pub fn finish(mut self, closing: &Finish) -> Result<(Summary, W)> {
        self.finish_block()?;
        self.inline_blocks(true)?;
        let mid_key = self.index.mid_key();
        let counted = self.out.uncompressed_len;
        while let Some(pieces) = self.index.split_root() {
            for piece in pieces {
                piece.write_node(self.out.start());
                let handle = self.out.put_scratch(BlockKind::IntermediateIndex)?;
                self.index.intermediate_written(piece, handle);
            }
        }
        let load_on_open_offset = self.out.offset;
        self.out.meta_crc = 0;
        let root = self.out.start();
        self.index.write_root(root);
        root.extend_from_slice(mid_key.as_ref().map_or(&[], |mid_key| &mid_key[..]));
        self.index.uncompressed_len += (root.len() - BLOCK_HEADER_LEN) as u64;
        self.out.put_scratch(BlockKind::RootIndex)?;
        // HBase counts neither the root nor the intermediate index blocks.
        self.out.uncompressed_len = counted;
        self.out.start();
        self.out.put_scratch(BlockKind::RootIndex)?;
        let file_info_offset = self.out.offset;
        let info = self.file_info(closing)?;
        info.write(self.out.start());
        self.out.put_scratch(BlockKind::FileInfo)?;
        let blooms = [
            (&self.bloom, BlockKind::BloomMeta),
            (&self.delete_family_bloom, BlockKind::DeleteFamilyBloomMeta),
        ];
        for (bloom, kind) in blooms {
            if let Some(bloom) = bloom.as_ref().filter(|bloom| bloom.last_key().is_some()) {
                bloom.write_meta(self.out.start());
                self.out.put_scratch(kind)?;
            }
        }
        let trailer = Trailer {
            file_len: self.out.offset + Trailer::LEN as u64,
            load_on_open_offset,
            file_info_offset,
            uncompressed_index_len: self.index.uncompressed_len,
            uncompressed_len: self.out.uncompressed_len + Trailer::LEN as u64,
            root_entries: self.index.root_entries(),
            meta_entries: 0,
            cells: self.seen.cells,
            index_levels: self.index.levels(),
            first_data_block: self.data_blocks.map(|(first, _)| first),
            last_data_block: self.data_blocks.map(|(_, last)| last),
            compression: self.options.compression,
        };
        self.out.scratch.clear();
        trailer.write(&mut self.out.scratch);
        let trailer = std::mem::take(&mut self.out.scratch);
        self.out.write(&trailer)?;
        let meta = MetaChecksum { offset: load_on_open_offset, crc: self.out.meta_crc };
        let last_key = (self.seen.cells > 0).then(|| OwnedKey::new(&view_key(&self.last_key)));
        Ok((self.seen.summary(self.out.offset, last_key, meta), self.out.inner))
    }

    fn file_info(&mut self, closing: &Finish) -> Result<FileInfo> {
        let seen = &self.seen;
        let mut info = FileInfo::default();
        for (name, value) in &closing.more {
            info.set_free(name, value)?;
        }
        info.set(name::MAX_SEQ_ID, closing.sequence_max.to_be_bytes());
        info.set_flag(name::MAJOR_COMPACTION, closing.major_compaction);
        if let Some(exclude) = closing.exclude_from_minor_compaction {
            info.set_flag(name::EXCLUDE_FROM_MINOR_COMPACTION, exclude);
        }
        // An empty CompactionEventTracker: no files archived by HBase were compacted into this
        // file.
        info.set(name::COMPACTION_EVENT, PROTOBUF_MAGIC);
        info.set_flag(name::HISTORICAL, false);
        let range = [seen.time_min.to_be_bytes(), seen.time_max.to_be_bytes()].concat();
        info.set(name::TIME_RANGE, range);
        info.set(name::EARLIEST_PUT_TS, seen.earliest_put.to_be_bytes());
        info.set(name::DELETE_FAMILY_COUNT, seen.family_markers.to_be_bytes());
        if let Some(last_key) = self.bloom.as_ref().and_then(BloomBuilder::last_key) {
            info.set(name::BLOOM_FILTER_TYPE, self.options.bloom.name());
            info.set(name::LAST_BLOOM_KEY, last_key);
            if let BloomKind::RowPrefix(len) = self.options.bloom {
                info.set(name::BLOOM_FILTER_PARAM, u32::from(len).to_be_bytes());
            }
        }
        if self.layout.encoding != DataBlockEncoding::None {
            info.set(name::DATA_BLOCK_ENCODING, self.layout.encoding.name());
        }
        info.set(name::MAX_MEMSTORE_TS, seen.sequence_max.to_be_bytes());
        info.set(name::KEY_VALUE_VERSION, 1u32.to_be_bytes());
        let average = |len: u64| (len.checked_div(seen.cells).unwrap_or(0) as u32).to_be_bytes();
        info.set(name::AVG_KEY_LEN, average(seen.keys_len));
        info.set(name::AVG_VALUE_LEN, average(seen.values_len));
        info.set(name::CREATE_TIME_TS, self.options.created_millis.to_be_bytes());
        if seen.cells > 0 {
            info.set(name::LAST_KEY, &self.last_key);
            info.set(name::KEY_OF_BIGGEST_CELL, &seen.biggest_key);
            info.set(name::LEN_OF_BIGGEST_CELL, (seen.biggest_len as u64).to_be_bytes());
        }
        if let Some(runs) = marker_runs::write(self.marker_runs.finish()) {
            info.set(name::MARKER_RUNS, runs);
        }
        if self.layout.tags {
            info.set(name::MAX_TAGS_LEN, (seen.tags_len_max as u32).to_be_bytes());
            info.set_flag(name::TAGS_COMPRESSED, false);
        }
        Ok(info)
    }
}

impl<W: Write> Out<W> {
    /// Starts a block in the scratch buffer.
    fn start(&mut self) -> &mut Vec<u8> {
        BlockSealer::start(&mut self.scratch);
        &mut self.scratch
    }

    /// Seals and writes the block in the scratch buffer.
    fn put_scratch(&mut self, kind: BlockKind) -> Result<BlockHandle> {
        let mut scratch = std::mem::take(&mut self.scratch);
        let handle = self.put(kind, &mut scratch);
        self.scratch = scratch;
        handle
    }

    /// Seals and writes a block.
    fn put(&mut self, kind: BlockKind, block: &mut Vec<u8>) -> Result<BlockHandle> {
        let offset = self.offset;
        let payload_len = self.sealer.seal(kind, block, offset)?;
        self.write(block)?;
        self.uncompressed_len += BLOCK_HEADER_LEN as u64 + u64::from(payload_len);
        Ok(BlockHandle { offset, len: block.len() as u32, level: 0 })
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.inner.write_all(bytes).map_err(|error| {
            Error::io(format!("writing hfile: offset={}, len={}", self.offset, bytes.len()), error)
        })?;
        self.offset += bytes.len() as u64;
        self.meta_crc = crc32c::crc32c_append(self.meta_crc, bytes);
        Ok(())
    }
}

/// Checks that a cell fits the format. Returns the cell kind.
fn check(cell: &CellRef<'_>, layout: Layout) -> Result<CellKind> {
    let refused = |what: &str, value: u64, max: u64| {
        Err(Error::invalid(format!("cell does not fit an hfile: {what}={value}, max={max}")))
    };
    let key = &cell.key;
    if key.row.is_empty() || key.row.len() > ROW_LEN_MAX {
        return refused("row length", key.row.len() as u64, ROW_LEN_MAX as u64);
    }
    if key.family.len() > u8::MAX as usize {
        return refused("family length", key.family.len() as u64, u8::MAX.into());
    }
    if key.qualifier.len().saturating_add(cell.value.len()) > CELL_LEN_MAX {
        let len = key.qualifier.len().saturating_add(cell.value.len());
        return refused("qualifier and value length", len as u64, CELL_LEN_MAX as u64);
    }
    let tags_len_max = if layout.tags { u16::MAX as usize } else { 0 };
    if cell.tags.len() > tags_len_max {
        return refused("tags length", cell.tags.len() as u64, tags_len_max as u64);
    }
    if cell.sequence > i64::MAX as u64 {
        return refused("sequence", cell.sequence, i64::MAX as u64);
    }
    if key.timestamp < 0 {
        return Err(Error::invalid(format!(
            "cell does not fit an hfile: timestamp={}",
            key.timestamp
        )));
    }
    CellKind::from_code(key.kind)
        .ok_or_else(|| Error::invalid(format!("cell does not fit an hfile: kind={}", key.kind)))
}

/// How many bytes qualifier and value have together at most. The cells before this one in a block
/// are less than a full block, so a cell of this size keeps the block within the signed 32-bit
/// length.
const CELL_LEN_MAX: usize = rowhouse_model::QUALIFIER_VALUE_LEN_MAX;
