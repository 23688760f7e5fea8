//! Returns the changes of a table to followers, and waits for the first for a while.

use std::time::{Duration, Instant};

use rowhouse_format::convert::changes::{ReadChanges, ReadFrom, answer_to_proto};
use rowhouse_format::proto;
use rowhouse_model::{Change, Result, TableName};
use rowhouse_store::{Changes, ChangesFrom, Store};

use crate::call::CallContext;
use crate::limits::{
    CHANGES_ANSWER_BYTES, CHANGES_ANSWER_MAX, CHANGES_WAIT_MAX, CHANGES_WAITING_MAX, CLOSED_LOOK,
};

/// Answers a call to the service.
pub(super) fn answer(
    call_context: &CallContext,
    table: &TableName,
    request: &ReadChanges,
) -> Result<proto::NameBytesPair> {
    let store = &call_context.context.cluster.store;
    let mut changes = begin(store, table, request)?;
    let mut answer = Vec::new();
    let mut bytes = 0;
    let limit = request.limit.map_or(CHANGES_ANSWER_MAX, |limit| limit as usize);
    let limit = limit.min(CHANGES_ANSWER_MAX);
    if limit == 0 {
        return Ok(answer_to_proto(answer, &changes.position()));
    }
    if let Some(first) = first(call_context, &mut changes, request.wait_millis)? {
        bytes += bytes_of(&first);
        answer.push(first);
    }
    // A change of the table ends the answer: the caller decides how to go on.
    while bytes < CHANGES_ANSWER_BYTES
        && (1..limit).contains(&answer.len())
        && !matches!(answer.last(), Some(Change::Table(_)))
        && let Some(change) = changes.next_now()?
    {
        bytes += bytes_of(&change);
        answer.push(change);
    }
    Ok(answer_to_proto(answer, &changes.position()))
}

/// Returns a reader at the place from which the caller reads. Registers a follower that is not
/// known, and saves the position if that is all that the call is for.
fn begin(store: &Store, table: &TableName, request: &ReadChanges) -> Result<Changes> {
    let from = match &request.from {
        ReadFrom::Now => Some(ChangesFrom::Now),
        ReadFrom::Copy => Some(ChangesFrom::Copy),
        ReadFrom::Position(position) => Some(ChangesFrom::Position(position.clone())),
        ReadFrom::Saved => None,
    };
    let changes = store.follow(table, request.follower.as_deref(), from.as_ref())?;
    if let Some(name) = &request.follower
        && request.limit == Some(0)
    {
        store.save_follower(name, table, &changes.position())?;
    }
    Ok(changes)
}

/// Returns the first change, and waits for it as long as the caller wants and is there.
fn first(
    call_context: &CallContext,
    changes: &mut Changes,
    wait_millis: u64,
) -> Result<Option<Change>> {
    if let Some(change) = changes.next_now()? {
        return Ok(Some(change));
    }
    let Some(_waiting) = call_context.context.cluster.changes_waits.enter(CHANGES_WAITING_MAX)
    else {
        // The caller asks again.
        return Ok(None);
    };
    let deadline = Instant::now() + Duration::from_millis(wait_millis).min(CHANGES_WAIT_MAX);
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() || call_context.client.share.is_closed() {
            return Ok(None);
        }
        if let Some(change) = changes.next(left.min(CLOSED_LOOK))? {
            return Ok(Some(change));
        }
    }
}

/// Returns about how many bytes a change takes in an answer.
fn bytes_of(change: &Change) -> usize {
    match change {
        Change::Row(row) | Change::Copied(row) => {
            let cells = row.cells.iter().map(|cell| cell.as_bytes().len());
            row.row.len() + cells.sum::<usize>()
        }
        Change::CopyEnded(_) | Change::Table(_) => 0,
    }
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use rowhouse_model::{Durability, FamilyDescriptor, Mutation, Put, TableDescriptor};

    use super::*;

    /// Returns how many reads of files this thread has made.
    fn reads() -> u64 {
        let counts = std::fs::read_to_string("/proc/thread-self/io").unwrap();
        let line = counts.lines().find_map(|line| line.strip_prefix("syscr: "));
        line.unwrap().parse().unwrap()
    }

    fn reads_of_call(others: usize) -> u64 {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        let name = TableName::parse("t").unwrap();
        let table = TableDescriptor::new(name.clone()).family(FamilyDescriptor::new("f").unwrap());
        store.create_table(table, &[]).unwrap();
        let position = store.changes_end().unwrap();
        for other in 0..others {
            store.save_follower(&format!("other{other}"), &name, &position).unwrap();
        }
        store.save_follower("own", &name, &position).unwrap();
        let mut put = Put::new("row").unwrap().add("f", "q", "value").unwrap();
        put.durability = Durability::FsyncWal;
        store.table(&name).unwrap().mutate(&Mutation::from(put)).unwrap();
        let follower = Some("own".to_owned());
        let request = ReadChanges { from: ReadFrom::Saved, follower, wait_millis: 0, limit: None };
        let before = reads();
        drop(begin(&store, &name, &request).unwrap());
        reads() - before
    }

    #[test]
    fn a_call_of_a_follower_does_not_read_the_log_for_the_others() {
        assert_eq!(reads_of_call(0), reads_of_call(40));
    }
}
