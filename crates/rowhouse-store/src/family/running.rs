//! A family's running compactions: several at a time, on disjoint files.

use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

use crate::compaction_policy::CompactionKind;
use crate::store_file::StoreFile;

/// A family's running compactions.
#[derive(Default)]
pub(crate) struct Running {
    merges: Mutex<Vec<Taken>>,
}

/// A running compaction.
struct Taken {
    kind: CompactionKind,
    /// The file ids.
    files: Vec<u64>,
}

/// The lock under which files are chosen, by one thread at a time.
pub(crate) struct Choosing<'a> {
    running: &'a Running,
    merges: MutexGuard<'a, Vec<Taken>>,
}

/// Reserves files for one compaction until it is dropped.
pub(crate) struct Claim<'a> {
    running: &'a Running,
    first: u64,
}

impl Running {
    pub(crate) fn choosing(&self) -> Choosing<'_> {
        Choosing { running: self, merges: self.merges.lock() }
    }

    /// Returns the running compactions' kinds.
    pub(crate) fn kinds(&self) -> Vec<CompactionKind> {
        self.merges.lock().iter().map(|taken| taken.kind).collect()
    }

    /// See [`Choosing::busy`].
    pub(crate) fn busy(&self, files: &[Arc<StoreFile>]) -> usize {
        self.choosing().busy(files)
    }
}

impl<'a> Choosing<'a> {
    /// Returns how many of `files`, oldest first, are being compacted or are older than one that
    /// is. As in HBase only newer files are free; a compaction's output is compacted with its older
    /// neighbours once it is done.
    pub(crate) fn busy(&self, files: &[Arc<StoreFile>]) -> usize {
        let is_taken = |file: &Arc<StoreFile>| {
            self.merges.iter().any(|taken| taken.files.contains(&file.id()))
        };
        files.iter().rposition(is_taken).map_or(0, |last| last + 1)
    }

    /// Reserves files that are free, and releases the lock.
    pub(crate) fn take(mut self, kind: CompactionKind, files: &[Arc<StoreFile>]) -> Claim<'a> {
        debug_assert_eq!(self.busy(files), 0);
        let files: Vec<u64> = files.iter().map(|file| file.id()).collect();
        let first = files[0];
        self.merges.push(Taken { kind, files });
        Claim { running: self.running, first }
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        self.running.merges.lock().retain(|taken| taken.files[0] != self.first);
    }
}
