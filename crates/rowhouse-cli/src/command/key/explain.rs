//! `rowhouse key TEMPLATE explain`: a plan, and how it comes to be.

use std::fmt::Write as _;
use std::io::Write;

use rowhouse::{Field, KeySchema, Plan, RowSequence};
use serde_json::{Value as Json, json};

use super::notation::Notation;
use super::plan::QueryArgs;
use super::{Ended, Verdict};

/// Prints the plan with the order of its rows, where rows are filtered, and what the template says of
/// each field.
pub(super) fn run(args: &QueryArgs, schema: &KeySchema, json: bool, out: &mut impl Write) -> Ended {
    let plan = args.plan(schema)?;
    if json {
        let mut document = args.document(&plan, Notation::default());
        document["order"] = order(&plan);
        document["fields"] = fields(schema);
        writeln!(out, "{document}")?;
    } else {
        write!(out, "{plan}{}", explained(&plan, schema))?;
    }
    Ok(Verdict::Fine)
}

/// What there is to say of a plan beyond itself.
pub(crate) fn explained(plan: &Plan, schema: &KeySchema) -> String {
    reading(plan) + &described(schema)
}

/// How many scans there are, and where rows are filtered.
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
        (None, None) => "nowhere but in the ranges",
        (Some(_), Some(_)) => "on each row's decoded key, by the residual, then on its columns",
        (None, Some(_)) => "on each row's columns",
    };
    format!("read: {scans}\nfilter: {filter}\n")
}

/// What the template says of each stored field, a line for each.
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

fn order(plan: &Plan) -> Json {
    let order = plan.order();
    let fields = order.fields().iter().map(
        |field| json!({ "name": field.name, "desc": field.desc, "order": field.order.to_string() }),
    );
    let sequence = match order.sequence() {
        RowSequence::AsRead => "as read",
        RowSequence::Merged => "merged",
        RowSequence::Physical => "physical",
    };
    json!({
        "sequence": sequence,
        "fields": fields.collect::<Json>(),
        "complete": order.is_complete(),
    })
}

fn fields(schema: &KeySchema) -> Json {
    let field = |field: &Field| {
        json!({
            "name": field.name(),
            "type": field.field_type().to_string(),
            "desc": field.is_desc(),
            "order": field.order().to_string(),
        })
    };
    schema.fields().iter().map(field).collect()
}
