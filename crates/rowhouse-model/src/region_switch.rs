//! What can be switched off for all tables of a store or cluster.

/// A switch, on unless somebody has turned it off; it stays so over restarts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegionSwitch {
    /// Regions are split, by themselves and when somebody asks.
    Split,
    /// Regions are merged when somebody asks.
    Merge,
}

/// A switch of HBase's master that a store keeps for its server. It is on unless somebody has turned
/// it off, also after a restart, and has no effect on the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MasterSwitch {
    /// The balancer moves regions between servers.
    Balancer,
    /// The normalizer splits large regions and merges small ones.
    Normalizer,
    /// Replication peers can be added, changed and removed.
    PeerModification,
}
