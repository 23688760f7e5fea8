//! Rowhouse's own store, through its own API.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Result, ensure};
use rowhouse_model::{
    Bytes, Durability, ErrorKind, FamilyDescriptor, Get, Mutation, Put, RowRange, TableDescriptor,
    TableName,
};
use rowhouse_store::{CompactionKind, Settings, Store, Table};

use super::{Engine, Options, Scan, mib, touch};
use crate::workload::{Cell, Qualifier, Row};

const FAMILY: &[u8] = b"d";
const BUSY_WAIT: Duration = Duration::from_secs(600);

struct Rowhouse {
    store: Store,
    name: TableName,
    table: Arc<Table>,
    durability: Durability,
}

pub(super) fn open(dir: &Path, options: &Options) -> Result<Option<Box<dyn Engine>>> {
    let mut settings = Settings::default();
    // Else one region, as the others have one tree: most cases measure the engine, not splits.
    settings.split.automatic = options.split;
    // The others hold writers as long as compactions lag; here a client would try again.
    settings.busy_wait = BUSY_WAIT;
    if let Some(len) = options.cache_len {
        settings.block_cache_bytes = len;
    }
    if let Some(len) = options.memory_len {
        settings.memstore_flush_bytes = len;
        settings.memstore_bytes_max = settings.memstore_bytes_max.max(len * 2);
    }
    let store = Store::builder(dir).settings(settings).open()?;
    let name = TableName::parse("bench")?;
    let mut family = FamilyDescriptor::new(FAMILY)?;
    if options.lz4 {
        family = family.attribute("COMPRESSION", "LZ4");
    }
    match store.create_table(TableDescriptor::new(name.clone()).family(family), &[]) {
        Err(error) if error.kind() == ErrorKind::Unsupported => return Ok(None),
        Err(error) if error.kind() == ErrorKind::TableExists => {}
        created => created?,
    }
    let table = store.table(&name)?;
    let durability = match options.synced {
        true => Durability::FsyncWal,
        false => Durability::UseDefault,
    };
    Ok(Some(Box::new(Rowhouse { store, name, table, durability })))
}

impl Rowhouse {
    fn put(&self, cell: &Cell) -> Result<Mutation> {
        let put = Put::new(Bytes::copy_from_slice(&cell.row))?;
        let mut put = put.add(FAMILY, cell.qualifier, &cell.value)?;
        put.durability = self.durability;
        Ok(put.into())
    }
}

impl Engine for Rowhouse {
    fn insert(&self, cell: &Cell) -> Result<()> {
        self.table.mutate(&self.put(cell)?)?;
        Ok(())
    }

    fn insert_batch(&self, cells: &[Cell]) -> Result<()> {
        let puts = cells.iter().map(|cell| self.put(cell)).collect::<Result<Vec<_>>>()?;
        for outcome in self.table.batch(puts) {
            outcome?;
        }
        Ok(())
    }

    fn get(&self, row: &Row, qualifier: &Qualifier) -> Result<Option<u64>> {
        let get = Get::new(Bytes::copy_from_slice(row))?
            .column(Bytes::from_static(FAMILY), Bytes::copy_from_slice(qualifier));
        let row = self.table.get(&get)?;
        Ok(row.cells().next().map(|cell| touch(cell.value())))
    }

    fn scan(&self, scan: &Scan) -> Result<Option<u64>> {
        let mut range = RowRange::all();
        if let Some(from) = &scan.from {
            let from = Bytes::copy_from_slice(from);
            *(if scan.reversed { &mut range.stop } else { &mut range.start }) = from;
        }
        let mut asked = rowhouse_model::Scan::new(range).limit(scan.cells_max / scan.columns);
        asked.reversed = scan.reversed;
        let mut scanner = match self.table.scan(asked) {
            Err(error) if error.kind() == ErrorKind::Unsupported => return Ok(None),
            opened => opened?,
        };
        let (mut cells, mut seen) = (0, 0);
        while let Some(row) = scanner.next()? {
            for cell in row.cells() {
                cells += 1;
                seen += touch(cell.value());
            }
        }
        std::hint::black_box(seen);
        Ok(Some(cells))
    }

    fn flush(&self) -> Result<()> {
        Ok(self.table.flush()?)
    }

    fn compact(&mut self) -> Result<()> {
        self.table.flush()?;
        self.table.compact(CompactionKind::Major)?;
        let size = self.table.regions()[0].size();
        ensure!(size.files == 1, "a compacted region has one file: {size:?}");
        Ok(())
    }

    fn data_len(&self) -> Result<u64> {
        Ok(self.table.regions().iter().map(|region| region.size().file_bytes).sum())
    }

    fn state(&self) -> Result<String> {
        // The regions of now, after splits.
        let table = self.store.table(&self.name)?;
        let regions = table.regions();
        let sizes: Vec<_> = regions.iter().map(|region| region.size()).collect();
        let memory = mib(sizes.iter().map(|size| size.memstore_bytes).sum());
        let disk = mib(sizes.iter().map(|size| size.file_bytes).sum());
        let files: usize = sizes.iter().map(|size| size.files).sum();
        let regions = match regions.len() {
            1 => String::new(),
            regions => format!(" in {regions} regions"),
        };
        Ok(format!("memstore {memory:.0} MiB; {files} files{regions}, {disk:.0} MiB"))
    }
}
