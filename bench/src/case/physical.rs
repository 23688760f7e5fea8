//! Limits of the machine, the standard library and the file format, for comparison with the
//! engines.

use std::collections::{BTreeMap, HashMap};
use std::fs::{File, OpenOptions};
use std::hint::black_box;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use crossbeam_skiplist::SkipMap;
use rowhouse_format::hfile::{
    BlockHandle, DataBlock, FileMeta, Finish, IndexStep, IndexWalk, Trailer, Writer, WriterOptions,
};
use rowhouse_model::{Bytes, CellKind, Key, Timestamp};

use super::Bench;
use crate::workload::{Cell, KEY_LEN, Random, Workload, key};

/// Approximate bytes of a log record of one cell of 100 bytes.
const RECORD_LEN: usize = 200;
/// Records in one write(2).
const RECORDS: usize = 100;
const SYNCS: u64 = 500;
const SYNC_TIME_MAX: Duration = Duration::from_secs(3);

pub(super) fn run(bench: &Bench<'_>) -> Result<()> {
    let workload = Workload::wide(bench.cells, bench.seed);
    own_cost(bench, &workload)?;
    copying(bench, &workload)?;
    writing(bench, workload.cells())?;
    syncing(bench)?;
    btree_map(bench, &workload)?;
    skip_map(bench, &workload)?;
    blocks(bench, &Workload::wide(bench.cells / 4, bench.seed))
}

/// Measures the cost of the bench itself in every insert and get of the other cases.
fn own_cost(bench: &Bench<'_>, workload: &Workload) -> Result<()> {
    let mut cell = Cell::default();
    bench.measure("making key and value of a cell (in every insert here)", || {
        for at in 0..workload.cells() {
            workload.fill(at, &mut cell);
            black_box(&cell);
        }
        Ok(workload.cells())
    })?;
    bench.measure("choosing a cell (in every get here)", || {
        let mut random = Random::new(bench.seed);
        for _ in 0..workload.cells() {
            black_box(workload.place(random.below(workload.cells())));
        }
        Ok(workload.cells())
    })
}

/// Copies between two buffers that fit the processor's cache.
fn copying(bench: &Bench<'_>, workload: &Workload) -> Result<()> {
    const CELL_LEN: usize = KEY_LEN + 100;
    const CELLS: u64 = 1000;
    let from = vec![1; CELL_LEN * CELLS as usize];
    let mut to = vec![2; from.len()];
    bench.measure("memcpy of a cell", || {
        for _ in 0..workload.cells() / CELLS {
            for (to, from) in to.chunks_exact_mut(CELL_LEN).zip(from.chunks_exact(CELL_LEN)) {
                to.copy_from_slice(black_box(from));
            }
            black_box(&mut to);
        }
        Ok(workload.cells() / CELLS * CELLS)
    })
}

fn writing(bench: &Bench<'_>, records: u64) -> Result<()> {
    let record = [1; RECORD_LEN * RECORDS];
    let mut file = File::create(bench.dir.join("records"))?;
    bench.measure("write(2), per record", || {
        (0..records).try_for_each(|_| file.write_all(&record[..RECORD_LEN]))?;
        Ok(records)
    })?;
    let mut file = File::create(bench.dir.join("hundreds"))?;
    bench.measure("write(2) of 100 records, per record", || {
        (0..records / RECORDS as u64).try_for_each(|_| file.write_all(&record))?;
        Ok(records)
    })
}

fn syncing(bench: &Bench<'_>) -> Result<()> {
    let record = [1; RECORD_LEN];
    let len = SYNCS * RECORD_LEN as u64;
    let sync = |file: &File| {
        let begun = Instant::now();
        let mut syncs = 0;
        while syncs < SYNCS && begun.elapsed() < SYNC_TIME_MAX {
            file.write_all_at(&record, syncs * RECORD_LEN as u64)?;
            file.sync_data()?;
            syncs += 1;
        }
        Ok(syncs)
    };
    let file = File::create(bench.dir.join("appended"))?;
    bench.measure("write and fdatasync, appended", || sync(&file))?;
    let path = bench.dir.join("overwritten");
    std::fs::write(&path, vec![0; len as usize])?;
    let file = OpenOptions::new().write(true).open(path)?;
    file.sync_all()?;
    bench.measure("write and fdatasync, overwritten", || sync(&file))
}

fn btree_map(bench: &Bench<'_>, workload: &Workload) -> Result<()> {
    let cells = workload.cells();
    let mut map = BTreeMap::new();
    bench.measure("BTreeMap insert", || {
        let mut cell = Cell::default();
        for at in 0..cells {
            workload.fill(at, &mut cell);
            map.insert(key(&cell.row, &cell.qualifier), cell.value.clone());
        }
        Ok(cells)
    })?;
    bench.measure("BTreeMap get", || {
        let mut random = Random::new(bench.seed);
        for _ in 0..cells / 2 {
            let (row, qualifier) = workload.place(random.below(cells));
            black_box(map.get(&key(&row, &qualifier)).context("lost")?);
        }
        Ok(cells / 2)
    })?;
    bench.measure("BTreeMap full scan, per cell", || {
        black_box(map.values().map(|value| u64::from(value[50])).sum::<u64>());
        Ok(cells)
    })
}

fn skip_map(bench: &Bench<'_>, workload: &Workload) -> Result<()> {
    let cells = workload.cells();
    let map = SkipMap::new();
    bench.measure("crossbeam SkipMap insert", || {
        let mut cell = Cell::default();
        for at in 0..cells {
            workload.fill(at, &mut cell);
            map.insert(key(&cell.row, &cell.qualifier), cell.value.clone());
        }
        Ok(cells)
    })?;
    bench.measure("crossbeam SkipMap full scan, per cell", || {
        black_box(map.iter().map(|entry| u64::from(entry.value()[50])).sum::<u64>());
        Ok(cells)
    })
}

/// Measures an HFile in memory, in blocks as the store caches them.
fn blocks(bench: &Bench<'_>, workload: &Workload) -> Result<()> {
    let mut cells = (0..workload.cells())
        .map(|at| {
            let mut cell = Cell::default();
            workload.fill(at, &mut cell);
            let Cell { row, qualifier, value } = cell;
            rowhouse_model::Cell::new(row, "d", qualifier, Timestamp::MIN, CellKind::Put, value)
        })
        .collect::<rowhouse_model::Result<Vec<_>>>()?;
    cells.sort_by(|a, b| a.key().cmp(&b.key()));
    let count = cells.len() as u64;
    let mut file = Vec::new();
    bench.measure("HFile writing, per cell", || {
        let mut writer = Writer::new(Vec::new(), WriterOptions::default());
        cells.iter().try_for_each(|cell| writer.append(&cell.view()))?;
        (_, file) = writer.finish(&Finish::default())?;
        Ok(count)
    })?;
    let file = Bytes::from(file);
    let trailer = Trailer::parse(&file, file.len() as u64)?;
    let section = trailer.load_on_open();
    let section = file.slice(section.start as usize..section.end as usize);
    let meta = FileMeta::parse(trailer, section)?;
    let mut indexes = HashMap::new();
    let mut handles = Vec::new();
    let mut walk = IndexWalk::new();
    let mut step = walk.first(meta.index());
    loop {
        step = match step {
            IndexStep::Index(handle) => {
                let index = Arc::new(meta.index_block(&handle, slice(&file, &handle))?);
                indexes.insert(handle.offset, Arc::clone(&index));
                walk.enter(index)
            }
            IndexStep::Data(handle) => {
                handles.push(handle);
                walk.advance()
            }
            IndexStep::End => break,
        }
    }
    let mut blocks: HashMap<u64, Arc<DataBlock>> = HashMap::new();
    bench.measure("verifying and parsing blocks, per cell", || {
        for handle in &handles {
            let block = Arc::new(meta.data_block(handle, slice(&file, handle))?);
            blocks.insert(handle.offset, block);
        }
        Ok(count)
    })?;
    bench.measure("block scan, per cell", || {
        for handle in &handles {
            let mut cursor = blocks[&handle.offset].first()?;
            while let Some(cell) = cursor.cell() {
                black_box(cell.value[50]);
                cursor.advance()?;
            }
        }
        Ok(count)
    })?;
    bench.measure("block get: index, seek, one cell", || {
        let mut random = Random::new(bench.seed);
        for _ in 0..count / 2 {
            let (row, qualifier) = workload.place(random.below(count));
            let key = Key::column_start(&row, b"d", &qualifier);
            let mut step = walk.seek(meta.index(), &key);
            while let IndexStep::Index(handle) = step {
                step = walk.enter(Arc::clone(&indexes[&handle.offset]));
            }
            let IndexStep::Data(handle) = step else { bail!("a cell is behind the last block") };
            let cursor = blocks[&handle.offset].seek(&key)?;
            black_box(cursor.cell().context("a cell is not in its block")?.value[50]);
        }
        Ok(count / 2)
    })
}

fn slice(file: &Bytes, handle: &BlockHandle) -> Bytes {
    let range = handle.range();
    file.slice(range.start as usize..range.end as usize)
}
