//! The blocks in a file, in file order.

use std::sync::Arc;

use rowhouse_format::hfile::{
    BLOCK_HEADER_LEN, Block, BlockHandle, BlockKind, DataBlock, OwnedKey,
};
use rowhouse_model::{Error, Result};

use super::{HFile, named, read};

/// A block's properties.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct BlockFacts {
    /// The block's offset in the file, in bytes.
    pub offset: u64,
    /// Bytes in the file, header and checksums included.
    pub len: u64,
    /// The kind of its contents.
    pub kind: BlockKind,
    /// Bytes of the contents, decompressed.
    pub payload_len: usize,
    /// How many cells the block has, if it has cells.
    pub cells: Option<u64>,
    /// The first cell's key, if the block has cells.
    pub first_key: Option<OwnedKey>,
}

impl HFile {
    /// Returns every block, from the file's first byte to the trailer. Verifies checksums and
    /// payloads, and decodes data blocks to the last cell. Blocks after an unreadable one are not
    /// found.
    pub fn blocks(&self) -> impl Iterator<Item = Result<BlockFacts>> {
        let mut next = Some(0);
        std::iter::from_fn(move || {
            let offset =
                next.take().filter(|&offset| offset < self.meta.trailer().load_on_open().end)?;
            let facts = self.block_at(offset).map_err(|error| named(&self.path, error));
            next = facts.as_ref().ok().map(|facts| facts.offset + facts.len);
            Some(facts)
        })
    }

    fn block_at(&self, offset: u64) -> Result<BlockFacts> {
        let end = self.meta.trailer().load_on_open().end;
        let left = end - offset;
        let header =
            read(&self.path, &self.file, offset, left.min(BLOCK_HEADER_LEN as u64) as usize)?;
        let len = Block::len_on_disk(&header, offset)?;
        if len > left {
            return Err(Error::corruption(format!(
                "hfile block beyond the trailer: offset={offset}, len={len}, left={left}"
            )));
        }
        let bytes = read(&self.path, &self.file, offset, len as usize)?;
        let block = Block::parse(bytes.clone(), offset, self.meta.trailer().compression)?;
        let mut facts = BlockFacts {
            offset,
            len,
            kind: block.kind,
            payload_len: block.payload.len(),
            cells: None,
            first_key: None,
        };
        if matches!(block.kind, BlockKind::Data | BlockKind::EncodedData) {
            let handle = BlockHandle { offset, len: len as u32, level: 0 };
            note_cells(&mut facts, self.meta.data_block(&handle, bytes)?)?;
        }
        Ok(facts)
    }
}

fn note_cells(facts: &mut BlockFacts, block: DataBlock) -> Result<()> {
    let mut cursor = Arc::new(block).first()?;
    facts.first_key = cursor.key().map(|key| OwnedKey::new(&key));
    let mut cells = 0;
    while !cursor.is_end() {
        cells += 1;
        cursor.advance()?;
    }
    facts.cells = Some(cells);
    Ok(())
}
