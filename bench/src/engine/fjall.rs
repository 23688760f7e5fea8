//! fjall: an LSM tree in Rust.

use std::path::Path;

use anyhow::Result;
use fjall::config::CompressionPolicy;
use fjall::{CompressionType, Database, Keyspace, KeyspaceCreateOptions, PersistMode};

use super::{Engine, Options, Scan, mib, touch};
use crate::workload::{Cell, Qualifier, Row, key};

struct Fjall {
    database: Database,
    keyspace: Keyspace,
    synced: bool,
}

pub(super) fn open(dir: &Path, options: &Options) -> Result<Option<Box<dyn Engine>>> {
    let mut builder = Database::builder(dir);
    if let Some(len) = options.cache_len {
        builder = builder.cache_size(len);
    }
    let database = builder.open()?;
    let keyspace = database.keyspace("bench", || {
        let compression = match options.lz4 {
            true => CompressionPolicy::all(CompressionType::Lz4),
            false => CompressionPolicy::disabled(),
        };
        let mut create =
            KeyspaceCreateOptions::default().data_block_compression_policy(compression);
        if let Some(len) = options.memory_len {
            create = create.max_memtable_size(len);
        }
        create
    })?;
    Ok(Some(Box::new(Fjall { database, keyspace, synced: options.synced })))
}

impl Engine for Fjall {
    fn insert(&self, cell: &Cell) -> Result<()> {
        self.keyspace.insert(key(&cell.row, &cell.qualifier), &*cell.value)?;
        if self.synced {
            self.database.persist(PersistMode::SyncData)?;
        }
        Ok(())
    }

    fn insert_batch(&self, cells: &[Cell]) -> Result<()> {
        let mut batch = self.database.batch();
        for cell in cells {
            batch.insert(&self.keyspace, key(&cell.row, &cell.qualifier), &*cell.value);
        }
        Ok(batch.commit()?)
    }

    fn get(&self, row: &Row, qualifier: &Qualifier) -> Result<Option<u64>> {
        Ok(self.keyspace.get(key(row, qualifier))?.map(|value| touch(&value)))
    }

    fn scan(&self, scan: &Scan) -> Result<Option<u64>> {
        let mut entries = match (scan.from, scan.reversed) {
            (None, _) => self.keyspace.iter(),
            (Some(from), false) => self.keyspace.range(from..),
            (Some(from), true) => self.keyspace.range(..from),
        };
        let (mut cells, mut seen) = (0, 0);
        while cells < scan.cells_max {
            let next = if scan.reversed { entries.next_back() } else { entries.next() };
            let Some(entry) = next else { break };
            let (_key, value) = entry.into_inner()?;
            cells += 1;
            seen += touch(&value);
        }
        std::hint::black_box(seen);
        Ok(Some(cells))
    }

    fn flush(&self) -> Result<()> {
        Ok(self.keyspace.rotate_memtable_and_wait()?)
    }

    fn compact(&mut self) -> Result<()> {
        self.flush()?;
        Ok(self.keyspace.major_compact()?)
    }

    fn data_len(&self) -> Result<u64> {
        Ok(self.keyspace.disk_space())
    }

    fn state(&self) -> Result<String> {
        let (memory, disk) =
            (mib(self.database.write_buffer_size()), mib(self.keyspace.disk_space()));
        let (tables, fresh) = (self.keyspace.table_count(), self.keyspace.l0_table_count());
        Ok(format!(
            "memtable {memory:.0} MiB; {tables} tables, {fresh} of them in L0, {disk:.0} MiB"
        ))
    }
}
