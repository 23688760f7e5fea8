//! The layout of a data directory: its subdirectories, and the names of the store's files
//! (`docs/formats/data-directory.md`).

/// The directory of HFiles.
pub(crate) const FILES_DIR: &str = "files";

/// The directory of log segments.
pub(crate) const WAL_DIR: &str = "wal";

/// The directory of unfinished output.
pub(crate) const TMP_DIR: &str = "tmp";

/// Returns a file's name in [`FILES_DIR`].
pub(crate) fn file_name(id: u64) -> String {
    format!("{id:010}.hfile")
}

/// Returns the id in a file's name; `None` when it is not the name of an HFile of the store.
pub(crate) fn file_id(name: &str) -> Option<u64> {
    name.strip_suffix(".hfile")?.parse().ok()
}

/// Returns a file's path.
pub(crate) fn file_path(id: u64) -> String {
    format!("{FILES_DIR}/{}", file_name(id))
}
