//! The row that a command is about: its key, or the fields of its key.

use rowhouse::{Bytes, Error, KeySchema, Result as ModelResult, Table, Value as FieldValue};

use crate::shell::call::Call;
use crate::shell::failure::{Failure, Result};
use crate::shell::grammar::{Hash, Value};

/// A row as it was written.
pub(super) enum Named {
    /// `'123_9223370367001975807'`.
    Key(Bytes),
    /// `{blogger => '123', at => '2022-12-01'}`.
    Fields(Hash),
}

impl Named {
    /// The row in the argument at `at`.
    pub(super) fn of(call: &Call, at: usize) -> Result<Self> {
        match call.arguments.get(at) {
            // Options in the place of a row are no fields.
            Some(Value::Hash(pairs))
                if pairs.iter().all(|(name, _)| call.command.has_option(name)) =>
            {
                call.row(at).map(Self::Key)
            }
            Some(Value::Hash(pairs)) => Ok(Self::Fields(pairs.clone())),
            _ => call.row(at).map(Self::Key),
        }
    }

    /// Every key that the row may have: with a salt that is not given, one for each.
    pub(super) fn keys(&self, table: &Table) -> Result<Vec<Bytes>> {
        match self {
            Self::Key(key) => Ok(vec![key.clone()]),
            Self::Fields(pairs) => made(table, |schema| schema.encode_all(&values(schema, pairs)?)),
        }
    }

    /// The one key of the row. A salt has to be given.
    pub(super) fn key(&self, table: &Table) -> Result<Bytes> {
        match self {
            Self::Key(key) => Ok(key.clone()),
            Self::Fields(pairs) => made(table, |schema| schema.encode(&values(schema, pairs)?)),
        }
    }

    /// The key of a row to be written. A salt that is not given is drawn.
    pub(super) fn new_key(&self, table: &Table) -> Result<Bytes> {
        match self {
            Self::Key(key) => Ok(key.clone()),
            Self::Fields(pairs) => made(table, |schema| {
                Ok(table.row(&values(schema, pairs)?).into_put()?.row().clone())
            }),
        }
    }
}

/// Makes a key, or tells what is wrong with what was written.
fn made<T>(table: &Table, make: impl FnOnce(&KeySchema) -> ModelResult<T>) -> Result<T> {
    let made = table.key_schema().and_then(make);
    made.map_err(|error| Failure::Said(error.message().to_owned()))
}

/// The values of fields. Texts are read as each field's values are written.
fn values(schema: &KeySchema, pairs: &Hash) -> ModelResult<Vec<(String, FieldValue)>> {
    let computed =
        |name: &str| schema.computed().iter().find(|computed| computed.name() == Some(name));
    let value = |(name, given): &(String, Value)| {
        let text = match given {
            Value::Text(bytes) => std::str::from_utf8(bytes).ok(),
            _ => None,
        };
        let value = match (text, schema.field(name), computed(name)) {
            (Some(text), Some(field), _) => field.parse_value(text),
            (Some(text), None, Some(computed)) => computed.parse_value(text),
            _ => plain(given),
        };
        let in_field = |error: Error| Error::new(error.kind(), format!("field `{name}`: {error}"));
        Ok((name.clone(), value.map_err(in_field)?))
    };
    pairs.iter().map(value).collect()
}

/// A value as it stands.
fn plain(value: &Value) -> ModelResult<FieldValue> {
    Ok(match value {
        Value::Text(bytes) => match std::str::from_utf8(bytes) {
            Ok(text) => text.into(),
            Err(_) => bytes[..].into(),
        },
        Value::Integer(number) => (*number).into(),
        Value::Constant(name) => name.into(),
        Value::Boolean(truth) => (*truth).into(),
        Value::Nil => FieldValue::Null,
        Value::Array(values) => {
            FieldValue::List(values.iter().map(plain).collect::<ModelResult<_>>()?)
        }
        Value::Hash(_) => {
            return Err(Error::invalid(format!("a hash is no value: {value}")));
        }
    })
}
