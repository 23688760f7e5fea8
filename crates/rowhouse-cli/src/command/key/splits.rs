//! `rowhouse key TEMPLATE splits`: where a new table's regions begin.

use std::io::Write;

use rowhouse::key::KeySchema;
use serde_json::json;

use super::notation::Notation;
use super::outcome::{KeyResult, Outcome};

/// Arguments of `splits`.
#[derive(Debug, clap::Args)]
pub(super) struct SplitsArgs {
    /// The number of regions of the table: one more than there are splits
    #[arg(long, value_name = "N")]
    regions: usize,
    #[command(flatten)]
    notation: Notation,
}

/// Prints one split key per line.
pub(super) fn run(
    args: &SplitsArgs,
    schema: &KeySchema,
    json: bool,
    out: &mut dyn Write,
) -> KeyResult {
    for split in schema.splits(args.regions)? {
        let key = args.notation.print(&split);
        if json {
            writeln!(out, "{}", json!({ "key": key }))?;
        } else {
            writeln!(out, "{key}")?;
        }
    }
    Ok(Outcome::Fine)
}
