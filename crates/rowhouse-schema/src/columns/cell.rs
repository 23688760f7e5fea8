//! Encoding named values as cells, and decoding cells.

use std::fmt;

use rowhouse_model::{Bytes, Error, Result, escape};

use super::{Column, ColumnAddress, ColumnSchema};
use crate::error::KeyMismatch;
use crate::key::{NamedValues, Values};
use crate::value::{Shown, Value};

/// A named value's address and bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CellBytes {
    /// The family.
    pub family: Bytes,
    /// The qualifier.
    pub qualifier: Bytes,
    /// The value's bytes.
    pub value: Bytes,
}

/// A cell, decoded by the column's declaration.
#[derive(Clone, Debug, PartialEq)]
pub struct NamedCell<'c> {
    /// The column.
    pub column: &'c Column,
    /// The qualifier's fields, if it is declared as a template.
    pub fields: Option<Values>,
    /// The value.
    pub value: Value,
}

/// Why a cell does not fit the declared columns.
///
/// It is not a read error: a table may hold cells that were written before the columns were
/// declared, or by a program that does not know them. Such cells are shown as bytes.
///
/// ```
/// use rowhouse_schema::ColumnSchema;
///
/// let columns = ColumnSchema::parse("d:n count u64; f:[at millis desc] price f64")?;
/// let why = |family: &[u8], qualifier: &[u8]| {
///     columns.decode(family, qualifier, b"many").unwrap_err().to_string()
/// };
/// assert_eq!(why(b"d", b"n"), "value of `count` does not fit: needs 8 bytes, 4 are left: at=0");
/// assert_eq!(
///     why(b"f", b"now"),
///     "qualifier of `price` does not fit: field `at`: needs 8 bytes, 3 are left: at=0"
/// );
/// assert_eq!(why(b"d", b"m"), "no column is declared for d:m");
/// # Ok::<(), rowhouse_model::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CellMismatch {
    /// No declaration covers the cell.
    Undeclared {
        /// The cell's family.
        family: Vec<u8>,
        /// The cell's qualifier.
        qualifier: Vec<u8>,
    },
    /// The qualifier begins like the template's qualifiers but does not fit the template.
    Qualifier {
        /// The column name.
        column: String,
        /// The offset in the qualifier, and what the template requires there.
        why: KeyMismatch,
    },
    /// The bytes are no value for the column's type.
    Value {
        /// The column name.
        column: String,
        /// The offset in the value, and what the type requires there.
        why: KeyMismatch,
    },
}

impl ColumnSchema {
    /// Encodes a named value as a cell.
    ///
    /// # Errors
    /// As [`ColumnSchema::column`] and [`Column::encode_value`]; `InvalidRequest` for a column with
    /// many qualifiers, which needs [`ColumnSchema::encode_with`].
    pub fn encode(&self, name: &str, value: impl Into<Value>) -> Result<CellBytes> {
        let column = self.column(name)?;
        let Some(qualifier) = column.qualifier() else {
            return Err(Error::invalid(format!(
                "column `{name}` has many qualifiers, {}: choose one by the values of its fields",
                ColumnAddress(column)
            )));
        };
        let value = column.encode_value(&value.into())?;
        let qualifier = Bytes::copy_from_slice(qualifier);
        Ok(CellBytes { family: column.family.clone(), qualifier, value })
    }

    /// Encodes a named value as a cell whose qualifier has these fields.
    ///
    /// # Errors
    /// As [`ColumnSchema::column`], [`KeySchema::encode`](crate::KeySchema::encode) and
    /// [`Column::encode_value`]; `InvalidRequest` for a column with one qualifier.
    pub fn encode_with<V: NamedValues + ?Sized>(
        &self,
        name: &str,
        fields: &V,
        value: impl Into<Value>,
    ) -> Result<CellBytes> {
        let column = self.column(name)?;
        let Some(template) = column.template() else {
            return Err(Error::invalid(format!(
                "column `{name}` has one qualifier, {}, without fields",
                ColumnAddress(column)
            )));
        };
        let qualifier = template
            .encode(fields)
            .map_err(|error| error.with_context(format_args!("qualifier of column `{name}`")))?;
        let value = column.encode_value(&value.into())?;
        Ok(CellBytes { family: column.family.clone(), qualifier, value })
    }

    /// Decodes a cell, or returns why it does not fit. Never panics; the result encodes to the same
    /// cell.
    ///
    /// # Errors
    /// Says whether the qualifier or the value does not fit, and at which byte.
    pub fn decode(
        &self,
        family: &[u8],
        qualifier: &[u8],
        value: &[u8],
    ) -> Result<NamedCell<'_>, CellMismatch> {
        if let Some(column) = self.single(family, qualifier) {
            return Ok(NamedCell { column, fields: None, value: column.decode_value(value)? });
        }
        let Some((column, template)) = self.template_of(family, qualifier) else {
            let family = family.to_vec();
            let qualifier = qualifier.to_vec();
            return Err(CellMismatch::Undeclared { family, qualifier });
        };
        let fields = template
            .decode(qualifier)
            .map_err(|why| CellMismatch::Qualifier { column: column.name().to_owned(), why })?;
        Ok(NamedCell { column, fields: Some(fields), value: column.decode_value(value)? })
    }
}

impl fmt::Display for NamedCell<'_> {
    /// Writes the name, the qualifier's fields in brackets if there are any, and the value.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.column.name())?;
        if let Some(fields) = &self.fields {
            write!(f, "[{fields}]")?;
        }
        write!(f, "={}", Shown(&self.value, self.column.value_zone()))
    }
}

impl CellMismatch {
    /// The name of the column whose declaration covers the cell; `None` if there is none.
    pub fn column(&self) -> Option<&str> {
        match self {
            Self::Undeclared { .. } => None,
            Self::Qualifier { column, .. } | Self::Value { column, .. } => Some(column),
        }
    }
}

impl fmt::Display for CellMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Undeclared { family, qualifier } => {
                write!(f, "no column is declared for {}:{}", escape(family), escape(qualifier))
            }
            Self::Qualifier { column, why: KeyMismatch { at, why } } => {
                write!(f, "qualifier of `{column}` does not fit: {why}: at={at}")
            }
            Self::Value { column, why: KeyMismatch { at, why } } => {
                write!(f, "value of `{column}` does not fit: {why}: at={at}")
            }
        }
    }
}

impl std::error::Error for CellMismatch {}

impl From<CellMismatch> for Error {
    fn from(why: CellMismatch) -> Self {
        Error::invalid(why.to_string()).with_source(why)
    }
}
