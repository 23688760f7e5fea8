//! Drawings in files.

use std::path::Path;

use rowhouse::{Error, Result};

/// Writes a drawing into a file.
pub(crate) fn write_drawing(path: impl AsRef<Path>, svg: &str) -> Result<()> {
    let path = path.as_ref();
    std::fs::write(path, svg)
        .map_err(|source| Error::io(format_args!("cannot write {}", path.display()), source))
}
