//! The data directory at open: what must be there is there, and what nothing names is removed or
//! moved aside.

use std::collections::BTreeSet;

use rowhouse_model::{Error, Result};

use super::aside;
use crate::disk::Disk;
use crate::manifest::{Manifest, ManifestState};
use crate::store_file;
use crate::wal;

/// Output that is being written.
pub(crate) const TMP_DIR: &str = "tmp";

/// Makes the directories and empties the one for unfinished output.
pub(super) fn prepare(disk: &dyn Disk) -> Result<()> {
    let prepare = || {
        for dir in [wal::WAL_DIR, store_file::FILES_DIR, TMP_DIR] {
            disk.create_dir(dir)?;
        }
        aside::create_dir(disk)?;
        for name in disk.list(TMP_DIR)? {
            disk.remove(&format!("{TMP_DIR}/{name}"))?;
        }
        disk.sync_dir("")
    };
    prepare().map_err(|source| Error::io("cannot prepare the data directory", source))
}

/// Makes sure that the files that edits name are there, removes what an edit has taken away, and
/// moves files that no edit names aside.
pub(super) fn settle_files(
    disk: &dyn Disk,
    manifest: &Manifest,
    state: &ManifestState,
    now_millis: i64,
) -> Result<()> {
    let dir = store_file::FILES_DIR;
    let names =
        disk.list(dir).map_err(|source| Error::io(format_args!("cannot list {dir}"), source))?;
    let mut wanted: BTreeSet<String> =
        state.all_files().map(|file| store_file::file_name(file.meta.file_id)).collect();
    let strangers: Vec<String> = names.into_iter().filter(|name| !wanted.remove(name)).collect();
    if let Some(missing) = wanted.first() {
        return Err(Error::corruption(format!(
            "{dir}/{missing} is named by MANIFEST and is not there; nothing was changed"
        )));
    }
    for name in strangers {
        let path = format!("{dir}/{name}");
        // The process ended before the last reader of it.
        if store_file::id_of(&name).is_some_and(|id| manifest.is_gone(id)) {
            disk.remove(&path)
                .map_err(|source| Error::io(format_args!("cannot remove {path}"), source))?;
        } else {
            tracing::warn!(file = path, "a file that nothing names was moved aside");
            aside::move_aside(disk, &path, now_millis)?;
        }
    }
    Ok(())
}
