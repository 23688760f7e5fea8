//! The served tables and regions by name. Changes replace the whole catalog; reads do not wait.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use parking_lot::RwLock;
use rowhouse_model::{Bytes, ChangePosition, Error, Result, TableName};
use rowhouse_schema::{Index, IndexState};

use crate::engine::Engine;
use crate::family::{Families, FamilyStore};
use crate::flush::log_counters_latched;
use crate::indexed::{IndexedTables, no_indexes};
use crate::read::ReadPoint;
use crate::region::{Region, table_not_found};
use crate::request_totals::{RequestTotals, StoreRequests};
use crate::side_effects::SideEffects;
use crate::table::Table;

/// A store's tables and regions.
pub(crate) struct Catalog {
    entries: RwLock<Arc<Entries>>,
    engine: Arc<Engine>,
    /// Is informed which tables have indexes and name observers.
    effects: Arc<SideEffects>,
    requests: RequestTotals,
}

/// A catalog snapshot.
#[derive(Clone, Default)]
pub(crate) struct Entries {
    pub(crate) tables: BTreeMap<TableName, Arc<Table>>,
    by_name: HashMap<Bytes, Arc<Region>>,
    by_encoded_name: HashMap<String, Arc<Region>>,
}

/// A table and the entry table for one index, at one read point.
pub struct IndexRead {
    /// The table.
    pub table: Arc<Table>,
    /// The entry table.
    pub entries: Arc<Table>,
    /// The read point. At it, every row that must have an entry has one.
    pub point: Arc<ReadPoint>,
}

/// A table and the table for one full-text index, at one read point.
pub struct SearchRead {
    /// The table.
    pub table: Arc<Table>,
    /// The index table: the queue, segments and list.
    pub entries: Arc<Table>,
    /// The read point. At it, every row that changed after the segments' read points is in the
    /// queue, unless `state` says that the index must be built.
    pub point: Arc<ReadPoint>,
    /// The index.
    pub index: Index,
    /// The index state at the read point.
    pub state: IndexState,
}

impl Catalog {
    pub(crate) fn new(engine: &Arc<Engine>) -> Self {
        let entries = RwLock::default();
        let requests = RequestTotals::default();
        Self { entries, engine: Arc::clone(engine), effects: Arc::default(), requests }
    }

    /// What else writes to the tables do.
    pub(crate) fn effects(&self) -> &Arc<SideEffects> {
        &self.effects
    }

    pub(crate) fn entries(&self) -> Arc<Entries> {
        Arc::clone(&self.entries.read())
    }

    pub(crate) fn table(&self, name: &TableName) -> Result<Arc<Table>> {
        self.entries().table(name)
    }

    /// Returns the requests to the tables since the store was opened.
    pub(crate) fn requests(&self) -> StoreRequests {
        self.requests.report()
    }

    /// Returns the region with this full name.
    pub(crate) fn region(&self, name: &[u8]) -> Option<Arc<Region>> {
        self.entries.read().by_name.get(name).cloned()
    }

    /// Returns the region with this encoded name.
    pub(crate) fn region_by_encoded_name(&self, name: &str) -> Option<Arc<Region>> {
        self.entries.read().by_encoded_name.get(name).cloned()
    }

    /// Takes a read point at the current state across all tables; returns it with the tables.
    pub(crate) fn read_point(&self, engine: &Engine) -> (ReadPoint, Arc<Entries>) {
        loop {
            // The sequence number is not older than the tables: an index that is ready may have
            // become so with the last commit.
            let latch = engine.freeze_latch.read();
            if let Some(point) = self.take_read_point(engine, engine.mvcc.visible()) {
                return point;
            }
            drop(latch);
        }
    }

    /// Takes a read point at a sequence number that no commit has, and at the current state across
    /// all tables; returns it with the tables.
    pub(crate) fn read_point_of_own(&self, engine: &Engine) -> (ReadPoint, Arc<Entries>) {
        loop {
            // As above. Earlier commits hold the latch, too, so they end without waiting for it.
            let latch = engine.freeze_latch.read();
            // Like the sequence for a write that the log refused.
            let sequence = engine.mvcc.reserve();
            engine.mvcc.publish(sequence);
            if let Some(point) = self.take_read_point(engine, sequence) {
                return point;
            }
            drop(latch);
        }
    }

    /// Takes a read point at the end of the log: it sees every commit before the returned position
    /// and none after. Counters are logged before, and the log is synced up to the position.
    pub(crate) fn read_point_at_end(
        &self,
        engine: &Engine,
    ) -> Result<(ReadPoint, Arc<Entries>, ChangePosition)> {
        loop {
            // A change of a table that is in the log and not made yet would be in neither.
            engine.wal().wait_for_holds();
            let latch = engine.freeze_latch.write();
            if engine.wal().is_held() {
                continue;
            }
            log_counters_latched(engine, engine.counters.regions())?;
            let (position, end) = engine.wal().appended_end();
            let point = self.take_read_point(engine, engine.mvcc.visible());
            drop(latch);
            if let Some((point, served)) = point {
                engine.wal().sync_to(end)?;
                return Ok((point, served, position));
            }
        }
    }

    /// Takes a read point of a region's families at an earlier sequence number; `None` if one can
    /// no longer be read there.
    pub(crate) fn read_point_before(
        &self,
        engine: &Engine,
        sequence: u64,
        families: impl Iterator<Item = Arc<FamilyStore>>,
    ) -> Option<ReadPoint> {
        let _latch = engine.freeze_latch.read();
        let key = |family: &FamilyStore| (family.region_id(), family.name().clone());
        let families: Families = families.map(|family| (key(&family), family)).collect();
        ReadPoint::at(&engine.read_context(), &families, self.entries(), sequence)
    }

    /// Takes a read point. The caller holds the freeze latch, which also keeps regions from being
    /// replaced and index states from changing.
    fn take_read_point(&self, engine: &Engine, sequence: u64) -> Option<(ReadPoint, Arc<Entries>)> {
        let served = self.entries();
        let context = engine.read_context();
        let families = engine.families.read();
        let point = ReadPoint::at(&context, &families, Arc::<Entries>::clone(&served), sequence)?;
        Some((point, served))
    }

    /// Adds tables, or replaces the tables with the same names and their regions.
    pub(crate) fn replace(&self, tables: impl IntoIterator<Item = Arc<Table>>) {
        self.change(|entries| tables.into_iter().for_each(|table| entries.replace(table)));
    }

    /// Changes the tables. Readers see the whole change or nothing, and writers learn the changed
    /// indexes and observer names at the same time.
    pub(crate) fn change(&self, change: impl FnOnce(&mut Entries)) {
        let mut entries = self.entries.write();
        let mut changed = Entries::clone(&entries);
        change(&mut changed);
        let rebuild_bytes_max = self.engine.settings.index_rebuild_bytes_max;
        let indexed = IndexedTables::of(&changed.tables, rebuild_bytes_max);
        self.effects.indexed.store(indexed.map(Arc::new));
        self.effects.observers.note_named(changed.tables.values().map(|table| table.descriptor()));
        let heats = changed.tables.values().filter_map(|table| {
            let heat = table.regions().first()?.heat()?;
            Some((table.id(), Arc::clone(heat)))
        });
        self.engine.heat.set_tables(heats.collect());
        self.requests.note(&entries.tables, &changed.tables);
        *entries = Arc::new(changed);
    }
}

impl Entries {
    /// Returns a table.
    ///
    /// # Errors
    /// `TableNotFound`.
    pub(crate) fn table(&self, name: &TableName) -> Result<Arc<Table>> {
        self.tables.get(name).cloned().ok_or_else(|| table_not_found(name))
    }

    /// Returns a table and the entry table for an index, from the tables at a read point; `None` if
    /// the index is not ready there.
    ///
    /// # Errors
    /// `TableNotFound`; `InvalidRequest` if the table has no such index.
    pub(crate) fn index_read(
        &self,
        point: &Arc<ReadPoint>,
        table: &TableName,
        index: &str,
    ) -> Result<Option<IndexRead>> {
        let table = self.table(table)?;
        let schema = table.indexes()?.ok_or_else(|| no_indexes(table.name()))?;
        let entries = self.table(&schema.index(index)?.table_name(table.name())?)?;
        let is_ready = IndexState::of_table(entries.descriptor())?.is_ready();
        Ok(is_ready.then(|| IndexRead { table, entries, point: Arc::clone(point) }))
    }

    /// Returns a table and the table for a full-text index, from the tables at a read point.
    ///
    /// # Errors
    /// `TableNotFound`; `InvalidRequest` if the table has no such index, or one with another kind.
    pub(crate) fn search_read(
        &self,
        point: &Arc<ReadPoint>,
        table: &TableName,
        index: &str,
    ) -> Result<SearchRead> {
        let table = self.table(table)?;
        let schema = table.indexes()?.ok_or_else(|| no_indexes(table.name()))?;
        let index = schema.index(index)?.clone();
        if index.search().is_none() {
            let message =
                format!("index {} of {} is no full-text index", index.name(), table.name());
            return Err(Error::invalid(message));
        }
        let entries = self.table(&index.table_name(table.name())?)?;
        let state = IndexState::of_table(entries.descriptor())?;
        Ok(SearchRead { table, entries, point: Arc::clone(point), index, state })
    }

    /// Adds a table, or replaces the table with the same name and the regions in it.
    pub(crate) fn replace(&mut self, table: Arc<Table>) {
        self.remove(table.name());
        self.add(table);
    }

    fn add(&mut self, table: Arc<Table>) {
        for region in table.regions() {
            let name = region.name();
            self.by_name.insert(name.full.clone(), Arc::clone(region));
            self.by_encoded_name.insert(name.encoded.clone(), Arc::clone(region));
        }
        self.tables.insert(table.name().clone(), table);
    }

    pub(crate) fn remove(&mut self, name: &TableName) {
        let Some(table) = self.tables.remove(name) else { return };
        for region in table.regions() {
            self.by_name.remove(&region.name().full);
            self.by_encoded_name.remove(&region.name().encoded);
        }
    }
}
