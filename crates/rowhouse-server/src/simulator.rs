//! Simulations of designs for the web pages.

use std::fmt::Debug;

use rowhouse_model::Result;
use rowhouse_schema::{Proposal, Way, Workload};

/// Simulates designs for the page *Design*. A simulation writes and queries tables, by the library,
/// which lies above this crate: the program that starts the server brings one.
pub trait DesignSimulator: Debug + Send + Sync {
    /// Simulates the proposals, the best estimates first, that may be the best for a workload, in a
    /// temporary store, and returns them with some others, the best first. No design that was not
    /// simulated is before one that was.
    ///
    /// `progress` is called before each simulation with the number, from 1 on, and how many there
    /// are at most. Once it returns false no further design is simulated.
    ///
    /// # Errors
    /// `InvalidRequest` for a value that a key cannot hold; `Io`.
    fn rank(
        &self,
        workload: &Workload,
        proposals: &[Proposal],
        progress: &mut dyn FnMut(usize, usize) -> bool,
    ) -> Result<Vec<RankedDesign>>;
}

/// A proposal among those that were ranked.
#[derive(Clone, Debug)]
pub struct RankedDesign {
    /// Where it is among the proposals.
    pub proposal: usize,
    /// What it costs by its simulation; `None` if it was only estimated.
    pub simulated: Option<SimulatedCosts>,
}

/// What a simulated design costs, at the full size.
#[derive(Clone, Debug)]
pub struct SimulatedCosts {
    /// What all questions cost per second, in rows.
    pub reads: f64,
    /// What all writes cost per second, in rows.
    pub load: f64,
    /// The share of the writes, from 0 to 1, that the busiest region takes.
    pub share: f64,
    /// The workload limits that it breaks.
    pub refusals: Vec<String>,
    /// How each question is read: the way, rows and ranges.
    pub questions: Vec<(Way, f64, f64)>,
}
