//! What a design makes cheaper and what dearer, in the terms of the literature on row keys.

use rowhouse_schema::{DesignKind, Workload};

use super::advice::AdvisedDesign;

/// Costs that differ by a smaller factor are the same.
const SAME: f64 = 1.1;

/// Returns the best design, by the score, that breaks no limit and has clearly cheaper reads or
/// clearly cheaper writes than this one.
pub(super) fn alternative<'d>(
    best: &AdvisedDesign,
    designs: impl Iterator<Item = (usize, &'d AdvisedDesign)>,
) -> Option<usize> {
    let is_cheaper =
        |other: &AdvisedDesign| other.reads * SAME < best.reads || other.load * SAME < best.load;
    let others = designs.filter(|(_, other)| {
        other.refusals.is_empty() && other.text() != best.text() && is_cheaper(other)
    });
    let least = others.min_by(|(_, one), (_, other)| one.score.total_cmp(&other.score));
    least.map(|(at, _)| at)
}

/// Returns sentences: what the advised design makes cheaper and dearer than the present one, or than
/// the plain key, and what the alternative would.
pub(super) fn trade(
    workload: &Workload,
    designs: &[AdvisedDesign],
    advised: usize,
    alternative: Option<usize>,
) -> Vec<String> {
    let Some(best) = designs.get(advised) else { return Vec::new() };
    let mut sentences = Vec::new();
    let present = designs.iter().find(|design| design.is_present);
    let plain = || designs.iter().find(|design| design.is_plain);
    if let Some(from) = present.or_else(plain).filter(|from| from.text() != best.text()) {
        let name = if from.is_present { "the present design" } else { "the plain key" };
        sentences.push(format!(
            "{}, against {name} {}: {}.",
            capitalized(&technique(best)),
            from.text(),
            differences(from, best)
        ));
    }
    match alternative.map(|at| &designs[at]) {
        Some(other) => sentences.push(format!(
            "Second best, the other way: {}, {}: {}.{}",
            other.text(),
            technique(other),
            differences(best, other),
            turning_point(workload, best, other)
        )),
        None => sentences
            .push("No design that was simulated has cheaper reads or cheaper writes.".to_owned()),
    }
    sentences
}

/// Names how a design arranges rows.
fn technique(design: &AdvisedDesign) -> String {
    let key = match design.kind {
        DesignKind::Sequential => "a sequential key",
        DesignKind::Salted => "salting",
        DesignKind::Promoted => "field promotion",
        DesignKind::Bucketed => "field promotion with salting",
        DesignKind::Reversed => "a reversed key",
        DesignKind::Random => "a hashed key",
        _ => design.kind.name(),
    };
    match design.indexes.len() {
        0 => key.to_owned(),
        1 => format!("{key} and a secondary index"),
        count => format!("{key} and {count} secondary indexes"),
    }
}

/// States what reads and writes cost in `to`, compared with `from`.
fn differences(from: &AdvisedDesign, to: &AdvisedDesign) -> String {
    let reads = difference("reads", from.reads, to.reads);
    let writes = difference("writes", from.load, to.load);
    let share = |design: &AdvisedDesign| format!("{:.0} %", design.share * 100.0);
    let shares = if share(from) == share(to) {
        format!("the busiest region takes {} of them in both", share(to))
    } else {
        format!("the busiest region takes {} of them instead of {}", share(to), share(from))
    };
    format!("{reads}, {writes}; {shares}")
}

fn difference(what: &str, from: f64, to: f64) -> String {
    let from = from.max(f64::MIN_POSITIVE);
    let to = to.max(f64::MIN_POSITIVE);
    let factor = (to / from).max(from / to);
    let word = if to > from { "dearer" } else { "cheaper" };
    let times = if factor >= 10.0 { format!("{factor:.0}") } else { format!("{factor:.1}") };
    if factor < SAME {
        format!("{what} cost the same ({} rows/s)", costs(to))
    } else {
        format!("{what} {times} times {word} ({} instead of {} rows/s)", costs(to), costs(from))
    }
}

fn costs(cost: f64) -> String {
    if cost >= 10.0 { format!("{cost:.0}") } else { format!("{cost:.1}") }
}

/// States from which rate of writes on another design is better, if there is one.
fn turning_point(workload: &Workload, best: &AdvisedDesign, other: &AdvisedDesign) -> String {
    let writes = workload.writes_per_second();
    let per_write = (best.load - other.load) / writes;
    let rate = (other.reads - best.reads) / per_write;
    if !rate.is_finite() || rate <= 0.0 {
        return String::new();
    }
    let side = if per_write > 0.0 { "above" } else { "below" };
    format!(" It is the better one {side} {} writes per second.", costs(rate))
}

fn capitalized(text: &str) -> String {
    let mut chars = text.chars();
    let first = chars.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(chars).collect()
}
