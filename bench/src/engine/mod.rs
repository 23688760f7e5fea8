//! The engines, each behind one small trait.

mod fjall;
mod redb;
#[cfg(feature = "rocksdb")]
mod rocksdb;
mod rowhouse;
mod surrealkv;

use std::path::Path;

use anyhow::Result;
use clap::ValueEnum;

use crate::workload::{Cell, Qualifier, Row};

/// An open engine with one table.
pub(crate) trait Engine: Send + Sync {
    /// Writes one cell.
    fn insert(&self, cell: &Cell) -> Result<()>;

    /// Writes cells in one call.
    fn insert_batch(&self, cells: &[Cell]) -> Result<()>;

    /// Reads one cell; [`touch`] of its value.
    fn get(&self, row: &Row, qualifier: &Qualifier) -> Result<Option<u64>>;

    /// Reads cells in order and says how many; `None` when the engine cannot do that.
    fn scan(&self, scan: &Scan) -> Result<Option<u64>>;

    /// Writes what is in memory to files.
    fn flush(&self) -> Result<()>;

    /// Flushes and merges all files as far as the engine can.
    fn compact(&mut self) -> Result<()>;

    /// Bytes of the files that hold data, without logs.
    fn data_len(&self) -> Result<u64>;

    /// What is in memory and what on disk.
    fn state(&self) -> Result<String>;
}

/// What to read.
pub(crate) struct Scan {
    /// The row to begin at; everything when there is none. Backwards, its cells are not read.
    pub(crate) from: Option<Row>,
    /// At most so many cells: whole rows.
    pub(crate) cells_max: u64,
    /// Cells of a row.
    pub(crate) columns: u64,
    /// Towards the first row.
    pub(crate) reversed: bool,
}

/// How an engine is opened.
#[derive(Clone, Copy, Default)]
pub(crate) struct Options {
    /// Bytes of the block cache; the engine's default when not given.
    pub(crate) cache_len: Option<u64>,
    /// Bytes of cells that may wait in memory for a flush; the engine's default when not given.
    pub(crate) memory_len: Option<u64>,
    /// Whether files are compressed with LZ4.
    pub(crate) lz4: bool,
    /// Whether a write is on the disk before it is acknowledged.
    pub(crate) synced: bool,
}

/// The name of an engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub(crate) enum EngineName {
    Rowhouse,
    Fjall,
    Redb,
    Surrealkv,
    #[cfg(feature = "rocksdb")]
    Rocksdb,
}

impl EngineName {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Rowhouse => "rowhouse",
            Self::Fjall => "fjall",
            Self::Redb => "redb",
            Self::Surrealkv => "surrealkv",
            #[cfg(feature = "rocksdb")]
            Self::Rocksdb => "rocksdb",
        }
    }

    /// Makes the engine's files in `dir`; `None` when it cannot do what the options ask.
    pub(crate) fn open(self, dir: &Path, options: &Options) -> Result<Option<Box<dyn Engine>>> {
        match self {
            Self::Rowhouse => rowhouse::open(dir, options),
            Self::Fjall => fjall::open(dir, options),
            Self::Redb => redb::open(dir, options),
            Self::Surrealkv => surrealkv::open(dir, options),
            #[cfg(feature = "rocksdb")]
            Self::Rocksdb => rocksdb::open(dir, options),
        }
    }
}

/// Looks at a value, so that nobody gets away without reading it.
fn touch(value: &[u8]) -> u64 {
    value.len() as u64 + u64::from(value[value.len() / 2])
}

fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}
