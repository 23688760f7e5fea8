//! `rowhouse key TEMPLATE encode`: values to keys.

use std::hash::{BuildHasher, RandomState};
use std::io::Write;

use rowhouse::{Bytes, Calendar, Error, FieldType, KeySchema, Result, Time, Value};
use serde_json::json;

use super::input::each_line;
use super::notation::Notation;
use super::zone::{Zone, ZoneArgs};
use super::{Ended, Verdict};

/// Which values.
#[derive(Debug, clap::Args)]
pub(super) struct EncodeArgs {
    /// The value of each field; where there are none, each line of standard input is a key's, with tabs between
    #[arg(value_name = "NAME=VALUE")]
    values: Vec<String>,
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
    out: &mut impl Write,
) -> Ended {
    let mut print = |key: &[u8]| {
        let key = args.notation.print(key);
        if json { writeln!(out, "{}", json!({ "key": key })) } else { writeln!(out, "{key}") }
    };
    let zone = args.zone.zone;
    if !args.values.is_empty() {
        print(&key(schema, args.values.iter().map(String::as_str), zone)?)?;
        return Ok(Verdict::Fine);
    }
    each_line(|line| {
        print(&key(schema, line.split('\t'), zone)?)?;
        Ok(Verdict::Fine)
    })
}

/// The key of values that are written `NAME=VALUE`. A salt that is not given is drawn.
fn key<'a>(schema: &KeySchema, pairs: impl Iterator<Item = &'a str>, zone: Zone) -> Result<Bytes> {
    let values = pairs.map(|pair| named(schema, pair, zone)).collect::<Result<Vec<_>>>()?;
    match schema.has_salt() {
        true => schema.encode_salted(&values, RandomState::new().hash_one(())),
        false => schema.encode(&values),
    }
}

fn named<'a>(schema: &KeySchema, pair: &'a str, zone: Zone) -> Result<(&'a str, Value)> {
    let (name, text) = pair
        .split_once('=')
        .ok_or_else(|| Error::invalid(format!("expected NAME=VALUE: argument={pair}")))?;
    let computed = || schema.computed().iter().find(|computed| computed.name() == Some(name));
    let value = match (schema.field(name), computed()) {
        (Some(field), _) => match field.parse_value(text) {
            // A day is a day wherever one is; other times without a zone are of the one that is asked for.
            Ok(Value::Time(_)) if !is_day(field.field_type()) => {
                Time::parse_in(text, &zone.time_zone()).map(Value::from)
            }
            read => read,
        },
        (None, Some(computed)) => computed.parse_value(text),
        // No such field: making the key says so, and which field may have been meant.
        (None, None) => Ok(text.into()),
    };
    let in_field = |error: Error| Error::new(error.kind(), format!("field `{name}`: {error}"));
    value.map(|value| (name, value)).map_err(in_field)
}

fn is_day(field_type: &FieldType) -> bool {
    matches!(field_type, FieldType::Date | FieldType::Calendar(Calendar::Day))
}
