//! The open manifest: the current state, appending to the file, rewriting it.

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::{Mutex, RwLock};
use rowhouse_model::{Error, ErrorKind, Result};

use super::read::{COPY_PATH, ManifestAge, PATH, read};
use super::record::{FileHeader, LEN_END, LEN_SYNCED};
use super::{Edit, LogSynced, ManifestState};
use crate::disk::{Disk, DiskFile};
use crate::layout::{FILES_DIR, WAL_DIR};

const NEW_PATH: &str = "MANIFEST.new";
const COPY_NEW_PATH: &str = "MANIFEST.copy.new";

/// The file is rewritten at this multiple of the length after the last rewrite, but not below
/// [`HISTORY_BYTES_MIN`].
const HISTORY_FACTOR: u64 = 4;
const HISTORY_BYTES_MIN: u64 = 1 << 20;

/// The open manifest: the current state and the edit log.
pub(crate) struct Manifest {
    disk: Arc<dyn Disk>,
    boot_id: [u8; 16],
    state: RwLock<Arc<ManifestState>>,
    next_id: AtomicU64,
    /// Files removed by edits, according to the manifest that was read.
    gone: BTreeSet<u64>,
    /// The age that was read.
    age: ManifestAge,
    /// Held while appending. Readers of the state do not wait for the disk.
    log: Mutex<Option<Log>>,
}

struct Log {
    file: Arc<dyn DiskFile>,
    /// The copy, with the same bytes; `None` once it could not be written, until both files are
    /// rewritten.
    copy: Option<Arc<dyn DiskFile>>,
    header: FileHeader,
    /// The edits in the file.
    edits: u64,
    len: u64,
    /// The length at which the file is rewritten.
    len_max: u64,
    failed: bool,
}

impl Manifest {
    /// Reads the manifest, or starts one with the edits from `create` when there is none. Writes
    /// nothing before [`Manifest::begin`] or the first edit.
    ///
    /// # Errors
    /// Damage, with the offset; an edit from a newer version.
    pub(crate) fn open(
        disk: &Arc<dyn Disk>,
        boot_id: [u8; 16],
        create: impl FnOnce() -> Vec<Edit>,
    ) -> Result<Self> {
        let (state, gone, age) = match read(&**disk, boot_id)? {
            Some(whole) => {
                for wrong in &whole.wrong {
                    tracing::warn!(%wrong, "one copy of the manifest is damaged and will be \
                                            written again");
                }
                (whole.state, whole.gone, whole.age)
            }
            None => {
                check_empty(&**disk)?;
                let mut state = ManifestState::default();
                create().iter().try_for_each(|edit| state.apply(edit))?;
                (state, BTreeSet::new(), ManifestAge::default())
            }
        };
        Ok(Self {
            disk: Arc::clone(disk),
            boot_id,
            next_id: AtomicU64::new(state.next_id()),
            gone,
            age,
            state: RwLock::new(Arc::new(state)),
            log: Mutex::new(None),
        })
    }

    /// Returns true if an edit removed a file, so that the remains can be deleted.
    pub(crate) fn is_gone(&self, file_id: u64) -> bool {
        self.gone.contains(&file_id)
    }

    /// Returns the age that the manifest had when it was read.
    pub(crate) fn age_read(&self) -> ManifestAge {
        self.age
    }

    /// Returns the current state.
    pub(crate) fn state(&self) -> Arc<ManifestState> {
        Arc::clone(&self.state.read())
    }

    /// Runs `look` on the current state.
    pub(crate) fn read<T>(&self, look: impl FnOnce(&ManifestState) -> T) -> T {
        look(&self.state())
    }

    /// Returns an id that was never assigned. An id is used up when an edit names it. One that no
    /// edit names before the process ends is assigned again, so everything under that id must be
    /// gone by then.
    pub(crate) fn next_id(&self) -> u64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    /// Rewrites the file as the current state, for a log that was recovered, whose segments are on
    /// the disk up to `end`: segments after it, which are empty, are about to be removed.
    pub(crate) fn begin(&self, end: Option<LogSynced>) -> Result<ManifestAge> {
        let mut log = self.log.lock();
        let mut state = ManifestState::clone(&self.state());
        state.log_segment = None;
        state.log_synced = end;
        let generation = log.as_ref().map_or(self.age.generation, |log| log.header.generation) + 1;
        let new = self.rewritten(generation, &state)?;
        *self.state.write() = Arc::new(state);
        Ok(log.insert(new).age())
    }

    fn rewritten(&self, generation: u32, state: &ManifestState) -> Result<Log> {
        rewrite(&*self.disk, FileHeader::new(self.boot_id, generation), state)
            .and_then(|new| new.name(&*self.disk))
            .map_err(|source| Error::io("cannot rewrite MANIFEST", source))
    }

    fn get_or_start<'a>(&self, log: &'a mut Option<Log>) -> Result<&'a mut Log> {
        let log = match log {
            Some(log) => log,
            None => log.insert(self.rewritten(self.age.generation + 1, &self.state())?),
        };
        if log.failed { Err(failed_before()) } else { Ok(log) }
    }

    /// Returns an error when an earlier append failed for good.
    pub(crate) fn check_writable(&self) -> Result<()> {
        let failed = self.log.lock().as_ref().is_some_and(|log| log.failed);
        if failed { Err(failed_before()) } else { Ok(()) }
    }

    /// Applies `edit`. It is on disk when this returns, and the manifest has the returned age.
    ///
    /// # Errors
    /// `Io` when the edit could not be written. It is then not applied and may be retried. If the
    /// failed write could also not be undone or the sync failed, [`Manifest::check_writable`]
    /// reports it, every later edit is refused as `ReadOnly`, and the disk contents are unknown
    /// until the store is reopened.
    pub(crate) fn append(&self, edit: &Edit) -> Result<ManifestAge> {
        let mut log = self.log.lock();
        let log = self.get_or_start(&mut log)?;
        let mut state = ManifestState::clone(&self.state());
        state.apply(edit)?;
        log.append(&*self.disk, edit)
            .map_err(|source| Error::io("cannot append to MANIFEST", source))?;
        let state = Arc::new(state);
        *self.state.write() = Arc::clone(&state);
        if log.len > log.len_max {
            self.shorten(log, &state);
        }
        Ok(log.age())
    }

    /// Rewrites the file as the current state. The old file is equivalent, so a failure before the
    /// new one has its name only postpones the rewrite.
    fn shorten(&self, log: &mut Log, state: &ManifestState) {
        let header = FileHeader::new(self.boot_id, log.header.generation + 1);
        let new = match rewrite(&*self.disk, header, state) {
            Ok(new) => new,
            Err(error) => {
                tracing::warn!(%error, "MANIFEST could not be shortened");
                log.len_max = log.len * 2;
                return;
            }
        };
        match new.name(&*self.disk) {
            Ok(new) => *log = new,
            Err(error) => {
                tracing::error!(%error, "MANIFEST could not be replaced; reopen the store");
                log.failed = true;
            }
        }
    }
}

impl Log {
    fn age(&self) -> ManifestAge {
        ManifestAge { generation: self.header.generation, edits: self.edits }
    }

    fn append(&mut self, disk: &dyn Disk, edit: &Edit) -> io::Result<()> {
        let mut bytes = Vec::new();
        self.header.put_edit(&mut bytes, self.len, edit);
        let end = self.len + bytes.len() as u64;
        self.header.put_end(&mut bytes, end, LEN_END);
        if let Err(error) = self.file.write_all_at(&bytes, self.len) {
            // The whole edit may have been written, and the next open would apply it.
            self.failed = self.take_back().is_err();
            return Err(error);
        }
        if let Err(error) = self.file.sync().and_then(|()| disk.check_in_place()) {
            self.failed = true;
            return Err(error);
        }
        let mut synced = Vec::new();
        self.header.put_end(&mut synced, end, LEN_SYNCED);
        // If a power cut takes this mark, recovery only knows less.
        let _ = self.file.write_all_at(&synced, end);
        self.append_to_copy(disk, &bytes);
        if let Some(copy) = &self.copy {
            let _ = copy.write_all_at(&synced, end);
        }
        self.len = end;
        self.edits += 1;
        Ok(())
    }

    /// Appends the same bytes to the copy. A copy that cannot be written is removed: it must not
    /// lack an acknowledged edit.
    fn append_to_copy(&mut self, disk: &dyn Disk, bytes: &[u8]) {
        let Some(copy) = &self.copy else { return };
        if let Err(error) = copy.write_all_at(bytes, self.len).and_then(|()| copy.sync()) {
            tracing::error!(%error, "{COPY_PATH} could not be written; there is no copy until reopening");
            self.drop_copy(disk);
        }
    }

    fn drop_copy(&mut self, disk: &dyn Disk) {
        self.copy = None;
        if let Err(error) = remove(disk, COPY_PATH).and_then(|()| disk.sync_dir("")) {
            tracing::error!(%error, "{COPY_PATH} cannot be removed; reopen the store");
            self.failed = true;
        }
    }

    /// Restores the file's end from before a failed write.
    fn take_back(&self) -> io::Result<()> {
        let mut end = Vec::new();
        self.header.put_end(&mut end, self.len, LEN_SYNCED);
        self.file.truncate(self.len)?;
        self.file.write_all_at(&end, self.len)?;
        self.file.sync()
    }

    /// Renames a new manifest and its copy over the old ones.
    fn name(mut self, disk: &dyn Disk) -> io::Result<Self> {
        disk.rename(NEW_PATH, PATH)?;
        disk.sync_dir("")?;
        // Until then the old copy holds the same state in more edits.
        let copied = disk.rename(COPY_NEW_PATH, COPY_PATH).and_then(|()| disk.sync_dir(""));
        if let Err(error) = copied {
            tracing::error!(%error, "{COPY_PATH} could not be replaced; there is no copy until reopening");
            self.drop_copy(disk);
        }
        Ok(self)
    }
}

/// Writes and syncs the first manifest in a directory, with the contents of `state`.
///
/// # Errors
/// `Io`.
pub(crate) fn write(disk: &dyn Disk, boot_id: [u8; 16], state: &ManifestState) -> Result<()> {
    let written = rewrite(disk, FileHeader::new(boot_id, 1), state).and_then(|new| new.name(disk));
    written.map(|_| ()).map_err(|source| Error::io("cannot write MANIFEST", source))
}

/// Writes the current state to two files with temporary names.
fn rewrite(disk: &dyn Disk, header: FileHeader, state: &ManifestState) -> io::Result<Log> {
    let mut bytes = header.encode();
    let edits = state.to_edits();
    for edit in &edits {
        let at = bytes.len() as u64;
        header.put_edit(&mut bytes, at, edit);
    }
    let len = bytes.len() as u64;
    header.put_end(&mut bytes, len, LEN_SYNCED);
    let write = |path| {
        remove(disk, path)?;
        let file = disk.create(path)?;
        file.write_all_at(&bytes, 0)?;
        file.sync()?;
        Ok::<_, io::Error>(file)
    };
    let file = write(NEW_PATH)?;
    let copy = Some(write(COPY_NEW_PATH)?);
    let len_max = (len * HISTORY_FACTOR).max(HISTORY_BYTES_MIN);
    let edits = edits.len() as u64;
    Ok(Log { file, copy, header, edits, len, len_max, failed: false })
}

/// Removes a file if it exists.
fn remove(disk: &dyn Disk, path: &str) -> io::Result<()> {
    match disk.remove(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

fn failed_before() -> Error {
    Error::new(ErrorKind::ReadOnly, "the manifest could not be written earlier; reopen the store")
}

/// Refuses to start a manifest in a directory that holds data: no edit would name it.
fn check_empty(disk: &dyn Disk) -> Result<()> {
    for dir in [WAL_DIR, FILES_DIR] {
        let names = disk
            .list(dir)
            .map_err(|source| Error::io(format_args!("cannot list {dir}"), source))?;
        if let Some(name) = names.first() {
            return Err(Error::corruption(format!(
                "MANIFEST is missing, and there is data: {dir}/{name}; nothing was changed"
            )));
        }
    }
    Ok(())
}
