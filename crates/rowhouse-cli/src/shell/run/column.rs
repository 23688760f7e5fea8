//! The column that a command is about: `family:qualifier`, or the name that the table declares for it.
//!
//! A name has no `:`. A text without one is a family in HBase's shell, and stays that where the table has such a family.

use rowhouse::{Bytes, Column, ColumnSchema, Columns, Error, Table, Value as FieldValue, escape};

use super::converter::{Converter, Converters};
use crate::shell::call::{self, Call, Options};
use crate::shell::failure::{Failure, Result, said};
use crate::shell::grammar::Value;
use crate::shell::session::Session;

/// A family, and a qualifier if one was written.
pub(super) type Place = (Bytes, Option<Bytes>);

/// Reads `family:qualifier`, `family:` (the empty qualifier) or `family`.
pub(super) fn column(text: &Bytes) -> Result<(Bytes, Option<Bytes>)> {
    let (family, qualifier) = match text.iter().position(|&byte| byte == b':') {
        Some(at) => (text.slice(..at), Some(text.slice(at + 1..))),
        None => (text.clone(), None),
    };
    if family.is_empty() {
        let text = escape(text);
        return said(format!("a column is FAMILY:QUALIFIER, its family is missing: '{text}'"));
    }
    Ok((family, qualifier))
}

/// A column that a command cannot do without, as it was written: the third argument.
pub(super) struct WrittenColumn(Bytes);

impl WrittenColumn {
    /// Takes it from the call. What can be refused without the table is refused now.
    pub(super) fn of(call: &Call) -> Result<Self> {
        let text = call.bytes(2)?;
        column(&text)?;
        Ok(Self(text))
    }

    /// The column of a table that is meant.
    pub(super) async fn place<W>(
        &self,
        session: &Session<W>,
        table: &Table,
    ) -> Result<(Bytes, Bytes)> {
        match one_place(session, table, &self.0).await? {
            (family, Some(qualifier)) => Ok((family, qualifier)),
            (_, None) => said(format!(
                "a column is FAMILY:QUALIFIER or the name of a declared one, its qualifier is missing: '{}'",
                escape(&self.0)
            )),
        }
    }

    /// The same, of a counter: a column that is declared to hold something else is refused.
    pub(super) async fn counter<W>(
        &self,
        session: &Session<W>,
        table: &Table,
    ) -> Result<(Bytes, Bytes)> {
        if let Some(column) = named(session, table, &self.0).await? {
            // As an increment writes it.
            let one = column.encode_value(&1.into());
            if !one.is_ok_and(|one| one[..] == 1i64.to_be_bytes()) {
                return said(format!(
                    "`{}` is {}, and a counter is java.long: eight bytes, the highest first",
                    column.name(),
                    column.field_type()
                ));
            }
        }
        self.place(session, table).await
    }
}

/// The declared column that a text names, if it is the name of one and of no family.
async fn named<'t, W>(
    session: &Session<W>,
    table: &'t Table,
    text: &[u8],
) -> Result<Option<&'t Column>> {
    let declared = table.column_schema().map(ColumnSchema::columns).unwrap_or_default();
    let Some(column) = declared.iter().find(|column| column.name().as_bytes() == text) else {
        return Ok(None);
    };
    let described = session.database.describe(&table.name().to_string()).await?;
    let is_family = described.families().iter().any(|family| family.name() == text);
    Ok((!is_family).then_some(column))
}

/// Where a column is stored that is written as bytes or by its name. Of a name that many qualifiers have, only
/// the family.
async fn place<W>(session: &Session<W>, table: &Table, text: &Bytes) -> Result<Place> {
    match named(session, table, text).await? {
        Some(column) => {
            let copied = Bytes::copy_from_slice;
            Ok((copied(column.family()), column.qualifier().map(copied)))
        }
        None => column(text),
    }
}

/// As [`place`], of a column to be changed: a name of many qualifiers is refused.
pub(super) async fn one_place<W>(
    session: &Session<W>,
    table: &Table,
    text: &Bytes,
) -> Result<Place> {
    if let Some(column) = named(session, table, text).await?
        && column.qualifier().is_none()
    {
        return many(column);
    }
    place(session, table, text).await
}

/// Where a cell is to be put, and its bytes: by a column's name, the value is one of the column's type.
pub(super) async fn cell<W>(
    session: &Session<W>,
    table: &Table,
    text: &Bytes,
    value: Bytes,
) -> Result<(Bytes, Bytes, Bytes)> {
    let Some(declared) = named(session, table, text).await? else {
        let (family, qualifier) = column(text)?;
        return Ok((family, qualifier.unwrap_or_default(), value));
    };
    let Some(qualifier) = declared.qualifier() else { return many(declared) };
    let refused =
        |error: Error| Failure::Said(format!("column `{}`: {}", declared.name(), error.message()));
    let value = typed(declared, &value).map_err(refused)?;
    // This error names the column itself.
    let encoded = declared.encode_value(&value).or_else(|error| said(error.message()))?;
    let copied = Bytes::copy_from_slice;
    Ok((copied(declared.family()), copied(qualifier), encoded))
}

/// A value as the column's values are written; what is no text is bytes.
fn typed(column: &Column, value: &[u8]) -> rowhouse::Result<FieldValue> {
    match std::str::from_utf8(value) {
        Ok(text) => column.parse_value(text),
        Err(_) => Ok(value.into()),
    }
}

fn many<T>(column: &Column) -> Result<T> {
    said(format!(
        "`{}` has many qualifiers, those of {}: write the one that is meant as '{}:…'",
        column.name(),
        column.template().map(ToString::to_string).unwrap_or_default(),
        escape(column.family())
    ))
}

/// The columns of a read, as they were written, and how they are to be shown.
pub(super) struct WrittenColumns {
    texts: Vec<Bytes>,
    converters: Converters,
}

impl WrittenColumns {
    /// Those of COLUMN, of COLUMNS, and those named outside the hash; and FORMATTER.
    pub(super) fn take(options: &mut Options, outside: Vec<Value>) -> Result<Self> {
        let listed = [options.take_list("COLUMN"), options.take_list("COLUMNS"), outside];
        let mut converters = Converters::take(options)?;
        let text = |value: Value| {
            let text = call::bytes("COLUMN", &value)?;
            let (family, Some(written)) = column(&text)? else { return Ok(text) };
            let (qualifier, Some(converter)) = Converter::split(&written)? else { return Ok(text) };
            let len = family.len() + 1 + qualifier.len();
            converters.add(family, qualifier, converter);
            Ok(text.slice(..len))
        };
        let texts = listed.into_iter().flatten().map(text).collect::<Result<_>>()?;
        Ok(Self { texts, converters })
    }

    /// How values are to be shown.
    pub(super) fn converters(&self) -> &Converters {
        &self.converters
    }

    /// The columns of a table that are meant.
    pub(super) async fn of<W>(&self, session: &Session<W>, table: &Table) -> Result<Columns> {
        let mut columns = Columns::all();
        for text in &self.texts {
            match place(session, table, text).await? {
                (family, None) => columns.add_family(family),
                (family, Some(qualifier)) => columns.add_column(family, qualifier),
            }
        }
        Ok(columns)
    }
}
