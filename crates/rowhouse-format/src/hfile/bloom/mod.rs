//! Which rows are certainly not in a file: blooms in chunks.

mod builder;
mod hash;

use bytes::Bytes;
use rowhouse_model::{Error, Result};

pub(super) use builder::BloomBuilder;
use hash::HashKind;

use super::block::{Block, BlockHandle, BlockKind};
use super::input::Input;

/// The version of the meta's layout (`CompoundBloomFilterBase.VERSION`).
const VERSION: u32 = 3;
/// More hashes per key than any error rate wants; a bound on what a lookup can cost.
const HASHES_MAX: u32 = 255;
/// The shortest entry of the meta: offset, length, key length.
const ENTRY_LEN_MIN: usize = 8 + 4 + 1;

/// A bloom over rows: where its chunks are and how to ask them.
#[derive(Clone, Debug)]
pub struct Bloom {
    hash: HashKind,
    hashes: u32,
    keys: u64,
    chunks: Vec<Chunk>,
    /// The last row that was put in, where the file tells.
    last_row: Option<Bytes>,
}

#[derive(Clone, Debug)]
struct Chunk {
    first_row: Bytes,
    handle: BlockHandle,
}

impl Bloom {
    /// Parses a meta block; none if its keys are not rows. All chunks end at `limit` or before.
    pub(super) fn parse(
        block: &Block,
        last_row: Option<Bytes>,
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
        input.u64()?; // Bytes of all chunks, which the chunks tell themselves.
        let (hashes, hash) = (input.u32()?, input.u32()?);
        let keys = input.u64()?;
        input.u64()?; // The most keys the chunks would take.
        let count = input.u32()?;
        if !input.vint_bytes()?.is_empty() {
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
            let (offset, len) = (input.u64()?, input.u32()?);
            let first_row = block.payload.slice_ref(input.vint_bytes()?);
            if offset.saturating_add(len.into()) > limit
                || chunks.last().is_some_and(|last| last.first_row >= first_row)
            {
                return Err(malformed("chunk out of place", offset));
            }
            chunks.push(Chunk { first_row, handle: BlockHandle { offset, len, level: 0 } });
        }
        input.end()?;
        Ok(Some(Self { hash, hashes, keys, chunks, last_row }))
    }

    /// Rows that were put in.
    pub fn keys(&self) -> u64 {
        self.keys
    }

    /// The chunk that knows about `row`; none when the row is certainly not in the file.
    pub fn chunk_for(&self, row: &[u8]) -> Option<BlockHandle> {
        if self.last_row.as_ref().is_some_and(|last| row > &last[..]) {
            return None;
        }
        let behind = self.chunks.partition_point(|chunk| &chunk.first_row[..] <= row);
        Some(self.chunks[behind.checked_sub(1)?].handle)
    }

    /// The chunks, in row order.
    pub fn chunks(&self) -> impl Iterator<Item = BlockHandle> {
        self.chunks.iter().map(|chunk| chunk.handle)
    }

    /// Whether the chunk that [`Bloom::chunk_for`] named may hold `row`; false is certain.
    pub fn chunk_contains(&self, chunk: &BloomChunk, row: &[u8]) -> bool {
        let bits = chunk.bits.len() as u32 * 8;
        positions(self.hash, self.hashes, row, bits)
            .all(|bit| chunk.bits[bit as usize / 8] & 1 << (bit % 8) != 0)
    }

    /// Bytes this takes in memory.
    pub fn memory_len(&self) -> usize {
        let keys = self.chunks.iter().map(|chunk| chunk.first_row.len()).sum::<usize>();
        keys + self.chunks.capacity() * size_of::<Chunk>()
    }
}

/// The bits of one chunk.
#[derive(Clone, Debug)]
pub struct BloomChunk {
    bits: Bytes,
}

impl BloomChunk {
    /// Takes the bits out of a block that a bloom named.
    ///
    /// # Errors
    /// `Corruption` for another kind of block, an empty one, or one of 256 MiB and more.
    pub(super) fn parse(block: Block) -> Result<Self> {
        let bits = block.payload;
        if block.kind != BlockKind::BloomChunk || bits.is_empty() || bits.len() > BITS_LEN_MAX {
            return Err(Error::corruption(format!(
                "no chunk of a bloom: offset={}, kind={:?}, len={}",
                block.offset,
                block.kind,
                bits.len()
            )));
        }
        Ok(Self { bits })
    }

    /// Bytes this takes in memory.
    pub fn memory_len(&self) -> usize {
        self.bits.len()
    }
}

/// Bits are counted in signed 32-bit numbers.
const BITS_LEN_MAX: usize = i32::MAX as usize / 8;

/// The bits of `row` among `bits` (fewer than 2³¹), as HBase's wrapping signed arithmetic has them.
fn positions(hash: HashKind, hashes: u32, row: &[u8], bits: u32) -> impl Iterator<Item = u32> {
    let first = hash.hash(row, 0);
    let second = hash.hash(row, first);
    (0..hashes).map(move |at| {
        let composite = first.wrapping_add(at.wrapping_mul(second)) as i32;
        (composite % bits as i32).unsigned_abs()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values from `Hash.getInstance(…).hash(new ByteArrayHashKey(…), seed)` of HBase 2.6.4.
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
