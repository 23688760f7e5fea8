//! RocksDB: the C++ LSM tree, only with the feature `rocksdb`.

use std::path::Path;

use anyhow::{Context, Result};
use rocksdb::{
    BlockBasedOptions, Cache, DB, DBCompressionType, WaitForCompactOptions, WriteBatch,
    WriteOptions, properties,
};

use super::{Engine, Options, Scan, mib, touch};
use crate::workload::{Cell, Qualifier, Row, key};

struct Rocksdb {
    database: DB,
    write: WriteOptions,
}

pub(super) fn open(dir: &Path, options: &Options) -> Result<Option<Box<dyn Engine>>> {
    let mut blocks = BlockBasedOptions::default();
    blocks.set_bloom_filter(10.0, false);
    if let Some(len) = options.cache_len {
        blocks.set_block_cache(&Cache::new_lru_cache(usize::try_from(len)?));
    }
    let mut settings = rocksdb::Options::default();
    settings.create_if_missing(true);
    settings.set_block_based_table_factory(&blocks);
    settings.set_compression_type(match options.lz4 {
        true => DBCompressionType::Lz4,
        false => DBCompressionType::None,
    });
    if let Some(len) = options.memory_len {
        settings.set_write_buffer_size(usize::try_from(len)?);
    }
    let database = DB::open(&settings, dir)?;
    let mut write = WriteOptions::default();
    write.set_sync(options.synced);
    Ok(Some(Box::new(Rocksdb { database, write })))
}

impl Engine for Rocksdb {
    fn insert(&self, cell: &Cell) -> Result<()> {
        let key = key(&cell.row, &cell.qualifier);
        Ok(self.database.put_opt(key, &cell.value, &self.write)?)
    }

    fn insert_batch(&self, cells: &[Cell]) -> Result<()> {
        let mut batch = WriteBatch::default();
        for cell in cells {
            batch.put(key(&cell.row, &cell.qualifier), &cell.value);
        }
        Ok(self.database.write_opt(batch, &self.write)?)
    }

    fn get(&self, row: &Row, qualifier: &Qualifier) -> Result<Option<u64>> {
        let value = self.database.get_pinned(key(row, qualifier))?;
        Ok(value.map(|value| touch(&value)))
    }

    fn scan(&self, scan: &Scan) -> Result<Option<u64>> {
        let mut entries = self.database.raw_iterator();
        match (&scan.from, scan.reversed) {
            (None, false) => entries.seek_to_first(),
            (None, true) => entries.seek_to_last(),
            (Some(from), false) => entries.seek(from),
            (Some(from), true) => entries.seek_for_prev(from),
        }
        let (mut cells, mut seen) = (0, 0);
        while cells < scan.cells_max {
            let Some(value) = entries.value() else { break };
            cells += 1;
            seen += touch(value);
            if scan.reversed {
                entries.prev();
            } else {
                entries.next();
            }
        }
        entries.status()?;
        std::hint::black_box(seen);
        Ok(Some(cells))
    }

    fn flush(&self) -> Result<()> {
        Ok(self.database.flush()?)
    }

    fn compact(&mut self) -> Result<()> {
        self.flush()?;
        self.database.compact_range::<&[u8], &[u8]>(None, None);
        Ok(self.database.wait_for_compact(&WaitForCompactOptions::default())?)
    }

    fn data_len(&self) -> Result<u64> {
        let len = self.database.property_int_value(properties::TOTAL_SST_FILES_SIZE)?;
        len.context("RocksDB does not say how large its files are")
    }

    fn state(&self) -> Result<String> {
        let memory = self.database.property_int_value(properties::CUR_SIZE_ALL_MEM_TABLES)?;
        let files = self.database.live_files()?;
        let fresh = files.iter().filter(|file| file.level == 0).count();
        Ok(format!(
            "memtable {:.0} MiB; {} tables, {fresh} of them in L0, {:.0} MiB",
            mib(memory.unwrap_or(0)),
            files.len(),
            mib(self.data_len()?)
        ))
    }
}
