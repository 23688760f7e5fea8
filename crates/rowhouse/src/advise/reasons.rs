//! The reasons for an advice, in sentences, and the way to it.

use rowhouse_schema::{FieldType, KeySchema, WideForm, Workload};

use super::advice::AdvisedDesign;

/// Differences below a tenth are not worth a sentence.
const WORTH_SAYING: f64 = 1.1;

/// Returns the advice and the reasons.
pub(super) fn reasons(
    workload: &Workload,
    designs: &[AdvisedDesign],
    present: Option<usize>,
    is_change: bool,
) -> Vec<String> {
    let Some(best) = designs.first() else {
        return vec!["No design was found.".to_owned()];
    };
    if !best.refusals.is_empty() {
        let mut reasons = vec!["Every design breaks a limit; the best one:".to_owned()];
        reasons.extend(best.refusals.iter().cloned());
        return reasons;
    }
    let Some(present) = present.map(|at| &designs[at]) else {
        let mut reasons = vec![format!("Advised: {}", best.text())];
        reasons.extend(costs(best));
        reasons.extend(designs.get(1).map(|next| compared(best, next, "the next best")));
        return reasons;
    };
    if !is_change {
        return vec![format!(
            "Nothing beats the present design by a tenth: {}, score {:.0}; the best other one: {}, \
             score {:.0}.",
            present.text(),
            present.score,
            designs.iter().find(|it| !it.is_present).map_or("none".to_owned(), AdvisedDesign::text),
            designs.iter().find(|it| !it.is_present).map_or(0.0, |design| design.score),
        )];
    }
    let mut reasons = vec![format!("Advised: {}", best.text())];
    reasons.extend(present.refusals.iter().map(|why| format!("The present design: {why}.")));
    reasons.push(compared(best, present, "the present design"));
    reasons.extend(questions(workload, best, present));
    reasons
}

/// States what a design costs.
fn costs(design: &AdvisedDesign) -> Option<String> {
    let simulation = design.simulation.as_ref()?;
    let slowest = simulation.questions.iter().max_by(|one, other| {
        (one.rows_real * one.per_second).total_cmp(&(other.rows_real * other.per_second))
    })?;
    Some(format!(
        "The question that costs most, `{}`, reads {:.0} rows {} each time.",
        slowest.question, slowest.rows_real, slowest.way_real
    ))
}

fn compared(design: &AdvisedDesign, other: &AdvisedDesign, name: &str) -> String {
    format!(
        "It costs {:.0} rows per second, and its busiest region takes {:.0} % of the writes; {name} \
         costs {:.0}, with {:.0} %.",
        design.score,
        design.share * 100.0,
        other.score,
        other.share * 100.0
    )
}

/// States which questions read fewer rows.
fn questions(workload: &Workload, design: &AdvisedDesign, other: &AdvisedDesign) -> Vec<String> {
    let (Some(design), Some(other)) = (&design.simulation, &other.simulation) else {
        return Vec::new();
    };
    let costs = design.questions.iter().zip(&other.questions).zip(workload.questions());
    let fewer = costs.filter_map(|((new, old), _)| {
        let is_less = old.rows_real > new.rows_real * WORTH_SAYING + 1.0;
        is_less.then(|| {
            format!(
                "`{}` reads {:.0} rows {} instead of {:.0} {}.",
                new.question, new.rows_real, new.way_real, old.rows_real, old.way_real
            )
        })
    });
    fewer.collect()
}

/// Returns what a design does worse than others that break no limit.
pub(super) fn gives_up(
    workload: &Workload,
    designs: &[AdvisedDesign],
    advised: usize,
) -> Vec<String> {
    let Some(best) = designs.get(advised) else { return Vec::new() };
    let mut lost = Vec::new();
    let others = || designs.iter().filter(|it| it.refusals.is_empty() && it.text() != best.text());
    let simulated = others().filter_map(|other| Some((other, other.simulation.as_ref()?)));
    if let Some(spread) = others().min_by(|a, b| a.share.total_cmp(&b.share))
        && best.share > spread.share * WORTH_SAYING + 0.01
    {
        lost.push(format!(
            "{} spreads writes further: its busiest region takes {:.0} %.",
            spread.text(),
            spread.share * 100.0
        ));
    }
    lost.extend(other_types(workload, best));
    let Some(own) = &best.simulation else { return lost };
    for (at, _) in workload.questions().iter().enumerate() {
        let least = simulated
            .clone()
            .filter(|(other, _)| other.text() != best.text())
            .min_by(|(_, a), (_, b)| a.questions[at].rows.total_cmp(&b.questions[at].rows));
        let Some((other, cost)) = least.map(|(other, it)| (other, &it.questions[at])) else {
            continue;
        };
        if own.questions[at].rows_real > cost.rows_real * WORTH_SAYING + 1.0 {
            lost.push(format!(
                "`{}` reads {:.0} rows; under {} it reads {:.0}.",
                cost.question,
                own.questions[at].rows_real,
                other.text(),
                cost.rows_real
            ));
        }
    }
    if !best.indexes.is_empty() {
        lost.push(format!(
            "Each row writes {:.1} entries of indexes.",
            own.spread.entries_per_row()
        ));
    }
    lost
}

/// Names the fields that are domains in the workload and strings in a key, where names below a
/// domain are not adjacent.
fn other_types(workload: &Workload, design: &AdvisedDesign) -> Vec<String> {
    let Ok(key) = KeySchema::parse(&design.key) else { return Vec::new() };
    let changed = key.fields().iter().filter(|field| {
        let declared = workload.field_type(field.name());
        declared == Some(&FieldType::Domain) && *field.field_type() != FieldType::Domain
    });
    let changed = changed.map(|field| {
        format!(
            "`{}` is a `{}`: a `domain` can stand only last in a key, and names below one domain are \
             not adjacent here.",
            field.name(),
            field.field_type()
        )
    });
    changed.collect()
}

/// States whether a design's wide form is worth considering.
pub(super) fn tall_or_wide(wide: Option<&WideForm>, tall: &AdvisedDesign) -> Vec<String> {
    let Some(wide) = wide else { return Vec::new() };
    let mut said = vec![format!(
        "Wide instead of tall: KEY '{}', COLUMNS '{}'. {:.0} rows, the largest of which has the \
         cells of {:.0} tall rows.",
        wide.key, wide.columns, wide.rows, wide.largest
    )];
    let columns = wide.columns.columns().len();
    if columns > 1 {
        said.push(format!("A question reads a range of qualifiers for each of {columns} columns."));
    }
    said.push(if wide.largest > wide.region {
        format!(
            "A region holds {:.0} tall rows, and a row is never divided: stay tall.",
            wide.region
        )
    } else if wide.share > tall.share * WORTH_SAYING {
        format!(
            "A row is never divided: the busiest region takes {:.0} % of the writes instead of \
             {:.0} %. Stay tall.",
            wide.share * 100.0,
            tall.share * 100.0
        )
    } else {
        "It reads the same cells and spreads writes alike. Take it if changes of a whole row must \
         be atomic; a get of one cell takes more time than of a tall row."
            .to_owned()
    });
    said
}
