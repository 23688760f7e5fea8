//! Checks the data directory at open: the required files must exist, except index files, which can
//! be built anew, and files that nothing names are removed or moved aside.

use std::collections::BTreeSet;

use rowhouse_model::{Error, Result, TableName};

use crate::aside;
use crate::disk::Disk;
use crate::indexed::is_declared_index;
use crate::layout::{FILES_DIR, TMP_DIR, WAL_DIR, file_id, file_name, file_path};
use crate::manifest::{Manifest, ManifestState, NamedFile};

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

/// Checks that the files that the manifest names exist, removes the files that an edit removed, and
/// moves the others aside. Returns the missing index files.
pub(super) fn reconcile_files(
    disk: &dyn Disk,
    manifest: &Manifest,
    state: &ManifestState,
    now_millis: i64,
) -> Result<Vec<u64>> {
    let dir = FILES_DIR;
    let names =
        disk.list(dir).map_err(|source| Error::io(format_args!("cannot list {dir}"), source))?;
    let mut expected: BTreeSet<String> =
        state.all_files().map(|file| file_name(file.meta.file_id)).collect();
    let strangers: Vec<String> = names.into_iter().filter(|name| !expected.remove(name)).collect();
    let missing: Vec<u64> = expected.iter().filter_map(|name| file_id(name)).collect();
    if let Some(missing) = missing.iter().find(|id| !is_of_indexes(state, **id)) {
        return Err(missing_file(*missing, "; nothing was changed"));
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
    Ok(missing)
}

/// Returns the error for a file that the manifest names and that does not exist.
pub(super) fn missing_file(id: u64, then: &str) -> Error {
    Error::corruption(format!("{} is in MANIFEST and does not exist{then}", file_path(id)))
}

/// Returns true if only index tables name a file.
fn is_of_indexes(state: &ManifestState, file_id: u64) -> bool {
    let find = |name: &TableName| {
        let mut tables = state.tables.values();
        tables.find(|table| table.descriptor.name() == name).map(|table| &table.descriptor)
    };
    let is_it = |file: &NamedFile<'_>| file.meta.file_id == file_id;
    let mut tables = state.files().filter(is_it).map(|file| state.table_of(file.region_id));
    let mut in_snapshots = state.snapshots.values().flat_map(|snapshot| snapshot.files());
    tables.all(|table| table.is_some_and(|it| is_declared_index(&it.descriptor, find)))
        && !in_snapshots.any(|file| is_it(&file))
}
