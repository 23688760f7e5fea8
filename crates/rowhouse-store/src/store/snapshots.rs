//! Snapshots of tables: taken, listed, deleted, made tables of.
//!
//! Nothing is copied. A file of a table is named by the edit that takes a snapshot, and again by the one that
//! clones or restores it; it goes with the last that names it.

use std::sync::Arc;

use rowhouse_model::{
    Error, ErrorKind, RegionInfo, Result, RowRange, Snapshot, SnapshotKind, TableDescriptor,
    TableName, TableState, Timestamp, check_snapshot_name,
};

use super::Store;
use super::alter::without;
use super::tables::not_disabled;
use crate::compact::Policy;
use crate::engine::Engine;
use crate::family::FamilyStore;
use crate::flush;
use crate::manifest::{
    Edit, EditKind, RegionMeta, SnapshotCloned, SnapshotEntry, SnapshotFamily, SnapshotRegion,
    SnapshotRestored, SnapshotTaken, TableCreated, encode_table,
};
use crate::oversized_rows::RowLimit;
use crate::region::Region;
use crate::store_file::SnapshotFiles;
use crate::table::Table;

impl Store {
    /// Every snapshot, by name. One whose time has passed is listed until it is removed, within a minute or so, or stays where that
    /// is switched off ([`Store::set_snapshot_cleanup`]).
    pub fn snapshots(&self) -> Vec<Snapshot> {
        let listed = |entry: &Arc<SnapshotEntry>| entry.snapshot.clone();
        self.inner.engine.manifest.read(|state| state.snapshots.values().map(listed).collect())
    }

    /// The snapshot `name`.
    ///
    /// # Errors
    /// `SnapshotNotFound`.
    pub fn snapshot(&self, name: &str) -> Result<Snapshot> {
        Ok(self.known_snapshot(name)?.snapshot.clone())
    }

    /// Takes a snapshot of a table: everything that was written to it, over all of its regions at one moment, or what is
    /// in files only where the kind says so. Whoever reads and writes the table goes on. What is made of it has the snapshot's
    /// MAX_FILESIZE where the table declares none. Gives it back as it is kept:
    /// with the time at which it was taken, unless one was said, and of a disabled table with that kind.
    ///
    /// # Errors
    /// `SnapshotExists`; `SnapshotCreation` where there is no such table; `Io` and others for what is to be flushed.
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
        if table.state() == TableState::Disabled {
            snapshot.kind = SnapshotKind::Disabled;
        }
        if snapshot.created == Timestamp::MIN {
            snapshot.created = Timestamp::from_millis(engine.timestamps.now_millis().max(0))?;
        }
        keep_files(engine, &table, &snapshot)?;
        // It is done, whatever becomes of the log.
        if let Err(error) = engine.forget_flushed() {
            tracing::error!(%error, "log segments cannot be removed");
        }
        tracing::info!(snapshot = name, table = %table.name(), "snapshot taken");
        Ok(snapshot)
    }

    /// Deletes a snapshot, and the files that nobody else names. Tables that were made of it stay.
    ///
    /// # Errors
    /// `SnapshotNotFound`.
    pub fn delete_snapshot(&self, name: &str) -> Result<()> {
        let _changing = self.inner.tables.changing.lock();
        self.inner.engine.check_open()?;
        self.known_snapshot(name)?;
        let mut snapshots = self.inner.engine.snapshots.lock();
        self.inner.engine.delete_snapshot(&mut snapshots, name)
    }

    /// Makes a table of a snapshot: declared as that one was, with its regions and cells. It takes reads and writes,
    /// of which the snapshot and other tables know nothing.
    ///
    /// # Errors
    /// `SnapshotNotFound`, `SnapshotExpired`, `TableExists`, `NamespaceNotFound`.
    pub fn clone_snapshot(&self, name: &str, table: &TableName) -> Result<()> {
        let _changing = self.inner.tables.changing.lock();
        let snapshots = self.inner.engine.snapshots.lock();
        self.clone_of(name, table, &snapshots)
    }

    /// Makes a disabled table what it was when the snapshot was taken of it, its declaration included; what came later
    /// is gone. It stays disabled. A table that is not there any more is made anew, and enabled.
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
        if table.state() == TableState::Enabled {
            return Err(not_disabled(table.name(), TableState::Enabled));
        }
        self.inner.tables.check_restore_quota(table.name(), entry.ranges().len())?;
        // What was written before survives wherever this does.
        engine.sync_log()?;
        let regions = self.inner.tables.metas_of(table.name(), &entry.ranges())?;
        let edit = SnapshotRestored {
            snapshot: name.to_owned(),
            table_id: table.id(),
            regions: regions.clone(),
        };
        let lost: Vec<_> =
            table.regions().iter().flat_map(|region| region.families()).cloned().collect();
        without(engine, &lost, EditKind::SnapshotRestored(edit), || {
            let copy = Copy { engine, entry: &entry, snapshots: &snapshots, serving: false };
            let regions = copy.regions(&entry.descriptor, regions);
            let (id, descriptor) = (table.id(), entry.descriptor.clone());
            let restored = Table::new(id, descriptor, regions, TableState::Disabled);
            self.inner.tables.catalog.replace(Arc::new(restored));
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
        let descriptor = entry.descriptor.clone().with_name(table.clone());
        let regions = self.inner.tables.metas_of(table, &entry.ranges())?;
        let created = TableCreated {
            table_id: engine.manifest.next_id(),
            descriptor: encode_table(&descriptor),
            regions: regions.clone(),
            disabled: false,
        };
        let id = created.table_id;
        let edit = SnapshotCloned { snapshot: name.to_owned(), table: created };
        engine.manifest.append(&Edit::new(EditKind::SnapshotCloned(edit)))?;
        let copy = Copy { engine, entry: &entry, snapshots, serving: true };
        let regions = copy.regions(&descriptor, regions);
        let cloned = Table::new(id, descriptor, regions, TableState::Enabled);
        request_merges(engine, &cloned);
        self.inner.tables.catalog.add(Arc::new(cloned));
        self.changed();
        tracing::info!(snapshot = name, %table, "snapshot cloned");
        Ok(())
    }

    /// A snapshot that tables may be made of.
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

impl Engine {
    /// Whether a snapshot's time has passed, and it is to be removed.
    pub(crate) fn has_expired_snapshots(&self) -> bool {
        !self.expired_snapshots().is_empty()
    }

    /// Deletes the snapshots whose time has passed.
    pub(crate) fn delete_expired_snapshots(&self) -> Result<()> {
        let mut snapshots = self.snapshots.lock();
        for name in self.expired_snapshots() {
            self.delete_snapshot(&mut snapshots, &name)?;
        }
        Ok(())
    }

    fn expired_snapshots(&self) -> Vec<String> {
        let now = self.timestamps.now_millis();
        self.manifest.read(|state| {
            if state.switches.snapshot_cleanup_off {
                return Vec::new();
            }
            let entries = state.snapshots.values();
            let expired = entries.filter(|entry| entry.snapshot.is_expired(now));
            expired.map(|entry| entry.snapshot.name().to_owned()).collect()
        })
    }

    fn delete_snapshot(&self, snapshots: &mut SnapshotFiles, name: &str) -> Result<()> {
        self.manifest.append(&Edit::new(EditKind::SnapshotDeleted(name.to_owned())))?;
        snapshots.remove(name);
        tracing::info!(snapshot = name, "snapshot deleted");
        Ok(())
    }
}

/// Has a snapshot name the files of a table, with what was in memory at one moment among them unless it is told not to.
/// The caller sees to it that no table is changed meanwhile.
fn keep_files(engine: &Arc<Engine>, table: &Table, snapshot: &Snapshot) -> Result<()> {
    let families: Vec<_> =
        table.regions().iter().flat_map(|region| region.families()).cloned().collect();
    let flushes = snapshot.kind != SnapshotKind::SkipFlush;
    if flushes {
        // Most of what is in memory, before others have to wait.
        families.iter().try_for_each(|family| flush::flush(engine, family))?;
    }
    // No file comes but those of the one moment.
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
    engine.manifest.append(&Edit::new(EditKind::SnapshotTaken(taken)))?;
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
        },
        families: region.families().iter().map(files_of).collect(),
    }
}

/// Has merges be looked for that are due in a table that is new.
fn request_merges(engine: &Engine, table: &Table) {
    for family in table.regions().iter().flat_map(|region| region.families()) {
        engine.compactions.request(family, None);
    }
}

/// A table on its way out of a snapshot.
struct Copy<'a> {
    engine: &'a Arc<Engine>,
    entry: &'a SnapshotEntry,
    snapshots: &'a SnapshotFiles,
    serving: bool,
}

impl Copy<'_> {
    /// The regions of `metas`, which are those of the snapshot, one for one.
    fn regions(&self, table: &TableDescriptor, metas: Vec<RegionMeta>) -> Vec<Arc<Region>> {
        let row_limit = Arc::new(RowLimit::of(table));
        let regions = self.entry.regions.values().zip(metas).map(|(from, meta)| {
            let range = RowRange::new(meta.start, meta.stop);
            let families = table.families().iter().map(|family| {
                let files = from.families.get(family.name()).into_iter();
                let ids = files.flat_map(|files| files.files.keys());
                let files =
                    ids.map(|id| self.snapshots.share(self.entry.snapshot.name(), *id)).collect();
                let policy = Policy::of_stored(&self.engine.settings, table, family);
                let (id, limit) = (meta.region_id, Arc::clone(&row_limit));
                let store =
                    FamilyStore::new(id, range.clone(), family.clone(), policy, limit, files);
                // Of what was before, merges may have dropped what could be seen then.
                let readable_from = self.engine.mvcc.visible();
                store.change(|super_version| super_version.readable_from = readable_from);
                self.engine.add_family(store)
            });
            let families = families.collect();
            let info = RegionInfo::new(table.name().clone(), range, meta.created_millis);
            let engine = Arc::clone(self.engine);
            Arc::new(Region::new(meta.region_id, info, families, table, self.serving, engine))
        });
        regions.collect()
    }
}
