//! A block: header, payload and checksums. All payload compression and decompression happens here.

use bytes::Bytes;
use rowhouse_model::{Compression, Error, Result, escape};

use super::checksum::{self, ChecksumKind, ChunkSums};
use super::compress::{Compressor, ZstdForm, decompress};

/// How long a block header is, in bytes.
pub const BLOCK_HEADER_LEN: usize = 33;

/// A block's kind, identified by its magic (`BlockType` in HBase).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockKind {
    /// Cells, unencoded.
    Data,
    /// Encoded cells; the payload's first two bytes identify the encoding.
    EncodedData,
    /// Index entries that point to data blocks.
    LeafIndex,
    /// Index entries that point to index blocks.
    IntermediateIndex,
    /// An index root.
    RootIndex,
    /// A bloom filter chunk's bits.
    BloomChunk,
    /// The chunk index for the bloom filter over rows or columns.
    BloomMeta,
    /// The chunk index for the delete family bloom filter.
    DeleteFamilyBloomMeta,
    /// File metadata as name-value pairs.
    FileInfo,
    /// A named meta block; this writer writes none.
    Meta,
}

impl BlockKind {
    /// Returns the name shown in block listings.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Data => "data",
            Self::EncodedData => "encoded data",
            Self::LeafIndex => "leaf index",
            Self::IntermediateIndex => "intermediate index",
            Self::RootIndex => "root index",
            Self::BloomChunk => "bloom chunk",
            Self::BloomMeta => "bloom meta",
            Self::DeleteFamilyBloomMeta => "delete family bloom meta",
            Self::FileInfo => "file info",
            Self::Meta => "meta",
        }
    }

    const ALL: [(Self, &[u8; 8]); 10] = [
        (Self::Data, b"DATABLK*"),
        (Self::EncodedData, b"DATABLKE"),
        (Self::LeafIndex, b"IDXLEAF2"),
        (Self::IntermediateIndex, b"IDXINTE2"),
        (Self::RootIndex, b"IDXROOT2"),
        (Self::BloomChunk, b"BLMFBLK2"),
        (Self::BloomMeta, b"BLMFMET2"),
        (Self::DeleteFamilyBloomMeta, b"DFBLMET2"),
        (Self::FileInfo, b"FILEINF2"),
        (Self::Meta, b"METABLKc"),
    ];

    fn from_magic(magic: &[u8]) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| &known[..] == magic).map(|&(kind, _)| kind)
    }

    fn magic(self) -> &'static [u8; 8] {
        Self::ALL[self as usize].1
    }

    /// Returns the index of the chain the kind belongs to. Each block in a chain points back to the
    /// previous one; both data magics share one chain.
    fn chain(self) -> usize {
        if self == Self::EncodedData { Self::Data as usize } else { self as usize }
    }
}

/// A block's location, with the level that the referrer expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BlockHandle {
    /// Offset from the file start.
    pub offset: u64,
    /// Length in bytes, with header and checksums.
    pub len: u32,
    /// 0 for a data block or a bloom chunk; for an index block, the level above the data blocks.
    pub level: u8,
}

impl BlockHandle {
    /// Returns true if the block is an index block, which points to other blocks and holds no
    /// cells.
    pub fn is_index(&self) -> bool {
        self.level > 0
    }

    /// Returns the byte range to read in the file.
    pub fn range(&self) -> std::ops::Range<u64> {
        self.offset..self.offset + u64::from(self.len)
    }
}

/// A block after verification and decompression.
#[derive(Clone, Debug)]
pub struct Block {
    /// The payload kind.
    pub kind: BlockKind,
    /// The decompressed payload; shares the input bytes if the file is not compressed.
    pub payload: Bytes,
    /// The block's offset in the file.
    pub offset: u64,
    /// The offset of the chain's previous block.
    pub previous: Option<u64>,
}

/// A parsed header whose lengths are consistent with each other.
struct Header {
    kind: BlockKind,
    len: usize,
    data_len: usize,
    payload_len: usize,
    previous: Option<u64>,
    checksum: ChecksumKind,
    chunk_len: usize,
}

impl Block {
    /// Verifies and decompresses `bytes`, which must be exactly one block, read at `offset`.
    ///
    /// # Errors
    /// `Corruption`, naming the offset, if the block is damaged or malformed.
    pub fn parse(bytes: Bytes, offset: u64, compression: Compression) -> Result<Self> {
        let header = Header::parse(&bytes, offset)?;
        if header.len != bytes.len() {
            return Err(damaged(offset, "length", header.len, bytes.len()));
        }
        header.unpack(bytes, offset, compression)
    }

    /// Returns the on-disk length, header and checksums included, for the block at `offset` whose
    /// first bytes are `header`.
    ///
    /// # Errors
    /// `Corruption` if the bytes are not a block header.
    pub fn len_on_disk(header: &[u8], offset: u64) -> Result<u64> {
        Ok(Header::parse(header, offset)?.len as u64)
    }

    /// Verifies the checksums in `bytes`, which must be exactly one block, read at `offset`.
    /// Returns the block's kind and the offset of the chain's previous block. Works without knowing
    /// the compression codec.
    ///
    /// # Errors
    /// `Corruption`, naming the offset, if the block is damaged or malformed.
    pub fn verify(bytes: &[u8], offset: u64) -> Result<(BlockKind, Option<u64>)> {
        let header = Header::parse(bytes, offset)?;
        if header.len != bytes.len() {
            return Err(damaged(offset, "length", header.len, bytes.len()));
        }
        let (data, sums) = bytes.split_at(header.data_len);
        checksum::verify(header.checksum, data, header.chunk_len, sums, offset)?;
        Ok((header.kind, header.previous))
    }

    /// Returns the checksums in `bytes`, which must be exactly one block, read and verified at
    /// `offset`; `None` if they are not CRC-32C.
    pub(super) fn chunk_sums(bytes: &[u8], offset: u64) -> Option<ChunkSums> {
        let header = Header::parse(bytes, offset).ok()?;
        let sums = bytes.get(header.data_len..header.len)?;
        let is_crc32c = header.checksum == ChecksumKind::Crc32c;
        is_crc32c.then(|| ChunkSums::new(header.chunk_len, header.data_len, sums))
    }

    /// Parses the first block in `bytes`, as [`Block::parse`] does, and leaves the rest in `bytes`.
    /// Returns the block and the offset at which it ends.
    ///
    /// # Errors
    /// As [`Block::parse`].
    pub(super) fn take(
        bytes: &mut Bytes,
        offset: u64,
        compression: Compression,
    ) -> Result<(Self, u64)> {
        let header = Header::parse(bytes, offset)?;
        if header.len > bytes.len() {
            return Err(damaged(offset, "length beyond its section", header.len, bytes.len()));
        }
        let end = offset + header.len as u64;
        let bytes = bytes.split_to(header.len);
        Ok((header.unpack(bytes, offset, compression)?, end))
    }
}

impl Header {
    fn parse(bytes: &[u8], offset: u64) -> Result<Self> {
        let Some(header) = bytes.first_chunk::<BLOCK_HEADER_LEN>() else {
            return Err(damaged(offset, "header cut short", BLOCK_HEADER_LEN, bytes.len()));
        };
        let number = |at: usize| {
            i32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]])
        };
        let kind = BlockKind::from_magic(&header[..8]).ok_or_else(|| {
            Error::corruption(format!(
                "not an hfile block: offset={offset}, magic={}",
                escape(&header[..8])
            ))
        })?;
        let positive = |at: usize, least: usize, what: &str| {
            usize::try_from(number(at))
                .ok()
                .filter(|&value| value >= least)
                .ok_or_else(|| damaged(offset, what, least, number(at)))
        };
        let len = BLOCK_HEADER_LEN + positive(8, 0, "on-disk length")?;
        let payload_len = positive(12, 0, "uncompressed length")?;
        let chunk_len = positive(25, 1, "bytes per checksum")?;
        let data_len = positive(29, BLOCK_HEADER_LEN, "data length")?;
        let sums_len = data_len.div_ceil(chunk_len) as u64 * 4;
        if data_len as u64 + sums_len != len as u64 {
            return Err(damaged(offset, "data and checksums", len, data_len as u64 + sums_len));
        }
        let checksum = ChecksumKind::from_code(header[24]).ok_or_else(|| {
            Error::corruption(format!(
                "unknown checksum type of hfile block: offset={offset}, code={}",
                header[24]
            ))
        })?;
        let previous = i64::from_be_bytes(header[16..24].try_into().expect("eight bytes"));
        let previous = match u64::try_from(previous) {
            Err(_) if previous == -1 => None,
            Ok(previous) if previous < offset => Some(previous),
            _ => return Err(damaged(offset, "previous offset", -1, previous)),
        };
        Ok(Self { kind, len, data_len, payload_len, previous, checksum, chunk_len })
    }

    fn unpack(self, bytes: Bytes, offset: u64, compression: Compression) -> Result<Block> {
        let (data, sums) = bytes.split_at(self.data_len);
        checksum::verify(self.checksum, data, self.chunk_len, sums, offset)?;
        let payload = bytes.slice(BLOCK_HEADER_LEN..self.data_len);
        if compression == Compression::None && payload.len() != self.payload_len {
            return Err(damaged(offset, "uncompressed length", self.payload_len, payload.len()));
        }
        let payload = match compression {
            Compression::None => payload,
            _ => decompress(compression, &payload, self.payload_len)
                .map_err(|broken| {
                    let name = compression.name();
                    Error::corruption(format!(
                        "malformed {name} hfile block: offset={offset}, len={}, {broken}",
                        payload.len()
                    ))
                })?
                .into(),
        };
        Ok(Block { kind: self.kind, payload, offset, previous: self.previous })
    }
}

/// Longest payload in bytes: the header stores the length as a signed 32-bit number.
const PAYLOAD_LEN_MAX: usize = i32::MAX as usize;

fn damaged(
    offset: u64,
    what: &str,
    want: impl std::fmt::Display,
    have: impl std::fmt::Display,
) -> Error {
    Error::corruption(format!(
        "malformed hfile block: offset={offset}, {what}, want={want}, have={have}"
    ))
}

/// Turns payloads into blocks and tracks each chain's last block.
pub(super) struct BlockSealer {
    compressor: Compressor,
    /// Buffer for a block's compressed form; swapped with the block after compression.
    spare: Vec<u8>,
    previous: [Option<u64>; BlockKind::ALL.len()],
    /// Bytes that one checksum covers.
    checksum_len: u32,
}

impl BlockSealer {
    /// Creates one file's sealer.
    pub(super) fn new(compression: Compression, zstd: ZstdForm, checksum_len: u32) -> Self {
        let compressor = Compressor::new(compression, zstd);
        let checksum_len = checksum_len.max(1);
        let previous = [None; BlockKind::ALL.len()];
        Self { compressor, spare: Vec::new(), previous, checksum_len }
    }

    /// Clears `block` and reserves space for the header.
    pub(super) fn start(block: &mut Vec<u8>) {
        block.clear();
        block.resize(BLOCK_HEADER_LEN, 0);
    }

    /// Turns `block`, which [`BlockSealer::start`] began, into the bytes to write at `offset`.
    /// Returns the payload's length before compression.
    ///
    /// # Errors
    /// `InvalidRequest` if the block exceeds the header's signed 32-bit lengths.
    pub(super) fn seal(
        &mut self,
        kind: BlockKind,
        block: &mut Vec<u8>,
        offset: u64,
    ) -> Result<u32> {
        let payload_len = block.len() - BLOCK_HEADER_LEN;
        if payload_len > PAYLOAD_LEN_MAX {
            return Err(Error::invalid(format!(
                "hfile block too long: payload={payload_len}, max={PAYLOAD_LEN_MAX}"
            )));
        }
        if !self.compressor.is_none() {
            Self::start(&mut self.spare);
            self.compressor.append(&block[BLOCK_HEADER_LEN..], &mut self.spare);
            std::mem::swap(block, &mut self.spare);
        }
        let data_len = block.len();
        let len = data_len + data_len.div_ceil(self.checksum_len as usize) * 4;
        if len > i32::MAX as usize {
            return Err(Error::invalid(format!(
                "hfile block too long: len={len}, max={}",
                i32::MAX
            )));
        }
        let previous = self.previous[kind.chain()].map_or(-1, |offset| offset as i64);
        block[..8].copy_from_slice(kind.magic());
        block[8..12].copy_from_slice(&((len - BLOCK_HEADER_LEN) as u32).to_be_bytes());
        block[12..16].copy_from_slice(&(payload_len as u32).to_be_bytes());
        block[16..24].copy_from_slice(&previous.to_be_bytes());
        block[24] = ChecksumKind::Crc32c as u8;
        block[25..29].copy_from_slice(&self.checksum_len.to_be_bytes());
        block[29..33].copy_from_slice(&(data_len as u32).to_be_bytes());
        checksum::append_sums(block, self.checksum_len as usize);
        self.previous[kind.chain()] = Some(offset);
        Ok(payload_len as u32)
    }
}
