//! A simulation as text lines.

use rowhouse::advise::{QuestionCost, Simulation, TableSpread, Workload};

use super::columns::{Align, aligned};
use crate::counted::counted;
use crate::wrapped::wrapped;

/// The most characters in a line with sentences, unless a word is longer.
const LINE_CHARS: usize = 100;
/// From an eighth to the whole.
const BARS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];

/// Returns a simulation result as lines.
pub(crate) fn simulation_lines(workload: &Workload, simulation: &Simulation) -> Vec<String> {
    let mut lines = vec![format!("key {}", simulation.key)];
    lines.extend(simulation.indexes.iter().map(|index| format!("index {index}")));
    lines.push(scale(workload, simulation));
    lines.push(String::new());
    lines.extend(spread_lines(&simulation.spread.tables));
    lines.push(sizes(simulation));
    if !simulation.questions.is_empty() {
        lines.push(String::new());
        lines.extend(question_lines(simulation));
    }
    lines.push(String::new());
    lines.push(format!(
        "cost: reads {} rows per second, writes {}; score {}; busiest region: {}",
        number(simulation.reads()),
        number(simulation.load(workload)),
        number(simulation.score(workload)),
        percent(simulation.share())
    ));
    lines.extend(simulation.warnings.iter().flat_map(|warning| broken(&warning.to_string())));
    lines
}

/// States how the simulation compares with the real table.
fn scale(workload: &Workload, simulation: &Simulation) -> String {
    let rows = counted(simulation.rows, "row");
    let divides = simulation.rows.div_ceil(workload.regions() as u64);
    let size = if simulation.scale > 1.0 {
        format!(", one for {} of the real table", number(simulation.scale))
    } else {
        String::new()
    };
    format!(
        "{rows}{size}; a region divides at {}; seed {}",
        counted(divides, "row"),
        workload.seed()
    )
}

fn spread_lines(tables: &[TableSpread]) -> Vec<String> {
    let head =
        ["writes", "number", "regions", "busiest region", "worst", "busiest server", "over time"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows.extend(tables.iter().map(|table| {
        let name = table.index.as_ref().map_or("table".to_owned(), |name| format!("index {name}"));
        vec![
            format!("  {name}"),
            table.writes.to_string(),
            table.regions().to_string(),
            percent(table.median()),
            percent(table.worst()),
            percent(table.median_of_servers()),
            over_time(table),
        ]
    }));
    let right = Align::Right;
    aligned(&[Align::Left, right, right, right, right, right, Align::Left], &rows)
}

/// Returns the busiest region's share in each interval as a bar with up to eight eighths.
fn over_time(table: &TableSpread) -> String {
    let bar = |share: f64| BARS[((share * 8.0).ceil() as usize).clamp(1, 8) - 1];
    table.intervals.iter().map(|shares| bar(shares.busiest_region)).collect()
}

fn sizes(simulation: &Simulation) -> String {
    let row = format!("bytes per row: {:.0}", simulation.bytes_per_row);
    match simulation.spread.entries_per_row() {
        0.0 => row,
        entries => format!(
            "{row}; entries per row: {entries:.1}, with keys of {:.0} bytes",
            simulation.entry_bytes_per_row
        ),
    }
}

/// Returns two lines for each question: the text and way, and the numbers.
fn question_lines(simulation: &Simulation) -> Vec<String> {
    let head = [
        "questions",
        "ranges",
        "rows read",
        "at full size",
        "returned",
        "bytes read",
        "bytes returned",
        "files",
        "blocks",
        "µs CPU",
    ];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    rows.extend(simulation.questions.iter().map(question_row));
    let mut columns = vec![Align::Right; head.len()];
    columns[0] = Align::Left;
    let mut numbers = aligned(&columns, &rows).into_iter();
    let mut lines: Vec<String> = numbers.next().into_iter().collect();
    let texts = simulation.questions.iter().map(question_text);
    lines.extend(texts.zip(numbers).flat_map(|(text, numbers)| [text, numbers]));
    lines
}

/// Returns a question and the way by which it is read.
fn question_text(cost: &QuestionCost) -> String {
    let text = format!("  {}, {}", cost.question, cost.way);
    if cost.way == cost.way_real { text } else { format!("{text}, at full size {}", cost.way_real) }
}

fn question_row(cost: &QuestionCost) -> Vec<String> {
    vec![
        String::new(),
        number(cost.ranges),
        number(cost.rows),
        number(cost.rows_real),
        number(cost.rows_returned),
        number(cost.bytes.round()),
        number(cost.bytes_returned.round()),
        number(cost.files),
        number(cost.blocks),
        number((cost.cpu.as_secs_f64() * 1e6).round()),
    ]
}

/// Breaks a sentence into lines; those after the first are indented.
pub(super) fn broken(sentence: &str) -> Vec<String> {
    wrapped(sentence, LINE_CHARS, "  ")
}

/// Returns a share as a percentage.
pub(super) fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}

/// Returns a number with a decimal if it is small.
pub(super) fn number(number: f64) -> String {
    if number.fract() == 0.0 || number >= 100.0 {
        format!("{number:.0}")
    } else {
        format!("{number:.1}")
    }
}
