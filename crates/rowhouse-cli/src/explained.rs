//! How a plan is answered, in words: for `rowhouse key explain` and the shell's `explain`.

use std::fmt::Write;

use rowhouse::key::KeySchema;
use rowhouse::query::Plan;

/// Returns the remarks on a plan beyond the plan text.
pub(crate) fn explained(plan: &Plan, schema: &KeySchema) -> String {
    plan.reading() + &described(schema)
}

/// Returns each stored field's description, one per line.
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
