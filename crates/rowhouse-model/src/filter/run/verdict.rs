//! What a filter says about a cell, and how the words of several go together.

/// What a filter says about a cell: HBase's ReturnCode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilterVerdict {
    /// It is let through.
    Include,
    /// It is let through, and no other version of its column.
    IncludeAndNextColumn,
    /// It is let through, and nothing behind it in its row and family.
    IncludeAndNextRow,
    /// It is not let through.
    Skip,
    /// Neither it nor another version of its column is.
    NextColumn,
    /// Neither it nor anything behind it in its row and family is.
    NextRow,
    /// It is not let through, and [`FilterRun::hint`](super::FilterRun::hint) says where to go on.
    SeekToHint,
}

/// How far a verdict goes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Extent {
    Cell,
    Column,
    Row,
}

impl FilterVerdict {
    /// Whether the cell is let through.
    pub fn includes(self) -> bool {
        use FilterVerdict::*;
        matches!(self, Include | IncludeAndNextColumn | IncludeAndNextRow)
    }

    /// The verdict of two that must both let the cell through: the longer step. A hint takes all.
    pub(super) fn and(self, other: Self) -> Self {
        if self == Self::SeekToHint || other == Self::SeekToHint {
            return Self::SeekToHint;
        }
        Self::of(self.includes() && other.includes(), self.step().max(other.step()))
    }

    /// The verdict of two of which one has to let the cell through: the shorter step. A hint holds
    /// only if both give one.
    pub(super) fn or(self, other: Self) -> Self {
        if self == Self::SeekToHint && other == Self::SeekToHint {
            return Self::SeekToHint;
        }
        Self::of(self.includes() || other.includes(), self.step().min(other.step()))
    }

    fn of(included: bool, step: Extent) -> Self {
        match (included, step) {
            (true, Extent::Cell) => Self::Include,
            (true, Extent::Column) => Self::IncludeAndNextColumn,
            (true, Extent::Row) => Self::IncludeAndNextRow,
            (false, Extent::Cell) => Self::Skip,
            (false, Extent::Column) => Self::NextColumn,
            (false, Extent::Row) => Self::NextRow,
        }
    }

    /// A hint may lead anywhere: beside other verdicts nothing but the cell is sure.
    fn step(self) -> Extent {
        match self {
            Self::Include | Self::Skip | Self::SeekToHint => Extent::Cell,
            Self::IncludeAndNextColumn | Self::NextColumn => Extent::Column,
            Self::IncludeAndNextRow | Self::NextRow => Extent::Row,
        }
    }
}
