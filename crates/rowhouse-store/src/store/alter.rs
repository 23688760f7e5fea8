//! Altering and truncating tables under concurrent reads and writes.

use std::sync::Arc;

use rowhouse_model::{
    Error, ErrorKind, FamilyDescriptor, Result, RowRange, TableDescriptor, TableName, TableState,
};
use rowhouse_schema::{IndexOf, IndexState, check_altered_declarations};

use super::Store;
use super::closed_regions::ClosedRegions;
use super::indexes::{IndexChange, altered, with_state};
use super::tables::{families_of, not_disabled, with_tracker};
use crate::compaction_policy::Policy;
use crate::engine::Engine;
use crate::family::FamilyStore;
use crate::flush;
use crate::manifest::{
    EditKind, RegionMeta, RegionTruncated, TableAltered, TableTruncated, Together, encode_table,
};
use crate::observer::TableChange;
use crate::oversized_rows::RowLimit;
use crate::region::Region;
use crate::table::Table;

impl Store {
    /// Alters a table; `descriptor` is the complete new declaration. Memstores are first flushed
    /// under the old declaration; reads and writes wait meanwhile. Later reads, and files written
    /// later, use the new attributes. A family that is no longer declared is dropped with all
    /// cells; open scans still see them.
    ///
    /// # Errors
    /// `TableNotFound`, and errors as for [`TableDescriptor::check`]; `Io` from a flush.
    pub fn alter_table(&self, descriptor: TableDescriptor) -> Result<()> {
        self.change_table(&descriptor.name().clone(), |_| Ok(descriptor))
    }

    /// As [`Store::alter_table`], with a descriptor that `change` derives from the current one
    /// under the same lock.
    ///
    /// # Errors
    /// As [`Store::alter_table`], and the errors from `change`.
    pub fn change_table(
        &self,
        name: &TableName,
        change: impl FnOnce(&TableDescriptor) -> Result<TableDescriptor>,
    ) -> Result<()> {
        if name.is_system() {
            return Err(Self::refuse_write(name));
        }
        let _changing = self.inner.tables.changing.lock();
        self.inner.engine.check_open()?;
        let table = self.inner.tables.catalog.table(name)?;
        let descriptor = with_tracker(change(table.descriptor())?);
        if descriptor.name() != name {
            return Err(Error::invalid(format!(
                "a table cannot be renamed: table={name}, name={}",
                descriptor.name()
            )));
        }
        descriptor.check()?;
        Self::refuse_index_table(table.descriptor())?;
        Self::refuse_index_table(&descriptor)?;
        self.inner.engine.observers.check_buffered(&descriptor)?;
        check_altered_declarations(table.descriptor(), &descriptor)?;
        let indexes = self.index_change(&table, &descriptor)?;
        Alteration::new(&self.inner.engine, &table, descriptor, indexes)?.apply(self)
    }

    /// Drops all cells of a disabled table and enables it. Its regions are new, with the old
    /// regions' bounds if `splits` are retained, otherwise a single one.
    ///
    /// # Errors
    /// `TableNotFound`; `TableNotDisabled`.
    pub fn truncate_table(&self, name: &TableName, splits: bool) -> Result<()> {
        let _changing = self.inner.tables.changing.lock();
        self.inner.engine.check_open()?;
        let table = self.inner.tables.catalog.table(name)?;
        if table.state() == TableState::Enabled {
            return Err(not_disabled(name, TableState::Enabled));
        }
        Self::refuse_index_table(table.descriptor())?;
        self.inner.engine.observers.check(name)?;
        let tables = self.inner.tables.with_indexes(&table)?;
        let truncated = tables.iter().map(|table| self.truncated(table, splits));
        let truncated: Vec<_> = truncated.collect::<Result<_>>()?;
        let mut edits = Vec::new();
        for (table, descriptor, regions) in &truncated {
            let table_id = table.id();
            let regions = regions.clone();
            edits.push(EditKind::TableTruncated(TableTruncated { table_id, regions }));
            edits.extend(altered(table, descriptor));
        }
        let edit = EditKind::together(edits);
        without(&self.inner.engine, &families_of(&tables), edit, name, || {
            let truncated = truncated.into_iter().map(|(table, descriptor, regions)| {
                let regions = regions.into_iter().map(|meta| self.new_region(&descriptor, meta));
                let id = table.id();
                let regions = regions.collect();
                let enabled = TableState::Enabled;
                Arc::new(Table::new(id, descriptor, regions, enabled).succeeding(table))
            });
            self.inner.tables.catalog.replace(truncated);
            self.changed();
        })
    }

    /// Returns a table to truncate with the new descriptor and regions.
    fn truncated<'t>(
        &self,
        table: &'t Arc<Table>,
        splits: bool,
    ) -> Result<(&'t Arc<Table>, TableDescriptor, Vec<RegionMeta>)> {
        let starts = table.regions().iter().map(|region| region.info().range.start.clone());
        let starts: Vec<_> = starts.filter(|start| splits && !start.is_empty()).collect();
        let descriptor = match IndexOf::of_table(table.descriptor())? {
            None => table.descriptor().clone(),
            Some(_) => with_state(table, &IndexState::Ready),
        };
        let regions = self.region_metas(table.name(), &starts)?;
        Ok((table, descriptor, regions))
    }

    /// Drops all cells of a region. The table must be enabled. The region keeps its name.
    ///
    /// # Errors
    /// `UnknownRegion`; `TableNotEnabled`; `NotServingRegion`.
    pub fn truncate_region(&self, name: &[u8]) -> Result<()> {
        let table = self.table(&self.known_region(name)?.info().table)?;
        let _reindexing = table.reindexing.lock();
        let _changing = self.inner.tables.changing.lock();
        self.inner.engine.check_open()?;
        let region = self.known_region(name)?;
        let table = self.inner.tables.catalog.table(&region.info().table)?;
        table.check_enabled()?;
        region.check_serving()?;
        let RowRange { start, stop } = region.info().range.clone();
        let added = RegionMeta {
            region_id: self.inner.engine.manifest.next_id(),
            start,
            stop,
            created_millis: region.info().id,
            server: region.assignment().server,
        };
        Self::refuse_index_table(table.descriptor())?;
        self.inner.engine.observers.check(table.name())?;
        let reset = self.index_reset(&table)?;
        let edit = EditKind::RegionTruncated(RegionTruncated {
            table_id: table.id(),
            removed: region.id(),
            added: added.clone(),
        });
        let indexes = self.repairing_indexes(&table)?;
        let edits = std::iter::once(edit).chain(indexes.edits()).chain(reset.edits());
        let edit = EditKind::together(edits.collect());
        let lost: Vec<_> = region.families().iter().cloned().chain(reset.lost()).collect();
        // From here on writers wait for the new region.
        let _moving = region.topology_lock.lock();
        region.serve(false);
        let truncated = without(&self.inner.engine, &lost, edit, table.name(), || {
            // The regions that hold the rows keep the last timestamps for index entries.
            self.inner.engine.timestamps.catch_up();
            let emptied = [self.inner.tables.truncated_region(table.descriptor(), &region, added)];
            let table = Arc::new(table.with_regions(std::slice::from_ref(&region), &emptied));
            let tables = indexes.tables().chain(reset.make(&self.inner.tables)).chain([table]);
            self.inner.tables.catalog.replace(tables);
            self.changed();
            region.set_replaced(&emptied);
        });
        self.inner.tables.request_index_builds();
        if truncated.is_err() {
            region.serve(true);
        }
        truncated
    }

    /// Adds a family.
    ///
    /// # Errors
    /// As [`Store::alter_table`]; `InvalidFamily` if a family with that name exists.
    pub fn add_family(&self, table: &TableName, family: FamilyDescriptor) -> Result<()> {
        self.change_table(table, |current| {
            if current.find_family(family.name()).is_ok() {
                return Err(refused(format!(
                    "Column family '{}' in table '{table}' already exists so cannot be added",
                    rowhouse_model::escape(family.name())
                )));
            }
            Ok(current.clone().family(family))
        })
    }

    /// Alters a family; `family` is the complete new declaration.
    ///
    /// # Errors
    /// As [`Store::alter_table`]; `InvalidFamily` if no family with that name exists.
    pub fn alter_family(&self, table: &TableName, family: FamilyDescriptor) -> Result<()> {
        self.change_family(table, &family.name().clone(), |_| Ok(family))
    }

    /// As [`Store::alter_family`], with a declaration that `change` derives from the current one
    /// under the same lock.
    ///
    /// # Errors
    /// As [`Store::alter_family`], and the errors from `change`.
    pub fn change_family(
        &self,
        table: &TableName,
        family: &[u8],
        change: impl FnOnce(&FamilyDescriptor) -> Result<FamilyDescriptor>,
    ) -> Result<()> {
        self.change_table(table, |current| {
            let Ok(have) = current.find_family(family) else {
                return Err(refused(format!(
                    "Family '{}' does not exist, so it cannot be modified",
                    rowhouse_model::escape(family)
                )));
            };
            Ok(current.clone().family(change(have)?))
        })
    }

    /// Drops a family with all its cells.
    ///
    /// # Errors
    /// As [`Store::alter_table`]; `InvalidFamily` if there is no family with that name, or no other
    /// family.
    pub fn drop_family(&self, table: &TableName, family: &[u8]) -> Result<()> {
        let name = rowhouse_model::escape(family);
        self.change_table(table, |current| {
            if current.find_family(family).is_err() {
                return Err(refused(format!(
                    "Family '{name}' does not exist, so it cannot be deleted"
                )));
            }
            if current.families().len() == 1 {
                return Err(refused(format!(
                    "Family '{name}' is the only column family in the table, so it cannot be deleted"
                )));
            }
            Ok(current.clone().without_family(family))
        })
    }
}

/// A pending change to a table's declaration.
struct Alteration<'a> {
    engine: &'a Arc<Engine>,
    table: &'a Table,
    descriptor: TableDescriptor,
    indexes: IndexChange,
    policies: Vec<Policy>,
    row_limit: Arc<RowLimit>,
    /// Family stores that the new declaration drops, with the stores of dropped indexes.
    lost: Vec<Arc<FamilyStore>>,
}

impl<'a> Alteration<'a> {
    fn new(
        engine: &'a Arc<Engine>,
        table: &'a Table,
        descriptor: TableDescriptor,
        indexes: IndexChange,
    ) -> Result<Self> {
        let policy = |family| Policy::of(&engine.settings, &descriptor, family);
        let policies = descriptor.families().iter().map(policy).collect::<Result<_>>()?;
        let stores = table.regions().iter().flat_map(|region| region.families());
        let is_lost = |store: &&Arc<FamilyStore>| descriptor.find_family(store.name()).is_err();
        let lost = stores.filter(is_lost).cloned().chain(indexes.lost()).collect();
        let row_limit = Arc::new(RowLimit::of(&descriptor));
        Ok(Self { engine, table, descriptor, indexes, policies, row_limit, lost })
    }

    fn apply(mut self, store: &Store) -> Result<()> {
        // Earlier writes are flushed under the old declaration, as HBase does when it reopens
        // regions.
        let is_retained = |family: &FamilyStore| self.descriptor.find_family(family.name()).is_ok();
        let closed = ClosedRegions::close(self.engine, self.table.regions(), is_retained)?;
        if *self.table.descriptor() == self.descriptor {
            return Ok(());
        }
        let edit = EditKind::TableAltered(TableAltered {
            table_id: self.table.id(),
            descriptor: encode_table(&self.descriptor),
            starts_after: self.end_of_log()?,
        });
        let edits = std::iter::once(edit).chain(self.indexes.edits()).collect();
        // Flushes and compactions must obey before the indexes are maintained.
        self.table.regions().iter().for_each(|region| region.keep_steady(&self.descriptor));
        let Self { engine, table, .. } = self;
        let indexes = std::mem::take(&mut self.indexes);
        without(engine, &self.lost, EditKind::together(edits), table.name(), || {
            self.declare();
            let dropped = indexes.dropped.clone();
            let created = indexes.make(&store.inner.tables);
            let altered = Arc::new(table.altered(self.descriptor.clone()));
            store.inner.tables.catalog.change(|entries| {
                dropped.iter().for_each(|table| entries.remove(table.name()));
                created.into_iter().chain([altered]).for_each(|table| entries.replace(table));
            });
            store.changed();
        })?;
        drop(closed);
        store.inner.tables.request_index_builds();
        release_flushed_segments(self.engine);
        for store in self.table.regions().iter().flat_map(|region| region.families()) {
            // The new policy may make compactions due.
            self.engine.compactions.request(store, None);
        }
        Ok(())
    }

    /// Returns the last sequence number before any cell in a new family, after syncing the log up
    /// to it: when families are added or dropped, this number separates log records for a dropped
    /// family from records for a new one with the same name. 0 if the family names do not change.
    fn end_of_log(&self) -> Result<u64> {
        let names = |table: &TableDescriptor| -> Vec<_> {
            table.families().iter().map(FamilyDescriptor::name).cloned().collect()
        };
        if names(self.table.descriptor()) == names(&self.descriptor) {
            return Ok(0);
        }
        let last = {
            let _latch = self.engine.freeze_latch.write();
            self.engine.mvcc.reserved()
        };
        self.engine.sync_log()?;
        Ok(last)
    }

    /// Applies the declaration to families and regions. There must be no concurrent writers.
    fn declare(&self) {
        for region in self.table.regions() {
            let families = self.descriptor.families().iter().zip(&self.policies);
            let families = families.map(|(family, policy)| self.store_of(region, family, policy));
            region.declare(families.collect(), &self.descriptor);
        }
    }

    /// Returns a family's store, created if the family is new.
    fn store_of(
        &self,
        region: &Region,
        family: &FamilyDescriptor,
        policy: &Policy,
    ) -> Arc<FamilyStore> {
        let descriptor = family.clone();
        let policy = policy.clone();
        let limit = Arc::clone(&self.row_limit);
        match region.families().iter().find(|store| store.name() == family.name()) {
            Some(store) => {
                store.declare(descriptor, policy, limit);
                Arc::clone(store)
            }
            None => {
                let id = region.id();
                let range = region.info().range.clone();
                let store = FamilyStore::new(id, range, descriptor, policy, limit, Vec::new());
                self.engine.add_family(store)
            }
        }
    }
}

/// Appends an edit to `table` that removes `lost`, notes it for the table's observers, then runs
/// `follow` while no commit is in progress.
pub(super) fn without(
    engine: &Arc<Engine>,
    lost: &[Arc<FamilyStore>],
    edit: EditKind,
    table: &TableName,
    follow: impl FnOnce(),
) -> Result<()> {
    let change = change_of(&edit);
    // Stops compactions on their files.
    lost.iter().for_each(|family| family.set_closing(true));
    {
        // No flush or compaction may add a file to a removed family.
        let _quiet: Vec<_> =
            lost.iter().map(|family| (family.flushing.lock(), family.compacting.write())).collect();
        if let Err(error) = engine.append_removal(edit) {
            lost.iter().for_each(|family| family.set_closing(false));
            return Err(error);
        }
        if let Some(change) = change {
            engine.observers.note(table, change);
        }
        {
            let _latch = engine.freeze_latch.write();
            if !lost.is_empty() {
                // Conflicts with transactions that read these families, even if no one has written
                // since.
                let sequence = engine.mvcc.reserve();
                engine.recent_writes.note_all(sequence);
                engine.mvcc.publish(sequence);
            }
            lost.iter().for_each(|family| family.set_dropped());
            // Before `follow`, which may add a family with the same name.
            lost.iter().for_each(|family| engine.forget_family(family));
            follow();
        }
        lost.iter().for_each(|family| engine.discard(family));
    }
    if !lost.is_empty() {
        release_flushed_segments(engine);
    }
    Ok(())
}

/// Returns the change to a table's contents or declaration that observers are notified about.
fn change_of(edit: &EditKind) -> Option<TableChange> {
    match edit {
        // The first edit belongs to the base table.
        EditKind::Together(Together { edits }) => change_of(edits.first()?.kind.as_ref()?),
        EditKind::TableAltered(_) | EditKind::TablesSwapped(_) => Some(TableChange::Altered),
        EditKind::TableTruncated(_) | EditKind::RegionTruncated(_) => Some(TableChange::Truncated),
        EditKind::TableDropped(_) => Some(TableChange::Dropped),
        EditKind::SnapshotRestored(_) | EditKind::TableRenamed(_) => Some(TableChange::Restored),
        _ => None,
    }
}

/// Removes log segments after a change that is already complete. A failure is only logged.
pub(super) fn release_flushed_segments(engine: &Engine) {
    if let Err(error) = flush::release_flushed_segments(engine) {
        tracing::error!(%error, "log segments cannot be removed");
    }
}

fn refused(message: String) -> Error {
    Error::new(ErrorKind::InvalidFamily, message)
}
