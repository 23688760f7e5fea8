//! Puts cells into a block.

use rowhouse_model::{CellRef, DataBlockEncoding};

use super::{Layout, ROW_INDEX_ID};
use crate::hfile::block::{BlockKind, BlockSealer};
use crate::hfile::key::{KEY_FIXED_LEN, write_key};
use crate::hfile::varint::{VINT_LEN_MAX, write_vint};

/// A data block that is being filled.
pub(in crate::hfile) struct DataBlockBuilder {
    layout: Layout,
    /// Room for the header, then the payload.
    bytes: Vec<u8>,
    /// Where the cells begin in `bytes`.
    cells_start: usize,
    rows: Vec<u32>,
}

impl DataBlockBuilder {
    /// An empty block.
    pub(in crate::hfile) fn new(layout: Layout, block_len: usize) -> Self {
        let mut builder = Self {
            layout,
            bytes: Vec::with_capacity(block_len + block_len / 8),
            cells_start: 0,
            rows: Vec::new(),
        };
        builder.clear();
        builder
    }

    /// Starts over.
    pub(in crate::hfile) fn clear(&mut self) {
        BlockSealer::start(&mut self.bytes);
        if self.layout.encoding == DataBlockEncoding::RowIndexV1 {
            self.bytes.extend_from_slice(&ROW_INDEX_ID.to_be_bytes());
        }
        self.cells_start = self.bytes.len();
        self.rows.clear();
    }

    /// Bytes of cells and row offsets so far, which decide when the block is full.
    pub(in crate::hfile) fn len(&self) -> usize {
        self.bytes.len() - self.cells_start + 4 * self.rows.len()
    }

    /// Whether there is no cell.
    pub(in crate::hfile) fn is_empty(&self) -> bool {
        self.bytes.len() == self.cells_start
    }

    /// Adds a cell whose lengths are in bounds. Returns the bytes it takes.
    pub(in crate::hfile) fn push(&mut self, cell: &CellRef<'_>, new_row: bool) -> usize {
        let start = self.bytes.len();
        if self.layout.encoding == DataBlockEncoding::RowIndexV1
            && (new_row || self.rows.is_empty())
        {
            self.rows.push((start - self.cells_start) as u32);
        }
        let key = &cell.key;
        let key_len = KEY_FIXED_LEN + key.row.len() + key.family.len() + key.qualifier.len();
        let (value, tags) = (cell.value, cell.tags);
        self.bytes.reserve(8 + key_len + value.len() + 2 + tags.len() + VINT_LEN_MAX);
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

    /// The block's kind and bytes, ready to be sealed; [`DataBlockBuilder::clear`] comes next.
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
        }
    }
}
