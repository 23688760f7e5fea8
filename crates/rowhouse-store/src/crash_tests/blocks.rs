//! Salvages HFiles in which only data blocks are readable: it reads the blocks one by one.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use rowhouse_format::hfile::{BLOCK_HEADER_LEN, Block, BlockKind, Trailer};
use rowhouse_model::{FamilyDescriptor, Put, Scan, TableDescriptor};

use super::name;
use crate::disk::Disk;
use crate::disk::simulated::SimulatedDisk;
use crate::salvage::{SalvageReport, salvage_disk};
use crate::{Settings, Store};

const ROWS: u32 = 60;

fn open(disk: &SimulatedDisk) -> Store {
    let settings = Settings { wal_segment_bytes: 2000, ..Settings::default() };
    let builder = Store::builder("simulated").settings(settings).with_disk(disk.clone());
    builder.with_boot_id([1; 16]).by_hand(1).open().unwrap()
}

/// Returns a closed store with one file whose cells are not in the log.
fn disk(
    attributes: &[(&'static str, &'static str)],
    value: impl Fn(u32) -> Vec<u8>,
) -> SimulatedDisk {
    let disk = SimulatedDisk::default();
    let store = open(&disk);
    let family = FamilyDescriptor::new("f").unwrap().attribute("BLOCKSIZE", "1024");
    let family =
        attributes.iter().fold(family, |family, (key, value)| family.attribute(*key, *value));
    store.create_table(TableDescriptor::new(name()).family(family), &[]).unwrap();
    let table = store.table(&name()).unwrap();
    for row in 0..ROWS {
        let put = Put::new(format!("row{row:02}")).unwrap().add("f", "q", value(row)).unwrap();
        table.mutate(&put.into()).unwrap();
        while store.work_by_hand() {}
    }
    table.flush().unwrap();
    while store.work_by_hand() {}
    drop(table);
    store.close().unwrap();
    drop(store);
    for segment in disk.paths().iter().filter(|path| path.ends_with(".spare")) {
        disk.remove(segment).unwrap();
    }
    disk
}

fn short(row: u32) -> Vec<u8> {
    format!("value {row:02} ").repeat(12).into()
}

fn file(disk: &SimulatedDisk) -> (String, Vec<u8>) {
    let mut paths = disk.paths();
    paths.retain(|path| path.starts_with("files/"));
    let [path] = &paths[..] else { panic!("{paths:?}") };
    (path.clone(), bytes_of(disk, path))
}

fn bytes_of(disk: &SimulatedDisk, path: &str) -> Vec<u8> {
    let mut bytes = vec![0; disk.file_len(path).unwrap()];
    disk.open(path).unwrap().read_exact_at(&mut bytes, 0).unwrap();
    bytes
}

/// Returns the rows whose keys occur in `bytes`.
fn rows_in(bytes: &[u8]) -> BTreeSet<u32> {
    let has = |row: &u32| bytes.windows(5).any(|at| at == format!("row{row:02}").as_bytes());
    (0..ROWS).filter(has).collect()
}

/// Returns the data blocks' byte ranges.
fn data_blocks(bytes: &[u8]) -> Vec<Range<usize>> {
    let trailer = &bytes[bytes.len() - Trailer::LEN..];
    let end = Trailer::parse(trailer, bytes.len() as u64).unwrap().load_on_open().start as usize;
    let mut at = 0;
    let mut blocks = Vec::new();
    while at < end {
        let len =
            Block::len_on_disk(&bytes[at..at + BLOCK_HEADER_LEN], at as u64).unwrap() as usize;
        let (kind, _) = Block::verify(&bytes[at..at + len], at as u64).unwrap();
        if matches!(kind, BlockKind::Data | BlockKind::EncodedData) {
            blocks.push(at..at + len);
        }
        at += len;
    }
    blocks
}

/// Salvages a store. Returns the rows found, after checking their values.
fn salvage(disk: &SimulatedDisk, value: impl Fn(u32) -> Vec<u8>) -> (BTreeSet<u32>, SalvageReport) {
    let from: Arc<dyn Disk> = Arc::new(disk.clone());
    let into = SimulatedDisk::default();
    let report = salvage_disk(&from, [1; 16], || Ok(open(&into)), |_| {}).unwrap();
    let store = open(&into);
    let table = store.table(&name()).unwrap();
    let mut scanner = table.scan(Scan::all()).unwrap();
    let mut rows = BTreeSet::new();
    while let Some(result) = scanner.next().unwrap() {
        let row: u32 = str::from_utf8(&result.key()[3..]).unwrap().parse().unwrap();
        assert_eq!(result.value("f", "q").unwrap(), value(row));
        assert!(result.cells().count() == 1 && rows.insert(row), "row {row} twice");
    }
    (rows, report)
}

const SHAPES: [&[(&str, &str)]; 6] = [
    &[],
    &[("DATA_BLOCK_ENCODING", "NONE")],
    &[("DATA_BLOCK_ENCODING", "FAST_DIFF")],
    &[("COMPRESSION", "LZ4")],
    &[("COMPRESSION", "GZ"), ("DATA_BLOCK_ENCODING", "PREFIX")],
    &[("BLOOMFILTER", "NONE"), ("COMPRESSION", "ZSTD")],
];

#[test]
fn damage_outside_the_data_blocks_of_a_file_costs_no_cell() {
    let whole = disk(&[], short);
    let (path, bytes) = file(&whole);
    let blocks = data_blocks(&bytes);
    assert!(blocks.len() > 5, "{blocks:?}");
    let mut places = 0;
    // An odd step, so that every bit of a byte gets its turn.
    for at in (0..bytes.len()).step_by(3) {
        if blocks.iter().any(|block| block.contains(&at)) {
            continue;
        }
        // The trailer has many zeros: a sample is enough.
        if bytes[at] == 0 && at % 16 != 0 {
            continue;
        }
        let disk = whole.after_kill();
        disk.corrupt(&path, at, 1 << (at % 8));
        let (rows, report) = salvage(&disk, short);
        assert_eq!((rows.len(), report.lost.len()), (ROWS as usize, 0), "at {at}: {report:?}");
        places += 1;
    }
    assert!(places > 150, "{places}");
}

#[test]
fn nothing_but_data_blocks_is_needed_however_they_are_written() {
    for shape in SHAPES {
        let disk = disk(shape, short);
        let (path, bytes) = file(&disk);
        let last = data_blocks(&bytes).pop().unwrap();
        (last.end..bytes.len()).for_each(|at| disk.corrupt(&path, at, 0x5A));
        let (rows, report) = salvage(&disk, short);
        assert_eq!(rows.len(), ROWS as usize, "{shape:?}: {report:?}");
        assert_eq!(report.lost.len(), 0, "{shape:?}: {report:?}");
    }
}

#[test]
fn damage_of_a_block_costs_its_cells_and_no_others_even_without_an_index() {
    for without_index in [false, true] {
        let whole = disk(&[], short);
        let (path, bytes) = file(&whole);
        let blocks = data_blocks(&bytes);
        // The current segment still has the last rows.
        let segments = whole.paths().into_iter().filter(|path| path.ends_with(".wal"));
        let logged: BTreeSet<u32> =
            segments.flat_map(|path| rows_in(&bytes_of(&whole, &path))).collect();
        assert!(logged.len() < 15, "{logged:?}");
        for block in &blocks {
            // Kind, lengths, the previous block's offset, and a cell.
            for at in [0, 7, 8, 11, 15, 20, 24, 28, 32, 60] {
                let disk = whole.after_kill();
                disk.corrupt(&path, block.start + at, 0x41);
                if without_index {
                    let last = blocks.last().unwrap();
                    (last.end..bytes.len()).for_each(|at| disk.corrupt(&path, at, 0x5A));
                }
                let (rows, report) = salvage(&disk, short);
                let lost: BTreeSet<u32> = (0..ROWS).filter(|row| !rows.contains(row)).collect();
                let held = &rows_in(&bytes[block.clone()]) - &logged;
                assert_eq!(lost, held, "{block:?} at {at}: {report:?}");
                let named = |lost: &&rowhouse_model::Error| {
                    lost.message().contains(&path) && lost.message().contains("table=t, family=f")
                };
                assert_eq!(report.lost.iter().filter(named).count(), report.lost.len());
                assert!(!report.lost.is_empty());
            }
        }
    }
}

#[test]
fn a_file_that_a_value_holds_is_not_taken_for_a_part_of_the_file_it_is_in() {
    let (_, inner) = file(&disk(&[], short));
    let value = |row: u32| if row == 7 { inner.clone() } else { short(row) };
    let whole = disk(&[], value);
    let (path, bytes) = file(&whole);
    let blocks = data_blocks(&bytes);
    let block = blocks.iter().find(|block| block.len() > inner.len()).unwrap();
    for at in [0, 9, 10, 11, 60] {
        let disk = whole.after_kill();
        disk.corrupt(&path, block.start + at, 0x41);
        let (rows, report) = salvage(&disk, value);
        assert!(
            !rows.contains(&7) && rows.len() > 50 && !report.lost.is_empty(),
            "{at}: {report:?}"
        );
    }
}
