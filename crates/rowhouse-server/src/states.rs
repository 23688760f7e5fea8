//! Named states of all tables, for tests, which begin with an empty or a prepared database.
//!
//! A state is a snapshot of each table, named `rowhouse-state.STATE.NUMBER`.

use rowhouse_model::{Error, ErrorKind, Namespace, Result, Snapshot, TableDescriptor, TableState};
use rowhouse_schema::IndexOf;
use rowhouse_store::Store;

const PREFIX: &str = "rowhouse-state.";

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
        if !snapshot.name().starts_with(PREFIX) {
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
/// table, and for a disabled table; `Io`, `ReadOnly`.
pub(crate) fn save(store: &Store, name: &str) -> Result<()> {
    if !snapshots_of(store, name).is_empty() {
        let message = format!("there is such a state already: name={name}");
        return Err(Error::new(ErrorKind::SnapshotExists, message));
    }
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
        Snapshot::new(&format!("{PREFIX}{name}.{number}"), table.name().clone())
    });
    let snapshots = snapshots.collect::<Result<Vec<_>>>()?;
    let saved = snapshots.into_iter().try_for_each(|it| store.take_snapshot(it).map(drop));
    if saved.is_err() {
        // Half a state is none.
        for snapshot in snapshots_of(store, name) {
            store.delete_snapshot(snapshot.name())?;
        }
    }
    saved
}

/// Drops all tables, as a [`reset`], and restores the tables of a state.
///
/// # Errors
/// `SnapshotNotFound` for an unknown state; errors as for [`reset`].
pub(crate) fn restore(store: &Store, name: &str) -> Result<()> {
    let snapshots = snapshots_of(store, name);
    if snapshots.is_empty() {
        let message = format!("there is no such state: name={name}");
        return Err(Error::new(ErrorKind::SnapshotNotFound, message));
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
    snapshots.retain(|it| is_of(it.name(), name));
    snapshots
}

/// Returns true if a snapshot belongs to a state. One state's name may begin as another's.
fn is_of(snapshot: &str, state: &str) -> bool {
    let number = snapshot.strip_prefix(PREFIX).and_then(|it| it.strip_prefix(state));
    let number = number.and_then(|it| it.strip_prefix('.')).unwrap_or_default();
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
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
    use super::*;

    #[test]
    fn a_state_has_no_snapshot_of_one_with_a_longer_name() {
        assert!(is_of("rowhouse-state.a.0", "a"));
        assert!(is_of("rowhouse-state.a.0.12", "a.0"));
        for other in ["rowhouse-state.a.0.12", "rowhouse-state.ab.0", "rowhouse-state.a.", "a.0"] {
            assert!(!is_of(other, "a"), "{other}");
        }
    }
}
