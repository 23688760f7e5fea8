//! A row from a file, before it is matched with the table.

use std::borrow::Cow;

use rowhouse::{Error, Value};
use serde_json::{Map, Value as Json};

/// The position of a row in its file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RecordPosition {
    /// The row's first byte; 0 in a Parquet file.
    pub(crate) byte: u64,
    /// The line, or the row in a Parquet file, from 1.
    pub(crate) line: u64,
    /// How many records a CSV file has before the row.
    pub(crate) record: u64,
}

/// The next item in a file.
pub(crate) enum Next {
    /// A row, stored in the caller's record.
    Row(RecordPosition),
    /// An invalid row, and the reason.
    Broken(RecordPosition, Error),
    End,
}

/// A row: the data, in the same order as the file's names.
#[derive(Debug, Default)]
pub(crate) struct Record {
    pub(crate) text: csv::StringRecord,
    /// Data in formats other than CSV.
    pub(crate) data: Vec<Datum<'static>>,
    /// The values in a CSV file that mean a missing one.
    pub(crate) nulls: Vec<bool>,
}

/// One value in a row.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Datum<'r> {
    Null,
    /// A value that has a text.
    Text(Cow<'r, str>),
    #[cfg_attr(
        not(feature = "parquet"),
        expect(dead_code, reason = "only Parquet has values that are bytes")
    )]
    Bytes(Cow<'r, [u8]>),
    /// A list, from a field with groups.
    List(Value),
    /// A value that no field can hold: refused when it is used.
    Foreign {
        /// A description of the type.
        what: &'static str,
        /// The printed form.
        shown: Cow<'r, str>,
    },
}

impl Record {
    /// Returns the value at this index among the names.
    pub(crate) fn datum(&self, at: usize) -> Datum<'_> {
        match self.data.get(at) {
            Some(Datum::Null) => Datum::Null,
            Some(Datum::Text(text)) => Datum::Text(Cow::Borrowed(text)),
            Some(Datum::Bytes(bytes)) => Datum::Bytes(Cow::Borrowed(bytes)),
            Some(Datum::List(value)) => Datum::List(value.clone()),
            Some(Datum::Foreign { what, shown }) => {
                Datum::Foreign { what, shown: Cow::Borrowed(shown) }
            }
            None => match (self.nulls.get(at), self.text.get(at)) {
                (Some(false), Some(text)) => Datum::Text(Cow::Borrowed(text)),
                _ => Datum::Null,
            },
        }
    }

    /// Returns the row as a JSON object; bytes are `0x00ff`.
    pub(crate) fn to_json(&self, names: &[String]) -> String {
        let member = |(at, name): (usize, &String)| {
            let json = match self.datum(at) {
                Datum::Null => Json::Null,
                Datum::Text(text) | Datum::Foreign { shown: text, .. } => {
                    Json::String(text.into_owned())
                }
                Datum::Bytes(bytes) => Json::String(Value::from(bytes.into_owned()).to_string()),
                Datum::List(value) => Json::String(value.to_string()),
            };
            (name.clone(), json)
        };
        Json::Object(names.iter().enumerate().map(member).collect::<Map<_, _>>()).to_string()
    }
}

#[cfg(test)]
impl Record {
    /// Returns a record in a format other than CSV.
    pub(crate) fn of(data: Vec<Datum<'static>>) -> Self {
        Self { data, ..Self::default() }
    }
}
