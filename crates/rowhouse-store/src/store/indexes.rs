//! Index tables: they are created, altered and dropped with their base tables, in the same manifest
//! edits.

use std::sync::Arc;

use rowhouse_model::{Bytes, Result, RowRange, TableDescriptor, TableName, TableState};
use rowhouse_schema::{
    INDEX_DAMAGE_ATTRIBUTE, INDEX_OF_ATTRIBUTE, INDEX_STATE_ATTRIBUTE, Index, IndexOf, IndexSchema,
    IndexState, index_damage,
};

use super::Store;
use super::alter::without;
use super::handle::Tables;
use super::tables::with_tracker;
use crate::catalog::IndexRead;
use crate::family::{FamilyStore, InMemory};
use crate::indexed::{is_in_memory, is_off_by_damage, is_search_table, no_indexes};
use crate::manifest::{
    EditKind, RegionMeta, TableAltered, TableCreated, TableDropped, encode_table,
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
    pub(super) fn make(self, tables: &Tables) -> Arc<Table> {
        let Self { id, descriptor, regions, state } = self;
        let regions = regions.into_iter();
        let regions: Vec<_> =
            regions.map(|meta| tables.region_in_place_of(&descriptor, &[], meta)).collect();
        if state == TableState::Disabled {
            regions.iter().for_each(|region| region.begin_closed());
        }
        Arc::new(Table::new(id, descriptor, regions, state))
    }
}

/// The index tables that a change to their base table drops and creates.
#[derive(Default)]
pub(super) struct IndexChange {
    pub(super) dropped: Vec<Arc<Table>>,
    pub(super) created: Vec<NewTable>,
}

impl IndexChange {
    /// Returns the edits for the change.
    pub(super) fn edits(&self) -> impl Iterator<Item = EditKind> {
        let dropped = self.dropped.iter().map(|table| table.id());
        let dropped = dropped.map(|table_id| EditKind::TableDropped(TableDropped { table_id }));
        dropped.chain(self.created.iter().map(NewTable::edit))
    }

    /// Returns the dropped tables' families.
    pub(super) fn lost(&self) -> impl Iterator<Item = Arc<FamilyStore>> {
        let regions = self.dropped.iter().flat_map(|table| table.regions());
        regions.flat_map(|region| region.families()).cloned()
    }

    /// Makes the created tables, once the edits are written.
    pub(super) fn make(self, tables: &Tables) -> Vec<Arc<Table>> {
        self.created.into_iter().map(|new| new.make(tables)).collect()
    }
}

/// Index tables on a table whose rows are about to change otherwise than row by row: their indexes
/// are repaired afterwards.
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
    /// Returns a table's index tables with the state `repairing`, except the ones that are off.
    pub(crate) fn repairing_indexes(&self, table: &Arc<Table>) -> Result<RepairingIndexes> {
        let mut tables = Vec::new();
        for table in self.inner.tables.with_indexes(table)?.into_iter().skip(1) {
            let state = IndexState::of_table(table.descriptor())?;
            // These are built anew: see `reset_indexes`.
            let is_reset = is_copy(&table) || is_in_memory(table.descriptor());
            if matches!(state, IndexState::Off(_)) || is_reset {
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

    /// Sets the states for all indexes on a table, and requests no builds.
    pub(crate) fn set_index_states(&self, table: &Arc<Table>, state: &IndexState) -> Result<()> {
        let _changing = self.inner.tables.changing.lock();
        let tables = self.inner.tables.with_indexes(table)?;
        tables.iter().skip(1).try_for_each(|it| self.inner.tables.set_index_state(it, state))
    }

    /// Repairs an index. The caller holds `reindexing` on the base table.
    pub(crate) fn repair_index(&self, table_id: u64) -> Result<()> {
        self.inner.tables.build_now(table_id)
    }

    pub(crate) fn request_index_builds(&self) {
        self.inner.tables.request_index_builds();
    }

    /// Refuses a change to a table that holds index entries.
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

    /// Returns a read point at the current state of all tables, with a table and the index table
    /// that holds the entries, for a query that reads both; `None` if the index is not ready there.
    ///
    /// # Errors
    /// `TableNotFound`; `InvalidRequest` if the table has no such index.
    pub fn index_read_point(&self, table: &TableName, index: &str) -> Result<Option<IndexRead>> {
        let (point, tables) = self.inner.tables.catalog.read_point(&self.inner.engine);
        tables.index_read(&Arc::new(point), table, index)
    }

    /// Returns the index tables on `base`, to be created without entries. The tables that they
    /// replace are `dropped`.
    ///
    /// # Errors
    /// Errors from the declaration; `TableExists`.
    pub(super) fn new_index_tables<'i>(
        &self,
        base: &TableDescriptor,
        indexes: impl IntoIterator<Item = &'i Index>,
        dropped: &[Arc<Table>],
        index_state: &IndexState,
        state: TableState,
    ) -> Result<Vec<NewTable>> {
        let new = |index: &Index| {
            let descriptor = index_table_in(index, base, dropped, index_state)?;
            if !dropped.iter().any(|dropped| dropped.name() == descriptor.name()) {
                self.check_new_table(descriptor.name(), 1)?;
            }
            self.inner.tables.new_table(descriptor, &[RowRange::all()], state)
        };
        indexes.into_iter().map(new).collect()
    }

    /// Replaces the indexes that [`Store::index_reset`] returns by empty ones. The caller holds
    /// `reindexing` on the table and prevents changes to tables.
    ///
    /// # Errors
    /// As [`Store::index_reset`]; `Io` from the manifest. The indexes then stay as they are.
    pub(crate) fn reset_indexes(&self, table: &Arc<Table>) -> Result<()> {
        self.inner.tables.replace_indexes(self.index_reset(table)?)
    }

    /// Returns a table's indexes that are replaced by empty ones, to be built anew, where rows
    /// change otherwise than row by row: copies, indexes in memory, and full-text indexes under
    /// repair, because whoever repairs them finds a change only by the state, which would not
    /// change. An index that is off because it is damaged or has had no memory stays so.
    ///
    /// # Errors
    /// `Corruption` if the table has a copy and a damaged file.
    pub(super) fn index_reset(&self, table: &Arc<Table>) -> Result<IndexChange> {
        let tables = &self.inner.tables;
        let mut reset = Vec::new();
        for index in tables.with_indexes(table)?.into_iter().skip(1) {
            let state = IndexState::of_table(index.descriptor())?;
            let is_repaired = is_search_table(index.descriptor()) && state == IndexState::Repairing;
            let is_reset = is_copy(&index) && !is_off_by_damage(index.descriptor());
            let is_dropped =
                is_in_memory(index.descriptor()) && !matches!(state, IndexState::Off(_));
            reset.extend((is_repaired || is_reset || is_dropped).then_some(index));
        }
        if reset.iter().any(|index| is_copy(index)) {
            tables.check_undamaged(table)?;
        }
        let state = IndexState::Building { next_row: Bytes::new() };
        tables.new_instead_of(table, reset, &state)
    }

    /// Returns the change to index tables that altering their base table to `altered` requires:
    /// indexes that it drops, declares or changes, and indexes whose entries it may change.
    pub(super) fn index_change(
        &self,
        table: &Table,
        altered: &TableDescriptor,
    ) -> Result<IndexChange> {
        let old = table.indexes()?.map(IndexSchema::indexes).unwrap_or_default();
        let new = declared_indexes(altered)?;
        let is_unchanged =
            |index: &Index| old.contains(index) && rows_stay(index, table.descriptor(), altered);
        let mut dropped = Vec::new();
        for index in
            old.iter().filter(|old| !new.iter().any(|new| new == *old && is_unchanged(new)))
        {
            dropped.push(self.inner.tables.catalog.table(&index.table_name(table.name())?)?);
        }
        let changed = new.iter().filter(|index| !is_unchanged(index));
        let state = IndexState::Building { next_row: Bytes::new() };
        let created = self.new_index_tables(altered, changed, &dropped, &state, table.state())?;
        Ok(IndexChange { dropped, created })
    }
}

impl Tables {
    /// Returns a table to be created, with a region for each range.
    pub(super) fn new_table(
        &self,
        descriptor: TableDescriptor,
        ranges: &[RowRange],
        state: TableState,
    ) -> Result<NewTable> {
        let regions = self.metas_of(descriptor.name(), ranges)?;
        let id = self.engine.manifest.next_id();
        Ok(NewTable { id, descriptor, regions, state })
    }

    /// Replaces the tables for these indexes on a table by empty ones, to be built from the rows. A
    /// unique index whose data was damaged takes no new values until then. The caller holds
    /// `reindexing` on the table and prevents changes to tables.
    ///
    /// # Errors
    /// `Io` from the manifest; the indexes then stay as they are.
    pub(super) fn rebuild_indexes(
        &self,
        table: &Arc<Table>,
        replaced: Vec<Arc<Table>>,
    ) -> Result<()> {
        let state = IndexState::Building { next_row: Bytes::new() };
        self.replace_indexes(self.new_instead_of(table, replaced, &state)?)
    }

    /// Puts an index in memory off, for a reason, and frees the memory, unless another table has
    /// replaced its table. The caller prevents changes to tables.
    ///
    /// # Errors
    /// `Io` from the manifest; the index then stays as it is.
    pub(super) fn set_off_in_memory(&self, index: &Arc<Table>, why: String) -> Result<()> {
        let Some(of) = IndexOf::of_table(index.descriptor())? else { return Ok(()) };
        if self.catalog.table(index.name()).map(|now| now.id()).ok() != Some(index.id()) {
            return Ok(());
        }
        let table = self.catalog.table(&of.table)?;
        let state = IndexState::Off(why);
        tracing::warn!(index = %index.name(), %state, "an index was put off");
        self.replace_indexes(self.new_instead_of(&table, vec![Arc::clone(index)], &state)?)
    }

    fn new_instead_of(
        &self,
        table: &Arc<Table>,
        replaced: Vec<Arc<Table>>,
        state: &IndexState,
    ) -> Result<IndexChange> {
        let mut created = Vec::new();
        for index in table.indexes()?.map(IndexSchema::indexes).unwrap_or_default() {
            let name = index.table_name(table.name())?;
            if replaced.iter().any(|it| *it.name() == name) {
                let descriptor = index_table_in(index, table.descriptor(), &replaced, state)?;
                created.push(self.new_table(descriptor, &[RowRange::all()], table.state())?);
            }
        }
        Ok(IndexChange { dropped: replaced, created })
    }

    /// Replaces index tables by tables with the same names. Writers on their rows go on: a record
    /// with cells from the old ones is made again.
    fn replace_indexes(&self, change: IndexChange) -> Result<()> {
        let Some(first) = change.dropped.first().map(|index| index.name().clone()) else {
            return Ok(());
        };
        let edits = change.edits().collect();
        let lost = change.lost().collect::<Vec<_>>();
        without(&self.engine, &lost, EditKind::together(edits), &first, || {
            self.catalog.replace(change.make(self));
            self.changed();
        })?;
        self.request_index_builds();
        Ok(())
    }

    /// Returns a table with its index tables.
    pub(super) fn with_indexes(&self, table: &Arc<Table>) -> Result<Vec<Arc<Table>>> {
        let mut tables = vec![Arc::clone(table)];
        let indexes = table.indexes()?.map(IndexSchema::indexes).unwrap_or_default();
        for index in indexes {
            tables.push(self.catalog.table(&index.table_name(table.name())?)?);
        }
        Ok(tables)
    }

    /// Sets an index's state to `to`, unless it was dropped or has another state than `from`. The
    /// caller prevents changes to tables meanwhile.
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

    /// Sets an index's state; an index whose data is damaged does not get ready. The caller
    /// prevents changes to tables meanwhile.
    pub(super) fn set_index_state(&self, table: &Table, state: &IndexState) -> Result<()> {
        if state.is_ready()
            && let Some(why) = self.damage_of(table)
        {
            return self.set_off_by_damage(table, &why);
        }
        self.declare_index(table, with_state(table, state), || {
            let families = table.regions_now().into_iter().flat_map(|region| region.families());
            let in_memory = families.filter_map(|family| family.in_memory());
            in_memory.filter(|_| state.is_ready()).for_each(InMemory::set_built);
        })
    }

    /// Declares an index table anew, with another state. Runs `follow` while no commit is in
    /// progress.
    pub(super) fn declare_index(
        &self,
        table: &Table,
        descriptor: TableDescriptor,
        follow: impl FnOnce(),
    ) -> Result<()> {
        let Some(edit) = altered(table, &descriptor) else { return Ok(()) };
        // An open takes no notice of the state of an index in memory.
        if !is_in_memory(&descriptor) {
            self.engine.append_edit(edit)?;
        }
        // A read point sees either the state before, and no later commit, or this one.
        let _latch = self.engine.freeze_latch.write();
        self.catalog.replace([Arc::new(table.altered(descriptor))]);
        self.changed();
        follow();
        Ok(())
    }
}

/// Returns the descriptor for an index table in a state. If it replaces a table among these whose
/// data was damaged, the descriptor notes it until it is built: a unique index takes no new values
/// until then.
fn index_table_in(
    index: &Index,
    base: &TableDescriptor,
    replaced: &[Arc<Table>],
    state: &IndexState,
) -> Result<TableDescriptor> {
    let descriptor = with_tracker(index.table_descriptor(base)?);
    let mut descriptor = descriptor.attribute(INDEX_STATE_ATTRIBUTE, state.to_string());
    let old = replaced.iter().find(|old| old.name() == descriptor.name());
    if let Some(damage) = old.and_then(|old| index_damage(old.descriptor())) {
        descriptor = descriptor.attribute(INDEX_DAMAGE_ATTRIBUTE, damage);
    }
    descriptor.check()?;
    Ok(descriptor)
}

/// True if a table is a copy of another one.
pub(super) fn is_copy(table: &Table) -> bool {
    IndexOf::of_table(table.descriptor()).ok().flatten().is_some_and(|of| of.is_copy)
}

/// Returns the edit for a table whose descriptor changes, if it does; the families stay.
pub(super) fn altered(table: &Table, descriptor: &TableDescriptor) -> Option<EditKind> {
    (table.descriptor() != descriptor).then(|| {
        EditKind::TableAltered(TableAltered {
            table_id: table.id(),
            descriptor: encode_table(descriptor),
            starts_after: 0,
        })
    })
}

/// Returns an index table's descriptor with another state.
pub(super) fn with_state(table: &Table, state: &IndexState) -> TableDescriptor {
    let mut descriptor = table.descriptor().clone();
    // Once a build has ended, whatever was damaged has been made anew.
    if matches!(state, IndexState::Ready | IndexState::Off(_)) {
        descriptor.attributes.remove(INDEX_DAMAGE_ATTRIBUTE.as_bytes());
    }
    descriptor.attribute(INDEX_STATE_ATTRIBUTE, state.to_string())
}

/// Returns the descriptor for a table that no longer holds index entries.
pub(crate) fn without_index(mut table: TableDescriptor) -> TableDescriptor {
    for attribute in [INDEX_OF_ATTRIBUTE, INDEX_STATE_ATTRIBUTE, INDEX_DAMAGE_ATTRIBUTE] {
        table.attributes.remove(attribute.as_bytes());
    }
    table
}

/// Returns the indexes that a table declares.
///
/// # Errors
/// Errors from the declaration.
pub(super) fn declared_indexes(table: &TableDescriptor) -> Result<Vec<Index>> {
    let Some(schema) = IndexSchema::of_table(table)? else { return Ok(Vec::new()) };
    schema.check_families(table)?;
    Ok(schema.indexes().to_vec())
}

/// True if rows show the same cells after an alteration, as far as these cells decide an index's
/// entries.
fn rows_stay(index: &Index, old: &TableDescriptor, new: &TableDescriptor) -> bool {
    let retention = |table: &TableDescriptor| -> Vec<_> {
        let families = table.families().iter();
        let families = families.filter(|family| index.columns().selects_family(family.name()));
        families.map(|family| (family.name().clone(), Retention::from(family))).collect()
    };
    retention(old) == retention(new)
}
