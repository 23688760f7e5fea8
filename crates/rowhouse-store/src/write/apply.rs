//! Applies mutations: checks them, locks their rows, evaluates conditions, and writes the cells.

use rowhouse_model::{
    Cell, Condition, Durability, Error, Mutation, MutationOutcome, Result, RowCondition, Timestamp,
};

use super::admit::{admit, admit_with};
use super::batch::{Atomicity, Batch};
use super::condition::{self, Holds};
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
    let tried = apply_where(region, mutation, wait_mode, || Ok(Holds::Yes(Timestamp::MIN)))?;
    Ok(tried.map(|outcome| outcome.expect("what is asked for nothing is applied")))
}

/// Applies one mutation if `condition` holds for its row; otherwise returns `None`.
pub(crate) fn apply_if(
    region: &Region,
    condition: &Condition,
    mutation: &Mutation,
    wait_mode: WaitMode,
) -> Result<NonBlocking<Option<MutationOutcome>>> {
    condition::check(region, condition, mutation.row())?;
    apply_where(region, mutation, wait_mode, || condition::judge(region, condition, mutation.row()))
}

/// Applies one mutation if `judge`, called with the row locked, returns [`Holds::Yes`].
fn apply_where(
    region: &Region,
    mutation: &Mutation,
    wait_mode: WaitMode,
    judge: impl FnOnce() -> Result<Holds>,
) -> Result<NonBlocking<Option<MutationOutcome>>> {
    let engine = region.engine();
    check(region, mutation)?;
    region.check_serving()?;
    if admit_with(region, need(std::iter::once(mutation)), wait_mode)? == NonBlocking::WouldBlock {
        return Ok(NonBlocking::WouldBlock);
    }
    let mut batch = Batch::new(region, Atomicity::Each);
    let outcome = {
        let row = engine.row_locks.lock_one(region.id(), mutation.row(), wait_mode);
        let NonBlocking::Done(mut row) = row else { return Ok(NonBlocking::WouldBlock) };
        let Holds::Yes(seen) = judge()? else { return Ok(NonBlocking::Done(None)) };
        // Issue the timestamp with the row locked, so that later writes to it are not older.
        let is_delete = is_delete(mutation);
        batch.now = match is_delete {
            true => engine.timestamps.issue_delete(row.after()),
            false => engine.timestamps.issue_put(row.after()),
        };
        batch.seen = seen;
        let outcome = batch.add(mutation)?;
        batch.write()?;
        match batch.take_issued_timestamp() {
            _ if is_delete => row.note_delete(batch.now),
            Some(at) => row.note_put(at),
            None => {}
        }
        outcome
    };
    batch.committed.wait(engine)?;
    Ok(NonBlocking::Done(Some(outcome)))
}

/// Applies mutations of one region in order, independently: a refused one does not affect the
/// others.
pub(crate) fn apply(
    region: &Region,
    mutations: &[Mutation],
    wait_mode: WaitMode,
) -> NonBlocking<Vec<Result<MutationOutcome>>> {
    let mut checked: Vec<Result<()>> =
        mutations.iter().map(|mutation| check(region, mutation)).collect();
    let rows = mutations.iter().zip(&checked).filter(|(_, checked)| checked.is_ok());
    let rows: Vec<&[u8]> = rows.map(|(mutation, _)| &mutation.row()[..]).collect();
    if rows.is_empty() {
        let refused = checked.into_iter();
        return NonBlocking::Done(
            refused.map(|checked| checked.map(|()| MutationOutcome::default())).collect(),
        );
    }
    // An early check; the check that counts is made when the batch is written.
    let ready = region.check_serving();
    match ready.and_then(|()| admit_with(region, need(mutations.iter()), wait_mode)) {
        Ok(NonBlocking::Done(())) => {}
        Ok(NonBlocking::WouldBlock) => return NonBlocking::WouldBlock,
        Err(error) => return NonBlocking::Done(refuse_all(checked, &error)),
    }
    let mut batch = Batch::new(region, Atomicity::Each);
    let outcomes = {
        let rows = rows.into_iter().map(|row| (region.id(), row));
        let rows = region.engine().row_locks.lock(rows, wait_mode);
        let NonBlocking::Done(mut rows) = rows else { return NonBlocking::WouldBlock };
        // Issue the timestamp with the rows locked, so that later writes to them are not older.
        batch.now = now_of(region.engine(), &rows, mutations.iter());
        let mut outcomes = Vec::with_capacity(mutations.len());
        let mut locked = 0;
        for (at, mutation) in mutations.iter().enumerate() {
            if let Err(error) = std::mem::replace(&mut checked[at], Ok(())) {
                outcomes.push(Err(error));
                continue;
            }
            let outcome = batch.add(mutation);
            note(&mut rows, locked, mutation, &mut batch);
            locked += 1;
            if outcome.is_ok() {
                batch.waiting.push(at);
            }
            outcomes.push(outcome);
        }
        batch.write_or_fail();
        outcomes
    };
    NonBlocking::Done(batch.finish(outcomes))
}

/// Applies mutations of one region atomically if all conditions hold; otherwise returns `None`.
/// Mutations that read their row see it as it was before all of them.
pub(crate) fn apply_rows(
    region: &Region,
    conditions: &[RowCondition],
    mutations: &[Mutation],
    wait_mode: WaitMode,
) -> Result<NonBlocking<Option<Vec<MutationOutcome>>>> {
    let engine = region.engine();
    mutations.iter().try_for_each(|mutation| check(region, mutation))?;
    conditions
        .iter()
        .try_for_each(|asked| condition::check(region, &asked.condition, &asked.row))?;
    region.check_serving()?;
    if admit_with(region, need(mutations.iter()), wait_mode)? == NonBlocking::WouldBlock {
        return Ok(NonBlocking::WouldBlock);
    }
    let mut batch = Batch::new(region, Atomicity::AsOne);
    batch.durability = strongest(mutations.iter().map(|mutation| asked(region, mutation)));
    let outcomes = {
        let changed = mutations.iter().map(|mutation| &mutation.row()[..]);
        let rows = changed.chain(conditions.iter().map(|asked| &asked.row[..]));
        let rows = engine.row_locks.lock(rows.map(|row| (region.id(), row)), wait_mode);
        let NonBlocking::Done(mut rows) = rows else { return Ok(NonBlocking::WouldBlock) };
        for asked in conditions {
            let judged = condition::judge(region, &asked.condition, &asked.row)?;
            let Holds::Yes(seen) = judged else { return Ok(NonBlocking::Done(None)) };
            batch.seen = batch.seen.max(seen);
        }
        if let Some(outcomes) = batch.repeat_all(mutations)? {
            return Ok(NonBlocking::Done(Some(outcomes)));
        }
        // Issue the timestamp with the rows locked, so that later writes to them are not older.
        batch.now = now_of(engine, &rows, mutations.iter());
        let mut outcomes = Vec::with_capacity(mutations.len());
        for (nth, mutation) in mutations.iter().enumerate() {
            outcomes.push(batch.add(mutation)?);
            note(&mut rows, nth, mutation, &mut batch);
        }
        batch.write()?;
        outcomes
    };
    batch.committed.wait(engine)?;
    Ok(NonBlocking::Done(Some(outcomes)))
}

/// Applies mutations of any regions of one store atomically: they become visible, and survive a
/// crash, together or not at all.
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
    mutations.iter().try_for_each(|(region, _)| admit(region, need))?;
    let mut batch = Batch::new(first, Atomicity::Together);
    batch.durability =
        strongest(mutations.iter().map(|(region, mutation)| asked(region, mutation)));
    let mut outcomes = Vec::with_capacity(mutations.len());
    {
        let rows = mutations.iter().map(|(region, mutation)| (region.id(), &mutation.row()[..]));
        let mut rows = engine.row_locks.lock(rows, WaitMode::Blocking).done();
        batch.now = now_of(engine, &rows, mutations.iter().map(|(_, mutation)| *mutation));
        for (nth, (region, mutation)) in mutations.iter().enumerate() {
            batch.region = region;
            outcomes.push(batch.add(mutation)?);
            note(&mut rows, nth, mutation, &mut batch);
        }
        batch.write()?;
    }
    batch.committed.wait(engine)?;
    Ok(outcomes)
}

fn is_delete(mutation: &Mutation) -> bool {
    matches!(mutation, Mutation::Delete(_))
}

/// Issues the timestamp of mutations whose rows are locked: one for all of them, as in HBase.
fn now_of<'a>(
    engine: &Engine,
    rows: &RowsGuard<'_>,
    mut mutations: impl Iterator<Item = &'a Mutation>,
) -> Timestamp {
    match mutations.all(is_delete) {
        true => engine.timestamps.issue_delete(rows.after()),
        false => engine.timestamps.issue_put(rows.after()),
    }
}

/// Records the timestamp that the last mutation gave to the `nth` locked row.
fn note(rows: &mut RowsGuard<'_>, nth: usize, mutation: &Mutation, batch: &mut Batch<'_>) {
    match batch.take_issued_timestamp() {
        _ if is_delete(mutation) => rows.note_delete(nth, batch.now),
        Some(at) => rows.note_put(nth, at),
        None => {}
    }
}

/// Returns the kind of disk space that the mutations need.
fn need<'a>(mut mutations: impl Iterator<Item = &'a Mutation>) -> Need {
    if mutations.all(is_delete) { Need::Delete } else { Need::Room }
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

fn refuse_all(checked: Vec<Result<()>>, error: &Error) -> Vec<Result<MutationOutcome>> {
    let refused = || Error::new(error.kind(), error.message());
    checked.into_iter().map(|checked| checked.and_then(|()| Err(refused()))).collect()
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
