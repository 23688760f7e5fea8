//! Counts requests and the bytes they return or write.

use std::ops::AddAssign;
use std::sync::atomic::{AtomicU64, Ordering};

/// A request count and the requests' bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Load {
    /// Rows read.
    pub(crate) reads: u64,
    /// Mutations.
    pub(crate) writes: u64,
    /// Bytes in the cells returned.
    pub(crate) read_bytes: u64,
    /// Bytes in the cells written.
    pub(crate) written_bytes: u64,
}

impl Load {
    /// Returns the load for `rows` rows that were read.
    pub(crate) fn of_reads(rows: u64, bytes: u64) -> Self {
        Self { reads: rows, read_bytes: bytes, ..Self::default() }
    }

    /// Returns the load for one mutation.
    pub(crate) fn of_write(bytes: u64) -> Self {
        Self { writes: 1, written_bytes: bytes, ..Self::default() }
    }

    /// Returns the request count.
    pub(super) fn requests(&self) -> u64 {
        self.reads.saturating_add(self.writes)
    }

    /// Returns the load as often as `weight` says.
    pub(super) fn times(self, weight: u64) -> Self {
        self.map(|count| count.saturating_mul(weight))
    }

    /// Takes `part` of `whole` equal parts out of the load and returns it, rounded down.
    pub(super) fn take(&mut self, part: u64, whole: u64) -> Self {
        let taken = self.map(|count| share(count, part, whole));
        self.reads -= taken.reads;
        self.writes -= taken.writes;
        self.read_bytes -= taken.read_bytes;
        self.written_bytes -= taken.written_bytes;
        taken
    }

    pub(super) fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    fn map(self, act: impl Fn(u64) -> u64) -> Self {
        Self {
            reads: act(self.reads),
            writes: act(self.writes),
            read_bytes: act(self.read_bytes),
            written_bytes: act(self.written_bytes),
        }
    }
}

/// Returns `part` of `whole` equal parts of a count, rounded down; `part` is at most `whole`.
pub(super) fn share(count: u64, part: u64, whole: u64) -> u64 {
    (u128::from(count) * u128::from(part) / u128::from(whole)) as u64
}

impl AddAssign for Load {
    fn add_assign(&mut self, more: Self) {
        self.reads = self.reads.saturating_add(more.reads);
        self.writes = self.writes.saturating_add(more.writes);
        self.read_bytes = self.read_bytes.saturating_add(more.read_bytes);
        self.written_bytes = self.written_bytes.saturating_add(more.written_bytes);
    }
}

/// A load that several threads add to: a region's load, or the load on a family in a region.
#[derive(Debug, Default)]
pub(crate) struct SharedLoad {
    reads: AtomicU64,
    writes: AtomicU64,
    read_bytes: AtomicU64,
    written_bytes: AtomicU64,
}

impl SharedLoad {
    /// Adds rows read; returns how many rows were read before.
    #[inline]
    pub(crate) fn add_reads(&self, rows: u64) -> u64 {
        self.reads.fetch_add(rows, Ordering::Relaxed)
    }

    /// Adds mutations; returns how many mutations there were before.
    #[inline]
    pub(crate) fn add_writes(&self, mutations: u64) -> u64 {
        self.writes.fetch_add(mutations, Ordering::Relaxed)
    }

    #[inline]
    pub(crate) fn add_read_bytes(&self, bytes: u64) {
        self.read_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    #[inline]
    pub(crate) fn add_written_bytes(&self, bytes: u64) {
        self.written_bytes.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Returns the load so far.
    pub(crate) fn get(&self) -> Load {
        Load {
            reads: self.reads.load(Ordering::Relaxed),
            writes: self.writes.load(Ordering::Relaxed),
            read_bytes: self.read_bytes.load(Ordering::Relaxed),
            written_bytes: self.written_bytes.load(Ordering::Relaxed),
        }
    }
}
