//! Findings about a design, each with the rule and the number that led to it.

use std::fmt;

use rowhouse_schema::{Design, DesignEstimate, Spread, Workload};

use super::simulation::Simulation;

/// A region with a larger share of the writes is a hotspot, if there are more servers than one.
const HOT_SHARE: f64 = 0.5;
/// Entries for each row from which indexes are a warning.
const ENTRIES_MANY: f64 = 3.0;
/// A question that reads more rows for each that it returns reads too much.
const READ_PER_RETURNED: f64 = 100.0;

/// A finding about a design.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Warning {
    /// Whether the design breaks a workload limit, so that it is refused.
    pub is_refusal: bool,
    /// The rule, and the number that led to the finding.
    pub message: String,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", if self.is_refusal { "refused: " } else { "" }, self.message)
    }
}

/// Returns the limits that a design breaks, then other findings.
pub(super) fn warnings(
    workload: &Workload,
    design: &Design,
    simulation: &Simulation,
) -> Vec<Warning> {
    let refusals = broken(workload, simulation).into_iter();
    let refusals = refusals.map(|message| Warning { is_refusal: true, message });
    let others = findings(design, simulation).into_iter();
    refusals.chain(others.map(|message| Warning { is_refusal: false, message })).collect()
}

/// Returns the workload limits that a design breaks.
fn broken(workload: &Workload, simulation: &Simulation) -> Vec<String> {
    let questions = &simulation.questions;
    let rows = questions.iter().map(|it| (it.question.clone(), it.rows_max_real()));
    broken_limits(workload, rows, &simulation.spread)
}

/// Returns the workload limits that a design breaks by its estimate, which estimates the mean row
/// count, not the greatest one.
pub(super) fn broken_by_estimate(workload: &Workload, estimate: &DesignEstimate) -> Vec<String> {
    let questions = workload.questions().iter().zip(&estimate.questions);
    let rows = questions.map(|(question, it)| (question.to_string(), it.rows_real));
    broken_limits(workload, rows, &estimate.spread)
}

fn broken_limits(
    workload: &Workload,
    questions: impl Iterator<Item = (String, f64)>,
    spread: &Spread,
) -> Vec<String> {
    let limits = workload.limits();
    let mut broken = Vec::new();
    if let Some(max) = limits.rows_read {
        let too_many = questions.filter(|(_, rows)| *rows > max as f64);
        broken.extend(too_many.map(|(question, rows)| {
            format!(
                "a question reads too many rows: question=`{question}`, rows={rows:.0}, max={max}"
            )
        }));
    }
    let share = spread.median() * 100.0;
    if let Some(max) = limits.region_share.map(|max| max * 100.0).filter(|max| share > *max) {
        broken.push(format!(
            "a region takes too many of the writes: share={share:.0} %, max={max:.0} %"
        ));
    }
    let writes = spread.median_of_servers() * workload.writes_per_second();
    if let Some(max) = limits.server_writes.filter(|max| writes > *max) {
        broken.push(format!("a server takes too many writes: rate={writes:.0}/s, max={max:.0}/s"));
    }
    broken
}

fn findings(design: &Design, simulation: &Simulation) -> Vec<String> {
    let mut found: Vec<String> = design.key().check().iter().map(ToString::to_string).collect();
    for table in &simulation.spread.tables {
        let share = table.median();
        if share > HOT_SHARE {
            let of = table.index.as_ref().map_or_else(String::new, |it| format!(" of index {it}"));
            found.push(format!(
                "hotspot: one region{of} takes {:.0} % of the writes, more than {:.0} %",
                share * 100.0,
                HOT_SHARE * 100.0
            ));
        }
    }
    let entries = simulation.spread.entries_per_row();
    if entries >= ENTRIES_MANY {
        found.push(format!("entries: each row writes {entries:.1} entries of indexes"));
    }
    if simulation.rows_stored < simulation.rows {
        found.push(format!(
            "keys are not unique: {} of {} rows have the key of an earlier one",
            simulation.rows - simulation.rows_stored,
            simulation.rows
        ));
    }
    for question in &simulation.questions {
        if question.sorts {
            found.push(format!(
                "order: `{}` reads all of its rows to find the newest",
                question.question
            ));
        }
        let factor = question.rows / question.rows_returned.max(1.0);
        if factor > READ_PER_RETURNED {
            found.push(format!(
                "amplification: `{}` reads {factor:.0} rows for each that it returns",
                question.question
            ));
        }
    }
    found
}
