//! What can be asked of a row before it is changed, with the row locked.

use bytes::Bytes;

use crate::TimeRange;

/// What must hold for a mutation to be made. It is checked and the mutation made as one: nothing is
/// written to the row between the two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Condition {
    /// The row has no cell that a read would find. HBase's protocol cannot ask for this.
    NoRow,
    /// HBase's `ifNotExists`: a column has no value.
    NoValue(NoValue),
}

/// A column that must have no value, or an empty one: HBase does not tell the two apart here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoValue {
    /// The column's family.
    pub family: Bytes,
    /// The column's qualifier.
    pub qualifier: Bytes,
    /// Only cells with timestamps inside it count; [`TimeRange::ALL`] for all.
    pub time_range: TimeRange,
}

impl NoValue {
    /// That no cell of the column has a value, whatever its timestamp.
    pub fn of(family: impl Into<Bytes>, qualifier: impl Into<Bytes>) -> Self {
        Self { family: family.into(), qualifier: qualifier.into(), time_range: TimeRange::ALL }
    }
}
