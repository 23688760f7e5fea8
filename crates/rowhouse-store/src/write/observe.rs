//! Calls the observers for the rows that a record changes.

use std::collections::BTreeSet;
use std::sync::Arc;

use arc_swap::Guard;
use rowhouse_model::{
    Action, Bytes, Cell, Durability, Error, ErrorKind, Get, Mutation, Result, TableName, Timestamp,
};

use super::admit::admit;
use super::copy;
use super::index::{self, EntryChanges};
use super::record_builder::RecordBuilder;
use crate::commits::RowsGuard;
use crate::engine::Engine;
use crate::erased::Erased;
use crate::family::SteadyGuard;
use crate::indexed::{IndexedTables, MaintainedIndex};
use crate::observer::{Additions, ObserversByTable, RowChange, TableObservers};
use crate::read::RowVersion;
use crate::region::Region;
use crate::space::Need;
use crate::table::Table;
use crate::wait_mode::{NonBlocking, WaitMode};

impl Additions {
    /// Adds a mutation of a row in any table of the store. It becomes visible, and survives a
    /// crash, together with the observed change. It sees the effects of the observed change and of
    /// mutations added earlier. No observer sees it. It has the observed change's durability;
    /// `SKIP_WAL` counts as `ASYNC_WAL`.
    pub fn mutate(&mut self, table: &Arc<Table>, mutation: impl Into<Mutation>) {
        self.mutations.push((Arc::<Table>::clone(table), mutation.into()));
    }

    fn into_mutations(self) -> impl Iterator<Item = (Arc<Table>, Mutation)> {
        self.mutations
            .into_iter()
            .map(|(table, mutation)| (table.downcast().expect("only tables are added"), mutation))
    }
}

/// The answer of a record's observers.
pub(super) enum Observed {
    /// Mutations to add to the record, in this order.
    Additions(Vec<(Arc<Region>, Mutation)>),
    /// As [`Written::Unlocked`].
    ///
    /// [`Written::Unlocked`]: super::record::Written::Unlocked
    Unlocked(Vec<RowToLock>),
}

/// A row that a record writes and that must be locked before the row's cells are known for certain.
pub(super) struct RowToLock {
    /// The region that must serve and have room.
    pub(super) region: Arc<Region>,
    pub(super) lock: LockId,
    pub(super) row: Bytes,
}

/// The rows among which a lock names one.
#[derive(Clone, Copy)]
pub(super) enum LockId {
    /// The rows of the region with this id.
    Region(u64),
    /// The values of the unique index whose table has this id.
    UniqueValue(u64),
}

impl LockId {
    /// Returns the number by which row locks know it.
    pub(super) fn number(self) -> u64 {
        match self {
            Self::Region(id) => id,
            // Ids are assigned from 1 upwards.
            Self::UniqueValue(table) => table | 1 << 63,
        }
    }
}

/// The observers and indexes on a store's tables.
pub(super) struct Watched {
    observers: Option<Arc<ObserversByTable>>,
    indexed: Option<Arc<Erased>>,
}

impl Watched {
    /// Returns `None` while no table has observers or indexes.
    #[inline]
    pub(super) fn of(engine: &Engine) -> Option<Self> {
        let observers = engine.observers.by_table();
        let indexed = engine.indexed.load();
        if observers.is_none() && indexed.is_none() {
            return None;
        }
        Some(Self { observers, indexed: Guard::into_inner(indexed) })
    }

    /// The indexes; `None` if no table has any.
    pub(super) fn indexed(&self) -> Option<&Arc<Erased>> {
        self.indexed.as_ref()
    }

    /// Whether a table has observers or indexes.
    pub(super) fn watch(&self, table: &TableName) -> bool {
        let is_observed = self.observers.as_ref().is_some_and(|it| it.contains_key(table));
        let indexed = self.indexed.as_ref().map(|indexed| indexed.get::<IndexedTables>());
        is_observed || indexed.is_some_and(|it| !matches!(it.get(table), Ok(None)))
    }

    /// Waits for room in a table's index tables. No row may be locked.
    ///
    /// # Errors
    /// As [`admit`].
    pub(super) fn admit_entries(&self, table: &TableName, need: Need) -> Result<()> {
        let Some(indexed) = &self.indexed else { return Ok(()) };
        let Some(indexed) = indexed.get::<IndexedTables>().get(table)? else { return Ok(()) };
        indexed.all().filter(|it| !it.is_off()).try_for_each(|it| admit_entries(it, need))
    }

    /// Calls the observers for every row in a record, whose rows are locked by `rows`.
    ///
    /// # Errors
    /// Errors from the observers, which refuse the record.
    pub(super) fn call_observers(
        &self,
        record: &RecordBuilder<'_>,
        regions: &[&Region],
        rows: &RowsGuard<'_>,
    ) -> Result<Observed> {
        match &self.observers {
            None => Ok(Observed::Additions(Vec::new())),
            Some(observers) => call_observers(observers, record, regions, rows),
        }
    }

    /// Returns the index entry changes that a record causes.
    ///
    /// # Errors
    /// As [`index::changes`].
    pub(super) fn entries(
        &self,
        record: &RecordBuilder<'_>,
        regions: &[&Region],
        rows: &mut RowsGuard<'_>,
        now: Timestamp,
    ) -> Result<EntryChanges> {
        match &self.indexed {
            None => Ok(EntryChanges::Cells(Vec::new())),
            Some(indexed) => index::changes(indexed.get(), record, regions, rows, now),
        }
    }

    /// Returns the regions with copies whose rows must be made equal to the rows in their tables
    /// before the record is committed. They are to be held steady until then, and from before
    /// [`Watched::level`].
    ///
    /// # Errors
    /// As [`copy::regions_to_level`].
    pub(super) fn regions_to_level(
        &self,
        record: &RecordBuilder<'_>,
        regions: &[&Region],
    ) -> Result<Vec<Arc<Region>>> {
        match &self.indexed {
            None => Ok(Vec::new()),
            Some(indexed) => copy::regions_to_level(indexed.get(), record, regions),
        }
    }

    /// Makes rows and their copies equal. Returns rows whose regions must serve first, if any.
    ///
    /// # Errors
    /// As [`copy::level`].
    pub(super) fn level(
        &self,
        record: &RecordBuilder<'_>,
        regions: &[&Region],
        held: &[Arc<Region>],
    ) -> Result<Vec<RowToLock>> {
        match &self.indexed {
            Some(indexed) if !held.is_empty() => copy::level(indexed.get(), record, regions, held),
            _ => Ok(Vec::new()),
        }
    }

    /// Whether the record must be logged: a crash must not leave a change in these regions without
    /// its additions or entries.
    pub(super) fn needs_log(
        &self,
        additions: &[(Arc<Region>, Mutation)],
        regions: &[&Region],
    ) -> Result<bool> {
        let Some(indexed) = &self.indexed else { return Ok(!additions.is_empty()) };
        let indexed = indexed.get::<IndexedTables>();
        let mut needs_log = !additions.is_empty();
        for region in regions {
            let table = indexed.get(&region.info().table)?;
            needs_log |= table.is_some_and(|table| !table.is_in_memory());
        }
        Ok(needs_log)
    }
}

/// Keeps flushes and compactions on the steady families in `regions` from being installed. Taken
/// before [`call_observers`], and held until the record is committed.
pub(super) fn hold_steady<'a>(regions: &[&'a Region]) -> SteadyGuard<'a> {
    SteadyGuard::of(regions.iter().flat_map(|region| region.families()))
}

/// As [`hold_steady`], for the regions that additions write.
pub(super) fn hold_steady_too(additions: &[(Arc<Region>, Mutation)]) -> SteadyGuard<'_> {
    SteadyGuard::of_additions(additions.iter().flat_map(|(region, _)| region.families()))
}

/// As [`hold_steady_too`], for the regions that hold copies.
pub(super) fn hold_copies_steady(regions: &[Arc<Region>]) -> SteadyGuard<'_> {
    SteadyGuard::of_additions(regions.iter().flat_map(|region| region.families()))
}

/// Calls the observers for every row in a record, whose rows are locked by `rows`.
///
/// # Errors
/// Errors from the observers, which refuse the record.
fn call_observers(
    observers: &ObserversByTable,
    record: &RecordBuilder<'_>,
    regions: &[&Region],
    rows: &RowsGuard<'_>,
) -> Result<Observed> {
    let observed = |region: &&&Region| observers.contains_key(&region.info().table);
    let regions: Vec<&Region> = regions.iter().filter(observed).copied().collect();
    if regions.is_empty() {
        return Ok(Observed::Additions(Vec::new()));
    }
    for region in &regions {
        let table = &region.info().table;
        observers.get(table).map_or(Ok(()), |observers| observers.check(table))?;
    }
    let find = |id: u64| regions.iter().find(|region| region.id() == id).copied();
    let Some(pending) = record.pending(|region, _| find(region).is_some()) else {
        return Ok(Observed::Additions(Vec::new()));
    };
    let mut additions = Additions::default();
    let mut seen = BTreeSet::new();
    for (id, row) in record.rows() {
        let Some(region) = find(id).filter(|_| seen.insert((id, row))) else { continue };
        let of_table = observers.get(&region.info().table);
        for observer in of_table.into_iter().flat_map(TableObservers::registered) {
            let row = Bytes::copy_from_slice(row);
            let mut get = Get::new(row.clone())?;
            get.columns = observer.columns();
            let change = RowChange {
                table: region.info().table.clone(),
                row,
                before: region.read_row(&get, RowVersion::Current)?,
                after: region.read_row(&get, RowVersion::With(&pending))?,
            };
            observer.row_changes(&change, &mut additions).map_err(of_observer)?;
        }
    }
    place(additions, rows)
}

/// Waits for room in an index table. No row may be locked.
///
/// # Errors
/// As [`admit`].
pub(super) fn admit_entries(maintained: &MaintainedIndex, need: Need) -> Result<()> {
    let mut regions = maintained.table.regions_now().into_iter();
    let admitted = regions
        .try_for_each(|region| admit(region, need, WaitMode::Blocking).map(NonBlocking::done));
    admitted.map_err(|error| error.with_context(format_args!("index {}", maintained.index.name())))
}

/// Whether an index may refuse a single row of a region's table: it has a unique index, or a copy
/// that cannot hold some keys.
pub(super) fn may_refuse_one(region: &Region) -> bool {
    let indexed = region.engine().indexed.load();
    let indexed = indexed.as_ref().map(|indexed| indexed.get::<IndexedTables>());
    let indexed = indexed.and_then(|indexed| indexed.get(&region.info().table).ok().flatten());
    let may_refuse = |maintained: &MaintainedIndex| {
        maintained.index.is_unique() || maintained.index.may_refuse_keys()
    };
    indexed.is_some_and(|table| table.all().any(may_refuse))
}

/// Returns the rows in additions and entries whose region does not serve.
pub(super) fn closed(
    additions: &[(Arc<Region>, Mutation)],
    entries: &[(Arc<Region>, Cell)],
) -> Vec<RowToLock> {
    let additions = additions.iter().map(|(region, it)| (region, it.row().clone()));
    let entries = entries.iter().map(|(region, cell)| (region, cell.row_bytes()));
    out_of_service(additions.chain(entries))
}

/// Returns the rows in additions whose region does not serve.
pub(super) fn out_of_service<'r>(
    additions: impl Iterator<Item = (&'r Arc<Region>, Bytes)>,
) -> Vec<RowToLock> {
    let closed = additions.filter(|(region, _)| !region.is_serving());
    closed.map(|(region, row)| RowToLock::new(region, row)).collect()
}

impl RowToLock {
    fn new(region: &Arc<Region>, row: Bytes) -> Self {
        Self { region: Arc::clone(region), lock: LockId::Region(region.id()), row }
    }
}

/// Returns the durability of a record with additions. Without a log record, a crash after a flush
/// of some families could leave a change without its additions.
pub(super) fn durability(requested: Durability) -> Durability {
    match requested {
        Durability::SkipWal => Durability::AsyncWal,
        requested => requested,
    }
}

/// Returns the error of an observer. If a region that it reads does not serve, that means nothing
/// about the region that the caller has addressed.
fn of_observer(error: Error) -> Error {
    if error.kind() != ErrorKind::NotServingRegion {
        return error;
    }
    let message = format!("an observer reads a region out of service: {}", error.message());
    Error::new(ErrorKind::RegionTooBusy, message).with_source(error)
}

/// Checks that an observer can write to a table by the handle that it has.
fn check_addressed(table: &Table, region: &Region) -> Result<()> {
    if let Err(error) = table.check_enabled() {
        if table.is_dropped() {
            return Err(Error::invalid("it was dropped or truncated, look it up again"));
        }
        return Err(error);
    }
    table.check_layout(region)
}

/// Returns the error of a mutation that an observer adds. The caller of the observed change has not
/// named that table: the error is that of a refused change, or one to repeat if the table may be
/// enabled again.
pub(super) fn of_addition(table: &TableName, error: Error) -> Error {
    let kind = match error.kind() {
        ErrorKind::TableNotEnabled => ErrorKind::RegionTooBusy,
        // The mutation is planned anew.
        ErrorKind::NotServingRegion => return error,
        kind if matches!(kind.action(), Action::FixRequest | Action::Relocate) => {
            ErrorKind::InvalidRequest
        }
        kind => kind,
    };
    let message = format!("an observer cannot write to table {table}: {}", error.message());
    Error::new(kind, message).with_source(error)
}

/// Finds the regions for the additions, and the rows among them that are not locked.
fn place(additions: Additions, rows: &RowsGuard<'_>) -> Result<Observed> {
    let mut placed = Vec::new();
    let mut unlocked = Vec::new();
    for (table, mutation) in additions.into_mutations() {
        let region = Arc::clone(table.region_of(mutation.row()));
        check_addressed(&table, &region).map_err(|error| of_addition(table.name(), error))?;
        let row = region.engine().row_locks.place(region.id(), mutation.row());
        if !rows.holds(row) || !region.is_serving() {
            unlocked.push(RowToLock::new(&region, mutation.row().clone()));
        }
        placed.push((region, mutation));
    }
    if unlocked.is_empty() {
        Ok(Observed::Additions(placed))
    } else {
        Ok(Observed::Unlocked(unlocked))
    }
}
