//! Reads files written by Apache HBase 2.6.4 (`StoreFileWriter`) and compares every cell.
//!
//! Each `fixtures/*.txt` has a line per cell, from the program that wrote the file: row, family and
//! qualifier in hex, timestamp, kind, mvcc, value and tags in hex. `none` has 60 rows in plain
//! blocks without tags; `rowindex` has 40 rows in ROW_INDEX_V1 blocks with tags and two index
//! levels. Blocks have 1,024 bytes. The other files have the cells in `rowindex`: with a bloom
//! filter over columns; compressed with HBase's default codecs (`zstd-chunks` with
//! hbase-compression-zstd's codec); or in other encodings, with or without tag compression (written
//! by `compat/hfile-fixtures.sh`). `compat/apache-hbase/StoreFiles.java` writes them.

use rowhouse_format::hfile::{
    BLOCK_HEADER_LEN, Block, BlockKind, Finish, Layout, Writer, WriterOptions,
};
use rowhouse_model::{
    BloomKind, Bytes, Cell, CellKind, Compression, DataBlockEncoding, ErrorKind, Key,
};

use crate::support::{File, plain};

const NONE: (&[u8], &str) =
    (include_bytes!("fixtures/none.hfile"), include_str!("fixtures/none.txt"));
const ROW_INDEX: (&[u8], &str) =
    (include_bytes!("fixtures/rowindex.hfile"), include_str!("fixtures/rowindex.txt"));

const ROWCOL: &[u8] = include_bytes!("fixtures/rowcol.hfile");
const COMPRESSED: [(Compression, &[u8]); 5] = [
    (Compression::Gz, include_bytes!("fixtures/gz.hfile")),
    (Compression::Snappy, include_bytes!("fixtures/snappy.hfile")),
    (Compression::Lz4, include_bytes!("fixtures/lz4.hfile")),
    (Compression::Zstd, include_bytes!("fixtures/zstd.hfile")),
    (Compression::Zstd, include_bytes!("fixtures/zstd-chunks.hfile")),
];

/// Delta-encoded files: with uncompressed tags, and with compressed tags.
const DELTAS: [(DataBlockEncoding, &[u8], &[u8]); 3] = [
    (
        DataBlockEncoding::Prefix,
        include_bytes!("fixtures/prefix.hfile"),
        include_bytes!("fixtures/prefix-tags.hfile"),
    ),
    (
        DataBlockEncoding::Diff,
        include_bytes!("fixtures/diff.hfile"),
        include_bytes!("fixtures/diff-tags.hfile"),
    ),
    (
        DataBlockEncoding::FastDiff,
        include_bytes!("fixtures/fast-diff.hfile"),
        include_bytes!("fixtures/fast-diff-tags.hfile"),
    ),
];
/// The same cells written by the last HBase 1.x (`compat/hbase-1/StoreFiles1.java`): plain, and
/// GZ-compressed with delta encoding, without and with tag compression.
const HBASE_1: [(DataBlockEncoding, &[u8]); 3] = [
    (DataBlockEncoding::None, include_bytes!("fixtures/hbase1-none.hfile")),
    (DataBlockEncoding::Prefix, include_bytes!("fixtures/hbase1-prefix.hfile")),
    (DataBlockEncoding::FastDiff, include_bytes!("fixtures/hbase1-fast-diff-tags.hfile")),
];
/// Files from a running HBase 1.7 (`compat/hbase-1/files.sh`), with the cells that HBase 1.7 reads
/// from each. The first three were flushed. The others were compacted after their cells had been in
/// files for days, so they have no sequence numbers.
const SERVED_BY_HBASE_1: [(DataBlockEncoding, Compression, &[u8], &str); 5] = [
    (
        DataBlockEncoding::None,
        Compression::None,
        include_bytes!("fixtures/hbase1-served-n.hfile"),
        include_str!("fixtures/hbase1-served-n.txt"),
    ),
    (
        DataBlockEncoding::Prefix,
        Compression::Gz,
        include_bytes!("fixtures/hbase1-served-p.hfile"),
        include_str!("fixtures/hbase1-served-p.txt"),
    ),
    (
        DataBlockEncoding::Diff,
        Compression::Lz4,
        include_bytes!("fixtures/hbase1-served-d.hfile"),
        include_str!("fixtures/hbase1-served-d.txt"),
    ),
    (
        DataBlockEncoding::FastDiff,
        Compression::Snappy,
        include_bytes!("fixtures/hbase1-served-f.hfile"),
        include_str!("fixtures/hbase1-served-f.txt"),
    ),
    (
        DataBlockEncoding::RowIndexV1,
        Compression::None,
        include_bytes!("fixtures/hbase1-served-r.hfile"),
        include_str!("fixtures/hbase1-served-r.txt"),
    ),
];
const PREFIX_TREE: &[u8] = include_bytes!("fixtures/hbase1-prefix-tree.hfile");
/// With a bloom filter over rows' first seven bytes; rows have eight.
const ROW_PREFIX: &[u8] = include_bytes!("fixtures/row-prefix.hfile");

fn hex(text: &str) -> Vec<u8> {
    let digits = text.as_bytes().chunks_exact(2);
    digits.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

/// Parses a fixture line as a cell.
pub(crate) fn parse(line: &str) -> Cell {
    let parts: Vec<&str> = line.split(' ').collect();
    let row = hex(parts[0]);
    let family = hex(parts[1]);
    let qualifier = hex(parts[2]);
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
        let cursor = file.seek(&cell.key()).unwrap().unwrap();
        assert!(cursor.key() == Some(cell.key()));
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
    let layout = Layout {
        encoding: DataBlockEncoding::None,
        tags: false,
        tags_compressed: false,
        sequences: true,
    };
    assert_eq!(file.meta.layout(), layout);
    assert_eq!(file.meta.trailer().index_levels, 1);
}

#[test]
fn files_of_hbase_1_are_read() {
    for (encoding, bytes) in HBASE_1 {
        let file = check((bytes, ROW_INDEX.1));
        let layout = file.meta.layout();
        assert_eq!((layout.encoding, layout.tags), (encoding, true));
        assert_eq!(layout.tags_compressed, encoding == DataBlockEncoding::FastDiff);
        assert!(file.meta.trailer().index_levels > 1);
    }
}

#[test]
fn files_of_a_running_hbase_1_are_read() {
    for (encoding, compression, bytes, lines) in SERVED_BY_HBASE_1 {
        let want: Vec<Cell> = lines.lines().map(parse).collect();
        let file = File::open(Bytes::from_static(bytes)).unwrap();
        assert_eq!(file.scan().unwrap(), want.iter().map(plain).collect::<Vec<_>>());
        let trailer = file.meta.trailer();
        assert_eq!((file.meta.layout().encoding, trailer.compression), (encoding, compression));
        assert_eq!((trailer.index_levels, file.meta.layout().tags), (2, true));
        assert_eq!(file.meta.cells(), want.len() as u64);
        let times = want.iter().map(|cell| cell.timestamp().as_millis());
        assert_eq!(file.meta.time_range().map(|range| *range.end()), times.max());
        // All families in the table were written in one pass and flushed afterwards.
        let newest = want.iter().map(Cell::sequence).max().unwrap();
        assert!(file.meta.sequence_max().unwrap().unwrap() > newest);
        assert!(want.iter().filter(|cell| !cell.tags().is_empty()).count() > 5);
        let markers = want.iter().filter(|cell| cell.kind() != CellKind::Put).count();
        assert_eq!((newest > 0, markers > 5), (markers > 0, newest > 0));
        for cell in &want {
            let cursor = file.seek(&cell.key()).unwrap().unwrap();
            assert!(cursor.key() == Some(cell.key()));
            if let Some(bloom) = file.meta.bloom().filter(|bloom| bloom.kind() == BloomKind::Row) {
                assert!(file.may_contain(bloom, cell.row()));
            }
        }
    }
}

#[test]
fn the_encoding_that_only_hbase_1_has_is_refused_by_name() {
    let error = File::open(Bytes::from_static(PREFIX_TREE)).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.message().contains("encoding PREFIX_TREE is not supported"), "{error}");
}

#[test]
fn row_indexes_tags_and_levels_are_read() {
    let file = check(ROW_INDEX);
    let layout = Layout {
        encoding: DataBlockEncoding::RowIndexV1,
        tags: true,
        tags_compressed: false,
        sequences: true,
    };
    assert_eq!(file.meta.layout(), layout);
    assert_eq!(file.meta.trailer().index_levels, 2);
}

#[test]
fn compressed_files_are_read() {
    for (compression, bytes) in COMPRESSED {
        let file = check((bytes, ROW_INDEX.1));
        assert_eq!(file.meta.trailer().compression, compression);
        assert_eq!(file.meta.trailer().index_levels, 2);
    }
}

#[test]
fn cells_encoded_by_differences_are_read() {
    for (encoding, plain, compressed) in DELTAS {
        for (bytes, tags_compressed) in [(plain, false), (compressed, true)] {
            let file = check((bytes, ROW_INDEX.1));
            let layout = Layout { encoding, tags: true, tags_compressed, sequences: true };
            assert_eq!(file.meta.layout(), layout);
        }
        assert!(compressed.len() < plain.len(), "{encoding:?}");
    }
}

#[test]
fn blooms_over_prefixes_check_the_first_bytes_of_a_row() {
    let file = File::open(Bytes::from_static(ROW_PREFIX)).unwrap();
    let bloom = file.meta.bloom().unwrap();
    assert_eq!(bloom.kind(), BloomKind::RowPrefix(7));
    for cell in ROW_INDEX.1.lines().map(parse) {
        assert!(file.may_contain(bloom, cell.row()));
        assert!(file.may_contain(bloom, &[&cell.row()[..7], b"anything"].concat()));
    }
    // Rows are multiples of three up to 117: every group of ten contains one, and no row is between
    // two groups.
    let is_let_through = |ten: &u32| file.may_contain(bloom, format!("row{ten:04}").as_bytes());
    assert_eq!((0..12).filter(is_let_through).count(), 12);
    let between = |ten: &u32| file.may_contain(bloom, format!("row{ten:03}!").as_bytes());
    assert!((1..12).filter(between).count() < 3);
}

#[test]
fn blooms_over_columns_are_checked_as_in_hbase() {
    let file = File::open(Bytes::from_static(ROWCOL)).unwrap();
    let bloom = file.meta.bloom().unwrap();
    assert_eq!(bloom.kind(), BloomKind::RowCol);
    assert!(bloom.chunks().count() > 0 && file.meta.delete_family_bloom().is_none());
    let cells: Vec<Cell> = ROW_INDEX.1.lines().map(parse).collect();
    assert!(cells.iter().any(|cell| [10, 14].contains(&cell.key().kind)));
    let mut let_through = 0;
    for cell in &cells {
        assert!(file.may_contain_column(bloom, cell.row(), cell.qualifier()));
        let missing = [cell.qualifier(), b"x"].concat();
        let_through += usize::from(file.may_contain_column(bloom, cell.row(), &missing));
    }
    assert!(let_through < cells.len() / 20, "{let_through} of {}", cells.len());
    assert!(!file.may_contain_column(bloom, b"zzz", b"q0"));
    assert!(!file.may_contain_column(bloom, b"a", b"q0"));
}

fn plain_options() -> WriterOptions {
    WriterOptions {
        block_len: 1024,
        encoding: DataBlockEncoding::None,
        created_millis: 1_700_000_000_000,
        checksum_len: 16 * 1024,
        ..WriterOptions::default()
    }
}

fn row_index_options() -> WriterOptions {
    WriterOptions {
        encoding: DataBlockEncoding::RowIndexV1,
        with_tags: true,
        bloom_block_len: 1024,
        index_block_len: 400,
        ..plain_options()
    }
}

fn write_lines(lines: &str, options: WriterOptions) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), options);
    for cell in lines.lines().map(parse) {
        writer.append(&cell.view()).unwrap();
    }
    let closing = Finish { sequence_max: 1234, ..Finish::default() };
    writer.finish(&closing).unwrap().1
}

/// The same cells and options produce identical bytes.
#[test]
fn apaches_files_are_written_byte_for_byte() {
    let columns = WriterOptions { bloom: BloomKind::RowCol, ..row_index_options() };
    let files = [
        (NONE.0, NONE.1, plain_options()),
        (ROW_INDEX.0, ROW_INDEX.1, row_index_options()),
        (ROWCOL, ROW_INDEX.1, columns),
        (
            ROW_PREFIX,
            ROW_INDEX.1,
            WriterOptions { bloom: BloomKind::RowPrefix(7), ..row_index_options() },
        ),
    ];
    let deltas = DELTAS.map(|(encoding, bytes, _)| {
        (bytes, ROW_INDEX.1, WriterOptions { encoding, ..row_index_options() })
    });
    for (bytes, lines, options) in files.into_iter().chain(deltas) {
        let ours = write_lines(lines, options);
        let differs = ours.iter().zip(bytes).position(|(ours, apaches)| ours != apaches);
        assert_eq!((ours.len(), differs), (bytes.len(), None));
    }
}

/// Compressors differ, so compressed bytes and block offsets differ; the block contents do not.
#[test]
fn apaches_compressed_files_are_written_block_for_block() {
    for (compression, bytes) in COMPRESSED {
        let ours = write_lines(ROW_INDEX.1, WriterOptions { compression, ..row_index_options() });
        let ours = blocks(ours.into());
        let apaches = blocks(Bytes::from_static(bytes));
        assert_eq!(ours.len(), apaches.len());
        for (ours, apaches) in ours.iter().zip(&apaches) {
            assert_eq!((ours.kind, ours.payload.len()), (apaches.kind, apaches.payload.len()));
            let has_offsets = match ours.kind {
                BlockKind::Data | BlockKind::EncodedData | BlockKind::BloomChunk => false,
                BlockKind::FileInfo | BlockKind::Meta => false,
                BlockKind::LeafIndex | BlockKind::IntermediateIndex | BlockKind::RootIndex => true,
                BlockKind::BloomMeta | BlockKind::DeleteFamilyBloomMeta => true,
            };
            assert!(has_offsets || ours.payload == apaches.payload, "{compression:?}");
        }
    }
}

/// Returns all blocks in a file, from the start to the trailer.
fn blocks(bytes: Bytes) -> Vec<Block> {
    let trailer = File::open(bytes.clone()).unwrap().meta.trailer().clone();
    let mut at = 0;
    let mut blocks = Vec::new();
    while at < trailer.load_on_open().end as usize {
        let len = u32::from_be_bytes(bytes[at + 8..at + 12].try_into().unwrap()) as usize;
        let end = at + BLOCK_HEADER_LEN + len;
        blocks.push(Block::parse(bytes.slice(at..end), at as u64, trailer.compression).unwrap());
        at = end;
    }
    blocks
}

#[test]
fn trailers_count_bytes_before_compression_as_apaches_do() {
    for (compression, bytes) in COMPRESSED {
        let ours = write_lines(ROW_INDEX.1, WriterOptions { compression, ..row_index_options() });
        let ours = File::open(ours.into()).unwrap();
        let apaches = File::open(Bytes::from_static(bytes)).unwrap();
        let ours = ours.meta.trailer();
        let apaches = apaches.meta.trailer();
        assert_eq!(ours.uncompressed_len, apaches.uncompressed_len);
        assert_eq!(ours.uncompressed_index_len, apaches.uncompressed_index_len);
        assert_eq!(ours.root_entries, apaches.root_entries);
    }
}
