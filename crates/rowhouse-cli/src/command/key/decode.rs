//! `rowhouse key TEMPLATE decode`: keys to values.

use std::io::{self, Write};

use rowhouse::Value;
use rowhouse::key::{Computed, KeyMismatch, KeySchema, Values};
use serde_json::{Map, json};

use super::input::each_line;
use super::notation::{self, Notation};
use super::outcome::{KeyResult, Outcome};
use super::zone::{Zone, ZoneArgs};

/// Arguments of `decode`.
#[derive(Debug, clap::Args)]
pub(super) struct DecodeArgs {
    /// The keys; without any, each line of standard input is one
    #[arg(value_name = "KEY")]
    keys: Vec<String>,
    #[command(flatten)]
    notation: Notation,
    #[command(flatten)]
    zone: ZoneArgs,
}

/// Prints the values of each key on a line; for a key that does not fit, its bytes and the reason.
pub(super) fn run(
    args: &DecodeArgs,
    schema: &KeySchema,
    json: bool,
    out: &mut dyn Write,
) -> KeyResult {
    let mut decode = |text: &str| -> KeyResult {
        let key = args.notation.read(text)?;
        let decoded = schema.decode(&key);
        let shown = args.notation.print(&key);
        if json {
            print_json(&shown, &decoded, args.zone.zone, out)?;
        } else {
            print_text(&shown, &decoded, args.zone.zone, out)?;
        }
        Ok(if decoded.is_ok() { Outcome::Fine } else { Outcome::Findings })
    };
    if args.keys.is_empty() {
        return each_line(decode);
    }
    let mut verdict = Outcome::Fine;
    for key in &args.keys {
        verdict = verdict.and(decode(key)?);
    }
    Ok(verdict)
}

type Decoded = Result<Values, KeyMismatch>;

fn print_text(key: &str, decoded: &Decoded, zone: Zone, out: &mut dyn Write) -> io::Result<()> {
    match decoded {
        Ok(values) => {
            let zone = |name: &str| zone.of_field(values.schema(), name);
            let pair = |(name, value): (&str, &Value)| {
                format!("{}={}", value.written_name(name), notation::text(value, zone(name)))
            };
            let pairs: Vec<_> = values.iter().chain(computed(values)).map(pair).collect();
            writeln!(out, "{}", pairs.join(", "))
        }
        Err(why) => writeln!(out, "{key}: {why}"),
    }
}

fn print_json(key: &str, decoded: &Decoded, zone: Zone, out: &mut dyn Write) -> io::Result<()> {
    let document = match decoded {
        Ok(values) => {
            let zone = |name: &str| zone.of_field(values.schema(), name);
            let pair = |(name, value): (&str, &Value)| {
                (value.written_name(name).into_owned(), notation::json(value, zone(name)))
            };
            let pairs = |pairs: &mut dyn Iterator<Item = (&str, &Value)>| -> Map<_, _> {
                pairs.map(pair).collect()
            };
            let stored = pairs(&mut values.iter());
            json!({ "key": key, "values": stored, "computed": pairs(&mut computed(values)) })
        }
        Err(why) => json!({ "key": key, "misfit": { "at": why.at, "why": why.why } }),
    };
    writeln!(out, "{document}")
}

/// Returns the computed fields that have names.
fn computed(values: &Values) -> impl Iterator<Item = (&str, &Value)> {
    let names = values.schema().computed().iter().map(Computed::name);
    names.zip(values.computed_values()).filter_map(|(name, value)| Some((name?, value)))
}
