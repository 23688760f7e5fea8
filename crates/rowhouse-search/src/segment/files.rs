//! A segment's files, in memory.

use std::path::Path;

use rowhouse_model::{Bytes, Result};
use tantivy::directory::RamDirectory;
use tantivy::{Directory, Index};

use super::error::failed;

/// The name for tantivy's segment list. Ours have one each.
pub(super) const META: &str = "meta";
/// The path in a tantivy directory.
pub(super) const META_PATH: &str = "meta.json";

/// A segment's files, each with a name: `meta`, or the extension that tantivy gives it.
#[derive(Clone, Debug)]
pub(crate) struct SegmentFiles {
    pub(crate) files: Vec<(String, Bytes)>,
    pub(crate) docs: u32,
    /// How many words in the segment's texts are too long to be indexed.
    pub(crate) long_words: u64,
}

impl SegmentFiles {
    /// Takes the files from an index with one segment.
    pub(super) fn of(index: &Index, directory: &RamDirectory, long_words: u64) -> Result<Self> {
        let meta = index.load_metas().map_err(|error| failed(&error))?;
        let docs = meta.segments.iter().map(|segment| segment.max_doc()).sum();
        let mut files = Vec::new();
        for path in meta.list_segment_files() {
            let Some(extension) = path.extension().and_then(|it| it.to_str()) else { continue };
            if let Some(bytes) = read(directory, &path)? {
                files.push((extension.to_owned(), bytes));
            }
        }
        if let Some(bytes) = read(directory, Path::new(META_PATH))? {
            files.push((META.to_owned(), bytes));
        }
        files.sort();
        Ok(Self { files, docs, long_words })
    }
}

/// Reads a file; `None` if there is none: a segment without deletes lacks the delete file.
fn read(directory: &RamDirectory, path: &Path) -> Result<Option<Bytes>> {
    if !directory.exists(path).map_err(|error| failed(&error.into()))? {
        return Ok(None);
    }
    let slice = directory.open_read(path).map_err(|error| failed(&error.into()))?;
    let bytes = slice.read_bytes().map_err(|error| failed(&error.into()))?;
    Ok(Some(Bytes::from_owner(bytes)))
}
