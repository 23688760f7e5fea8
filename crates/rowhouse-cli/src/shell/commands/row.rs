//! The row in a command: the key, or the key fields.

use rowhouse::key::{Field, KeySchema, TimeZone};
use rowhouse::query::Predicate;
use rowhouse::{Bytes, Error, Result as ModelResult, RowRange, Table, Value as FieldValue};

use crate::shell::argument;
use crate::shell::command::Call;
use crate::shell::failure::{Failure, Result};
use crate::shell::grammar::{Hash, Value};
use crate::shell::options::{OptionText, Options};

pub(super) const ROWPREFIXFILTER: OptionText = (
    "ROWPREFIXFILTER",
    "only rows that begin with this, or that have these first fields of the key",
);

/// A row as given by the user.
pub(super) enum RowArgument {
    /// `'123_9223370367001975807'`.
    Key(Bytes),
    /// `{blogger => '123', at => '2022-12-01'}`.
    Fields(Hash),
}

impl RowArgument {
    /// Returns the row in the argument at `at`.
    pub(super) fn of(call: &Call, at: usize) -> Result<Self> {
        match call.arguments.get(at) {
            // Options where a row is expected are not fields.
            Some(Value::Hash(pairs))
                if pairs.iter().all(|(name, _)| call.command.has_option(name)) =>
            {
                call.row(at).map(Self::Key)
            }
            Some(Value::Hash(pairs)) => Ok(Self::Fields(pairs.clone())),
            _ => call.row(at).map(Self::Key),
        }
    }

    /// Returns every key that the row may have: one for each salt, if the salt is not given.
    pub(super) fn keys(&self, table: &Table) -> Result<Vec<Bytes>> {
        match self {
            Self::Key(key) => Ok(vec![key.clone()]),
            Self::Fields(pairs) => made(table, |schema| schema.encode_all(&values(schema, pairs)?)),
        }
    }

    /// Returns the row's only key. A salt has to be given.
    pub(super) fn key(&self, table: &Table) -> Result<Bytes> {
        match self {
            Self::Key(key) => Ok(key.clone()),
            Self::Fields(pairs) => made(table, |schema| schema.encode(&values(schema, pairs)?)),
        }
    }

    /// Returns hints about the given fields.
    pub(super) fn hints(&self, table: &Table) -> Vec<String> {
        let (Self::Fields(pairs), Ok(schema)) = (self, table.key_schema()) else {
            return Vec::new();
        };
        let values = values(schema, pairs).unwrap_or_default();
        let hint = |(name, value): &(String, FieldValue)| schema.field(name)?.unit_hint(value);
        values.iter().filter_map(hint).collect()
    }

    /// Returns the key for a row to insert. A salt has to be given: the same values may be in
    /// another row.
    pub(super) fn inserted_key(&self, table: &Table) -> Result<Bytes> {
        match self {
            Self::Key(key) => Ok(key.clone()),
            Self::Fields(pairs) => made(table, |schema| {
                let values = values(schema, pairs)?;
                schema.encode(&values).map_err(|error| match schema.encode_salted(&values, 0) {
                    Ok(_) => Error::invalid(
                        "a row with a random salt cannot be inserted, the same values may be in another row: \
                         use bucket, or give the salt",
                    ),
                    Err(_) => error,
                })
            }),
        }
    }

    /// Returns the key for a row to write. A salt that is not given is drawn at random.
    pub(super) fn new_key(&self, table: &Table) -> Result<Bytes> {
        match self {
            Self::Key(key) => Ok(key.clone()),
            Self::Fields(pairs) => made(table, |schema| {
                Ok(table.row(&values(schema, pairs)?).into_put()?.row().clone())
            }),
        }
    }
}

/// A row range bound, as given by the user.
pub(super) enum Bound {
    Key(Bytes),
    /// A key's first fields.
    Fields(Hash),
}

impl Bound {
    /// Takes one from the options; an empty key is none.
    pub(super) fn take(options: &mut Options, name: &str) -> Result<Option<Self>> {
        Ok(match options.take(name) {
            None => None,
            Some(Value::Hash(pairs)) => Some(Self::Fields(pairs)),
            Some(value) => {
                Some(Self::Key(argument::bytes(name, &value)?)).filter(|it| !it.is_empty())
            }
        })
    }

    fn is_empty(&self) -> bool {
        matches!(self, Self::Key(key) if key.is_empty())
    }

    /// Returns the rows that have these fields, or begin with this key.
    pub(super) fn prefix(&self, table: &Table) -> Result<RowRange> {
        match self {
            Self::Key(key) => Ok(RowRange::prefix(key)),
            Self::Fields(pairs) => made(table, |schema| rows_of(schema, pairs)),
        }
    }

    /// Returns the row itself, or the rows that have these fields.
    pub(super) fn rows(&self, table: &Table) -> Result<RowRange> {
        match self {
            Self::Key(key) => Ok(RowRange::row(key)),
            Self::Fields(_) => self.prefix(table),
        }
    }
}

/// Returns the rows that have these values in the first key fields.
fn rows_of(schema: &KeySchema, pairs: &Hash) -> ModelResult<RowRange> {
    let values = values(schema, pairs)?;
    let leading = schema.fields().iter().take(values.len()).map(Field::name);
    let first: Vec<&str> = leading.collect();
    if values.is_empty() || !values.iter().all(|(name, _)| first.contains(&name.as_str())) {
        let names: Vec<&str> = schema.fields().iter().map(Field::name).collect();
        return Err(Error::invalid(format!(
            "bounds of rows are the first fields of their keys, without a gap: first={}, given={}",
            names.join(", "),
            values.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>().join(", ")
        )));
    }
    let predicate = values
        .iter()
        .fold(Predicate::all(), |predicate, (name, value)| predicate.eq(name, value.clone()));
    let plan = schema.plan(&predicate)?;
    match plan.ranges() {
        [range] if plan.is_exact() => Ok(range.clone()),
        ranges => Err(Error::invalid(format!(
            "rows with these fields are not contiguous, use query: ranges={}",
            ranges.len()
        ))),
    }
}

/// Builds a key, or reports an error in the given values.
fn made<T>(table: &Table, make: impl FnOnce(&KeySchema) -> ModelResult<T>) -> Result<T> {
    let made = table.key_schema().and_then(make);
    made.map_err(|error| Failure::Usage(error.message().to_owned()))
}

/// Returns field values. Texts are parsed in the notation of each field's type.
pub(super) fn values(schema: &KeySchema, pairs: &Hash) -> ModelResult<Vec<(String, FieldValue)>> {
    let value = |(name, given): &(String, Value)| {
        let text = match given {
            Value::Text(bytes) => std::str::from_utf8(bytes).ok(),
            Value::Decimal(number) => Some(&number[..]),
            _ => None,
        };
        if let Some(text) = text {
            let (name, value) = schema.parse_value(name, text, &TimeZone::UTC)?;
            return Ok((name.to_owned(), value));
        }
        let in_field = |error: Error| error.with_context(format_args!("field `{name}`"));
        Ok((name.clone(), plain(given).map_err(in_field)?))
    };
    pairs.iter().map(value).collect()
}

/// Converts a value without parsing.
fn plain(value: &Value) -> ModelResult<FieldValue> {
    Ok(match value {
        Value::Text(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => text.into(),
            Err(_) => bytes[..].into(),
        },
        Value::Integer(number) => (*number).into(),
        Value::Decimal(number) => number.into(),
        Value::Constant(name) => name.into(),
        Value::Boolean(truth) => (*truth).into(),
        Value::Nil => FieldValue::Null,
        Value::Array(values) => {
            FieldValue::List(values.iter().map(plain).collect::<ModelResult<_>>()?)
        }
        Value::Hash(_) => {
            return Err(Error::invalid(format!("a value cannot be a hash: {value}")));
        }
    })
}
