//! Findings about a design, each with the rule and the number that led to it.

use std::fmt;

use rowhouse_schema::{Design, Workload};

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
    let rows = simulation.questions.iter().map(|it| it.rows_max_real());
    let refusals = workload.broken_limits(rows, &simulation.spread).into_iter();
    let refusals = refusals.map(|message| Warning { is_refusal: true, message });
    let others = findings(design, simulation).into_iter();
    refusals.chain(others.map(|message| Warning { is_refusal: false, message })).collect()
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
