//! What the merges of a region or a table are about.

use std::fmt;

/// Which merges of files run or wait, in HBase's words, as which it is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompactionState {
    /// None runs or waits.
    None,
    /// Some files are merged.
    Minor,
    /// All files are merged.
    Major,
    /// Both, of different families or regions.
    MajorAndMinor,
}

impl CompactionState {
    /// That of two, such as two regions of a table, together.
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
