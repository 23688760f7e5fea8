//! The steps of every write, in their order:
//!
//! 1. check the mutations, and wait for room (`admit`);
//! 2. lock the rows (`commits/row_locks.rs`) and evaluate the conditions (`condition`);
//! 3. turn the mutations into cells of a log record (`batch`);
//! 4. ask the observers, which may refuse the record or add to it (`observe`); if they write rows
//!    that are not locked, release all locks, lock these as well, and continue from step 2;
//! 5. commit the record (`commit`): log, memstores, publish;
//! 6. unlock the rows and wait for the durability asked for.
//!
//! A transaction replaces steps 2 and 3 by its own reads and writes (`transaction`).

use std::iter::once;

use rowhouse_model::{
    Bytes, Cell, Condition, Durability, Error, ErrorKind, Mutation, MutationOutcome, Result,
    RowCondition, Timestamp,
};

use super::admit::admit;
use super::batch::{Atomicity, Batch};
use super::condition::{self, Holds};
use super::observe::{RowToLock, Watched};
use crate::commits::RowsGuard;
use crate::engine::Engine;
use crate::region::Region;
use crate::space::Need;
use crate::wait_mode::{NonBlocking, WaitMode};

/// Applies one mutation.
pub(crate) fn apply_one(
    region: &Region,
    mutation: &Mutation,
    wait_mode: WaitMode,
) -> Result<NonBlocking<MutationOutcome>> {
    let call = Call {
        region,
        changes: once((region, mutation)),
        conditions: std::iter::empty(),
        atomicity: Atomicity::AsOne,
        wait_mode,
    };
    let mut outcome = None;
    let applied = call.run(&mut outcome)?;
    Ok(applied.map(|_| outcome.expect("a mutation without a condition is applied")))
}

/// Applies one mutation if `condition` holds for its row; otherwise returns `None`.
pub(crate) fn apply_if(
    region: &Region,
    condition: &Condition,
    mutation: &Mutation,
    wait_mode: WaitMode,
) -> Result<NonBlocking<Option<MutationOutcome>>> {
    let call = Call {
        region,
        changes: once((region, mutation)),
        conditions: once((mutation.row(), condition)),
        atomicity: Atomicity::AsOne,
        wait_mode,
    };
    let mut outcome = None;
    let applied = call.run(&mut outcome)?;
    // An earlier attempt, for which the condition held, may have set an outcome.
    Ok(applied.map(|applied| outcome.filter(|_| applied == Applied::Yes)))
}

/// Applies mutations of one region in order, independently: a refused one does not affect the
/// others.
pub(crate) fn apply(
    region: &Region,
    mutations: &[Mutation],
    wait_mode: WaitMode,
) -> NonBlocking<Vec<Result<MutationOutcome>>> {
    let call = Call {
        region,
        changes: mutations.iter().map(|mutation| (region, mutation)),
        conditions: std::iter::empty(),
        atomicity: Atomicity::Each,
        wait_mode,
    };
    let mut outcomes = Each(mutations.iter().map(|_| Ok(MutationOutcome::default())).collect());
    let applied = call.run(&mut outcomes).expect("independent changes have outcomes of their own");
    applied.map(|_| outcomes.0)
}

/// Applies mutations of one region atomically if all conditions hold; otherwise returns `None`.
/// Mutations that read their row see it as it was before all of them.
pub(crate) fn apply_rows(
    region: &Region,
    conditions: &[RowCondition],
    mutations: &[Mutation],
    wait_mode: WaitMode,
) -> Result<NonBlocking<Option<Vec<MutationOutcome>>>> {
    let call = Call {
        region,
        changes: mutations.iter().map(|mutation| (region, mutation)),
        conditions: conditions.iter().map(|asked| (&asked.row, &asked.condition)),
        atomicity: Atomicity::AsOne,
        wait_mode,
    };
    let mut outcomes = Vec::with_capacity(mutations.len());
    let applied = call.run(&mut outcomes)?;
    Ok(applied.map(|applied| (applied == Applied::Yes).then_some(outcomes)))
}

/// Applies mutations of any regions of one store atomically: they become visible, and survive a
/// crash, together or not at all. A mutation that reads its row sees the effect of those before it.
pub(crate) fn apply_together(mutations: &[(&Region, &Mutation)]) -> Result<Vec<MutationOutcome>> {
    let Some(&(region, _)) = mutations.first() else { return Ok(Vec::new()) };
    let call = Call {
        region,
        changes: mutations.iter().copied(),
        conditions: std::iter::empty(),
        atomicity: Atomicity::Together,
        wait_mode: WaitMode::Blocking,
    };
    let mut outcomes = Vec::with_capacity(mutations.len());
    call.run(&mut outcomes)?.done();
    Ok(outcomes)
}

/// One call that writes.
struct Call<'a, M, C> {
    /// The region of the conditions and of the first change.
    region: &'a Region,
    changes: M,
    /// Rows, each with a condition that must hold for it.
    conditions: C,
    atomicity: Atomicity,
    wait_mode: WaitMode,
}

/// Whether a call's mutations were applied.
#[derive(PartialEq)]
enum Applied {
    Yes,
    /// A condition did not hold: nothing was written.
    No,
}

/// How far a call came with its rows locked.
enum Attempt {
    Ended(Applied),
    /// Observers write further rows: continue from this change with them locked.
    Unlocked {
        from: usize,
        rows: Vec<RowToLock>,
    },
}

/// Attempts with more and more rows locked, before all rows are locked: the rows that observers
/// write may depend on rows that change in between.
const ATTEMPTS_MAX: usize = 3;

impl<'a, M, C> Call<'a, M, C>
where
    M: Iterator<Item = (&'a Region, &'a Mutation)> + Clone,
    C: Iterator<Item = (&'a Bytes, &'a Condition)> + Clone,
{
    fn run(&self, outcomes: &mut impl Outcomes) -> Result<NonBlocking<Applied>> {
        for (row, condition) in self.conditions.clone() {
            condition::check(self.region, condition, row)?;
        }
        for (nth, (region, mutation)) in self.changes.clone().enumerate() {
            if let Err(error) = check(region, mutation) {
                outcomes.set(nth, Err(error))?;
            }
        }
        if outcomes.are_all_refused() {
            return Ok(NonBlocking::Done(Applied::Yes));
        }
        match self.admit() {
            Ok(NonBlocking::Done(())) => {}
            Ok(NonBlocking::WouldBlock) => return Ok(NonBlocking::WouldBlock),
            Err(error) => {
                outcomes.refuse_from(0, error)?;
                return Ok(NonBlocking::Done(Applied::Yes));
            }
        }
        let engine: &Engine = self.region.engine();
        let mut batch = Batch::new(self.region, self.atomicity);
        if self.atomicity != Atomicity::Each {
            let asked = self.changes.clone().map(|(region, mutation)| asked(region, mutation));
            batch.durability = strongest(asked);
        }
        let mut from = 0;
        let mut more: Vec<RowToLock> = Vec::new();
        let mut attempt = 0;
        loop {
            let locked = lock(engine, self.rows(outcomes), &more, attempt, self.wait_mode);
            let NonBlocking::Done(locked) = locked else { return Ok(NonBlocking::WouldBlock) };
            batch.rows = locked;
            match self.attempt(&mut batch, from, outcomes)? {
                Attempt::Ended(Applied::No) => return Ok(NonBlocking::Done(Applied::No)),
                Attempt::Ended(Applied::Yes) => break,
                Attempt::Unlocked { from: next, rows } => {
                    batch.rows = RowsGuard::None;
                    batch.discard();
                    attempt += 1;
                    if next > from {
                        // Another record, whose observers write other rows.
                        (from, attempt) = (next, 1);
                        more.clear();
                    }
                    if let Err(error) = admit_unlocked(&rows) {
                        outcomes.refuse_from(from, error)?;
                        break;
                    }
                    more.extend(rows);
                }
            }
        }
        batch.rows = RowsGuard::None;
        outcomes.finish(batch.take_failed(), batch.committed.wait(engine))?;
        Ok(NonBlocking::Done(Applied::Yes))
    }

    /// Checks that the regions take writes and waits for room. The check that counts is made when
    /// the record is committed.
    fn admit(&self) -> Result<NonBlocking<()>> {
        let watched = Watched::of(self.region.engine());
        // Observers and indexes may read much.
        if self.wait_mode == WaitMode::NonBlocking
            && watched.as_ref().is_some_and(|it| it.watch(&self.region.info().table))
        {
            return Ok(NonBlocking::WouldBlock);
        }
        let need = match self.are_deletes() {
            true => Need::Delete,
            false => Need::Room,
        };
        let mut last: Option<&Region> = None;
        let regions = self.changes.clone().map(|(region, _)| region);
        for region in once(self.region).chain(regions) {
            if last.is_some_and(|last| std::ptr::eq(region, last)) {
                continue;
            }
            region.check_serving()?;
            if admit(region, need, self.wait_mode)? == NonBlocking::WouldBlock {
                return Ok(NonBlocking::WouldBlock);
            }
            if let Some(watched) = &watched {
                watched.admit_entries(&region.info().table, need)?;
            }
            last = Some(region);
        }
        Ok(NonBlocking::Done(()))
    }

    fn are_deletes(&self) -> bool {
        self.changes.clone().all(|(_, mutation)| is_delete(mutation))
    }

    /// Returns the rows to lock: those of the changes, in their order, then those of the
    /// conditions.
    fn rows(&self, outcomes: &impl Outcomes) -> impl Iterator<Item = (u64, &'a [u8])> {
        let changes = self.changes.clone().enumerate();
        let changes = changes.filter(|(nth, _)| !outcomes.is_refused(*nth));
        let changes = changes.map(|(_, (region, mutation))| (region.id(), &mutation.row()[..]));
        // The condition of most calls is for the row that they change.
        let first = self.changes.clone().next().map(|(_, mutation)| mutation.row());
        let conditions = self.conditions.clone().map(|(row, _)| row);
        let region = self.region.id();
        changes.chain(
            conditions.filter(move |row| Some(*row) != first).map(move |row| (region, &row[..])),
        )
    }

    /// Runs the call with its rows locked, from its `from`th change on.
    fn attempt(
        &self,
        batch: &mut Batch<'a>,
        from: usize,
        outcomes: &mut impl Outcomes,
    ) -> Result<Attempt> {
        batch.seen = Timestamp::MIN;
        for (row, condition) in self.conditions.clone() {
            let Holds::Yes(seen) = condition::judge(self.region, condition, row)? else {
                return Ok(Attempt::Ended(Applied::No));
            };
            batch.seen = batch.seen.max(seen);
        }
        if self.atomicity == Atomicity::AsOne {
            let mutations = self.changes.clone().map(|(_, mutation)| mutation);
            if let Some(repeated) = batch.repeat_all(mutations)? {
                let mut repeated = repeated.into_iter().enumerate();
                repeated.try_for_each(|(nth, outcome)| outcomes.set(nth, Ok(outcome)))?;
                return Ok(Attempt::Ended(Applied::Yes));
            }
        }
        // Issued with the rows locked, so that later writes to them are not older. One for all
        // mutations, as in HBase.
        let timestamps = &self.region.engine().timestamps;
        batch.now = match self.are_deletes() {
            true => timestamps.issue_delete(batch.rows.after()),
            false => timestamps.issue_put(batch.rows.after()),
        };
        let mut locked = 0;
        for (nth, (region, mutation)) in self.changes.clone().enumerate() {
            if outcomes.is_refused(nth) {
                continue;
            }
            let row = locked;
            locked += 1;
            if nth < from {
                continue;
            }
            batch.region = region;
            let outcome = batch.add(mutation);
            if let Some(unlocked) = unlocked(batch, nth) {
                return Ok(unlocked);
            }
            batch.note_timestamp(row, mutation);
            if outcome.is_ok() && self.atomicity == Atomicity::Each {
                batch.waiting.push(nth);
            }
            outcomes.set(nth, outcome)?;
        }
        match self.atomicity {
            Atomicity::Each => batch.write_or_fail(),
            Atomicity::AsOne | Atomicity::Together => batch.write()?,
        }
        Ok(unlocked(batch, 0).unwrap_or(Attempt::Ended(Applied::Yes)))
    }
}

/// Locks the rows of a call, and from the second attempt on those that its observers write. Part of
/// the call may be committed then, so it waits.
pub(super) fn lock<'e, 'r>(
    engine: &'e Engine,
    rows: impl Iterator<Item = (u64, &'r [u8])>,
    more: &[RowToLock],
    attempt: usize,
    wait_mode: WaitMode,
) -> NonBlocking<RowsGuard<'e>> {
    let more = more.iter().map(|more| (more.lock.number(), &more.row[..]));
    match attempt {
        0 => engine.row_locks.lock(rows, wait_mode),
        1..ATTEMPTS_MAX => NonBlocking::Done(engine.row_locks.lock_with(rows, more)),
        ATTEMPTS_MAX.. => NonBlocking::Done(engine.row_locks.lock_all(rows)),
    }
}

/// Waits for the regions of rows that observers write: until none of them is being replaced, and
/// for room. No row may be locked.
///
/// # Errors
/// `RegionTooBusy` for a region that is out of service: the caller's own region serves, so the
/// caller must not look for it elsewhere.
pub(super) fn admit_unlocked(rows: &[RowToLock]) -> Result<()> {
    for RowToLock { region, .. } in rows {
        match region.check_serving() {
            Ok(()) => admit(region, Need::Room, WaitMode::Blocking)?.done(),
            Err(error) if error.kind() != ErrorKind::NotServingRegion => return Err(error),
            // The next attempt finds the regions that replaced it.
            Err(_) if region.wait_for_replacement() => {}
            Err(error) => {
                let message =
                    format!("an observer or an index writes to a region out of service: {error}");
                return Err(Error::new(ErrorKind::RegionTooBusy, message).with_source(error));
            }
        }
    }
    Ok(())
}

/// Returns where to continue if the batch could not write a record because observers write rows
/// that are not locked: from the record's first change, or from change `nth` if it had none.
fn unlocked(batch: &mut Batch<'_>, nth: usize) -> Option<Attempt> {
    let rows = std::mem::take(&mut batch.rows_to_lock);
    let from = batch.waiting.first().copied().unwrap_or(nth);
    (!rows.is_empty()).then_some(Attempt::Unlocked { from, rows })
}

/// Collects the outcomes of a call's changes.
trait Outcomes {
    /// Sets the outcome of the `nth` change. An error that it returns ends the call.
    fn set(&mut self, nth: usize, outcome: Result<MutationOutcome>) -> Result<()>;

    /// Whether the `nth` change was refused and the call goes on without it.
    fn is_refused(&self, nth: usize) -> bool;

    /// Whether no change is left to apply.
    fn are_all_refused(&self) -> bool;

    /// Refuses the changes from the `from`th on.
    fn refuse_from(&mut self, from: usize, error: Error) -> Result<()>;

    /// Adds the errors of changes that were not committed, and that of the log sync.
    fn finish(&mut self, failed: Vec<(usize, Error)>, synced: Result<()>) -> Result<()>;
}

/// The outcomes of an atomic call, which its first error ends.
trait Atomic {
    /// Sets the outcome of the `nth` change.
    fn put(&mut self, nth: usize, outcome: MutationOutcome);
}

impl Atomic for Option<MutationOutcome> {
    fn put(&mut self, _nth: usize, outcome: MutationOutcome) {
        *self = Some(outcome);
    }
}

impl Atomic for Vec<MutationOutcome> {
    fn put(&mut self, nth: usize, outcome: MutationOutcome) {
        // A later attempt sets it again.
        self.truncate(nth);
        self.push(outcome);
    }
}

impl<T: Atomic> Outcomes for T {
    fn set(&mut self, nth: usize, outcome: Result<MutationOutcome>) -> Result<()> {
        self.put(nth, outcome?);
        Ok(())
    }

    fn is_refused(&self, _nth: usize) -> bool {
        false
    }

    fn are_all_refused(&self) -> bool {
        false
    }

    fn refuse_from(&mut self, _from: usize, error: Error) -> Result<()> {
        Err(error)
    }

    fn finish(&mut self, _failed: Vec<(usize, Error)>, synced: Result<()>) -> Result<()> {
        synced
    }
}

/// The outcomes of independent changes.
struct Each(Vec<Result<MutationOutcome>>);

impl Outcomes for Each {
    fn set(&mut self, nth: usize, outcome: Result<MutationOutcome>) -> Result<()> {
        self.0[nth] = outcome;
        Ok(())
    }

    fn is_refused(&self, nth: usize) -> bool {
        self.0[nth].is_err()
    }

    fn are_all_refused(&self) -> bool {
        self.0.iter().all(Result::is_err)
    }

    fn refuse_from(&mut self, from: usize, error: Error) -> Result<()> {
        let rest = self.0[from..].iter_mut().filter(|outcome| outcome.is_ok());
        rest.for_each(|outcome| *outcome = Err(error.clone()));
        Ok(())
    }

    fn finish(&mut self, failed: Vec<(usize, Error)>, synced: Result<()>) -> Result<()> {
        for (nth, error) in failed {
            self.0[nth] = Err(error);
        }
        synced.or_else(|error| self.refuse_from(0, error))
    }
}

pub(super) fn is_delete(mutation: &Mutation) -> bool {
    matches!(mutation, Mutation::Delete(_))
}

pub(crate) fn asked(region: &Region, mutation: &Mutation) -> Durability {
    match mutation.durability() {
        Durability::UseDefault => region.durability(),
        asked => asked,
    }
}

/// Returns the strongest of several durabilities.
pub(super) fn strongest(asked: impl Iterator<Item = Durability>) -> Durability {
    asked.max_by_key(|durability| strength(*durability)).unwrap_or_default()
}

fn strength(durability: Durability) -> u8 {
    match durability {
        Durability::SkipWal => 0,
        Durability::AsyncWal => 1,
        Durability::UseDefault | Durability::SyncWal => 2,
        Durability::FsyncWal => 3,
    }
}

/// Makes the checks that need no read.
pub(super) fn check(region: &Region, mutation: &Mutation) -> Result<()> {
    region.check_row(mutation.row())?;
    region.check_writable()?;
    if mutation.cells().is_empty() {
        match mutation {
            Mutation::Put(_) => return Err(Error::invalid("No columns to insert")),
            Mutation::Increment(_) => return Err(Error::invalid("No columns to increment")),
            Mutation::Append(_) => return Err(Error::invalid("No columns to append")),
            // Deletes the whole row.
            Mutation::Delete(_) => {}
        }
    }
    mutation.cells().iter().try_for_each(|cell: &Cell| region.family(cell.family()).map(|_| ()))
}
