//! Index tables: they are created, altered and dropped with their base tables, in the same edits of
//! the manifest.

use std::sync::Arc;

use rowhouse_model::{Bytes, Result, TableDescriptor, TableName, TableState};
use rowhouse_schema::{
    INDEX_OF_ATTRIBUTE, INDEX_STATE_ATTRIBUTE, Index, IndexOf, IndexSchema, IndexState,
};

use super::Store;
use super::alter::without;
use super::closed_regions::ClosedRegions;
use super::handle::Tables;
use super::tables::with_tracker;
use crate::catalog::IndexRead;
use crate::family::FamilyStore;
use crate::indexed::{is_search_table, no_indexes};
use crate::manifest::{
    Edit, EditKind, RegionMeta, TableAltered, TableCreated, TableDropped, encode_table,
};
use crate::region::index_table;
use crate::retention::Retention;
use crate::table::Table;

/// A table to be created.
pub(super) struct NewTable {
    id: u64,
    descriptor: TableDescriptor,
    regions: Vec<RegionMeta>,
    state: TableState,
}

impl NewTable {
    /// Returns the edit that creates it.
    pub(super) fn edit(&self) -> EditKind {
        EditKind::TableCreated(TableCreated {
            table_id: self.id,
            descriptor: encode_table(&self.descriptor),
            regions: self.regions.clone(),
            disabled: self.state == TableState::Disabled,
        })
    }

    /// Returns the table, once the edit is written.
    pub(super) fn make(self, store: &Store) -> Arc<Table> {
        let Self { id, descriptor, regions, state } = self;
        let regions: Vec<_> =
            regions.into_iter().map(|meta| store.new_region(&descriptor, meta)).collect();
        if state == TableState::Disabled {
            regions.iter().for_each(|region| region.begin_closed());
        }
        Arc::new(Table::new(id, descriptor, regions, state))
    }
}

/// The index tables that a change of their base table drops and creates.
#[derive(Default)]
pub(super) struct IndexChange {
    pub(super) dropped: Vec<Arc<Table>>,
    pub(super) created: Vec<NewTable>,
}

impl IndexChange {
    /// Returns the edits of the change.
    pub(super) fn edits(&self) -> impl Iterator<Item = EditKind> {
        let dropped = self.dropped.iter().map(|table| table.id());
        let dropped = dropped.map(|table_id| EditKind::TableDropped(TableDropped { table_id }));
        dropped.chain(self.created.iter().map(NewTable::edit))
    }

    /// Returns the families of the dropped tables.
    pub(super) fn lost(&self) -> impl Iterator<Item = Arc<FamilyStore>> {
        let regions = self.dropped.iter().flat_map(|table| table.regions());
        regions.flat_map(|region| region.families()).cloned()
    }

    /// Makes the created tables, once the edits are written.
    pub(super) fn make(self, store: &Store) -> Vec<Arc<Table>> {
        self.created.into_iter().map(|new| new.make(store)).collect()
    }
}

/// The index tables of a table whose rows are about to change otherwise than row by row: their
/// indexes are repaired afterwards.
pub(crate) struct RepairingIndexes {
    /// The tables with the new state; the edit that records it, and the state before.
    tables: Vec<(Arc<Table>, Option<EditKind>, IndexState)>,
}

impl RepairingIndexes {
    /// Returns the edits that record the states.
    pub(crate) fn edits(&self) -> Vec<EditKind> {
        self.tables.iter().filter_map(|(_, edit, _)| edit.clone()).collect()
    }

    /// Whether the index with this table was ready before.
    pub(crate) fn was_ready(&self, table_id: u64) -> bool {
        self.state_before(table_id).is_some_and(IndexState::is_ready)
    }

    /// Returns the state that the index with this table had before, if it is to be repaired.
    pub(crate) fn state_before(&self, table_id: u64) -> Option<&IndexState> {
        self.tables.iter().find(|(table, ..)| table.id() == table_id).map(|(.., before)| before)
    }

    /// Returns the tables with the new state.
    pub(super) fn tables(&self) -> impl Iterator<Item = Arc<Table>> {
        self.tables.iter().map(|(table, ..)| Arc::clone(table))
    }
}

impl Store {
    /// Returns the tables of a table's indexes with the state `repairing`, except those that are
    /// off.
    pub(crate) fn repairing_indexes(&self, table: &Arc<Table>) -> Result<RepairingIndexes> {
        let mut tables = Vec::new();
        for table in self.inner.tables.with_indexes(table)?.into_iter().skip(1) {
            let state = IndexState::of_table(table.descriptor())?;
            // A copy is built anew: see `reset_indexes`.
            if matches!(state, IndexState::Off(_)) || is_copy(&table) {
                continue;
            }
            let descriptor = with_state(&table, &IndexState::Repairing);
            let edit = altered(&table, &descriptor);
            tables.push((Arc::new(table.altered(descriptor)), edit, state));
        }
        Ok(RepairingIndexes { tables })
    }

    /// Makes the states known, while no commit is in progress.
    pub(crate) fn install_indexes(&self, repairing: &RepairingIndexes) {
        if !repairing.tables.is_empty() {
            self.inner.tables.catalog.replace(repairing.tables());
            self.changed();
        }
    }

    /// Records that an index under repair is ready, unless it was dropped meanwhile.
    pub(crate) fn note_index_ready(&self, table: &Table) -> Result<()> {
        let _changing = self.inner.tables.changing.lock();
        self.inner.tables.finish_index(table, &IndexState::Repairing, &IndexState::Ready)
    }

    /// Sets the states of all indexes of a table, and requests no builds.
    pub(crate) fn set_index_states(&self, table: &Arc<Table>, state: &IndexState) -> Result<()> {
        let _changing = self.inner.tables.changing.lock();
        let tables = self.inner.tables.with_indexes(table)?;
        tables.iter().skip(1).try_for_each(|it| self.inner.tables.set_index_state(it, state))
    }

    /// Repairs an index. The caller holds `reindexing` of its base table.
    pub(crate) fn repair_index(&self, table_id: u64) -> Result<()> {
        self.inner.tables.build_now(table_id)
    }

    pub(crate) fn request_index_builds(&self) {
        self.inner.tables.request_index_builds();
    }

    /// Refuses a change of a table that holds the entries of an index.
    pub(crate) fn refuse_index_table(table: &TableDescriptor) -> Result<()> {
        match IndexOf::of_table(table)? {
            None => Ok(()),
            Some(of) => Err(index_table(table.name(), &of)),
        }
    }

    /// Returns the state of a table's index.
    ///
    /// # Errors
    /// `TableNotFound`; `InvalidRequest` if the table has no such index.
    pub fn index_state(&self, table: &TableName, index: &str) -> Result<IndexState> {
        let table = self.table(table)?;
        let schema = table.indexes()?.ok_or_else(|| no_indexes(table.name()))?;
        let index = schema.index(index)?;
        IndexState::of_table(self.table(&index.table_name(table.name())?)?.descriptor())
    }

    /// Returns a read point at the current state of all tables, with a table and the table of the
    /// entries of its index, for a query that reads both; `None` if the index is not ready there.
    ///
    /// # Errors
    /// `TableNotFound`; `InvalidRequest` if the table has no such index.
    pub fn index_read_point(&self, table: &TableName, index: &str) -> Result<Option<IndexRead>> {
        let (point, tables) = self.inner.tables.catalog.read_point(&self.inner.engine);
        tables.index_read(&Arc::new(point), table, index)
    }

    /// Returns a table to be created.
    pub(super) fn new_table(
        &self,
        descriptor: TableDescriptor,
        splits: &[Bytes],
        state: TableState,
    ) -> Result<NewTable> {
        let regions = self.region_metas(descriptor.name(), splits)?;
        let id = self.inner.engine.manifest.next_id();
        Ok(NewTable { id, descriptor, regions, state })
    }

    /// Returns the tables of indexes of `base`, to be created without entries. The tables that
    /// they replace are `dropped`.
    ///
    /// # Errors
    /// Those of the declaration; `TableExists`.
    pub(super) fn new_index_tables<'i>(
        &self,
        base: &TableDescriptor,
        indexes: impl IntoIterator<Item = &'i Index>,
        dropped: &[Arc<Table>],
        index_state: &IndexState,
        state: TableState,
    ) -> Result<Vec<NewTable>> {
        let new = |index: &Index| {
            let descriptor = with_tracker(index.table_descriptor(base)?);
            let descriptor = descriptor.attribute(INDEX_STATE_ATTRIBUTE, index_state.to_string());
            descriptor.check()?;
            if !dropped.iter().any(|dropped| dropped.name() == descriptor.name()) {
                self.check_new_table(descriptor.name(), 1)?;
            }
            self.new_table(descriptor, &[], state)
        };
        indexes.into_iter().map(new).collect()
    }

    /// Replaces the copies of a table by empty ones, to be built anew, before its rows change
    /// otherwise than row by row, and full-text indexes under repair: whoever repairs them finds a
    /// change only by the state, which would not change. The caller holds `reindexing` of the table
    /// and prevents changes of tables.
    ///
    /// # Errors
    /// `Io` of a flush or of the manifest; the indexes then stay as they are.
    pub(crate) fn reset_indexes(&self, table: &Arc<Table>) -> Result<()> {
        let mut reset = Vec::new();
        for index in self.inner.tables.with_indexes(table)?.into_iter().skip(1) {
            let is_repaired = is_search_table(index.descriptor())
                && IndexState::of_table(index.descriptor())? == IndexState::Repairing;
            reset.extend((is_repaired || is_copy(&index)).then_some(index));
        }
        self.rebuild_indexes(table, reset)
    }

    /// Replaces the tables of these indexes of a table, as [`Store::reset_indexes`] does.
    pub(super) fn rebuild_indexes(
        &self,
        table: &Arc<Table>,
        replaced: Vec<Arc<Table>>,
    ) -> Result<()> {
        let Some(first) = replaced.first().map(|index| index.name().clone()) else {
            return Ok(());
        };
        let engine = &self.inner.engine;
        let indexes = table.indexes()?.map(IndexSchema::indexes).unwrap_or_default();
        let mut rebuilt = Vec::new();
        for index in indexes {
            let name = index.table_name(table.name())?;
            rebuilt.extend(replaced.iter().any(|it| *it.name() == name).then_some(index));
        }
        let state = IndexState::Building { next_row: Bytes::new() };
        let (base, disabled) = (table.descriptor(), table.state());
        let created = self.new_index_tables(base, rebuilt, &replaced, &state, disabled)?;
        let change = IndexChange { dropped: replaced, created };
        let (edits, lost) = (change.edits().collect(), change.lost().collect::<Vec<_>>());
        // Writers of the rows must not find the tables gone.
        let closed = ClosedRegions::close(engine, table.regions(), |_| true)?;
        without(engine, &lost, EditKind::together(edits), &first, || {
            self.inner.tables.catalog.replace(change.make(self));
            self.changed();
        })?;
        drop(closed);
        // The builds must see what writes that began before have written.
        drop(engine.row_locks.lock_all(std::iter::empty()));
        self.request_index_builds();
        Ok(())
    }

    /// Returns the change of index tables that an alteration of their base table to `altered`
    /// requires: indexes that it drops, declares or changes, and those whose entries it may change.
    pub(super) fn index_change(
        &self,
        table: &Table,
        altered: &TableDescriptor,
    ) -> Result<IndexChange> {
        let old = table.indexes()?.map(IndexSchema::indexes).unwrap_or_default();
        let new = declared_indexes(altered)?;
        let is_kept =
            |index: &Index| old.contains(index) && rows_stay(index, table.descriptor(), altered);
        let mut dropped = Vec::new();
        for index in old.iter().filter(|old| !new.iter().any(|new| new == *old && is_kept(new))) {
            dropped.push(self.inner.tables.catalog.table(&index.table_name(table.name())?)?);
        }
        let changed = new.iter().filter(|index| !is_kept(index));
        let state = IndexState::Building { next_row: Bytes::new() };
        let created = self.new_index_tables(altered, changed, &dropped, &state, table.state())?;
        Ok(IndexChange { dropped, created })
    }
}

impl Tables {
    /// Returns a table and the tables of its indexes.
    pub(super) fn with_indexes(&self, table: &Arc<Table>) -> Result<Vec<Arc<Table>>> {
        let mut tables = vec![Arc::clone(table)];
        let indexes = table.indexes()?.map(IndexSchema::indexes).unwrap_or_default();
        for index in indexes {
            tables.push(self.catalog.table(&index.table_name(table.name())?)?);
        }
        Ok(tables)
    }

    /// Sets the state of an index to `to`, unless it was dropped or has another state than `from`.
    /// The caller prevents changes of tables meanwhile.
    pub(super) fn finish_index(
        &self,
        table: &Table,
        from: &IndexState,
        to: &IndexState,
    ) -> Result<()> {
        self.engine.check_open()?;
        let Ok(now) = self.catalog.table(table.name()) else { return Ok(()) };
        let state = IndexState::of_table(now.descriptor())?;
        if now.id() != table.id() || std::mem::discriminant(&state) != std::mem::discriminant(from)
        {
            return Ok(());
        }
        // The entries must survive whenever this state does.
        self.engine.sync_log()?;
        self.set_index_state(&now, to)
    }

    /// Sets the state of an index. The caller prevents changes of tables meanwhile.
    pub(super) fn set_index_state(&self, table: &Table, state: &IndexState) -> Result<()> {
        let descriptor = with_state(table, state);
        let Some(edit) = altered(table, &descriptor) else { return Ok(()) };
        self.engine.manifest.append(&Edit::new(edit))?;
        // A read point sees either the state before, and none of the later commits, or this one.
        let _latch = self.engine.freeze_latch.write();
        self.catalog.replace([Arc::new(table.altered(descriptor))]);
        self.changed();
        Ok(())
    }
}

/// Whether a table is a copy of another one.
pub(super) fn is_copy(table: &Arc<Table>) -> bool {
    IndexOf::of_table(table.descriptor()).ok().flatten().is_some_and(|of| of.is_copy)
}

/// Returns the edit of a table whose descriptor changes, if it does; its families stay.
pub(super) fn altered(table: &Table, descriptor: &TableDescriptor) -> Option<EditKind> {
    (table.descriptor() != descriptor).then(|| {
        EditKind::TableAltered(TableAltered {
            table_id: table.id(),
            descriptor: encode_table(descriptor),
            begins_behind: 0,
        })
    })
}

/// Returns the descriptor of an index table with another state.
pub(super) fn with_state(table: &Table, state: &IndexState) -> TableDescriptor {
    table.descriptor().clone().attribute(INDEX_STATE_ATTRIBUTE, state.to_string())
}

/// Returns the descriptor of a table that holds the entries of an index no more.
pub(crate) fn without_index(mut table: TableDescriptor) -> TableDescriptor {
    for attribute in [INDEX_OF_ATTRIBUTE, INDEX_STATE_ATTRIBUTE] {
        table.attributes.remove(attribute.as_bytes());
    }
    table
}

/// Returns the indexes that a table declares.
///
/// # Errors
/// Those of the declaration.
pub(super) fn declared_indexes(table: &TableDescriptor) -> Result<Vec<Index>> {
    let Some(schema) = IndexSchema::of_table(table)? else { return Ok(Vec::new()) };
    schema.check_families(table)?;
    Ok(schema.indexes().to_vec())
}

/// Whether rows show the same cells after an alteration, of those that decide an index's entries.
fn rows_stay(index: &Index, old: &TableDescriptor, new: &TableDescriptor) -> bool {
    let retention = |table: &TableDescriptor| -> Vec<_> {
        let families = table.families().iter();
        let families = families.filter(|family| index.columns().selects_family(family.name()));
        families.map(|family| (family.name().clone(), Retention::from(family))).collect()
    };
    retention(old) == retention(new)
}
