//! Builds a bloom filter in chunks.

use std::collections::VecDeque;

use rowhouse_model::BloomKind;

use super::hash::HashKind;
use super::{VERSION, positions, row_part, write_column};
use crate::hfile::block::BlockHandle;
use crate::hfile::varint::write_vint;

/// False-positive rate (`io.storefile.bloom.error.rate`), which HBase stores as a float.
const ERROR_RATE: f32 = 0.01;
/// A chunk's length is a multiple of two to this power, so that it can be folded this many times.
const FOLDS_MAX: u32 = 7;
const HASH: HashKind = HashKind::Murmur;
/// The key order for a bloom filter over columns, under the name that HBase 2 writes.
const COLUMN_COMPARATOR: &str = "org.apache.hadoop.hbase.CellComparatorImpl";

/// The bloom filter for a file under construction.
pub(in crate::hfile) struct BloomBuilder {
    kind: BloomKind,
    /// How long an unfolded chunk is, in bytes; the key capacity and hash count follow from it.
    chunk_len: usize,
    chunk_keys_max: u64,
    hashes: u32,
    current: Option<Chunk>,
    /// Full chunks that are written when the data block ends.
    ready: VecDeque<Chunk>,
    /// The meta block entries for the chunks written so far.
    entries: Vec<u8>,
    chunks: u32,
    keys: u64,
    keys_max: u64,
    len: u64,
    last_key: Vec<u8>,
    /// Buffer for a column key.
    column: Vec<u8>,
}

struct Chunk {
    first_key: Vec<u8>,
    bits: Vec<u8>,
    keys: u64,
}

impl BloomBuilder {
    /// Creates a bloom filter with chunks that have about `chunk_len` bytes.
    pub(in crate::hfile) fn new(kind: BloomKind, chunk_len: u32) -> Self {
        let chunk_len = (chunk_len.max(1) as usize).next_multiple_of(1 << FOLDS_MAX);
        let bits = chunk_len as f64 * 8.0;
        let ln2 = std::f64::consts::LN_2;
        let error_rate = error_rate(kind);
        let ideal = (bits * (ln2 * ln2 / -error_rate.ln())).floor();
        let hashes = (ln2 * (bits / ideal).floor()).ceil();
        let keys = -bits / hashes * (1.0 - (error_rate.ln() / hashes).exp()).ln();
        Self {
            kind,
            chunk_len,
            chunk_keys_max: keys as u64,
            hashes: hashes as u32,
            current: None,
            ready: VecDeque::new(),
            entries: Vec::new(),
            chunks: 0,
            keys: 0,
            keys_max: 0,
            len: 0,
            last_key: Vec::new(),
            column: Vec::new(),
        }
    }

    /// Adds a cell's row or column, in key order. Adding the last key again has no effect.
    pub(in crate::hfile) fn push(&mut self, row: &[u8], qualifier: &[u8]) {
        if self.kind != BloomKind::RowCol {
            return self.push_key(row_part(self.kind, row));
        }
        let mut column = std::mem::take(&mut self.column);
        column.clear();
        write_column(&mut column, row, qualifier);
        self.push_key(&column);
        self.column = column;
    }

    fn push_key(&mut self, key: &[u8]) {
        if self.keys > 0 && self.last_key == key {
            return;
        }
        if self.chunk_is_full() {
            self.finish_chunk();
        }
        let chunk = self.current.get_or_insert_with(|| Chunk {
            first_key: key.to_vec(),
            bits: vec![0; self.chunk_len],
            keys: 0,
        });
        for bit in positions(HASH, self.hashes, key, self.chunk_len as u32 * 8) {
            chunk.bits[bit as usize / 8] |= 1 << (bit % 8);
        }
        chunk.keys += 1;
        self.keys += 1;
        self.last_key.clear();
        self.last_key.extend_from_slice(key);
    }

    /// Returns true if the open chunk has reached the key capacity.
    pub(in crate::hfile) fn chunk_is_full(&self) -> bool {
        self.current.as_ref().is_some_and(|chunk| chunk.keys >= self.chunk_keys_max)
    }

    /// Closes the open chunk; halves it by folding while less than half the capacity is used.
    pub(in crate::hfile) fn finish_chunk(&mut self) {
        let Some(mut chunk) = self.current.take() else { return };
        let mut len = self.chunk_len;
        let mut keys_max = self.chunk_keys_max;
        while len.is_multiple_of(2) && keys_max > chunk.keys * 2 {
            len /= 2;
            keys_max /= 2;
        }
        let (first, folded) = chunk.bits.split_at_mut(len);
        for piece in folded.chunks_exact(len) {
            first.iter_mut().zip(piece).for_each(|(byte, folded)| *byte |= folded);
        }
        chunk.bits.truncate(len);
        self.keys_max += keys_max;
        self.len += len as u64;
        self.ready.push_back(chunk);
    }

    /// Returns the bits for the next chunk to write.
    pub(in crate::hfile) fn ready(&self) -> Option<&[u8]> {
        self.ready.front().map(|chunk| &chunk.bits[..])
    }

    /// Records where the chunk is that [`BloomBuilder::ready`] returned.
    pub(in crate::hfile) fn written(&mut self, handle: BlockHandle) {
        let Some(chunk) = self.ready.pop_front() else { return };
        self.entries.extend_from_slice(&handle.offset.to_be_bytes());
        self.entries.extend_from_slice(&handle.len.to_be_bytes());
        write_vint(&mut self.entries, chunk.first_key.len() as i64);
        self.entries.extend_from_slice(&chunk.first_key);
        self.chunks += 1;
    }

    /// Returns the last key added.
    pub(in crate::hfile) fn last_key(&self) -> Option<&[u8]> {
        (self.keys > 0).then_some(&self.last_key[..])
    }

    /// Appends the meta block's payload to `out`.
    pub(in crate::hfile) fn write_meta(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&VERSION.to_be_bytes());
        out.extend_from_slice(&self.len.to_be_bytes());
        out.extend_from_slice(&self.hashes.to_be_bytes());
        out.extend_from_slice(&(HASH as u32).to_be_bytes());
        out.extend_from_slice(&self.keys.to_be_bytes());
        out.extend_from_slice(&self.keys_max.to_be_bytes());
        out.extend_from_slice(&self.chunks.to_be_bytes());
        let comparator = if self.kind == BloomKind::RowCol { COLUMN_COMPARATOR } else { "" };
        write_vint(out, comparator.len() as i64);
        out.extend_from_slice(comparator.as_bytes());
        out.extend_from_slice(&self.entries);
    }
}

/// Returns a full chunk's false-positive rate. A column lookup probes two keys, the column and the
/// family's delete markers, and either may be a false positive; so a filter over columns uses a
/// lower rate.
fn error_rate(kind: BloomKind) -> f64 {
    match kind {
        BloomKind::None | BloomKind::Row | BloomKind::RowPrefix(_) => ERROR_RATE.into(),
        BloomKind::RowCol => f64::from((1.0 - f64::from(1.0 - ERROR_RATE).sqrt()) as f32),
    }
}
