//! A disk in an operating system directory.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use rustix::fs::{AtFlags, Dir, Mode, OFlags};
use rustix::io::Errno;

use super::{Disk, DiskFile};

/// A [`Disk`] in a directory. The directory is held open from the first use on, and all paths are
/// relative to it: nothing is ever created in another directory that has taken the same place.
#[derive(Clone, Debug)]
pub struct RealDisk {
    path: PathBuf,
    /// Opens files read-only, as on a read-only mount.
    read_only: bool,
    root: Arc<OnceLock<Held>>,
    /// Names that must keep their files.
    watched: Arc<Mutex<Vec<(String, Held)>>>,
}

/// A file that is held open, so that no other one can have the same number.
#[derive(Debug)]
struct Held {
    file: File,
    device: u64,
    inode: u64,
}

impl Held {
    fn new(file: File) -> io::Result<Self> {
        let metadata = file.metadata()?;
        Ok(Self { file, device: metadata.dev(), inode: metadata.ino() })
    }

    /// Returns an error if another file, or none, is at `path`.
    fn check_is_at(&self, path: &Path) -> io::Result<()> {
        match fs::metadata(path) {
            Ok(metadata) if (metadata.dev(), metadata.ino()) == (self.device, self.inode) => Ok(()),
            // Not a sign that it was removed.
            Err(error) if !is_missing(&error) => Ok(()),
            _ => Err(io::Error::new(
                io::ErrorKind::NotFound,
                format!("{} was removed or replaced", path.display()),
            )),
        }
    }
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

impl RealDisk {
    /// Returns the tree below `root`.
    pub fn new(root: impl AsRef<Path>) -> Self {
        let root = root.as_ref();
        // The process may change the working directory.
        let path = std::path::absolute(root).unwrap_or_else(|_| root.to_owned());
        Self { path, read_only: false, root: Arc::default(), watched: Arc::default() }
    }

    /// Returns the tree below `root`, for reading only.
    pub(crate) fn read_only(root: impl AsRef<Path>) -> Self {
        Self { read_only: true, ..Self::new(root) }
    }

    /// Makes [`Disk::check_in_place`] fail once `name` is another file or directory than now.
    pub(crate) fn watch(&self, name: &str) -> io::Result<()> {
        let held = Held::new(self.open_at(name, OFlags::RDONLY)?)?;
        self.watched.lock().push((name.to_owned(), held));
        Ok(())
    }

    fn root(&self) -> io::Result<&File> {
        if self.root.get().is_none() {
            // Another thread may have opened it in the meantime.
            let _ = self.root.set(Held::new(File::open(&self.path)?)?);
        }
        Ok(&self.root.get().expect("it was opened above").file)
    }

    fn open_at(&self, path: &str, flags: OFlags) -> io::Result<File> {
        let root = self.root()?;
        let path = if path.is_empty() { "." } else { path };
        let mode = Mode::from_raw_mode(0o666);
        let open = || rustix::fs::openat(root, path, flags | OFlags::CLOEXEC, mode);
        Ok(File::from(rustix::io::retry_on_intr(open)?))
    }
}

impl Disk for RealDisk {
    fn create(&self, path: &str) -> io::Result<Arc<dyn DiskFile>> {
        let file = self.open_at(path, OFlags::RDWR | OFlags::CREATE | OFlags::EXCL)?;
        Ok(Arc::new(RealFile(file)))
    }

    fn open(&self, path: &str) -> io::Result<Arc<dyn DiskFile>> {
        let flags = if self.read_only { OFlags::RDONLY } else { OFlags::RDWR };
        Ok(Arc::new(RealFile(self.open_at(path, flags)?)))
    }

    fn list(&self, dir: &str) -> io::Result<Vec<String>> {
        let opened = self.open_at(dir, OFlags::RDONLY | OFlags::DIRECTORY)?;
        let mut names = Vec::new();
        for entry in Dir::new(opened)? {
            // A name that is not UTF-8 does not belong to the store.
            match entry?.file_name().to_str() {
                Ok("." | "..") | Err(_) => {}
                Ok(name) => names.push(name.to_owned()),
            }
        }
        names.sort();
        Ok(names)
    }

    fn create_dir(&self, dir: &str) -> io::Result<()> {
        let ends = dir.match_indices('/').map(|(at, _)| at).chain([dir.len()]);
        for end in ends {
            let mode = Mode::from_raw_mode(0o777);
            match rustix::fs::mkdirat(self.root()?, &dir[..end], mode) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
        }
        self.watch(dir)
    }

    fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        let root = self.root()?;
        Ok(rustix::fs::renameat(root, from, root, to)?)
    }

    fn remove(&self, path: &str) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(self.root()?, path, AtFlags::empty())?)
    }

    fn sync_dir(&self, dir: &str) -> io::Result<()> {
        self.open_at(dir, OFlags::RDONLY | OFlags::DIRECTORY)?.sync_all()
    }

    fn available_bytes(&self) -> io::Result<u64> {
        let stat = rustix::fs::fstatvfs(self.root()?)?;
        Ok(stat.f_bavail.saturating_mul(stat.f_frsize))
    }

    fn check_in_place(&self) -> io::Result<()> {
        if let Some(root) = self.root.get() {
            root.check_is_at(&self.path)?;
        }
        let watched = self.watched.lock();
        watched.iter().try_for_each(|(name, held)| held.check_is_at(&self.path.join(name)))
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
