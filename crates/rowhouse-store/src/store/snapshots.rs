//! Table snapshots: take, list, delete, clone and restore.
//!
//! Nothing is copied. The edit that takes a snapshot names the table's files again, and so does the
//! edit that clones or restores it. A file is removed once nothing names it.

use std::sync::Arc;

use rowhouse_model::{
    Bytes, Error, ErrorKind, RegionInfo, Result, RowRange, Snapshot, SnapshotKind, TableDescriptor,
    TableName, TableState, Timestamp, check_snapshot_name,
};
use rowhouse_schema::IndexState;

use super::Store;
use super::expired_snapshots::delete_snapshot;
use super::handle::Tables;
use super::indexes::{IndexChange, NewTable, declared_indexes, without_index};
use super::removal::{release_flushed_segments, without};
use super::tables::{families_of, not_disabled};
use crate::compaction_policy::Policy;
use crate::engine::{Engine, TableChangeLatch};
use crate::family::FamilyStore;
use crate::flush;
use crate::indexed::refuse_in_memory;
use crate::manifest::{
    EditKind, RegionMeta, SnapshotCloned, SnapshotEntry, SnapshotFamily, SnapshotRegion,
    SnapshotRestored, SnapshotTaken, TableCreated, encode_table,
};
use crate::oversized_rows::RowLimit;
use crate::region::Region;
use crate::store_file::SnapshotFiles;
use crate::table::Table;

impl Store {
    /// Returns every snapshot, by name. An expired snapshot stays listed until the cleanup removes
    /// it, within about a minute, or for as long as the cleanup is off
    /// ([`Store::set_snapshot_cleanup`]).
    pub fn snapshots(&self) -> Vec<Snapshot> {
        let listed = |entry: &Arc<SnapshotEntry>| entry.snapshot.clone();
        self.inner.engine.manifest.read(|state| state.snapshots.values().map(listed).collect())
    }

    /// Returns the bytes of the files that the selected snapshots name, each file once. A table may
    /// have the same files.
    pub fn snapshot_bytes(&self, is_selected: impl Fn(&str) -> bool) -> u64 {
        self.inner.engine.snapshots.lock().bytes(is_selected)
    }

    /// Returns the snapshot `name`.
    ///
    /// # Errors
    /// `SnapshotNotFound`.
    pub fn snapshot(&self, name: &str) -> Result<Snapshot> {
        Ok(self.known_snapshot(name)?.snapshot.clone())
    }

    /// Takes a snapshot of a table: all its writes at one read point over all regions, or only its
    /// files if the kind specifies that. Concurrent reads and writes continue. If the table
    /// declares no MAX_FILESIZE, the clones get the snapshot's MAX_FILESIZE. Returns the snapshot
    /// as stored: with the current time unless one was set, and with the kind for disabled tables
    /// if the table is disabled.
    ///
    /// # Errors
    /// `SnapshotExists`; `SnapshotCreation` if there is no such table; `Unsupported` for the table
    /// of an index in memory; `Io` and other errors from the flushes.
    pub fn take_snapshot(&self, mut snapshot: Snapshot) -> Result<Snapshot> {
        let _changing = self.inner.tables.changing.lock();
        let engine = &self.inner.engine;
        engine.check_open()?;
        let name = snapshot.name().to_owned();
        if engine.manifest.read(|state| state.snapshots.contains_key(&name)) {
            return Err(Error::new(
                ErrorKind::SnapshotExists,
                format!("Snapshot '{name}' already stored on the filesystem."),
            ));
        }
        let table = self.inner.tables.catalog.table(&snapshot.table).map_err(|error| {
            let message = format!("Table '{}' doesn't exist, can't take snapshot.", snapshot.table);
            Error::new(ErrorKind::SnapshotCreation, message).with_source(error)
        })?;
        refuse_in_memory(table.descriptor(), "in a snapshot")?;
        if table.state() == TableState::Disabled {
            snapshot.kind = SnapshotKind::Disabled;
        }
        if snapshot.created == Timestamp::MIN {
            snapshot.created = Timestamp::from_millis(engine.timestamps.now_millis().max(0))?;
        }
        keep_files(engine, &table, &snapshot)?;
        release_flushed_segments(engine);
        tracing::info!(snapshot = name, table = %table.name(), "snapshot taken");
        Ok(snapshot)
    }

    /// Deletes a snapshot, and the files that nothing else names. Tables cloned from it stay.
    ///
    /// # Errors
    /// `SnapshotNotFound`.
    pub fn delete_snapshot(&self, name: &str) -> Result<()> {
        let _changing = self.inner.tables.changing.lock();
        self.inner.engine.check_open()?;
        self.known_snapshot(name)?;
        let mut snapshots = self.inner.engine.snapshots.lock();
        delete_snapshot(&self.inner.engine, &mut snapshots, name)
    }

    /// Creates a table from a snapshot, with the declaration, regions and cells. Writes to the new
    /// table affect neither the snapshot nor other tables.
    ///
    /// # Errors
    /// `SnapshotNotFound`, `SnapshotExpired`, `TableExists`, `NamespaceNotFound`.
    pub fn clone_snapshot(&self, name: &str, table: &TableName) -> Result<()> {
        let _changing = self.inner.tables.changing.lock();
        let snapshots = self.inner.engine.snapshots.lock();
        self.clone_of(name, table, &snapshots)
    }

    /// Restores a disabled table to a snapshot, including the declaration; later changes are lost.
    /// The table stays disabled. A table that no longer exists is created, and enabled.
    ///
    /// # Errors
    /// `SnapshotNotFound`, `SnapshotExpired`, `TableNotDisabled`.
    pub fn restore_snapshot(&self, name: &str) -> Result<()> {
        let _changing = self.inner.tables.changing.lock();
        let engine = &self.inner.engine;
        let snapshots = engine.snapshots.lock();
        let entry = self.usable_snapshot(name)?;
        let Ok(table) = self.inner.tables.catalog.table(&entry.snapshot.table) else {
            return self.clone_of(name, &entry.snapshot.table, &snapshots);
        };
        Self::refuse_index_table(table.descriptor())?;
        Self::refuse_index_table(&entry.descriptor)?;
        self.effects().observers.check(table.name())?;
        if table.state() == TableState::Enabled {
            return Err(not_disabled(table.name(), TableState::Enabled));
        }
        self.inner.tables.check_restore_quota(table.name(), entry.ranges().len())?;
        // Earlier writes must survive whenever this edit does.
        engine.sync_log()?;
        let regions = self.inner.tables.metas_of(table.name(), &entry.ranges())?;
        let edit = SnapshotRestored {
            snapshot: name.to_owned(),
            table_id: table.id(),
            regions: regions.clone(),
        };
        let dropped = self.inner.tables.with_indexes(&table)?.split_off(1);
        let created = self.building_indexes(&entry.descriptor, &dropped, TableState::Disabled)?;
        let indexes = IndexChange { dropped, created };
        let lost = families_of(std::slice::from_ref(&table)).into_iter().chain(indexes.lost());
        let lost: Vec<_> = lost.collect();
        let edits = std::iter::once(EditKind::SnapshotRestored(edit)).chain(indexes.edits());
        let edit = EditKind::together(edits.collect());
        without(&self.inner.tables, &lost, edit, table.name(), || {
            let copy = Copy {
                tables: &self.inner.tables,
                entry: &entry,
                snapshots: &snapshots,
                serving: false,
            };
            let regions = copy.regions(&entry.descriptor, regions);
            let id = table.id();
            let descriptor = entry.descriptor.clone();
            let restored = Table::new(id, descriptor, regions, TableState::Disabled);
            let restored = restored.succeeding(&table);
            let dropped = indexes.dropped.clone();
            let created = indexes.make(&self.inner.tables);
            self.inner.tables.catalog.change(|entries| {
                dropped.iter().for_each(|table| entries.remove(table.name()));
                created.into_iter().chain([Arc::new(restored)]).for_each(|it| entries.replace(it));
            });
            self.changed();
        })?;
        request_merges(engine, &*self.inner.tables.catalog.table(table.name())?);
        tracing::info!(snapshot = name, table = %table.name(), "snapshot restored");
        Ok(())
    }

    fn clone_of(&self, name: &str, table: &TableName, snapshots: &SnapshotFiles) -> Result<()> {
        let engine = &self.inner.engine;
        let entry = self.usable_snapshot(name)?;
        self.check_new_table(table, entry.ranges().len())?;
        let descriptor = without_index(entry.descriptor.clone().with_name(table.clone()));
        let indexes = self.building_indexes(&descriptor, &[], TableState::Enabled)?;
        let regions = self.inner.tables.metas_of(table, &entry.ranges())?;
        let created = TableCreated {
            table_id: engine.manifest.next_id(),
            descriptor: encode_table(&descriptor),
            regions: regions.clone(),
            disabled: false,
        };
        let id = created.table_id;
        let edit = SnapshotCloned { snapshot: name.to_owned(), table: created };
        let edit = EditKind::SnapshotCloned(edit);
        let edits = std::iter::once(edit).chain(indexes.iter().map(NewTable::edit)).collect();
        let edit = EditKind::together(edits);
        // Until the table is there.
        let _hold = engine.log_table_changes(&edit, TableChangeLatch::Free)?;
        engine.append_edit(edit)?;
        let copy = Copy { tables: &self.inner.tables, entry: &entry, snapshots, serving: true };
        let regions = copy.regions(&descriptor, regions);
        let cloned = Table::new(id, descriptor, regions, TableState::Enabled);
        request_merges(engine, &cloned);
        let indexes = indexes.into_iter().map(|index| index.make(&self.inner.tables));
        self.inner.tables.catalog.replace(indexes.chain([Arc::new(cloned)]));
        self.changed();
        self.inner.tables.request_index_builds();
        tracing::info!(snapshot = name, %table, "snapshot cloned");
        Ok(())
    }

    /// Returns the index tables that a table in a snapshot declares, which are built anew.
    fn building_indexes(
        &self,
        table: &TableDescriptor,
        dropped: &[Arc<Table>],
        state: TableState,
    ) -> Result<Vec<NewTable>> {
        let building = IndexState::Building { next_row: Bytes::new() };
        self.new_index_tables(table, &declared_indexes(table)?, dropped, &building, state)
    }

    /// Returns a snapshot that is not expired.
    fn usable_snapshot(&self, name: &str) -> Result<Arc<SnapshotEntry>> {
        self.inner.engine.check_open()?;
        let entry = self.known_snapshot(name)?;
        if entry.snapshot.is_expired(self.inner.engine.timestamps.now_millis()) {
            let message = format!("TTL for snapshot '{name}' has already expired.");
            return Err(Error::new(ErrorKind::SnapshotExpired, message));
        }
        Ok(entry)
    }

    fn known_snapshot(&self, name: &str) -> Result<Arc<SnapshotEntry>> {
        check_snapshot_name(name)?;
        let known = self.inner.engine.manifest.read(|state| state.snapshots.get(name).cloned());
        known.ok_or_else(|| {
            let message = format!("Snapshot '{name}' doesn't exist on the filesystem");
            Error::new(ErrorKind::SnapshotNotFound, message)
        })
    }
}

/// Makes a snapshot name a table's files. Flushes the memstores at one sequence number first,
/// unless the snapshot's kind skips the flush. The caller prevents changes to tables meanwhile.
fn keep_files(engine: &Arc<Engine>, table: &Table, snapshot: &Snapshot) -> Result<()> {
    let families: Vec<_> =
        table.regions().iter().flat_map(|region| region.families()).cloned().collect();
    let flushes = snapshot.kind != SnapshotKind::SkipFlush;
    if flushes {
        // Flushes most data before writers have to wait.
        families.iter().try_for_each(|family| flush::flush(engine, family))?;
    } else {
        let regions: Vec<_> = table.regions().iter().map(|region| region.id()).collect();
        flush::log_counters_of(engine, &regions)?;
    }
    // No other flush may add a file.
    let _quiet: Vec<_> = families.iter().map(|family| family.flushing.lock()).collect();
    if flushes {
        flush::flush_all_locked(engine, &families)?;
    }
    let _replacing = engine.replacing.lock();
    let mut snapshots = engine.snapshots.lock();
    let regions = table.regions().iter().map(|region| region_of(region)).collect();
    let mut declared = table.descriptor().clone();
    if let Some(bytes) = snapshot.region_bytes_max.filter(|_| declared.region_bytes_max().is_none())
    {
        declared = declared.attribute("MAX_FILESIZE", bytes.to_string());
    }
    let taken = SnapshotTaken::new(snapshot, &declared, regions);
    engine.append_edit(EditKind::SnapshotTaken(taken))?;
    let super_version: Vec<_> = families.iter().map(|family| family.super_version()).collect();
    snapshots
        .add(snapshot.name(), super_version.iter().flat_map(|super_version| &super_version.files));
    Ok(())
}

fn region_of(region: &Region) -> SnapshotRegion {
    let info = region.info();
    let files_of = |family: &Arc<FamilyStore>| SnapshotFamily {
        family: family.name().clone(),
        files: family.super_version().files.iter().map(|file| file.meta().clone()).collect(),
    };
    SnapshotRegion {
        region: RegionMeta {
            region_id: region.id(),
            start: info.range.start.clone(),
            stop: info.range.stop.clone(),
            created_millis: info.id,
            server: 0,
        },
        families: region.families().iter().map(files_of).collect(),
    }
}

/// Requests the due compactions on a new table.
fn request_merges(engine: &Engine, table: &Table) {
    for family in table.regions().iter().flat_map(|region| region.families()) {
        engine.compactions.request(family, None);
    }
}

/// A table being created from a snapshot.
struct Copy<'a> {
    tables: &'a Tables,
    entry: &'a SnapshotEntry,
    snapshots: &'a SnapshotFiles,
    serving: bool,
}

impl Copy<'_> {
    /// Returns the regions of `metas`, which correspond to the snapshot's regions one for one.
    fn regions(&self, table: &TableDescriptor, metas: Vec<RegionMeta>) -> Vec<Arc<Region>> {
        let engine = &self.tables.engine;
        let row_limit = Arc::new(RowLimit::of(table));
        let regions = self.entry.regions.values().zip(metas).map(|(from, meta)| {
            let range = RowRange::new(meta.start, meta.stop);
            let families = table.families().iter().map(|family| {
                let files = from.families.get(family.name()).into_iter();
                let ids = files.flat_map(|files| files.files.keys());
                let files =
                    ids.map(|id| self.snapshots.share(self.entry.snapshot.name(), *id)).collect();
                let policy = Policy::of_stored(&engine.settings, table, family);
                let id = meta.region_id;
                let limit = Arc::clone(&row_limit);
                let store =
                    FamilyStore::new(id, range.clone(), family.clone(), policy, limit, files);
                // Compactions may have dropped cells that older read points could see.
                let readable_from = engine.mvcc.visible();
                store.change(|super_version| super_version.readable_from = readable_from);
                engine.add_family(store)
            });
            let families = families.collect();
            let info = RegionInfo::new(table.name().clone(), range, meta.created_millis);
            let engine = Arc::clone(engine);
            let effects = Arc::clone(self.tables.catalog.effects());
            let (id, serving) = (meta.region_id, self.serving);
            Arc::new(Region::new(id, info, families, table, serving, engine, effects))
        });
        regions.collect()
    }
}
