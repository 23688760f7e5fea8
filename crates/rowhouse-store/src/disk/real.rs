//! A disk in a directory of the operating system.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Disk, DiskFile};

/// A [`Disk`] in a directory.
#[derive(Clone, Debug)]
pub struct RealDisk {
    root: PathBuf,
    /// Opens files read-only, as on a read-only mount.
    read_only: bool,
}

impl RealDisk {
    /// Returns the tree below `root`.
    pub fn new(root: impl AsRef<Path>) -> Self {
        Self { root: root.as_ref().to_owned(), read_only: false }
    }

    /// Returns the tree below `root`, for reading only.
    pub(crate) fn read_only(root: impl AsRef<Path>) -> Self {
        Self { root: root.as_ref().to_owned(), read_only: true }
    }
}

impl Disk for RealDisk {
    fn create(&self, path: &str) -> io::Result<Arc<dyn DiskFile>> {
        let path = self.root.join(path);
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(path)?;
        Ok(Arc::new(RealFile(file)))
    }

    fn open(&self, path: &str) -> io::Result<Arc<dyn DiskFile>> {
        let mut options = OpenOptions::new();
        options.read(true).write(!self.read_only);
        let file = options.open(self.root.join(path))?;
        Ok(Arc::new(RealFile(file)))
    }

    fn list(&self, dir: &str) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(self.root.join(dir))? {
            // A name that is not UTF-8 is not one of the store's.
            if let Ok(name) = entry?.file_name().into_string() {
                names.push(name);
            }
        }
        names.sort();
        Ok(names)
    }

    fn create_dir(&self, dir: &str) -> io::Result<()> {
        fs::create_dir_all(self.root.join(dir))
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        fs::rename(self.root.join(from), self.root.join(to))
    }

    fn remove(&self, path: &str) -> io::Result<()> {
        fs::remove_file(self.root.join(path))
    }

    fn sync_dir(&self, dir: &str) -> io::Result<()> {
        File::open(self.root.join(dir))?.sync_all()
    }

    fn available_bytes(&self) -> io::Result<u64> {
        let stat = rustix::fs::statvfs(&self.root)?;
        Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
    }
}

struct RealFile(File);

impl DiskFile for RealFile {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.metadata()?.len())
    }

    fn read_exact_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<()> {
        self.0.read_exact_at(buffer, offset)
    }

    fn write_all_at(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.0.write_all_at(bytes, offset)
    }

    fn sync(&self) -> io::Result<()> {
        self.0.sync_data()
    }

    fn truncate(&self, len: u64) -> io::Result<()> {
        self.0.set_len(len)
    }
}
