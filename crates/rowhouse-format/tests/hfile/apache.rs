//! Files that Apache HBase 2.6.4 wrote (`StoreFileWriter`), cell for cell.
//!
//! Each `fixtures/*.txt` has a line per cell, as the program that wrote the file knew it: row, family
//! and qualifier in hex, timestamp, kind, mvcc, value and tags in hex. `none` has 60 rows in plain
//! blocks without tags; `rowindex` has 40 rows in ROW_INDEX_V1 blocks with tags and two levels of
//! index. Blocks have 1,024 bytes.

use rowhouse_format::hfile::{Closing, Layout, Writer, WriterOptions};
use rowhouse_model::{Bytes, Cell, DataBlockEncoding, Key};

use crate::support::{File, plain};

const NONE: (&[u8], &str) =
    (include_bytes!("fixtures/none.hfile"), include_str!("fixtures/none.txt"));
const ROW_INDEX: (&[u8], &str) =
    (include_bytes!("fixtures/rowindex.hfile"), include_str!("fixtures/rowindex.txt"));

fn hex(text: &str) -> Vec<u8> {
    let digits = text.as_bytes().chunks_exact(2);
    digits.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

fn parse(line: &str) -> Cell {
    let parts: Vec<&str> = line.split(' ').collect();
    let (row, family, qualifier) = (hex(parts[0]), hex(parts[1]), hex(parts[2]));
    let key = Key {
        row: &row,
        family: &family,
        qualifier: &qualifier,
        timestamp: parts[3].parse().unwrap(),
        kind: parts[4].parse().unwrap(),
    };
    let cell = Cell::from_parts(key, &hex(parts[6]), &hex(parts[7])).unwrap();
    cell.with_sequence(parts[5].parse().unwrap())
}

fn check((bytes, lines): (&'static [u8], &str)) -> File {
    let want: Vec<Cell> = lines.lines().map(parse).collect();
    let file = File::open(Bytes::from_static(bytes)).unwrap();
    assert_eq!(file.scan().unwrap(), want.iter().map(plain).collect::<Vec<_>>());
    assert_eq!(file.meta.cells(), want.len() as u64);
    assert!(file.meta.first_key() == want.first().map(Cell::key));
    assert!(file.meta.last_key() == want.last().map(Cell::key));
    assert_eq!(file.meta.sequence_max().unwrap(), Some(1234));
    assert_eq!(file.meta.time_range(), Some(0..=7000));
    let bloom = file.meta.bloom().unwrap();
    let deletes = file.meta.delete_family_bloom().unwrap();
    for cell in &want {
        let found = file.seek(&cell.key()).unwrap().unwrap();
        assert!(found.key() == Some(cell.key()));
        assert!(file.may_contain(bloom, cell.row()));
        assert!(![10, 14].contains(&cell.key().kind) || file.may_contain(deletes, cell.row()));
    }
    let missing = |row: &usize| !file.may_contain(bloom, format!("row{row:05}").as_bytes());
    assert!((0..180).filter(|row| row % 3 > 0).filter(missing).count() > 110);
    file
}

#[test]
fn plain_blocks_are_read() {
    let file = check(NONE);
    let layout = Layout { encoding: DataBlockEncoding::None, tags: false, sequences: true };
    assert_eq!(file.meta.layout(), layout);
    assert_eq!(file.meta.trailer().index_levels, 1);
}

#[test]
fn row_indexes_tags_and_levels_are_read() {
    let file = check(ROW_INDEX);
    let layout = Layout { encoding: DataBlockEncoding::RowIndexV1, tags: true, sequences: true };
    assert_eq!(file.meta.layout(), layout);
    assert_eq!(file.meta.trailer().index_levels, 2);
}

/// The same cells and options give the same bytes, all of them.
#[test]
fn apaches_files_are_written_byte_for_byte() {
    let plain = || WriterOptions {
        block_len: 1024,
        encoding: DataBlockEncoding::None,
        created_millis: 1_700_000_000_000,
        ..WriterOptions::default()
    };
    let row_index = WriterOptions {
        encoding: DataBlockEncoding::RowIndexV1,
        with_tags: true,
        bloom_block_len: 1024,
        index_block_len: 400,
        ..plain()
    };
    for ((bytes, lines), options) in [(NONE, plain()), (ROW_INDEX, row_index)] {
        let mut writer = Writer::new(Vec::new(), options);
        for cell in lines.lines().map(parse) {
            writer.append(&cell.view()).unwrap();
        }
        let closing = Closing { sequence_max: 1234, ..Closing::default() };
        let (_, ours) = writer.finish(&closing).unwrap();
        let differs = ours.iter().zip(bytes).position(|(ours, apaches)| ours != apaches);
        assert_eq!((ours.len(), differs), (bytes.len(), None));
    }
}
