//! The region servers that carry a load, and what moves of regions would change.

use super::evidence::Evidence;
use super::hypotheses::{Hypothesis, excess_threshold};
use super::remedy::{Remedy, RemedyKind, lowers};
use super::{LoadCause, LoadProfile};

/// The region servers that serve a table's regions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Placement {
    /// The addresses of all live region servers, with those that have no region of the table. None
    /// for an embedded database.
    servers: Vec<String>,
    /// The position of each region's server in `servers`; `None` if no live server serves it.
    regions: Vec<Option<usize>>,
}

impl Placement {
    /// Returns the placement of regions, in key order, on the servers with these addresses. The
    /// address of a region is `None` if no server serves it.
    pub fn new(servers: Vec<String>, regions: impl IntoIterator<Item = Option<String>>) -> Self {
        let at = |address: String| servers.iter().position(|server| *server == address);
        let regions = regions.into_iter().map(|address| address.and_then(at)).collect();
        Self { servers, regions }
    }
}

/// The region server that carries most of a load.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct BusiestServer {
    /// The address.
    pub address: String,
    /// The share of the load, between 0 and 1.
    pub share: f64,
    /// How many live region servers there are: at least two.
    pub servers: usize,
}

impl LoadProfile {
    /// Returns the share of the load on each region server, by address, in the order of the
    /// placement: the share of the requests in the sample, or of those by region, for regions that
    /// the server serves now. `None` without requests, and with fewer than two servers.
    pub fn server_shares(&self) -> Option<Vec<(&str, f64)>> {
        let counts = self.region_counts()?;
        let loads = self.placement.loads(&counts)?;
        let sum: u64 = counts.iter().sum();
        let share = |load: u64| load as f64 / sum as f64;
        let servers = self.placement.servers.iter().zip(loads);
        (sum > 0).then(|| servers.map(|(server, load)| (&server[..], share(load))).collect())
    }

    pub(super) fn busiest_server(&self) -> Option<BusiestServer> {
        let shares = self.server_shares()?;
        let (address, share) =
            shares.iter().max_by(|(_, one), (_, other)| one.total_cmp(other)).copied()?;
        Some(BusiestServer { address: address.to_owned(), share, servers: shares.len() })
    }
}

impl Placement {
    /// Returns the load on each server; `None` with fewer than two servers, and if the regions are
    /// others.
    fn loads(&self, counts: &[u64]) -> Option<Vec<u64>> {
        if self.servers.len() < 2 || self.regions.len() != counts.len() {
            return None;
        }
        let mut loads = vec![0; self.servers.len()];
        for (server, count) in self.regions.iter().zip(counts) {
            if let Some(server) = server {
                loads[*server] += count;
            }
        }
        Some(loads)
    }

    /// Moves regions from the busiest server to the least busy one, as long as that lowers the
    /// busier one's load. Returns the regions that were moved.
    fn spread(&mut self, counts: &[u64]) -> Option<Vec<usize>> {
        let mut loads = self.loads(counts)?;
        let mut moved = Vec::new();
        while moved.len() < counts.len() {
            let busiest = (0..loads.len()).max_by_key(|at| loads[*at])?;
            let least = (0..loads.len()).min_by_key(|at| loads[*at])?;
            let after = |at: &usize| (loads[busiest] - counts[*at]).max(loads[least] + counts[*at]);
            let own = (0..counts.len()).filter(|at| {
                self.regions[*at] == Some(busiest) && counts[*at] > 0 && !moved.contains(at)
            });
            let Some(region) = own.min_by_key(after) else { break };
            if after(&region) >= loads[busiest] {
                break;
            }
            loads[busiest] -= counts[region];
            loads[least] += counts[region];
            self.regions[region] = Some(least);
            moved.push(region);
        }
        moved.sort_unstable();
        Some(moved)
    }
}

/// Returns the hypothesis that the load is spread over the regions, but that these are on too few
/// servers. `None` if moves of regions would not spread it: the placement is not the cause then.
pub(super) fn uneven_placement(evidence: &Evidence<'_>) -> Option<Hypothesis> {
    moves(evidence)?;
    let busiest = evidence.profile.busiest_server()?;
    let threshold = excess_threshold(busiest.servers);
    let cause = LoadCause::Placement { server: busiest.address };
    let hypothesis = Hypothesis::new(cause, busiest.share, threshold, evidence.count());
    Some(Hypothesis { prefix_share: 0.0, ..hypothesis })
}

/// Returns the moves of regions that lower the busiest server's share. They are chosen by the first
/// half of the sample, and the share is that of the second half.
pub(super) fn moves(evidence: &Evidence<'_>) -> Option<Remedy> {
    let profile = evidence.profile;
    let share_before = profile.busiest_server()?.share;
    let half = evidence.count() / 2;
    let [early, late] = [0..half, half..evidence.count()]
        .map(|part| profile.counts_of(profile.sample[part].iter()));
    let late = late?;
    let mut placement = profile.placement.clone();
    let moved = placement.spread(&early?)?;
    let busiest = placement.loads(&late)?.into_iter().max()?;
    let share_after = busiest as f64 / late.iter().sum::<u64>().max(1) as f64;
    let starts = moved.iter().map(|at| profile.regions[*at].start.clone());
    let starts: Vec<_> = starts.collect();
    let texts = starts.iter().map(|start| evidence.text(start)).collect();
    let kind = RemedyKind::Move { starts, texts };
    lowers(share_before, share_after).then_some(Remedy { kind, share_before, share_after })
}
