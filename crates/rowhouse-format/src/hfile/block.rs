//! A block: header, payload, checksums. Payloads are compressed and decompressed here, and
//! nowhere else.

use bytes::Bytes;
use rowhouse_model::{Compression, Error, Result, escape};

use super::checksum::{self, CHUNK_LEN, ChecksumKind};
use super::compress::{Compressor, ZstdForm, decompress};

/// Bytes in front of a payload.
pub const BLOCK_HEADER_LEN: usize = 33;

/// What a block holds, told by its magic (`BlockType` in HBase).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlockKind {
    /// Cells, one after the other.
    Data,
    /// Cells in the encoding that the payload's first two bytes name.
    EncodedData,
    /// Entries for data blocks.
    LeafIndex,
    /// Entries for index blocks.
    IntermediateIndex,
    /// The top of an index.
    RootIndex,
    /// Bits of a bloom.
    BloomChunk,
    /// Where the chunks of the bloom over rows or columns are.
    BloomMeta,
    /// Where the chunks of the delete family bloom are.
    DeleteFamilyBloomMeta,
    /// Names and values about the file.
    FileInfo,
    /// A named block; none are written.
    Meta,
}

impl BlockKind {
    /// What it is called where blocks are listed.
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

    /// Blocks of one chain point back to each other; both data magics are one chain.
    fn chain(self) -> usize {
        if self == Self::EncodedData { Self::Data as usize } else { self as usize }
    }
}

/// Where a block is, and what kind of block the one who named it expects there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BlockHandle {
    /// From the file's first byte.
    pub offset: u64,
    /// With header and checksums.
    pub len: u32,
    /// 0: a data block (or a bloom's chunk); else an index block so many levels above data.
    pub level: u8,
}

impl BlockHandle {
    /// Whether the block leads to others instead of holding cells.
    pub fn is_index(&self) -> bool {
        self.level > 0
    }

    /// The bytes of the file to read.
    pub fn range(&self) -> std::ops::Range<u64> {
        self.offset..self.offset + u64::from(self.len)
    }
}

/// A block that was read: verified and decompressed.
#[derive(Clone, Debug)]
pub struct Block {
    /// What the payload is.
    pub kind: BlockKind,
    /// The payload, decompressed; shares the bytes read where nothing was compressed.
    pub payload: Bytes,
    /// Where the block is in the file.
    pub offset: u64,
    /// The block before it in its chain.
    pub previous: Option<u64>,
}

/// The lengths a header tells, checked against each other.
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
    /// Verifies and unpacks `bytes`, which are exactly one block, read at `offset`.
    ///
    /// # Errors
    /// `Corruption` for anything that is not what was written, naming the offset.
    pub fn parse(bytes: Bytes, offset: u64, compression: Compression) -> Result<Self> {
        let header = Header::parse(&bytes, offset)?;
        if header.len != bytes.len() {
            return Err(damaged(offset, "length", header.len, bytes.len()));
        }
        header.unpack(bytes, offset, compression)
    }

    /// How long the block is whose header, at `offset`, these bytes begin with: header and checksums included.
    ///
    /// # Errors
    /// `Corruption` for bytes that are no header.
    pub fn len_on_disk(header: &[u8], offset: u64) -> Result<u64> {
        Ok(Header::parse(header, offset)?.len as u64)
    }

    /// Verifies the checksums of `bytes`, which are exactly one block, read at `offset`. Returns its kind, and where
    /// the block before it in its chain is. How it is compressed need not be known.
    ///
    /// # Errors
    /// `Corruption` for anything that is not what was written, naming the offset.
    pub fn verify(bytes: &[u8], offset: u64) -> Result<(BlockKind, Option<u64>)> {
        let header = Header::parse(bytes, offset)?;
        if header.len != bytes.len() {
            return Err(damaged(offset, "length", header.len, bytes.len()));
        }
        let (data, sums) = bytes.split_at(header.data_len);
        checksum::verify(header.checksum, data, header.chunk_len, sums, offset)?;
        Ok((header.kind, header.previous))
    }

    /// As [`Block::parse`], of the first block in `bytes`; the rest stays there.
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
                "no hfile block here: offset={offset}, magic={}",
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

/// The header has it as a signed 32-bit number.
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

/// Turns payloads into blocks and remembers the last of each chain.
pub(super) struct BlockSealer {
    compressor: Compressor,
    /// The compressed form of a block is built here, then the two change places.
    spare: Vec<u8>,
    previous: [Option<u64>; BlockKind::ALL.len()],
}

impl BlockSealer {
    /// For one file.
    pub(super) fn new(compression: Compression, zstd: ZstdForm) -> Self {
        let compressor = Compressor::new(compression, zstd);
        Self { compressor, spare: Vec::new(), previous: [None; BlockKind::ALL.len()] }
    }

    /// Empties `block` and leaves room for the header.
    pub(super) fn start(block: &mut Vec<u8>) {
        block.clear();
        block.resize(BLOCK_HEADER_LEN, 0);
    }

    /// Makes `block`, begun with [`BlockSealer::start`], the bytes to write at `offset`. Returns
    /// the payload's length before compression.
    ///
    /// # Errors
    /// A block that does not fit the header's signed 32-bit lengths.
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
        let len = data_len + data_len.div_ceil(CHUNK_LEN) * 4;
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
        block[25..29].copy_from_slice(&(CHUNK_LEN as u32).to_be_bytes());
        block[29..33].copy_from_slice(&(data_len as u32).to_be_bytes());
        checksum::append_sums(block);
        self.previous[kind.chain()] = Some(offset);
        Ok(payload_len as u32)
    }
}
