//! `rowhouse key TEMPLATE encode`: values to keys.

use std::hash::{BuildHasher, RandomState};
use std::io::Write;

use rowhouse::{Bytes, Calendar, Error, FieldType, KeySchema, Result, Time, Value};
use serde_json::{Map, Value as Json, json};

use super::input::{each_line, each_line_in};
use super::notation::Notation;
use super::zone::{Zone, ZoneArgs};
use super::{Ended, Verdict};

/// Which values.
#[derive(Debug, clap::Args)]
pub(super) struct EncodeArgs {
    /// The value of each field; where there are none, each line of standard input is a key's, with tabs between
    #[arg(value_name = "NAME=VALUE")]
    values: Vec<String>,
    /// Read the values from this file (- for standard input), a JSON object for each key
    #[arg(long, value_name = "FILE", conflicts_with = "values")]
    jsonl: Option<String>,
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
        print(&key(schema, pairs(schema, args.values.iter().map(String::as_str), zone)?)?)?;
        return Ok(Verdict::Fine);
    }
    if let Some(file) = &args.jsonl {
        return each_line_in(file, |line| {
            print(&key(schema, members(schema, line, zone)?)?)?;
            Ok(Verdict::Fine)
        });
    }
    each_line(|line| {
        print(&key(schema, pairs(schema, line.split('\t'), zone)?)?)?;
        Ok(Verdict::Fine)
    })
}

type Named = Vec<(String, Value)>;

/// The key of these values. A salt that is not given is drawn.
fn key(schema: &KeySchema, values: Named) -> Result<Bytes> {
    match schema.has_salt() {
        true => schema.encode_salted(&values, RandomState::new().hash_one(())),
        false => schema.encode(&values),
    }
}

/// Values that are written `NAME=VALUE`.
fn pairs<'a>(
    schema: &KeySchema,
    pairs: impl Iterator<Item = &'a str>,
    zone: Zone,
) -> Result<Named> {
    let value = |pair: &str| {
        let (name, text) = pair
            .split_once('=')
            .ok_or_else(|| Error::invalid(format!("expected NAME=VALUE: argument={pair}")))?;
        Ok((name.to_owned(), value(schema, name, text, zone)?))
    };
    pairs.map(value).collect()
}

/// Values that are the members of a JSON object. Texts and numbers are read as they are in `NAME=VALUE`,
/// but for the text `null`, which is no null here.
fn members(schema: &KeySchema, line: &str, zone: Zone) -> Result<Named> {
    let object: Map<String, Json> = serde_json::from_str(line)
        .map_err(|error| Error::invalid(format!("expected a JSON object: {error}")))?;
    let value = |(name, json): (String, Json)| {
        let value = match json {
            Json::Null => Value::Null,
            Json::String(text) if text == "null" => text.into(),
            Json::String(text) => value(schema, &name, &text, zone)?,
            Json::Bool(_) | Json::Number(_) => value(schema, &name, &json.to_string(), zone)?,
            Json::Array(_) | Json::Object(_) => list(&name, &json)?,
        };
        Ok((name, value))
    };
    object.into_iter().map(value).collect()
}

/// The groups of a `repeat`.
fn list(name: &str, json: &Json) -> Result<Value> {
    let wrong = || Error::invalid(format!("field `{name}`: not a value of a field: json={json}"));
    Ok(match json {
        Json::Array(items) => {
            Value::List(items.iter().map(|item| list(name, item)).collect::<Result<_>>()?)
        }
        Json::String(text) => text.into(),
        Json::Bool(flag) => (*flag).into(),
        Json::Number(number) => match (number.as_u64(), number.as_i64(), number.as_f64()) {
            (Some(number), ..) => number.into(),
            (_, Some(number), _) => number.into(),
            (_, _, Some(number)) => number.into(),
            (None, None, None) => return Err(wrong()),
        },
        Json::Null | Json::Object(_) => return Err(wrong()),
    })
}

/// The value of a field or salt that is written as plain text.
fn value(schema: &KeySchema, name: &str, text: &str, zone: Zone) -> Result<Value> {
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
    value.map_err(in_field)
}

fn is_day(field_type: &FieldType) -> bool {
    matches!(field_type, FieldType::Date | FieldType::Calendar(Calendar::Day))
}
