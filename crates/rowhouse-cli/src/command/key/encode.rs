//! `rowhouse key TEMPLATE encode`: values to keys.

use std::io::Write;

use rowhouse::key::KeySchema;
use serde_json::json;

use super::input::each_line;
use super::notation::Notation;
use super::outcome::{KeyResult, Outcome};
use super::values::{ValueFiles, key, pairs};
use super::zone::ZoneArgs;

/// Arguments of `encode`.
#[derive(Debug, clap::Args)]
pub(super) struct EncodeArgs {
    /// The value of each field; without any, each line of standard input has the values of one key,
    /// separated by tabs
    #[arg(value_name = "NAME=VALUE", conflicts_with_all = ["jsonl", "csv"])]
    values: Vec<String>,
    #[command(flatten)]
    files: ValueFiles,
    #[command(flatten)]
    notation: Notation,
    #[command(flatten)]
    zone: ZoneArgs,
}

/// Prints one key per line.
pub(super) fn run(
    args: &EncodeArgs,
    schema: &KeySchema,
    json: bool,
    out: &mut dyn Write,
) -> KeyResult {
    let mut print = |key: &[u8]| {
        let key = args.notation.print(key);
        if json { writeln!(out, "{}", json!({ "key": key })) } else { writeln!(out, "{key}") }
    };
    let zone = args.zone.zone;
    if !args.values.is_empty() {
        let values = pairs(schema, args.values.iter().map(String::as_str), zone)?;
        print(&key(schema, values)?)?;
        return Ok(Outcome::Fine);
    }
    if args.files.is_given() {
        return args.files.each_key(schema, zone, |key| {
            print(key)?;
            Ok(Outcome::Fine)
        });
    }
    each_line(|line| {
        let values = pairs(schema, line.split('\t'), zone)?;
        print(&key(schema, values)?)?;
        Ok(Outcome::Fine)
    })
}
