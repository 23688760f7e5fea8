//! HFiles. The cells of a file that is read in full, written to another file, are read back.
//!
//! Input: the blocks, the used part of the trailer, and how long that part is (2 bytes,
//! big-endian). The target completes the trailer and corrects the block checksums, without which it
//! would test only the checksums.

#![no_main]

use std::ops::Range;
use std::sync::Arc;

use libfuzzer_sys::fuzz_target;
use rowhouse_format::hfile::{
    BLOCK_HEADER_LEN, DataBlock, FileMeta, Finish, IndexStep, IndexWalk, Trailer, Writer,
    WriterOptions,
};
use rowhouse_model::{Bytes, Cell, Key, Result, compare};

/// Most blocks that are read. Index blocks that name each other lead to more than there are.
const BLOCKS_MAX: usize = 200;

fuzz_target!(|input: &[u8]| {
    let Some(bytes) = file(input) else { return };
    let Ok(Some(cells)) = scan(&bytes) else { return };
    if cells.is_sorted_by(|a, b| compare(&a.view(), &b.view()).is_lt()) {
        let bytes = write(&cells).expect("the cells were read from a file");
        let again = scan(&bytes).expect("the file is valid").expect("it has few blocks");
        assert_eq!(again, cells);
    }
});

/// Returns the file that the input describes.
fn file(input: &[u8]) -> Option<Bytes> {
    let (rest, len) = input.split_last_chunk::<2>()?;
    let (blocks, trailer) = rest.split_at_checked(rest.len().checked_sub(len_of(len))?)?;
    let mut bytes = blocks.to_vec();
    (0..bytes.len()).for_each(|at| correct_checksums(&mut bytes[at..]));
    bytes.extend_from_slice(trailer);
    bytes.resize(blocks.len() + Trailer::LEN - 4, 0);
    bytes.extend_from_slice(&[3, 0, 0, 3]);
    Some(bytes.into())
}

fn len_of(len: &[u8; 2]) -> usize {
    usize::from(u16::from_be_bytes(*len)).min(Trailer::LEN - 4)
}

/// Writes the right checksums into a block at the start of `bytes`, if there is one.
fn correct_checksums(bytes: &mut [u8]) {
    const CRC32C: u8 = 2;
    const MAGICS: [&[u8]; 6] = [b"DATABLK", b"IDXLEAF", b"IDXINTE", b"IDXROOT", b"BLMF", b"DFBL"];
    const INFO: &[u8] = b"FILEINF";
    if bytes.len() < BLOCK_HEADER_LEN
        || bytes[24] != CRC32C
        || !MAGICS.iter().chain(&[INFO]).any(|magic| bytes.starts_with(magic))
    {
        return;
    }
    let number =
        |at: usize| bytes[at..at + 4].iter().fold(0, |n, &byte| n << 8 | usize::from(byte));
    let (chunk_len, data_len) = (number(25), number(29));
    if chunk_len == 0 || data_len < BLOCK_HEADER_LEN || data_len > bytes.len() {
        return;
    }
    let (data, sums) = bytes.split_at_mut(data_len);
    for (chunk, sum) in data.chunks(chunk_len).zip(sums.chunks_exact_mut(4)) {
        sum.copy_from_slice(&crc32c::crc32c(chunk).to_be_bytes());
    }
}

/// Returns the cells of a file; `None` if it has too many blocks.
fn scan(bytes: &Bytes) -> Result<Option<Vec<Cell>>> {
    let tail = bytes.len().saturating_sub(Trailer::LEN);
    let trailer = Trailer::parse(&bytes[tail..], bytes.len() as u64)?;
    let section = read(bytes, trailer.load_on_open());
    let meta = FileMeta::parse(trailer, section)?;
    let _ = (meta.time_range(), meta.sequence_max(), meta.earliest_put(), meta.marker_runs());
    check_blooms(&meta, bytes);
    let mut cells = Vec::new();
    let mut walk = IndexWalk::new();
    let mut step = walk.first(meta.index());
    for _ in 0..BLOCKS_MAX {
        step = match step {
            IndexStep::End => return Ok(Some(cells)),
            IndexStep::Index(handle) => {
                let block = meta.index_block(&handle, read(bytes, handle.range()))?;
                walk.enter(Arc::new(block))
            }
            IndexStep::Data(handle) => {
                let block = meta.data_block(&handle, read(bytes, handle.range()))?;
                read_cells(&Arc::new(block), &mut cells)?;
                walk.advance()
            }
        };
    }
    Ok(None)
}

fn read_cells(block: &Arc<DataBlock>, cells: &mut Vec<Cell>) -> Result<()> {
    let first = cells.len();
    let mut cursor = block.first()?;
    while let Some(cell) = cursor.to_cell() {
        cells.push(cell);
        if !cursor.advance()? {
            break;
        }
    }
    for cell in &cells[first..] {
        let _ = block.seek(&cell.view().key)?;
        let _ = block.seek_row_before(Some(cell.view().key.row))?;
    }
    let _ = block.seek(&Key::row_start(b"row"))?;
    Ok(())
}

fn check_blooms(meta: &FileMeta, bytes: &Bytes) {
    for bloom in [meta.bloom(), meta.delete_family_bloom()].into_iter().flatten() {
        let key = bloom.key(b"row", b"q");
        let Some(number) = bloom.chunk_for(&key) else { continue };
        let handle = bloom.chunk(number);
        if let Ok(chunk) = meta.bloom_chunk(&handle, read(bytes, handle.range())) {
            let _ = bloom.chunk_contains(&chunk, &key);
        }
    }
}

fn write(cells: &[Cell]) -> Result<Bytes> {
    let options = WriterOptions { with_tags: true, ..WriterOptions::default() };
    let mut writer = Writer::new(Vec::new(), options);
    for cell in cells {
        writer.append(&cell.view())?;
    }
    Ok(writer.finish(&Finish::default())?.1.into())
}

/// Reads a range as a file system does: truncated at the file's end.
fn read(bytes: &Bytes, range: Range<u64>) -> Bytes {
    let at = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
    bytes.slice(at(range.start)..at(range.end).max(at(range.start)))
}
