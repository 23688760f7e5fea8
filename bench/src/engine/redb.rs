//! redb: a copy-on-write B+tree in one file.

use std::path::{Path, PathBuf};

use anyhow::Result;
use redb::{Database, Durability, ReadableDatabase, TableDefinition};

use super::{Engine, Options, Scan, mib, touch};
use crate::workload::{Cell, Qualifier, Row, key};

const TABLE: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("bench");

struct Redb {
    database: Database,
    path: PathBuf,
    durability: Durability,
}

pub(super) fn open(dir: &Path, options: &Options) -> Result<Option<Box<dyn Engine>>> {
    if options.lz4 {
        return Ok(None);
    }
    let path = dir.join("redb");
    let mut builder = Database::builder();
    if let Some(len) = options.cache_len {
        builder.set_cache_size(usize::try_from(len)?);
    }
    let database = builder.create(&path)?;
    let write = database.begin_write()?;
    write.open_table(TABLE)?;
    write.commit()?;
    let durability = if options.synced { Durability::Immediate } else { Durability::None };
    Ok(Some(Box::new(Redb { database, path, durability })))
}

impl Engine for Redb {
    fn insert(&self, cell: &Cell) -> Result<()> {
        self.insert_batch(std::slice::from_ref(cell))
    }

    fn insert_batch(&self, cells: &[Cell]) -> Result<()> {
        let mut write = self.database.begin_write()?;
        write.set_durability(self.durability)?;
        {
            let mut table = write.open_table(TABLE)?;
            for cell in cells {
                table.insert(&key(&cell.row, &cell.qualifier)[..], &*cell.value)?;
            }
        }
        Ok(write.commit()?)
    }

    fn get(&self, row: &Row, qualifier: &Qualifier) -> Result<Option<u64>> {
        // A transaction for each read, since each must see the last write.
        let table = self.database.begin_read()?.open_table(TABLE)?;
        let value = table.get(&key(row, qualifier)[..])?;
        Ok(value.map(|value| touch(value.value())))
    }

    fn scan(&self, scan: &Scan) -> Result<Option<u64>> {
        let table = self.database.begin_read()?.open_table(TABLE)?;
        let mut entries = match (&scan.from, scan.reversed) {
            (None, _) => table.range::<&[u8]>(..)?,
            (Some(from), false) => table.range(&from[..]..)?,
            (Some(from), true) => table.range(..&from[..])?,
        };
        let (mut cells, mut seen) = (0, 0);
        while cells < scan.cells_max {
            let next = if scan.reversed { entries.next_back() } else { entries.next() };
            let Some(entry) = next else { break };
            let (_key, value) = entry?;
            cells += 1;
            seen += touch(value.value());
        }
        std::hint::black_box(seen);
        Ok(Some(cells))
    }

    fn flush(&self) -> Result<()> {
        // A durable commit includes all earlier commits that were not durable.
        let mut write = self.database.begin_write()?;
        write.set_durability(Durability::Immediate)?;
        Ok(write.commit()?)
    }

    fn compact(&mut self) -> Result<()> {
        self.flush()?;
        self.database.compact()?;
        Ok(())
    }

    fn data_len(&self) -> Result<u64> {
        Ok(self.path.metadata()?.len())
    }

    fn state(&self) -> Result<String> {
        Ok(format!("one file, {:.0} MiB", mib(self.data_len()?)))
    }
}
