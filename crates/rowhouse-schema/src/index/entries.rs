//! A row's entries, and an entry's row.

use std::borrow::Cow;

use rowhouse_model::{Bytes, Error, KeyValue, Result, Row, escape};

use super::cells::newest;
use super::declaration::{Declaration, Index};
use super::full_form::KeySource;
use super::names::Source;
use crate::columns::Column;
use crate::encode::ValueForm;
use crate::error::KeyMismatch;
use crate::field::Field;
use crate::key::KeyReader;
use crate::value::{FieldValue, Value};

/// An index entry: the key, and the row's covered cells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The full form, encoded.
    pub key: Bytes,
    /// Each covered column's newest cell, in declaration order; `None` for a column without a cell.
    pub covered: Vec<Option<Covered>>,
}

/// A covered cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Covered {
    /// The cell's timestamp in the row, in milliseconds.
    pub timestamp: i64,
    /// The value.
    pub value: Bytes,
}

impl Index {
    /// Returns the entries of a row with these visible cells, in key order. Each column's newest
    /// cell counts.
    ///
    /// There is none for a row without cells, for one whose key does not fit the table's template,
    /// for one that does not meet the condition, and where a field is null that may not be. A
    /// full-text index has none at all: see [`Search::values`](crate::Search::values).
    ///
    /// ```
    /// use rowhouse_model::{Cell, CellKind, Row, Timestamp};
    /// use rowhouse_schema::{ColumnSchema, IndexSchema, KeySchema};
    ///
    /// let key = KeySchema::parse("[user string]")?;
    /// let columns = ColumnSchema::parse("d:m mail string")?;
    /// let indexes = IndexSchema::parse("by_mail [mail]", Some(&key), Some(&columns))?;
    /// let index = indexes.index("by_mail")?;
    ///
    /// let row = key.encode(&[("user", "bob".into())])?;
    /// let mail = columns.encode("mail", "b@example.com")?;
    /// let (at, kind) = (Timestamp::from_millis(1)?, CellKind::Put);
    /// let cell = Cell::new(row.clone(), mail.family, mail.qualifier, at, kind, mail.value)?;
    ///
    /// let entries = index.entries(&row, &Row::new(vec![cell]))?;
    /// assert_eq!(entries[0].key, "b@example.com\0\u{1}bob\0\u{1}");
    /// assert_eq!(index.row_key(&entries[0].key)?, row);
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    ///
    /// # Errors
    /// `InvalidRequest` for an entry that is longer than a row key can be.
    pub fn entries(&self, row: &[u8], cells: &Row) -> Result<Vec<Entry>> {
        if cells.is_empty() {
            return Ok(Vec::new());
        }
        self.entries_of_existing(row, cells)
    }

    /// As [`Index::entries`], for a row that has some cell, which need not be among these.
    ///
    /// # Errors
    /// As [`Index::entries`].
    pub fn entries_of_existing(&self, row: &[u8], cells: &Row) -> Result<Vec<Entry>> {
        let index = &*self.declaration;
        if index.search.is_some() {
            return Ok(Vec::new());
        }
        let mut key = Vec::new();
        let fits = |key: &mut Vec<Value>| match &index.key {
            Some(schema) => schema.decode_into(row, key).is_ok(),
            None => true,
        };
        let matches = |key: &[Value]| match &index.rows {
            Some(rows) => rows.matches(key, cells),
            None => true,
        };
        if !fits(&mut key) || !matches(&key) {
            return Ok(Vec::new());
        }
        let mut values = EntryValues { key: &key, own: vec![Value::Null; index.sources.len()] };
        let mut templated = None;
        for (source, own) in index.sources.iter().zip(&mut values.own) {
            match source {
                Source::Key(_) => {}
                Source::Row => *own = Value::Bytes(row.to_vec()),
                Source::Column(at) => *own = index.value(*at, cells),
                Source::Qualifier { column, .. } => templated = Some(*column),
            }
        }
        let mut keys = Vec::new();
        match templated {
            None => index.push(row, &values, &mut keys)?,
            Some(column) => index.push_each(row, column, cells, &mut values, &mut keys)?,
        }
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let covered: Vec<_> = index.covers.iter().map(|column| covered(column, cells)).collect();
        Ok(keys.into_iter().map(|key| Entry { key, covered: covered.clone() }).collect())
    }

    /// Returns the entry keys that a row with these visible cells has now or later, if nobody
    /// writes it: cells in a family with a time to live, in milliseconds, end one after the other.
    ///
    /// ```
    /// use rowhouse_model::{Cell, CellKind, Row, Timestamp};
    /// use rowhouse_schema::{ColumnSchema, IndexSchema};
    ///
    /// let columns = ColumnSchema::parse("d:a a u8; d:b b u8")?;
    /// let indexes = IndexSchema::parse("ab [a null first][b]", None, Some(&columns))?;
    /// let cell = |qualifier: &'static str, at, value: u8| {
    ///     let (at, value) = (Timestamp::from_millis(at)?, vec![value]);
    ///     Cell::new("r", "d", qualifier, at, CellKind::Put, value)
    /// };
    /// let row = Row::new(vec![cell("a", 1, 1)?, cell("b", 2, 2)?]);
    /// let index = indexes.index("ab")?;
    /// assert_eq!(index.entries_over_time(b"r", &row, |_| None)?.len(), 1);
    /// // When `a` has ended, the row has another entry, as long as `b` lasts.
    /// assert_eq!(index.entries_over_time(b"r", &row, |_| Some(1000))?.len(), 2);
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Index::entries`].
    pub fn entries_over_time(
        &self,
        row: &[u8],
        cells: &Row,
        ttl_of: impl Fn(&[u8]) -> Option<i64>,
    ) -> Result<Vec<Bytes>> {
        let keys = |cells: &Row| -> Result<Vec<Bytes>> {
            Ok(self.entries(row, cells)?.into_iter().map(|entry| entry.key).collect())
        };
        let mut collected = keys(cells)?;
        let end = |cell: &KeyValue<'_>| {
            ttl_of(cell.family()).map(|ttl| cell.timestamp().as_millis().saturating_add(ttl))
        };
        let mut ends: Vec<_> = cells.cells().filter_map(|cell| end(&cell)).collect();
        ends.sort_unstable();
        ends.dedup();
        for at in ends {
            let lasts = |cell: &KeyValue<'_>| end(cell).is_none_or(|end| end > at);
            let left = cells.cells().filter(lasts).map(|cell| cell.to_cell());
            collected.extend(keys(&Row::new(left.collect()))?);
        }
        collected.sort_unstable();
        collected.dedup();
        Ok(collected)
    }

    /// Returns true if a row's key fits the table's template. A row that does not fit has no
    /// entries.
    pub fn fits(&self, row: &[u8]) -> bool {
        match &self.declaration.key {
            Some(key) => key.decode_into(row, &mut Vec::new()).is_ok(),
            None => true,
        }
    }

    /// Returns the row key to which an entry belongs.
    ///
    /// # Errors
    /// Says where the entry does not fit the full form. Entries from [`Index::entries`] always fit.
    pub fn row_key(&self, entry: &[u8]) -> Result<Vec<u8>, KeyMismatch> {
        let index = &*self.declaration;
        let mut values = Vec::new();
        index.full.decode_into(entry, &mut values)?;
        match (&index.key_source, &index.key) {
            (KeySource::Row(slot), _) => match values.swap_remove(*slot) {
                Value::Bytes(row) if !row.is_empty() => Ok(row),
                _ => Err(KeyMismatch::new(entry.len(), "the entry has no row key")),
            },
            (KeySource::Fields(slots), Some(key)) => {
                let value_of = |field: usize| slots.get(field).map(|slot| &values[*slot]);
                let mut row = Vec::new();
                key.encode_by(value_of, &mut row)
                    .map_err(|why| KeyMismatch::new(0, why.message().to_owned()))?;
                Ok(row)
            }
            (KeySource::Fields(_), None) => {
                Err(KeyMismatch::new(0, "the table has no key template"))
            }
        }
    }

    /// Returns the error for a row that would be the second one with a unique value, which is the
    /// entry's [`Index::unique_prefix`].
    pub fn taken(&self, value: &[u8], owner: &[u8], refused: &[u8]) -> Error {
        Error::invalid(format!(
            "the index {} is unique, and another row has the value: entry={}, row={}, refused \
             row={}",
            self.name(),
            escape(value),
            escape(owner),
            escape(refused)
        ))
    }

    /// Returns the entry part that holds the declared fields, before the appended ones; `None` if a
    /// declared field is null, or if the entry does not fit. In a unique index, no two rows have
    /// entries with the same part.
    ///
    /// ```
    /// use rowhouse_schema::{ColumnSchema, IndexSchema, KeySchema};
    ///
    /// let key = KeySchema::parse("[user string]")?;
    /// let columns = ColumnSchema::parse("d:m mail string")?;
    /// let indexes = IndexSchema::parse("by_mail [mail] unique", Some(&key), Some(&columns))?;
    /// let prefix = indexes.index("by_mail")?.unique_prefix(b"b@x.org\0\x01bob\0\x01");
    /// assert_eq!(prefix, Some(&b"b@x.org\0\x01"[..]));
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    pub fn unique_prefix<'e>(&self, entry: &'e [u8]) -> Option<&'e [u8]> {
        let index = &*self.declaration;
        if index.search.is_some() {
            return None;
        }
        let mut reader = KeyReader::new(&index.full, entry).ok()?;
        for _ in 0..index.named {
            let is_null = |_: &Field, value: FieldValue<'_>| value.into_value().is_null();
            if reader.next(ValueForm::Own, |_| {}, is_null).ok()? {
                return None;
            }
        }
        reader.skip_to(index.named_elements).ok()?;
        Some(&entry[..reader.offset()])
    }
}

impl Declaration {
    /// Returns a column's newest value; null if it has none that fits.
    fn value(&self, column: usize, cells: &Row) -> Value {
        let Some(columns) = &self.columns else { return Value::Null };
        let column = &columns.columns()[column];
        let cell = newest(column, cells);
        cell.and_then(|cell| column.read_value(cell.value())).unwrap_or(Value::Null)
    }

    /// Adds the entry with these values, if none is null that may not be.
    pub(super) fn push(
        &self,
        row: &[u8],
        values: &EntryValues<'_>,
        keys: &mut Vec<Bytes>,
    ) -> Result<()> {
        let value_of = |slot: usize| Some(values.get(&self.sources, slot));
        let is_missing = |slot: usize| {
            values.get(&self.sources, slot).is_null() && !self.full.codec(slot).is_nullable()
        };
        if (0..self.sources.len()).any(is_missing) {
            return Ok(());
        }
        let mut key = Vec::with_capacity(64);
        self.full.encode_by(value_of, &mut key).map_err(|error| {
            Error::invalid(format!(
                "a row cannot have its entry in the index `{}`: {}, row={}",
                self.name,
                error.message(),
                shortened(row)
            ))
        })?;
        keys.push(key.into());
        Ok(())
    }

    /// Adds an entry for each cell in a column with a qualifier template.
    fn push_each(
        &self,
        row: &[u8],
        column: usize,
        cells: &Row,
        values: &mut EntryValues<'_>,
        keys: &mut Vec<Bytes>,
    ) -> Result<()> {
        let Some(columns) = &self.columns else { return Ok(()) };
        let column = &columns.columns()[column];
        let Some(template) = column.template() else { return Ok(()) };
        let mut fields = Vec::new();
        for cell in cells.cells().filter(|cell| cell.family() == column.family()) {
            let qualifier = cell.qualifier();
            if !qualifier.starts_with(column.lead())
                || template.decode_into(qualifier, &mut fields).is_err()
            {
                continue;
            }
            for (source, own) in self.sources.iter().zip(&mut values.own) {
                if let Source::Qualifier { slot, .. } = source {
                    own.clone_from(&fields[*slot]);
                }
            }
            self.push(row, values, keys)?;
        }
        keys.sort_unstable();
        keys.dedup();
        Ok(())
    }
}

/// An entry's values: the key fields' values, and the others by slot.
pub(super) struct EntryValues<'k> {
    pub(super) key: &'k [Value],
    pub(super) own: Vec<Value>,
}

impl EntryValues<'_> {
    fn get(&self, sources: &[Source], slot: usize) -> &Value {
        match sources[slot] {
            Source::Key(field) => &self.key[field],
            _ => &self.own[slot],
        }
    }
}

fn covered(column: &Column, cells: &Row) -> Option<Covered> {
    let cell = newest(column, cells)?;
    Some(Covered { timestamp: cell.timestamp().as_millis(), value: cell.value_bytes() })
}

/// Writes a long row key's beginning.
fn shortened(row: &[u8]) -> Cow<'static, str> {
    const SHOWN_MAX: usize = 64;
    if row.len() > SHOWN_MAX {
        format!("{}… ({} bytes)", escape(&row[..SHOWN_MAX]), row.len()).into()
    } else {
        escape(row).into()
    }
}
