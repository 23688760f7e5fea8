//! What a design comparison returns.

use rowhouse_model::Result;
use rowhouse_schema::{DesignKind, Proposal, ROWS_PER_WRITE, WideForm, Workload};

use super::simulation::Simulation;
use crate::Database;

/// Designs for a workload, compared, and the reasons for the best one.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Advice {
    /// The designs, the best first; those that break a limit come last.
    pub designs: Vec<AdvisedDesign>,
    /// Where the present design is among them, if the workload names one.
    pub present: Option<usize>,
    /// Whether a design is better than the present one, or there is none: the first design is then
    /// the advice.
    pub is_change: bool,
    /// The advice in a sentence, and the reasons.
    pub reasons: Vec<String>,
    /// Which reads and writes became cheaper and which dearer, how many times, in the terms of the
    /// literature on row keys.
    pub trade: Vec<String>,
    /// The second best design that trades the other way: cheaper reads for dearer writes, or
    /// cheaper writes for dearer reads; where it is among the designs.
    pub alternative: Option<usize>,
    /// What the advised design does worse than others.
    pub gives_up: Vec<String>,
    /// The advised design with the last key fields in qualifiers, if it has such a form.
    pub wide: Option<WideForm>,
    /// Whether that form is worth considering, and why, in sentences.
    pub tall_or_wide: Vec<String>,
    /// The declaration for a table with the advised design, for the shell.
    pub declaration: String,
    /// The commands that lead from the present table to the advised one.
    pub steps: Vec<String>,
}

impl Advice {
    /// Leaves out the steps that a database cannot take: on Apache HBase no index is promoted. The
    /// last reason then states this.
    ///
    /// # Errors
    /// Errors as for calls to the database.
    pub async fn fit_to(&mut self, database: &Database) -> Result<()> {
        let promotes = self.steps.iter().any(|step| step.starts_with(PROMOTE));
        if promotes && !database.backend().promotes_indexes().await? {
            self.steps.clear();
            self.reasons.push(
                "The server promotes no index: create a table with the key, and copy the rows to it."
                    .to_owned(),
            );
        }
        Ok(())
    }
}

/// How a step begins that promotes an index.
const PROMOTE: &str = "promote_index";

/// A design and what it costs.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct AdvisedDesign {
    /// The key template.
    pub key: String,
    /// The index declarations.
    pub indexes: Vec<String>,
    /// How it spreads the writes.
    pub kind: DesignKind,
    /// Whether it is the present design.
    pub is_present: bool,
    /// Whether the key has the fields as the workload lists them, and there is nothing else.
    pub is_plain: bool,
    /// The simulation; `None` if it was only estimated, because others are better.
    pub simulation: Option<Simulation>,
    /// What all questions cost per second, in rows.
    pub reads: f64,
    /// What all writes cost per second, in rows: see [`Spread::load`](super::Spread::load).
    pub load: f64,
    /// What all questions and index entries cost per second, in rows.
    pub cost: f64,
    /// The share of the writes, from 0 to 1, that the busiest region takes.
    pub share: f64,
    /// The score: `reads` and `load`.
    pub score: f64,
    /// The workload limits that it breaks.
    pub refusals: Vec<String>,
}

impl AdvisedDesign {
    pub(super) fn of(
        workload: &Workload,
        proposal: &Proposal,
        simulation: Option<Simulation>,
    ) -> Self {
        let (reads, spread, refusals) = match &simulation {
            Some(simulation) => {
                let refusals = simulation.warnings.iter().filter(|warning| warning.is_refusal);
                let refusals = refusals.map(|warning| warning.message.clone()).collect();
                (simulation.reads(), &simulation.spread, refusals)
            }
            None => {
                let estimate = &proposal.estimate;
                (estimate.reads, &estimate.spread, estimate.broken_limits(workload))
            }
        };
        let load = spread.load(workload);
        let entries = workload.writes_per_second() * spread.entries_per_row();
        let share = spread.median();
        Self {
            key: proposal.design.key().to_string(),
            indexes: proposal.design.indexes().iter().map(ToString::to_string).collect(),
            kind: proposal.kind,
            is_present: proposal.is_present,
            is_plain: is_plain(workload, proposal),
            reads,
            load,
            cost: reads + ROWS_PER_WRITE * entries,
            share,
            score: reads + load,
            simulation,
            refusals,
        }
    }

    /// Bytes in a row with its entry keys, if it was simulated.
    pub(super) fn bytes(&self) -> f64 {
        let simulation = self.simulation.as_ref();
        simulation.map_or(f64::INFINITY, |it| it.bytes_per_row + it.entry_bytes_per_row)
    }

    /// The template and the indexes as one text.
    pub fn text(&self) -> String {
        let indexes = self.indexes.iter().map(|index| format!(" + {index}"));
        format!("{}{}", self.key, indexes.collect::<String>())
    }
}

/// Returns true if a key has the fields as the workload lists them, and there is nothing else.
pub(super) fn is_plain(workload: &Workload, proposal: &Proposal) -> bool {
    let key = proposal.design.key();
    proposal.design.indexes().is_empty()
        && key.computed().is_empty()
        && matches!(proposal.kind, DesignKind::Sequential | DesignKind::Promoted)
        && key.fields().iter().map(|field| field.name()).eq(workload.field_names())
}
