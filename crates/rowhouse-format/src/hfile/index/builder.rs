//! Builds the block index: leaves, intermediate blocks and root.

use super::{MID_KEY_LEN, NODE_ENTRY_FIXED_LEN};
use crate::hfile::block::BlockHandle;
use crate::hfile::varint::{vint_len, write_vint};

/// A root with at most this many entries is not split, however long the keys are
/// (`hfile.index.block.min.entries`).
const ROOT_ENTRIES_MIN: usize = 16;
/// Most index levels (`BlockIndexWriter.writeIndexBlocks`).
const LEVELS_MAX: u8 = 16;

/// The index for a file under construction.
pub(in crate::hfile) struct IndexBuilder {
    block_len: usize,
    /// The open leaf's entries.
    leaf: Chunk,
    /// Entries for the leaves written so far, or for the data blocks if there are no leaves.
    root: Chunk,
    /// For each entry in `root`, how many data blocks there are up to and including it.
    counts: Vec<u64>,
    blocks: u64,
    levels: u8,
    /// How long the index blocks are together before compression, in bytes, without headers.
    pub(in crate::hfile) uncompressed_len: u64,
}

/// One index block's entries.
#[derive(Default)]
pub(in crate::hfile) struct Chunk {
    entries: Vec<Entry>,
    keys_len: usize,
    root_len: usize,
}

struct Entry {
    offset: u64,
    len: u32,
    key: Vec<u8>,
}

impl Chunk {
    fn push(&mut self, entry: Entry) {
        self.keys_len += entry.key.len();
        self.root_len += NODE_ENTRY_FIXED_LEN + vint_len(entry.key.len() as u64) + entry.key.len();
        self.entries.push(entry);
    }

    fn node_len(&self) -> usize {
        4 + 4 * (self.entries.len() + 1) + NODE_ENTRY_FIXED_LEN * self.entries.len() + self.keys_len
    }

    /// Appends a leaf or intermediate block's payload to `out`.
    pub(in crate::hfile) fn write_node(&self, out: &mut Vec<u8>) {
        out.reserve(self.node_len());
        out.extend_from_slice(&(self.entries.len() as u32).to_be_bytes());
        let mut at = 0u32;
        for entry in &self.entries {
            out.extend_from_slice(&at.to_be_bytes());
            at += (NODE_ENTRY_FIXED_LEN + entry.key.len()) as u32;
        }
        out.extend_from_slice(&at.to_be_bytes());
        for entry in &self.entries {
            out.extend_from_slice(&entry.offset.to_be_bytes());
            out.extend_from_slice(&entry.len.to_be_bytes());
            out.extend_from_slice(&entry.key);
        }
    }

    fn write_root(&self, out: &mut Vec<u8>) {
        for entry in &self.entries {
            out.extend_from_slice(&entry.offset.to_be_bytes());
            out.extend_from_slice(&entry.len.to_be_bytes());
            write_vint(out, entry.key.len() as i64);
            out.extend_from_slice(&entry.key);
        }
    }
}

impl IndexBuilder {
    /// Creates an index whose blocks are closed once they reach `block_len` bytes.
    pub(in crate::hfile) fn new(block_len: u32) -> Self {
        Self {
            block_len: block_len as usize,
            leaf: Chunk::default(),
            root: Chunk::default(),
            counts: Vec::new(),
            blocks: 0,
            levels: 1,
            uncompressed_len: 0,
        }
    }

    /// Adds a data block under the index key.
    pub(in crate::hfile) fn push(&mut self, key: Vec<u8>, handle: BlockHandle) {
        self.leaf.push(Entry { offset: handle.offset, len: handle.len, key });
        self.blocks += 1;
    }

    /// Returns true if the open leaf must be written: it is full, or the file ends and has other
    /// leaves.
    pub(in crate::hfile) fn leaf_is_due(&mut self, closing: bool) -> bool {
        if self.leaf.entries.is_empty() {
            return false;
        }
        if !closing {
            return self.leaf.node_len() >= self.block_len;
        }
        if self.root.entries.is_empty() {
            self.root = std::mem::take(&mut self.leaf);
            return false;
        }
        true
    }

    /// Appends the leaf's payload to `out`. Returns the first key, which the caller passes to
    /// [`IndexBuilder::leaf_written`].
    pub(in crate::hfile) fn write_leaf(&mut self, out: &mut Vec<u8>) -> Vec<u8> {
        let mut leaf = std::mem::take(&mut self.leaf);
        leaf.write_node(out);
        self.uncompressed_len += leaf.node_len() as u64;
        std::mem::take(&mut leaf.entries[0].key)
    }

    /// Records a leaf's location.
    pub(in crate::hfile) fn leaf_written(&mut self, first_key: Vec<u8>, handle: BlockHandle) {
        self.levels = 2;
        self.root.push(Entry { offset: handle.offset, len: handle.len, key: first_key });
        self.counts.push(self.blocks);
    }

    /// Returns the entry for the file's middle data block, stored with a root that has several
    /// levels; region servers split there. The caller must call it before
    /// [`IndexBuilder::split_root`].
    pub(in crate::hfile) fn mid_key(&self) -> Option<[u8; MID_KEY_LEN]> {
        let middle = self.counts.last()?.checked_sub(1)? / 2;
        // As in HBase's binary search, a leaf that ends exactly there yields to the next one.
        let at = self.counts.partition_point(|&count| count <= middle);
        let before = if at > 0 { self.counts[at - 1] } else { 0 };
        let entry = &self.root.entries[at];
        let mut bytes = [0; MID_KEY_LEN];
        bytes[..8].copy_from_slice(&entry.offset.to_be_bytes());
        bytes[8..12].copy_from_slice(&entry.len.to_be_bytes());
        bytes[12..].copy_from_slice(&((middle - before) as u32).to_be_bytes());
        Some(bytes)
    }

    /// If the root is too long, splits it into the entries for intermediate blocks. The caller
    /// writes each and passes it to [`IndexBuilder::intermediate_written`], then calls this again.
    /// Returns `None` once the root fits.
    pub(in crate::hfile) fn split_root(&mut self) -> Option<Vec<Chunk>> {
        if self.root.root_len <= self.block_len
            || self.root.entries.len() <= ROOT_ENTRIES_MIN
            || self.levels >= LEVELS_MAX
        {
            return None;
        }
        let mut pieces = Vec::new();
        let mut piece = Chunk::default();
        for (at, entry) in std::mem::take(&mut self.root).entries.into_iter().enumerate() {
            piece.push(entry);
            if at >= ROOT_ENTRIES_MIN && piece.root_len >= self.block_len {
                pieces.push(std::mem::take(&mut piece));
            }
        }
        if !piece.entries.is_empty() {
            pieces.push(piece);
        }
        self.levels += 1;
        Some(pieces)
    }

    /// Records an intermediate block's location.
    pub(in crate::hfile) fn intermediate_written(&mut self, piece: Chunk, handle: BlockHandle) {
        self.uncompressed_len += piece.node_len() as u64;
        let key = piece.entries.into_iter().next().map(|entry| entry.key).unwrap_or_default();
        self.root.push(Entry { offset: handle.offset, len: handle.len, key });
    }

    /// Appends the root's entries to `out`.
    pub(in crate::hfile) fn write_root(&self, out: &mut Vec<u8>) {
        self.root.write_root(out);
    }

    /// Returns how many root entries there are.
    pub(in crate::hfile) fn root_entries(&self) -> u32 {
        self.root.entries.len() as u32
    }

    /// Returns how many levels are above the data blocks.
    pub(in crate::hfile) fn levels(&self) -> u8 {
        self.levels
    }
}
