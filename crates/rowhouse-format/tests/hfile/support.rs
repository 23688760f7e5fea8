//! A file in memory, read as a store reads a file on disk.

use std::ops::Range;
use std::sync::Arc;

use rowhouse_format::hfile::{
    BlockHandle, Bloom, Cursor, DataBlock, FileMeta, Finish, IndexStep, IndexWalk, Summary,
    Trailer, Writer, WriterOptions,
};
use rowhouse_model::{Bytes, Cell, CellKind, Key, Result, Timestamp};

/// The cell parts that are compared: bytes and sequence number.
pub(crate) type Plain = (Bytes, u64);

pub(crate) fn plain(cell: &Cell) -> Plain {
    (cell.as_bytes().clone(), cell.sequence())
}

pub(crate) fn cell(
    row: &str,
    qualifier: &str,
    timestamp: i64,
    kind: CellKind,
    value: &str,
) -> Cell {
    let timestamp = Timestamp::from_millis(timestamp).unwrap();
    Cell::new(row, "d", qualifier, timestamp, kind, value).unwrap()
}

/// Writes cells, which must be in cell order.
pub(crate) fn write(cells: &[Cell], options: &WriterOptions) -> (Summary, Bytes) {
    let mut writer = Writer::new(Vec::new(), options.clone());
    for cell in cells {
        writer.append(&cell.view()).unwrap();
    }
    let closing = Finish { sequence_max: 99, ..Finish::default() };
    let (summary, file) = writer.finish(&closing).unwrap();
    (summary, file.into())
}

pub(crate) struct File {
    bytes: Bytes,
    pub(crate) meta: FileMeta,
}

impl File {
    pub(crate) fn open(bytes: Bytes) -> Result<Self> {
        let tail = bytes.len().saturating_sub(Trailer::LEN);
        let trailer = Trailer::parse(&bytes[tail..], bytes.len() as u64)?;
        let section = read(&bytes, trailer.load_on_open());
        let meta = FileMeta::parse(trailer, section)?;
        Ok(Self { bytes, meta })
    }

    fn data(&self, walk: &mut IndexWalk, mut step: IndexStep) -> Result<Option<Arc<DataBlock>>> {
        loop {
            match step {
                IndexStep::Index(handle) => {
                    let bytes = read(&self.bytes, handle.range());
                    step = walk.enter(Arc::new(self.meta.index_block(&handle, bytes)?));
                }
                IndexStep::Data(handle) => return self.block(&handle).map(Some),
                IndexStep::End => return Ok(None),
            }
        }
    }

    fn block(&self, handle: &BlockHandle) -> Result<Arc<DataBlock>> {
        let bytes = read(&self.bytes, handle.range());
        Ok(Arc::new(self.meta.data_block(handle, bytes)?))
    }

    /// Returns every cell.
    pub(crate) fn scan(&self) -> Result<Vec<Plain>> {
        let mut cells = Vec::new();
        let mut walk = IndexWalk::new();
        let mut step = walk.first(self.meta.index());
        while let Some(block) = self.data(&mut walk, step)? {
            let mut cursor = block.first()?;
            while let Some(cell) = cursor.to_cell() {
                assert_eq!(cursor.cell().unwrap().to_cell(), cell);
                cells.push(plain(&cell));
                if !cursor.advance()? {
                    break;
                }
            }
            step = walk.advance();
        }
        Ok(cells)
    }

    /// Returns how many data blocks there are.
    pub(crate) fn blocks(&self) -> usize {
        let mut walk = IndexWalk::new();
        let mut step = walk.first(self.meta.index());
        let mut blocks = 0;
        while self.data(&mut walk, step).unwrap().is_some() {
            blocks += 1;
            step = walk.advance();
        }
        blocks
    }

    /// Returns a cursor at the first cell at or after `key`; `None` after the last cell.
    pub(crate) fn seek(&self, key: &Key<'_>) -> Result<Option<Cursor>> {
        let mut walk = IndexWalk::new();
        let step = walk.seek(self.meta.index(), key);
        let Some(block) = self.data(&mut walk, step)? else { return Ok(None) };
        let cursor = block.seek(key)?;
        if !cursor.is_end() {
            assert!(walk.bound().is_none_or(|bound| cursor.key().unwrap() < bound));
            return Ok(Some(cursor));
        }
        let step = walk.advance();
        self.data(&mut walk, step)?.map(|block| block.first()).transpose()
    }

    /// Returns true if the bloom filter may contain a row.
    pub(crate) fn may_contain(&self, bloom: &Bloom, row: &[u8]) -> bool {
        self.may_contain_column(bloom, row, b"")
    }

    /// Returns true if the bloom filter may contain a column in a row.
    pub(crate) fn may_contain_column(&self, bloom: &Bloom, row: &[u8], qualifier: &[u8]) -> bool {
        let key = bloom.key(row, qualifier);
        bloom.chunk_for(&key).is_some_and(|number| {
            let handle = bloom.chunk(number);
            let bytes = read(&self.bytes, handle.range());
            bloom.chunk_contains(&self.meta.bloom_chunk(&handle, bytes).unwrap(), &key)
        })
    }
}

/// Returns bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Reads a range as a file system does: truncated at the file's end.
pub(crate) fn read(bytes: &Bytes, range: Range<u64>) -> Bytes {
    let len = bytes.len();
    let at = |offset: u64| usize::try_from(offset).map_or(len, |offset| offset.min(len));
    bytes.slice(at(range.start)..at(range.end).max(at(range.start)))
}
