//! A full-text index: the fields, and the row values that the documents hold.

use std::fmt;
use std::sync::Arc;

use rowhouse_model::{Bytes, Columns, KeyValue, Row};

use super::analyser::Analyser;
use super::cells::{newest, select};
use super::names::Source;
use crate::columns::{Column, ColumnSchema};
use crate::key::KeySchema;
use crate::value::Value;

/// A full-text index's fields. Cheap to clone.
///
/// A field with analysers is a *text*: searches match the words. One without is a *value*: it
/// narrows a search, by the bytes that order the values.
///
/// ```
/// use rowhouse_model::{Cell, CellKind, Row, Timestamp};
/// use rowhouse_schema::{Analyser, ColumnSchema, IndexSchema};
///
/// let columns = ColumnSchema::parse("d:b body string; d:z size u32; t:[tag string] tagged u8")?;
/// let declared = "text search body english chinese, tagged.tag keyword, size";
/// let indexes = IndexSchema::parse(declared, None, Some(&columns))?;
/// assert_eq!(indexes.to_string(), declared);
///
/// let search = indexes.index("text")?.search().unwrap();
/// let (at, body) = search.field("body").unwrap();
/// assert_eq!((at, body.analysers()), (0, &[Analyser::English, Analyser::Chinese][..]));
/// assert_eq!(search.fields()[2].order().unwrap().to_string(), "[size u32]");
///
/// let cells = [columns.encode("body", "Row keys")?, columns.encode("size", 8)?,
///     columns.encode_with("tagged", &[("tag", "new".into())], 1)?];
/// let cells = cells.map(|cell| {
///     let (at, kind) = (Timestamp::from_millis(1)?, CellKind::Put);
///     Cell::new("row", cell.family, cell.qualifier, at, kind, cell.value)
/// });
/// let row = Row::new(cells.into_iter().collect::<Result<_, _>>()?);
/// let expected: [(usize, &[u8]); 3] = [(0, b"Row keys"), (1, b"new"), (2, b"\0\0\0\x08")];
/// assert_eq!(search.values(&row), expected.map(|(field, value)| (field, value.into())));
/// # Ok::<(), rowhouse_model::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Search {
    declared: Arc<Declared>,
}

#[derive(Debug)]
struct Declared {
    fields: Vec<SearchField>,
    columns: ColumnSchema,
    /// Positions: the columns whose qualifiers have fields in the index.
    templated: Vec<usize>,
}

/// A field in a full-text index.
#[derive(Clone, Debug)]
pub struct SearchField {
    name: String,
    analysers: Vec<Analyser>,
    order: Option<KeySchema>,
    /// A column, or a qualifier field.
    source: Source,
}

impl Search {
    pub(super) fn new(fields: Vec<SearchField>, columns: &ColumnSchema) -> Self {
        let templated = fields.iter().filter_map(|field| match field.source {
            Source::Qualifier { column, .. } => Some(column),
            Source::Column(_) | Source::Key(_) | Source::Row => None,
        });
        let mut templated: Vec<_> = templated.collect();
        templated.sort_unstable();
        templated.dedup();
        let columns = columns.clone();
        Self { declared: Arc::new(Declared { fields, columns, templated }) }
    }

    /// The fields, in declaration order.
    pub fn fields(&self) -> &[SearchField] {
        &self.declared.fields
    }

    /// Returns the field with this name, and the position.
    pub fn field(&self, name: &str) -> Option<(usize, &SearchField)> {
        self.fields().iter().enumerate().find(|(_, field)| field.name == name)
    }

    /// Returns true if the index has words from the field with this name.
    pub(super) fn has_text(&self, name: &str) -> bool {
        self.field(name).is_some_and(|(_, field)| field.is_text())
    }

    /// Returns the values that a row with these visible cells shows, each with the field's
    /// position, in field order. Each column's newest cell counts.
    ///
    /// A text field has the text bytes, whether they are UTF-8 or not, and a value field the bytes
    /// by which [`SearchField::order`] encodes the value. A qualifier field has a value for each
    /// cell. A cell whose value does not fit the column type gives a value field no value; a text
    /// field takes its bytes as they are.
    ///
    /// The caller leaves out rows whose keys do not fit the table's template
    /// ([`Index::fits`](crate::Index::fits)): they are in no answer.
    pub fn values(&self, cells: &Row) -> Vec<(usize, Bytes)> {
        let mut values = Vec::with_capacity(self.fields().len());
        for (at, field) in self.fields().iter().enumerate() {
            let Source::Column(column) = field.source else { continue };
            let column = &self.declared.columns.columns()[column];
            let value = newest(column, cells).and_then(|cell| field.of_cell(column, &cell));
            values.extend(value.map(|value| (at, value)));
        }
        for column in &self.declared.templated {
            self.push_qualifiers(*column, cells, &mut values);
        }
        // Stable: a field's values stay in cell order.
        values.sort_by_key(|(at, _)| *at);
        values
    }

    /// Adds the values of one column's qualifier fields.
    fn push_qualifiers(&self, position: usize, cells: &Row, values: &mut Vec<(usize, Bytes)>) {
        let column = &self.declared.columns.columns()[position];
        let Some(template) = column.template() else { return };
        let mut decoded = Vec::new();
        let mut before: Option<KeyValue<'_>> = None;
        for cell in cells.cells().filter(|cell| cell.family() == column.family()) {
            let qualifier = cell.qualifier();
            let is_older = before.is_some_and(|newer| newer.qualifier() == qualifier);
            before = Some(cell);
            if is_older
                || !qualifier.starts_with(column.lead())
                || template.decode_into(qualifier, &mut decoded).is_err()
            {
                continue;
            }
            for (at, field) in self.fields().iter().enumerate() {
                match field.source {
                    Source::Qualifier { column, slot } if column == position => {
                        values.extend(field.of_value(&decoded[slot]).map(|value| (at, value)));
                    }
                    _ => {}
                }
            }
        }
    }

    /// The cells that the fields read.
    pub(super) fn reads(&self) -> Columns {
        let column = |field: &SearchField| match field.source {
            Source::Column(at) | Source::Qualifier { column: at, .. } => Some(at),
            Source::Key(_) | Source::Row => None,
        };
        let used = self.fields().iter().filter_map(column);
        let used: Vec<_> = used.map(|at| &self.declared.columns.columns()[at]).collect();
        select(&used)
    }
}

impl SearchField {
    pub(super) fn new(
        name: String,
        analysers: Vec<Analyser>,
        order: Option<KeySchema>,
        source: Source,
    ) -> Self {
        Self { name, analysers, order, source }
    }

    /// The name: a column name, or a column name and a qualifier field's name, `tagged.tag`.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A text's analysers, in declaration order; none for a value field.
    pub fn analysers(&self) -> &[Analyser] {
        &self.analysers
    }

    /// Returns true if the field is a text, which is searched by words.
    pub fn is_text(&self) -> bool {
        !self.analysers.is_empty()
    }

    /// The template with this one field, such as `[size u64]`, which encodes a value field's values
    /// in order; `None` for a text.
    pub fn order(&self) -> Option<&KeySchema> {
        self.order.as_ref()
    }

    pub(super) fn source(&self) -> &Source {
        &self.source
    }

    /// Returns the value of a cell in the field's column.
    fn of_cell(&self, column: &Column, cell: &KeyValue<'_>) -> Option<Bytes> {
        let own = column.field();
        if self.is_text() && own.is_borrowable() && own.width().is_none() {
            return Some(cell.value_bytes());
        }
        match column.read_value(cell.value()) {
            Some(value) => self.of_value(&value),
            None => self.is_text().then(|| cell.value_bytes()),
        }
    }

    /// Returns a value's bytes; `None` for null.
    fn of_value(&self, value: &Value) -> Option<Bytes> {
        match (&self.order, value) {
            (_, Value::Null) => None,
            // Not by the template, which refuses what is longer than a row key.
            (Some(order), value) => {
                let mut bytes = Vec::new();
                order.codec(0).encode(value, &mut bytes).ok()?;
                Some(bytes.into())
            }
            (None, Value::Text(text)) => Some(Bytes::copy_from_slice(text.as_bytes())),
            (None, value) => value.as_bytes().map(Bytes::copy_from_slice),
        }
    }
}

impl fmt::Display for Search {
    /// Writes the declaration without the index name.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (nth, field) in self.fields().iter().enumerate() {
            write!(f, "{} {field}", if nth == 0 { "search" } else { "," })?;
        }
        Ok(())
    }
}

impl fmt::Display for SearchField {
    /// Writes the name and the analysers.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        self.analysers.iter().try_for_each(|analyser| write!(f, " {analyser}"))
    }
}
