//! Reading one row of a data block without the rest of the block.
//!
//! The checksums of a block cover chunks of 4 KiB, in files that HBase wrote 16 KiB. A reader that
//! knows them, and the place of each row, reads and verifies only the chunks that a row lies in.
//! Only for blocks that are stored as they are in memory: not compressed, with a row index.

use std::cmp::Ordering;
use std::ops::Range;

use bytes::Bytes;
use rowhouse_model::{DataBlockEncoding, Result, row_prefix};

use super::{DataBlock, ID_LEN, Layout};
use crate::hfile::block::{BLOCK_HEADER_LEN, Block};
use crate::hfile::checksum::ChunkSums;

/// Blocks with fewer chunks are read as a whole.
const CHUNKS_MIN: usize = 4;
/// Rows in more bytes are read with their whole block, as those in more than half of the chunks.
const PART_BYTES_MAX: usize = 64 << 10;
/// Where the cells begin in a block.
const CELLS_START: usize = BLOCK_HEADER_LEN + ID_LEN;

/// The rows and the checksums of a data block that was read and verified as a whole.
#[derive(Debug)]
pub struct BlockOutline {
    /// The block's offset in the file.
    offset: u64,
    layout: Layout,
    /// The prefix that all rows share.
    common: Box<[u8]>,
    /// For each row, [`row_prefix`] for the bytes after the shared prefix.
    prefixes: Box<[u64]>,
    /// For each row, the first cell's offset in the block; then the last cell's end.
    starts: Box<[u32]>,
    sums: ChunkSums,
}

/// Where to look for a row in a block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowPlace {
    /// The block does not have the row, but rows after it.
    Absent,
    /// All rows in the block are before the row.
    After,
    /// If the block has the row, then in this part.
    Part(BlockPart),
    /// Anywhere in the block.
    Block,
}

/// A row of a data block, and the chunks that it lies in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlockPart {
    row: usize,
    chunks: Range<usize>,
    /// The byte range to read in the file.
    pub range: Range<u64>,
    /// Whether the row is the block's last.
    pub ends_block: bool,
}

impl BlockOutline {
    /// Returns the outline for a block, parsed from `bytes`; `None` if parts of it cannot be read,
    /// or if it is so small that they are not worth it. `bytes` are not compressed.
    pub(in crate::hfile) fn of(block: &DataBlock, bytes: &[u8]) -> Option<Self> {
        if block.layout.encoding != DataBlockEncoding::RowIndexV1 {
            return None;
        }
        let sums = Block::chunk_sums(bytes, block.offset)?;
        if sums.len() < CHUNKS_MIN {
            return None;
        }
        let rows = block.prefixes.len();
        let starts = (0..=rows).map(|row| (CELLS_START + block.row_start(row)) as u32).collect();
        let common = block.row_at(0).ok()?.get(..block.common)?.into();
        let prefixes = block.prefixes.clone();
        let &DataBlock { offset, layout, .. } = block;
        Some(Self { offset, layout, common, prefixes, starts, sums })
    }

    /// Returns the bytes that this value occupies in memory.
    pub fn memory_len(&self) -> usize {
        size_of::<Self>()
            + self.common.len()
            + size_of_val(&*self.prefixes)
            + size_of_val(&*self.starts)
            + self.sums.memory_len()
    }

    /// Returns where a reader finds `row`.
    pub fn find_row(&self, row: &[u8]) -> RowPlace {
        let (front, rest) = row.split_at(self.common.len().min(row.len()));
        match (*self.common).cmp(front) {
            Ordering::Less => return RowPlace::After,
            Ordering::Greater => return RowPlace::Absent,
            Ordering::Equal => {}
        }
        let prefix = row_prefix(rest);
        let first = self.prefixes.partition_point(|other| *other < prefix);
        let same = self.prefixes[first..].iter().take_while(|other| **other == prefix).count();
        match same {
            0 if first == self.prefixes.len() => RowPlace::After,
            0 => RowPlace::Absent,
            1 => self.part_with(first).map_or(RowPlace::Block, RowPlace::Part),
            _ => RowPlace::Block,
        }
    }

    /// Returns the part with a row; `None` if the row is in too many chunks.
    fn part_with(&self, row: usize) -> Option<BlockPart> {
        let chunk_of = |at: u32| at as usize / self.sums.chunk_len();
        let chunks = chunk_of(self.starts[row])..chunk_of(self.starts[row + 1] - 1) + 1;
        let range = self.sums.range_of(&chunks);
        let is_small = chunks.len() * 2 <= self.sums.len() && range.len() <= PART_BYTES_MAX;
        is_small.then(|| BlockPart {
            row,
            chunks,
            range: self.offset + range.start as u64..self.offset + range.end as u64,
            ends_block: row + 1 == self.prefixes.len(),
        })
    }

    /// Verifies `bytes`, read at the part's range, and returns a copy of the row as a block.
    ///
    /// # Errors
    /// `Corruption` if the bytes are damaged.
    pub fn parse_part(&self, part: &BlockPart, bytes: &[u8]) -> Result<DataBlock> {
        let BlockPart { row, chunks, .. } = part;
        self.sums.verify(chunks, bytes, self.offset)?;
        let read_start = self.sums.range_of(chunks).start;
        let start = self.starts[*row] as usize - read_start;
        let end = self.starts[*row + 1] as usize - read_start;
        let cells = Bytes::copy_from_slice(&bytes[start..end]);
        let only_row = Bytes::from_static(&[0; 4]);
        DataBlock::of_parts(cells, only_row, self.layout, self.offset)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bytes::Bytes;
    use rowhouse_model::{Cell, CellKind, Key, Timestamp};

    use super::*;
    use crate::hfile::{FileMeta, Finish, Trailer, Writer, WriterOptions};

    const ROWS: usize = 60;

    fn row(number: usize) -> Vec<u8> {
        format!("row{number:03}").into_bytes()
    }

    /// Returns a file with rows of about 1,000 bytes in one block.
    fn file() -> (Bytes, FileMeta) {
        let options =
            WriterOptions { encoding: DataBlockEncoding::RowIndexV1, ..WriterOptions::default() };
        let mut writer = Writer::new(Vec::new(), options);
        for number in 0..ROWS {
            for qualifier in ["a", "b"] {
                let at = Timestamp::from_millis(5).unwrap();
                let value = vec![number as u8; 450 + number];
                let row = row(2 * number);
                let cell = Cell::new(row, "d", qualifier, at, CellKind::Put, value).unwrap();
                writer.append(&cell.with_sequence(7).view()).unwrap();
            }
        }
        let finish = Finish { sequence_max: 7, ..Finish::default() };
        let bytes = Bytes::from(writer.finish(&finish).unwrap().1);
        let trailer = &bytes[bytes.len() - Trailer::LEN..];
        let trailer = Trailer::parse(trailer, bytes.len() as u64).unwrap();
        let section = trailer.load_on_open();
        let section = bytes.slice(section.start as usize..section.end as usize);
        let meta = FileMeta::parse(trailer, section).unwrap();
        (bytes, meta)
    }

    fn read(file: &Bytes, range: &Range<u64>) -> Bytes {
        file.slice(range.start as usize..range.end as usize)
    }

    #[test]
    fn each_row_is_read_from_its_chunks_and_each_flipped_bit_is_noticed() {
        let (file, meta) = file();
        let handle = meta.index().locate(&Key::row_start(b"row")).unwrap();
        let bytes = read(&file, &handle.range());
        let block = meta.data_block(&handle, bytes.clone()).unwrap();
        let outline = meta.outline(&block, &bytes).unwrap();
        let mut chunks_read = [0; 3];
        for number in 0..ROWS {
            let row = row(2 * number);
            let RowPlace::Part(part) = outline.find_row(&row) else { panic!("row {number}") };
            assert_eq!(part.ends_block, number + 1 == ROWS);
            chunks_read[part.chunks.len()] += 1;
            let bytes = read(&file, &part.range);
            let mut cursor = Arc::new(outline.parse_part(&part, &bytes).unwrap()).first().unwrap();
            for qualifier in ["a", "b"] {
                let cell = cursor.cell().unwrap();
                assert_eq!((cell.key.row, cell.key.qualifier), (&row[..], qualifier.as_bytes()));
                assert_eq!((cell.value.len(), cell.sequence), (450 + number, 7));
                cursor.advance().unwrap();
            }
            assert!(cursor.is_end());
            for at in [0, bytes.len() / 2, bytes.len() - 1] {
                let mut damaged = bytes.to_vec();
                damaged[at] ^= 1;
                assert!(outline.parse_part(&part, &damaged).is_err());
            }
            assert!(outline.parse_part(&part, &bytes[1..]).is_err());
        }
        assert!(chunks_read[1] > 40 && chunks_read[2] > 1, "{chunks_read:?}");
    }

    #[test]
    fn missing_rows_have_their_place() {
        let (file, meta) = file();
        let handle = meta.index().locate(&Key::row_start(b"row")).unwrap();
        let bytes = read(&file, &handle.range());
        let block = meta.data_block(&handle, bytes.clone()).unwrap();
        let outline = meta.outline(&block, &bytes).unwrap();
        for missing in [&b"a"[..], b"r", b"row0", b"row001", b"row057"] {
            assert_eq!(outline.find_row(missing), RowPlace::Absent, "{missing:?}");
        }
        for after in [&b"row119"[..], b"row2", b"s"] {
            assert_eq!(outline.find_row(after), RowPlace::After, "{after:?}");
        }
    }
}
