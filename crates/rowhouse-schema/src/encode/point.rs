//! The position of a constant among the numbers of an ordinal domain.

/// A domain's numbers that equal a constant, from `low` to `high`. If there is none, `high` is the
/// last number below the constant and `low` the first above it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Point {
    pub(crate) low: i128,
    pub(crate) high: i128,
}

impl Point {
    pub(crate) fn exact(number: i128) -> Self {
        Self { low: number, high: number }
    }

    pub(crate) fn after(number: i128) -> Self {
        Self { low: number.saturating_add(1), high: number }
    }
}
