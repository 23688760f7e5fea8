//! The merges of a family that run: several at a time, each with files of its own.

use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

use super::CompactionKind;
use crate::store_file::StoreFile;

/// The merges of a family that run.
#[derive(Default)]
pub(crate) struct Running {
    merges: Mutex<Vec<Taken>>,
}

/// What a merge has taken.
struct Taken {
    kind: CompactionKind,
    /// The ids of its files.
    files: Vec<u64>,
}

/// Held while files are chosen: nobody else chooses meanwhile.
pub(crate) struct Choosing<'a> {
    running: &'a Running,
    merges: MutexGuard<'a, Vec<Taken>>,
}

/// Files that a merge has for itself until this goes.
pub(crate) struct Claim<'a> {
    running: &'a Running,
    first: u64,
}

impl Running {
    pub(crate) fn choosing(&self) -> Choosing<'_> {
        Choosing { running: self, merges: self.merges.lock() }
    }

    /// The kinds of the merges that run.
    pub(crate) fn kinds(&self) -> Vec<CompactionKind> {
        self.merges.lock().iter().map(|taken| taken.kind).collect()
    }

    /// See [`Choosing::busy`].
    pub(crate) fn busy(&self, files: &[Arc<StoreFile>]) -> usize {
        self.choosing().busy(files)
    }
}

impl<'a> Choosing<'a> {
    /// How many of `files`, oldest first, are being merged or older than one that is. As in HBase only those
    /// behind are free: what a merge leaves is merged with its older neighbours when it is done.
    pub(crate) fn busy(&self, files: &[Arc<StoreFile>]) -> usize {
        let is_taken = |file: &Arc<StoreFile>| {
            self.merges.iter().any(|taken| taken.files.contains(&file.id()))
        };
        files.iter().rposition(is_taken).map_or(0, |last| last + 1)
    }

    /// Takes files that are free, and lets others choose.
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
