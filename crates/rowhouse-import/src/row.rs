//! Converts a file row to a table row.

use std::collections::BTreeMap;

use rowhouse::key::{FieldType, Holds, KeySchema, TimeUnit};
use rowhouse::schema::{CellBytes, Column};
use rowhouse::{Bytes, Error, Put, Result, Value};
use rowhouse_model::check_row;
use xxhash_rust::xxh3::xxh3_64;

use crate::mapping::{Origin, Origins};
use crate::numbers::{NumberMarks, read_bool, read_number};
use crate::source::{Datum, Record};
use crate::targets::Targets;
use crate::times::{TimeField, TimeForm, Times};

/// Converts one file's rows.
pub(crate) struct RowConverter {
    key: KeySchema,
    /// Sources for the key fields, in key order; `None` for an optional field without one.
    key_sources: Vec<Option<FieldSource>>,
    columns: Vec<ColumnConverter>,
}

/// A column for which the file has values.
struct ColumnConverter {
    column: Column,
    source: FieldSource,
    qualifier: QualifierConverter,
}

enum QualifierConverter {
    One(Bytes),
    /// A template's fields, in order.
    Fields(Vec<Option<FieldSource>>),
}

/// Where a field's or column's values come from, and how they are written.
#[derive(Clone)]
pub(crate) struct FieldSource {
    name: String,
    origin: Origin,
    notation: Notation,
}

/// How a field's or column's values are written.
#[derive(Clone)]
enum Notation {
    /// As the field's values are.
    Own,
    Number(NumberMarks),
    Bool,
    /// Times, and the unit for counts.
    Times(Times, Option<TimeUnit>),
}

impl FieldSource {
    fn new(
        name: &str,
        field_type: &FieldType,
        needs: &[Holds],
        origin: &Origin,
        notations: &Notations,
    ) -> Result<Self> {
        let is_number = |needed: &Holds| {
            matches!(needed, Holds::Whole { .. } | Holds::Float { .. } | Holds::Decimal)
        };
        let notation = match notations.times.get(name) {
            _ if field_type.is_time() => {
                let unit = match field_type {
                    FieldType::Time { unit, .. } => Some(*unit),
                    _ => None,
                };
                let declared = notations.times.get(name).cloned();
                Notation::Times(declared.map_or(Times::Unknown, Times::Declared), unit)
            }
            Some(form) => {
                return Err(Error::invalid(format!(
                    "--times is for fields and columns of times: field={name}, type={field_type}, times={form}"
                )));
            }
            None if needs.iter().any(is_number) => Notation::Number(notations.numbers),
            None if needs.contains(&Holds::Bool) => Notation::Bool,
            None => Notation::Own,
        };
        Ok(Self { name: name.to_owned(), origin: origin.clone(), notation })
    }

    /// Reads a text from the file; `parse` reads it in the notation of the field's values.
    fn read(&self, text: &str, parse: impl Fn(&str) -> Result<Value>) -> Result<Value> {
        match &self.notation {
            Notation::Own => parse(text),
            Notation::Number(marks) => read_number(text, *marks, parse),
            Notation::Bool => read_bool(text, parse),
            Notation::Times(times, unit) => {
                times.read(text, &TimeField { name: &self.name, unit: *unit }, parse)
            }
        }
    }
}

/// How a file's values are written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Notations {
    /// The declared time forms, by field name.
    pub(crate) times: BTreeMap<String, TimeForm>,
    pub(crate) numbers: NumberMarks,
}

/// A row's key and cells.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct NewRow {
    pub(crate) key: Bytes,
    pub(crate) cells: Vec<CellBytes>,
}

impl RowConverter {
    /// Matches a file's fields with the fields that a row needs.
    ///
    /// # Errors
    /// `InvalidRequest` if a key field or qualifier field has no source; for a file without any
    /// column.
    pub(crate) fn new(targets: &Targets, origins: &Origins, notations: &Notations) -> Result<Self> {
        let key = targets.key.clone();
        let key_sources = sources_of(&key, origins, notations, "the key")?;
        let mut columns = Vec::new();
        for column in targets.columns.columns() {
            let Some(origin) = origins.get(column.name()) else { continue };
            let qualifier = match (column.qualifier(), column.template()) {
                (Some(qualifier), _) => QualifierConverter::One(Bytes::copy_from_slice(qualifier)),
                (None, Some(template)) => {
                    let of = format!("the qualifiers of `{}`", column.name());
                    QualifierConverter::Fields(sources_of(template, origins, notations, &of)?)
                }
                (None, None) => continue,
            };
            let name = column.name();
            let needs = column.needs();
            let source = FieldSource::new(name, column.field_type(), &needs, origin, notations)?;
            columns.push(ColumnConverter { column: column.clone(), source, qualifier });
        }
        if columns.is_empty() {
            let names: Vec<_> = targets.columns.columns().iter().map(Column::name).collect();
            return Err(Error::invalid(format!(
                "the file has no field for any column, and a row needs a cell; a constant is \
                 enough (--set COLUMN=TEXT): columns={}",
                names.join(",")
            )));
        }
        Ok(Self { key, key_sources, columns })
    }

    /// Returns the sources that hold times.
    pub(crate) fn times(&mut self) -> impl Iterator<Item = (&str, &Origin, &mut Times)> {
        let columns = self.columns.iter_mut().flat_map(|column| {
            let fields = match &mut column.qualifier {
                QualifierConverter::One(_) => &mut [],
                QualifierConverter::Fields(sources) => &mut sources[..],
            };
            fields.iter_mut().flatten().chain([&mut column.source])
        });
        let sources = self.key_sources.iter_mut().flatten().chain(columns);
        sources.filter_map(|source| match &mut source.notation {
            Notation::Times(times, _) => Some((source.name.as_str(), &source.origin, times)),
            Notation::Own | Notation::Number(_) | Notation::Bool => None,
        })
    }

    /// Converts a row.
    ///
    /// # Errors
    /// `InvalidRequest` with the field and the reason.
    pub(crate) fn row(&self, record: &Record) -> Result<NewRow> {
        let key = key_of(&self.key, &self.key_sources, record)?;
        check_row(&key)?;
        let mut cells = Vec::with_capacity(self.columns.len());
        for maker in &self.columns {
            let column = &maker.column;
            let in_column = |error: Error| named("column", column.name(), error);
            let datum = maker.source.origin.datum(record).map_err(in_column)?;
            let read = |text: &str| maker.source.read(text, |text| column.parse_value(text));
            let value = value_of(datum, column.field_type(), read).map_err(in_column)?;
            if value.is_null() {
                continue;
            }
            let qualifier = match &maker.qualifier {
                QualifierConverter::One(qualifier) => qualifier.clone(),
                QualifierConverter::Fields(sources) => {
                    let Some(template) = column.template() else { continue };
                    key_of(template, sources, record).map_err(in_column)?
                }
            };
            let family = Bytes::copy_from_slice(column.family());
            cells.push(CellBytes { family, qualifier, value: column.encode_value(&value)? });
        }
        if cells.is_empty() {
            Err(Error::invalid("no column has a value, and a row needs a cell"))
        } else {
            Ok(NewRow { key, cells })
        }
    }
}

impl NewRow {
    /// Returns the row as a put.
    pub(crate) fn into_put(self) -> Result<Put> {
        self.cells.into_iter().try_fold(Put::new(self.key)?, |put, cell| {
            put.add(cell.family, cell.qualifier, cell.value)
        })
    }
}

/// Returns the sources for a template's fields.
fn sources_of(
    schema: &KeySchema,
    origins: &Origins,
    notations: &Notations,
    of: &str,
) -> Result<Vec<Option<FieldSource>>> {
    let source = |field: &rowhouse::key::Field| match origins.get(field.name()) {
        None if !field.is_nullable() => Err(Error::invalid(format!(
            "the file has no value for a field of {of}: map a field of the file to it (--map \
             NAME={name}), or set it (--set {name}=TEXT): field={name}",
            name = field.name()
        ))),
        None => Ok(None),
        Some(origin) => {
            let name = field.name();
            let needs = field.needs();
            FieldSource::new(name, field.field_type(), &needs, origin, notations).map(Some)
        }
    };
    schema.fields().iter().map(source).collect()
}

/// Returns a template's bytes with a row's values. Salts are derived from the values, so that
/// importing a row again writes the same row.
fn key_of(schema: &KeySchema, sources: &[Option<FieldSource>], record: &Record) -> Result<Bytes> {
    let mut values = Vec::with_capacity(sources.len());
    for (field, source) in schema.fields().iter().zip(sources) {
        let in_field = |error: Error| named("field", field.name(), error);
        let datum = source.as_ref().map_or(Ok(Datum::Null), |source| source.origin.datum(record));
        let parse = |text: &str| field.parse_value(text);
        let read = |text: &str| match source {
            Some(source) => source.read(text, parse),
            None => parse(text),
        };
        let value = datum.and_then(|datum| value_of(datum, field.field_type(), read));
        let value = value.map_err(in_field)?;
        if value.is_null() && !field.is_nullable() {
            return Err(Error::invalid(format!("field `{}`: a key needs a value", field.name())));
        }
        values.push(value);
    }
    if !schema.has_salt() {
        let mut key = Vec::new();
        schema.encode_values(&values, &mut key)?;
        return Ok(key.into());
    }
    let texts: Vec<_> = values.iter().map(Value::to_string).collect();
    let random = xxh3_64(texts.join("\0").as_bytes());
    let named: Vec<_> =
        schema.fields().iter().map(rowhouse::key::Field::name).zip(values).collect();
    schema.encode_salted(&named, random)
}

fn value_of(
    datum: Datum<'_>,
    field_type: &FieldType,
    read: impl Fn(&str) -> Result<Value>,
) -> Result<Value> {
    match datum {
        Datum::Null => Ok(Value::Null),
        // The word is a value here: the markers for missing values are arguments for the file.
        Datum::Text(text) if text == "null" => Ok(text.as_ref().into()),
        Datum::Text(text) => read(&text),
        Datum::List(value) => Ok(value),
        Datum::Foreign { what, shown } => {
            Err(Error::unsupported(format!("{what} cannot be the value of a field: value={shown}")))
        }
        Datum::Bytes(bytes) => match field_type {
            FieldType::Blob | FieldType::Bytes { .. } => Ok(bytes.into_owned().into()),
            _ => match std::str::from_utf8(&bytes) {
                Ok(text) => read(text),
                // Some types take bytes; the others report the value they got.
                Err(_) => Ok(bytes.into_owned().into()),
            },
        },
    }
}

/// Returns an error with the affected item's name, on one line, including the text if the error
/// points into one.
fn named(what: &str, name: &str, error: Error) -> Error {
    let mut lines = error.message().lines();
    let why = lines.next().unwrap_or_default();
    let value = lines.next().map(|text| format!(", value={}", text.trim_start()));
    let message = format!("{what} `{name}`: {why}{}", value.unwrap_or_default());
    error.with_message(message)
}
