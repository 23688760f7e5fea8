//! `rowhouse key TEMPLATE explain`: a plan with the reasons for it.

use std::io::Write;
use std::path::PathBuf;

use rowhouse::Result;
use rowhouse::key::{Field, KeySchema};
use rowhouse::query::{EstimatedRows, Plan, RowSequence, Statistics};
use serde_json::{Value as Json, json};

use super::input::keys_in;
use super::notation::Notation;
use super::outcome::{KeyResult, Outcome};
use super::plan::QueryArgs;
use crate::explained::explained;

/// Arguments of `explain`.
#[derive(Debug, clap::Args)]
pub(super) struct ExplainArgs {
    #[command(flatten)]
    query: QueryArgs,
    /// The keys at which the table's regions begin, one per line, the first line empty, to count
    /// the regions that the query touches
    #[arg(long, value_name = "FILE")]
    regions: Option<PathBuf>,
    /// Keys of the table, chosen at random from all of it, one per line, to estimate the number of
    /// rows read and returned
    #[arg(long, value_name = "FILE")]
    sample: Option<PathBuf>,
    /// The approximate number of rows of the table [default: as many as the sample]
    #[arg(long, value_name = "N", requires = "sample")]
    rows: Option<u64>,
}

impl ExplainArgs {
    fn statistics(&self) -> Result<Statistics> {
        let mut statistics = match &self.regions {
            Some(path) => Statistics::regions(keys_in(path, Notation::default())?)?,
            None => Statistics::default(),
        };
        if let Some(path) = &self.sample {
            let keys = keys_in(path, Notation::default())?;
            let rows = self.rows.unwrap_or(keys.len() as u64);
            statistics = statistics.sample(keys, rows);
        }
        Ok(statistics)
    }
}

/// Prints the plan with its cost, the order of its rows, the filters, and the order of each field.
pub(super) fn run(
    args: &ExplainArgs,
    schema: &KeySchema,
    json: bool,
    out: &mut dyn Write,
) -> KeyResult {
    let plan = args.query.plan(schema)?;
    let estimate = plan.estimate(&args.statistics()?);
    if json {
        let mut document = args.query.document(&plan, Notation::default());
        document["order"] = order(&plan);
        document["fields"] = fields(schema);
        if let Some((touched, all)) = estimate.regions {
            document["regions"] = json!({ "touched": touched, "all": all });
        }
        if let Some(EstimatedRows { read, given, all, .. }) = estimate.rows {
            document["rows"] = json!({ "read": read, "given": given, "all": all });
        }
        writeln!(out, "{document}")?;
    } else {
        write!(out, "{plan}{estimate}{}", explained(&plan, schema))?;
    }
    Ok(Outcome::Fine)
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
