//! What an edit means to followers: the tables that it changes as a whole, and the regions that it
//! removes or gives to another table.

use rowhouse_model::{Bytes, TableName, WholeTableChangeKind as Kind};
use rowhouse_schema::IndexOf;

use super::{EditKind, ManifestState, TableAltered, decode_table};
use crate::retention::Retention;

/// A region that an edit removes, or gives to another table or another name of its table.
pub(crate) struct RetiredRegion {
    pub(crate) region: u64,
    pub(crate) table_id: u64,
    pub(crate) table: TableName,
    /// Whether the region exists afterwards.
    pub(crate) stays: bool,
}

impl ManifestState {
    /// Returns the tables that an edit changes as a whole, with their ids. Tables of indexes are
    /// not among them: they have no followers.
    pub(crate) fn whole_changes_by(&self, edit: &EditKind) -> Vec<(u64, TableName, Kind)> {
        let mut changes = Vec::new();
        self.add_whole_changes(edit, &mut changes);
        // A table may take the name of one that the same edit drops.
        changes.sort_by_key(|(.., kind)| *kind != Kind::Dropped);
        changes
    }

    fn add_whole_changes(&self, edit: &EditKind, changes: &mut Vec<(u64, TableName, Kind)>) {
        let (table_id, kind) = match edit {
            EditKind::Together(together) => {
                let edits = together.edits.iter().filter_map(|edit| edit.kind.as_ref());
                edits.for_each(|edit| self.add_whole_changes(edit, changes));
                return;
            }
            EditKind::FilesLoaded(loaded) => {
                for file in &loaded.files {
                    if let Some(table_id) = self.table_id_of(file.region_id) {
                        self.add_whole_change(table_id, Kind::Loaded, changes);
                    }
                }
                return;
            }
            EditKind::TableDropped(edit) => (edit.table_id, Kind::Dropped),
            EditKind::TableTruncated(edit) => (edit.table_id, Kind::Truncated),
            EditKind::RegionTruncated(edit) => (edit.table_id, Kind::Truncated),
            EditKind::SnapshotRestored(edit) => (edit.table_id, Kind::Restored),
            EditKind::TablesSwapped(edit) => (edit.table_id, Kind::Restored),
            EditKind::TableRenamed(edit) => {
                add_new_table(edit.table_id, &edit.descriptor, changes);
                // By its old name it is gone.
                (edit.table_id, Kind::Dropped)
            }
            EditKind::SnapshotCloned(edit) => {
                add_new_table(edit.table.table_id, &edit.table.descriptor, changes);
                return;
            }
            EditKind::TableAltered(edit) if self.changes_retained_cells(edit) => {
                (edit.table_id, Kind::Altered)
            }
            EditKind::TableAltered(_)
            | EditKind::StoreCreated(_)
            | EditKind::NamespaceChanged(_)
            | EditKind::NamespaceDropped(_)
            | EditKind::TableCreated(_)
            | EditKind::TableStateChanged(_)
            | EditKind::FilesChanged(_)
            | EditKind::LogForgotten(_)
            | EditKind::LogClosed(_)
            | EditKind::RegionsReplaced(_)
            | EditKind::FilesShared(_)
            | EditKind::SnapshotTaken(_)
            | EditKind::SnapshotDeleted(_)
            | EditKind::SwitchesChanged(_)
            | EditKind::RegionAssigned(_) => return,
        };
        self.add_whole_change(table_id, kind, changes);
    }

    fn add_whole_change(
        &self,
        table_id: u64,
        kind: Kind,
        changes: &mut Vec<(u64, TableName, Kind)>,
    ) {
        let Some(table) = self.tables.get(&table_id) else { return };
        let is_known = changes.iter().any(|(id, _, known)| (*id, *known) == (table_id, kind));
        if !is_known && !matches!(IndexOf::of_table(&table.descriptor), Ok(Some(_))) {
            changes.push((table_id, table.descriptor.name().clone(), kind));
        }
    }

    /// Returns true if a table loses a family, or a family retains other cells than before.
    fn changes_retained_cells(&self, edit: &TableAltered) -> bool {
        let Some(table) = self.tables.get(&edit.table_id) else { return false };
        let Ok(after) = decode_table(&edit.descriptor) else { return false };
        table.descriptor.families().iter().any(|family| {
            let retained = after.find_family(family.name()).ok().map(Retention::from);
            retained != Some(Retention::from(family))
        })
    }

    /// Returns the regions that an edit removes, or gives to another table or another name.
    pub(crate) fn retired_by(&self, edit: &EditKind) -> Vec<RetiredRegion> {
        match edit {
            EditKind::Together(together) => {
                let edits = together.edits.iter().filter_map(|edit| edit.kind.as_ref());
                edits.flat_map(|edit| self.retired_by(edit)).collect()
            }
            EditKind::TableDropped(edit) => self.removed_of(edit.table_id, |_| true),
            EditKind::TableTruncated(edit) => self.removed_of(edit.table_id, |_| true),
            EditKind::SnapshotRestored(edit) => self.removed_of(edit.table_id, |_| true),
            EditKind::RegionTruncated(edit) => {
                self.removed_of(edit.table_id, |region| region == edit.removed)
            }
            EditKind::RegionsReplaced(edit) => {
                self.removed_of(edit.table_id, |region| edit.removed.contains(&region))
            }
            EditKind::TablesSwapped(edit) => {
                let mut regions = self.moved_of(edit.table_id);
                regions.extend(self.moved_of(edit.other_id));
                regions
            }
            EditKind::TableRenamed(edit) => self.moved_of(edit.table_id),
            _ => Vec::new(),
        }
    }

    fn removed_of(&self, table_id: u64, is_removed: impl Fn(u64) -> bool) -> Vec<RetiredRegion> {
        let Some(entry) = self.tables.get(&table_id) else { return Vec::new() };
        let table = entry.descriptor.name();
        let regions = entry.regions.keys().copied().filter(|region| is_removed(*region));
        let retired =
            |region| RetiredRegion { region, table_id, table: table.clone(), stays: false };
        regions.map(retired).collect()
    }

    fn moved_of(&self, table_id: u64) -> Vec<RetiredRegion> {
        let mut regions = self.removed_of(table_id, |_| true);
        regions.iter_mut().for_each(|region| region.stays = true);
        regions
    }

    /// Returns the table of a region that exists.
    pub(crate) fn table_id_of(&self, region_id: u64) -> Option<u64> {
        let mut tables = self.tables.iter();
        tables.find(|(_, table)| table.regions.contains_key(&region_id)).map(|(id, _)| *id)
    }

    /// Returns the name of a table that exists.
    pub(crate) fn name_of(&self, table_id: u64) -> Option<TableName> {
        self.tables.get(&table_id).map(|table| table.descriptor.name().clone())
    }
}

/// Adds a table that has rows when it gets its name.
fn add_new_table(table_id: u64, descriptor: &Bytes, changes: &mut Vec<(u64, TableName, Kind)>) {
    let Ok(table) = decode_table(descriptor) else { return };
    if matches!(IndexOf::of_table(&table), Ok(None)) {
        changes.push((table_id, table.name().clone(), Kind::Restored));
    }
}
