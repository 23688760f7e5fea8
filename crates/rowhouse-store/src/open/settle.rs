//! Checks the data directory at open: the required files must exist, and files that nothing names
//! are removed or moved aside.

use std::collections::BTreeSet;

use rowhouse_model::{Error, Result};

use crate::aside;
use crate::disk::Disk;
use crate::layout::{FILES_DIR, TMP_DIR, WAL_DIR, file_id, file_name};
use crate::manifest::{Manifest, ManifestState};

/// Creates the directories and empties the one for unfinished output.
pub(super) fn prepare(disk: &dyn Disk) -> Result<()> {
    let prepare = || {
        for dir in [WAL_DIR, FILES_DIR, TMP_DIR] {
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

/// Checks that the files that the manifest names exist, removes those that an edit removed, and
/// moves the others aside.
pub(super) fn reconcile_files(
    disk: &dyn Disk,
    manifest: &Manifest,
    state: &ManifestState,
    now_millis: i64,
) -> Result<()> {
    let dir = FILES_DIR;
    let names =
        disk.list(dir).map_err(|source| Error::io(format_args!("cannot list {dir}"), source))?;
    let mut wanted: BTreeSet<String> =
        state.all_files().map(|file| file_name(file.meta.file_id)).collect();
    let strangers: Vec<String> = names.into_iter().filter(|name| !wanted.remove(name)).collect();
    if let Some(missing) = wanted.first() {
        return Err(Error::corruption(format!(
            "{dir}/{missing} is in MANIFEST and does not exist; nothing was changed"
        )));
    }
    for name in strangers {
        let path = format!("{dir}/{name}");
        // The process ended before the file's last reader did.
        if file_id(&name).is_some_and(|id| manifest.is_gone(id)) {
            disk.remove(&path)
                .map_err(|source| Error::io(format_args!("cannot remove {path}"), source))?;
        } else {
            tracing::warn!(file = path, "an unreferenced file was moved aside");
            aside::move_aside(disk, &path, now_millis)?;
        }
    }
    Ok(())
}
