//! The engines, each as an implementation of one small trait.

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

    /// Reads one cell and returns [`touch`] of its value.
    fn get(&self, row: &Row, qualifier: &Qualifier) -> Result<Option<u64>>;

    /// Reads cells in order and returns their number; `None` if the engine cannot do that.
    fn scan(&self, scan: &Scan) -> Result<Option<u64>>;

    /// Writes the contents of memory to files.
    fn flush(&self) -> Result<()>;

    /// Flushes and compacts all files as far as the engine can.
    fn compact(&mut self) -> Result<()>;

    /// Returns the bytes of the files that hold data, without logs.
    fn data_len(&self) -> Result<u64>;

    /// Returns a description of the data in memory and on disk.
    fn state(&self) -> Result<String>;
}

/// The range and direction of a scan.
pub(crate) struct Scan {
    /// The first row; `None` for everything. In a reversed scan its cells are not read.
    pub(crate) from: Option<Row>,
    /// The maximum number of cells: whole rows.
    pub(crate) cells_max: u64,
    /// Cells of a row.
    pub(crate) columns: u64,
    /// Towards the first row.
    pub(crate) reversed: bool,
}

/// Options for opening an engine.
#[derive(Clone, Copy, Default)]
pub(crate) struct Options {
    /// Bytes of the block cache; the engine's default when not given.
    pub(crate) cache_len: Option<u64>,
    /// Bytes of cells in memory that trigger a flush; the engine's default when not given.
    pub(crate) memory_len: Option<u64>,
    /// Whether files are compressed with LZ4.
    pub(crate) lz4: bool,
    /// Whether a write is on the disk before it is acknowledged.
    pub(crate) synced: bool,
    /// Whether a table is split into regions as it grows; the others have no regions.
    pub(crate) split: bool,
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

    /// Opens the engine's files in `dir`, or creates them; `None` if it does not support the options.
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

/// Reads a value, so that no engine can skip loading it.
fn touch(value: &[u8]) -> u64 {
    value.len() as u64 + u64::from(value[value.len() / 2])
}

fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}
