//! The trailer: a file's last 4,096 bytes.

use prost::Message;
use rowhouse_model::{Compression, Error, Result, escape};

use super::varint::{read_varint, write_varint};

/// A trailer's first bytes.
const MAGIC: &[u8; 8] = b"TRABLK\"$";
/// The comparator name that HBase 2 writes so that HBase 1 can read the file.
const COMPARATOR: &str = "org.apache.hadoop.hbase.KeyValue$KVComparator";
/// Names for the same cell order (`FixedFileTrailer.getComparatorClass`).
const COMPARATORS: [&str; 5] = [
    COMPARATOR,
    "org.apache.hadoop.hbase.KeyValue$KeyComparator",
    "org.apache.hadoop.hbase.CellComparator",
    "org.apache.hadoop.hbase.CellComparatorImpl",
    "org.apache.hadoop.hbase.InnerStoreCellComparator",
];
/// Codec names, indexed by HBase's number (`Compression.Algorithm`).
const CODECS: [&str; 9] = ["LZO", "GZ", "NONE", "SNAPPY", "LZ4", "BZIP2", "ZSTD", "LZMA", "BROTLI"];
const VERSION_MAJOR: u32 = 3;
const VERSION_MINOR: u32 = 3;
/// How long the trailers in older major versions are, from 1 on.
const OLDER_LENS: [usize; 2] = [60, 212];
/// Most index levels above the data blocks that a reader accepts; HBase writes at most 16.
const LEVELS_MAX: u32 = 16;

/// A file's trailer: section offsets, counts and the codec.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trailer {
    /// The whole file's length in bytes.
    pub file_len: u64,
    /// The load-on-open section's offset.
    pub load_on_open_offset: u64,
    /// The offset of the file info block, which is in the load-on-open section.
    pub file_info_offset: u64,
    /// How long the index blocks are together before compression, in bytes, without headers.
    pub uncompressed_index_len: u64,
    /// How long the blocks are together before compression, in bytes, with headers; index roots and
    /// intermediate index blocks are not counted.
    pub uncompressed_len: u64,
    /// How many entries the root data index has.
    pub root_entries: u32,
    /// How many named meta blocks there are; 0 in files written here.
    pub meta_entries: u32,
    /// How many cells the file has.
    pub cells: u64,
    /// How many index levels are above the data blocks.
    pub index_levels: u8,
    /// The first data block's offset; `None` in a file without cells.
    pub first_data_block: Option<u64>,
    /// The last data block's offset; `None` in a file without cells.
    pub last_data_block: Option<u64>,
    /// How the block payloads are compressed.
    pub compression: Compression,
}

/// `FileTrailerProto` in HFile.proto.
#[derive(Clone, PartialEq, Message)]
struct TrailerMessage {
    #[prost(uint64, optional, tag = "1")]
    file_info_offset: Option<u64>,
    #[prost(uint64, optional, tag = "2")]
    load_on_open_data_offset: Option<u64>,
    #[prost(uint64, optional, tag = "3")]
    uncompressed_data_index_size: Option<u64>,
    #[prost(uint64, optional, tag = "4")]
    total_uncompressed_bytes: Option<u64>,
    #[prost(uint32, optional, tag = "5")]
    data_index_count: Option<u32>,
    #[prost(uint32, optional, tag = "6")]
    meta_index_count: Option<u32>,
    #[prost(uint64, optional, tag = "7")]
    entry_count: Option<u64>,
    #[prost(uint32, optional, tag = "8")]
    num_data_index_levels: Option<u32>,
    #[prost(uint64, optional, tag = "9")]
    first_data_block_offset: Option<u64>,
    #[prost(uint64, optional, tag = "10")]
    last_data_block_offset: Option<u64>,
    #[prost(string, optional, tag = "11")]
    comparator_class_name: Option<String>,
    #[prost(uint32, optional, tag = "12")]
    compression_codec: Option<u32>,
    #[prost(bytes = "vec", optional, tag = "13")]
    encryption_key: Option<Vec<u8>>,
}

impl Trailer {
    /// A trailer's length in bytes.
    pub const LEN: usize = 4096;

    /// Parses the last bytes of a file that has `file_len` bytes. `bytes` holds at least
    /// [`Trailer::LEN`] bytes and may extend further towards the file's start.
    ///
    /// # Errors
    /// `Corruption` if the bytes are not a trailer or point outside the file; `Unsupported`, naming
    /// the feature, for another version, comparator or codec, or an encrypted file.
    pub fn parse(bytes: &[u8], file_len: u64) -> Result<Self> {
        refuse_older(bytes)?;
        let start = bytes.len().checked_sub(Self::LEN).filter(|_| file_len >= bytes.len() as u64);
        let Some(start) = start else {
            return Err(Error::corruption(format!(
                "not an hfile: too short for a trailer: len={file_len}, read={}, min={}",
                bytes.len(),
                Self::LEN
            )));
        };
        let bytes = &bytes[start..];
        let malformed = |what: &str| {
            Error::corruption(format!("malformed hfile trailer: {what}, len={file_len}"))
        };
        if &bytes[..8] != MAGIC {
            return Err(malformed(&format!("magic={}", escape(&bytes[..8]))));
        }
        let version = u32::from_be_bytes(bytes[Self::LEN - 4..].try_into().expect("four bytes"));
        let (major, minor) = split_version(version);
        if major != VERSION_MAJOR || minor > VERSION_MINOR {
            return Err(Error::unsupported(format!(
                "hfile version {major}.{minor} is not supported: supported={VERSION_MAJOR}.0 to \
                 {VERSION_MAJOR}.{VERSION_MINOR}"
            )));
        }
        let body = &bytes[8..Self::LEN - 4];
        let (len, start) = read_varint(body).ok_or_else(|| malformed("no message length"))?;
        let end = usize::try_from(len).ok().and_then(|len| len.checked_add(start));
        let message = end
            .and_then(|end| body.get(start..end))
            .ok_or_else(|| malformed(&format!("message longer than the trailer, message={len}")))?;
        let message = TrailerMessage::decode(message)
            .map_err(|error| malformed("not a message").with_source(error))?;
        Self::check(message, file_len)
    }

    fn check(message: TrailerMessage, file_len: u64) -> Result<Self> {
        let malformed = |what: &str, value: u64| {
            Error::corruption(format!("malformed hfile trailer: {what}={value}, len={file_len}"))
        };
        let comparator = message.comparator_class_name.as_deref().unwrap_or(COMPARATOR);
        if !COMPARATORS.contains(&comparator) {
            return Err(Error::unsupported(format!(
                "hfile comparator is not supported: {}",
                escape(comparator.as_bytes())
            )));
        }
        if message.encryption_key.is_some() {
            return Err(Error::unsupported("encrypted hfiles are not supported"));
        }
        let end = file_len - Self::LEN as u64;
        let load_on_open_offset = message.load_on_open_data_offset();
        let file_info_offset = message.file_info_offset();
        if load_on_open_offset >= end {
            return Err(malformed("load_on_open_offset", load_on_open_offset));
        }
        if file_info_offset < load_on_open_offset || file_info_offset >= end {
            return Err(malformed("file_info_offset", file_info_offset));
        }
        let levels = message.num_data_index_levels();
        if levels == 0 || levels > LEVELS_MAX {
            return Err(malformed("index_levels", levels.into()));
        }
        let block = |what: &str, offset: Option<u64>| match offset {
            None | Some(u64::MAX) => Ok(None),
            Some(offset) if offset < load_on_open_offset => Ok(Some(offset)),
            Some(offset) => Err(malformed(what, offset)),
        };
        Ok(Self {
            file_len,
            load_on_open_offset,
            file_info_offset,
            uncompressed_index_len: message.uncompressed_data_index_size(),
            uncompressed_len: message.total_uncompressed_bytes(),
            root_entries: message.data_index_count(),
            meta_entries: message.meta_index_count(),
            cells: message.entry_count(),
            index_levels: levels as u8,
            first_data_block: block("first_data_block", message.first_data_block_offset)?,
            last_data_block: block("last_data_block", message.last_data_block_offset)?,
            compression: message.compression_codec.map_or(Ok(Compression::None), compression)?,
        })
    }

    /// Returns the byte range in the file that [`FileMeta::parse`](super::FileMeta::parse) takes.
    pub fn load_on_open(&self) -> std::ops::Range<u64> {
        self.load_on_open_offset..self.file_len - Self::LEN as u64
    }

    /// Appends the serialized trailer to `out`.
    pub(super) fn write(&self, out: &mut Vec<u8>) {
        let message = TrailerMessage {
            file_info_offset: Some(self.file_info_offset),
            load_on_open_data_offset: Some(self.load_on_open_offset),
            uncompressed_data_index_size: Some(self.uncompressed_index_len),
            total_uncompressed_bytes: Some(self.uncompressed_len),
            data_index_count: Some(self.root_entries),
            meta_index_count: Some(self.meta_entries),
            entry_count: Some(self.cells),
            num_data_index_levels: Some(self.index_levels.into()),
            first_data_block_offset: Some(self.first_data_block.unwrap_or(u64::MAX)),
            last_data_block_offset: Some(self.last_data_block.unwrap_or(u64::MAX)),
            comparator_class_name: Some(COMPARATOR.to_owned()),
            compression_codec: CODECS
                .iter()
                .position(|name| *name == self.compression.name())
                .map(|codec| codec as u32),
            encryption_key: None,
        };
        let message = message.encode_to_vec();
        let start = out.len();
        out.extend_from_slice(MAGIC);
        write_varint(out, message.len() as u64);
        out.extend_from_slice(&message);
        debug_assert!(out.len() - start <= Self::LEN - 4, "all fields together are short");
        out.resize(start + Self::LEN - 4, 0);
        out.extend_from_slice(&(VERSION_MINOR << 24 | VERSION_MAJOR).to_be_bytes());
    }
}

/// Refuses a file in an older major version: the trailer is shorter, so that it would look damaged.
fn refuse_older(bytes: &[u8]) -> Result<()> {
    let Some(version) = bytes.last_chunk() else { return Ok(()) };
    let (major, minor) = split_version(u32::from_be_bytes(*version));
    let len = major.checked_sub(1).and_then(|at| OLDER_LENS.get(at as usize));
    let start = len.and_then(|len| bytes.len().checked_sub(*len));
    if start.is_some_and(|start| bytes[start..].starts_with(MAGIC)) {
        Err(Error::unsupported(format!(
            "hfile version {major}.{minor} is not supported, a major compaction on HBase 1.0 or later rewrites the \
             file: supported={VERSION_MAJOR}.0 to {VERSION_MAJOR}.{VERSION_MINOR}"
        )))
    } else {
        Ok(())
    }
}

/// Returns the major and minor version in a file's last four bytes.
fn split_version(version: u32) -> (u32, u32) {
    (version & 0xFF_FFFF, version >> 24)
}

fn compression(codec: u32) -> Result<Compression> {
    let name = CODECS.get(codec as usize).copied().unwrap_or("unknown");
    Compression::from_name(name).ok_or_else(|| {
        let supported = Compression::ALL.map(Compression::name).join(", ");
        Error::unsupported(format!(
            "hfile compression {name} is not supported: codec={codec}, supported={supported}"
        ))
    })
}

/// Returns true if `name` is a comparator with the cell order that this crate implements.
pub(super) fn is_known_comparator(name: &[u8]) -> bool {
    COMPARATORS.iter().any(|known| known.as_bytes() == name)
}
