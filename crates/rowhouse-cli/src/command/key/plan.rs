//! `rowhouse key TEMPLATE plan`: the row ranges that a query reads.

use std::io::Write;

use rowhouse::key::KeySchema;
use rowhouse::query::{Plan, Predicate, QualifierPlan};
use rowhouse::schema::ColumnSchema;
use rowhouse::{Result, RowRange, Value};
use serde_json::{Value as Json, json};

use super::notation::{self, Notation};
use super::outcome::{KeyResult, Outcome};
use super::zone::ZoneArgs;

/// The argument with the query.
#[derive(Debug, clap::Args)]
pub(super) struct QueryArgs {
    /// The query, such as "user = 'bob' and at >= 2022-12-01"; without one, all rows
    #[arg(value_name = "QUERY")]
    query: Option<String>,
    /// The columns that the table declares, for use in the query: 'd:n count u64; f:[at millis]
    /// price f64'
    #[arg(long, value_name = "DECLARATIONS")]
    columns: Option<String>,
    #[command(flatten)]
    zone: ZoneArgs,
}

/// Arguments of `plan`.
#[derive(Debug, clap::Args)]
pub(super) struct PlanArgs {
    #[command(flatten)]
    query: QueryArgs,
    #[command(flatten)]
    notation: Notation,
}

impl QueryArgs {
    pub(super) fn plan(&self, schema: &KeySchema) -> Result<Plan> {
        let query = self.query.as_deref().map_or_else(|| Ok(Predicate::all()), Predicate::parse)?;
        let zone = self.zone.zone.time_zone();
        let Some(columns) = &self.columns else { return schema.plan_in(&query, &zone) };
        let columns = ColumnSchema::parse(columns)?;
        columns.check_key(schema)?;
        schema.plan_with_columns(&columns, &query, &zone)
    }

    /// Returns the plan in JSON: the output of `plan`, and the ranges in that of `explain`.
    pub(super) fn document(&self, plan: &Plan, notation: Notation) -> Json {
        let zone = self.zone.zone;
        let ranges = ranges(plan).map(|(buckets, range)| {
            let buckets: Json = buckets.iter().map(|bucket| notation::json(bucket, zone)).collect();
            let start = notation.print(&range.start);
            let stop = notation.print(&range.stop);
            json!({ "start": start, "stop": stop, "buckets": buckets })
        });
        let mut document = json!({
            "ranges": ranges.collect::<Json>(),
            "whole_table": plan.reads_whole_table(),
            "exact": plan.is_exact(),
            "residual": plan.residual().map(ToString::to_string),
            "candidates": plan.candidates().collect::<Json>(),
        });
        if self.columns.is_some() {
            document["columns"] = json!(plan.column_filter().map(ToString::to_string));
            let qualifiers = plan.qualifiers().iter().map(|plan| qualifiers(plan, notation));
            document["qualifiers"] = qualifiers.collect();
        }
        document
    }
}

/// Prints every range, and the conditions that remain to be checked on its rows.
pub(super) fn run(
    args: &PlanArgs,
    schema: &KeySchema,
    json: bool,
    out: &mut dyn Write,
) -> KeyResult {
    let plan = args.query.plan(schema)?;
    if json {
        writeln!(out, "{}", args.query.document(&plan, args.notation))?;
        return Ok(Outcome::Fine);
    }
    for (buckets, range) in ranges(&plan) {
        let buckets: Vec<_> = buckets.iter().map(Value::to_string).collect();
        let buckets = if buckets.is_empty() { String::new() } else { buckets.join(" ") + ": " };
        let bound = |key: &[u8]| match key {
            [] => "…".to_owned(),
            key => args.notation.print(key),
        };
        writeln!(out, "{buckets}[{}, {})", bound(&range.start), bound(&range.stop))?;
    }
    if plan.reads_whole_table() {
        writeln!(out, "reads the whole table")?;
    }
    match plan.residual() {
        _ if plan.ranges().is_empty() => writeln!(out, "no row can match")?,
        Some(residual) => writeln!(out, "residual: {residual}")?,
        None => writeln!(out, "exact")?,
    }
    if let Some(filter) = plan.column_filter() {
        writeln!(out, "columns: {filter}, checked on each row")?;
    }
    for qualifiers in plan.qualifiers() {
        write!(out, "{qualifiers}")?;
    }
    let candidates: Vec<_> = plan.candidates().collect();
    if !candidates.is_empty() {
        writeln!(out, "candidates: keys hold too little of {}", candidates.join(", "))?;
    }
    Ok(Outcome::Fine)
}

/// Returns the cells that are read from columns with a template.
fn qualifiers(plan: &QualifierPlan, notation: Notation) -> Json {
    let ranges = plan.ranges().map(|range| {
        json!({ "start": notation.print(&range.start), "stop": notation.print(&range.stop) })
    });
    json!({
        "column": plan.column().name(),
        "family": notation.print(plan.column().family()),
        "template": plan.column().template().map(ToString::to_string),
        "ranges": ranges.collect::<Json>(),
        "residual": plan.residual(),
    })
}

/// Returns the ranges, each with its buckets or salts.
fn ranges(plan: &Plan) -> impl Iterator<Item = (Vec<Value>, RowRange)> {
    plan.streams().flat_map(|stream| {
        let buckets = stream.buckets();
        stream.ranges().to_vec().into_iter().map(move |range| (buckets.clone(), range))
    })
}
