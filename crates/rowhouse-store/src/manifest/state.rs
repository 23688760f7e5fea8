//! The state that the edits add up to. Pure: applying an edit returns the next state, and a state
//! returns the shortest edit list that leads to it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bytes::Bytes;
use rowhouse_model::{
    Error, FamilyDescriptor, Namespace, RegionInfo, Result, RowRange, TableDescriptor, TableState,
    escape,
};

use super::{
    Assignment, Edit, EditKind, FileMeta, FilesChanged, FilesLoaded, LoadedFile, LogClosed,
    LogForgotten, LogSynced, NamespaceChanged, RegionAssigned, RegionMeta, RegionTruncated,
    RegionsReplaced, SnapshotEntry, StoreCreated, SwitchesChanged, TableAltered, TableCreated,
    TableRenamed, TableStateChanged, TableTruncated, TablesSwapped, Together, decode_table,
    encode_table,
};
use crate::layout::file_path;

/// Everything the manifest records. Clones share the tables and regions, so a change costs only
/// what it changes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct ManifestState {
    pub(crate) cluster_id: String,
    pub(crate) created_millis: i64,
    /// By name.
    pub(crate) namespaces: BTreeMap<String, Namespace>,
    /// By table id.
    pub(crate) tables: BTreeMap<u64, Arc<TableEntry>>,
    /// By name.
    pub(crate) snapshots: BTreeMap<String, Arc<SnapshotEntry>>,
    next_id: u64,
    pub(super) last_sequence: u64,
    /// Every log record below this sequence number is in files, or was dropped by a flush.
    pub(crate) log_from: u64,
    /// The oldest log segment when it was last noted. It must exist.
    pub(crate) log_segment: Option<u64>,
    pub(crate) switches: SwitchesChanged,
    /// Where the log ended when the store was last closed.
    pub(crate) log_closed: Option<LogClosed>,
    /// How far the log must reach, in which segment.
    pub(crate) log_synced: Option<LogSynced>,
}

/// A table.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TableEntry {
    pub(crate) descriptor: TableDescriptor,
    pub(crate) state: TableState,
    /// Keyed by region id.
    pub(crate) regions: BTreeMap<u64, Arc<RegionState>>,
}

/// A region.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct RegionState {
    pub(crate) info: RegionInfo,
    pub(crate) assignment: Assignment,
    /// Keyed by family name.
    pub(crate) families: BTreeMap<Bytes, FamilyFiles>,
}

/// The files in one (region, family).
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct FamilyFiles {
    /// Keyed by file id, so oldest first.
    pub(crate) files: BTreeMap<u64, FileMeta>,
    /// Every cell up to this sequence number is in the files, or was dropped when they were
    /// written.
    pub(crate) flushed_sequence: u64,
    /// Log records up to this sequence number belong to another family, dropped earlier, with the
    /// same name; 0 if there was none.
    pub(crate) starts_after: u64,
}

/// A file, and the region and family that name it.
pub(crate) struct NamedFile<'a> {
    pub(crate) region_id: u64,
    /// The region's rows.
    pub(crate) range: &'a RowRange,
    pub(crate) family: &'a Bytes,
    pub(crate) meta: &'a FileMeta,
}

impl ManifestState {
    /// Returns the lowest id that was never assigned.
    pub(crate) fn next_id(&self) -> u64 {
        self.next_id.max(1)
    }

    /// Returns the highest sequence number that any file holds or held.
    pub(crate) fn last_sequence(&self) -> u64 {
        self.last_sequence
    }

    /// Checks that the manifest has recorded a region, though it may be dropped. Ids rise, so an id
    /// above all recorded ones comes from an edit that was lost.
    pub(crate) fn check_known(&self, region_id: u64) -> Result<()> {
        if region_id < self.next_id() {
            return Ok(());
        }
        Err(Error::corruption(format!(
            "the log has cells of region {region_id}, which MANIFEST does not name: the end of \
             MANIFEST is missing"
        )))
    }

    /// Returns every file in every table.
    pub(crate) fn files(&self) -> impl Iterator<Item = NamedFile<'_>> {
        self.tables.values().flat_map(|table| table.files())
    }

    /// Returns every file in every table and snapshot, as often as it is named.
    pub(crate) fn all_files(&self) -> impl Iterator<Item = NamedFile<'_>> {
        self.files().chain(self.snapshots.values().flat_map(|snapshot| snapshot.files()))
    }

    /// Returns the newest timestamp of any cell in any file.
    pub(crate) fn newest_timestamp(&self) -> i64 {
        self.all_files().map(|file| file.meta.timestamp_max).max().unwrap_or(0)
    }

    /// Returns the files that an edit removes from a region or snapshot, including those that
    /// others still name.
    pub(crate) fn files_gone(&self, edit: &Edit) -> Vec<u64> {
        match &edit.kind {
            Some(EditKind::FilesChanged(edit)) => edit.removed.clone(),
            Some(EditKind::TableDropped(edit)) => self.files_of_table(edit.table_id),
            Some(EditKind::TableTruncated(edit)) => self.files_of_table(edit.table_id),
            Some(EditKind::RegionTruncated(edit)) => self.files_of_region(edit.removed),
            Some(EditKind::TableAltered(edit)) => self.files_of_lost_families(edit),
            Some(EditKind::SnapshotRestored(edit)) => self.files_of_table(edit.table_id),
            Some(EditKind::SnapshotDeleted(name)) => self.files_of_snapshot(name),
            Some(EditKind::Together(Together { edits })) => {
                edits.iter().flat_map(|edit| self.files_gone(edit)).collect()
            }
            _ => Vec::new(),
        }
    }

    fn files_of_table(&self, table_id: u64) -> Vec<u64> {
        let files = self.tables.get(&table_id).into_iter().flat_map(|table| table.files());
        files.map(|file| file.meta.file_id).collect()
    }

    fn files_of_region(&self, region_id: u64) -> Vec<u64> {
        let region = self.tables.values().find_map(|table| table.regions.get(&region_id));
        let families = region.into_iter().flat_map(|region| region.families.values());
        families.flat_map(|family| family.files.keys()).copied().collect()
    }

    fn files_of_snapshot(&self, name: &str) -> Vec<u64> {
        let files = self.snapshots.get(name).into_iter().flat_map(|snapshot| snapshot.files());
        files.map(|file| file.meta.file_id).collect()
    }

    fn files_of_lost_families(&self, edit: &TableAltered) -> Vec<u64> {
        let (Some(table), Ok(altered)) = (self.tables.get(&edit.table_id), edit.table()) else {
            return Vec::new();
        };
        let lost = table.files().filter(|file| altered.find_family(file.family).is_err());
        lost.map(|file| file.meta.file_id).collect()
    }

    /// Returns true if the cells in a (region, family) with sequence number `sequence` were
    /// flushed; `false` if the family does not exist.
    pub(crate) fn is_flushed(&self, region_id: u64, family: &[u8], sequence: u64) -> bool {
        let files = self.files_of(region_id, family);
        files.is_some_and(|files| sequence <= files.flushed_sequence)
    }

    /// Returns the files in a (region, family), if it exists.
    pub(crate) fn files_of(&self, region_id: u64, family: &[u8]) -> Option<&FamilyFiles> {
        let region = self.table_of(region_id).and_then(|table| table.regions.get(&region_id));
        region.and_then(|region| region.families.get(family))
    }

    /// Returns a region's table, if it exists.
    pub(crate) fn table_of(&self, region_id: u64) -> Option<&TableEntry> {
        self.tables
            .values()
            .find(|table| table.regions.contains_key(&region_id))
            .map(|table| &**table)
    }

    /// Applies one edit.
    ///
    /// # Errors
    /// `Corruption` for an edit that contradicts the state: the manifest was altered after it was
    /// written.
    pub(crate) fn apply(&mut self, edit: &Edit) -> Result<()> {
        let kind = edit.kind.as_ref().ok_or_else(|| contradiction("an edit without a kind"))?;
        match kind {
            EditKind::StoreCreated(edit) => self.create_store(edit),
            EditKind::NamespaceChanged(edit) => {
                let namespace = edit.namespace()?;
                self.namespaces.insert(namespace.name().to_owned(), namespace);
            }
            EditKind::NamespaceDropped(name) => {
                self.namespaces.remove(&*String::from_utf8_lossy(name)).ok_or_else(|| {
                    let name = String::from_utf8_lossy(name);
                    contradiction(format_args!("an unknown namespace is dropped: {name}"))
                })?;
            }
            EditKind::TableCreated(edit) => self.create_table(edit)?,
            EditKind::TableStateChanged(edit) => {
                self.change_table_state(edit)?;
            }
            EditKind::TableAltered(edit) => self.alter_table(edit)?,
            EditKind::TableTruncated(edit) => self.truncate_table(edit)?,
            EditKind::RegionTruncated(edit) => self.truncate_region(edit)?,
            EditKind::RegionsReplaced(edit) => self.replace_regions(edit)?,
            EditKind::RegionAssigned(edit) => self.assign_region(edit)?,
            EditKind::TablesSwapped(edit) => self.swap_tables(edit)?,
            EditKind::TableRenamed(edit) => self.rename_table(edit)?,
            EditKind::TableDropped(edit) => {
                self.tables
                    .remove(&edit.table_id)
                    .ok_or_else(|| unknown_table("is dropped", edit.table_id))?;
            }
            EditKind::FilesChanged(edit) | EditKind::FilesShared(edit) => {
                self.change_files(edit)?;
            }
            EditKind::FilesLoaded(edit) => {
                for file in &edit.files {
                    self.change_files(&FilesChanged {
                        region_id: file.region_id,
                        family: file.family.clone(),
                        added: vec![file.meta.clone()],
                        ..FilesChanged::default()
                    })?;
                }
            }
            EditKind::LogForgotten(edit) => {
                self.log_from = self.log_from.max(edit.below_sequence);
                // Two concurrent segment removals may be noted in either order.
                let segment = (edit.first_segment > 0).then_some(edit.first_segment);
                self.log_segment = self.log_segment.max(segment);
                // These numbers were used. If they were assigned again, their records would be
                // ignored as flushed.
                let used = edit.below_sequence.saturating_sub(1);
                self.last_sequence = self.last_sequence.max(used);
            }
            EditKind::SwitchesChanged(edit) => self.switches = *edit,
            EditKind::LogClosed(edit) => self.log_closed = Some(*edit),
            EditKind::SnapshotTaken(edit) => self.take_snapshot(edit)?,
            EditKind::SnapshotDeleted(name) => self.delete_snapshot(name)?,
            EditKind::SnapshotCloned(edit) => self.clone_snapshot(edit)?,
            EditKind::SnapshotRestored(edit) => self.restore_snapshot(edit)?,
            EditKind::Together(Together { edits }) => {
                edits.iter().try_for_each(|edit| self.apply(edit))?;
            }
        }
        if let Some(log) = edit.log {
            // Concurrent edits may be written in either order.
            self.log_synced = Some(self.log_synced.map_or(log, |before| before.or_later(log)));
        }
        Ok(())
    }

    fn create_store(&mut self, edit: &StoreCreated) {
        self.cluster_id.clone_from(&edit.cluster_id);
        self.created_millis = edit.created_millis;
        self.next_id = self.next_id.max(edit.next_id);
        self.last_sequence = self.last_sequence.max(edit.last_sequence);
    }

    pub(super) fn create_table(&mut self, edit: &TableCreated) -> Result<()> {
        let descriptor = edit.table()?;
        let regions = self.new_regions(&descriptor, &edit.regions);
        self.used(edit.table_id);
        let entry = TableEntry { descriptor, state: table_state(edit.disabled), regions };
        if self.tables.insert(edit.table_id, Arc::new(entry)).is_some() {
            let id = edit.table_id;
            return Err(contradiction(format_args!("a table id is used twice: id={id}")));
        }
        Ok(())
    }

    /// Returns new regions without files.
    pub(super) fn new_regions(
        &mut self,
        table: &TableDescriptor,
        metas: &[RegionMeta],
    ) -> BTreeMap<u64, Arc<RegionState>> {
        let families: Vec<Bytes> =
            table.families().iter().map(FamilyDescriptor::name).cloned().collect();
        let mut regions = BTreeMap::new();
        for region in metas {
            self.used(region.region_id);
            let range = RowRange::new(region.start.clone(), region.stop.clone());
            let info = RegionInfo::new(table.name().clone(), range, region.created_millis);
            let families = families.iter().map(|name| (name.clone(), FamilyFiles::default()));
            let mut state = RegionState::new(info, families.collect());
            state.assignment.server = region.server;
            regions.insert(region.region_id, Arc::new(state));
        }
        regions
    }

    fn truncate_table(&mut self, edit: &TableTruncated) -> Result<()> {
        let unknown = || unknown_table("is truncated", edit.table_id);
        let table = self.tables.get(&edit.table_id).ok_or_else(unknown)?;
        let descriptor = table.descriptor.clone();
        let regions = self.new_regions(&descriptor, &edit.regions);
        let truncated = TableEntry { descriptor, state: TableState::Enabled, regions };
        self.tables.insert(edit.table_id, Arc::new(truncated));
        Ok(())
    }

    fn truncate_region(&mut self, edit: &RegionTruncated) -> Result<()> {
        let unknown = || contradiction("an unknown region is truncated");
        let table = self.tables.get(&edit.table_id).ok_or_else(unknown)?;
        let descriptor = table.descriptor.clone();
        let mut added = self.new_regions(&descriptor, std::slice::from_ref(&edit.added));
        let table = Arc::make_mut(self.tables.get_mut(&edit.table_id).ok_or_else(unknown)?);
        let removed = table.regions.remove(&edit.removed).ok_or_else(unknown)?;
        added.values_mut().for_each(|it| Arc::make_mut(it).assignment = removed.assignment);
        table.regions.append(&mut added);
        Ok(())
    }

    fn replace_regions(&mut self, edit: &RegionsReplaced) -> Result<()> {
        let unknown = || unknown_table("has regions replaced", edit.table_id);
        let table = self.tables.get(&edit.table_id).ok_or_else(unknown)?;
        let descriptor = table.descriptor.clone();
        let mut added = self.new_regions(&descriptor, &edit.added);
        let table = self.tables.get_mut(&edit.table_id).ok_or_else(unknown)?;
        let table = Arc::make_mut(table);
        let mut assignment = None;
        for id in &edit.removed {
            let removed = table.regions.remove(id);
            let removed = removed.ok_or_else(|| unknown_region("is replaced", *id))?;
            let assignment = *assignment.get_or_insert(removed.assignment);
            for region in added.values_mut().map(Arc::make_mut) {
                region.assignment = assignment;
                region.take_files(&removed);
            }
        }
        table.regions.append(&mut added);
        Ok(())
    }

    fn swap_tables(&mut self, edit: &TablesSwapped) -> Result<()> {
        let find = |id| self.tables.get(&id).ok_or_else(|| unknown_table("is swapped", id));
        let one = find(edit.table_id)?;
        let other = find(edit.other_id)?;
        if edit.table_id == edit.other_id {
            return Err(contradiction("a table is swapped with itself"));
        }
        let new_one = one.with_regions_of(other, decode_table(&edit.descriptor)?)?;
        let new_other = other.with_regions_of(one, decode_table(&edit.other_descriptor)?)?;
        self.tables.insert(edit.table_id, Arc::new(new_one));
        self.tables.insert(edit.other_id, Arc::new(new_other));
        Ok(())
    }

    fn rename_table(&mut self, edit: &TableRenamed) -> Result<()> {
        let table = self.tables.get(&edit.table_id);
        let table = table.ok_or_else(|| unknown_table("is renamed", edit.table_id))?;
        let renamed = table.with_regions_of(table, decode_table(&edit.descriptor)?)?;
        self.tables.insert(edit.table_id, Arc::new(renamed));
        Ok(())
    }

    fn assign_region(&mut self, edit: &RegionAssigned) -> Result<()> {
        let has_region = |table: &&mut Arc<TableEntry>| table.regions.contains_key(&edit.region_id);
        let table = self.tables.values_mut().find(has_region);
        let table = table.ok_or_else(|| unknown_region("is assigned", edit.region_id))?;
        let region = Arc::make_mut(table).regions.get_mut(&edit.region_id);
        let region = region.expect("the table was chosen for having the region");
        Arc::make_mut(region).assignment = edit.assignment();
        Ok(())
    }

    fn change_files(&mut self, edit: &FilesChanged) -> Result<()> {
        for file in &edit.added {
            self.used(file.file_id);
            self.last_sequence = self.last_sequence.max(file.sequence_max);
        }
        self.last_sequence = self.last_sequence.max(edit.flushed_sequence);
        let table = self
            .tables
            .values_mut()
            .find(|table| table.regions.contains_key(&edit.region_id))
            .ok_or_else(|| files_of_unknown("region", edit))?;
        let region = Arc::make_mut(table).regions.get_mut(&edit.region_id);
        let region = region.expect("the table was chosen for having the region");
        let family = Arc::make_mut(region)
            .families
            .get_mut(&edit.family)
            .ok_or_else(|| files_of_unknown("family", edit))?;
        for id in &edit.removed {
            family.files.remove(id).ok_or_else(|| {
                let path = file_path(*id);
                contradiction(format_args!("an unknown file is removed: {path}"))
            })?;
        }
        for file in &edit.added {
            family.files.insert(file.file_id, file.clone());
        }
        family.flushed_sequence = family.flushed_sequence.max(edit.flushed_sequence);
        family.starts_after = family.starts_after.max(edit.starts_after);
        Ok(())
    }

    fn change_table_state(&mut self, edit: &TableStateChanged) -> Result<()> {
        let table = self.tables.get_mut(&edit.table_id);
        let table = table.ok_or_else(|| unknown_table("changes", edit.table_id))?;
        let table = Arc::make_mut(table);
        table.state = table_state(edit.disabled);
        if !edit.disabled {
            for region in table.regions.values_mut().filter(|it| !it.assignment.in_service) {
                Arc::make_mut(region).assignment.in_service = true;
            }
        }
        Ok(())
    }

    fn alter_table(&mut self, edit: &TableAltered) -> Result<()> {
        let table = self.tables.get_mut(&edit.table_id);
        let table = table.ok_or_else(|| unknown_table("is altered", edit.table_id))?;
        let descriptor = edit.table()?;
        if descriptor.name() != table.descriptor.name() {
            let old = table.descriptor.name();
            let new = descriptor.name();
            return Err(contradiction(format_args!("table {old} is altered to the name {new}")));
        }
        let table = Arc::make_mut(table);
        for region in table.regions.values_mut() {
            Arc::make_mut(region).take_families(&descriptor, edit.starts_after);
        }
        table.descriptor = descriptor;
        self.last_sequence = self.last_sequence.max(edit.starts_after);
        Ok(())
    }

    pub(super) fn used(&mut self, id: u64) {
        self.next_id = self.next_id.max(id + 1);
    }

    /// Returns the shortest edit list that leads to this state.
    pub(crate) fn to_edits(&self) -> Vec<Edit> {
        let mut kinds = vec![EditKind::StoreCreated(StoreCreated {
            cluster_id: self.cluster_id.clone(),
            created_millis: self.created_millis,
            next_id: self.next_id,
            last_sequence: self.last_sequence,
        })];
        kinds.extend(
            self.namespaces
                .values()
                .map(|namespace| EditKind::NamespaceChanged(NamespaceChanged::new(namespace))),
        );
        let shared = self.shared_files();
        if self.switches != SwitchesChanged::default() {
            kinds.push(EditKind::SwitchesChanged(self.switches));
        }
        for (&table_id, table) in &self.tables {
            kinds.push(EditKind::TableCreated(TableCreated {
                table_id,
                descriptor: encode_table(&table.descriptor),
                regions: table.regions.iter().map(|(&id, region)| region.to_meta(id)).collect(),
                disabled: table.state == TableState::Disabled,
            }));
            for (&region_id, region) in &table.regions {
                if region.assignment != Assignment::default() {
                    let edit = RegionAssigned::new(region_id, region.assignment);
                    kinds.push(EditKind::RegionAssigned(edit));
                }
                kinds.extend(region.files_edits(region_id, &shared));
            }
        }
        kinds.extend(self.snapshots.values().map(|snapshot| snapshot.to_edit()));
        kinds.push(EditKind::LogForgotten(LogForgotten {
            below_sequence: self.log_from,
            first_segment: self.log_segment.unwrap_or(0),
        }));
        kinds.extend(self.log_closed.map(EditKind::LogClosed));
        let mut edits: Vec<_> = kinds.into_iter().map(Edit::new).collect();
        if let Some(last) = edits.last_mut() {
            last.log = self.log_synced;
        }
        edits
    }

    /// Returns the files that several regions name.
    fn shared_files(&self) -> BTreeSet<u64> {
        let mut named = BTreeSet::new();
        let ids = self.files().map(|file| file.meta.file_id);
        ids.filter(|id| !named.insert(*id)).collect()
    }
}

impl FamilyFiles {
    /// Returns the file that a commit with this sequence number was flushed to, or that it was
    /// compacted into: the first file that reaches up to the number, since logged sequence numbers
    /// do not overlap between files. `None` if the commit was not flushed, or none of its cells
    /// were retained.
    pub(crate) fn file_with(&self, sequence: u64) -> Option<&FileMeta> {
        if sequence > self.flushed_sequence || sequence <= self.starts_after {
            return None;
        }
        // Bulk-loaded cells were never in the log.
        let files =
            self.files.values().filter(|file| !file.loaded && file.logged_up_to() >= sequence);
        files.min_by_key(|file| (file.logged_up_to(), file.file_id))
    }
}

impl TableEntry {
    fn files(&self) -> impl Iterator<Item = NamedFile<'_>> {
        self.regions.iter().flat_map(|(&region_id, region)| region.named_files(region_id))
    }

    /// Returns the table with another declaration, and with the regions from a table that has the
    /// same families.
    fn with_regions_of(&self, of: &Self, descriptor: TableDescriptor) -> Result<Self> {
        let names = |table: &TableDescriptor| -> Vec<_> {
            table.families().iter().map(FamilyDescriptor::name).cloned().collect()
        };
        let name = descriptor.name();
        if names(&descriptor) != names(&of.descriptor) {
            let unlike = format_args!("table {name} takes regions unlike its own");
            return Err(contradiction(unlike));
        }
        let regions = of.regions.iter().map(|(&id, region)| {
            let RegionInfo { range, id: created_millis, .. } = region.info.clone();
            let info = RegionInfo::new(name.clone(), range, created_millis);
            (id, Arc::new(RegionState { info, ..RegionState::clone(region) }))
        });
        let regions = regions.collect();
        Ok(Self { descriptor, state: self.state, regions })
    }
}

impl RegionState {
    /// Returns a region on the first server, in service.
    pub(crate) fn new(info: RegionInfo, families: BTreeMap<Bytes, FamilyFiles>) -> Self {
        Self { info, assignment: Assignment::default(), families }
    }

    /// Changes the families to the families in `table`. Log records up to `starts_after` do not
    /// belong to new families.
    fn take_families(&mut self, table: &TableDescriptor, starts_after: u64) {
        self.families.retain(|name, _| table.find_family(name).is_ok());
        for family in table.families() {
            let new = || FamilyFiles {
                flushed_sequence: starts_after,
                starts_after,
                ..FamilyFiles::default()
            };
            self.families.entry(family.name().clone()).or_insert_with(new);
        }
    }

    /// Adds another region's files that may hold rows in this one.
    fn take_files(&mut self, other: &Self) {
        let range = &self.info.range;
        for (name, family) in &mut self.families {
            let files = other.families.get(name).into_iter().flat_map(|family| &family.files);
            let mine = files.filter(|(_, meta)| meta.may_hold_rows(range));
            family.files.extend(mine.map(|(id, meta)| (*id, meta.clone())));
        }
    }

    pub(super) fn named_files(&self, region_id: u64) -> impl Iterator<Item = NamedFile<'_>> {
        let range = &self.info.range;
        self.families.iter().flat_map(move |(family, files)| {
            files.files.values().map(move |meta| NamedFile { region_id, range, family, meta })
        })
    }

    pub(super) fn to_meta(&self, region_id: u64) -> RegionMeta {
        RegionMeta {
            region_id,
            start: self.info.range.start.clone(),
            stop: self.info.range.stop.clone(),
            created_millis: self.info.id,
            // A separate edit has the assignment.
            server: 0,
        }
    }

    fn files_edits<'a>(
        &'a self,
        region_id: u64,
        shared: &'a BTreeSet<u64>,
    ) -> impl Iterator<Item = EditKind> + 'a {
        let changed = self.families.iter().filter(|(_, files)| **files != FamilyFiles::default());
        changed.flat_map(move |(name, family)| {
            // Bulk-loaded files and files shared with other regions are written as separate edit
            // kinds, so that a reader that does not know loads or splits refuses them.
            let files = || family.files.values();
            let loaded = files().filter(|file| file.loaded).cloned();
            let loaded = loaded.map(|meta| LoadedFile { region_id, family: name.clone(), meta });
            let loaded: Vec<LoadedFile> = loaded.collect();
            let is_shared = |file: &FileMeta| {
                file.is_wider_than(&self.info.range) || shared.contains(&file.file_id)
            };
            let written = |shared: bool| {
                let selected =
                    files().filter(move |file| !file.loaded && is_shared(file) == shared);
                FilesChanged {
                    region_id,
                    family: name.clone(),
                    added: selected.cloned().collect(),
                    removed: Vec::new(),
                    flushed_sequence: family.flushed_sequence,
                    starts_after: family.starts_after,
                }
            };
            let changed = written(false);
            let shared = written(true);
            let shared = (!shared.added.is_empty()).then_some(EditKind::FilesShared(shared));
            let loaded = (!loaded.is_empty())
                .then_some(EditKind::FilesLoaded(FilesLoaded { files: loaded }));
            [EditKind::FilesChanged(changed)].into_iter().chain(shared).chain(loaded)
        })
    }
}

fn table_state(disabled: bool) -> TableState {
    if disabled { TableState::Disabled } else { TableState::Enabled }
}

fn unknown_table(what: &str, id: u64) -> Error {
    contradiction(format_args!("an unknown table {what}: table id={id}"))
}

fn unknown_region(what: &str, id: u64) -> Error {
    contradiction(format_args!("an unknown region {what}: region={id}"))
}

/// Returns an error that names the files: if the edit that created their table is lost, nothing
/// else names them.
fn files_of_unknown(what: &str, edit: &FilesChanged) -> Error {
    let added = edit.added.iter().map(|file| file_path(file.file_id));
    let files: Vec<String> = added.collect();
    contradiction(format_args!(
        "files of an unknown {what} change: region={}, family={}, files={}",
        edit.region_id,
        escape(&edit.family),
        files.join(" ")
    ))
}

pub(super) fn contradiction(what: impl std::fmt::Display) -> Error {
    Error::corruption(format!("MANIFEST contradicts itself: {what}"))
}

#[cfg(test)]
mod tests {
    use prost::Message;
    use rowhouse_model::{ErrorKind, TableName};

    use super::*;

    fn region(region_id: u64, start: &'static str, stop: &'static str) -> RegionMeta {
        RegionMeta {
            region_id,
            start: start.into(),
            stop: stop.into(),
            created_millis: region_id,
            server: 0,
        }
    }

    /// Returns a state with a table that has regions 2 and 3.
    fn state() -> ManifestState {
        let table = TableDescriptor::new(TableName::parse("t").unwrap());
        let table = table.family(FamilyDescriptor::new("f").unwrap());
        let mut state = ManifestState::default();
        let created = TableCreated {
            table_id: 1,
            descriptor: encode_table(&table),
            regions: vec![region(2, "", "m"), region(3, "m", "")],
            disabled: false,
        };
        state.apply(&Edit::new(EditKind::TableCreated(created))).unwrap();
        state
    }

    fn assigned(region_id: u64, server: u32, in_service: bool) -> EditKind {
        EditKind::RegionAssigned(RegionAssigned::new(region_id, Assignment { server, in_service }))
    }

    /// A region's id and server, and whether it is in service.
    type Assigned = (u64, u32, bool);

    fn assignments(state: &ManifestState) -> Vec<Assigned> {
        let regions = state.tables[&1].regions.iter();
        let shown = regions
            .map(|(&id, region)| (id, region.assignment.server, region.assignment.in_service));
        shown.collect()
    }

    #[test]
    fn assignments_survive_a_rewrite_and_go_to_the_regions_that_replace_others() {
        let mut state = state();
        assert_eq!(assignments(&state), [(2, 0, true), (3, 0, true)]);
        let state_changed =
            |disabled| EditKind::TableStateChanged(TableStateChanged { table_id: 1, disabled });
        let replaced = |removed: &[u64], added: &[RegionMeta]| {
            let removed = removed.to_vec();
            let added = added.to_vec();
            EditKind::RegionsReplaced(RegionsReplaced { table_id: 1, removed, added })
        };
        let truncated = RegionTruncated { table_id: 1, removed: 4, added: region(6, "", "f") };
        let steps: [(EditKind, &[Assigned]); 8] = [
            (assigned(2, 1, true), &[(2, 1, true), (3, 0, true)]),
            (assigned(3, 2, false), &[(2, 1, true), (3, 2, false)]),
            (state_changed(true), &[(2, 1, true), (3, 2, false)]),
            (state_changed(false), &[(2, 1, true), (3, 2, true)]),
            (
                replaced(&[2], &[region(4, "", "f"), region(5, "f", "m")]),
                &[(3, 2, true), (4, 1, true), (5, 1, true)],
            ),
            (EditKind::RegionTruncated(truncated), &[(3, 2, true), (5, 1, true), (6, 1, true)]),
            (replaced(&[5, 3], &[region(7, "f", "")]), &[(6, 1, true), (7, 1, true)]),
            (assigned(6, 0, true), &[(6, 0, true), (7, 1, true)]),
        ];
        for (step, expected) in steps {
            state.apply(&Edit::new(step)).unwrap();
            assert_eq!(assignments(&state), expected);
            let mut again = ManifestState::default();
            state.to_edits().iter().try_for_each(|edit| again.apply(edit)).unwrap();
            assert_eq!(again, state);
        }
    }

    #[test]
    fn an_assignment_has_the_bytes_that_its_page_draws() {
        let bytes = |kind| Edit::new(kind).encode_to_vec();
        assert_eq!(bytes(assigned(2, 1, false)), [0xAA, 0x01, 6, 8, 2, 16, 1, 24, 1]);
        assert_eq!(bytes(assigned(2, 0, true)), [0xAA, 0x01, 2, 8, 2]);
        // A state without assignments writes no such edit: older versions can read it.
        let edits = state().to_edits();
        let has_one = |edit: &Edit| matches!(edit.kind, Some(EditKind::RegionAssigned(_)));
        assert!(!edits.iter().any(has_one));
    }

    #[test]
    fn a_position_in_the_log_has_the_bytes_that_its_page_draws() {
        let log = LogSynced { segment: 2, epoch: 3, len: 64, last_sequence: 5, noted: true };
        let edit = Edit { log: Some(log), ..Edit::new(EditKind::NamespaceDropped("n".into())) };
        let expected = [
            &[0x1A, 1, b'n'][..],
            &[0xCA, 0x01, 17, 8, 2, 0x11, 3, 0, 0, 0, 0, 0, 0, 0, 0x18, 64, 0x20, 5, 0x28, 1],
        ];
        assert_eq!(edit.encode_to_vec(), expected.concat());
    }

    #[test]
    fn the_latest_position_in_the_log_survives_edits_in_another_order_and_a_rewrite() {
        let mut state = state();
        let at =
            |segment, len, noted| LogSynced { segment, epoch: 9, len, last_sequence: 1, noted };
        let steps = [
            (at(1, 500, true), at(1, 500, true)),
            (at(2, 64, true), at(2, 64, true)),
            (at(1, 900, true), at(2, 64, true)),
            // A clean close.
            (at(2, 64, false), at(2, 64, false)),
        ];
        for (number, (log, expected)) in steps.into_iter().enumerate() {
            let kind = assigned(2, number as u32 + 1, true);
            state.apply(&Edit { log: Some(log), ..Edit::new(kind) }).unwrap();
            assert_eq!(state.log_synced, Some(expected));
            let mut again = ManifestState::default();
            state.to_edits().iter().try_for_each(|edit| again.apply(edit)).unwrap();
            assert_eq!(again, state);
        }
    }

    #[test]
    fn an_assignment_of_an_unknown_region_is_a_contradiction() {
        let error = state().apply(&Edit::new(assigned(9, 1, true))).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corruption);
    }
}
