//! What a design makes cheaper and what dearer, in the terms of the literature on row keys.

use rowhouse_schema::{DesignKind, Workload};

use super::advice::AdvisedDesign;

/// Costs that differ by a smaller factor are the same.
const SAME: f64 = 1.1;
/// A design is an alternative if its reads or writes are so many times cheaper.
const CLEARLY: f64 = 1.25;

/// Returns the best design, by the score, that breaks no limit and has clearly cheaper reads or
/// clearly cheaper writes than this one.
pub(super) fn alternative<'d>(
    best: &AdvisedDesign,
    designs: impl Iterator<Item = (usize, &'d AdvisedDesign)>,
) -> Option<usize> {
    let is_cheaper = |other: &AdvisedDesign| {
        other.reads * CLEARLY < best.reads || other.load * CLEARLY < best.load
    };
    let others = designs.filter(|(_, other)| {
        other.refusals.is_empty() && other.text() != best.text() && is_cheaper(other)
    });
    let least = others.min_by(|(_, one), (_, other)| one.score.total_cmp(&other.score));
    least.map(|(at, _)| at)
}

/// Returns sentences: what the advised design makes cheaper and dearer than the present one, or
/// than the plain key, and what the alternative would.
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
            .push("No design that was simulated has clearly cheaper reads or writes.".to_owned()),
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

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    /// Returns a design with these costs in rows per second, and the busiest region's share.
    fn design(
        key: &str,
        indexes: &[&str],
        kind: DesignKind,
        (reads, load, share): (f64, f64, f64),
    ) -> AdvisedDesign {
        AdvisedDesign {
            key: key.to_owned(),
            indexes: indexes.iter().map(|&index| index.to_owned()).collect(),
            kind,
            is_present: false,
            is_plain: false,
            simulation: None,
            reads,
            load,
            cost: reads,
            share,
            score: reads + load,
            refusals: Vec::new(),
        }
    }

    fn promoted() -> AdvisedDesign {
        let index = "by_sender [sender][at desc]";
        let costs = (2_000.0, 1_000.0, 0.2);
        design("[user string][at millis desc]", &[index], DesignKind::Promoted, costs)
    }

    fn sequential() -> AdvisedDesign {
        let costs = (50_000.0, 2_000.0, 1.0);
        design("[at millis][user string]", &[], DesignKind::Sequential, costs)
    }

    fn hashed() -> AdvisedDesign {
        let key = "[hash 2 of user][user string][at millis desc]";
        design(key, &[], DesignKind::Random, (9_000.0, 500.0, 0.13))
    }

    fn check(designs: &[AdvisedDesign], expected: Expect) {
        let workload = Workload::parse("field user string: 9 values\nwrite 50/s").unwrap();
        let others = designs.iter().enumerate();
        let alternative = alternative(&designs[0], others);
        let trade = trade(&workload, designs, 0, alternative);
        expected.assert_eq(&trade.join("\n"));
    }

    #[test]
    fn a_trade_names_techniques_factors_and_the_second_best() {
        let present = AdvisedDesign { is_present: true, ..sequential() };
        check(
            &[promoted(), hashed(), present],
            expect![[r#"
            Field promotion and a secondary index, against the present design [at millis][user string]: reads 25 times cheaper (2000 instead of 50000 rows/s), writes 2.0 times cheaper (1000 instead of 2000 rows/s); the busiest region takes 20 % of them instead of 100 %.
            Second best, the other way: [hash 2 of user][user string][at millis desc], a hashed key: reads 4.5 times dearer (9000 instead of 2000 rows/s), writes 2.0 times cheaper (500 instead of 1000 rows/s); the busiest region takes 13 % of them instead of 20 %. It is the better one above 700 writes per second."#]],
        );
    }

    #[test]
    fn without_a_present_design_the_plain_key_is_the_comparison() {
        let plain = AdvisedDesign { is_plain: true, ..sequential() };
        check(
            &[hashed(), plain.clone(), promoted()],
            expect![[r#"
            A hashed key, against the plain key [at millis][user string]: reads 5.6 times cheaper (9000 instead of 50000 rows/s), writes 4.0 times cheaper (500 instead of 2000 rows/s); the busiest region takes 13 % of them instead of 100 %.
            Second best, the other way: [user string][at millis desc] + by_sender [sender][at desc], field promotion and a secondary index: reads 4.5 times cheaper (2000 instead of 9000 rows/s), writes 2.0 times dearer (1000 instead of 500 rows/s); the busiest region takes 20 % of them instead of 13 %. It is the better one below 700 writes per second."#]],
        );
        // Nothing trades the other way with a design that is best in both.
        let best = AdvisedDesign { reads: 10.0, load: 10.0, ..promoted() };
        check(
            &[best, plain],
            expect![[r#"
            Field promotion and a secondary index, against the plain key [at millis][user string]: reads 5000 times cheaper (10 instead of 50000 rows/s), writes 200 times cheaper (10 instead of 2000 rows/s); the busiest region takes 20 % of them instead of 100 %.
            No design that was simulated has clearly cheaper reads or writes."#]],
        );
    }

    #[test]
    fn a_design_that_breaks_a_limit_is_no_second_best() {
        let refused = AdvisedDesign { refusals: vec!["too many".to_owned()], ..hashed() };
        check(
            &[promoted(), refused],
            expect!["No design that was simulated has clearly cheaper reads or writes."],
        );
    }

    #[test]
    fn costs_within_a_tenth_are_the_same() {
        let present =
            AdvisedDesign { is_present: true, reads: 2_100.0, load: 4_000.0, ..promoted() };
        let present = AdvisedDesign { indexes: Vec::new(), ..present };
        check(
            &[promoted(), present],
            expect![[r#"
            Field promotion and a secondary index, against the present design [user string][at millis desc]: reads cost the same (2000 rows/s), writes 4.0 times cheaper (1000 instead of 4000 rows/s); the busiest region takes 20 % of them in both.
            No design that was simulated has clearly cheaper reads or writes."#]],
        );
    }
}
