//! The designs for a workload, and the simulation that runs or ran last.

use std::sync::Arc;

use parking_lot::Mutex;
use rowhouse_model::{Result, TableName};
use rowhouse_schema::{Proposal, Workload};

use crate::simulator::SimulatedCosts;

/// The designs for a workload.
pub(super) struct Designs {
    pub(super) workload: Workload,
    /// The table from which values come, if it is not the workload that declares them.
    pub(super) table: Option<TableName>,
    /// The best first.
    pub(super) ranked: Vec<Ranked>,
    /// True if the simulation had to end before all that may be the best were simulated.
    pub(super) is_cut: bool,
}

/// A design, and what it costs: by the simulation, or else by the estimate.
pub(super) struct Ranked {
    pub(super) proposal: Proposal,
    pub(super) simulated: Option<SimulatedCosts>,
}

/// The simulation that runs, or the last one.
#[derive(Default)]
pub(in crate::web) struct Simulations(Mutex<Option<Arc<Simulation>>>);

pub(super) struct Simulation {
    pub(super) number: i64,
    /// The fields of the form: the workload and the table.
    pub(super) fields: Vec<(String, String)>,
    pub(super) state: Mutex<Progress>,
}

pub(super) enum Progress {
    Estimating,
    /// Which design is being simulated, and how many are at most.
    Simulating(usize, usize),
    Ended(Box<Result<Designs>>),
}

impl Simulations {
    /// Begins a simulation, whose number is larger than that of all earlier ones.
    pub(super) fn begin(&self, fields: Vec<(String, String)>, now_millis: i64) -> Arc<Simulation> {
        let mut latest = self.0.lock();
        let number = latest.as_ref().map_or(0, |it| it.number + 1).max(now_millis);
        let state = Mutex::new(Progress::Estimating);
        let simulation = Arc::new(Simulation { number, fields, state });
        *latest = Some(Arc::clone(&simulation));
        simulation
    }

    pub(super) fn get(&self, number: i64) -> Option<Arc<Simulation>> {
        self.0.lock().clone().filter(|simulation| simulation.number == number)
    }
}
