//! What a codec returns for conditions: key ranges, and whether they hold other values too.

use rowhouse_model::RowRange;

use super::ranges::normalize;

/// Key ranges that hold all values that match, and perhaps others.
#[derive(Debug)]
pub(super) struct KeyRanges {
    pub(super) ranges: Vec<RowRange>,
    /// True if the ranges hold no others.
    pub(super) exact: bool,
}

impl KeyRanges {
    pub(super) fn exact(ranges: Vec<RowRange>) -> Self {
        Self { ranges: normalize(ranges), exact: true }
    }

    pub(super) fn none() -> Self {
        Self::exact(Vec::new())
    }

    /// Returns a range that holds all matching values, and others.
    pub(super) fn candidates(range: RowRange) -> Self {
        Self { ranges: vec![range], exact: false }
    }
}
