//! A store that is open, as it is at one moment over all tables, in another directory.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use rowhouse_model::{Error, Result};

use super::target::Target;
use super::{CopyReport, whole};
use crate::check::{Progress, check};
use crate::directory;
use crate::disk::RealDisk;
use crate::flush;
use crate::manifest::{self, Edit, EditKind, LogForgotten, ManifestState};
use crate::store::Store;
use crate::store_file::{self, StoreFile};

impl Store {
    /// Makes a store in `into`, which must not be there, that holds what this one does at this moment, over all tables.
    /// Its HFiles are those of this store by another name (hard links), so it costs a flush and no room until merges here
    /// write files anew. It is on the disk when this returns. Whoever reads and writes goes on.
    ///
    /// # Errors
    /// `InvalidRequest` where `into` is there; `Unsupported` where it is on another file system, or the store is on a disk of
    /// its own; `Io`.
    pub fn checkpoint(&self, into: impl AsRef<Path>) -> Result<CopyReport> {
        let from = self.path()?;
        let target = Target::create(into.as_ref())?;
        let pinned = PinnedState::hold(self)?;
        for file in pinned.files.values() {
            let path = store_file::path(file.id());
            target.link(&from.join(&path), &path)?;
        }
        pinned.name(&target)?;
        target.finish()?;
        Ok(pinned.report())
    }

    /// The same with copies of the HFiles, on any file system. What was written is read back, every checksum of it, before
    /// the directory gets its name.
    ///
    /// # Errors
    /// `InvalidRequest` where `into` is there; `Corruption` where the copy is not whole, since the store is not or the disk
    /// lies; `Io`.
    pub fn backup(
        &self,
        into: impl AsRef<Path>,
        mut progress: impl FnMut(Progress<'_>),
    ) -> Result<CopyReport> {
        let from = self.path()?;
        let target = Target::create(into.as_ref())?;
        let pinned = PinnedState::hold(self)?;
        let report = pinned.report();
        // Each byte is written once and read back once.
        let total = report.file_bytes * 2;
        let mut done = 0;
        for file in pinned.files.values() {
            let path = store_file::path(file.id());
            target.copy(&from.join(&path), &path, |bytes| {
                done += bytes;
                progress(Progress::new(&path, done, total));
                self.engine().check_open()
            })?;
        }
        pinned.name(&target)?;
        let read_back = check(target.dir(), |checked| {
            progress(Progress::new(checked.file, done + checked.bytes_done, total));
        })?;
        whole(read_back, "the backup")?;
        target.finish()?;
        Ok(report)
    }
}

/// The store at one moment, and its files, which stay as long as this is held.
struct PinnedState {
    state: ManifestState,
    files: BTreeMap<u64, Arc<StoreFile>>,
}

impl PinnedState {
    fn hold(store: &Store) -> Result<Self> {
        let _changing = store.changing();
        let engine = store.engine();
        engine.check_open()?;
        let families: Vec<_> = engine.families.read().values().cloned().collect();
        // Most of what is in memory, before others have to wait.
        families.iter().try_for_each(|family| flush::flush(engine, family))?;
        // No file comes but those of the one moment.
        let _quiet: Vec<_> = families.iter().map(|family| family.flushing.lock()).collect();
        let last_sequence = flush::flush_all_locked(engine, &families)?;
        let _replacing = engine.replacing.lock();
        let snapshots = engine.snapshots.lock();
        let mut state = ManifestState::clone(&engine.manifest.state());
        // All of the log is in files: the copy has none.
        state.log_closed = None;
        state.log_segment = None;
        let forgotten = LogForgotten { below_sequence: last_sequence + 1, first_segment: 0 };
        state.apply(&Edit::new(EditKind::LogForgotten(forgotten)))?;
        let super_version: Vec<_> = families.iter().map(|family| family.super_version()).collect();
        let files = super_version
            .iter()
            .flat_map(|super_version| &super_version.files)
            .chain(snapshots.files());
        let files = files.map(|file| (file.id(), Arc::clone(file))).collect();
        Ok(Self { state, files })
    }

    /// Has the store in `target` be this one.
    fn name(&self, target: &Target) -> Result<()> {
        target.sync()?;
        let disk = RealDisk::new(target.dir());
        manifest::write(&disk, directory::boot_id(), &self.state)
    }

    fn report(&self) -> CopyReport {
        CopyReport {
            tables: self.state.tables.len(),
            snapshots: self.state.snapshots.len(),
            files: self.files.len(),
            file_bytes: self.files.values().map(|file| file.len()).sum(),
            log_bytes: 0,
        }
    }
}

impl Store {
    /// The directory that it is in.
    fn path(&self) -> Result<std::path::PathBuf> {
        self.directory_path().ok_or_else(|| {
            Error::unsupported("a store that is closed, or on a disk of its own, cannot be copied")
        })
    }
}
