//! Directories for simulated stores.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use rowhouse::{Error, Result};

/// A directory for a simulated store, which is removed at the end.
pub(crate) struct ScratchDir(PathBuf);

impl ScratchDir {
    /// Creates a directory that nothing else uses.
    pub(crate) fn create() -> Result<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("rowhouse-design-{}-{number}", std::process::id());
        let dir = std::env::temp_dir().join(name);
        // Others on the machine must not read rows that are like a table's.
        DirBuilder::new()
            .mode(0o700)
            .create(&dir)
            .map_err(|source| Error::io(format_args!("cannot create {}", dir.display()), source))?;
        Ok(Self(dir))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for ScratchDir {
    fn drop(&mut self) {
        // Nothing is lost if it stays: it is in the folder for temporary files.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
