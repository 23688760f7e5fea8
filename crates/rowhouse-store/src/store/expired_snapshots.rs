//! Deletes snapshots.

use rowhouse_model::Result;

use crate::engine::Engine;
use crate::manifest::EditKind;
use crate::store_file::SnapshotFiles;

/// Deletes the expired snapshots.
pub(super) fn delete_expired_snapshots(engine: &Engine) -> Result<()> {
    let mut snapshots = engine.snapshots.lock();
    for name in engine.expired_snapshots() {
        delete_snapshot(engine, &mut snapshots, &name)?;
    }
    Ok(())
}

/// Deletes a snapshot.
pub(super) fn delete_snapshot(
    engine: &Engine,
    snapshots: &mut SnapshotFiles,
    name: &str,
) -> Result<()> {
    engine.append_edit(EditKind::SnapshotDeleted(name.to_owned()))?;
    snapshots.remove(name);
    tracing::info!(snapshot = name, "snapshot deleted");
    Ok(())
}
