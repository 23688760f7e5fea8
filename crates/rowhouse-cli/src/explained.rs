//! How a plan is answered, in words: for `rowhouse key explain` and the shell's `explain`.

use std::fmt::Write;

use rowhouse::key::KeySchema;
use rowhouse::query::{Plan, RowSequence};

/// Returns the remarks on a plan beyond its text.
pub(crate) fn explained(plan: &Plan, schema: &KeySchema) -> String {
    reading(plan) + &described(schema)
}

/// Returns the number of scans, and where rows are filtered.
fn reading(plan: &Plan) -> String {
    let scans = match (plan.ranges().len(), plan.order().sequence()) {
        (0, _) => return "read: nothing\n".to_owned(),
        (_, RowSequence::AsRead) => "one range after the other",
        (_, RowSequence::Merged) => {
            "the streams side by side, merged by the key without its buckets"
        }
        (_, RowSequence::Physical) => {
            "one range after the other; a query that asks for the order of fields is refused"
        }
    };
    let filter = match (plan.residual(), plan.column_filter()) {
        (Some(_), None) => "on each row's decoded key, by the residual",
        (None, None) => "only in the ranges",
        (Some(_), Some(_)) => "on each row's decoded key, by the residual, then on its columns",
        (None, Some(_)) => "on each row's columns",
    };
    let names: Vec<_> = plan.qualifiers().iter().map(|plan| plan.column().name()).collect();
    let cells = match names.is_empty() {
        true => String::new(),
        false => format!(
            "cells: of {} only matching qualifiers; the store seeks to them\n",
            names.join(", ")
        ),
    };
    format!("read: {scans}\nfilter: {filter}\n{cells}")
}

/// Returns a description of each stored field, one per line.
fn described(schema: &KeySchema) -> String {
    let mut text = "fields:\n".to_owned();
    for field in schema.fields() {
        writeln!(text, "  [{field}] {}", field.order()).expect("writing to a String cannot fail");
    }
    for computed in schema.computed() {
        writeln!(text, "  [{computed}] computed").expect("writing to a String cannot fail");
    }
    text
}
