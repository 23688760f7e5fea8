//! What mutations mean: from what a client asks to the cells that are written.

use rowhouse_model::{
    Cell, CellKind, Condition, Delete, Durability, Error, Get, Increment, KeyValue, Mutation,
    MutationOutcome, Put, Result, Row, Timestamp, escape,
};

use super::commit::{self, Committed};
use super::condition::{self, Holds};
use super::draft::Draft;
use crate::engine::Engine;
use crate::region::Region;
use crate::space::Need;

/// Bytes of cells after which a batch begins another record, so that a batch of any size fits the
/// log.
const RECORD_BYTES_MAX: usize = 8 << 20;

/// Applies one mutation.
pub(crate) fn apply_one(region: &Region, mutation: &Mutation) -> Result<MutationOutcome> {
    let outcome = apply_where(region, mutation, || Ok(Holds::Yes(Timestamp::MIN)))?;
    Ok(outcome.expect("what is asked for nothing is applied"))
}

/// Applies one mutation if `condition` holds for its row; `None` if it does not.
pub(crate) fn apply_if(
    region: &Region,
    condition: &Condition,
    mutation: &Mutation,
) -> Result<Option<MutationOutcome>> {
    if let Condition::NoValue(column) = condition {
        region.family(&column.family)?;
    }
    apply_where(region, mutation, || condition::judge(region, condition, mutation.row()))
}

/// Applies one mutation if `judge`, which is asked with the row locked, finds that it can be.
fn apply_where(
    region: &Region,
    mutation: &Mutation,
    judge: impl FnOnce() -> Result<Holds>,
) -> Result<Option<MutationOutcome>> {
    let engine = region.engine();
    check(region, mutation)?;
    region.check_serving()?;
    commit::admit(region, need(std::iter::once(mutation)))?;
    let mut batch = Batch::new(region);
    let outcome = {
        let _row = engine.row_locks.lock_one(region.id(), mutation.row());
        let Holds::Yes(seen) = judge()? else { return Ok(None) };
        // With the row locked, so that what comes later to it is not older.
        batch.now = engine.timestamps.issue().max(seen);
        let outcome = batch.add(mutation)?;
        batch.write()?;
        outcome
    };
    batch.committed.wait(engine)?;
    Ok(Some(outcome))
}

/// Applies mutations of one region in order, each by itself: one that is refused leaves the others.
pub(crate) fn apply(region: &Region, mutations: &[Mutation]) -> Vec<Result<MutationOutcome>> {
    let mut checked: Vec<Result<()>> =
        mutations.iter().map(|mutation| check(region, mutation)).collect();
    let rows = mutations.iter().zip(&checked).filter(|(_, checked)| checked.is_ok());
    let rows: Vec<&[u8]> = rows.map(|(mutation, _)| &mutation.row()[..]).collect();
    if rows.is_empty() {
        return checked
            .into_iter()
            .map(|checked| checked.map(|()| MutationOutcome::default()))
            .collect();
    }
    // A word in time; what counts is asked again when the batch is written.
    let ready = region.check_serving();
    let ready = ready.and_then(|()| commit::admit(region, need(mutations.iter())));
    if let Err(error) = ready {
        return refuse_all(checked, &error);
    }
    let mut batch = Batch::new(region);
    let outcomes = {
        let rows = rows.into_iter().map(|row| (region.id(), row));
        let _rows = region.engine().row_locks.lock(rows);
        // With the rows locked, so that what comes later to a row is not older.
        batch.now = region.engine().timestamps.issue();
        let mut outcomes = Vec::with_capacity(mutations.len());
        for (at, mutation) in mutations.iter().enumerate() {
            let checked = std::mem::replace(&mut checked[at], Ok(()));
            let outcome = checked.and_then(|()| batch.add(mutation));
            if outcome.is_ok() {
                batch.waiting.push(at);
            }
            outcomes.push(outcome);
        }
        batch.write_or_fail();
        outcomes
    };
    batch.finish(outcomes)
}

/// Applies mutations of any regions of one store as one: they become visible, and survive,
/// together or not at all.
pub(crate) fn apply_together(
    engine: &Engine,
    mutations: &[(&Region, &Mutation)],
) -> Result<Vec<MutationOutcome>> {
    let Some(&(first, _)) = mutations.first() else { return Ok(Vec::new()) };
    for (region, mutation) in mutations {
        check(region, mutation)?;
        region.check_serving()?;
    }
    let need = need(mutations.iter().map(|(_, mutation)| *mutation));
    mutations.iter().try_for_each(|(region, _)| commit::admit(region, need))?;
    let mut batch = Batch::new(first);
    batch.together = true;
    let durability = mutations.iter().map(|(region, mutation)| asked(region, mutation));
    batch.durability =
        durability.max_by_key(|durability| strength(*durability)).unwrap_or_default();
    let mut outcomes = Vec::with_capacity(mutations.len());
    {
        let rows = mutations.iter().map(|(region, mutation)| (region.id(), &mutation.row()[..]));
        let _rows = engine.row_locks.lock(rows);
        batch.now = engine.timestamps.issue();
        for (region, mutation) in mutations {
            batch.region = region;
            outcomes.push(batch.add(mutation)?);
        }
        batch.write()?;
    }
    batch.committed.wait(engine)?;
    Ok(outcomes)
}

/// What the mutations do to the disk in the end.
fn need<'a>(mut mutations: impl Iterator<Item = &'a Mutation>) -> Need {
    let is_delete = mutations.all(|mutation| matches!(mutation, Mutation::Delete(_)));
    if is_delete { Need::Delete } else { Need::Room }
}

fn asked(region: &Region, mutation: &Mutation) -> Durability {
    match mutation.durability() {
        Durability::UseDefault => region.durability(),
        asked => asked,
    }
}

/// The strongest wish of several counts for all.
fn strength(durability: Durability) -> u8 {
    match durability {
        Durability::SkipWal => 0,
        Durability::AsyncWal => 1,
        Durability::UseDefault | Durability::SyncWal => 2,
        Durability::FsyncWal => 3,
    }
}

fn refuse_all(checked: Vec<Result<()>>, error: &Error) -> Vec<Result<MutationOutcome>> {
    let refused = || Error::new(error.kind(), error.message());
    checked.into_iter().map(|checked| checked.and_then(|()| Err(refused()))).collect()
}

/// Checks what can be checked without reading.
fn check(region: &Region, mutation: &Mutation) -> Result<()> {
    region.check_row(mutation.row())?;
    let known = |cell: &Cell| region.family(cell.family()).map(|_| ());
    match mutation {
        Mutation::Put(put) if put.cells().is_empty() => Err(Error::invalid("No columns to insert")),
        Mutation::Put(put) => put.cells().iter().try_for_each(known),
        Mutation::Delete(delete) => delete.cells().iter().try_for_each(known),
        Mutation::Increment(increment) if increment.amounts().is_empty() => {
            Err(Error::invalid("No columns to increment"))
        }
        Mutation::Increment(increment) => increment
            .amounts()
            .iter()
            .try_for_each(|(family, _, _)| region.family(family).map(|_| ())),
    }
}

/// Mutations on their way into records: as many in one as want the same durability and do not
/// have to read what stands before them.
struct Batch<'a> {
    /// Of the mutation that is being added.
    region: &'a Region,
    /// All are one: there is one record, or none.
    together: bool,
    /// The regions of `draft`.
    regions: Vec<&'a Region>,
    now: Timestamp,
    draft: Draft<'a>,
    durability: Durability,
    /// The mutations in `draft`, where there are several that are no one.
    waiting: Vec<usize>,
    committed: Committed,
    /// Why the mutation at each place was not written after all.
    failed: Vec<(usize, Error)>,
}

impl<'a> Batch<'a> {
    fn new(region: &'a Region) -> Self {
        Self {
            region,
            together: false,
            regions: Vec::new(),
            now: Timestamp::MIN,
            draft: Draft::default(),
            durability: Durability::UseDefault,
            waiting: Vec::new(),
            committed: Committed::nothing(),
            failed: Vec::new(),
        }
    }

    fn add(&mut self, mutation: &Mutation) -> Result<MutationOutcome> {
        let durability = asked(self.region, mutation);
        let is_full = self.draft.len() > RECORD_BYTES_MAX;
        if !self.together && (durability != self.durability || is_full) {
            self.write_or_fail();
            self.durability = durability;
        }
        match mutation {
            Mutation::Put(put) => self.put(put),
            Mutation::Delete(delete) => self.delete(delete),
            Mutation::Increment(increment) => self.increment(increment),
        }
    }

    fn put(&mut self, put: &Put) -> Result<MutationOutcome> {
        for cell in put.cells() {
            self.push_stamped(cell)?;
        }
        Ok(MutationOutcome::default())
    }

    fn delete(&mut self, delete: &Delete) -> Result<MutationOutcome> {
        if delete.cells().is_empty() {
            let at = if delete.timestamp.is_latest() { self.now } else { delete.timestamp };
            for family in self.region.families() {
                let kind = CellKind::DeleteFamily;
                self.push(&Cell::new(delete.row(), family.name(), b"", at, kind, b"")?, None)?;
            }
            return Ok(MutationOutcome::default());
        }
        let mut markers: Vec<Cell> = Vec::with_capacity(delete.cells().len());
        for cell in delete.cells() {
            let newest = cell.kind() == CellKind::DeleteVersion && cell.timestamp().is_latest();
            let marker = if newest {
                // The k-th such marker of a column means its k-th newest version.
                let same = |other: &&Cell| {
                    other.kind() == CellKind::DeleteVersion
                        && other.timestamp().is_latest()
                        && other.family() == cell.family()
                        && other.qualifier() == cell.qualifier()
                };
                let before = delete.cells().iter().take_while(|other| !std::ptr::eq(*other, cell));
                let nth = before.filter(same).count();
                self.version_marker(cell, nth)?
            } else {
                cell.clone()
            };
            markers.push(marker);
        }
        markers.iter().try_for_each(|marker| self.push_stamped(marker))?;
        Ok(MutationOutcome::default())
    }

    /// Lets what this batch has done to the row so far be seen by a read of it.
    fn settle(&mut self, row: &[u8]) -> Result<()> {
        if !self.together {
            self.write_or_fail();
            return Ok(());
        }
        if self.draft.has_row(self.region.id(), row) {
            return Err(Error::invalid(format!(
                "a mutation that reads its row cannot follow another of that row in one commit: row={}",
                escape(row)
            )));
        }
        Ok(())
    }

    /// The marker of the version that stands at place `nth`, counted from the newest.
    fn version_marker(&mut self, cell: &Cell, nth: usize) -> Result<Cell> {
        self.settle(cell.row())?;
        let versions = u32::try_from(nth + 1).unwrap_or(u32::MAX);
        let get = Get::new(cell.row_bytes())?
            .column(cell.family().to_vec(), cell.qualifier().to_vec())
            .versions(versions);
        let row = self.region.read_row(&get)?;
        let found = row.cells().nth(nth).map_or(self.now, KeyValue::timestamp);
        Ok(cell.with_timestamp(found))
    }

    fn increment(&mut self, increment: &Increment) -> Result<MutationOutcome> {
        self.settle(increment.row())?;
        let mut get = Get::new(increment.row().clone())?.time_range(increment.time_range);
        for (family, qualifier, _) in increment.amounts() {
            get = get.column(family.clone(), qualifier.clone());
        }
        let current = self.region.read_row(&get)?;
        let nonces = &self.region.engine().nonces;
        if increment.nonce.is_some_and(|nonce| nonces.is_taken(nonce)) {
            let row = if increment.return_results { current } else { Row::default() };
            return Ok(MutationOutcome { row });
        }
        let mut cells = Vec::with_capacity(increment.amounts().len());
        for (family, qualifier, amount) in increment.amounts() {
            let before = current.cell(family, qualifier);
            let sum = current.counter(family, qualifier)?.unwrap_or(0).wrapping_add(*amount);
            // Above the cell it replaces, whatever the clock says, or it would not be seen.
            let at =
                before.map_or(self.now, |cell| self.now.max(cell.timestamp().saturating_add(1)));
            let cell = Cell::new(
                increment.row(),
                family,
                qualifier,
                at,
                CellKind::Put,
                sum.to_be_bytes(),
            )?;
            let tags = before.map_or(&b""[..], KeyValue::tags);
            cells.push(Cell::from_parts(cell.key(), cell.value(), tags)?);
        }
        cells.sort_by(|a, b| a.key().cmp(&b.key()));
        for cell in &cells {
            self.push(cell, None)?;
        }
        self.draft.nonces.extend(increment.nonce);
        let row = if increment.return_results { Row::new(cells) } else { Row::default() };
        Ok(MutationOutcome { row })
    }

    /// Adds a cell, at this moment if it says no other.
    fn push_stamped(&mut self, cell: &Cell) -> Result<()> {
        self.push(cell, cell.timestamp().is_latest().then_some(self.now))
    }

    fn push(&mut self, cell: &Cell, at: Option<Timestamp>) -> Result<()> {
        let family = self.region.family(cell.family())?;
        self.draft.push(family, cell, at);
        if !self.regions.last().is_some_and(|last| std::ptr::eq(*last, self.region)) {
            self.regions.push(self.region);
        }
        Ok(())
    }

    /// Commits what has come together.
    fn write(&mut self) -> Result<()> {
        let draft = std::mem::take(&mut self.draft);
        let regions = std::mem::take(&mut self.regions);
        let engine = self.region.engine();
        // Not while the batch reads: whoever wants the gate waits for every commit.
        let _gate = engine.gate.read();
        regions.iter().try_for_each(|region| region.check_serving())?;
        let committed = commit::commit(engine, draft, self.durability)?;
        let before = std::mem::replace(&mut self.committed, Committed::nothing());
        self.committed = before.and(committed);
        Ok(())
    }

    /// Commits what has come together; if that is refused, so are the mutations in it.
    fn write_or_fail(&mut self) {
        let waiting = std::mem::take(&mut self.waiting);
        if let Err(error) = self.write() {
            self.fail(waiting, &error);
        }
    }

    fn fail(&mut self, places: impl IntoIterator<Item = usize>, error: &Error) {
        let failed = places.into_iter().map(|at| (at, Error::new(error.kind(), error.message())));
        self.failed.extend(failed);
    }

    /// Waits for durability, with no row locked.
    fn finish(
        mut self,
        mut outcomes: Vec<Result<MutationOutcome>>,
    ) -> Vec<Result<MutationOutcome>> {
        let committed = std::mem::replace(&mut self.committed, Committed::nothing());
        if let Err(error) = committed.wait(self.region.engine()) {
            self.fail(0..outcomes.len(), &error);
        }
        for (at, error) in self.failed {
            if outcomes[at].is_ok() {
                outcomes[at] = Err(error);
            }
        }
        outcomes
    }
}
