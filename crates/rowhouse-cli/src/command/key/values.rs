//! Values given by the user: on the command line, in JSON lines, in CSV.

use std::hash::{BuildHasher, RandomState};
use std::io::Read;

use rowhouse::key::KeySchema;
use rowhouse::{Bytes, Error, Result, Value};
use serde_json::{Map, Value as Json};

use super::input::{each_line_in, opened};
use super::outcome::{KeyError, KeyResult, Outcome};
use super::zone::Zone;
use crate::command::unreadable_csv;
use crate::output::report;

/// Arguments that name files with values.
#[derive(Debug, clap::Args)]
pub(super) struct ValueFiles {
    /// Read the values from this file (- for standard input), a JSON object for each key
    #[arg(long, value_name = "FILE")]
    jsonl: Option<String>,
    /// Read the values from this file (- for standard input), comma-separated after a line with the
    /// names of the fields
    #[arg(long, value_name = "FILE", conflicts_with = "jsonl")]
    csv: Option<String>,
}

impl ValueFiles {
    /// Returns true if a file is given.
    pub(super) fn is_given(&self) -> bool {
        self.jsonl.is_some() || self.csv.is_some()
    }

    /// Encodes each line or record. Values that cannot be encoded are reported on standard error
    /// with their line number, and the next ones are read.
    pub(super) fn each_key(
        &self,
        schema: &KeySchema,
        zone: Zone,
        mut take: impl FnMut(&[u8]) -> KeyResult,
    ) -> KeyResult {
        if let Some(file) = &self.jsonl {
            return each_line_in(file, |line| take(&key(schema, members(schema, line, zone)?)?));
        }
        match self.csv.as_deref() {
            Some(file) => each_record(opened(file)?, |names, record| {
                let values =
                    names.iter().zip(record).map(|(name, text)| named(schema, name, text, zone));
                take(&key(schema, values.collect::<Result<_>>()?)?)
            }),
            None => Ok(Outcome::Fine),
        }
    }
}

/// Calls `take` with every record after the first, which has the names.
fn each_record(
    input: Box<dyn Read>,
    mut take: impl FnMut(&csv::StringRecord, &csv::StringRecord) -> KeyResult,
) -> KeyResult {
    let mut records = csv::Reader::from_reader(input);
    let names = records.headers().map_err(unreadable_csv)?.clone();
    let mut verdict = Outcome::Fine;
    for record in records.records() {
        let (line, taken) = match record {
            Ok(record) => {
                let line = record.position().map_or(0, csv::Position::line);
                (line, take(&names, &record))
            }
            Err(error) => {
                let line = error.position().map_or(0, csv::Position::line);
                if error.is_io_error() {
                    return Err(unreadable_csv(error).into());
                }
                (line, Err(unreadable_csv(error).into()))
            }
        };
        verdict = verdict.and(match taken {
            Err(KeyError::Request(error)) => {
                report(format_args!("rowhouse: line {line}: {error}"));
                Outcome::Findings
            }
            other => other?,
        });
    }
    Ok(verdict)
}

pub(super) type NamedValues = Vec<(String, Value)>;

/// Returns the key of these values. A salt that is not given is drawn at random.
pub(super) fn key(schema: &KeySchema, values: NamedValues) -> Result<Bytes> {
    if schema.has_salt() {
        schema.encode_salted(&values, RandomState::new().hash_one(()))
    } else {
        schema.encode(&values)
    }
}

/// Splits values written as `NAME=VALUE`.
pub(super) fn pairs<'a>(
    schema: &KeySchema,
    pairs: impl Iterator<Item = &'a str>,
    zone: Zone,
) -> Result<NamedValues> {
    let value = |pair: &str| {
        let (name, text) = pair
            .split_once('=')
            .ok_or_else(|| Error::invalid(format!("expected NAME=VALUE: argument={pair}")))?;
        named(schema, name, text, zone)
    };
    pairs.map(value).collect()
}

/// Parses the value of a field or salt, or a stored hash, from plain text.
fn named(schema: &KeySchema, name: &str, text: &str, zone: Zone) -> Result<(String, Value)> {
    let (name, value) = schema.parse_value(name, text, &zone.time_zone())?;
    Ok((name.to_owned(), value))
}

/// Parses values from the members of a JSON object. Texts and numbers are read as in `NAME=VALUE`,
/// except for the text `null`, which is not null here.
fn members(schema: &KeySchema, line: &str, zone: Zone) -> Result<NamedValues> {
    let object: Map<String, Json> = serde_json::from_str(line)
        .map_err(|error| Error::invalid(format!("expected a JSON object: {error}")))?;
    let value = |(name, json): (String, Json)| {
        Ok(match json {
            Json::Null => (name, Value::Null),
            Json::String(text) if text == "null" => (name, text.into()),
            Json::String(text) => named(schema, &name, &text, zone)?,
            Json::Bool(_) | Json::Number(_) => named(schema, &name, &json.to_string(), zone)?,
            Json::Array(_) | Json::Object(_) => {
                let list = list(&name, &json)?;
                (name, list)
            }
        })
    };
    object.into_iter().map(value).collect()
}

/// Parses the groups of a `repeat`.
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
