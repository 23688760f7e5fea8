//! The commit path: reserve → log → memstores → publish → (sync) → acknowledge.

use rowhouse_model::{Durability, Result};

use crate::engine::Engine;
use crate::wal::Position;
use crate::write::record_builder::RecordBuilder;

/// A visible commit. It is acknowledged only after [`Committed::wait`] has returned.
#[must_use]
pub(crate) struct Committed {
    position: Option<Position>,
}

impl Committed {
    /// Returns the result of an empty commit.
    pub(crate) fn nothing() -> Self {
        Self { position: None }
    }

    /// Adds another commit: both are waited for.
    pub(crate) fn include(&mut self, other: Self) {
        self.position = self.position.max(other.position);
    }

    /// Waits for the durability that the commit requires. Rows need not be locked meanwhile.
    pub(crate) fn wait(self, engine: &Engine) -> Result<()> {
        match self.position {
            Some(position) => engine.wal().sync_to(position),
            None => Ok(()),
        }
    }
}

/// Writes a record under one sequence. On return the cells are visible.
///
/// The caller holds the row locks, and `engine.freeze_latch`, so that no memstore is frozen between
/// logging and inserting. With the latch held it has checked that no family in the record is
/// dropped ([`RecordBuilder::check_families`]).
pub(crate) fn commit(
    engine: &Engine,
    record: RecordBuilder<'_>,
    durability: Durability,
) -> Result<Committed> {
    if record.is_empty() {
        return Ok(Committed::nothing());
    }
    debug_assert!(record.check_families().is_ok(), "a family was dropped under the latch");
    let mut record = record.seal();
    let (sequence, logged) = match durability {
        Durability::SkipWal => (engine.mvcc.reserve(), Ok(None)),
        _ if !record.is_logged() => (engine.mvcc.reserve(), Ok(None)),
        _ => {
            engine.space.wrote(record.record.body_len() as u64);
            let (sequence, logged) =
                engine.wal().append(&mut record.record, || engine.mvcc.reserve());
            (sequence, logged.map(Some))
        }
    };
    engine.recent_writes.note(record.rows(), sequence);
    if let Ok(logged) = &logged {
        record.insert(engine, sequence, logged.is_some());
    }
    // Publish even if the log refused the record: an unpublished sequence would block all later
    // ones.
    engine.mvcc.publish(sequence);
    engine.tend_log(matches!(logged, Ok(Some(_))));
    let position = logged?;
    record.nonces.iter().for_each(|nonce| engine.nonces.take(*nonce, sequence));
    Ok(Committed { position: position.filter(|_| durability == Durability::FsyncWal) })
}
