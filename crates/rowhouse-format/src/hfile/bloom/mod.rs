//! Chunked bloom filters over a file's rows or columns.

mod builder;
mod hash;

use std::borrow::Cow;
use std::cmp::Ordering;

use bytes::Bytes;
use rowhouse_model::{BloomKind, Error, Key, Result, compare_bytes};

pub(super) use builder::BloomBuilder;
use hash::HashKind;

use super::block::{Block, BlockHandle, BlockKind};
use super::input::Input;
use super::key::{check_key, view_key, write_key};
use super::trailer::is_known_comparator;

/// The meta block's format version (`CompoundBloomFilterBase.VERSION`).
const VERSION: u32 = 3;
/// Most hashes per key that a reader accepts. No error rate needs more; it bounds a lookup's cost.
const HASHES_MAX: u32 = 255;
/// How long the shortest meta block entry is, in bytes: offset, length, key length.
const ENTRY_LEN_MIN: usize = 8 + 4 + 1;

/// A bloom filter over rows, row prefixes or columns: the chunk index and the hash parameters.
#[derive(Clone, Debug)]
pub struct Bloom {
    kind: BloomKind,
    hash: HashKind,
    hashes: u32,
    keys: u64,
    chunks: Vec<Chunk>,
    /// The last key added, if the file records it. Unset in a filter over rows: the last key is the
    /// file's last row, which callers have already checked.
    last_key: Option<Bytes>,
}

/// A lookup key: a row, a row prefix or a column in a row. Created by [`Bloom::key`].
#[derive(Clone, Debug)]
pub struct BloomKey<'a>(Cow<'a, [u8]>);

#[derive(Clone, Debug)]
struct Chunk {
    first_key: Bytes,
    handle: BlockHandle,
}

impl Bloom {
    /// Parses a meta block. Returns `None` if the keys have an unknown order. All chunks must end
    /// at or before `limit`.
    pub(super) fn parse(
        block: &Block,
        kind: BloomKind,
        last_key: Option<Bytes>,
        limit: u64,
    ) -> Result<Option<Self>> {
        let malformed = |what: &str, value: u64| {
            Error::corruption(format!(
                "malformed hfile bloom: offset={}, {what}={value}",
                block.offset
            ))
        };
        let mut input = Input::new("hfile bloom", &block.payload);
        let version = input.u32()?;
        if version != VERSION {
            return Err(malformed("version", version.into()));
        }
        input.u64()?; // Total bytes in the chunks; the chunks record it themselves.
        let hashes = input.u32()?;
        let hash = input.u32()?;
        let keys = input.u64()?;
        input.u64()?; // Key capacity in the chunks.
        let count = input.u32()?;
        let comparator = input.vint_bytes()?;
        let is_known = match kind {
            BloomKind::None => false,
            BloomKind::Row | BloomKind::RowPrefix(_) => {
                comparator.is_empty() || BYTE_COMPARATORS.contains(&comparator)
            }
            BloomKind::RowCol => is_known_comparator(comparator),
        };
        if !is_known {
            return Ok(None);
        }
        if hashes == 0 || hashes > HASHES_MAX {
            return Err(malformed("hashes", hashes.into()));
        }
        let hash = HashKind::from_code(hash).ok_or_else(|| malformed("hash", hash.into()))?;
        if count as usize > input.left() / ENTRY_LEN_MIN {
            return Err(malformed("chunks", count.into()));
        }
        let mut chunks: Vec<Chunk> = Vec::with_capacity(count as usize);
        for _ in 0..count {
            let offset = input.u64()?;
            let len = input.u32()?;
            let first_key = block.payload.slice_ref(input.vint_bytes()?);
            if kind == BloomKind::RowCol {
                check_key(&first_key)?;
            }
            let ordered = chunks
                .last()
                .is_none_or(|last| compare(kind, &last.first_key, &first_key) == Ordering::Less);
            if offset.saturating_add(len.into()) > limit || !ordered {
                return Err(malformed("chunk out of place", offset));
            }
            chunks.push(Chunk { first_key, handle: BlockHandle { offset, len, level: 0 } });
        }
        input.end()?;
        if kind == BloomKind::RowCol {
            last_key.as_deref().map(check_key).transpose()?;
        }
        let last_key = last_key.filter(|_| kind != BloomKind::Row);
        Ok(Some(Self { kind, hash, hashes, keys, chunks, last_key }))
    }

    /// Returns which cell part the keys cover.
    pub fn kind(&self) -> BloomKind {
        self.kind
    }

    /// Returns the lookup key for a column in a row. A filter over rows uses only the row; a filter
    /// over prefixes uses only the row's first bytes.
    ///
    /// A filter over columns stores DeleteFamily and DeleteFamilyVersion cells under the empty
    /// qualifier. Callers that must not miss these markers also look up the empty qualifier.
    pub fn key<'a>(&self, row: &'a [u8], qualifier: &[u8]) -> BloomKey<'a> {
        if self.kind != BloomKind::RowCol {
            return BloomKey(Cow::Borrowed(row_part(self.kind, row)));
        }
        let mut key = Vec::with_capacity(row.len() + qualifier.len() + 12);
        write_column(&mut key, row, qualifier);
        BloomKey(Cow::Owned(key))
    }

    /// Returns how many rows or columns were added.
    pub fn keys(&self) -> u64 {
        self.keys
    }

    /// Returns the number, from 0, for the chunk that covers `key`; `None` if `key` is certainly
    /// not in the file.
    pub fn chunk_for(&self, key: &BloomKey<'_>) -> Option<usize> {
        let is_after = |other: &[u8]| compare(self.kind, &key.0, other) == Ordering::Greater;
        if self.last_key.as_ref().is_some_and(|last| is_after(last)) {
            return None;
        }
        let is_at_or_before = |chunk: &Chunk| !compare(self.kind, &chunk.first_key, &key.0).is_gt();
        let after = self.chunks.partition_point(is_at_or_before);
        after.checked_sub(1)
    }

    /// Iterates over the chunks in key order.
    pub fn chunks(&self) -> impl ExactSizeIterator<Item = BlockHandle> {
        self.chunks.iter().map(|chunk| chunk.handle)
    }

    /// Returns a chunk's location.
    ///
    /// # Panics
    /// If [`Bloom::chunk_for`] cannot return `number`.
    pub fn chunk(&self, number: usize) -> BlockHandle {
        self.chunks[number].handle
    }

    /// Returns true if `chunk`, which [`Bloom::chunk_for`] selected, may hold `key`. False is
    /// certain.
    pub fn chunk_contains(&self, chunk: &BloomChunk, key: &BloomKey<'_>) -> bool {
        let bits = chunk.bits.len() as u32 * 8;
        positions(self.hash, self.hashes, &key.0, bits)
            .all(|bit| chunk.bits[bit as usize / 8] & 1 << (bit % 8) != 0)
    }

    /// Returns how many bytes this value occupies in memory, apart from its own size.
    pub fn memory_len(&self) -> usize {
        let keys = self.chunks.iter().map(|chunk| chunk.first_key.len()).sum::<usize>();
        keys + self.chunks.capacity() * size_of::<Chunk>()
    }
}

/// One chunk's bits.
#[derive(Clone, Debug)]
pub struct BloomChunk {
    bits: Bytes,
}

impl BloomChunk {
    /// Takes the bits from a bloom chunk block.
    ///
    /// # Errors
    /// `Corruption` if the block has another kind, is empty, or 256 MiB or longer.
    pub(super) fn parse(block: Block) -> Result<Self> {
        let bits = block.payload;
        if block.kind != BlockKind::BloomChunk || bits.is_empty() || bits.len() > BITS_LEN_MAX {
            return Err(Error::corruption(format!(
                "not a bloom chunk: offset={}, kind={:?}, len={}",
                block.offset,
                block.kind,
                bits.len()
            )));
        }
        Ok(Self { bits })
    }

    /// Returns the bits' length in bytes.
    pub fn memory_len(&self) -> usize {
        self.bits.len()
    }
}

/// Comparator names in HBase 1.x and 0.96 for byte order, where HBase 2.x writes an empty name.
const BYTE_COMPARATORS: [&[u8]; 2] = [
    b"org.apache.hadoop.hbase.KeyValue$RawBytesComparator",
    b"org.apache.hadoop.hbase.util.Bytes$ByteArrayComparator",
];
/// Longest chunk in bytes: HBase counts bits in signed 32-bit numbers.
const BITS_LEN_MAX: usize = i32::MAX as usize / 8;

/// Returns the row part that a filter over rows or prefixes covers.
fn row_part(kind: BloomKind, row: &[u8]) -> &[u8] {
    match kind {
        BloomKind::RowPrefix(len) => &row[..row.len().min(len.into())],
        BloomKind::None | BloomKind::Row | BloomKind::RowCol => row,
    }
}

/// Appends a column key: an index key with an empty family.
fn write_column(out: &mut Vec<u8>, row: &[u8], qualifier: &[u8]) {
    write_key(out, &Key::column_start(row, b"", qualifier));
}

/// Compares two filter keys. Column keys must have passed [`check_key`].
fn compare(kind: BloomKind, a: &[u8], b: &[u8]) -> Ordering {
    if kind == BloomKind::RowCol { view_key(a).cmp(&view_key(b)) } else { compare_bytes(a, b) }
}

/// Returns the bit positions for `key` among `bits` (fewer than 2³¹), in HBase's wrapping signed
/// arithmetic.
fn positions(hash: HashKind, hashes: u32, key: &[u8], bits: u32) -> impl Iterator<Item = u32> {
    let first = hash.hash(key, 0);
    let second = hash.hash(key, first);
    (0..hashes).map(move |at| {
        let composite = first.wrapping_add(at.wrapping_mul(second)) as i32;
        (composite % bits as i32).unsigned_abs()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values from `Hash.getInstance(…).hash(new ByteArrayHashKey(…), seed)` in HBase 2.6.4.
    #[test]
    fn hashes_are_hbases() {
        for (code, key, seed, want) in HASHES {
            let hash = HashKind::from_code(code).unwrap();
            assert_eq!(hash.hash(key, seed) as i32, want, "{hash:?} {key:?} {seed}");
        }
        assert_eq!(HashKind::from_code(3), None);
    }

    const HASHES: [(u32, &[u8], u32, i32); 72] = [
        (0, b"", 0, -559038737),
        (0, b"", 3735928559, -1118077474),
        (0, b"\x01", 0, 82610235),
        (0, b"\x01", 3735928559, -1136249197),
        (0, b"\x80", 0, -2007950644),
        (0, b"\x80", 3735928559, 1370137975),
        (0, b"\x01\xFF", 0, -228251684),
        (0, b"\x01\xFF", 3735928559, 2126846274),
        (0, b"\x01\x02\xFE", 0, 8094072),
        (0, b"\x01\x02\xFE", 3735928559, -1800288486),
        (0, b"\x72\x6F\x77\x31", 0, -369613114),
        (0, b"\x72\x6F\x77\x31", 3735928559, 581306858),
        (0, b"\x72\x6F\x77\x30\x30", 0, -135740533),
        (0, b"\x72\x6F\x77\x30\x30", 3735928559, 1899755748),
        (0, b"\x68\x65\x6C\x6C\x6F\x20\x77\x6F\x72\x6C\x64", 0, 1252609637),
        (0, b"\x68\x65\x6C\x6C\x6F\x20\x77\x6F\x72\x6C\x64", 3735928559, -540149091),
        (0, b"\x68\x65\x6C\x6C\x6F\x20\x77\x6F\x72\x6C\x64\x21", 0, 1267287771),
        (0, b"\x68\x65\x6C\x6C\x6F\x20\x77\x6F\x72\x6C\x64\x21", 3735928559, -371862004),
        (0, b"\x68\x65\x6C\x6C\x6F\x20\x77\x6F\x72\x6C\x64\x21\x21", 0, -1107483356),
        (0, b"\x68\x65\x6C\x6C\x6F\x20\x77\x6F\x72\x6C\x64\x21\x21", 3735928559, -2067635162),
        (0, b"\x74\x68\x65\x20\x71\x75\x69\x63\x6B\x20\x62\x72\x6F\x77\x6E\x20\x66\x6F\x78\x20\x6A\x75\x6D\x70\x73\x20\x6F\x76\x65\x72", 0, 1726990991),
        (0, b"\x74\x68\x65\x20\x71\x75\x69\x63\x6B\x20\x62\x72\x6F\x77\x6E\x20\x66\x6F\x78\x20\x6A\x75\x6D\x70\x73\x20\x6F\x76\x65\x72", 3735928559, 780687128),
        (0, b"\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 0, -384047480),
        (0, b"\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 3735928559, 1560736199),
        (1, b"", 0, 0),
        (1, b"", 3735928559, 1552874934),
        (1, b"\x01", 0, 0),
        (1, b"\x01", 3735928559, 103722139),
        (1, b"\x80", 0, -39096812),
        (1, b"\x80", 3735928559, -1434837443),
        (1, b"\x01\xFF", 0, 1206524387),
        (1, b"\x01\xFF", 3735928559, 873744041),
        (1, b"\x01\x02\xFE", 0, 357647987),
        (1, b"\x01\x02\xFE", 3735928559, -1116827885),
        (1, b"\x72\x6F\x77\x31", 0, 155469074),
        (1, b"\x72\x6F\x77\x31", 3735928559, 694238326),
        (1, b"\x72\x6F\x77\x30\x30", 0, -352440942),
        (1, b"\x72\x6F\x77\x30\x30", 3735928559, -1716637231),
        (1, b"\x68\x65\x6C\x6C\x6F\x20\x77\x6F\x72\x6C\x64", 0, 1151865881),
        (1, b"\x68\x65\x6C\x6C\x6F\x20\x77\x6F\x72\x6C\x64", 3735928559, 93494617),
        (1, b"\x68\x65\x6C\x6C\x6F\x20\x77\x6F\x72\x6C\x64\x21", 0, 1685739664),
        (1, b"\x68\x65\x6C\x6C\x6F\x20\x77\x6F\x72\x6C\x64\x21", 3735928559, -568588384),
        (1, b"\x68\x65\x6C\x6C\x6F\x20\x77\x6F\x72\x6C\x64\x21\x21", 0, -332450106),
        (1, b"\x68\x65\x6C\x6C\x6F\x20\x77\x6F\x72\x6C\x64\x21\x21", 3735928559, -2016129115),
        (1, b"\x74\x68\x65\x20\x71\x75\x69\x63\x6B\x20\x62\x72\x6F\x77\x6E\x20\x66\x6F\x78\x20\x6A\x75\x6D\x70\x73\x20\x6F\x76\x65\x72", 0, 630014013),
        (1, b"\x74\x68\x65\x20\x71\x75\x69\x63\x6B\x20\x62\x72\x6F\x77\x6E\x20\x66\x6F\x78\x20\x6A\x75\x6D\x70\x73\x20\x6F\x76\x65\x72", 3735928559, 1990873252),
        (1, b"\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 0, 1785284717),
        (1, b"\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 3735928559, 1214634408),
        (2, b"", 0, 0),
        (2, b"", 3735928559, 233162409),
        (2, b"\x01", 0, -463810133),
        (2, b"\x01", 3735928559, 724918415),
        (2, b"\x80", 0, 267099677),
        (2, b"\x80", 3735928559, -310792270),
        (2, b"\x01\xFF", 0, -10099350),
        (2, b"\x01\xFF", 3735928559, -564742038),
        (2, b"\x01\x02\xFE", 0, 2026125873),
        (2, b"\x01\x02\xFE", 3735928559, 1295677086),
        (2, b"\x72\x6F\x77\x31", 0, -1126219893),
        (2, b"\x72\x6F\x77\x31", 3735928559, -1153517605),
        (2, b"\x72\x6F\x77\x30\x30", 0, -107802882),
        (2, b"\x72\x6F\x77\x30\x30", 3735928559, 1154573629),
        (2, b"\x68\x65\x6C\x6C\x6F\x20\x77\x6F\x72\x6C\x64", 0, 1586663183),
        (2, b"\x68\x65\x6C\x6C\x6F\x20\x77\x6F\x72\x6C\x64", 3735928559, -704834153),
        (2, b"\x68\x65\x6C\x6C\x6F\x20\x77\x6F\x72\x6C\x64\x21", 0, 774705101),
        (2, b"\x68\x65\x6C\x6C\x6F\x20\x77\x6F\x72\x6C\x64\x21", 3735928559, -1467019338),
        (2, b"\x68\x65\x6C\x6C\x6F\x20\x77\x6F\x72\x6C\x64\x21\x21", 0, -490022337),
        (2, b"\x68\x65\x6C\x6C\x6F\x20\x77\x6F\x72\x6C\x64\x21\x21", 3735928559, 1741975906),
        (2, b"\x74\x68\x65\x20\x71\x75\x69\x63\x6B\x20\x62\x72\x6F\x77\x6E\x20\x66\x6F\x78\x20\x6A\x75\x6D\x70\x73\x20\x6F\x76\x65\x72", 0, 296965468),
        (2, b"\x74\x68\x65\x20\x71\x75\x69\x63\x6B\x20\x62\x72\x6F\x77\x6E\x20\x66\x6F\x78\x20\x6A\x75\x6D\x70\x73\x20\x6F\x76\x65\x72", 3735928559, 710480925),
        (2, b"\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 0, 18685351),
        (2, b"\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 3735928559, 1173631298),
    ];
}
