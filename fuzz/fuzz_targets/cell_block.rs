//! Cell blocks. Cells that were read are read again from the block that they encode to.
//!
//! Input: the codec (1 byte), and the block.

#![no_main]

use bytes::Bytes;
use libfuzzer_sys::fuzz_target;
use rowhouse_format::rpc::{CellBlock, CellCodec, CellReader};
use rowhouse_model::{Cell, Key};

fuzz_target!(|input: &[u8]| {
    let Some((&codec, bytes)) = input.split_first() else { return };
    let codec = [CellCodec::KeyValue, CellCodec::KeyValueWithTags][usize::from(codec % 2)];
    let read = |bytes: &[u8]| CellReader::new(codec, Bytes::copy_from_slice(bytes));
    let cells: Vec<Cell> = read(bytes).map_while(Result::ok).collect();
    let mut block = CellBlock::new(codec);
    cells.iter().for_each(|cell| block.push(cell));
    let len: usize = cells.iter().map(|cell| codec.len_of(cell.as_key_value())).sum();
    assert_eq!(block.as_bytes().len(), len);
    assert!(len <= bytes.len());
    let mut reader = read(block.as_bytes());
    let again = reader.take_cells(cells.len()).expect("a written block is valid");
    assert!(reader.is_empty());
    // Not the bytes: a cell may store its tag length 0, or leave it out.
    assert!(again.iter().map(parts).eq(cells.iter().map(parts)));
    // The count is from a message; no memory is reserved for cells that do not exist.
    assert!(read(bytes).take_cells(usize::MAX).is_err());
});

fn parts(cell: &Cell) -> (Key<'_>, &[u8], &[u8]) {
    let view = cell.view();
    (view.key, view.value, view.tags)
}
