//! How a data directory is laid out: the subdirectories, and the store's file names
//! (`docs/formats/data-directory.md`).

/// The directory for HFiles.
pub(crate) const FILES_DIR: &str = "files";

/// The directory for log segments.
pub(crate) const WAL_DIR: &str = "wal";

/// The directory for unfinished output.
pub(crate) const TMP_DIR: &str = "tmp";

/// Returns a file's name in [`FILES_DIR`].
pub(crate) fn file_name(id: u64) -> String {
    format!("{id:010}.hfile")
}

/// Returns the id in a file's name; `None` when the name does not belong to an HFile in the store.
pub(crate) fn file_id(name: &str) -> Option<u64> {
    name.strip_suffix(".hfile")?.parse().ok()
}

/// Returns a file's path.
pub(crate) fn file_path(id: u64) -> String {
    format!("{FILES_DIR}/{}", file_name(id))
}
