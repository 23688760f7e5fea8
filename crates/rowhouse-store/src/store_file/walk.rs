//! Reads the cells of a damaged file, block by block from the beginning. Every block has its own
//! header and checksums, so neither index nor file info nor trailer is needed.

use std::io;
use std::sync::Arc;

use rowhouse_format::hfile::{BLOCK_HEADER_LEN, Block, BlockKind, Cursor, DataBlock, Layout};
use rowhouse_model::{
    Bytes, Cell, CellRef, Compression, DataBlockEncoding, Error, Result, compare,
};

use super::StoreFile;
use crate::disk::DiskFile;
use crate::layout::file_path;

/// Bytes of a file searched for a block at once.
const WINDOW_LEN: u64 = 1 << 20;
/// Bytes to skip after an unreadable position: one sector.
const UNREADABLE_BYTES: u64 = 4096;

/// The file properties that the block format depends on.
#[derive(Clone, Copy)]
struct BlockFormat {
    compression: Compression,
    layout: Layout,
}

/// A walk over a file from the beginning to the end of the blocks.
struct Walk<'a, O> {
    file: Arc<dyn DiskFile>,
    end: u64,
    /// The possible block formats, the most likely first. A single one if the file can be opened.
    shapes: Vec<BlockFormat>,
    is_own: &'a O,
    /// The offset of the last readable data block.
    last_data: Option<u64>,
}

/// A readable block.
struct Walked {
    next: u64,
    /// Empty unless it is a data block.
    cells: Vec<Cell>,
}

impl StoreFile {
    /// Hands the cells of all readable blocks to `visit`, in file order, and returns how many there
    /// are. Adds errors for unreadable parts to `lost`, unless all cells were read without them. If
    /// a block's format is a guess, the block is accepted only if `is_own` accepts all its cells.
    ///
    /// # Errors
    /// Errors from `visit`.
    pub(crate) fn walk<O: Fn(&CellRef<'_>) -> bool>(
        &self,
        is_own: &O,
        lost: &mut Vec<Error>,
        mut visit: impl FnMut(Cell) -> Result<()>,
    ) -> Result<u64> {
        let mut wrong = Vec::new();
        let mut cells = 0;
        match self.begin_walk(is_own, &mut wrong) {
            Ok(mut walk) => {
                let mut at = 0;
                let mut is_certain = true;
                while at < walk.end {
                    match walk.block_at(at, is_certain) {
                        Ok(walked) => {
                            cells += walked.cells.len() as u64;
                            walked.cells.into_iter().try_for_each(&mut visit)?;
                            (at, is_certain) = (walked.next, true);
                        }
                        Err(error) => {
                            (at, is_certain) = walk.after_damage(at, is_certain);
                            wrong.push(self.with_name(error));
                        }
                    }
                }
            }
            Err(error) => wrong.push(error),
        }
        if cells < self.meta.cells {
            if wrong.is_empty() {
                let path = file_path(self.meta.file_id);
                let written = self.meta.cells;
                wrong.push(Error::corruption(format!(
                    "{path} has fewer cells than were written: cells={cells}, written={written}"
                )));
            }
            lost.append(&mut wrong);
        }
        Ok(cells)
    }

    fn begin_walk<'a, O: Fn(&CellRef<'_>) -> bool>(
        &self,
        is_own: &'a O,
        wrong: &mut Vec<Error>,
    ) -> Result<Walk<'a, O>> {
        let shapes = match self.opened() {
            Ok(meta) => {
                vec![BlockFormat { compression: meta.trailer().compression, layout: meta.layout() }]
            }
            Err(error) => {
                wrong.push(error);
                guesses()
            }
        };
        let open = || {
            let file = self.files.open(self.meta.file_id)?;
            let len = file.len()?;
            Ok((file, len))
        };
        let (file, len) = open().map_err(|source: io::Error| {
            Error::io(format_args!("cannot open {}", file_path(self.meta.file_id)), source)
        })?;
        Ok(Walk { file, end: len.min(self.meta.meta_offset), shapes, is_own, last_data: None })
    }
}

impl<O: Fn(&CellRef<'_>) -> bool> Walk<'_, O> {
    /// Reads the block at `at`. A block found by searching is not certain to belong to the file: a
    /// value may contain a block.
    fn block_at(&mut self, at: u64, is_certain: bool) -> Result<Walked> {
        let bytes = self.read_block(at)?;
        let (kind, previous) = Block::verify(&bytes, at)?;
        let next = at + bytes.len() as u64;
        if !matches!(kind, BlockKind::Data | BlockKind::EncodedData) {
            return Ok(Walked { next, cells: Vec::new() });
        }
        // In the data block chain it comes after the last readable one.
        let is_linked = previous.is_some_and(|previous| Some(previous) >= self.last_data);
        if !is_certain && !is_linked {
            return Err(Error::corruption(format!("a block of another file: offset={at}")));
        }
        let is_checked = !is_certain || self.shapes.len() > 1;
        let mut first_error = None;
        for place in 0..self.shapes.len() {
            let read = cells_of(bytes.clone(), at, self.shapes[place]);
            let in_place = |cells: &Vec<Cell>| !is_checked || self.are_in_place(cells);
            match read {
                Ok(cells) if in_place(&cells) => {
                    self.shapes.swap(0, place);
                    self.last_data = Some(at);
                    return Ok(Walked { next, cells });
                }
                Ok(_) => {}
                Err(error) => drop(first_error.get_or_insert(error)),
            }
        }
        let unknown = || Error::corruption(format!("cells out of place: offset={at}"));
        Err(first_error.unwrap_or_else(unknown))
    }

    fn are_in_place(&self, cells: &[Cell]) -> bool {
        let in_order = cells.windows(2).all(|two| compare(&two[0].view(), &two[1].view()).is_le());
        in_order && cells.iter().all(|cell| (self.is_own)(&cell.view()))
    }

    /// Returns the bytes of the block at `at`.
    fn read_block(&self, at: u64) -> Result<Bytes> {
        let header = self.read(at, (self.end - at).min(BLOCK_HEADER_LEN as u64))?;
        let len = Block::len_on_disk(&header, at)?;
        if len > self.end - at {
            let left = self.end - at;
            return Err(Error::corruption(format!(
                "block beyond the end: offset={at}, len={len}, left={left}"
            )));
        }
        self.read(at, len)
    }

    fn read(&self, at: u64, len: u64) -> Result<Bytes> {
        let mut bytes = vec![0; len as usize];
        self.file.read_exact_at(&mut bytes, at).map_err(|source| {
            Error::io(format_args!("cannot read at offset {at}, len={len}"), source)
        })?;
        Ok(bytes.into())
    }

    fn is_whole(&self, at: u64) -> bool {
        self.read_block(at).is_ok_and(|bytes| Block::verify(&bytes, at).is_ok())
    }

    /// Returns where to continue after an unreadable block, and whether a block is certain to begin
    /// there.
    fn after_damage(&self, at: u64, is_certain: bool) -> (u64, bool) {
        if !is_certain {
            return (self.find_block(at + 1), false);
        }
        // If the block length is valid, a whole block follows.
        let header = self.read(at, (self.end - at).min(BLOCK_HEADER_LEN as u64));
        if let Ok(len) = header.and_then(|header| Block::len_on_disk(&header, at)) {
            let next = at.saturating_add(len);
            if next == self.end || (next < self.end && self.is_whole(next)) {
                return (next, true);
            }
        }
        (self.find_block(at + 1), false)
    }

    /// Returns the first offset from `at` on at which a whole block lies; the end if there is none.
    fn find_block(&self, mut at: u64) -> u64 {
        while at < self.end {
            let window_len = (self.end - at).min(WINDOW_LEN);
            let Ok(window) = self.read(at, window_len).or_else(|error| {
                // The bytes before an unreadable sector may be readable.
                let left = UNREADABLE_BYTES - at % UNREADABLE_BYTES;
                if left < window_len { self.read(at, left) } else { Err(error) }
            }) else {
                at = (at + 1).next_multiple_of(UNREADABLE_BYTES);
                continue;
            };
            let places = 0..window.len().saturating_sub(BLOCK_HEADER_LEN - 1);
            let is_header = |place: &usize| {
                let offset = at + *place as u64;
                // The first bytes of block magics: a cheap test that rejects most offsets.
                b"BDFIM".contains(&window[*place])
                    && Block::len_on_disk(&window[*place..], offset).is_ok()
                    && self.is_whole(offset)
            };
            if let Some(place) = places.clone().find(is_header) {
                return at + place as u64;
            }
            at += places.len().max(1) as u64;
        }
        self.end
    }
}

/// Decodes all cells of a data block.
fn cells_of(bytes: Bytes, at: u64, shape: BlockFormat) -> Result<Vec<Cell>> {
    let block = DataBlock::parse(Block::parse(bytes, at, shape.compression)?, shape.layout)?;
    let mut cells = Vec::new();
    let mut cursor: Cursor = Arc::new(block).first()?;
    while let Some(cell) = cursor.to_cell() {
        cells.push(cell);
        cursor.advance()?;
    }
    Ok(cells)
}

/// Returns the possible block formats for a file whose metadata is lost. Wrong guesses are
/// detected: a block must decode completely into cells that are in order and in place.
fn guesses() -> Vec<BlockFormat> {
    let mut guesses = Vec::new();
    for compression in Compression::ALL {
        // Rowhouse's own file format first.
        for encoding in DataBlockEncoding::ALL.into_iter().rev() {
            for sequences in [true, false] {
                for (tags, tags_compressed) in [(false, false), (true, false), (true, true)] {
                    let layout = Layout { encoding, tags, tags_compressed, sequences };
                    guesses.push(BlockFormat { compression, layout });
                }
            }
        }
    }
    guesses
}
