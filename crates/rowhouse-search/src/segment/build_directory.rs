//! The directory in which tantivy builds one segment: its files become parts as they are written.

use std::collections::HashMap;
use std::fmt;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;
use tantivy::Directory;
use tantivy::directory::error::{DeleteError, OpenReadError, OpenWriteError};
use tantivy::directory::{
    AntiCallToken, FileHandle, OwnedBytes, TerminatingWrite, WatchCallback, WatchHandle, WritePtr,
};

use super::meta::SegmentMeta;
use super::parts::{Component, PART_BYTES, PartId, Parts};
use super::read_directory::{ComponentFile, Components};
use crate::error::inside;

/// A directory for one segment.
#[derive(Clone)]
pub(super) struct BuildDirectory {
    segment: u64,
    parts: Arc<dyn Parts>,
    written: Arc<Mutex<Written>>,
}

/// What tantivy has written so far.
#[derive(Default)]
struct Written {
    /// The bytes of each component, in the order of [`Component::ALL`].
    lengths: [u64; Component::ALL.len()],
    /// Files that are no components: metadata and temporary files.
    others: HashMap<PathBuf, Arc<[u8]>>,
}

impl BuildDirectory {
    pub(super) fn new(segment: u64, parts: Arc<dyn Parts>) -> Self {
        Self { segment, parts, written: Arc::default() }
    }

    /// Returns the bytes of each component, in the order of [`Component::ALL`].
    pub(super) fn lengths(&self) -> [u64; Component::ALL.len()] {
        self.written.lock().lengths
    }
}

/// Returns the component that a file is.
fn component(path: &Path) -> Option<Component> {
    let extension = path.extension()?.to_str()?;
    Component::ALL.into_iter().find(|component| component.extension() == extension)
}

/// Writes a file.
struct FileWriter {
    directory: BuildDirectory,
    path: PathBuf,
    component: Option<Component>,
    buffer: Vec<u8>,
    parts: u32,
}

impl FileWriter {
    fn write_part(&mut self, component: Component, bytes: Vec<u8>) -> io::Result<()> {
        let part = PartId { segment: self.directory.segment, component, number: self.parts };
        self.parts = self.parts.checked_add(1).expect("2^32 parts do not fit a store");
        self.directory.parts.write(part, bytes).map_err(inside)
    }
}

impl Write for FileWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.buffer.extend_from_slice(bytes);
        if let Some(component) = self.component {
            while self.buffer.len() >= PART_BYTES {
                let rest = self.buffer.split_off(PART_BYTES);
                let part = std::mem::replace(&mut self.buffer, rest);
                self.write_part(component, part)?;
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl TerminatingWrite for FileWriter {
    fn terminate_ref(&mut self, _: AntiCallToken) -> io::Result<()> {
        let rest = std::mem::take(&mut self.buffer);
        let Some(component) = self.component else {
            let mut written = self.directory.written.lock();
            written.others.insert(self.path.clone(), rest.into());
            return Ok(());
        };
        let len = u64::from(self.parts) * PART_BYTES as u64 + rest.len() as u64;
        if !rest.is_empty() {
            self.write_part(component, rest)?;
        }
        self.directory.written.lock().lengths[component as usize] = len;
        Ok(())
    }
}

impl Directory for BuildDirectory {
    fn get_file_handle(&self, path: &Path) -> Result<Arc<dyn FileHandle>, OpenReadError> {
        let lengths = self.lengths();
        match component(path).filter(|component| lengths[*component as usize] > 0) {
            // Tantivy reads the lengths of fields while it writes postings.
            Some(component) => {
                let meta = SegmentMeta { number: self.segment, documents: 0, lengths };
                let components = Arc::new(Components::new(meta, Arc::clone(&self.parts)));
                Ok(Arc::new(ComponentFile { components, component }))
            }
            None => Ok(Arc::new(OwnedBytes::new(self.atomic_read(path)?))),
        }
    }

    fn delete(&self, path: &Path) -> Result<(), DeleteError> {
        match self.written.lock().others.remove(path) {
            Some(_) => Ok(()),
            None => Err(DeleteError::FileDoesNotExist(path.to_owned())),
        }
    }

    fn exists(&self, path: &Path) -> Result<bool, OpenReadError> {
        Ok(self.written.lock().others.contains_key(path))
    }

    fn open_write(&self, path: &Path) -> Result<WritePtr, OpenWriteError> {
        Ok(BufWriter::new(Box::new(FileWriter {
            directory: self.clone(),
            path: path.to_owned(),
            component: component(path),
            buffer: Vec::new(),
            parts: 0,
        })))
    }

    fn atomic_read(&self, path: &Path) -> Result<Vec<u8>, OpenReadError> {
        let written = self.written.lock();
        let file = written.others.get(path);
        file.map(|file| file.to_vec())
            .ok_or_else(|| OpenReadError::FileDoesNotExist(path.to_owned()))
    }

    fn atomic_write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        self.written.lock().others.insert(path.to_owned(), bytes.into());
        Ok(())
    }

    fn sync_directory(&self) -> io::Result<()> {
        Ok(())
    }

    fn watch(&self, _: WatchCallback) -> tantivy::Result<WatchHandle> {
        Ok(WatchHandle::empty())
    }
}

impl fmt::Debug for BuildDirectory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "segment {} as it is built", self.segment)
    }
}
