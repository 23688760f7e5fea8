//! An HFile anywhere on the disk, of a store, of a cluster or of nobody.

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

/// An HFile at a path, open for reading. Nothing is kept in memory but what opening needs.
///
/// Errors name the file and the place in it.
#[derive(Debug)]
pub struct HFile {
    path: PathBuf,
    file: File,
    meta: FileMeta,
}

impl HFile {
    /// Opens the file at `path`: reads its trailer and what every reader needs.
    ///
    /// # Errors
    /// `Io` for a file that cannot be read, `Corruption` for one that is damaged or no HFile, `Unsupported` for one
    /// of another version, encrypted, or in an encoding or compression that is not read.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self> {
        let path = path.into();
        let io = |doing: &str, source| {
            Error::io(format_args!("cannot {doing} {}", path.display()), source)
        };
        let file = File::open(&path).map_err(|source| io("open", source))?;
        let found = file.metadata().map_err(|source| io("read", source))?;
        if !found.is_file() {
            return Err(Error::invalid(format!("{} is no file", path.display())));
        }
        let len = found.len();
        let meta = read_meta(&path, &file, len).map_err(|error| named(&path, error))?;
        Ok(Self { path, file, meta })
    }

    /// Where the file is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the file says of itself.
    pub fn meta(&self) -> &FileMeta {
        &self.meta
    }

    /// The cells from the first one at or behind `key` on.
    ///
    /// # Errors
    /// What cannot be read on the way there.
    pub fn cells_from(&self, key: &Key<'_>) -> Result<HFileCells<'_>> {
        HFileCells::open(self, key)
    }

    /// All cells.
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

    /// The bytes of a block, which an index keeps in front of the end of all blocks.
    fn read_block(&self, handle: &BlockHandle) -> Result<Bytes> {
        read(&self.path, &self.file, handle.offset, handle.len as usize)
    }
}

fn read_meta(path: &Path, file: &File, len: u64) -> Result<FileMeta> {
    let tail_len = len.min(Trailer::LEN as u64);
    let tail = read(path, file, len - tail_len, tail_len as usize)?;
    let trailer = Trailer::parse(&tail, len)?;
    let section = trailer.load_on_open();
    let section = read(path, file, section.start, (section.end - section.start) as usize)?;
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

/// An error of the format, told with the file's name.
fn named(path: &Path, error: Error) -> Error {
    Error::new(error.kind(), format!("{}: {error}", path.display())).with_source(error)
}
