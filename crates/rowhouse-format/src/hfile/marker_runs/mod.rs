//! Long runs of delete markers: the writer of a file notes where they begin and where who reads on may go at once.
//!
//! A run is markers of single columns (DeleteColumn, DeleteVersion) that follow each other in one row. They cover by timestamp
//! and in their own column, so at most the last ones of a run have a say in what is behind it: its *target* is the first of
//! those. In front of it in its column there are only markers of versions. Readers to whom a marker covers anything else must not go there.
//!
//! Where there are long ones, file info has them under `hfile.ROWHOUSE_MARKER_RUNS`, in cell order:
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
pub use follow::Follow;
use follow::is_column_marker;

use super::key::OwnedKey;

/// A long run of delete markers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkerRun {
    first: OwnedKey,
    target: OwnedKey,
}

impl MarkerRun {
    /// How many data blocks a run reaches over that is worth noting.
    pub const BLOCKS_MIN: usize = 4;

    /// How many runs of a file are noted.
    pub const RUNS_MAX: usize = 16;

    /// Bytes of the longest key that a noted run begins with or leads to.
    pub const KEY_LEN_MAX: usize = 1024;

    /// The run from one key to another; none where a key is too long.
    pub fn new(first: &Key<'_>, target: &Key<'_>) -> Option<Self> {
        let [first, target] = [first, target].map(OwnedKey::new);
        let len = first.as_bytes().len().max(target.as_bytes().len());
        (len <= Self::KEY_LEN_MAX).then_some(Self { first, target })
    }

    /// The first marker.
    pub fn first(&self) -> &OwnedKey {
        &self.first
    }

    /// The first marker that may matter to what is behind the run.
    pub fn target(&self) -> &OwnedKey {
        &self.target
    }

    /// Whether a cell of the file, with this key, is one of the run in front of its target.
    pub fn has(&self, key: &Key<'_>) -> bool {
        (self.first.view()..self.target.view()).contains(key)
    }

    /// Whether a cell of the file, with this key, is passed by the run though it may matter at the target or behind: then the
    /// run is not the file's.
    pub fn hides(&self, key: &Key<'_>) -> bool {
        let is_passed_rightly =
            || is_column_marker(key.kind) && Follow::of(key, &self.target.view()) == Follow::Target;
        self.has(key) && !is_passed_rightly()
    }
}
