//! A declared column, or one qualifier template's columns.

use std::fmt;

use rowhouse_model::{Bytes, Error, Result};

use super::CellMismatch;
use crate::encode::{FieldType, Holds};
use crate::error::KeyMismatch;
use crate::field::Field;
use crate::key::KeySchema;
use crate::template::{Element, print_literal};
use crate::time::FixedZone;
use crate::value::Value;

/// A column as declared, `d:n count u64`, or a qualifier template's columns,
/// `f:[at millis desc] price f64`.
///
/// ```
/// use rowhouse_schema::ColumnSchema;
///
/// let columns = ColumnSchema::parse("d:n count u64; f:[at millis desc] price f64")?;
/// let count = columns.column("count")?;
/// assert_eq!((count.family(), count.qualifier()), (&b"d"[..], Some(&b"n"[..])));
/// assert_eq!(count.encode_value(&7.into())?, &b"\0\0\0\0\0\0\0\x07"[..]);
///
/// let price = columns.column("price")?;
/// assert_eq!(price.template().unwrap().to_string(), "[at millis desc]");
/// # Ok::<(), rowhouse_model::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    pub(crate) family: Bytes,
    pub(super) qualifier: Qualifier,
    /// The name, and the values' type and form.
    pub(super) value: Field,
}

/// The qualifiers that belong to a declaration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Qualifier {
    Literal(Bytes),
    Template(KeySchema),
}

impl Column {
    /// The name.
    pub fn name(&self) -> &str {
        self.value.name()
    }

    /// The family.
    pub fn family(&self) -> &[u8] {
        &self.family
    }

    /// The qualifier; `None` if the declaration has a template.
    pub fn qualifier(&self) -> Option<&[u8]> {
        match &self.qualifier {
            Qualifier::Literal(qualifier) => Some(qualifier),
            Qualifier::Template(_) => None,
        }
    }

    /// The qualifier template, if there is one.
    pub fn template(&self) -> Option<&KeySchema> {
        match &self.qualifier {
            Qualifier::Literal(_) => None,
            Qualifier::Template(template) => Some(template),
        }
    }

    /// The value type.
    pub fn field_type(&self) -> &FieldType {
        self.value.field_type()
    }

    /// The sets from which a Rust type must hold one to fit the values, as [`Field::needs`].
    pub fn needs(&self) -> Vec<Holds> {
        self.value.needs()
    }

    /// Encodes a value.
    ///
    /// # Errors
    /// `InvalidRequest` for a value with another kind, or one that the type cannot hold.
    pub fn encode_value(&self, value: &Value) -> Result<Bytes> {
        let refused = |why: String| Error::invalid(format!("column `{}`: {why}", self.name()));
        if value.is_null() {
            let why = "null is not a value of a column: omit the column, or delete it";
            return Err(refused(why.to_owned()));
        }
        let mut bytes = Vec::new();
        self.value.codec.encode(value, &mut bytes).map_err(refused)?;
        Ok(bytes.into())
    }

    /// Decodes a value. Never panics; the result encodes to the same bytes.
    ///
    /// # Errors
    /// The first byte that does not fit the type, and why.
    pub fn decode_value(&self, bytes: &[u8]) -> Result<Value, CellMismatch> {
        let decoded = self.value.codec.decode(bytes, 0).and_then(|(value, next)| {
            if next == bytes.len() {
                Ok(value)
            } else {
                Err(KeyMismatch::new(next, "there are bytes after the value"))
            }
        });
        decoded.map_err(|why| CellMismatch::Value { column: self.name().to_owned(), why })
    }

    /// As [`Column::decode_value`], without the reason.
    pub(crate) fn read_value(&self, bytes: &[u8]) -> Option<Value> {
        let (value, next) = self.value.codec.decode(bytes, 0).ok()?;
        (next == bytes.len()).then_some(value)
    }

    /// The zone for time values, if the declaration names one.
    pub(super) fn value_zone(&self) -> Option<FixedZone> {
        self.value.modifiers.zone
    }

    /// Parses plain text as a value, as [`Field::parse_value`] does.
    ///
    /// # Errors
    /// `InvalidRequest` that points at the mistake.
    pub fn parse_value(&self, text: &str) -> Result<Value> {
        self.value.parse_value(text)
    }

    pub(crate) fn field(&self) -> &Field {
        &self.value
    }

    /// The bytes with which all qualifiers begin.
    pub fn lead(&self) -> &[u8] {
        match &self.qualifier {
            Qualifier::Literal(qualifier) => qualifier,
            Qualifier::Template(template) => match template.elements().first() {
                Some(Element::Literal(bytes)) => bytes,
                _ => &[],
            },
        }
    }
}

/// Formats a column's family and qualifier as declarations write them.
pub(crate) struct ColumnAddress<'c>(pub(crate) &'c Column);

impl fmt::Display for ColumnAddress<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // An unescaped `;` before a family would separate declarations.
        let family = Literal(&self.0.family).to_string().replace(';', "\\x3B");
        write!(f, "{family}:")?;
        match &self.0.qualifier {
            Qualifier::Literal(qualifier) => write!(f, "{}", Literal(qualifier)),
            Qualifier::Template(template) => write!(f, "{template}"),
        }
    }
}

struct Literal<'b>(&'b [u8]);

impl fmt::Display for Literal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print_literal(self.0, f)
    }
}

impl fmt::Display for Column {
    /// Writes the declaration; parsing it returns an equal column.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", ColumnAddress(self), self.value)
    }
}
