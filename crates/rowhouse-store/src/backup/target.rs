//! The directory that a copy is written to. It has a temporary name until it is complete and on
//! disk.

use std::fs::{self, DirBuilder, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use rowhouse_model::{Error, Result};

use crate::directory::{Directory, HolderState};
use crate::disk::{Disk, RealDisk};
use crate::layout::{FILES_DIR, WAL_DIR};

/// The suffix on an unfinished directory's name.
const UNFINISHED: &str = "unfinished";
/// Bytes read at once.
const BUFFER_LEN: usize = 1 << 20;

/// An unfinished directory. Removed on drop unless it was finished.
pub(super) struct Target {
    path: PathBuf,
    unfinished: PathBuf,
    is_finished: bool,
}

impl Target {
    /// Creates the directory, with the files that every store has.
    ///
    /// # Errors
    /// `InvalidRequest` if the name or the temporary name is taken; `Io`.
    pub(super) fn create(path: &Path) -> Result<Self> {
        let Some(name) = path.file_name() else {
            return Err(Error::invalid(format!("{} is not a directory name", path.display())));
        };
        let mut unfinished = name.to_owned();
        unfinished.push(".");
        unfinished.push(UNFINISHED);
        let unfinished = path.with_file_name(unfinished);
        for taken in [path, &*unfinished] {
            match fs::symlink_metadata(taken) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(source) => return Err(at("cannot read", taken, source)),
                Ok(_) => {
                    let message = format!("{} already exists", taken.display());
                    return Err(Error::invalid(message));
                }
            }
        }
        // As a data directory, but the directory above must be there: the name may be a mistake.
        let made = DirBuilder::new().mode(0o700).create(&unfinished);
        made.map_err(|source| at("cannot make", &unfinished, source))?;
        let target = Self { path: path.to_owned(), unfinished, is_finished: false };
        drop(Directory::hold(&target.unfinished, HolderState::Embedded)?);
        for dir in [WAL_DIR, FILES_DIR] {
            let path = target.unfinished.join(dir);
            fs::create_dir(&path).map_err(|source| at("cannot make", &path, source))?;
        }
        Ok(target)
    }

    /// Returns the path while it is unfinished.
    pub(super) fn dir(&self) -> &Path {
        &self.unfinished
    }

    /// Links a file from another store into this directory.
    ///
    /// # Errors
    /// `Unsupported` on another file system, or one without hard links.
    pub(super) fn link(&self, from: &Path, path: &str) -> Result<()> {
        let to = self.unfinished.join(path);
        fs::hard_link(from, &to).map_err(|source| match source.kind() {
            io::ErrorKind::CrossesDevices | io::ErrorKind::Unsupported => {
                Error::unsupported(format!(
                    "a checkpoint links to the store's files and must be on the same file system: \
                     {}, {source}",
                    self.path.display()
                ))
                .with_source(source)
            }
            _ => at("cannot link", &to, source),
        })
    }

    /// Copies a file from another store and syncs it. Reports each chunk's bytes to `copied`, whose
    /// error aborts the copy. Returns the file's length.
    pub(super) fn copy(
        &self,
        from: &Path,
        path: &str,
        mut copied: impl FnMut(u64) -> Result<()>,
    ) -> Result<u64> {
        let to = self.unfinished.join(path);
        let mut source = File::open(from).map_err(|error| at("cannot open", from, error))?;
        let mut target = File::create_new(&to).map_err(|error| at("cannot make", &to, error))?;
        let mut buffer = vec![0; BUFFER_LEN];
        let mut len = 0;
        loop {
            let read = source.read(&mut buffer).map_err(|error| at("cannot read", from, error))?;
            if read == 0 {
                break;
            }
            target.write_all(&buffer[..read]).map_err(|error| at("cannot write", &to, error))?;
            len += read as u64;
            copied(read as u64)?;
        }
        target.sync_all().map_err(|error| at("cannot write", &to, error))?;
        // Later reads should come from the disk, not from the page cache.
        #[cfg(target_os = "linux")]
        let _ = rustix::fs::fadvise(&target, 0, None, rustix::fs::Advice::DontNeed);
        Ok(len)
    }

    /// Syncs the file names.
    pub(super) fn sync(&self) -> Result<()> {
        let disk = RealDisk::new(&self.unfinished);
        [FILES_DIR, WAL_DIR, ""].into_iter().try_for_each(|dir| {
            disk.sync_dir(dir).map_err(|source| at("cannot write", &self.unfinished, source))
        })
    }

    /// Renames the directory to the final name and syncs that.
    pub(super) fn finish(mut self) -> Result<()> {
        let path = self.path.clone();
        let failed = |source| at("cannot finish", &path, source);
        fs::rename(&self.unfinished, &path).map_err(failed)?;
        self.is_finished = true;
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        let opened = File::open(parent.unwrap_or(Path::new(".")));
        opened.and_then(|dir| dir.sync_all()).map_err(failed)
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        if !self.is_finished
            && let Err(error) = fs::remove_dir_all(&self.unfinished)
        {
            tracing::warn!(dir = %self.unfinished.display(), %error, "the copied files cannot be \
                                                                      removed");
        }
    }
}

fn at(doing: &str, path: &Path, source: io::Error) -> Error {
    Error::io(format_args!("{doing} {}", path.display()), source)
}
