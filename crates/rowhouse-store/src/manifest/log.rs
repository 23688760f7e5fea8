//! The file: reading it, rewriting it at open, appending to it.

use std::sync::Arc;

use bytes::{Buf, BufMut, Bytes};
use parking_lot::Mutex;
use prost::Message;
use rowhouse_model::{Error, ErrorKind, Result};

use super::{Edit, ManifestState};
use crate::disk::{Disk, DiskFile};
use crate::store_file::FILES_DIR;
use crate::wal::WAL_DIR;

const PATH: &str = "MANIFEST";
const NEW_PATH: &str = "MANIFEST.new";
const MAGIC: [u8; 8] = *b"ROWHMANI";
const VERSION: u32 = 1;
const FILE_HEADER_LEN: usize = 16;
const RECORD_HEADER_LEN: usize = 12;

/// The open manifest: the present state, and the log that it is read back from.
pub(crate) struct Manifest {
    inner: Mutex<Inner>,
}

struct Inner {
    file: Arc<dyn DiskFile>,
    len: u64,
    state: ManifestState,
    failed: bool,
}

impl Manifest {
    /// Reads the manifest, or begins one with the edits of `create` when there is none, and
    /// rewrites it as the present state.
    ///
    /// # Errors
    /// Damage, naming the offset; an edit of a newer version.
    pub(crate) fn open(disk: &dyn Disk, create: impl FnOnce() -> Vec<Edit>) -> Result<Self> {
        let mut state = ManifestState::default();
        match disk.open(PATH) {
            Ok(file) => read(&*file, &mut state)?,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                check_empty(disk)?;
                for edit in create() {
                    state.apply(&edit)?;
                }
            }
            Err(source) => return Err(Error::io("cannot open MANIFEST", source)),
        }
        let (file, len) =
            rewrite(disk, &state).map_err(|source| Error::io("cannot rewrite MANIFEST", source))?;
        Ok(Self { inner: Mutex::new(Inner { file, len, state, failed: false }) })
    }

    /// Looks at the present state.
    pub(crate) fn read<T>(&self, look: impl FnOnce(&ManifestState) -> T) -> T {
        look(&self.inner.lock().state)
    }

    /// An id that was never given out. It is used up when an edit names it; one that no edit
    /// names before the process ends is given out again, so whatever it named must be gone then.
    pub(crate) fn next_id(&self) -> u64 {
        self.inner.lock().state.take_id()
    }

    /// Refuses when an earlier append failed.
    pub(crate) fn check_writable(&self) -> Result<()> {
        if self.inner.lock().failed { Err(failed_before()) } else { Ok(()) }
    }

    /// Makes `edit` true: when this returns it is on the disk.
    ///
    /// # Errors
    /// `ReadOnly` after a failed append: what the disk holds is not known until reopening.
    pub(crate) fn append(&self, edit: &Edit) -> Result<()> {
        let mut inner = self.inner.lock();
        if inner.failed {
            return Err(failed_before());
        }
        let mut state = inner.state.clone();
        state.apply(edit)?;
        let record = encode(edit);
        let write = inner.file.write_all_at(&record, inner.len).and_then(|()| inner.file.sync());
        if let Err(source) = write {
            inner.failed = true;
            return Err(Error::io("cannot append to MANIFEST", source));
        }
        inner.len += record.len() as u64;
        inner.state = state;
        Ok(())
    }
}

fn failed_before() -> Error {
    Error::new(ErrorKind::ReadOnly, "the manifest could not be written earlier; reopen the store")
}

fn encode(edit: &Edit) -> Vec<u8> {
    let payload = edit.encode_to_vec();
    let mut record = Vec::with_capacity(RECORD_HEADER_LEN + payload.len());
    record.put_u32_le(payload.len() as u32);
    record.put_u32_le(crc32c::crc32c(&payload));
    record.put_u32_le(crc32c::crc32c(&record));
    record.put_slice(&payload);
    record
}

fn rewrite(disk: &dyn Disk, state: &ManifestState) -> std::io::Result<(Arc<dyn DiskFile>, u64)> {
    let mut bytes = Vec::new();
    bytes.put_slice(&MAGIC);
    bytes.put_u32_le(VERSION);
    bytes.put_u32_le(crc32c::crc32c(&bytes));
    for edit in state.to_edits() {
        bytes.extend_from_slice(&encode(&edit));
    }
    match disk.remove(NEW_PATH) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let file = disk.create(NEW_PATH)?;
    file.write_all_at(&bytes, 0)?;
    file.sync()?;
    disk.rename(NEW_PATH, PATH)?;
    disk.sync_dir("")?;
    Ok((file, bytes.len() as u64))
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

fn read(file: &dyn DiskFile, state: &mut ManifestState) -> Result<()> {
    let load = || {
        let mut bytes = vec![0; file.len()? as usize];
        file.read_exact_at(&mut bytes, 0)?;
        Ok(Bytes::from(bytes))
    };
    let whole = load().map_err(|source| Error::io("cannot read MANIFEST", source))?;
    let mut rest = whole.clone();
    check_header(&mut rest)?;
    while rest.has_remaining() {
        let at = whole.len() - rest.len();
        match take_edit(&mut rest, at)? {
            Some(edit) => state.apply(&edit)?,
            None => {
                tracing::warn!(offset = at, "an interrupted edit at the end of MANIFEST was cut");
                break;
            }
        }
    }
    Ok(())
}

fn check_header(rest: &mut Bytes) -> Result<()> {
    if rest.len() < FILE_HEADER_LEN || rest[..8] != MAGIC {
        return Err(damaged(0, "it does not begin as a manifest"));
    }
    let crc = crc32c::crc32c(&rest[..12]);
    rest.advance(8);
    let version = rest.get_u32_le();
    if rest.get_u32_le() != crc {
        return Err(damaged(0, "its header fails its checksum"));
    }
    if version != VERSION {
        return Err(Error::unsupported(format!(
            "MANIFEST is of another version: version={version}, known={VERSION}"
        )));
    }
    Ok(())
}

/// The next edit; `None` when the file ends inside it.
fn take_edit(rest: &mut Bytes, at: usize) -> Result<Option<Edit>> {
    if rest.len() < RECORD_HEADER_LEN {
        return Ok(None);
    }
    let header = rest.slice(..RECORD_HEADER_LEN);
    let header_crc = crc32c::crc32c(&rest[..8]);
    let len = rest.get_u32_le() as usize;
    let payload_crc = rest.get_u32_le();
    if rest.get_u32_le() != header_crc {
        if header_end_is_zero(&header) && is_zero(rest) {
            return Ok(None);
        }
        return Err(damaged(at, "a record header fails its checksum"));
    }
    if rest.len() < len {
        return Ok(None);
    }
    let payload = rest.split_to(len);
    if crc32c::crc32c(&payload) != payload_crc {
        if payload.ends_with(&[0]) && is_zero(rest) {
            return Ok(None);
        }
        return Err(damaged(at, "an edit fails its checksum"));
    }
    let edit = Edit::decode(payload)
        .map_err(|error| damaged(at, "an edit cannot be decoded").with_source(error))?;
    if edit.kind.is_none() {
        return Err(Error::unsupported(format!(
            "MANIFEST holds an edit of a kind unknown to this version: offset={at}"
        )));
    }
    Ok(Some(edit))
}

/// Whether the end of a record's header was never written. A power cut can leave a file that has
/// grown without what it was to hold.
fn header_end_is_zero(header: &[u8]) -> bool {
    header.ends_with(&[0; 4])
}

fn is_zero(bytes: &[u8]) -> bool {
    bytes.iter().all(|&byte| byte == 0)
}

fn damaged(at: usize, what: &str) -> Error {
    Error::corruption(format!("MANIFEST is damaged at offset {at}: {what}; nothing was changed"))
}
