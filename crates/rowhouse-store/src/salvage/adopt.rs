//! Finds tables by their files, where the manifest has lost them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rowhouse_model::{
    Error, FamilyDescriptor, Namespace, RegionInfo, Result, RowRange, TableState,
};

use crate::disk::Disk;
use crate::layout::{FILES_DIR, file_id};
use crate::manifest::{FamilyFiles, ManifestState, RegionState, TableEntry};
use crate::store_file::StampedFile;

/// Adds to `state` the tables that files name and `state` lacks. Their other metadata is lost. In
/// the new store each such table gets a single region, which takes the files from all its regions
/// and their cells in the log.
///
/// # Errors
/// `Io` for a directory that cannot be listed.
pub(super) fn adopt_tables(
    disk: &dyn Disk,
    state: &mut ManifestState,
    lost: &mut Vec<Error>,
) -> Result<()> {
    let named: BTreeSet<u64> = state.all_files().map(|file| file.meta.file_id).collect();
    let known: BTreeSet<_> =
        state.tables.values().map(|table| table.descriptor.name().clone()).collect();
    let names = disk
        .list(FILES_DIR)
        .map_err(|source| Error::io(format_args!("cannot list {FILES_DIR}"), source))?;
    let mut adopted: BTreeMap<_, TableEntry> = BTreeMap::new();
    // Oldest first, so that the newest file's descriptor is used.
    for id in names.iter().filter_map(|name| file_id(name)).filter(|id| !named.contains(id)) {
        match StampedFile::read(disk, id) {
            Ok(file) if known.contains(file.table.name()) => {}
            Ok(file) => {
                let name = file.table.name().clone();
                let entry = adopted.entry(name).or_insert_with(|| TableEntry {
                    descriptor: file.table.clone(),
                    state: TableState::Enabled,
                    regions: BTreeMap::new(),
                });
                entry.descriptor = file.table.clone();
                add_file(entry, file);
            }
            Err(error) => lost.push(error),
        }
    }
    for (name, mut entry) in adopted {
        let families = entry.descriptor.families().iter().map(FamilyDescriptor::name).cloned();
        let families: BTreeSet<_> = families.collect();
        for region in entry.regions.values_mut() {
            Arc::make_mut(region).families.retain(|family, _| families.contains(family));
        }
        lost.push(Error::corruption(format!(
            "MANIFEST does not name table {name}: it was found by its files; it may lack cells of \
             the log, and may have cells that compactions had dropped or that belong to its clones"
        )));
        if let Ok(namespace) = Namespace::new(name.namespace()) {
            state.namespaces.entry(name.namespace().to_owned()).or_insert(namespace);
        }
        let id = state.tables.keys().last().map_or(1, |last| last + 1);
        state.tables.insert(id, Arc::new(entry));
    }
    Ok(())
}

fn add_file(table: &mut TableEntry, file: StampedFile) {
    let info = RegionInfo::new(file.table.name().clone(), RowRange::all(), file.region_id);
    let region = table
        .regions
        .entry(file.region_id)
        .or_insert_with(|| Arc::new(RegionState::new(info, BTreeMap::new())));
    let files: &mut FamilyFiles = Arc::make_mut(region).families.entry(file.family).or_default();
    files.files.insert(file.meta.file_id, file.meta);
}
