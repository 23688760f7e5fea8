//! Advice as lines of text.

use rowhouse::advise::{Advice, AdvisedDesign, Workload};

use super::columns::{Align, aligned};
use super::text::{number, percent};

/// Designs that were only estimated, and refused ones, of which lines are printed.
const LISTED: usize = 6;

/// Returns a comparison of designs as lines, with commands for the table of this name; without one,
/// it is NAME.
pub(crate) fn advice_lines(
    workload: &Workload,
    advice: &Advice,
    table: Option<&str>,
) -> Vec<String> {
    let mut lines = advice.reasons.clone();
    if !advice.gives_up.is_empty() {
        lines.push("It gives up:".to_owned());
        lines.extend(advice.gives_up.iter().map(|lost| format!("  {lost}")));
    }
    lines.push(String::new());
    lines.extend(designs(advice));
    lines.push(String::new());
    lines.push(format!(
        "score: rows per second times the share of the busiest region, at least one part of {} \
         servers; * was only estimated; seed {}",
        workload.servers(),
        workload.seed()
    ));
    lines.push(String::new());
    let named = |command: &String| match table {
        Some(table) => format!("  {}", command.replace("'NAME'", &format!("'{table}'"))),
        None => format!("  {command}"),
    };
    lines.push(match table {
        Some(_) => "In the shell:".to_owned(),
        None => "In the shell, with the name of the table for NAME:".to_owned(),
    });
    if !advice.steps.is_empty() {
        lines.extend(advice.steps.iter().map(named));
        if advice.steps.iter().any(|step| step.starts_with("promote_index")) {
            lines.push("The last one drops the old key, which promote_index leaves.".to_owned());
        }
        lines.push("Or, for a new table:".to_owned());
    }
    lines.push(named(&advice.declaration));
    lines
}

fn designs(advice: &Advice) -> Vec<String> {
    let head = ["", "design", "rows/s", "busiest region", "score", "bytes/row", "key and indexes"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    let mut refused = Vec::new();
    let mut left_out = 0;
    let mut estimated = 0;
    for (at, design) in advice.designs.iter().enumerate() {
        let is_estimated = design.simulation.is_none();
        estimated += usize::from(is_estimated);
        if is_estimated && estimated > LISTED && !design.is_present {
            left_out += 1;
            continue;
        }
        rows.push(row(at, design));
        if !design.refusals.is_empty() && (!is_estimated || design.is_present) {
            refused.push(format!("{} is refused: {}", at + 1, design.refusals.join("; ")));
        }
    }
    let (left, right) = (Align::Left, Align::Right);
    let mut lines = aligned(&[right, left, right, right, right, right, left], &rows);
    if left_out > 0 {
        lines.push(format!("and {left_out} more that were estimated: --json lists all"));
    }
    lines.extend(refused);
    lines
}

fn row(at: usize, design: &AdvisedDesign) -> Vec<String> {
    let mark = if design.simulation.is_none() { "*" } else { "" };
    let present = if design.is_present { ", present" } else { "" };
    let bytes = design.simulation.as_ref();
    let bytes = bytes.map(|it| number((it.bytes_per_row + it.entry_bytes_per_row).round()));
    vec![
        format!("{}{mark}", at + 1),
        format!("{}{present}", design.kind.name()),
        number(design.cost.round()),
        percent(design.share),
        number(design.score.round()),
        bytes.unwrap_or_default(),
        design.text(),
    ]
}
