//! Asks the observers of the rows that a record changes.

use std::collections::BTreeSet;
use std::sync::Arc;

use rowhouse_model::{Bytes, Durability, Get, Mutation, Result};

use super::record_builder::RecordBuilder;
use crate::commits::RowsGuard;
use crate::family::SteadyGuard;
use crate::observer::{Additions, ObserversByTable, RowChange};
use crate::region::Region;
use crate::table::Table;

impl Additions {
    /// Adds a mutation of a row of any table of the store. It becomes visible, and survives a
    /// crash, together with the observed change. It sees the effects of the observed change and of
    /// mutations added before it. No observer sees it. It has the durability of the observed
    /// change; `SKIP_WAL` counts as `ASYNC_WAL`.
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
    /// They add nothing.
    Nothing,
    /// Mutations to add to the record, in this order.
    Additions(Vec<(Arc<Region>, Mutation)>),
    /// Rows that they write and that are not locked, or whose region does not serve: release all
    /// locks, call [`admit_unlocked`], lock these rows with the others, and begin again.
    ///
    /// [`admit_unlocked`]: super::apply::admit_unlocked
    Unlocked(Vec<(Arc<Region>, Bytes)>),
}

/// Keeps flushes and compactions of the steady families of `regions` from being installed. Taken
/// before [`ask`], and held until the record is committed.
pub(super) fn hold_steady<'a>(regions: &[&'a Region]) -> SteadyGuard<'a> {
    SteadyGuard::of(regions.iter().flat_map(|region| region.families()))
}

/// As [`hold_steady`], for the regions of additions.
pub(super) fn hold_steady_too(additions: &[(Arc<Region>, Mutation)]) -> SteadyGuard<'_> {
    SteadyGuard::of_additions(additions.iter().flat_map(|(region, _)| region.families()))
}

/// Asks the observers of every row of a record, whose rows are locked by `rows`.
///
/// # Errors
/// Those of the observers, which refuse the record.
pub(super) fn ask(
    observers: &ObserversByTable,
    record: &RecordBuilder<'_>,
    regions: &[&Region],
    rows: &RowsGuard<'_>,
) -> Result<Observed> {
    let observed = |region: &&&Region| observers.contains_key(&region.info().table);
    let regions: Vec<&Region> = regions.iter().filter(observed).copied().collect();
    if regions.is_empty() {
        return Ok(Observed::Nothing);
    }
    let find = |id: u64| regions.iter().find(|region| region.id() == id).copied();
    let Some(pending) = record.pending(|region, _| find(region).is_some()) else {
        return Ok(Observed::Nothing);
    };
    let mut additions = Additions::default();
    let mut seen = BTreeSet::new();
    for (id, row) in record.rows() {
        let Some(region) = find(id).filter(|_| seen.insert((id, row))) else { continue };
        for observer in observers.get(&region.info().table).into_iter().flatten() {
            let row = Bytes::copy_from_slice(row);
            let mut get = Get::new(row.clone())?;
            get.columns = observer.columns();
            let change = RowChange {
                table: region.info().table.clone(),
                row,
                before: region.read_row(&get)?,
                after: region.read_row_pending(&get, &pending)?,
            };
            observer.row_changes(&change, &mut additions)?;
        }
    }
    place(additions, rows)
}

/// Returns the rows of additions whose region does not serve.
pub(super) fn out_of_service(additions: &[(Arc<Region>, Mutation)]) -> Vec<(Arc<Region>, Bytes)> {
    let closed = additions.iter().filter(|(region, _)| !region.is_serving());
    closed.map(|(region, mutation)| (Arc::clone(region), mutation.row().clone())).collect()
}

/// Returns the durability of a record with additions. Without a log record, a crash after a flush
/// of some families could leave a change without its additions.
pub(super) fn durability(asked: Durability) -> Durability {
    match asked {
        Durability::SkipWal => Durability::AsyncWal,
        asked => asked,
    }
}

/// Finds the regions of the additions, and the rows among them that are not locked.
fn place(additions: Additions, rows: &RowsGuard<'_>) -> Result<Observed> {
    let mut placed = Vec::new();
    let mut unlocked = Vec::new();
    for (table, mutation) in additions.into_mutations() {
        table.check_enabled()?;
        let region = Arc::clone(table.region_of(mutation.row()));
        let row = region.engine().row_locks.place(region.id(), mutation.row());
        if !rows.holds(row) || !region.is_serving() {
            unlocked.push((Arc::clone(&region), mutation.row().clone()));
        }
        placed.push((region, mutation));
    }
    Ok(match (placed.is_empty(), unlocked.is_empty()) {
        (true, _) => Observed::Nothing,
        (false, true) => Observed::Additions(placed),
        (false, false) => Observed::Unlocked(unlocked),
    })
}
