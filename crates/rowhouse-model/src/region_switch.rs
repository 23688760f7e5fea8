//! What can be switched off for all tables of a store or cluster.

/// A switch, on unless somebody has turned it off; it stays so over restarts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegionSwitch {
    /// Regions are split, by themselves and when somebody asks.
    Split,
    /// Regions are merged when somebody asks.
    Merge,
}
