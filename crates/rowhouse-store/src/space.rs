//! Room on the disk: writes end before it does.

use std::sync::atomic::{AtomicU64, Ordering};

use rowhouse_model::{Error, ErrorKind, Result};

use crate::disk::Disk;

/// How many bytes are written at most before the file system is asked again.
const UNSEEN_BYTES_MAX: u64 = 16 << 20;

/// What a write does to the disk in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Need {
    /// It takes room.
    Room,
    /// It is how room is made: deletes, which compaction turns into room.
    Delete,
}

/// Keeps a reserve free, so that flushes, compactions, deletes and a clean stop have room when
/// writes have none any more.
pub(crate) struct Space {
    reserve_bytes: u64,
    /// Bytes that may be written before the file system is asked again.
    unseen_bytes: AtomicU64,
}

impl Space {
    pub(crate) fn new(reserve_bytes: u64) -> Self {
        Self { reserve_bytes, unseen_bytes: AtomicU64::new(0) }
    }

    /// Notes what the log has taken.
    pub(crate) fn wrote(&self, bytes: u64) {
        let less = |unseen: u64| Some(unseen.saturating_sub(bytes));
        let _ = self.unseen_bytes.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
    }

    /// Refuses a write that would come into the reserve. Once there is room again, writes go on.
    ///
    /// # Errors
    /// `RegionTooBusy`.
    pub(crate) fn check(&self, disk: &dyn Disk, need: Need) -> Result<()> {
        if self.unseen_bytes.load(Ordering::Relaxed) > 0 {
            return Ok(());
        }
        // A file system that does not say counts as one with room; its writes say when it is full.
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
            let unseen = ((available - reserve) / 2).min(UNSEEN_BYTES_MAX);
            self.unseen_bytes.store(unseen, Ordering::Relaxed);
        }
        Ok(())
    }
}
