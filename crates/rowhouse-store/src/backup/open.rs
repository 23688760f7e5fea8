//! Copies an open store, as of one read point over all tables, to another directory.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use rowhouse_model::{BackupStatus, Error, Result};

use super::target::Target;
use super::{CopyReport, whole};
use crate::check::check;
use crate::directory;
use crate::disk::RealDisk;
use crate::flush;
use crate::layout::file_path;
use crate::manifest::{self, Edit, EditKind, LogForgotten, ManifestState};
use crate::store::Store;
use crate::store_file::StoreFile;

impl Store {
    /// Creates a store in `into`, which must not exist, with the contents of this store at one read
    /// point over all tables. The HFiles are hard links to this store's HFiles, so it costs a
    /// flush, and no disk space until compactions here replace the files. It is on disk when this
    /// returns. Concurrent reads and writes continue.
    ///
    /// # Errors
    /// `InvalidRequest` if `into` exists; `Unsupported` if it is on another file system, or this
    /// store is on a disk passed to the builder; `Io`.
    pub fn checkpoint(&self, into: impl AsRef<Path>) -> Result<CopyReport> {
        let from = self.path()?;
        let target = Target::create(into.as_ref())?;
        let pinned = PinnedState::hold(self)?;
        for file in pinned.files.values() {
            let path = file_path(file.id());
            target.link(&from.join(&path), &path)?;
        }
        pinned.name(self, &target)?;
        target.finish()?;
        Ok(pinned.report())
    }

    /// As [`Store::checkpoint`], with HFile copies, on any file system. All checksums in the copy
    /// are verified before the directory gets its name.
    ///
    /// # Errors
    /// `InvalidRequest` if `into` exists; `Corruption` if the copy is damaged, because the store is
    /// or because the disk returned wrong data; `Io`.
    pub fn backup(
        &self,
        into: impl AsRef<Path>,
        mut progress: impl FnMut(&BackupStatus),
    ) -> Result<BackupStatus> {
        let from = self.path()?;
        let target = Target::create(into.as_ref())?;
        let pinned = PinnedState::hold(self)?;
        let report = pinned.report();
        // Each byte is written once and read back once.
        let bytes_total = report.file_bytes * 2;
        let mut status = BackupStatus { bytes_total, ..BackupStatus::default() };
        for file in pinned.files.values() {
            let path = file_path(file.id());
            target.copy(&from.join(&path), &path, |bytes| {
                path.clone_into(&mut status.file);
                status.bytes_done += bytes;
                progress(&status);
                self.engine().check_open()
            })?;
        }
        pinned.name(self, &target)?;
        let bytes_written = status.bytes_done;
        let read_back = check(target.dir(), |checked| {
            checked.file.clone_into(&mut status.file);
            status.bytes_done = bytes_written + checked.bytes_done;
            progress(&status);
        })?;
        whole(read_back, "the backup")?;
        target.finish()?;
        Ok(BackupStatus {
            is_done: true,
            bytes_done: bytes_total,
            tables: report.tables as u64,
            snapshots: report.snapshots as u64,
            files: report.files as u64,
            file_bytes: report.file_bytes,
            ..status
        })
    }
}

/// The store at one read point, and the files, which stay while this is held.
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
        // Flushes most of the data before writers have to wait.
        families.iter().try_for_each(|family| flush::flush(engine, family))?;
        // No other flush may add a file.
        let _quiet: Vec<_> = families.iter().map(|family| family.flushing.lock()).collect();
        let last_sequence = flush::flush_all_locked(engine, &families)?;
        let _replacing = engine.replacing.lock();
        let snapshots = engine.snapshots.lock();
        let mut state = ManifestState::clone(&engine.manifest.state());
        // All log records are in files: the copy has no log.
        state.log_closed = None;
        state.log_segment = None;
        state.log_synced = None;
        let forgotten = LogForgotten { below_sequence: last_sequence + 1, first_segment: 0 };
        state.apply(&Edit::new(EditKind::LogForgotten(forgotten)))?;
        let super_versions: Vec<_> = families.iter().map(|family| family.super_version()).collect();
        let files = super_versions
            .iter()
            .flat_map(|super_version| &super_version.files)
            .chain(snapshots.files());
        let files = files.map(|file| (file.id(), Arc::clone(file))).collect();
        Ok(Self { state, files })
    }

    /// Completes the directory: syncs the file names and writes the manifest. If another directory
    /// took the store's place, the files there would be another store's.
    fn name(&self, store: &Store, target: &Target) -> Result<()> {
        store.engine().wal().check_in_place()?;
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
    /// Returns the store's directory.
    fn path(&self) -> Result<std::path::PathBuf> {
        self.directory_path().ok_or_else(|| {
            Error::unsupported("a closed store, or one on a custom disk, cannot be copied")
        })
    }
}
