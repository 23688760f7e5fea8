//! Cell blocks: KeyValues in sequence, each with a length prefix.

use bytes::{Buf, BufMut, Bytes, BytesMut};
use rowhouse_model::{Cell, KeyValue, Result};

use crate::exception::malformed;

/// How cells are encoded in a cell block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CellCodec {
    /// Without tags; the codec that all stock clients use.
    #[default]
    KeyValue,
    /// With tags.
    KeyValueWithTags,
}

impl CellCodec {
    /// Returns the codec with this Java class name.
    pub fn from_class(class: &str) -> Option<Self> {
        [Self::KeyValue, Self::KeyValueWithTags].into_iter().find(|codec| codec.class() == class)
    }

    /// Returns the Java class name.
    pub fn class(self) -> &'static str {
        match self {
            Self::KeyValue => "org.apache.hadoop.hbase.codec.KeyValueCodec",
            Self::KeyValueWithTags => "org.apache.hadoop.hbase.codec.KeyValueCodecWithTags",
        }
    }

    /// Returns the bytes in `cell` that this codec includes.
    fn bytes_of(self, cell: KeyValue<'_>) -> &[u8] {
        match self {
            Self::KeyValue => cell.without_tags(),
            Self::KeyValueWithTags => cell.as_bytes(),
        }
    }

    /// Returns how long `cell` is in a block, in bytes, length prefix included.
    pub fn len_of(self, cell: KeyValue<'_>) -> usize {
        4 + self.bytes_of(cell).len()
    }

    /// Appends `cell` to `out`.
    pub fn put(self, out: &mut BytesMut, cell: KeyValue<'_>) {
        let bytes = self.bytes_of(cell);
        out.put_u32(bytes.len() as u32);
        out.put_slice(bytes);
    }
}

/// A cell block under construction.
#[derive(Clone, Debug, Default)]
pub struct CellBlock {
    codec: CellCodec,
    bytes: BytesMut,
}

impl CellBlock {
    /// Creates an empty block.
    pub fn new(codec: CellCodec) -> Self {
        Self { codec, bytes: BytesMut::new() }
    }

    /// Appends a cell.
    pub fn push<'a>(&mut self, cell: impl Into<KeyValue<'a>>) {
        self.codec.put(&mut self.bytes, cell.into());
    }

    /// Returns the bytes so far.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// An iterator over the cells in a block, which share the block's bytes.
#[derive(Clone, Debug, Default)]
pub struct CellReader {
    codec: CellCodec,
    bytes: Bytes,
}

impl CellReader {
    /// Iterates over `bytes`, a whole cell block.
    pub fn new(codec: CellCodec, bytes: Bytes) -> Self {
        Self { codec, bytes }
    }

    /// Returns true if all cells have been read.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Reads the next `count` cells.
    ///
    /// # Errors
    /// `Protocol` if the block has fewer cells, or one is malformed.
    pub fn take_cells(&mut self, count: usize) -> Result<Vec<Cell>> {
        // How long the shortest cell is, in bytes; bounds the allocation for an untrusted count.
        const CELL_LEN_MIN: usize = 4 + 8 + 2 + 1 + 8 + 1;
        let mut cells = Vec::with_capacity(count.min(self.bytes.len() / CELL_LEN_MIN));
        for at in 0..count {
            let cell = self.next().ok_or_else(|| {
                malformed(format!("Cell count of {count} but at index {at} no cell returned"))
            })??;
            cells.push(cell);
        }
        Ok(cells)
    }

    fn read(&mut self) -> Result<Cell> {
        let Some(prefix) = self.bytes.first_chunk::<4>() else {
            return Err(malformed(format!(
                "cell block ends inside a length: left={}",
                self.bytes.len()
            )));
        };
        let len = u32::from_be_bytes(*prefix) as usize;
        if len > self.bytes.len() - 4 {
            let left = self.bytes.len() - 4;
            return Err(malformed(format!("cell longer than its block: len={len}, left={left}")));
        }
        self.bytes.advance(4);
        let bytes = self.bytes.split_to(len);
        let cell = Cell::from_key_value(bytes, 0)
            .map_err(|error| malformed(error.message()).with_source(error))?;
        if self.codec == CellCodec::KeyValue && !cell.tags().is_empty() {
            return Err(malformed("cell with tags in a cell block without tags"));
        }
        Ok(cell)
    }
}

impl Iterator for CellReader {
    type Item = Result<Cell>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.bytes.is_empty() {
            return None;
        }
        let cell = self.read();
        if cell.is_err() {
            // The position of the cell after a malformed one is unknown.
            self.bytes.clear();
        }
        Some(cell)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rowhouse_model::{CellKind, Timestamp};

    use super::*;

    fn cell(qualifier: &[u8], value: &[u8], tags: &[u8]) -> Cell {
        let plain =
            Cell::new(b"row", b"cf", qualifier, Timestamp::MIN, CellKind::Put, value).unwrap();
        Cell::from_parts(plain.key(), value, tags).unwrap()
    }

    proptest! {
        #[test]
        fn blocks_are_read_as_written(
            parts: Vec<(Vec<u8>, Vec<u8>, Vec<u8>)>,
            with_tags: bool,
        ) {
            let codec = if with_tags { CellCodec::KeyValueWithTags } else { CellCodec::KeyValue };
            let cells: Vec<_> = parts.iter().map(|(q, v, t)| cell(q, v, t)).collect();
            let mut block = CellBlock::new(codec);
            cells.iter().for_each(|cell| block.push(cell));
            let len: usize = cells.iter().map(|cell| codec.len_of(cell.as_key_value())).sum();
            prop_assert_eq!(block.as_bytes().len(), len);
            let mut reader = CellReader::new(codec, Bytes::copy_from_slice(block.as_bytes()));
            let read = reader.take_cells(cells.len()).unwrap();
            prop_assert!(reader.is_empty());
            for (read, cell) in read.iter().zip(&cells) {
                prop_assert_eq!(read.as_key_value().without_tags(), cell.as_key_value().without_tags());
                prop_assert_eq!(read.tags(), if with_tags { cell.tags() } else { b"" });
            }
        }

        #[test]
        fn rubbish_never_panics(bytes: Vec<u8>, count: usize) {
            let _ = CellReader::new(CellCodec::KeyValue, bytes.into()).take_cells(count);
        }
    }

    #[test]
    fn cells_share_the_block() {
        let mut block = CellBlock::new(CellCodec::KeyValue);
        block.push(&cell(b"q", b"value", b""));
        let bytes = Bytes::copy_from_slice(block.as_bytes());
        let read = CellReader::new(CellCodec::KeyValue, bytes.clone()).next().unwrap().unwrap();
        assert_eq!(read.as_bytes().as_ptr(), bytes[4..].as_ptr());
    }
}
