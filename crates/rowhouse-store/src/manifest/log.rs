//! The file: reading it, rewriting it, appending to it. Drawn in `docs/formats/manifest.md`.

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::{Buf, BufMut, Bytes};
use parking_lot::{Mutex, RwLock};
use prost::Message;
use rowhouse_model::{Error, ErrorKind, Result};

use super::{Edit, ManifestState};
use crate::disk::{Disk, DiskFile};
use crate::store_file::FILES_DIR;
use crate::wal::WAL_DIR;

const PATH: &str = "MANIFEST";
const NEW_PATH: &str = "MANIFEST.new";
const MAGIC: [u8; 8] = *b"ROWHMANI";
const VERSION: u32 = 2;
const FILE_HEADER_LEN: usize = 48;
const RECORD_HEADER_LEN: usize = 12;
/// In place of a record's length: nothing was written behind this.
const LEN_END: u32 = 0;
/// In place of a record's length: the same, and everything before it is on the disk.
const LEN_SYNCED: u32 = u32::MAX;

/// How long the file may become before it is rewritten as the present state: so often as long as
/// that, and at least this.
const HISTORY_FACTOR: u64 = 4;
const HISTORY_BYTES_MIN: u64 = 1 << 20;

/// The open manifest: the present state, and the log that it is read back from.
pub(crate) struct Manifest {
    disk: Arc<dyn Disk>,
    boot_id: [u8; 16],
    state: RwLock<Arc<ManifestState>>,
    next_id: AtomicU64,
    /// Files that were taken away, as the file that was read tells.
    gone: BTreeSet<u64>,
    /// Held by whoever appends; who only looks at the state does not wait for the disk.
    log: Mutex<Option<Log>>,
}

struct Log {
    file: Arc<dyn DiskFile>,
    header: FileHeader,
    len: u64,
    /// The length at which it is rewritten.
    len_max: u64,
    failed: bool,
}

/// What the file says of itself.
#[derive(Clone, Copy)]
struct FileHeader {
    /// A random number, in the checksum of every record.
    epoch: u64,
    boot_id: [u8; 16],
}

impl Manifest {
    /// Reads the manifest, or begins one with the edits of `create` when there is none. Nothing is
    /// written before [`Manifest::begin`] or the first edit.
    ///
    /// # Errors
    /// Damage, naming the offset; an edit of a newer version.
    pub(crate) fn open(
        disk: &Arc<dyn Disk>,
        boot_id: [u8; 16],
        create: impl FnOnce() -> Vec<Edit>,
    ) -> Result<Self> {
        let (state, gone) = match read_with_gone(&**disk, boot_id)? {
            Some(read) => read,
            None => {
                check_empty(&**disk)?;
                let mut state = ManifestState::default();
                create().iter().try_for_each(|edit| state.apply(edit))?;
                (state, BTreeSet::new())
            }
        };
        Ok(Self {
            disk: Arc::clone(disk),
            boot_id,
            next_id: AtomicU64::new(state.next_id()),
            gone,
            state: RwLock::new(Arc::new(state)),
            log: Mutex::new(None),
        })
    }

    /// Whether a file was taken away by an edit: what is left of it is of no use.
    pub(crate) fn is_gone(&self, file_id: u64) -> bool {
        self.gone.contains(&file_id)
    }

    /// The present state.
    pub(crate) fn state(&self) -> Arc<ManifestState> {
        Arc::clone(&self.state.read())
    }

    /// Looks at the present state.
    pub(crate) fn read<T>(&self, look: impl FnOnce(&ManifestState) -> T) -> T {
        look(&self.state())
    }

    /// An id that was never given out. It is used up when an edit names it; one that no edit
    /// names before the process ends is given out again, so whatever it named must be gone then.
    pub(crate) fn next_id(&self) -> u64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    /// Rewrites the file as the present state, to be appended to.
    pub(crate) fn begin(&self) -> Result<()> {
        self.begun(&mut self.log.lock()).map(|_| ())
    }

    fn begun<'a>(&self, log: &'a mut Option<Log>) -> Result<&'a mut Log> {
        let log = match log {
            Some(log) => log,
            None => {
                let new = rewrite(&*self.disk, self.boot_id, &self.state());
                let new = new.and_then(|new| new.name(&*self.disk));
                log.insert(new.map_err(|source| Error::io("cannot rewrite MANIFEST", source))?)
            }
        };
        if log.failed { Err(failed_before()) } else { Ok(log) }
    }

    /// Refuses when an earlier append failed for good.
    pub(crate) fn check_writable(&self) -> Result<()> {
        let failed = self.log.lock().as_ref().is_some_and(|log| log.failed);
        if failed { Err(failed_before()) } else { Ok(()) }
    }

    /// Makes `edit` true: when this returns it is on the disk.
    ///
    /// # Errors
    /// `Io` when it could not be written: then it is not true, and may be tried again. `ReadOnly`
    /// once it could not be synced: what the disk holds is not known until reopening.
    pub(crate) fn append(&self, edit: &Edit) -> Result<()> {
        let mut log = self.log.lock();
        let log = self.begun(&mut log)?;
        let mut state = ManifestState::clone(&self.state());
        state.apply(edit)?;
        log.append(edit).map_err(|source| Error::io("cannot append to MANIFEST", source))?;
        let state = Arc::new(state);
        *self.state.write() = Arc::clone(&state);
        if log.len > log.len_max {
            self.shorten(log, &state);
        }
        Ok(())
    }

    /// Rewrites the file as the present state. What it was is as good, so a failure before the new
    /// one has its name only puts it off.
    fn shorten(&self, log: &mut Log, state: &ManifestState) {
        let new = match rewrite(&*self.disk, self.boot_id, state) {
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
    fn append(&mut self, edit: &Edit) -> io::Result<()> {
        let mut bytes = Vec::new();
        put_edit(&mut bytes, &self.header, self.len, edit);
        let end = self.len + bytes.len() as u64;
        put_header(&mut bytes, &self.header, end, LEN_END, 0);
        // What a failed write left of it is overwritten by the next.
        self.file.write_all_at(&bytes, self.len)?;
        if let Err(error) = self.file.sync() {
            self.failed = true;
            return Err(error);
        }
        let mut synced = Vec::with_capacity(RECORD_HEADER_LEN);
        put_header(&mut synced, &self.header, end, LEN_SYNCED, 0);
        // Lost with the power it only makes recovery know less.
        let _ = self.file.write_all_at(&synced, end);
        self.len = end;
        Ok(())
    }

    /// Puts a new manifest in the place of the old one.
    fn name(self, disk: &dyn Disk) -> io::Result<Self> {
        disk.rename(NEW_PATH, PATH)?;
        disk.sync_dir("")?;
        Ok(self)
    }
}

/// Writes the present state under another name.
fn rewrite(disk: &dyn Disk, boot_id: [u8; 16], state: &ManifestState) -> io::Result<Log> {
    let header = FileHeader { epoch: uuid::Uuid::new_v4().as_u64_pair().1, boot_id };
    let mut bytes = header.encode();
    for edit in state.to_edits() {
        let at = bytes.len() as u64;
        put_edit(&mut bytes, &header, at, &edit);
    }
    let len = bytes.len() as u64;
    put_header(&mut bytes, &header, len, LEN_SYNCED, 0);
    match disk.remove(NEW_PATH) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let file = disk.create(NEW_PATH)?;
    file.write_all_at(&bytes, 0)?;
    file.sync()?;
    let len_max = (len * HISTORY_FACTOR).max(HISTORY_BYTES_MIN);
    Ok(Log { file, header, len, len_max, failed: false })
}

fn put_edit(bytes: &mut Vec<u8>, header: &FileHeader, at: u64, edit: &Edit) {
    let payload = edit.encode_to_vec();
    put_header(bytes, header, at, payload.len() as u32, crc32c::crc32c(&payload));
    bytes.put_slice(&payload);
}

fn put_header(bytes: &mut Vec<u8>, header: &FileHeader, at: u64, len: u32, crc: u32) {
    bytes.put_u32_le(len);
    bytes.put_u32_le(crc);
    bytes.put_u32_le(header.record_crc(at, len, crc));
}

impl FileHeader {
    fn encode(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(4096);
        bytes.put_slice(&MAGIC);
        bytes.put_u32_le(VERSION);
        bytes.put_u32_le(0);
        bytes.put_u64_le(self.epoch);
        bytes.put_slice(&self.boot_id);
        bytes.put_u32_le(0);
        bytes.put_u32_le(crc32c::crc32c(&bytes));
        bytes
    }

    fn decode(bytes: &[u8]) -> Result<Self> {
        let Some(header) = bytes.first_chunk::<FILE_HEADER_LEN>() else {
            return Err(damaged(0, "it is shorter than its header"));
        };
        if header[..8] != MAGIC {
            return Err(damaged(0, "it does not begin as a manifest"));
        }
        let mut rest = &header[8..];
        let version = rest.get_u32_le();
        let _reserved = rest.get_u32_le();
        let epoch = rest.get_u64_le();
        let mut boot_id = [0; 16];
        rest.copy_to_slice(&mut boot_id);
        let crc = crc32c::crc32c(&header[..FILE_HEADER_LEN - 4]);
        if header[FILE_HEADER_LEN - 4..] != crc.to_le_bytes() {
            return Err(damaged(0, "its header fails its checksum"));
        }
        if version != VERSION {
            return Err(Error::unsupported(format!(
                "MANIFEST is of another version: version={version}, known={VERSION}"
            )));
        }
        Ok(Self { epoch, boot_id })
    }

    /// Covers where the record stands and in which file, so that neither one that moved nor one
    /// that an earlier file left behind is taken for it.
    fn record_crc(&self, at: u64, len: u32, crc: u32) -> u32 {
        let mut bytes = [0; 24];
        bytes[..8].copy_from_slice(&self.epoch.to_le_bytes());
        bytes[8..16].copy_from_slice(&at.to_le_bytes());
        bytes[16..20].copy_from_slice(&len.to_le_bytes());
        bytes[20..].copy_from_slice(&crc.to_le_bytes());
        crc32c::crc32c(&bytes)
    }

    /// The length and checksum in the record header at `at`; `None` when it is not right.
    fn record_at(&self, whole: &[u8], at: usize) -> Option<(u32, u32)> {
        let mut header: &[u8] = whole.get(at..at + RECORD_HEADER_LEN)?;
        let (len, crc) = (header.get_u32_le(), header.get_u32_le());
        (header.get_u32_le() == self.record_crc(at as u64, len, crc)).then_some((len, crc))
    }
}

/// Reads the manifest as it is, without changing anything; `None` when there is none.
///
/// # Errors
/// As [`Manifest::open`].
pub(crate) fn read(disk: &dyn Disk, boot_id: [u8; 16]) -> Result<Option<ManifestState>> {
    Ok(read_with_gone(disk, boot_id)?.map(|(state, _)| state))
}

/// The same, with the files that were taken away since it was last rewritten.
fn read_with_gone(
    disk: &dyn Disk,
    boot_id: [u8; 16],
) -> Result<Option<(ManifestState, BTreeSet<u64>)>> {
    let Some(whole) = load(disk)? else { return Ok(None) };
    let header = FileHeader::decode(&whole)?;
    let mut gone = BTreeSet::new();
    let mut state = ManifestState::default();
    let mut at = FILE_HEADER_LEN;
    let wrong = loop {
        match header.record_at(&whole, at) {
            None => break Some("a record header fails its checksum"),
            Some((LEN_END | LEN_SYNCED, _)) => break None,
            Some((len, crc)) => {
                let begin = at + RECORD_HEADER_LEN;
                let Some(payload) = whole.get(begin..begin + len as usize) else {
                    break Some("it ends inside an edit");
                };
                if crc32c::crc32c(payload) != crc {
                    break Some("an edit fails its checksum");
                }
                let edit = decode(whole.slice(begin..begin + len as usize), at)?;
                gone.extend(state.files_gone(&edit));
                state.apply(&edit)?;
                at = begin + len as usize;
            }
        }
    };
    settle_end(&header, &whole, at, wrong, boot_id)?;
    if state.cluster_id.is_empty() {
        return Err(damaged(at, "it does not say what store it is of"));
    }
    Ok(Some((state, gone)))
}

/// Reads what is left of a damaged manifest, and notes in `lost` where something is not.
///
/// # Errors
/// Nothing can be read at all.
pub(crate) fn read_what_is_left(disk: &dyn Disk, lost: &mut Vec<Error>) -> Result<ManifestState> {
    let whole = load(disk)?.ok_or_else(|| Error::corruption("MANIFEST is missing"))?;
    let header = FileHeader::decode(&whole)?;
    let mut state = ManifestState::default();
    let mut at = FILE_HEADER_LEN;
    while at < whole.len() {
        let found = header.record_at(&whole, at);
        if let Some((LEN_END | LEN_SYNCED, _)) = found {
            break;
        }
        let read = match read_edit(&header, &whole, at) {
            Ok((edit, end)) => {
                at = end;
                state.apply(&edit)
            }
            Err(what) => {
                let next = (at + 1..whole.len()).find(|&at| header.record_at(&whole, at).is_some());
                let error = Err(damaged(at, what));
                at = next.unwrap_or(whole.len());
                error
            }
        };
        lost.extend(read.err());
    }
    if state.cluster_id.is_empty() && state.tables.is_empty() {
        return Err(damaged(0, "none of its edits can be read"));
    }
    Ok(state)
}

fn load(disk: &dyn Disk) -> Result<Option<Bytes>> {
    let file = match disk.open(PATH) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(source) => return Err(Error::io("cannot open MANIFEST", source)),
    };
    let load = || {
        let mut bytes = vec![0; file.len()? as usize];
        file.read_exact_at(&mut bytes, 0)?;
        Ok(Some(Bytes::from(bytes)))
    };
    load().map_err(|source| Error::io("cannot read MANIFEST", source))
}

/// The edit at `at` and where it ends; what is wrong otherwise.
fn read_edit(header: &FileHeader, whole: &Bytes, at: usize) -> Result<(Edit, usize), &'static str> {
    let Some((len, crc)) = header.record_at(whole, at) else {
        return Err("a record header fails its checksum");
    };
    let begin = at + RECORD_HEADER_LEN;
    let end = begin.saturating_add(len as usize);
    let payload = whole.get(begin..end).ok_or("it ends inside an edit")?;
    if crc32c::crc32c(payload) != crc {
        return Err("an edit fails its checksum");
    }
    let edit = decode(whole.slice(begin..end), at).map_err(|_| "an edit cannot be understood")?;
    Ok((edit, end))
}

fn decode(payload: Bytes, at: usize) -> Result<Edit> {
    let edit = Edit::decode(payload)
        .map_err(|error| damaged(at, "an edit cannot be decoded").with_source(error))?;
    if edit.kind.is_none() {
        return Err(Error::unsupported(format!(
            "MANIFEST holds an edit of a kind unknown to this version: offset={at}"
        )));
    }
    Ok(edit)
}

/// Decides what the end of the file means: an edit that nobody was told of, or damage.
fn settle_end(
    header: &FileHeader,
    whole: &[u8],
    at: usize,
    wrong: Option<&'static str>,
    boot_id: [u8; 16],
) -> Result<()> {
    let behind = (at + 1..whole.len()).filter_map(|at| header.record_at(whole, at));
    let behind: Vec<u32> = behind.map(|(len, _)| len).collect();
    if behind.is_empty() {
        if let Some(what) = wrong {
            let bytes = whole.len() - at;
            tracing::warn!(offset = at, bytes, "an interrupted edit of MANIFEST was cut: {what}");
        }
        return Ok(());
    }
    // The power went while an edit was on its way: then nothing but the mark of its own end stands
    // behind, and no word that it was on the disk.
    let unknown = [0; 16];
    let restarted = ![header.boot_id, boot_id].contains(&unknown) && header.boot_id != boot_id;
    if restarted && behind == [LEN_END] {
        tracing::warn!(offset = at, "an edit of MANIFEST was lost with the power");
        return Ok(());
    }
    Err(damaged(at, wrong.unwrap_or("edits are missing behind it")))
}

fn failed_before() -> Error {
    Error::new(ErrorKind::ReadOnly, "the manifest could not be written earlier; reopen the store")
}

/// Refuses to begin a manifest where there is data already: it would all be taken for nobody's.
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

fn damaged(at: usize, what: &str) -> Error {
    Error::corruption(format!("MANIFEST is damaged at offset {at}: {what}; nothing was changed"))
}
