//! Collects places and keys of data blocks, and writes them as leaves, intermediates and root.

use super::{MID_KEY_LEN, NODE_ENTRY_FIXED_LEN};
use crate::hfile::block::BlockHandle;
use crate::hfile::varint::{vint_len, write_vint};

/// A root with fewer entries than this is not cut, however long its keys are
/// (`hfile.index.block.min.entries`).
const ROOT_ENTRIES_MIN: usize = 16;
/// More levels than this are never made (`BlockIndexWriter.writeIndexBlocks`).
const LEVELS_MAX: u8 = 16;

/// The index of a file that is being written.
pub(in crate::hfile) struct IndexBuilder {
    block_len: usize,
    /// Entries of the leaf that is being filled.
    leaf: Chunk,
    /// Entries for the leaves written so far; of the data blocks if there are none.
    root: Chunk,
    /// For each entry of `root`, how many data blocks it and those before it lead to.
    counts: Vec<u64>,
    blocks: u64,
    levels: u8,
    /// Uncompressed bytes of index blocks, without headers.
    pub(in crate::hfile) uncompressed_len: u64,
}

/// Entries that become one index block.
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

    /// Appends the payload of a leaf or intermediate block to `out`.
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
    /// An index whose blocks are closed once they reach `block_len` bytes.
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

    /// Adds a data block.
    pub(in crate::hfile) fn push(&mut self, key: Vec<u8>, handle: BlockHandle) {
        self.leaf.push(Entry { offset: handle.offset, len: handle.len, key });
        self.blocks += 1;
    }

    /// Whether a leaf is due: full, or at the end of a file that has leaves.
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

    /// Appends the leaf's payload to `out`, and returns what [`IndexBuilder::leaf_written`] wants.
    pub(in crate::hfile) fn write_leaf(&mut self, out: &mut Vec<u8>) -> Vec<u8> {
        let mut leaf = std::mem::take(&mut self.leaf);
        leaf.write_node(out);
        self.uncompressed_len += leaf.node_len() as u64;
        std::mem::take(&mut leaf.entries[0].key)
    }

    /// Notes where a leaf went.
    pub(in crate::hfile) fn leaf_written(&mut self, first_key: Vec<u8>, handle: BlockHandle) {
        self.levels = 2;
        self.root.push(Entry { offset: handle.offset, len: handle.len, key: first_key });
        self.counts.push(self.blocks);
    }

    /// What is in the middle of the file, for a root with leaves below it: region servers split
    /// there. To be asked before [`IndexBuilder::cut_root`].
    pub(in crate::hfile) fn mid_key(&self) -> Option<[u8; MID_KEY_LEN]> {
        let middle = self.counts.last()?.checked_sub(1)? / 2;
        // As HBase's binary search: a chunk that ends exactly there gives way to the next one.
        let at = self.counts.partition_point(|&count| count <= middle);
        let before = if at > 0 { self.counts[at - 1] } else { 0 };
        let entry = &self.root.entries[at];
        let mut bytes = [0; MID_KEY_LEN];
        bytes[..8].copy_from_slice(&entry.offset.to_be_bytes());
        bytes[8..12].copy_from_slice(&entry.len.to_be_bytes());
        bytes[12..].copy_from_slice(&((middle - before) as u32).to_be_bytes());
        Some(bytes)
    }

    /// While the root is too long: cuts it into the entries of intermediate blocks, which the caller
    /// writes and gives back to [`IndexBuilder::intermediate_written`].
    pub(in crate::hfile) fn cut_root(&mut self) -> Option<Vec<Chunk>> {
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

    /// Notes where a piece of the former root went.
    pub(in crate::hfile) fn intermediate_written(&mut self, piece: Chunk, handle: BlockHandle) {
        self.uncompressed_len += piece.node_len() as u64;
        let key = piece.entries.into_iter().next().map(|entry| entry.key).unwrap_or_default();
        self.root.push(Entry { offset: handle.offset, len: handle.len, key });
    }

    /// Appends the root's entries to `out`.
    pub(in crate::hfile) fn write_root(&self, out: &mut Vec<u8>) {
        self.root.write_root(out);
    }

    /// How many entries the root has.
    pub(in crate::hfile) fn root_entries(&self) -> u32 {
        self.root.entries.len() as u32
    }

    /// How many levels are above the data blocks.
    pub(in crate::hfile) fn levels(&self) -> u8 {
        self.levels
    }
}
