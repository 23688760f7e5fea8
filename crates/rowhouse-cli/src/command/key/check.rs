//! `rowhouse key TEMPLATE check`: advice on a template.

use std::io::Write;
use std::path::PathBuf;

use rowhouse::key::KeySchema;
use rowhouse::{Error, Result};
use rowhouse_schema::{Finding, Rule};
use serde_json::json;

use super::input::keys_in;
use super::notation::Notation;
use super::outcome::{KeyError, KeyResult, Outcome};
use super::spread::Distribution;
use super::values::ValueFiles;
use super::zone::ZoneArgs;
use crate::output::report;

/// Arguments of `check`.
#[derive(Debug, clap::Args)]
pub(super) struct CheckArgs {
    /// Keys of the table, chosen at random from all of it, one per line, to detect keys that begin
    /// with few values
    #[arg(long, value_name = "FILE", conflicts_with_all = ["jsonl", "csv"])]
    sample: Option<PathBuf>,
    #[command(flatten)]
    files: ValueFiles,
    #[command(flatten)]
    notation: Notation,
    #[command(flatten)]
    zone: ZoneArgs,
    /// Show how the keys of the sample are distributed over N regions
    #[arg(long, value_name = "N")]
    regions: Option<usize>,
    /// Exit with status 1 only for these findings, such as K1,K4 [default: for any]
    #[arg(long, value_name = "RULE", value_delimiter = ',', value_parser = rule)]
    deny: Vec<Rule>,
}

/// Prints a line for each finding.
pub(super) fn run(
    args: &CheckArgs,
    schema: &KeySchema,
    json: bool,
    out: &mut dyn Write,
) -> KeyResult {
    let (sample, read) = sample(args, schema)?;
    let spread =
        args.regions.map(|regions| Distribution::of(schema, &sample, regions)).transpose()?;
    let misfits = sample.iter().filter(|key| schema.decode(key).is_err()).count();
    let findings = schema.check_with(&sample);
    for finding in &findings {
        let Finding { rule, message, .. } = finding;
        if json {
            let code = rule.code();
            let name = rule.name();
            let reason = rule.reason();
            let measured = rule.measured();
            let document = json!({
                "rule": code, "name": name, "message": message, "reason": reason,
                "measured": measured,
            });
            writeln!(out, "{document}")?;
        } else {
            writeln!(out, "{finding}")?;
            if let Some(measured) = rule.measured() {
                writeln!(out, "  measured: {measured}")?;
            }
        }
    }
    if misfits > 0 {
        let keys = sample.len();
        report(format_args!(
            "rowhouse: keys of the sample do not fit the template: keys={keys}, misfits={misfits}"
        ));
    }
    if let Some(spread) = spread {
        spread.print(args.notation, json, out)?;
    }
    let counts = |finding: &Finding| args.deny.is_empty() || args.deny.contains(&finding.rule);
    let has_findings = misfits > 0 || findings.iter().any(counts);
    Ok(read.and(if has_findings { Outcome::Findings } else { Outcome::Fine }))
}

/// Returns the keys of the sample, and whether all of the values could be encoded.
fn sample(args: &CheckArgs, schema: &KeySchema) -> Result<(Vec<Vec<u8>>, Outcome), KeyError> {
    let mut keys = Vec::new();
    if !args.files.is_given() {
        let listed = args.sample.as_deref().map(|path| keys_in(path, args.notation));
        return Ok((listed.transpose()?.unwrap_or_default(), Outcome::Fine));
    }
    let read = args.files.each_key(schema, args.zone.zone, |key| {
        keys.push(key.to_vec());
        Ok(Outcome::Fine)
    })?;
    Ok((keys, read))
}

/// Parses the code of a rule, such as `K1`.
fn rule(code: &str) -> Result<Rule> {
    Rule::all().find(|rule| rule.code() == code).ok_or_else(|| {
        let codes: Vec<_> = Rule::all().map(Rule::code).collect();
        Error::invalid(format!("unknown rule; known: {}: rule={code}", codes.join(", ")))
    })
}
