//! Compares files that hold random cells with a sorted vector.

use proptest::collection::vec;
use proptest::prelude::*;
use rowhouse_format::hfile::WriterOptions;
use rowhouse_model::{BloomKind, Cell, CellKind, Compression, DataBlockEncoding, Key, compare};

use crate::support::{File, plain, write};

const KINDS: [CellKind; 5] = [
    CellKind::Put,
    CellKind::DeleteVersion,
    CellKind::DeleteFamilyVersion,
    CellKind::DeleteColumn,
    CellKind::DeleteFamily,
];

/// Generates rows from a small alphabet, so that rows share prefixes and cells share rows, columns
/// and versions.
fn row() -> impl Strategy<Value = Vec<u8>> {
    let bytes = prop_oneof![Just(0u8), Just(1), Just(b'a'), Just(b'b'), Just(0xFF)];
    prop_oneof![
        4 => vec(bytes, 1..12),
        1 => any::<u16>().prop_map(|number| format!("user{number:08}").into_bytes()),
    ]
}

fn qualifier() -> impl Strategy<Value = Vec<u8>> {
    vec(prop_oneof![Just(0u8), Just(b'q'), Just(0xFF)], 0..4)
}

prop_compose! {
    fn any_cell(tags: bool)(
        row in row(),
        qualifier in qualifier(),
        timestamp in prop_oneof![0i64..4, Just(i64::MAX), any::<i64>().prop_map(|ts| ts & i64::MAX)],
        kind in 0usize..KINDS.len(),
        value in vec(any::<u8>(), 0..40),
        tag in proptest::option::of(vec(any::<u8>(), 0..20)),
        sequence in prop_oneof![0u64..300, any::<u64>().prop_map(|number| number >> 1)],
    ) -> Cell {
        let key = Key { row: &row, family: b"d", qualifier: &qualifier, timestamp, kind: KINDS[kind].code() };
        let tags = tag.filter(|_| tags).map_or(Vec::new(), |tag| {
            [&(tag.len() as u16 + 1).to_be_bytes()[..], &[65], &tag].concat()
        });
        Cell::from_parts(key, &value, &tags).unwrap().with_sequence(sequence)
    }
}

fn sorted(mut cells: Vec<Cell>) -> Vec<Cell> {
    cells.sort_by(|a, b| compare(&a.view(), &b.view()));
    cells
}

prop_compose! {
    fn any_file()(tags in any::<bool>())(
        cells in vec(any_cell(tags), 0..700),
        encoding in proptest::sample::select(&DataBlockEncoding::ALL),
        block_len in prop_oneof![Just(1u32), Just(256), Just(1024), Just(65_536)],
        index_block_len in prop_oneof![Just(200u32), Just(1_000), Just(131_072)],
        bloom_block_len in prop_oneof![Just(128u32), Just(131_072)],
        checksum_len in prop_oneof![Just(1u32), Just(4_096), Just(16_384)],
        bloom in proptest::sample::select(&BloomKind::ALL[..]),
        compression in proptest::sample::select(&Compression::ALL[..]),
        tags in Just(tags),
    ) -> (Vec<Cell>, WriterOptions) {
        let options = WriterOptions {
            block_len, encoding, compression, bloom, with_tags: tags, index_block_len,
            bloom_block_len, checksum_len,
            ..WriterOptions::default()
        };
        (sorted(cells), options)
    }
}

fn check(cells: &[Cell], options: &WriterOptions, keys: &[Cell]) {
    let (summary, bytes) = write(cells, options);
    assert_eq!(summary.len, bytes.len() as u64);
    assert_eq!(summary.cells, cells.len() as u64);
    let file = File::open(bytes).unwrap();
    assert_eq!(file.scan().unwrap(), cells.iter().map(plain).collect::<Vec<_>>());
    assert!(file.meta.first_key() == cells.first().map(Cell::key));
    assert!(file.meta.last_key() == cells.last().map(Cell::key));
    for target in keys.iter().chain(cells.iter().step_by(17)) {
        let row = target.row();
        let edges = [Key::row_start(row), Key::row_end(row), target.key()];
        let column = Key::column_end(row, target.family(), target.qualifier());
        for key in edges.into_iter().chain([column]) {
            let at = cells.partition_point(|cell| cell.key() < key);
            let cursor = file.seek(&key).unwrap();
            assert_eq!(
                cursor.as_ref().and_then(|at| at.to_cell()).map(|cell| plain(&cell)),
                cells.get(at).map(plain)
            );
            check_forward(cells, at, cursor.clone(), keys);
            check_columns(cells, at, cursor, keys);
        }
        if let Some(bloom) = file.meta.bloom() {
            assert_eq!(bloom.kind(), options.bloom);
            let qualifier = target.qualifier();
            let present = cells.iter().any(|cell| match options.bloom {
                BloomKind::RowCol => cell.row() == row && cell.qualifier() == qualifier,
                _ => cell.row() == row,
            });
            assert!(!present || file.may_contain_column(bloom, row, qualifier));
        }
    }
}

/// Checks forward seeks within the block.
fn check_forward(
    cells: &[Cell],
    at: usize,
    from: Option<rowhouse_format::hfile::Cursor>,
    keys: &[Cell],
) {
    for key in keys.iter().take(3).map(Cell::key) {
        let Some(mut cursor) = from.clone() else { return };
        let to = at.max(cells.partition_point(|cell| cell.key() < key));
        if cursor.seek(&key).unwrap() {
            assert_eq!(plain(&cursor.to_cell().unwrap()), plain(&cells[to]));
        } else {
            assert!(cursor.cell().is_none() && to > at);
        }
    }
}

/// Checks advancing to the last cell in the row and block before a column.
fn check_columns(
    cells: &[Cell],
    at: usize,
    from: Option<rowhouse_format::hfile::Cursor>,
    keys: &[Cell],
) {
    let ends = keys.iter().take(3).map(|key| Some(key.qualifier())).chain([None]);
    for (end, cells_max) in ends.zip([2, 700, 1, 700]) {
        let Some(mut cursor) = from.clone() else { return };
        let (passed, bytes) = cursor.pass_columns(end, cells_max);
        let came_by = &cells[at + 1..][..passed];
        assert!(
            passed <= cells_max && bytes == came_by.iter().map(|cell| cell.value().len()).sum()
        );
        let row = cells[at].row();
        let is_in_front =
            |cell: &Cell| cell.row() == row && end.is_none_or(|end| cell.qualifier() < end);
        assert!(came_by.iter().all(is_in_front));
        assert_eq!(plain(&cursor.to_cell().unwrap()), plain(&cells[at + passed]));
        if passed < cells_max && cursor.advance().unwrap() {
            assert!(!is_in_front(&cells[at + passed + 1]));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn files_hold_the_written_cells(
        (cells, options) in any_file(),
        keys in vec(any_cell(false), 1..30),
    ) {
        check(&cells, &options, &keys);
    }

    #[test]
    fn seeks_reach_cells_of_rows_as_long_as_blocks(
        (cells, options) in any_file(),
        keys in vec(any_cell(false), 1..30),
    ) {
        let in_long_rows = |cells: Vec<Cell>| sorted(cells.iter().map(in_a_long_row).collect());
        check(&in_long_rows(cells), &options, &in_long_rows(keys));
    }
}

/// Moves the cell to one of two rows, and mostly to a separate column.
fn in_a_long_row(cell: &Cell) -> Cell {
    let qualifier = [cell.qualifier(), &cell.row()[1..]].concat();
    let key = Key {
        row: if cell.row().len().is_multiple_of(2) { b"a" } else { b"b" },
        qualifier: &qualifier,
        ..cell.key()
    };
    Cell::from_parts(key, cell.value(), cell.tags()).unwrap().with_sequence(cell.sequence())
}

#[test]
fn big_files_have_levels_and_chunks() {
    for encoding in DataBlockEncoding::ALL {
        let cells: Vec<Cell> = (0..60_000u64)
            .map(|number| {
                let row = format!("row{number:010}");
                crate::support::cell(&row, "q", 1, CellKind::Put, "some value of a cell")
                    .with_sequence(number)
            })
            .collect();
        let options = WriterOptions {
            encoding,
            block_len: 1024,
            index_block_len: 1024,
            bloom_block_len: 4096,
            ..WriterOptions::default()
        };
        let (summary, bytes) = write(&cells, &options);
        assert_eq!(summary.rows, 60_000);
        let file = File::open(bytes).unwrap();
        assert!(file.meta.trailer().index_levels >= 3, "{:?}", file.meta.trailer());
        assert_eq!(file.scan().unwrap(), cells.iter().map(plain).collect::<Vec<_>>());
        for cell in cells.iter().step_by(97) {
            let stored = file.seek(&cell.key()).unwrap().and_then(|at| at.to_cell());
            assert_eq!(stored.as_ref(), Some(cell));
        }
        let bloom = file.meta.bloom().unwrap();
        assert!(bloom.chunks().count() > 10);
        assert!(cells.iter().all(|cell| file.may_contain(bloom, cell.row())));
        let missing = (0..60_000u64).map(|number| format!("row{number:010}x"));
        let let_through = missing.filter(|row| file.may_contain(bloom, row.as_bytes())).count();
        assert!((100..1_200).contains(&let_through), "{let_through} of 60000, about 1 % wanted");
    }
}
