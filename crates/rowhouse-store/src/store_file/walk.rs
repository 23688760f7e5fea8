//! Reading the cells of a damaged file: block by block from its beginning. Every block has a header and
//! checksums of its own, so neither index nor file info nor trailer is needed.

use std::io;
use std::sync::Arc;

use rowhouse_format::hfile::{BLOCK_HEADER_LEN, Block, BlockKind, Cursor, DataBlock, Layout};
use rowhouse_model::{
    Bytes, Cell, CellRef, Compression, DataBlockEncoding, Error, Result, compare,
};

use super::{StoreFile, path};
use crate::disk::DiskFile;

/// How much of a file is searched for a block at once.
const WINDOW_LEN: u64 = 1 << 20;
/// How far to go on after what the disk does not give: its sectors have no more.
const UNREADABLE_BYTES: u64 = 4096;

/// What a file says of its blocks.
#[derive(Clone, Copy)]
struct Shape {
    compression: Compression,
    layout: Layout,
}

/// A file that is read from its beginning to where its blocks end.
struct Walk<'a, O> {
    file: Arc<dyn DiskFile>,
    end: u64,
    /// How blocks may have to be read, the likeliest first. One where the file can be opened.
    shapes: Vec<Shape>,
    is_own: &'a O,
    /// Where the last data block began that could be read.
    last_data: Option<u64>,
}

/// A block that was read.
struct Walked {
    next: u64,
    /// Empty but for a data block.
    cells: Vec<Cell>,
}

impl StoreFile {
    /// Hands the cells of all blocks that can be read to `visit`, in the order of the file, and returns how many
    /// those are. Notes in `lost` what cannot be read, unless all cells are there without it. Where only a guess
    /// tells how a block is to be read, its cells must be such as `is_own` finds in place.
    ///
    /// # Errors
    /// What `visit` says.
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
                            wrong.push(self.named(error));
                        }
                    }
                }
            }
            Err(error) => wrong.push(error),
        }
        if cells < self.meta.cells {
            if wrong.is_empty() {
                let (path, written) = (path(self.meta.file_id), self.meta.cells);
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
                vec![Shape { compression: meta.trailer().compression, layout: meta.layout() }]
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
            Error::io(format_args!("cannot open {}", path(self.meta.file_id)), source)
        })?;
        Ok(Walk { file, end: len.min(self.meta.meta_offset), shapes, is_own, last_data: None })
    }
}

impl<O: Fn(&CellRef<'_>) -> bool> Walk<'_, O> {
    /// Reads the block at `at`. One that was searched for is not certainly a block of the file: a value may hold
    /// one.
    fn block_at(&mut self, at: u64, is_certain: bool) -> Result<Walked> {
        let bytes = self.read_block(at)?;
        let (kind, previous) = Block::verify(&bytes, at)?;
        let next = at + bytes.len() as u64;
        if !matches!(kind, BlockKind::Data | BlockKind::EncodedData) {
            return Ok(Walked { next, cells: Vec::new() });
        }
        // In the chain of data blocks it comes after the last one that could be read.
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

    /// The bytes of the block at `at`.
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

    /// Where to go on after a block that cannot be read, and whether a block certainly begins there.
    fn after_damage(&self, at: u64, is_certain: bool) -> (u64, bool) {
        if !is_certain {
            return (self.find_block(at + 1), false);
        }
        // Where its length is right, the next one tells.
        let header = self.read(at, (self.end - at).min(BLOCK_HEADER_LEN as u64));
        if let Ok(len) = header.and_then(|header| Block::len_on_disk(&header, at)) {
            let next = at.saturating_add(len);
            if next == self.end || (next < self.end && self.is_whole(next)) {
                return (next, true);
            }
        }
        (self.find_block(at + 1), false)
    }

    /// The first place from `at` on where a whole block lies; the end where there is none.
    fn find_block(&self, mut at: u64) -> u64 {
        while at < self.end {
            let window_len = (self.end - at).min(WINDOW_LEN);
            let Ok(window) = self.read(at, window_len).or_else(|error| {
                // What is in front of an unreadable sector may be readable.
                let left = UNREADABLE_BYTES - at % UNREADABLE_BYTES;
                if left < window_len { self.read(at, left) } else { Err(error) }
            }) else {
                at = (at + 1).next_multiple_of(UNREADABLE_BYTES);
                continue;
            };
            let places = 0..window.len().saturating_sub(BLOCK_HEADER_LEN - 1);
            let is_header = |place: &usize| {
                let offset = at + *place as u64;
                // What magics begin with: most places are not looked at any further.
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

/// All cells of a data block.
fn cells_of(bytes: Bytes, at: u64, shape: Shape) -> Result<Vec<Cell>> {
    let block = DataBlock::parse(Block::parse(bytes, at, shape.compression)?, shape.layout)?;
    let mut cells = Vec::new();
    let mut cursor: Cursor = Arc::new(block).first()?;
    while let Some(cell) = cursor.to_cell() {
        cells.push(cell);
        cursor.advance()?;
    }
    Ok(cells)
}

/// How the blocks of a file can be read that says nothing itself. Those that do not fit are found out: a block
/// must be used up by cells that are in place.
fn guesses() -> Vec<Shape> {
    let mut guesses = Vec::new();
    for compression in Compression::ALL {
        // Rowhouse's own files, first.
        for encoding in DataBlockEncoding::ALL.into_iter().rev() {
            for sequences in [true, false] {
                for (tags, tags_compressed) in [(false, false), (true, false), (true, true)] {
                    let layout = Layout { encoding, tags, tags_compressed, sequences };
                    guesses.push(Shape { compression, layout });
                }
            }
        }
    }
    guesses
}
