//! The files that snapshots keep.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::{Files, StoreFile};
use crate::manifest::SnapshotEntry;

/// The files of each snapshot, by snapshot name and file id.
#[derive(Default)]
pub(crate) struct SnapshotFiles(BTreeMap<String, BTreeMap<u64, Arc<StoreFile>>>);

impl SnapshotFiles {
    /// Adds a snapshot of files that are already open.
    pub(crate) fn add<'a>(
        &mut self,
        name: &str,
        files: impl IntoIterator<Item = &'a Arc<StoreFile>>,
    ) {
        let held = self.0.entry(name.to_owned()).or_default();
        for file in files {
            held.entry(file.id()).or_insert_with(|| file.keep());
        }
    }

    /// Adds a snapshot of the manifest; `opened` are the files opened so far.
    pub(crate) fn open(
        &mut self,
        name: &str,
        entry: &SnapshotEntry,
        files: &Arc<Files>,
        opened: &mut HashMap<u64, Arc<StoreFile>>,
    ) {
        for named in entry.files() {
            let file = opened.entry(named.meta.file_id).or_insert_with(|| {
                let file = StoreFile::new(files, named.meta.clone());
                // No region names it.
                file.release();
                Arc::new(file)
            });
            self.add(name, [&*file]);
        }
    }

    /// Returns the files of all snapshots, as often as they are named.
    pub(crate) fn files(&self) -> impl Iterator<Item = &Arc<StoreFile>> {
        self.0.values().flat_map(BTreeMap::values)
    }

    /// Returns the bytes of the files that the selected snapshots name, each file once.
    pub(crate) fn bytes(&self, is_selected: impl Fn(&str) -> bool) -> u64 {
        let selected = self.0.iter().filter(|(name, _)| is_selected(name));
        let files =
            selected.flat_map(|(_, files)| files.iter().map(|(id, file)| (*id, file.len())));
        files.collect::<BTreeMap<_, _>>().into_values().sum()
    }

    /// Returns a file of a snapshot for one more region that names it.
    pub(crate) fn share(&self, name: &str, id: u64) -> Arc<StoreFile> {
        let file = self.0.get(name).and_then(|files| files.get(&id));
        file.expect("a snapshot keeps what the manifest says it does").share()
    }

    /// Releases a snapshot's files.
    pub(crate) fn remove(&mut self, name: &str) {
        for file in self.0.remove(name).unwrap_or_default().into_values() {
            file.let_go();
        }
    }
}
