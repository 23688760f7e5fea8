//! An HFile anywhere on the disk: from a store, from a cluster, or from neither.

mod blocks;
mod cells;

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rowhouse_format::hfile::{BlockHandle, DataBlock, FileMeta, Index, Trailer};
use rowhouse_model::{Bytes, Error, Key, Result};

pub use blocks::BlockFacts;
pub use cells::HFileCells;

/// An HFile at a path, open for reading. Keeps only the file's metadata in memory.
///
/// Errors name the file and the offset in it.
#[derive(Debug)]
pub struct HFile {
    path: PathBuf,
    file: File,
    meta: FileMeta,
}

impl HFile {
    /// Opens the file at `path`: reads the trailer and the metadata that every reader needs.
    ///
    /// # Errors
    /// `Io` for a failed read, `Corruption` for a file that is damaged or not an HFile,
    /// `Unsupported` for a file with another version, with encryption, or with an unsupported
    /// encoding or compression.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self> {
        let path = path.into();
        let io = |doing: &str, source| {
            Error::io(format_args!("cannot {doing} {}", path.display()), source)
        };
        let file = File::open(&path).map_err(|source| io("open", source))?;
        let metadata = file.metadata().map_err(|source| io("read", source))?;
        if !metadata.is_file() {
            return Err(Error::invalid(format!("{} is not a file", path.display())));
        }
        let len = metadata.len();
        let meta = read_meta(&path, &file, len).map_err(|error| named(&path, error))?;
        Ok(Self { path, file, meta })
    }

    /// Returns the file's path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the file's metadata.
    pub fn meta(&self) -> &FileMeta {
        &self.meta
    }

    /// Returns the cells from the first one at or after `key` on.
    ///
    /// # Errors
    /// `Io` and `Corruption` for blocks on the way to that cell.
    pub fn cells_from(&self, key: &Key<'_>) -> Result<HFileCells<'_>> {
        HFileCells::open(self, key)
    }

    /// Returns all cells.
    ///
    /// # Errors
    /// As [`HFile::cells_from`].
    pub fn cells(&self) -> Result<HFileCells<'_>> {
        self.cells_from(&Key::row_start(b""))
    }

    fn data_block(&self, handle: &BlockHandle) -> Result<Arc<DataBlock>> {
        let block = self.read_block(handle).and_then(|bytes| self.meta.data_block(handle, bytes));
        block.map(Arc::new).map_err(|error| named(&self.path, error))
    }

    fn index_block(&self, handle: &BlockHandle) -> Result<Arc<Index>> {
        let block = self.read_block(handle).and_then(|bytes| self.meta.index_block(handle, bytes));
        block.map(Arc::new).map_err(|error| named(&self.path, error))
    }

    /// Reads a block's bytes. The index ensures that the block lies before the end of all blocks.
    fn read_block(&self, handle: &BlockHandle) -> Result<Bytes> {
        read(&self.path, &self.file, handle.offset, handle.len as usize)
    }
}

fn read_meta(path: &Path, file: &File, len: u64) -> Result<FileMeta> {
    let tail_len = len.min(Trailer::LEN as u64);
    let tail = read(path, file, len - tail_len, tail_len as usize)?;
    let trailer = Trailer::parse(&tail, len)?;
    let range = trailer.load_on_open();
    let section = read(path, file, range.start, (range.end - range.start) as usize)?;
    FileMeta::parse(trailer, section)
}

fn read(path: &Path, file: &File, offset: u64, len: usize) -> Result<Bytes> {
    let mut bytes = vec![0; len];
    file.read_exact_at(&mut bytes, offset).map_err(|source| {
        Error::io(
            format_args!("cannot read {}, offset={offset}, len={len}", path.display()),
            source,
        )
    })?;
    Ok(bytes.into())
}

/// Adds the file's name to a format error.
fn named(path: &Path, error: Error) -> Error {
    Error::new(error.kind(), format!("{}: {error}", path.display())).with_source(error)
}
