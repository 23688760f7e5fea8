//! Advice as text lines.

use rowhouse::advise::{Advice, AdviceStep, AdvisedDesign, Workload};

use super::columns::{Align, aligned};
use super::text::{broken, number, percent};

/// How many designs that were only estimated are printed.
const LISTED: usize = 4;

/// Returns how far a design comparison is.
pub(crate) fn step_text(step: &AdviceStep<'_>) -> String {
    format!("simulating design {} of at most {}: {}", step.number, step.count, step.design)
}

/// Returns a design comparison as lines, with commands for the table with this name; without one,
/// it is NAME.
pub(crate) fn advice_lines(
    workload: &Workload,
    advice: &Advice,
    table: Option<&str>,
) -> Vec<String> {
    let mut lines: Vec<String> = advice.reasons.iter().flat_map(|it| broken(it)).collect();
    lines.extend(advice.trade.iter().flat_map(|it| broken(it)));
    if !advice.gives_up.is_empty() {
        lines.push("It gives up:".to_owned());
        lines.extend(advice.gives_up.iter().flat_map(|lost| broken(&format!("- {lost}"))));
    }
    lines.extend(advice.tall_or_wide.iter().flat_map(|it| broken(it)));
    lines.push(String::new());
    lines.extend(designs(advice));
    lines.push(String::new());
    lines.extend(broken(&format!(
        "reads: rows per second, ten for each range; writes: ten for each row and entry, times the \
         busiest region's share of {} servers, if it is more than one part; score: both; * was only \
         estimated; seed {}",
        workload.servers(),
        workload.seed()
    )));
    lines.push(String::new());
    let named = |command: &String| match table {
        Some(table) => command.replace("'NAME'", &format!("'{table}'")),
        None => command.clone(),
    };
    let indented = |command: &String| -> Vec<String> {
        named(command).lines().map(|line| format!("  {line}")).collect()
    };
    lines.push(match table {
        Some(_) => "In the shell:".to_owned(),
        None => "In the shell, with the name of the table for NAME:".to_owned(),
    });
    if !advice.steps.is_empty() {
        lines.extend(advice.steps.iter().flat_map(indented));
        if advice.steps.iter().any(|step| step.starts_with("promote_index")) {
            lines.push("The last one drops the old key, which promote_index leaves.".to_owned());
        }
        lines.push("Or, for a new table:".to_owned());
    }
    lines.extend(indented(&advice.declaration));
    lines
}

/// Returns two lines for each design: the numbers, and the key with the indexes.
fn designs(advice: &Advice) -> Vec<String> {
    let head = ["", "design", "reads", "writes", "score", "busiest region", "bytes/row"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    let mut texts = Vec::new();
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
        texts.push(format!("     {}", design.text()));
        if !design.refusals.is_empty() && (!is_estimated || design.is_present) {
            let why = format!("{} is refused: {}", at + 1, design.refusals.join("; "));
            refused.extend(broken(&why));
        }
    }
    let left = Align::Left;
    let right = Align::Right;
    let mut numbers = aligned(&[right, left, right, right, right, right, right], &rows).into_iter();
    let mut lines: Vec<String> = numbers.next().into_iter().collect();
    lines.extend(numbers.zip(texts).flat_map(|(numbers, text)| [numbers, text]));
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
        number(design.reads.round()),
        number(design.load.round()),
        number(design.score.round()),
        percent(design.share),
        bytes.unwrap_or_default(),
    ]
}
