//! The disk as the store sees it: named files in one directory tree, read and written at
//! positions, and explicit syncs. A trait, so that tests can lose, tear and refuse what a real
//! disk only rarely does.

mod real;
#[cfg(test)]
pub(crate) mod simulated;

use std::io;
use std::sync::Arc;

pub use real::RealDisk;

/// A tree of files. Paths are relative to its root, with `/` between parts.
pub trait Disk: Send + Sync + 'static {
    /// Makes a file that must not exist yet.
    fn create(&self, path: &str) -> io::Result<Arc<dyn DiskFile>>;
    /// Opens a file for reading and writing.
    fn open(&self, path: &str) -> io::Result<Arc<dyn DiskFile>>;
    /// The names in a directory, sorted.
    fn list(&self, dir: &str) -> io::Result<Vec<String>>;
    /// Makes a directory and its parents; fine if it exists.
    fn create_dir(&self, dir: &str) -> io::Result<()>;
    /// Gives a file another name, replacing what has that name.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, path: &str) -> io::Result<()>;
    /// Makes names made, changed and removed in a directory survive a power cut.
    fn sync_dir(&self, dir: &str) -> io::Result<()>;
    /// Bytes that files can still gain; `u64::MAX` where there is no limit.
    fn available_bytes(&self) -> io::Result<u64>;
}

/// An open file.
#[expect(clippy::len_without_is_empty, reason = "nobody asks a file that")]
pub trait DiskFile: Send + Sync + 'static {
    /// Its length in bytes.
    fn len(&self) -> io::Result<u64>;
    /// Fills `buffer` from `offset`; an error when the file ends before.
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()>;
    /// Writes all of `bytes` at `offset`.
    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;
    /// Makes what was written survive a power cut.
    fn sync(&self) -> io::Result<()>;
    /// Cuts the file to `len` bytes.
    fn truncate(&self, len: u64) -> io::Result<()>;
}
