//! Removes families from tables: no commit, flush or compaction uses them afterwards.

use std::sync::Arc;

use rowhouse_model::{Result, TableName};

use super::handle::Tables;
use crate::engine::{Engine, TableChangeLatch};
use crate::family::FamilyStore;
use crate::flush;
use crate::manifest::{EditKind, Together};
use crate::observer::TableChange;

/// Appends an edit to `table` that removes `lost`, notes it for the table's observers, then runs
/// `follow` while no commit is in progress.
pub(super) fn without(
    tables: &Tables,
    lost: &[Arc<FamilyStore>],
    edit: EditKind,
    table: &TableName,
    follow: impl FnOnce(),
) -> Result<()> {
    let engine = &tables.engine;
    let change = change_of(&edit);
    // Until the change is visible.
    let _hold = engine.log_table_changes(&edit, TableChangeLatch::Free)?;
    // Stops compactions on their files.
    lost.iter().for_each(|family| family.set_closing(true));
    {
        // No flush or compaction may add a file to a removed family.
        let _quiet: Vec<_> =
            lost.iter().map(|family| (family.flushing.lock(), family.compacting.write())).collect();
        if let Err(error) = engine.append_removal(edit) {
            lost.iter().for_each(|family| family.set_closing(false));
            return Err(error);
        }
        if let Some(change) = change {
            tables.catalog.effects().observers.note(table, change);
        }
        {
            let _latch = engine.freeze_latch.write();
            if engine.followers.is_active() {
                let regions: Vec<u64> = lost.iter().map(|family| family.region_id()).collect();
                engine.followers.note_last_sequence(&regions, engine.mvcc.reserved());
            }
            if !lost.is_empty() {
                // Conflicts with transactions that read these families, even if no one has written
                // since.
                let sequence = engine.mvcc.reserve();
                engine.recent_writes.note_all(sequence);
                engine.mvcc.publish(sequence);
            }
            lost.iter().for_each(|family| family.set_dropped());
            // Before `follow`, which may add a family with the same name.
            lost.iter().for_each(|family| engine.forget_family(family));
            follow();
        }
        lost.iter().for_each(|family| engine.discard(family));
    }
    if !lost.is_empty() {
        release_flushed_segments(engine);
    }
    Ok(())
}

/// Returns the change to a table's contents or declaration that observers are notified about.
fn change_of(edit: &EditKind) -> Option<TableChange> {
    match edit {
        // The first edit belongs to the base table.
        EditKind::Together(Together { edits }) => change_of(edits.first()?.kind.as_ref()?),
        EditKind::TableAltered(_) | EditKind::TablesSwapped(_) => Some(TableChange::Altered),
        EditKind::TableTruncated(_) | EditKind::RegionTruncated(_) => Some(TableChange::Truncated),
        EditKind::TableDropped(_) => Some(TableChange::Dropped),
        EditKind::SnapshotRestored(_) | EditKind::TableRenamed(_) => Some(TableChange::Restored),
        _ => None,
    }
}

/// Removes log segments after a change that is already complete. A failure is only logged.
pub(super) fn release_flushed_segments(engine: &Engine) {
    if let Err(error) = flush::release_flushed_segments(engine) {
        tracing::error!(%error, "log segments cannot be removed");
    }
}
