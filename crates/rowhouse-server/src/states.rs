//! Named states of all tables, for tests, which begin with an empty or a prepared database.
//!
//! A state is a snapshot of each table, named by [`snapshot_name`].

use std::collections::BTreeSet;

use rowhouse_format::convert::procedure::state::{snapshot_name, state_of};
use rowhouse_model::{Error, ErrorKind, Namespace, Result, Snapshot, TableDescriptor, TableState};
use rowhouse_schema::IndexOf;
use rowhouse_store::Store;

use crate::limits::{STATES_BYTES_MAX, STATES_MAX};

/// Drops all tables and namespaces, and all snapshots that belong to no state.
///
/// # Errors
/// `Io`, `ReadOnly`, and errors from a change of tables at the same time.
pub(crate) fn reset(store: &Store) -> Result<()> {
    for (table, state) in base_tables(store)? {
        if state == TableState::Enabled {
            store.disable_table(table.name())?;
        }
        store.drop_table(table.name())?;
    }
    for snapshot in store.snapshots() {
        if state_of(snapshot.name()).is_none() {
            store.delete_snapshot(snapshot.name())?;
        }
    }
    for namespace in store.namespaces() {
        if !namespace.is_reserved() {
            store.drop_namespace(namespace.name())?;
        }
    }
    Ok(())
}

/// Saves all tables as a state. Indexes are built anew when it is restored.
///
/// # Errors
/// `SnapshotExists` for a name that is taken; `InvalidRequest` for a name that is none, without a
/// table, and for a disabled table; `QuotaExceeded` for too many states, or too many bytes in their
/// files; `Io`, `ReadOnly`.
pub(crate) fn save(store: &Store, name: &str) -> Result<()> {
    save_within(store, name, STATES_BYTES_MAX)
}

fn save_within(store: &Store, name: &str, bytes_max: u64) -> Result<()> {
    if !snapshots_of(store, name).is_empty() {
        let message = format!("there is such a state already: name={name}");
        return Err(Error::new(ErrorKind::SnapshotExists, message));
    }
    check_bounds(store, bytes_max)?;
    let tables = base_tables(store)?;
    if tables.is_empty() {
        let message = format!("there is no table to save; a reset restores no tables: name={name}");
        return Err(Error::invalid(message));
    }
    if let Some((table, _)) = tables.iter().find(|(_, state)| *state == TableState::Disabled) {
        let message = format!("a state has enabled tables only: disabled={}", table.name());
        return Err(Error::invalid(message));
    }
    let snapshots = tables.iter().enumerate().map(|(number, (table, _))| {
        Snapshot::new(&snapshot_name(name, number), table.name().clone())
    });
    let snapshots = snapshots.collect::<Result<Vec<_>>>()?;
    let saved = snapshots.into_iter().try_for_each(|it| store.take_snapshot(it).map(drop));
    // Only now is it known what the state holds: files that other states have too cost nothing.
    let saved = saved.and_then(|()| check_bytes(store, bytes_max));
    if saved.is_err() {
        // Half a state is none.
        delete_snapshots(store, name)?;
    }
    saved
}

/// Deletes a state. Files that no table and no other state has go with it.
///
/// # Errors
/// `SnapshotNotFound` for an unknown state; `Io`, `ReadOnly`.
pub(crate) fn delete(store: &Store, name: &str) -> Result<()> {
    if snapshots_of(store, name).is_empty() {
        return Err(unknown(name));
    }
    delete_snapshots(store, name)
}

fn delete_snapshots(store: &Store, name: &str) -> Result<()> {
    snapshots_of(store, name).iter().try_for_each(|it| store.delete_snapshot(it.name()))
}

/// Checks that there is room for one more state.
fn check_bounds(store: &Store, bytes_max: u64) -> Result<()> {
    let snapshots = store.snapshots();
    let states: BTreeSet<_> = snapshots.iter().filter_map(|it| state_of(it.name())).collect();
    if states.len() >= STATES_MAX {
        return Err(Error::new(
            ErrorKind::QuotaExceeded,
            format!("too many states, delete one: count={}, max={STATES_MAX}", states.len()),
        ));
    }
    check_bytes(store, bytes_max)
}

fn check_bytes(store: &Store, bytes_max: u64) -> Result<()> {
    let bytes = store.snapshot_bytes(|name| state_of(name).is_some());
    if bytes <= bytes_max {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::QuotaExceeded,
        format!("too many bytes in states, delete one: bytes={bytes}, max={bytes_max}"),
    ))
}

fn unknown(name: &str) -> Error {
    Error::new(ErrorKind::SnapshotNotFound, format!("there is no such state: name={name}"))
}

/// Drops all tables, as a [`reset`], and restores the tables of a state.
///
/// # Errors
/// `SnapshotNotFound` for an unknown state; errors as for [`reset`].
pub(crate) fn restore(store: &Store, name: &str) -> Result<()> {
    let snapshots = snapshots_of(store, name);
    if snapshots.is_empty() {
        return Err(unknown(name));
    }
    reset(store)?;
    for snapshot in snapshots {
        let namespace = snapshot.table.namespace();
        if store.namespace(namespace).is_err() {
            store.create_namespace(Namespace::new(namespace)?)?;
        }
        store.restore_snapshot(snapshot.name())?;
    }
    Ok(())
}

/// Returns the snapshots of a state.
fn snapshots_of(store: &Store, name: &str) -> Vec<Snapshot> {
    let mut snapshots = store.snapshots();
    snapshots.retain(|it| state_of(it.name()) == Some(name));
    snapshots
}

/// Returns the tables that hold no index, which follow theirs.
fn base_tables(store: &Store) -> Result<Vec<(TableDescriptor, TableState)>> {
    let mut tables = Vec::new();
    for table in store.tables() {
        if IndexOf::of_table(table.descriptor())?.is_none() {
            tables.push((table.descriptor().clone(), table.state()));
        }
    }
    Ok(tables)
}

#[cfg(test)]
mod tests {
    use rowhouse_model::{FamilyDescriptor, Put, TableName};

    use super::*;

    /// Opens a store with one table.
    fn store(dir: &std::path::Path) -> Store {
        let store = Store::builder(dir).open().unwrap();
        let family = FamilyDescriptor::new("f").unwrap();
        let table = TableDescriptor::new(TableName::parse("t").unwrap()).family(family);
        store.create_table(table, &[]).unwrap();
        store
    }

    fn put(store: &Store, row: &'static str) {
        let put = Put::new(row).unwrap().add("f", "q", vec![b'v'; 1_000]).unwrap();
        let table = store.table(&TableName::parse("t").unwrap()).unwrap();
        table.regions()[0].mutate(&put.into()).unwrap();
    }

    #[test]
    fn the_number_of_states_is_bounded_until_one_is_deleted() {
        let dir = tempfile::tempdir().unwrap();
        let store = store(dir.path());
        (0..STATES_MAX).for_each(|number| save(&store, &format!("s{number}")).unwrap());
        let error = save(&store, "more").unwrap_err();
        assert_eq!(error.kind(), ErrorKind::QuotaExceeded);
        delete(&store, "s7").unwrap();
        assert_eq!(delete(&store, "s7").unwrap_err().kind(), ErrorKind::SnapshotNotFound);
        save(&store, "more").unwrap();
        store.close().unwrap();
    }

    #[test]
    fn states_hold_at_most_so_many_bytes_and_files_of_several_count_once() {
        let dir = tempfile::tempdir().unwrap();
        let store = store(dir.path());
        put(&store, "a");
        save(&store, "one").unwrap();
        let bytes = store.snapshot_bytes(|_| true);
        assert!(bytes > 1_000);
        // The same files cost nothing more.
        save_within(&store, "same", bytes).unwrap();
        put(&store, "b");
        let error = save_within(&store, "more", bytes).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::QuotaExceeded);
        // What was refused holds nothing.
        assert!(snapshots_of(&store, "more").is_empty());
        assert_eq!(store.snapshot_bytes(|_| true), bytes);
        store.close().unwrap();
    }
}
