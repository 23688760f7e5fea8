//! surrealkv: an LSM tree in Rust with asynchronous commits.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use surrealkv::{
    CompactRangeOptions, Durability, LSMIterator, Mode, ReadOptions, Tree, TreeBuilder,
};
use tokio::runtime::Runtime;

use super::{Engine, Options, Scan, mib, touch};
use crate::measure::directory_len;
use crate::workload::{Cell, Qualifier, Row, key};

struct Surrealkv {
    tree: Tree,
    runtime: Runtime,
    tables: PathBuf,
    durability: Durability,
}

pub(super) fn open(dir: &Path, options: &Options) -> Result<Option<Box<dyn Engine>>> {
    if options.lz4 {
        return Ok(None);
    }
    let runtime = Runtime::new()?;
    let mut builder = TreeBuilder::new().with_path(dir.to_owned()).without_compression();
    if let Some(len) = options.cache_len {
        builder = builder.with_block_cache_capacity(len);
    }
    if let Some(len) = options.memory_len {
        builder = builder.with_max_memtable_size(usize::try_from(len)?);
    }
    let tree = {
        let _inside = runtime.enter();
        builder.build()?
    };
    let durability = if options.synced { Durability::Immediate } else { Durability::Eventual };
    Ok(Some(Box::new(Surrealkv { tree, runtime, tables: dir.join("sstables"), durability })))
}

impl Engine for Surrealkv {
    fn insert(&self, cell: &Cell) -> Result<()> {
        self.insert_batch(std::slice::from_ref(cell))
    }

    fn insert_batch(&self, cells: &[Cell]) -> Result<()> {
        let mut write = self.tree.begin_with_mode(Mode::WriteOnly)?;
        write.set_durability(self.durability);
        for cell in cells {
            write.set(&key(&cell.row, &cell.qualifier)[..], &*cell.value)?;
        }
        Ok(self.runtime.block_on(write.commit())?)
    }

    fn get(&self, row: &Row, qualifier: &Qualifier) -> Result<Option<u64>> {
        let read = self.tree.begin_with_mode(Mode::ReadOnly)?;
        Ok(read.get(&key(row, qualifier)[..])?.map(|value| touch(&value)))
    }

    fn scan(&self, scan: &Scan) -> Result<Option<u64>> {
        let read = self.tree.begin_with_mode(Mode::ReadOnly)?;
        let mut options = ReadOptions::new();
        let from = scan.from.map(|from| from.to_vec());
        match scan.reversed {
            true => options.set_iterate_upper_bound(from),
            false => options.set_iterate_lower_bound(from),
        }
        let mut entries = read.range_with_options(&options)?;
        let (mut cells, mut seen) = (0, 0);
        let mut valid = if scan.reversed { entries.seek_last()? } else { entries.seek_first()? };
        while valid && cells < scan.cells_max {
            cells += 1;
            seen += touch(&entries.value_ref()?);
            valid = if scan.reversed { entries.prev()? } else { entries.next()? };
        }
        std::hint::black_box(seen);
        Ok(Some(cells))
    }

    fn flush(&self) -> Result<()> {
        let options = CompactRangeOptions {
            flush_memtable: true,
            target_level: Some(0),
            rewrite_bottommost: false,
        };
        Ok(self.tree.compact_range(None, None, &options)?)
    }

    fn compact(&mut self) -> Result<()> {
        Ok(self.tree.compact_range(None, None, &CompactRangeOptions::default())?)
    }

    fn data_len(&self) -> Result<u64> {
        directory_len(&self.tables).context("surrealkv keeps its tables elsewhere")
    }

    fn state(&self) -> Result<String> {
        let tables = std::fs::read_dir(&self.tables)?.count();
        Ok(format!("{tables} tables, {:.0} MiB", mib(self.data_len()?)))
    }
}
