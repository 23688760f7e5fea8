//! Files that are read again when they change.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};
use rowhouse_model::Result;

/// The content of files, which can change while a server runs.
pub(super) struct Watched<T> {
    /// What the files hold, for the log.
    what: &'static str,
    paths: Vec<PathBuf>,
    /// The content, and the stamps of the files before they were read.
    loaded: RwLock<(Arc<T>, Vec<Stamp>)>,
    /// The stamps at the last failure that was logged, until a read succeeds.
    failed: Mutex<Option<Vec<Stamp>>>,
}

/// Changes with a file's content and permissions, and with the file that a link leads to: device
/// and inode, length, times in seconds and nanoseconds; `None` for a file that is not there.
type Stamp = Option<([u64; 3], [i64; 4])>;

impl<T> Watched<T> {
    /// Reads the files for the first time.
    pub(super) fn open(
        what: &'static str,
        paths: Vec<PathBuf>,
        read: impl FnOnce() -> Result<T>,
    ) -> Result<Self> {
        // Before the files are read: a change in between is seen the next time.
        let stamps = stamps(&paths);
        let loaded = RwLock::new((Arc::new(read()?), stamps));
        Ok(Self { what, paths, loaded, failed: Mutex::default() })
    }

    /// Returns the content.
    pub(super) fn content(&self) -> Arc<T> {
        Arc::clone(&self.loaded.read().0)
    }

    /// Reads the files again; with `only_changed`, if they have changed since they were read.
    /// Returns true if there is new content. Where they are wrong the earlier content stays, and
    /// the log says why: with `only_changed` once for each change, and the next call tries again.
    pub(super) fn reload(&self, only_changed: bool, read: impl FnOnce() -> Result<T>) -> bool {
        let stamps = stamps(&self.paths);
        if only_changed && self.loaded.read().1 == stamps {
            return false;
        }
        match read() {
            Ok(content) => {
                *self.loaded.write() = (Arc::new(content), stamps);
                *self.failed.lock() = None;
                tracing::info!("{} were read again", self.what);
                true
            }
            Err(error) => {
                let reported = self.failed.lock().replace(stamps.clone());
                if !only_changed || reported != Some(stamps) {
                    tracing::error!(%error, "the new {} are wrong; the earlier ones stay", self.what);
                }
                false
            }
        }
    }
}

fn stamps(paths: &[PathBuf]) -> Vec<Stamp> {
    let stamp = |path: &PathBuf| {
        let file = fs::metadata(path).ok()?;
        let times = [file.mtime(), file.mtime_nsec(), file.ctime(), file.ctime_nsec()];
        Some(([file.dev(), file.ino(), file.len()], times))
    };
    paths.iter().map(stamp).collect()
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use rowhouse_model::Error;

    use super::*;

    #[test]
    fn changed_files_are_read_again_and_wrong_ones_are_not_taken() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        let reads = Cell::new(0);
        let read = || {
            reads.set(reads.get() + 1);
            match fs::read_to_string(&path).as_deref() {
                Ok("wrong") | Err(_) => Err(Error::invalid("wrong")),
                Ok(text) => Ok(text.to_owned()),
            }
        };
        fs::write(&path, "one").unwrap();
        let watched = Watched::open("files", vec![path.clone()], read).unwrap();
        assert!(!watched.reload(true, read));
        assert_eq!(reads.get(), 1);
        for (text, expected) in [("wrong", "one"), ("two", "two"), ("wrong", "two")] {
            fs::write(&path, text).unwrap();
            assert_eq!(watched.reload(true, read), text == expected);
            assert_eq!(*watched.content(), expected);
        }
        // Tried again until it is right.
        let before = reads.get();
        assert!(!watched.reload(true, read));
        assert_eq!(reads.get(), before + 1);
        fs::remove_file(&path).unwrap();
        assert!(!watched.reload(true, read));
        assert_eq!(*watched.content(), "two");
    }

    #[test]
    fn a_link_that_leads_to_another_file_is_a_change() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        let lead_to = |name: &str| {
            let _ = fs::remove_file(path("link"));
            std::os::unix::fs::symlink(path(name), path("link")).unwrap();
        };
        fs::write(path("one"), "1").unwrap();
        fs::write(path("two"), "2").unwrap();
        lead_to("one");
        let read = || Ok(fs::read_to_string(path("link")).unwrap());
        let watched = Watched::open("files", vec![path("link")], read).unwrap();
        lead_to("two");
        assert!(watched.reload(true, read));
        assert_eq!(*watched.content(), "2");
    }
}
