//! The store's interface to the disk: named files in one directory tree, positioned reads and
//! writes, and explicit syncs. A trait, so that tests can lose, tear and refuse writes, which a
//! real disk rarely does.

mod real;
#[cfg(test)]
pub(crate) mod simulated;

use std::io;
use std::sync::Arc;

pub use real::RealDisk;

/// A file tree. Paths are relative to the root, with `/` between parts.
pub trait Disk: Send + Sync + 'static {
    /// Creates a file, which must not exist yet.
    fn create(&self, path: &str) -> io::Result<Arc<dyn DiskFile>>;
    /// Opens a file for reading and writing.
    fn open(&self, path: &str) -> io::Result<Arc<dyn DiskFile>>;
    /// Returns the names in a directory, sorted.
    fn list(&self, dir: &str) -> io::Result<Vec<String>>;
    /// Creates a directory and the parents; succeeds if it exists.
    fn create_dir(&self, dir: &str) -> io::Result<()>;
    /// Renames a file, replacing a file that has the new name.
    fn rename(&self, from: &str, to: &str) -> io::Result<()>;
    /// Removes a file.
    fn remove(&self, path: &str) -> io::Result<()>;
    /// Makes added, changed and removed names in a directory survive a power cut.
    fn sync_dir(&self, dir: &str) -> io::Result<()>;
    /// Returns the bytes that files can still gain; `u64::MAX` if there is no limit.
    fn available_bytes(&self) -> io::Result<u64>;
    /// Returns an error if the tree, or a directory that [`Disk::create_dir`] created, is no longer
    /// where it was opened: it was removed, moved, or another one has taken the place. The store
    /// then takes no more writes. Called once a second while there are writes, and after each
    /// manifest edit. By default a tree cannot be moved.
    fn check_in_place(&self) -> io::Result<()> {
        Ok(())
    }
}

/// An open file.
#[expect(clippy::len_without_is_empty, reason = "nobody asks a file that")]
pub trait DiskFile: Send + Sync + 'static {
    /// Returns the file's length in bytes.
    fn len(&self) -> io::Result<u64>;
    /// Fills `buffer` from `offset`; returns an error when the file ends before that.
    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()>;
    /// Writes all of `bytes` at `offset`.
    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()>;
    /// Makes written data survive a power cut.
    fn sync(&self) -> io::Result<()>;
    /// Cuts the file to `len` bytes.
    fn truncate(&self, len: u64) -> io::Result<()>;
}
