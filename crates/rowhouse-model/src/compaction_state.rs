//! The compaction state for a region or a table.

use std::fmt;

/// The compaction kinds that are running or pending. The display form is HBase's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompactionState {
    /// No compaction is running or pending.
    None,
    /// Compaction over some files.
    Minor,
    /// Compaction over all files.
    Major,
    /// Both, in different families or regions.
    MajorAndMinor,
}

impl CompactionState {
    /// Returns the combined state for two scopes, for example two table regions.
    #[must_use]
    pub fn with(self, other: Self) -> Self {
        match (self, other) {
            (state, Self::None) | (Self::None, state) => state,
            (state, other) if state == other => state,
            _ => Self::MajorAndMinor,
        }
    }
}

impl fmt::Display for CompactionState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "NONE",
            Self::Minor => "MINOR",
            Self::Major => "MAJOR",
            Self::MajorAndMinor => "MAJOR_AND_MINOR",
        })
    }
}

#[cfg(test)]
mod tests {
    use super::CompactionState::{Major, MajorAndMinor, Minor, None};

    #[test]
    fn regions_in_different_states_are_in_both() {
        assert_eq!((None.with(None), None.with(Minor), Major.with(None)), (None, Minor, Major));
        assert_eq!((Major.with(Major), MajorAndMinor.with(Minor)), (Major, MajorAndMinor));
        assert_eq!((Minor.with(Major), Major.with(Minor)), (MajorAndMinor, MajorAndMinor));
    }
}
