//! CPU time for HFile operations, per cell or operation: `cargo bench -p rowhouse-format --bench
//! hfile`.
//!
//! Two million cells with 100 bytes each, ten columns per row, values half random digits and half
//! constant. Reads use parsed blocks, as a store's cache holds them. Compressed files have a fifth
//! of the cells. Reports the median of three rounds.

#![expect(clippy::unwrap_used, reason = "a bench that cannot continue fails")]

use std::hint::black_box;
use std::sync::Arc;

use rowhouse_format::hfile::{
    BlockHandle, Cursor, DataBlock, FileMeta, Finish, Trailer, Writer, WriterOptions,
};
use rowhouse_model::{
    BloomKind, Bytes, Cell, CellKind, Compression, DataBlockEncoding, Key, Timestamp,
};

const ROWS: u64 = 200_000;
const COLUMNS: u64 = 10;
const GETS: u64 = 300_000;

fn main() {
    let cells: Vec<Cell> = (0..ROWS * COLUMNS)
        .map(|at| {
            let row = format!("user{:012}", at / COLUMNS * 7);
            let column = format!("field{}", at % COLUMNS);
            let timestamp = Timestamp::from_millis(1_700_000_000_000 + at as i64).unwrap();
            let value = format!("{:024}{:>26}", mix(at), "the same in every cell");
            let cell = Cell::new(row, "d", column, timestamp, CellKind::Put, value).unwrap();
            cell.with_sequence(at)
        })
        .collect();
    for encoding in [DataBlockEncoding::RowIndexV1, DataBlockEncoding::None] {
        for block_len in [16 * 1024, 64 * 1024] {
            run(&cells, encoding, block_len);
        }
    }
    for compression in Compression::ALL {
        run_compressed(&cells[..cells.len() / 5], compression);
    }
}

fn run_compressed(cells: &[Cell], compression: Compression) {
    println!("{}, RowIndexV1, blocks of 64 KiB", compression.name());
    for bloom in [BloomKind::Row, BloomKind::RowCol] {
        let mut file = Vec::new();
        report(&format!("write, a cell, bloom {}", bloom.name()), cells.len() as f64, || {
            let options = WriterOptions { compression, bloom, ..WriterOptions::default() };
            file = write(cells, options);
        });
        if bloom == BloomKind::Row {
            read_compressed(cells, file.into());
        }
    }
}

fn read_compressed(cells: &[Cell], file: Bytes) {
    println!("  bytes of file per byte of cells {:>8.3}", file.len() as f64 / bytes_of(cells));
    let meta = open(&file);
    let handles = handles(&meta, &file);
    report("verify, decompress and parse, a block", handles.len() as f64, || {
        for handle in &handles {
            let range = handle.range();
            let bytes = file.slice(range.start as usize..range.end as usize);
            black_box(meta.data_block(handle, bytes).unwrap());
        }
    });
}

fn write(cells: &[Cell], options: WriterOptions) -> Vec<u8> {
    let mut writer = Writer::new(Vec::with_capacity(400 << 20), options);
    for cell in cells {
        writer.append(&cell.view()).unwrap();
    }
    writer.finish(&Finish::default()).unwrap().1
}

fn open(file: &Bytes) -> FileMeta {
    let trailer = Trailer::parse(file, file.len() as u64).unwrap();
    let section = trailer.load_on_open();
    let section = file.slice(section.start as usize..section.end as usize);
    FileMeta::parse(trailer, section).unwrap()
}

fn run(cells: &[Cell], encoding: DataBlockEncoding, block_len: u32) {
    println!("{encoding:?}, blocks of {} KiB", block_len / 1024);
    let count = cells.len() as f64;
    let mut file = Vec::new();
    report("write, a cell", count, || {
        file = write(cells, WriterOptions { block_len, encoding, ..WriterOptions::default() });
    });
    let file = Bytes::from(std::mem::take(&mut file));
    let meta = open(&file);
    println!("  bytes of file per byte of cells {:>8.3}", file.len() as f64 / bytes_of(cells));
    let parse = |handle: &BlockHandle| {
        let range = handle.range();
        let bytes = file.slice(range.start as usize..range.end as usize);
        Arc::new(meta.data_block(handle, bytes).unwrap())
    };
    let handles = handles(&meta, &file);
    report("verify and parse, a block", handles.len() as f64, || {
        for handle in &handles {
            black_box(parse(handle));
        }
    });
    let blocks: Vec<Arc<DataBlock>> = handles.iter().map(parse).collect();
    let keys: Vec<u64> = handles.iter().map(|handle| handle.offset).collect();
    report("full scan, a cell", count, || {
        let mut total = 0;
        for block in &blocks {
            let mut cursor = block.first().unwrap();
            while let Some(cell) = cursor.cell() {
                total += cell.key.row.len() + cell.value.len() + cell.sequence as usize;
                cursor.advance().unwrap();
            }
        }
        black_box(total);
    });
    report("full scan as cells that share bytes, a cell", count, || {
        for block in &blocks {
            let mut cursor = block.first().unwrap();
            while let Some(cell) = cursor.to_cell() {
                black_box(cell);
                cursor.advance().unwrap();
            }
        }
    });
    let leaves = leaves(&meta, &file);
    let find = |key: &Key<'_>| {
        let mut handle = meta.index().locate(key).unwrap();
        if handle.is_index() {
            let leaf = leaves.iter().find(|(offset, _)| *offset == handle.offset).unwrap();
            handle = leaf.1.locate(key).unwrap();
        }
        &blocks[keys.binary_search(&handle.offset).unwrap()]
    };
    let rows: Vec<Vec<u8>> =
        (0..GETS).map(|at| format!("user{:012}", mix(at) % ROWS * 7).into()).collect();
    report("get of a row: index, seek, ten cells", GETS as f64, || {
        for row in &rows {
            let mut cursor = find(&Key::row_start(row)).seek(&Key::row_start(row)).unwrap();
            black_box(read_row(&mut cursor, row));
        }
    });
    report("get of a column: index, seek, one cell", GETS as f64, || {
        for row in &rows {
            let key = Key::column_start(row, b"d", b"field5");
            let cursor = find(&key).seek(&key).unwrap();
            black_box(cursor.cell().map(|cell| cell.value.len()));
        }
    });
    let bloom = meta.bloom().unwrap();
    let chunks: Vec<_> = bloom
        .chunks()
        .map(|handle| {
            let range = handle.range();
            let bytes = file.slice(range.start as usize..range.end as usize);
            meta.bloom_chunk(&handle, bytes).unwrap()
        })
        .collect();
    let missing: Vec<Vec<u8>> = rows.iter().map(|row| [&row[..], b"x"].concat()).collect();
    let mut passed = 0;
    report("missing row, bloom", GETS as f64, || {
        passed = missing
            .iter()
            .filter(|row| {
                let key = bloom.key(row, b"");
                let chunk = bloom.chunk_for(&key);
                chunk.is_some_and(|number| bloom.chunk_contains(&chunks[number], &key))
            })
            .count();
    });
    println!("  let through by the bloom {:>14.2} %", passed as f64 * 100.0 / GETS as f64);
}

fn read_row(cursor: &mut Cursor, row: &[u8]) -> usize {
    let mut len = 0;
    while let Some(cell) = cursor.cell().filter(|cell| cell.key.row == row) {
        len += cell.value.len();
        cursor.advance().unwrap();
    }
    len
}

fn bytes_of(cells: &[Cell]) -> f64 {
    cells.iter().map(|cell| cell.as_bytes().len()).sum::<usize>() as f64
}

fn leaves(meta: &FileMeta, file: &Bytes) -> Vec<(u64, rowhouse_format::hfile::Index)> {
    let index = meta.index();
    let handles = (0..index.len()).filter_map(|at| index.handle(at));
    let parse = |handle: BlockHandle| {
        let range = handle.range();
        let bytes = file.slice(range.start as usize..range.end as usize);
        (handle.offset, meta.index_block(&handle, bytes).unwrap())
    };
    handles.filter(BlockHandle::is_index).map(parse).collect()
}

fn handles(meta: &FileMeta, file: &Bytes) -> Vec<BlockHandle> {
    let all = |index: &rowhouse_format::hfile::Index| {
        (0..index.len()).filter_map(|at| index.handle(at)).collect::<Vec<_>>()
    };
    if meta.index().level() == 1 {
        return all(meta.index());
    }
    leaves(meta, file).iter().flat_map(|(_, leaf)| all(leaf)).collect()
}

/// Returns scattered numbers, the same in every run.
fn mix(number: u64) -> u64 {
    let number = (number ^ number >> 31).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (number ^ number >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 8
}

/// Runs `work` three times and prints the median CPU time per operation.
fn report(what: &str, operations: f64, mut work: impl FnMut()) {
    let mut micros = [0.0; 3].map(|_: f64| {
        let start = cpu_nanos();
        work();
        (cpu_nanos() - start) as f64 / 1_000.0 / operations
    });
    micros.sort_by(f64::total_cmp);
    println!("  {what:<46} {:>9.4} µs", micros[1]);
}

/// Returns this thread's CPU time so far, because wall-clock time is unreliable on a shared
/// machine.
fn cpu_nanos() -> u64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    text.split(' ').next().and_then(|nanos| nanos.parse().ok()).unwrap()
}
