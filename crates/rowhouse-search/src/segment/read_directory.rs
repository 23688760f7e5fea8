//! The directory from which tantivy reads segments.

use std::collections::HashMap;
use std::fmt;
use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use rowhouse_model::Error;
use serde_json::json;
use tantivy::directory::error::{DeleteError, LockError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    DirectoryLock, FileHandle, Lock, OwnedBytes, WatchCallback, WatchHandle, WritePtr,
};
use tantivy::index::SegmentId;
use tantivy::{Directory, HasLen};

use super::meta::SegmentMeta;
use super::parts::{Component, PART_BYTES, PartId, Parts};
use crate::error::inside;
use crate::fields::Fields;

/// The name of the file in which tantivy looks for the list of segments.
const META: &str = "meta.json";

/// The shortest piece that is kept after it was read to open a segment.
const KEPT_BYTES_MIN: usize = 4 << 10;

/// The components of a segment.
pub(super) struct Components {
    meta: SegmentMeta,
    parts: Arc<dyn Parts>,
    /// Pieces that tantivy reads whenever it opens the segment, such as the dictionary of terms. A
    /// segment is opened again when documents of it have died.
    kept: Mutex<HashMap<(Component, usize, usize), OwnedBytes>>,
}

impl Components {
    pub(super) fn new(meta: SegmentMeta, parts: Arc<dyn Parts>) -> Self {
        Self { meta, parts, kept: Mutex::default() }
    }

    pub(super) fn meta(&self) -> &SegmentMeta {
        &self.meta
    }

    fn read(&self, component: Component, range: Range<usize>) -> io::Result<OwnedBytes> {
        let len = self.meta.lengths[component as usize];
        if range.start > range.end || range.end as u64 > len {
            let message = format!("a read of {range:?} in {component:?} of {len} bytes");
            return Err(inside(Error::corruption(message)));
        }
        let is_kept = component.is_read_at_open() && range.len() >= KEPT_BYTES_MIN;
        let piece = (component, range.start, range.end);
        if is_kept && let Some(bytes) = self.kept.lock().get(&piece) {
            return Ok(bytes.clone());
        }
        let mut bytes = Vec::with_capacity(range.len());
        while bytes.len() < range.len() {
            let at = range.start + bytes.len();
            let number = u32::try_from(at / PART_BYTES).expect("a component has 2^32 parts");
            let part = PartId { segment: self.meta.number, component, number };
            let part = self.parts.read(part).map_err(inside)?;
            let begin = at % PART_BYTES;
            let end = part.len().min(begin + range.end - at);
            if begin >= end {
                let message = format!(
                    "a part is too short: segment={}, component={}, part={number}, {} bytes",
                    self.meta.number,
                    component.extension(),
                    part.len()
                );
                return Err(inside(Error::corruption(message)));
            }
            bytes.extend_from_slice(&part[begin..end]);
        }
        let bytes = OwnedBytes::new(bytes);
        if is_kept {
            self.kept.lock().insert(piece, bytes.clone());
        }
        Ok(bytes)
    }
}

/// A component that tantivy reads as a file.
pub(super) struct ComponentFile {
    pub(super) components: Arc<Components>,
    pub(super) component: Component,
}

impl FileHandle for ComponentFile {
    fn read_bytes(&self, range: Range<usize>) -> io::Result<OwnedBytes> {
        self.components.read(self.component, range)
    }
}

impl HasLen for ComponentFile {
    fn len(&self) -> usize {
        let len = self.components.meta.lengths[self.component as usize];
        usize::try_from(len).unwrap_or(usize::MAX)
    }
}

impl fmt::Debug for ComponentFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} of segment {}", self.component.extension(), self.components.meta.number)
    }
}

/// A directory of some segments, and the list of them that tantivy expects.
#[derive(Clone)]
pub(super) struct ReadDirectory {
    files: Arc<HashMap<PathBuf, Arc<ComponentFile>>>,
    meta: Arc<[u8]>,
}

impl ReadDirectory {
    /// Creates a directory of these segments.
    pub(super) fn new(segments: &[Arc<Components>], fields: &Fields) -> Self {
        let mut files = HashMap::new();
        let mut list = Vec::new();
        for components in segments {
            let id = id(components.meta.number);
            let documents = components.meta.documents;
            list.push(
                json!({ "segment_id": id.uuid_string(), "max_doc": documents, "deletes": null }),
            );
            for component in Component::ALL {
                let path = format!("{}.{}", id.uuid_string(), component.extension());
                let file = ComponentFile { components: Arc::clone(components), component };
                files.insert(PathBuf::from(path), Arc::new(file));
            }
        }
        let meta = json!({
            "index_settings": fields.settings(),
            "segments": list,
            "schema": fields.schema(),
            "opstamp": 0,
        });
        Self { files: Arc::new(files), meta: meta.to_string().into_bytes().into() }
    }
}

/// Returns the id by which tantivy knows a segment.
fn id(number: u64) -> SegmentId {
    SegmentId::from_uuid_string(&format!("{number:032x}")).expect("32 digits are an id")
}

impl Directory for ReadDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        let file = self.files.get(path).filter(|file| file.len() > 0);
        let file = file.ok_or_else(|| OpenReadError::FileDoesNotExist(path.to_owned()))?;
        Ok(Arc::<ComponentFile>::clone(file))
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        let io_error = Arc::new(io::Error::from(io::ErrorKind::ReadOnlyFilesystem));
        Err(DeleteError::IoError { io_error, filepath: path.to_owned() })
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        Ok(path == Path::new(META) || self.files.contains_key(path))
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        let error = io::Error::from(io::ErrorKind::ReadOnlyFilesystem);
        Err(OpenWriteError::wrap_io_error(error, path.to_owned()))
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        match path == Path::new(META) {
            true => Ok(self.meta.to_vec()),
            false => Err(OpenReadError::FileDoesNotExist(path.to_owned())),
        }
    }

    fn atomic_write(&self, _: &Path, _: &[u8]) -> io::Result<()> {
        Err(io::ErrorKind::ReadOnlyFilesystem.into())
    }

    fn sync_directory(&self) -> io::Result<()> {
        Ok(())
    }

    fn acquire_lock(&self, _: &Lock) -> Result<DirectoryLock, LockError> {
        Ok(DirectoryLock::from(Box::new(())))
    }

    fn watch(&self, _: WatchCallback) -> tantivy::Result<WatchHandle> {
        Ok(WatchHandle::empty())
    }
}

impl fmt::Debug for ReadDirectory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} files of segments", self.files.len())
    }
}
