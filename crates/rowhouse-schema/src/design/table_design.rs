//! A table design: the key template, and the indexes.

use std::fmt;

use rowhouse_model::{Bytes, Cell, CellKind, Error, Result, Row, Timestamp};

use super::random::mixed;
use super::workload::{Record, Workload};
use crate::columns::ColumnSchema;
use crate::index::{Index, IndexSchema};
use crate::key::KeySchema;
use crate::template::{Element, print_literal};
use crate::value::Value;

/// Family and qualifier for the cell that rows have if a workload declares no columns.
const ONLY_CELL: (&str, &str) = ("d", "x");

/// A design for a workload's table: the key template, and the indexes.
///
/// ```
/// use rowhouse_schema::{Design, Workload};
///
/// let text = "\
/// field user string: 3 values
/// field at millis: now
/// column d:s sender string: 5 bytes";
/// let workload = Workload::parse(text)?;
/// let design = Design::new(&workload, "[user string][at millis desc]", "by_sender [sender]")?;
/// let record = workload.record(0)?;
/// let key = design.key_of(&record, 0)?;
/// let entries = design.entries(&key, &record)?;
/// assert_eq!((design.indexes().len(), entries.len()), (1, 1));
///
/// // Every field of the workload is in the key.
/// assert!(Design::new(&workload, "[user string]", "").is_err());
/// # Ok::<(), rowhouse_model::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Design {
    key: KeySchema,
    indexes: IndexSchema,
    columns: Option<ColumnSchema>,
    /// Each key field's place in a record.
    places: Vec<usize>,
    /// The first column's place in a record.
    first_column: usize,
}

impl Design {
    /// Makes a design from a template and index declarations, separated by newlines or `;`.
    ///
    /// # Errors
    /// `InvalidRequest` for a mistake in them, for a template that lacks a workload field, has
    /// another field, or has a type that cannot hold the field's values.
    pub fn new(workload: &Workload, key: &str, indexes: &str) -> Result<Self> {
        let key = KeySchema::parse(key)?;
        check_key(workload, &key).map_err(Error::invalid)?;
        let columns = workload.columns().cloned();
        let indexes = IndexSchema::parse(indexes, Some(&key), columns.as_ref())?;
        if let Some(search) = indexes.indexes().iter().find(|index| index.search().is_some()) {
            return Err(Error::unsupported(format!(
                "full-text indexes are no part of designs: index={}",
                search.name()
            )));
        }
        let place = |name: &str| workload.names().position(|other| other == name);
        // `check_key` has found each one.
        let places = key.fields().iter().filter_map(|field| place(field.name())).collect();
        let first_column = workload.field_names().len();
        Ok(Self { key, indexes, columns, places, first_column })
    }

    /// Returns the design that the workload names as the present one.
    ///
    /// ```
    /// use rowhouse_schema::{Design, Workload};
    ///
    /// let text = "\
    /// key [at millis][user string]
    /// field user string: 3 values
    /// field at millis: now";
    /// let present = Design::present(&Workload::parse(text)?)?;
    /// assert_eq!(present.unwrap().to_string(), "[at millis][user string]");
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Design::new`].
    pub fn present(workload: &Workload) -> Result<Option<Self>> {
        let key = workload.key().map(ToString::to_string);
        key.map(|key| Self::new(workload, &key, &workload.indexes().join("\n"))).transpose()
    }

    /// The key template.
    pub fn key(&self) -> &KeySchema {
        &self.key
    }

    /// The indexes.
    pub fn indexes(&self) -> &[Index] {
        self.indexes.indexes()
    }

    /// Returns the key for row `number` in a workload. A salt depends on the number only.
    ///
    /// # Errors
    /// `InvalidRequest` for a value that a key field cannot hold.
    pub fn key_of(&self, record: &Record, number: u64) -> Result<Bytes> {
        encode(&self.key, &self.places, record, number)
    }

    /// Returns a row's cells.
    ///
    /// # Errors
    /// `InvalidRequest` for a value that a column cannot hold.
    pub fn cells(&self, key: &Bytes, record: &Record) -> Result<Row> {
        let at = Timestamp::from_millis(record.written_millis)?;
        let cell = |family: Bytes, qualifier: Bytes, value: Bytes| {
            Cell::new(key.clone(), family, qualifier, at, CellKind::Put, value)
        };
        let Some(columns) = &self.columns else {
            let (family, qualifier) = ONLY_CELL;
            let only = cell(family.into(), qualifier.into(), Bytes::new())?;
            return Ok(Row::new(vec![only]));
        };
        let values = record.values[self.first_column..].iter();
        // A column without a value has no cell.
        let values = columns.columns().iter().zip(values).filter(|(_, value)| !value.is_null());
        let cells = values.map(|(column, value)| {
            let encoded = columns.encode(column.name(), value.clone())?;
            cell(encoded.family, encoded.qualifier, encoded.value)
        });
        let mut cells = cells.collect::<Result<Vec<_>>>()?;
        cells.sort_by(|one, other| {
            (one.family(), one.qualifier()).cmp(&(other.family(), other.qualifier()))
        });
        Ok(Row::new(cells))
    }

    /// Returns, for each index, the keys of a row's entries.
    ///
    /// # Errors
    /// As [`Design::cells`], and for an entry that is longer than a key can be.
    pub fn entries(&self, key: &Bytes, record: &Record) -> Result<Vec<Vec<Bytes>>> {
        if self.indexes().is_empty() {
            return Ok(Vec::new());
        }
        let cells = self.cells(key, record)?;
        let entries = self.indexes().iter().map(|index| index.entries(key, &cells));
        entries.map(|of| Ok(of?.into_iter().map(|entry| entry.key).collect())).collect()
    }

    /// Returns the keys of a row's entries in one index.
    pub(super) fn entries_of(
        &self,
        index: usize,
        key: &Bytes,
        record: &Record,
    ) -> Result<Vec<Bytes>> {
        let entries = self.indexes()[index].entries(key, &self.cells(key, record)?)?;
        Ok(entries.into_iter().map(|entry| entry.key).collect())
    }

    /// Returns the declaration for an index that is this table under this key, for a table with
    /// another key: promoting the index leads from that key to this one. `None` if an index cannot
    /// have this key, because a field has another type than in the key of `from`.
    ///
    /// ```
    /// use rowhouse_schema::{Design, KeySchema, Workload};
    ///
    /// let workload = Workload::parse("field user string: 3 values\nfield at millis: now")?;
    /// let design = Design::new(&workload, "[user string][at millis desc]", "")?;
    /// let from = KeySchema::parse("[at millis][user string]")?;
    /// let copy = design.copy_of(&from, "advised");
    /// assert_eq!(copy.as_deref(), Some("advised [user][at desc] covers *"));
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    pub fn copy_of(&self, from: &KeySchema, name: &str) -> Option<String> {
        let mut template = String::new();
        for element in self.key.elements() {
            match element {
                Element::Literal(bytes) => template += &Literal(bytes).to_string(),
                Element::Computed(at) => template += &format!("[{}]", self.key.computed()[*at]),
                Element::Field(at) => {
                    let field = &self.key.fields()[*at];
                    template += &format!("[{}{}]", field.name(), field.modifiers);
                }
            }
        }
        let declaration = format!("{name} {template} covers *");
        let parsed = IndexSchema::parse(&declaration, Some(from), self.columns.as_ref()).ok()?;
        let promoted = parsed.promote(name, self.columns.as_ref()).ok()?;
        (promoted.key == self.key).then_some(declaration)
    }

    /// The table's family names.
    pub fn families(&self) -> Vec<String> {
        let declared = self.columns.iter().flat_map(|columns| columns.columns());
        let mut families: Vec<String> = Vec::new();
        for family in declared.map(|column| String::from_utf8_lossy(column.family()).into_owned()) {
            if !families.contains(&family) {
                families.push(family);
            }
        }
        if families.is_empty() {
            families.push(ONLY_CELL.0.to_owned());
        }
        families
    }

    /// Each key field's place in a record.
    pub(super) fn places(&self) -> &[usize] {
        &self.places
    }

    /// The declared columns.
    pub fn columns(&self) -> Option<&ColumnSchema> {
        self.columns.as_ref()
    }
}

/// Encodes a key from a record's values at these places, one for each field.
pub(super) fn encode(
    key: &KeySchema,
    places: &[usize],
    record: &Record,
    number: u64,
) -> Result<Bytes> {
    let values: Vec<Value> = places.iter().map(|at| record.values[*at].clone()).collect();
    if !key.has_salt() {
        let mut encoded = Vec::new();
        key.encode_values(&values, &mut encoded)?;
        return Ok(encoded.into());
    }
    let names = key.fields().iter().map(|field| field.name());
    let named: Vec<_> = names.zip(values).collect();
    key.encode_salted(&named, mixed(number))
}

/// Formats a template literal.
pub(super) struct Literal<'b>(pub(super) &'b [u8]);

impl fmt::Display for Literal<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        print_literal(self.0, f)
    }
}

impl fmt::Display for Design {
    /// Writes the template, and after it the indexes.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.key)?;
        self.indexes().iter().try_for_each(|index| write!(f, " + {index}"))
    }
}

/// Checks that a template has a workload's fields, with types that can hold their values.
///
/// # Errors
/// Says which field is missing, unknown, or has another type.
pub(super) fn check_key(workload: &Workload, key: &KeySchema) -> std::result::Result<(), String> {
    if let Some(missing) = workload.field_names().find(|name| key.field(name).is_none()) {
        return Err(format!(
            "the key has no field `{missing}`: rows that differ only in it would be one; declare \
             it as a column if that is wanted"
        ));
    }
    let known = |name: &str| workload.field_names().any(|other| other == name);
    if let Some(field) = key.fields().iter().find(|field| !known(field.name())) {
        return Err(format!("the workload has no field `{}`, which the key has", field.name()));
    }
    if key.computed().iter().any(|computed| computed.name().is_some_and(known)) {
        return Err("a computed field has the name of a field of the workload".to_owned());
    }
    for variable in workload.fields() {
        let example = variable.example(workload.end_millis());
        let Some((example, field)) = example.zip(key.field(variable.field.name())) else {
            continue;
        };
        let mut bytes = Vec::new();
        field.codec.encode(&example, &mut bytes).map_err(|why| {
            format!(
                "`{}` is `{}` in the key, and cannot hold `{}`: {why}",
                field.name(),
                field.field_type(),
                variable.field.field_type()
            )
        })?;
    }
    Ok(())
}
