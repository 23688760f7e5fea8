//! The steps of every write, in their order:
//!
//! 1. check the mutations, and wait for room (`admit`);
//! 2. lock the rows (`commits/row_locks.rs`) and evaluate the conditions (`condition`);
//! 3. turn the mutations into cells of a log record (`batch`);
//! 4. complete the record (`record`): observers and indexes may refuse it or add to it; if they
//!    write rows that are not locked, release all locks, lock these as well, and continue from
//!    step 2;
//! 5. commit the record (`commit`): log, memstores, publish;
//! 6. unlock the rows and wait for the requested durability.
//!
//! A change is accepted only by committing its record (`outcomes`).
//!
//! A transaction replaces steps 2 and 3 with its own reads and writes (`transaction`).

use std::iter::once;
use std::slice;

use rowhouse_model::{
    Bytes, Cell, Condition, Durability, Error, ErrorKind, Mutation, MutationOutcome, Result,
    RowCondition, Timestamp,
};

use super::admit::admit;
use super::batch::{Added, Atomicity, Batch, reads_its_row, repeat_all};
use super::commit::Committed;
use super::condition::{self, Holds};
use super::observe::{RowToLock, Watched};
use super::outcomes::{Outcome, Outcomes};
use super::record::Attempted;
use crate::clock::TimestampFloor;
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
        conditions: &[],
        guard: None,
        atomicity: Atomicity::AsOne,
        wait_mode,
    };
    let mut outcome = Outcome::Open;
    match call.run(slice::from_mut(&mut outcome))? {
        NonBlocking::WouldBlock => Ok(NonBlocking::WouldBlock),
        NonBlocking::Done(_) => outcome.into_result().map(NonBlocking::Done),
    }
}

/// Applies one mutation if `condition` holds for the row; otherwise returns `None`.
pub(crate) fn apply_if(
    region: &Region,
    condition: &Condition,
    mutation: &Mutation,
    wait_mode: WaitMode,
) -> Result<NonBlocking<Option<MutationOutcome>>> {
    let call = Call {
        region,
        changes: once((region, mutation)),
        conditions: &[(mutation.row(), condition)],
        guard: None,
        atomicity: Atomicity::AsOne,
        wait_mode,
    };
    let mut outcome = Outcome::Open;
    match call.run(slice::from_mut(&mut outcome))? {
        NonBlocking::WouldBlock => Ok(NonBlocking::WouldBlock),
        NonBlocking::Done(Applied::No) => Ok(NonBlocking::Done(None)),
        NonBlocking::Done(Applied::Yes) => {
            outcome.into_result().map(|outcome| NonBlocking::Done(Some(outcome)))
        }
    }
}

/// Applies mutations of one region in order, independently: a refused one does not affect the
/// others.
pub(crate) fn apply(
    region: &Region,
    mutations: &[Mutation],
    wait_mode: WaitMode,
) -> NonBlocking<Vec<Result<MutationOutcome>>> {
    apply_guarded(region, mutations, None, wait_mode)
}

/// As [`apply`]. A mutation that the guard holds back has an outcome like any other: only the guard
/// knows.
pub(crate) fn apply_guarded(
    region: &Region,
    mutations: &[Mutation],
    guard: Option<RowGuard<'_>>,
    wait_mode: WaitMode,
) -> NonBlocking<Vec<Result<MutationOutcome>>> {
    let call = Call {
        region,
        changes: mutations.iter().map(|mutation| (region, mutation)),
        conditions: &[],
        guard,
        atomicity: Atomicity::Each,
        wait_mode,
    };
    let mut outcomes = open(mutations.len());
    let applied = call.run(&mut outcomes).expect("independent changes have outcomes of their own");
    applied.map(|_| outcomes.into_iter().map(Outcome::into_result).collect())
}

/// Applies mutations of one region atomically if all conditions hold; otherwise returns `None`.
/// Mutations that read their row see it as it was before all mutations.
pub(crate) fn apply_rows(
    region: &Region,
    conditions: &[RowCondition],
    mutations: &[Mutation],
    wait_mode: WaitMode,
) -> Result<NonBlocking<Option<Vec<MutationOutcome>>>> {
    let conditions = conditions.iter().map(|required| (&required.row, &required.condition));
    let call = Call {
        region,
        changes: mutations.iter().map(|mutation| (region, mutation)),
        conditions: &conditions.collect::<Vec<_>>(),
        guard: None,
        atomicity: Atomicity::AsOne,
        wait_mode,
    };
    let mut outcomes = open(mutations.len());
    match call.run(&mut outcomes)? {
        NonBlocking::WouldBlock => Ok(NonBlocking::WouldBlock),
        NonBlocking::Done(Applied::No) => Ok(NonBlocking::Done(None)),
        NonBlocking::Done(Applied::Yes) => {
            let outcomes = outcomes.into_iter().map(Outcome::into_result).collect::<Result<_>>();
            Ok(NonBlocking::Done(Some(outcomes?)))
        }
    }
}

/// Applies mutations to any regions in one store atomically: they become visible, and survive a
/// crash, together or not at all. A mutation that reads its row sees the effect of earlier
/// mutations.
pub(crate) fn apply_together(mutations: &[(&Region, &Mutation)]) -> Result<Vec<MutationOutcome>> {
    let Some(&(region, _)) = mutations.first() else { return Ok(Vec::new()) };
    let call = Call {
        region,
        changes: mutations.iter().copied(),
        conditions: &[],
        guard: None,
        atomicity: Atomicity::Together,
        wait_mode: WaitMode::Blocking,
    };
    let mut outcomes = open(mutations.len());
    call.run(&mut outcomes)?.done();
    outcomes.into_iter().map(Outcome::into_result).collect()
}

fn open(len: usize) -> Vec<Outcome> {
    std::iter::repeat_with(Outcome::default).take(len).collect()
}

/// Decides with a row locked whether an independent change to it is made. A row that is held back
/// is not tried again; one that is let through may be.
pub(crate) type RowGuard<'a> = &'a dyn Fn(&Bytes) -> Result<bool>;

/// One call that writes.
struct Call<'a, M> {
    /// The region of the conditions and of the first change.
    region: &'a Region,
    changes: M,
    /// Rows, each with a condition that must hold for it.
    conditions: &'a [(&'a Bytes, &'a Condition)],
    /// For independent changes.
    guard: Option<RowGuard<'a>>,
    atomicity: Atomicity,
    wait_mode: WaitMode,
}

/// Whether a call's mutations were applied.
#[derive(Clone, Copy, PartialEq)]
enum Applied {
    Yes,
    /// A condition did not hold: nothing was written.
    No,
}

/// How far a call has come.
struct Progress {
    /// Independent changes before this one get their own records: the shared record was refused.
    alone_until: usize,
    committed: Committed,
}

/// How far an attempt came.
enum Attempt {
    Ended(Applied),
    /// Observers or indexes write these rows, or an alteration has overtaken a record: continue
    /// with these rows locked as well.
    Unlocked(Vec<RowToLock>),
}

/// Attempts with more and more rows locked, before all rows are locked: the rows that observers
/// write may depend on rows that change in between.
const ATTEMPTS_MAX: usize = 3;

impl<'a, M> Call<'a, M>
where
    M: Iterator<Item = (&'a Region, &'a Mutation)> + Clone,
{
    /// Runs the call. If it returns [`Applied::Yes`], all changes are settled.
    fn run(&self, outcomes: &mut [Outcome]) -> Result<NonBlocking<Applied>> {
        let mut outcomes = Outcomes::new(outcomes);
        for &(row, condition) in self.conditions {
            condition::check(self.region, condition, row)?;
        }
        for (nth, (region, mutation)) in self.changes.clone().enumerate() {
            if let Err(error) = check(region, mutation) {
                self.refuse(nth, error, &mut outcomes)?;
            }
        }
        if self.is_each() && outcomes.are_all_settled() {
            return Ok(NonBlocking::Done(Applied::Yes));
        }
        match self.admit() {
            Ok(NonBlocking::Done(())) => {}
            Ok(NonBlocking::WouldBlock) => return Ok(NonBlocking::WouldBlock),
            Err(error) if self.is_each() => {
                outcomes.refuse_open(&error);
                return Ok(NonBlocking::Done(Applied::Yes));
            }
            Err(error) => return Err(error),
        }
        let engine: &Engine = self.region.engine();
        let mut progress = Progress { alone_until: 0, committed: Committed::nothing() };
        let mut more: Vec<RowToLock> = Vec::new();
        let mut attempt = 0;
        let applied = loop {
            let locked = lock(engine, self.rows(&outcomes), &more, attempt, self.wait_mode);
            let NonBlocking::Done(locked) = locked else { return Ok(NonBlocking::WouldBlock) };
            let open = outcomes.open();
            match self.attempt(locked, &mut progress, &mut outcomes)? {
                Attempt::Ended(applied) => break applied,
                Attempt::Unlocked(rows) => {
                    attempt += 1;
                    if outcomes.open() < open {
                        // Another record, whose observers write other rows.
                        attempt = 1;
                        more.clear();
                    }
                    self.wait_for(&rows, &mut progress, &mut outcomes)?;
                    outcomes.reopen_collected();
                    more.extend(rows);
                }
            }
        };
        match progress.committed.wait(engine) {
            Ok(()) => {}
            Err(error) if self.is_each() => outcomes.fail_accepted(&error),
            Err(error) => return Err(error),
        }
        Ok(NonBlocking::Done(applied))
    }

    fn is_each(&self) -> bool {
        self.atomicity == Atomicity::Each
    }

    /// Refuses an independent change. An atomic call ends instead.
    fn refuse(&self, nth: usize, error: Error, outcomes: &mut Outcomes<'_>) -> Result<()> {
        if !self.is_each() {
            return Err(error);
        }
        outcomes.settle(nth, Err(error));
        Ok(())
    }

    /// Waits until rows that observers and indexes write can be locked and written. No row may be
    /// locked.
    fn wait_for(
        &self,
        rows: &[RowToLock],
        progress: &mut Progress,
        outcomes: &mut Outcomes<'_>,
    ) -> Result<()> {
        match admit_unlocked(rows, self.regions()) {
            Ok(()) => Ok(()),
            Err(error) if self.is_each() && rows.iter().all(|row| row.region.is_serving()) => {
                // The other changes would wait as long for nothing.
                outcomes.refuse_open(&error);
                Ok(())
            }
            // In either case the next attempt begins.
            Err(error) => self.refuse_or_retry(error, progress, outcomes).map(drop),
        }
    }

    /// Refuses the collected changes, whose record was not committed. An atomic call ends instead.
    fn refuse_collected(&self, error: Error, outcomes: &mut Outcomes<'_>) -> Result<Attempted<()>> {
        if !self.is_each() {
            return Err(error);
        }
        outcomes.refuse_collected(&error);
        Ok(Attempted::Done(()))
    }

    /// As [`Call::refuse_collected`], but of several independent changes each is tried again alone,
    /// so that the others are not refused with the one that causes the error.
    fn refuse_or_retry(
        &self,
        error: Error,
        progress: &mut Progress,
        outcomes: &mut Outcomes<'_>,
    ) -> Result<Attempted<()>> {
        let record = outcomes.record();
        if !self.is_each() || record.len() < 2 {
            return self.refuse_collected(error, outcomes);
        }
        progress.alone_until = record.end;
        outcomes.reopen_collected();
        Ok(Attempted::Again(Vec::new()))
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
        let need = if self.are_deletes() { Need::Delete } else { Need::Room };
        let mut last: Option<&Region> = None;
        for region in once(self.region).chain(self.regions()) {
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

    /// Returns the regions that the changes affect.
    fn regions(&self) -> impl Iterator<Item = &'a Region> + Clone {
        self.changes.clone().map(|(region, _)| region)
    }

    fn are_deletes(&self) -> bool {
        self.changes.clone().all(|(_, mutation)| is_delete(mutation))
    }

    /// Returns the rows to lock: the rows that the changes affect, in their order, then the rows
    /// that the conditions read.
    fn rows(&self, outcomes: &Outcomes<'_>) -> impl Iterator<Item = (u64, &'a [u8])> {
        let changes = self.changes.clone().enumerate();
        let changes = changes.filter(|(nth, _)| !outcomes.is_settled(*nth));
        let changes = changes.map(|(_, (region, mutation))| (region.id(), &mutation.row()[..]));
        // In most calls the condition is for the row that they change.
        let first = self.changes.clone().next().map(|(_, mutation)| mutation.row());
        let conditions = self.conditions.iter().map(|(row, _)| *row);
        let region = self.region.id();
        changes.chain(
            conditions.filter(move |row| Some(*row) != first).map(move |row| (region, &row[..])),
        )
    }

    /// Runs the call with the rows locked for all changes that are not settled.
    fn attempt(
        &self,
        mut rows: RowsGuard<'_>,
        progress: &mut Progress,
        outcomes: &mut Outcomes<'_>,
    ) -> Result<Attempt> {
        let mut seen = Timestamp::MIN;
        for &(row, condition) in self.conditions {
            let Holds::Yes(read) = condition::judge(self.region, condition, row)? else {
                return Ok(Attempt::Ended(Applied::No));
            };
            seen = seen.max(read);
        }
        if self.atomicity == Atomicity::AsOne {
            let mutations = self.changes.clone().map(|(_, mutation)| mutation);
            if let Some(repeated) = repeat_all(self.region, mutations)? {
                let repeated = repeated.into_iter().enumerate();
                repeated.for_each(|(nth, outcome)| outcomes.settle(nth, Ok(outcome)));
                return Ok(Attempt::Ended(Applied::Yes));
            }
        }
        // Issued with the rows locked, so that later writes to them are not older. One for all
        // mutations, as in HBase.
        let now = self.issue(self.are_deletes(), rows.after());
        let mut batch = Batch::new(self.region, self.atomicity, now).after(seen);
        let changed = self.changes.clone().next().map(|(_, mutation)| mutation.row());
        for (row, _) in self.conditions.iter().filter(|(row, _)| Some(*row) != changed) {
            batch.note_read(self.region, row);
        }
        if !self.is_each() {
            let changes = self.changes.clone();
            batch.set_durability(strongest(
                changes.map(|(region, mutation)| requested_durability(region, mutation)),
            ));
        }
        let mut locked = 0..;
        for (nth, (region, mutation)) in self.changes.clone().enumerate() {
            if outcomes.is_settled(nth) {
                continue;
            }
            let row = locked.next().expect("its row was locked");
            if let Some(guard) = self.guard {
                match guard(mutation.row()) {
                    Ok(true) => {}
                    Ok(false) => {
                        outcomes.settle(nth, Ok(MutationOutcome::default()));
                        continue;
                    }
                    Err(error) => {
                        self.refuse(nth, error, outcomes)?;
                        continue;
                    }
                }
            }
            if self.is_each() {
                let is_alone = nth <= progress.alone_until;
                if !batch.is_empty() && (is_alone || batch.must_end_before(region, mutation)) {
                    let written = self.write(&mut batch, &mut rows, progress, outcomes)?;
                    if let Attempted::Again(rows) = written {
                        return Ok(Attempt::Unlocked(rows));
                    }
                }
                if batch.is_empty() {
                    batch.set_durability(requested_durability(region, mutation));
                }
                batch.now = now;
                if reads_its_row(mutation) || is_delete(mutation) {
                    // Earlier mutations may have given the row timestamps ahead of the clock.
                    batch.now = now.max(self.issue(is_delete(mutation), rows.after_nth(row)));
                }
            }
            let len = batch.len();
            match batch.add(region, mutation) {
                // Repeating a call that was answered before yields no cells.
                Ok(Added { outcome, .. }) if batch.len() == len => {
                    outcomes.settle(nth, Ok(outcome));
                }
                Ok(Added { outcome, stamped }) => {
                    if is_delete(mutation) {
                        rows.note_delete(row, batch.now);
                    } else if let Some(at) = stamped {
                        rows.note_put(row, at);
                    }
                    outcomes.collect(nth, outcome);
                }
                Err(error) => self.refuse(nth, error, outcomes)?,
            }
        }
        match self.write(&mut batch, &mut rows, progress, outcomes)? {
            Attempted::Done(()) => Ok(Attempt::Ended(Applied::Yes)),
            Attempted::Again(rows) => Ok(Attempt::Unlocked(rows)),
        }
    }

    /// Issues a timestamp for locked rows.
    fn issue(&self, is_delete: bool, after: TimestampFloor) -> Timestamp {
        let timestamps = &self.region.engine().timestamps;
        if is_delete { timestamps.issue_delete(after) } else { timestamps.issue_put(after) }
    }

    /// Commits a batch's record. If it is refused, so are the batch's independent changes; an
    /// atomic call ends.
    fn write(
        &self,
        batch: &mut Batch<'a>,
        rows: &mut RowsGuard<'_>,
        progress: &mut Progress,
        outcomes: &mut Outcomes<'_>,
    ) -> Result<Attempted<()>> {
        let engine: &Engine = self.region.engine();
        let written = batch.take().complete(engine, rows, |record| {
            // Taken only now, not while the batch reads: a thread that wants the latch exclusively
            // waits for every commit.
            let _latch = engine.freeze_latch.read();
            Ok(record.check(engine)?.map(|record| record.log(engine)))
        });
        match written {
            Ok(Attempted::Again(rows)) => Ok(Attempted::Again(rows)),
            Ok(Attempted::Done(Ok(committed))) => {
                progress.committed.include(committed);
                outcomes.accept_collected();
                Ok(Attempted::Done(()))
            }
            // The log has refused the record, whichever changes are in it.
            Ok(Attempted::Done(Err(error))) => self.refuse_collected(error, outcomes),
            // All changes belong to this region.
            Err(error) if error.kind() == ErrorKind::NotServingRegion => {
                self.refuse_collected(error, outcomes)
            }
            Err(error) => self.refuse_or_retry(error, progress, outcomes),
        }
    }
}

/// Locks a call's rows, and from the second attempt on the rows that observers write. Part of the
/// call may be committed then, so it waits.
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

/// Waits for the regions of rows that observers and indexes write: until none is being replaced,
/// and for room. No row may be locked.
///
/// # Errors
/// `RegionTooBusy` for a region that is out of service while the caller's `own` regions serve: the
/// caller must not look for these elsewhere. Otherwise `NotServingRegion` for one of those own
/// regions: the table may have been disabled with its index tables.
pub(super) fn admit_unlocked<'r>(
    rows: &[RowToLock],
    own: impl Iterator<Item = &'r Region> + Clone,
) -> Result<()> {
    if let Some(RowToLock { region, .. }) = rows.first() {
        // A damaged index is off for the next attempt.
        region.engine().files.damage.settle()?;
    }
    for RowToLock { region, .. } in rows {
        match region.check_serving() {
            Ok(()) => admit(region, Need::Room, WaitMode::Blocking)?.done(),
            Err(error) if error.kind() != ErrorKind::NotServingRegion => return Err(error),
            // The next attempt finds the regions that replaced it, or another table.
            Err(_) if region.wait_for_replacement() || region.is_of_dropped_table() => {}
            Err(error) => {
                // Atomically: tables are disabled and enabled with their index tables.
                let _latch = region.engine().freeze_latch.read();
                own.clone().try_for_each(Region::check_serving)?;
                if !region.is_serving() {
                    let message = format!(
                        "an observer or an index writes to a region out of service: {error}"
                    );
                    return Err(Error::new(ErrorKind::RegionTooBusy, message).with_source(error));
                }
            }
        }
    }
    Ok(())
}

pub(super) fn is_delete(mutation: &Mutation) -> bool {
    matches!(mutation, Mutation::Delete(_))
}

pub(crate) fn requested_durability(region: &Region, mutation: &Mutation) -> Durability {
    match mutation.durability() {
        Durability::UseDefault => region.durability(),
        requested => requested,
    }
}

/// Returns the strongest of several durabilities.
pub(super) fn strongest(requested: impl Iterator<Item = Durability>) -> Durability {
    requested.max_by_key(|durability| strength(*durability)).unwrap_or_default()
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
