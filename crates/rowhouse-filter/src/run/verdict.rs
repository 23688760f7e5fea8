//! Verdicts on cells, and their combination.

/// Which part of an included cell's value to retain. With anything but [`ValuePart::Whole`] the
/// cell also loses the tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ValuePart {
    /// The whole value.
    Whole,
    /// No value: it becomes empty.
    Nothing,
    /// The length, as four bytes, big-endian.
    Length,
    /// This number, as four bytes, big-endian: with several KeyOnlyFilters, a later one counts the
    /// bytes that an earlier one left.
    Number(u32),
}

/// A filter's verdict on a cell: HBase's ReturnCode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilterVerdict {
    /// Include the cell.
    Include,
    /// Include the cell, and skip the other versions in the column.
    IncludeAndNextColumn,
    /// Include the cell, and skip the rest of the row and family.
    IncludeAndNextRow,
    /// Exclude the cell.
    Skip,
    /// Exclude the cell and the other versions in the column.
    NextColumn,
    /// Exclude the cell and the rest of the row and family.
    NextRow,
    /// Exclude the cell; [`FilterRun::hint`](super::FilterRun::hint) returns the position to seek
    /// to.
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
    /// Returns true if the cell is included.
    pub fn includes(self) -> bool {
        use FilterVerdict::*;
        matches!(self, Include | IncludeAndNextColumn | IncludeAndNextRow)
    }

    /// Combines two verdicts that must both include the cell: the longer step wins. A hint
    /// overrides everything.
    pub(super) fn and(self, other: Self) -> Self {
        if self == Self::SeekToHint || other == Self::SeekToHint {
            return Self::SeekToHint;
        }
        Self::of(self.includes() && other.includes(), self.step().max(other.step()))
    }

    /// Combines two verdicts where one must include the cell: the shorter step wins. A hint applies
    /// only if both are hints.
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

    /// Returns how long the step is. A hint counts as a step over one cell, because it may lead
    /// anywhere.
    fn step(self) -> Extent {
        match self {
            Self::Include | Self::Skip | Self::SeekToHint => Extent::Cell,
            Self::IncludeAndNextColumn | Self::NextColumn => Extent::Column,
            Self::IncludeAndNextRow | Self::NextRow => Extent::Row,
        }
    }
}
