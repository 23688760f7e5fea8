//! An answer's data, apart from its form.

use rowhouse_schema::{Time, Value};

/// A value in Solr's data model.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Data {
    Bool(bool),
    Int(i32),
    Long(i64),
    Float(f32),
    Double(f64),
    Text(String),
    /// Milliseconds since 1970.
    Date(i64),
    Bytes(Vec<u8>),
    List(Vec<Data>),
    /// Names and values; no name twice.
    Named(Vec<(String, Data)>),
    /// Names and values in the form that `json.nl` asks for.
    Counts(Vec<(String, i64)>, CountsForm),
    Documents(Documents),
}

/// The form for name and number lists in JSON: Solr's parameter `json.nl`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum CountsForm {
    /// `["a", 1, "b", 2]`
    #[default]
    Flat,
    /// `{"a": 1, "b": 2}`
    Map,
    /// `[["a", 1], ["b", 2]]`
    Pairs,
}

/// A page of documents.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Documents {
    pub(super) count: i64,
    pub(super) start: i64,
    pub(super) score_max: Option<f32>,
    /// Each document's names and values.
    pub(super) documents: Vec<Vec<(String, Data)>>,
}

impl Data {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    /// Returns a value's form; `None` for one that documents do not have: null, and a stored hash.
    pub(super) fn of_value(value: &Value) -> Option<Self> {
        Some(match value {
            Value::Null | Value::Hashed(_) => return None,
            Value::Bool(bool) => Self::Bool(*bool),
            Value::Unsigned(number) => match i64::try_from(*number) {
                Ok(number) => Self::Long(number),
                // Solr has no number that holds it.
                Err(_) => Self::Text(number.to_string()),
            },
            Value::Signed(number) => match i64::try_from(*number) {
                Ok(number) => Self::Long(number),
                Err(_) => Self::Text(number.to_string()),
            },
            Value::Float(number) => Self::Double(number.get()),
            Value::Text(text) => Self::text(text),
            Value::Bytes(bytes) => Self::Bytes(bytes.clone()),
            Value::Time(time) => Self::Date(time.as_millis()),
            Value::Date(date) => Self::Date(date.midnight().as_millis()),
            Value::List(values) => Self::List(values.iter().filter_map(Self::of_value).collect()),
            value => Self::Text(value.to_string()),
        })
    }

    /// Returns a value as a text, as value counts name it.
    pub(super) fn name_of_value(value: &Value) -> String {
        match value {
            Value::Time(time) => date(time.as_millis()),
            Value::Date(day) => date(day.midnight().as_millis()),
            value => value.to_string(),
        }
    }
}

/// Returns a time as Solr writes it: in UTC, with milliseconds if there are any.
pub(super) fn date(millis: i64) -> String {
    Time::from_millis(millis).to_string().replace(".000Z", "Z")
}
