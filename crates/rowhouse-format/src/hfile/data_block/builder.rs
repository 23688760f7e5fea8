//! Builds data blocks.

use rowhouse_model::{CellRef, DataBlockEncoding};

use super::delta::{self, DeltaEncoder};
use super::layout::{KEY_OFFSET, Layout, ROW_INDEX_ID};
use crate::hfile::block::{BlockKind, BlockSealer};
use crate::hfile::key::{KEY_FIXED_LEN, write_key};
use crate::hfile::varint::{VINT_LEN_MAX, vint_len, write_vint};

/// A data block under construction.
pub(in crate::hfile) struct DataBlockBuilder {
    layout: Layout,
    /// Space for the header, then the payload.
    bytes: Vec<u8>,
    /// The first cell's offset in `bytes`.
    cells_start: usize,
    rows: Vec<u32>,
    /// How long the cells are without encoding, in bytes.
    plain_len: usize,
    /// State for the delta encodings (PREFIX, DIFF, FAST_DIFF).
    packer: DeltaEncoder,
}

impl DataBlockBuilder {
    /// Creates an empty block.
    pub(in crate::hfile) fn new(layout: Layout, block_len: usize) -> Self {
        let mut builder = Self {
            layout,
            bytes: Vec::with_capacity(block_len + block_len / 8),
            cells_start: 0,
            rows: Vec::new(),
            plain_len: 0,
            packer: DeltaEncoder::default(),
        };
        builder.clear();
        builder
    }

    /// Resets the builder to an empty block.
    pub(in crate::hfile) fn clear(&mut self) {
        BlockSealer::start(&mut self.bytes);
        if self.layout.encoding == DataBlockEncoding::RowIndexV1 {
            self.bytes.extend_from_slice(&ROW_INDEX_ID.to_be_bytes());
        }
        if let Some(id) = delta::id(self.layout.encoding) {
            self.bytes.extend_from_slice(&id.to_be_bytes());
            // Placeholder for the unencoded cells' length.
            self.bytes.extend_from_slice(&[0; 4]);
            self.packer.clear();
        }
        self.cells_start = self.bytes.len();
        self.rows.clear();
        self.plain_len = 0;
    }

    /// Returns how many bytes the cells and row offsets take so far, or the unencoded cells if that
    /// is more. It determines when the block is full.
    pub(in crate::hfile) fn len(&self) -> usize {
        let len = self.bytes.len() - self.cells_start + 4 * self.rows.len();
        len.max(self.plain_len)
    }

    /// Returns true if the block has no cells.
    pub(in crate::hfile) fn is_empty(&self) -> bool {
        self.bytes.len() == self.cells_start
    }

    /// Appends a cell, whose lengths must be in bounds. Returns the unencoded length in bytes.
    pub(in crate::hfile) fn push(&mut self, cell: &CellRef<'_>, new_row: bool) -> usize {
        let len = match delta::id(self.layout.encoding) {
            Some(_) => {
                self.packer.push(&mut self.bytes, cell, self.layout);
                plain_len(cell, self.layout)
            }
            None => self.push_plain(cell, new_row),
        };
        self.plain_len += len;
        len
    }

    fn push_plain(&mut self, cell: &CellRef<'_>, new_row: bool) -> usize {
        let start = self.bytes.len();
        if self.layout.encoding == DataBlockEncoding::RowIndexV1
            && (new_row || self.rows.is_empty())
        {
            self.rows.push((start - self.cells_start) as u32);
        }
        let key = &cell.key;
        let key_len = KEY_FIXED_LEN + key.row.len() + key.family.len() + key.qualifier.len();
        let value = cell.value;
        let tags = cell.tags;
        self.bytes.reserve(KEY_OFFSET + key_len + value.len() + 2 + tags.len() + VINT_LEN_MAX);
        self.bytes.extend_from_slice(&(key_len as u32).to_be_bytes());
        self.bytes.extend_from_slice(&(value.len() as u32).to_be_bytes());
        write_key(&mut self.bytes, key);
        self.bytes.extend_from_slice(value);
        if self.layout.tags {
            self.bytes.extend_from_slice(&(tags.len() as u16).to_be_bytes());
            self.bytes.extend_from_slice(tags);
        }
        if self.layout.sequences {
            write_vint(&mut self.bytes, cell.sequence as i64);
        }
        self.bytes.len() - start
    }

    /// Completes the payload and returns the block's kind and bytes for sealing. The caller must
    /// call [`DataBlockBuilder::clear`] afterwards.
    pub(in crate::hfile) fn finish(&mut self) -> (BlockKind, &mut Vec<u8>) {
        match self.layout.encoding {
            DataBlockEncoding::None => (BlockKind::Data, &mut self.bytes),
            DataBlockEncoding::RowIndexV1 => {
                let cells_len = (self.bytes.len() - self.cells_start) as u32;
                self.bytes.extend_from_slice(&(self.rows.len() as u32).to_be_bytes());
                for row in &self.rows {
                    self.bytes.extend_from_slice(&row.to_be_bytes());
                }
                self.bytes.extend_from_slice(&cells_len.to_be_bytes());
                (BlockKind::EncodedData, &mut self.bytes)
            }
            DataBlockEncoding::Prefix | DataBlockEncoding::Diff | DataBlockEncoding::FastDiff => {
                let len = (self.plain_len as u32).to_be_bytes();
                self.bytes[self.cells_start - 4..self.cells_start].copy_from_slice(&len);
                (BlockKind::EncodedData, &mut self.bytes)
            }
        }
    }
}

/// Returns a cell's unencoded length in bytes.
fn plain_len(cell: &CellRef<'_>, layout: Layout) -> usize {
    let key = &cell.key;
    let names_len = key.row.len() + key.family.len() + key.qualifier.len();
    let tags_len = if layout.tags { 2 + cell.tags.len() } else { 0 };
    let sequence_len = if layout.sequences { vint_len(cell.sequence) } else { 0 };
    KEY_OFFSET + KEY_FIXED_LEN + names_len + cell.value.len() + tags_len + sequence_len
}
