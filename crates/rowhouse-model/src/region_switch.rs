//! Switches that apply to all tables in a store or cluster.

/// A switch for region changes. It is on by default and survives restarts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegionSwitch {
    /// Regions split, automatically and on request.
    Split,
    /// Regions merge on request.
    Merge,
}

/// A switch from HBase's master that a store retains for the server. It is on by default, survives
/// restarts, and has no effect on the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MasterSwitch {
    /// The balancer moves regions between servers.
    Balancer,
    /// The normalizer splits large regions and merges small ones.
    Normalizer,
    /// Replication peers can be added, changed and removed.
    PeerModification,
}
