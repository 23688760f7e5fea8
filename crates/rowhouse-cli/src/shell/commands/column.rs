//! The column in a command: `family:qualifier`, or the name that the table declares for it.
//!
//! A name has no `:`. In HBase's shell a text without `:` is a family. It is one here too if the
//! table has a family with that name.

use rowhouse::key::escape;
use rowhouse::schema::{Column, ColumnSchema};
use rowhouse::{Bytes, Columns, Error, Table, Value as FieldValue};

use super::cells::{SelectedCells, SelectedColumn};
use super::converter::{Converter, Converters};
use super::row::values;
use crate::shell::argument;
use crate::shell::command::Call;
use crate::shell::failure::{Failure, Result, usage_error};
use crate::shell::grammar::{Hash, Value};
use crate::shell::options::{OptionText, Options};
use crate::shell::session::Session;

pub(super) const COLUMN: OptionText =
    ("COLUMN", "a column 'family:qualifier' or its declared name, a family, or an array of them");
pub(super) const COLUMNS: OptionText = ("COLUMNS", "the same");

/// A family, and a qualifier if one was given.
pub(super) type ColumnName = (Bytes, Option<Bytes>);

/// Parses `family:qualifier`, `family:` (the empty qualifier) or `family`.
pub(super) fn column(text: &Bytes) -> Result<(Bytes, Option<Bytes>)> {
    let (family, qualifier) = match text.iter().position(|&byte| byte == b':') {
        Some(at) => (text.slice(..at), Some(text.slice(at + 1..))),
        None => (text.clone(), None),
    };
    if family.is_empty() {
        let text = escape(text);
        return usage_error(format!(
            "a column is FAMILY:QUALIFIER, its family is missing: '{text}'"
        ));
    }
    Ok((family, qualifier))
}

/// A required column, as given by the user.
pub(super) enum WrittenColumn {
    /// `'family:qualifier'`, or a declared column's name.
    Text(Bytes),
    /// `{price => {at => '2022-12-24'}}`: the name for a column with many qualifiers, and the
    /// fields for one qualifier.
    Fields(String, Hash),
}

impl WrittenColumn {
    /// Takes a call's third argument. Reports the errors that do not depend on the table.
    pub(super) fn of(call: &Call) -> Result<Self> {
        if let Some(Value::Hash(pairs)) = call.arguments.get(2)
            && let [(name, Value::Hash(fields))] = &pairs[..]
        {
            return Ok(Self::Fields(name.clone(), fields.clone()));
        }
        Self::text(call.bytes(2)?)
    }

    /// Parses a column given as a text.
    pub(super) fn text(text: Bytes) -> Result<Self> {
        column(&text)?;
        Ok(Self::Text(text))
    }

    /// Returns the column's family and qualifier; a family alone may mean the whole family, or the
    /// empty qualifier.
    pub(super) async fn place_or_family(
        &self,
        session: &Session,
        table: &Table,
    ) -> Result<ColumnName> {
        match self {
            Self::Text(text) => one_place(session, table, text).await,
            Self::Fields(name, fields) => {
                let (column, qualifier) = by_fields(table, name, fields)?;
                Ok((Bytes::copy_from_slice(column.family()), Some(qualifier)))
            }
        }
    }

    /// Returns the column's family and qualifier.
    pub(super) async fn place(&self, session: &Session, table: &Table) -> Result<(Bytes, Bytes)> {
        match (self.place_or_family(session, table).await?, self) {
            ((family, Some(qualifier)), _) => Ok((family, qualifier)),
            ((family, None), Self::Fields(..)) => Ok((family, Bytes::new())),
            ((_, None), Self::Text(text)) => usage_error(format!(
                "a column is FAMILY:QUALIFIER or the name of a declared one, its qualifier is missing: '{}'",
                escape(text)
            )),
        }
    }

    /// As [`WrittenColumn::place`], for a counter: a column that is declared to hold another type
    /// is refused.
    pub(super) async fn counter(&self, session: &Session, table: &Table) -> Result<(Bytes, Bytes)> {
        let declared = match self {
            Self::Text(text) => named(session, table, text).await?,
            Self::Fields(name, fields) => Some(by_fields(table, name, fields)?.0),
        };
        if let Some(column) = declared {
            // The bytes that an increment writes.
            let one = column.encode_value(&1.into());
            if !one.is_ok_and(|one| one[..] == 1i64.to_be_bytes()) {
                return usage_error(format!(
                    "`{}` is {}, and a counter is java.long: eight bytes, big-endian",
                    column.name(),
                    column.field_type()
                ));
            }
        }
        self.place(session, table).await
    }

    /// Returns the family, qualifier and value for a cell to put. A declared column's value is
    /// encoded by the column's type; a hint about it is added to `hints`.
    pub(super) async fn cell(
        &self,
        session: &Session,
        table: &Table,
        value: Bytes,
        hints: &mut Vec<String>,
    ) -> Result<(Bytes, Bytes, Bytes)> {
        let (declared, qualifier) = match self {
            Self::Text(text) => match named(session, table, text).await? {
                None => {
                    let (family, qualifier) = column(text)?;
                    return Ok((family, qualifier.unwrap_or_default(), value));
                }
                Some(declared) => match declared.qualifier() {
                    Some(qualifier) => (declared, Bytes::copy_from_slice(qualifier)),
                    None => return many(declared),
                },
            },
            Self::Fields(name, fields) => by_fields(table, name, fields)?,
        };
        let refused = |error: Error| {
            Failure::Usage(format!("column `{}`: {}", declared.name(), error.message()))
        };
        let value = typed(declared, &value).map_err(refused)?;
        hints.extend(declared.unit_hint(&value));
        // This error names the column itself.
        let encoded =
            declared.encode_value(&value).or_else(|error| usage_error(error.message()))?;
        Ok((Bytes::copy_from_slice(declared.family()), qualifier, encoded))
    }
}

/// Returns the declared column with this name, and the qualifier that has these fields.
fn by_fields<'t>(table: &'t Table, name: &str, fields: &Hash) -> Result<(&'t Column, Bytes)> {
    let declared = table.column_schema().map(ColumnSchema::columns).unwrap_or_default();
    let column = declared.iter().find(|column| column.name() == name);
    let Some((column, template)) = column.and_then(|column| Some((column, column.template()?)))
    else {
        return usage_error(format!(
            "the table declares no column `{name}` whose qualifiers have fields: alter it with COLUMNS => '…'"
        ));
    };
    let qualifier = values(template, fields).and_then(|values| template.encode(&values));
    match qualifier {
        Ok(qualifier) => Ok((column, qualifier)),
        Err(error) => usage_error(format!("column `{name}`: {}", error.message())),
    }
}

/// Returns the declared column that a text names, unless a family has this name too.
async fn named<'t>(session: &Session, table: &'t Table, text: &[u8]) -> Result<Option<&'t Column>> {
    let declared = table.column_schema().map(ColumnSchema::columns).unwrap_or_default();
    let Some(column) = declared.iter().find(|column| column.name().as_bytes() == text) else {
        return Ok(None);
    };
    let described = session.database.admin().describe(&table.name().to_string()).await?;
    let is_family = described.families().iter().any(|family| family.name() == text);
    Ok((!is_family).then_some(column))
}

/// Returns the family and qualifier for a column given as `family:qualifier` or by the declared
/// name; only the family if the declared column has many qualifiers.
async fn place(session: &Session, table: &Table, text: &Bytes) -> Result<ColumnName> {
    match named(session, table, text).await? {
        Some(column) => {
            let copied = Bytes::copy_from_slice;
            Ok((copied(column.family()), column.qualifier().map(copied)))
        }
        None => column(text),
    }
}

/// As [`place`], for a column to be written: a declared column with many qualifiers is refused.
async fn one_place(session: &Session, table: &Table, text: &Bytes) -> Result<ColumnName> {
    if let Some(column) = named(session, table, text).await?
        && column.qualifier().is_none()
    {
        return many(column);
    }
    place(session, table, text).await
}

/// Parses a value in the notation for the column's type; one that is not UTF-8 is taken as bytes.
fn typed(column: &Column, value: &[u8]) -> rowhouse::Result<FieldValue> {
    match std::str::from_utf8(value) {
        Ok(text) => column.parse_value(text),
        Err(_) => Ok(value.into()),
    }
}

/// Refuses a column with many qualifiers where one is needed.
fn many<T>(column: &Column) -> Result<T> {
    usage_error(format!(
        "`{name}` has many qualifiers, those of {}: name one by its fields, {{{name} => {{FIELD => value}}}}, or as '{}:…'",
        column.template().map(ToString::to_string).unwrap_or_default(),
        escape(column.family()),
        name = column.name(),
    ))
}

/// The columns that a read names, as given by the user, and their converters.
pub(super) struct WrittenColumns {
    texts: Vec<Bytes>,
    converters: Converters,
}

impl WrittenColumns {
    /// Takes the columns from COLUMN, from COLUMNS and from the arguments outside the hash, and the
    /// converter from FORMATTER.
    pub(super) fn take(options: &mut Options, outside: Vec<Value>) -> Result<Self> {
        let listed = [options.take_list("COLUMN"), options.take_list("COLUMNS"), outside];
        let mut converters = Converters::take(options)?;
        let text = |value: Value| {
            let text = argument::bytes("COLUMN", &value)?;
            let (family, Some(written)) = column(&text)? else { return Ok(text) };
            let (qualifier, Some(converter)) = Converter::split(&written)? else { return Ok(text) };
            let len = family.len() + 1 + qualifier.len();
            converters.add(family, qualifier, converter);
            Ok(text.slice(..len))
        };
        let texts = listed.into_iter().flatten().map(text).collect::<Result<_>>()?;
        Ok(Self { texts, converters })
    }

    /// Returns the value converters.
    pub(super) fn converters(&self) -> &Converters {
        &self.converters
    }

    /// Returns a table's selected columns.
    pub(super) async fn of(&self, session: &Session, table: &Table) -> Result<Columns> {
        let mut columns = Columns::all();
        let mut templates = Vec::new();
        for text in &self.texts {
            match named(session, table, text).await? {
                Some(column) if column.template().is_some() => templates.push(column.family()),
                _ => match place(session, table, text).await? {
                    (family, None) => columns.add_family(family),
                    (family, Some(qualifier)) => columns.add_column(family, qualifier),
                },
            }
        }
        // A column that follows the family selects less, and templates need the family.
        for family in templates {
            columns.add_family(Bytes::copy_from_slice(family));
        }
        Ok(columns)
    }

    /// Returns the cells in the selected columns.
    pub(super) async fn cells<'t>(
        &self,
        session: &Session,
        table: &'t Table,
    ) -> Result<SelectedCells<'t>> {
        let mut parts = Vec::new();
        for text in &self.texts {
            parts.push(match named(session, table, text).await? {
                Some(column) if column.template().is_some() => SelectedColumn::Template(column),
                _ => match place(session, table, text).await? {
                    (family, None) => SelectedColumn::Family(family),
                    (family, Some(qualifier)) => SelectedColumn::Column(family, qualifier),
                },
            });
        }
        Ok(SelectedCells::new(table, parts))
    }
}
