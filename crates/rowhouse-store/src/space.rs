//! Disk space: writes are refused before the disk is full.

use std::sync::atomic::{AtomicU64, Ordering};

use rowhouse_model::{Error, ErrorKind, Result};

use crate::disk::Disk;

/// The maximum bytes written before the file system is queried again.
const UNCHECKED_BYTES_MAX: u64 = 16 << 20;

/// How a write eventually affects disk space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// It takes space.
    Room,
    /// It frees space: a delete, which lets compactions drop cells.
    Delete,
}

/// Keeps a reserve free, so that flushes, compactions, deletes and a clean stop have space when
/// other writes have none.
pub(crate) struct Space {
    reserve_bytes: u64,
    /// Bytes that may be written before the file system is queried again.
    unseen_bytes: AtomicU64,
}

impl Space {
    pub(crate) fn new(reserve_bytes: u64) -> Self {
        Self { reserve_bytes, unseen_bytes: AtomicU64::new(0) }
    }

    /// Counts bytes that the log has written.
    pub(crate) fn wrote(&self, bytes: u64) {
        let less = |unseen: u64| Some(unseen.saturating_sub(bytes));
        let _ = self.unseen_bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
    }

    /// Refuses a write that would use the reserve. Writes continue once there is space again.
    ///
    /// # Errors
    /// `RegionTooBusy`.
    pub(crate) fn check(&self, disk: &dyn Disk, need: Need) -> Result<()> {
        if self.unseen_bytes.load(Ordering::Relaxed) > 0 {
            return Ok(());
        }
        // A file system that returns no number counts as one with space; writes fail when it is
        // full.
        let available = disk.available_bytes().unwrap_or(u64::MAX);
        let reserve = match need {
            Need::Room => self.reserve_bytes,
            Need::Delete => self.reserve_bytes / 2,
        };
        if available < reserve {
            return Err(Error::new(
                ErrorKind::RegionTooBusy,
                format!("the disk is full: available={available}, reserve={reserve}"),
            ));
        }
        if need == Need::Room {
            let unseen = ((available - reserve) / 2).min(UNCHECKED_BYTES_MAX);
            self.unseen_bytes.store(unseen, Ordering::Relaxed);
        }
        Ok(())
    }
}
