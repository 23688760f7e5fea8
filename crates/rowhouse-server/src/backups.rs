//! Backups that clients request: one at a time, on a dedicated thread, and only into one configured
//! directory.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use rowhouse_format::convert::procedure::backup::BackupCall;
use rowhouse_model::{BackupStatus, Error, ErrorKind, Result};
use rowhouse_store::Store;

/// The directory for backups and the most recent backup job.
#[derive(Default)]
pub(crate) struct Backups {
    dir: Option<PathBuf>,
    last: Mutex<Option<Job>>,
}

struct Job {
    call: BackupCall,
    status: BackupStatus,
    /// The error it failed with.
    failed: Option<Error>,
}

impl Job {
    fn is_running(&self) -> bool {
        !self.status.is_done && self.failed.is_none()
    }
}

impl Backups {
    /// Creates the backup service; backups are written into `dir`, or refused if it is `None`.
    pub(crate) fn new(dir: Option<PathBuf>) -> Self {
        Self { dir, last: Mutex::default() }
    }

    /// Returns true if a backup is under way.
    pub(crate) fn is_running(&self) -> bool {
        self.last.lock().as_ref().is_some_and(Job::is_running)
    }

    /// Starts a backup. Repeating the last call starts no second one.
    ///
    /// # Errors
    /// `Unsupported` if the server was given no backup directory; `InvalidRequest` if the path is
    /// not directly inside that directory; `InUse` while another backup is under way.
    pub(crate) fn begin(self: &Arc<Self>, store: &Store, call: BackupCall) -> Result<()> {
        let path = self.path_of(&call.into)?;
        let mut last = self.last.lock();
        match &*last {
            Some(job) if job.call == call => return Ok(()),
            Some(job) if job.is_running() => {
                let message = format!("another backup is running: into={}", job.call.into);
                return Err(Error::new(ErrorKind::InUse, message));
            }
            _ => {}
        }
        let backups = Arc::clone(self);
        let store = store.clone();
        std::thread::Builder::new()
            .name("rowhouse-backup".to_owned())
            .spawn(move || backups.make(&store, &path))
            .map_err(|source| Error::io("cannot start a thread", source))?;
        *last = Some(Job { call, status: BackupStatus::default(), failed: None });
        Ok(())
    }

    /// Returns a backup's progress.
    ///
    /// # Errors
    /// The error that the backup failed with; `InvalidRequest` for an unknown backup.
    pub(crate) fn status(&self, call: &BackupCall) -> Result<BackupStatus> {
        let last = self.last.lock();
        let Some(job) = last.as_ref().filter(|job| job.call == *call) else {
            let message = format!("unknown backup: into={}", call.into);
            return Err(Error::invalid(message));
        };
        match &job.failed {
            Some(error) => Err(error.clone()),
            None => Ok(job.status.clone()),
        }
    }

    fn make(&self, store: &Store, path: &Path) {
        let made = store.backup(path, |status| self.note(|job| job.status.clone_from(status)));
        match &made {
            Ok(_) => tracing::info!(path = %path.display(), "backup made"),
            Err(error) => tracing::error!(path = %path.display(), %error, "a backup failed"),
        }
        self.note(|job| match made {
            Ok(status) => job.status = status,
            Err(error) => job.failed = Some(error),
        });
    }

    fn note(&self, change: impl FnOnce(&mut Job)) {
        if let Some(job) = &mut *self.last.lock() {
            change(job);
        }
    }

    /// Returns a backup's path, given as a name inside the backup directory or as a full path.
    fn path_of(&self, into: &str) -> Result<PathBuf> {
        let Some(dir) = &self.dir else {
            return Err(Error::unsupported(
                "backups are off on this server: start it with --backups DIR",
            ));
        };
        let refused = || {
            Error::invalid(format!(
                "a backup must be directly in the server's backup directory: into={into}, \
                 directory={}",
                dir.display()
            ))
        };
        let path = Path::new(into);
        let Some(Component::Normal(name)) = path.components().next_back() else {
            return Err(refused());
        };
        if path.components().count() > 1 {
            let parent = path.parent().unwrap_or(Path::new("")).canonicalize();
            if !path.is_absolute() || parent.ok() != dir.canonicalize().ok() {
                return Err(refused());
            }
        }
        Ok(dir.join(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backup_goes_right_into_the_directory_and_nowhere_else() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("inner")).unwrap();
        let backups = Backups::new(Some(dir.path().to_owned()));
        let whole = dir.path().join("monday");
        for good in ["monday", whole.to_str().unwrap()] {
            assert_eq!(backups.path_of(good).unwrap(), whole, "{good}");
        }
        let inner = dir.path().join("inner/monday");
        let above = dir.path().join("inner/../../monday");
        let bad = ["", ".", "..", "/", "../monday", "inner/monday", "./../x", "/tmp/../etc/x"];
        for bad in bad.into_iter().chain([inner.to_str().unwrap(), above.to_str().unwrap()]) {
            assert!(backups.path_of(bad).is_err(), "{bad}");
        }
        let none = Backups::default().path_of("monday").unwrap_err();
        assert_eq!(none.kind(), ErrorKind::Unsupported);
    }
}
