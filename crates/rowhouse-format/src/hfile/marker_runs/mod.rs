//! Long runs of delete markers. A file's writer records where a run begins and where a reader can
//! resume, so that readers skip the run.
//!
//! A run is a sequence of markers for single columns (DeleteColumn, DeleteVersion) in one row. Each
//! covers by timestamp and only in its own column, so at most a run's last markers can cover a cell
//! after it. The run's *target* is the first of these markers; before it, its column has only
//! version markers. Readers to which markers cover by anything but timestamp must not skip to the
//! target.
//!
//! If a file has long runs, the file info stores them under `hfile.ROWHOUSE_MARKER_RUNS`, in cell
//! order:
//!
//! ```text
//!  ┌────┬──────────┬─────────────────────┬──────────┬────────┬───┐
//!  │u8 1│u16 length│ key of the first    │u16 length│ key of │ … │
//!  │    │          │ marker              │          │ target │   │
//!  └────┴──────────┴─────────────────────┴──────────┴────────┴───┘
//!       ├─ for each run ─────────────────────────────────────┤
//! ```

mod entry;
mod finder;
mod follow;

use rowhouse_model::Key;

pub(super) use entry::{parse, write};
pub(super) use finder::MarkerRunFinder;
pub use follow::RunRelation;
use follow::is_column_marker;

use super::key::OwnedKey;

/// A long delete marker run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkerRun {
    first: OwnedKey,
    target: OwnedKey,
}

impl MarkerRun {
    /// A run is recorded if it spans at least this many data blocks.
    pub const BLOCKS_MIN: usize = 4;

    /// Most runs recorded per file.
    pub const RUNS_MAX: usize = 16;

    /// How long a recorded first or target key is at most, in bytes.
    pub const KEY_LEN_MAX: usize = 1024;

    /// Creates the run between two keys; `None` if a key is too long.
    pub fn new(first: &Key<'_>, target: &Key<'_>) -> Option<Self> {
        let [first, target] = [first, target].map(OwnedKey::new);
        let len = first.as_bytes().len().max(target.as_bytes().len());
        (len <= Self::KEY_LEN_MAX).then_some(Self { first, target })
    }

    /// Returns the first marker's key.
    pub fn first(&self) -> &OwnedKey {
        &self.first
    }

    /// Returns the key of the first marker that may cover a cell after the run.
    pub fn target(&self) -> &OwnedKey {
        &self.target
    }

    /// Returns true if a cell in the file with this key is in the run, before the target.
    pub fn has(&self, key: &Key<'_>) -> bool {
        (self.first.view()..self.target.view()).contains(key)
    }

    /// Returns true if the run wrongly skips a cell in the file with this key, which may matter at
    /// or after the target. If so, the run does not match the file.
    pub fn hides(&self, key: &Key<'_>) -> bool {
        let is_passed_rightly = || {
            is_column_marker(key.kind)
                && RunRelation::of(key, &self.target.view()) == RunRelation::Target
        };
        self.has(key) && !is_passed_rightly()
    }
}
