//! Snapshots in the manifest: the edits that take, delete, clone and restore them, their state, and
//! their effects on tables.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use prost::Message;
use rowhouse_format::convert::{snapshot, table};
use rowhouse_model::{RegionInfo, Result, RowRange, Snapshot, TableDescriptor, TableState};

use super::edit::decode;
use super::state::{RegionState, contradiction};
use super::{
    EditKind, FamilyFiles, FileMeta, ManifestState, NamedFile, RegionMeta, TableCreated,
    TableEntry, encode_table,
};

/// A snapshot taken: the table's descriptor and regions at that time, and the files that held the
/// cells. A file stays as long as anything names it.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct SnapshotTaken {
    /// HBase's `SnapshotDescription`.
    #[prost(bytes = "bytes", tag = "1")]
    pub(crate) snapshot: Bytes,
    /// HBase's `TableSchema`.
    #[prost(bytes = "bytes", tag = "2")]
    pub(crate) descriptor: Bytes,
    #[prost(message, repeated, tag = "3")]
    pub(crate) regions: Vec<SnapshotRegion>,
}

/// A region in a snapshot.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct SnapshotRegion {
    #[prost(message, required, tag = "1")]
    pub(crate) region: RegionMeta,
    #[prost(message, repeated, tag = "2")]
    pub(crate) families: Vec<SnapshotFamily>,
}

/// The files for a (region, family) in a snapshot.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct SnapshotFamily {
    #[prost(bytes = "bytes", tag = "1")]
    pub(crate) family: Bytes,
    #[prost(message, repeated, tag = "2")]
    pub(crate) files: Vec<FileMeta>,
}

/// A table created from a snapshot. The regions are in the same order as the snapshot's, with the
/// same rows and files.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct SnapshotCloned {
    #[prost(string, tag = "1")]
    pub(crate) snapshot: String,
    #[prost(message, required, tag = "2")]
    pub(crate) table: TableCreated,
}

/// A disabled table restored to a snapshot: new regions, as in a clone, replace the old ones, and
/// the descriptor is the snapshot's.
#[derive(Clone, PartialEq, Message)]
pub(crate) struct SnapshotRestored {
    #[prost(string, tag = "1")]
    pub(crate) snapshot: String,
    #[prost(uint64, tag = "2")]
    pub(crate) table_id: u64,
    #[prost(message, repeated, tag = "3")]
    pub(crate) regions: Vec<RegionMeta>,
}

/// A snapshot that is retained.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SnapshotEntry {
    pub(crate) snapshot: Snapshot,
    /// The table's descriptor when the snapshot was taken.
    pub(crate) descriptor: TableDescriptor,
    /// Keyed by the ids that the regions had.
    pub(crate) regions: BTreeMap<u64, Arc<RegionState>>,
}

impl SnapshotTaken {
    pub(crate) fn new(
        snapshot: &Snapshot,
        descriptor: &TableDescriptor,
        regions: Vec<SnapshotRegion>,
    ) -> Self {
        Self {
            snapshot: snapshot::to_proto(snapshot).encode_to_vec().into(),
            descriptor: encode_table(descriptor),
            regions,
        }
    }

    fn entry(&self) -> Result<SnapshotEntry> {
        let snapshot = snapshot::from_proto(decode(&self.snapshot)?)?;
        let descriptor = table::from_proto(decode(&self.descriptor)?)?;
        let regions = self.regions.iter().map(|it| (it.region.region_id, it.state(&descriptor)));
        let regions = regions.map(|(id, region)| (id, Arc::new(region))).collect();
        Ok(SnapshotEntry { snapshot, descriptor, regions })
    }
}

impl SnapshotRegion {
    fn state(&self, table: &TableDescriptor) -> RegionState {
        let range = RowRange::new(self.region.start.clone(), self.region.stop.clone());
        let info = RegionInfo::new(table.name().clone(), range, self.region.created_millis);
        let families = self.families.iter().map(|family| {
            let files = family.files.iter().map(|meta| (meta.file_id, meta.clone())).collect();
            (family.family.clone(), FamilyFiles { files, ..FamilyFiles::default() })
        });
        RegionState::new(info, families.collect())
    }
}

impl SnapshotEntry {
    /// Returns every file, once for each region that has rows in it.
    pub(crate) fn files(&self) -> impl Iterator<Item = NamedFile<'_>> {
        self.regions.iter().flat_map(|(&id, region)| region.named_files(id))
    }

    /// Returns the regions' row ranges, in the order that clones use.
    pub(crate) fn ranges(&self) -> Vec<RowRange> {
        self.regions.values().map(|region| region.info.range.clone()).collect()
    }

    /// Returns the edit that takes this snapshot.
    pub(super) fn to_edit(&self) -> EditKind {
        let regions = self.regions.iter().map(|(&id, region)| SnapshotRegion {
            region: region.to_meta(id),
            families: region.families.iter().map(family_of).collect(),
        });
        let taken = SnapshotTaken::new(&self.snapshot, &self.descriptor, regions.collect());
        EditKind::SnapshotTaken(taken)
    }

    /// Assigns the snapshot's files to new, empty regions, one for one.
    fn fill(
        &self,
        metas: &[RegionMeta],
        regions: &mut BTreeMap<u64, Arc<RegionState>>,
    ) -> Result<()> {
        if metas.len() != self.regions.len() {
            return Err(contradiction("a snapshot has another number of regions than its table"));
        }
        for (meta, from) in metas.iter().zip(self.regions.values()) {
            let region = regions.get_mut(&meta.region_id).expect("it was made of these");
            let region = Arc::make_mut(region);
            if region.info.range != from.info.range {
                return Err(contradiction(
                    "a region of a snapshot has other rows than its table's",
                ));
            }
            region.families.clone_from(&from.families);
        }
        Ok(())
    }
}

fn family_of((name, family): (&Bytes, &FamilyFiles)) -> SnapshotFamily {
    SnapshotFamily { family: name.clone(), files: family.files.values().cloned().collect() }
}

impl ManifestState {
    pub(super) fn take_snapshot(&mut self, edit: &SnapshotTaken) -> Result<()> {
        let entry = edit.entry()?;
        for id in entry.regions.keys() {
            self.used(*id);
        }
        for file in entry.files() {
            self.used(file.meta.file_id);
            self.last_sequence = self.last_sequence.max(file.meta.sequence_max);
        }
        let name = entry.snapshot.name().to_owned();
        if self.snapshots.insert(name, Arc::new(entry)).is_some() {
            return Err(contradiction("a snapshot is taken twice"));
        }
        Ok(())
    }

    pub(super) fn clone_snapshot(&mut self, edit: &SnapshotCloned) -> Result<()> {
        // The table first: salvage retains it from a damaged manifest even without the snapshot's
        // files.
        self.create_table(&edit.table)?;
        let entry = self.known_snapshot(&edit.snapshot)?;
        let table = self.tables.get_mut(&edit.table.table_id).expect("it was just made");
        let table = Arc::make_mut(table);
        entry.fill(&edit.table.regions, &mut table.regions)
    }

    pub(super) fn restore_snapshot(&mut self, edit: &SnapshotRestored) -> Result<()> {
        let entry = self.known_snapshot(&edit.snapshot)?;
        let descriptor = entry.descriptor.clone();
        let mut regions = self.new_regions(&descriptor, &edit.regions);
        entry.fill(&edit.regions, &mut regions)?;
        let restored = TableEntry { descriptor, state: TableState::Disabled, regions };
        match self.tables.insert(edit.table_id, Arc::new(restored)) {
            Some(was) if was.descriptor.name() == entry.descriptor.name() => Ok(()),
            _ => Err(contradiction("a snapshot is restored to another table")),
        }
    }

    pub(super) fn delete_snapshot(&mut self, name: &str) -> Result<()> {
        self.known_snapshot(name)?;
        self.snapshots.remove(name);
        Ok(())
    }

    fn known_snapshot(&self, name: &str) -> Result<Arc<SnapshotEntry>> {
        let unknown = || contradiction("an unknown snapshot is used");
        self.snapshots.get(name).cloned().ok_or_else(unknown)
    }
}

#[cfg(test)]
mod tests {
    use rowhouse_model::{ErrorKind, FamilyDescriptor, TableName};

    use super::*;
    use crate::manifest::{Edit, FilesChanged, StoreCreated, TableDropped, TableStateChanged};

    fn region(region_id: u64, start: &'static str, stop: &'static str) -> RegionMeta {
        let start = start.into();
        let stop = stop.into();
        RegionMeta { region_id, start, stop, created_millis: region_id, server: 0 }
    }

    fn table(name: &str) -> TableDescriptor {
        let table = TableDescriptor::new(TableName::parse(name).unwrap());
        table.family(FamilyDescriptor::new("f").unwrap())
    }

    fn created(table_id: u64, name: &str, regions: [RegionMeta; 2]) -> TableCreated {
        let descriptor = encode_table(&table(name));
        TableCreated { table_id, descriptor, regions: regions.into(), disabled: false }
    }

    /// Returns a state with a table that has regions 2 and 3, a file in the first, and a snapshot
    /// of the table.
    fn state() -> ManifestState {
        let mut state = ManifestState::default();
        let file = FileMeta { file_id: 4, sequence_max: 9, ..FileMeta::default() };
        let changed = FilesChanged {
            region_id: 2,
            family: "f".into(),
            added: vec![file],
            flushed_sequence: 9,
            ..FilesChanged::default()
        };
        let regions = [region(2, "", "m"), region(3, "m", "")];
        apply(
            &mut state,
            [
                EditKind::StoreCreated(StoreCreated {
                    cluster_id: "id".into(),
                    ..Default::default()
                }),
                EditKind::TableCreated(created(1, "t", regions)),
                EditKind::FilesChanged(changed),
            ],
        )
        .unwrap();
        let taken = SnapshotEntry {
            snapshot: Snapshot::new("s", TableName::parse("t").unwrap()).unwrap(),
            descriptor: table("t"),
            regions: state.tables[&1].regions.clone(),
        };
        apply(&mut state, [taken.to_edit()]).unwrap();
        state
    }

    fn apply(state: &mut ManifestState, edits: impl IntoIterator<Item = EditKind>) -> Result<()> {
        edits.into_iter().try_for_each(|edit| state.apply(&Edit::new(edit)))
    }

    fn cloned(regions: [RegionMeta; 2]) -> EditKind {
        let table = created(10, "c", regions);
        EditKind::SnapshotCloned(SnapshotCloned { snapshot: "s".into(), table })
    }

    fn restored(table_id: u64) -> EditKind {
        let regions = vec![region(21, "", "m"), region(22, "m", "")];
        EditKind::SnapshotRestored(SnapshotRestored { snapshot: "s".into(), table_id, regions })
    }

    fn good_clone() -> EditKind {
        cloned([region(11, "", "m"), region(12, "m", "")])
    }

    fn files(state: &ManifestState) -> Vec<(u64, u64)> {
        state.all_files().map(|file| (file.region_id, file.meta.file_id)).collect()
    }

    #[test]
    fn a_state_with_snapshots_and_clones_equals_the_sum_of_its_edits() {
        let steps = [
            good_clone(),
            EditKind::TableStateChanged(TableStateChanged { table_id: 1, disabled: true }),
            restored(1),
            EditKind::TableDropped(TableDropped { table_id: 1 }),
            EditKind::SnapshotDeleted("s".into()),
        ];
        let mut state = state();
        for step in steps {
            apply(&mut state, [step]).unwrap();
            let mut again = ManifestState::default();
            state.to_edits().iter().try_for_each(|edit| again.apply(edit)).unwrap();
            assert_eq!(again, state);
        }
        assert_eq!(files(&state), [(11, 4)]);
    }

    #[test]
    fn a_file_of_several_tables_is_in_the_edit_of_shared_files() {
        let mut state = state();
        apply(&mut state, [good_clone()]).unwrap();
        assert_eq!(files(&state), [(2, 4), (11, 4), (2, 4)]);
        let edits = state.to_edits();
        let shared = edits.iter().filter(|edit| {
            matches!(&edit.kind, Some(EditKind::FilesShared(edit)) if edit.added[0].file_id == 4)
        });
        assert_eq!(shared.count(), 2);
    }

    #[test]
    fn removed_snapshots_and_tables_release_their_files() {
        let state = state();
        let gone = |kind| state.files_gone(&Edit::new(kind));
        assert_eq!(gone(EditKind::SnapshotDeleted("s".into())), [4]);
        assert_eq!(gone(restored(1)), [4]);
        assert_eq!(gone(good_clone()), [0; 0]);
    }

    #[test]
    fn edits_that_contradict_a_snapshot_are_refused() {
        let other_rows = cloned([region(11, "", "k"), region(12, "k", "")]);
        let mut fewer = good_clone();
        if let EditKind::SnapshotCloned(edit) = &mut fewer {
            edit.table.regions.pop();
        }
        let unknown = EditKind::SnapshotDeleted("other".into());
        let twice = state().snapshots["s"].to_edit();
        for wrong in [other_rows, fewer, unknown, twice, restored(7)] {
            let error = apply(&mut state(), [wrong]).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corruption, "{error}");
        }
    }
}
