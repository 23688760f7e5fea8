//! Rows as documents.

use rowhouse_model::{Bytes, Columns, Error, Get, Result, Row, escape};
use rowhouse_schema::{Column, ColumnSchema, KeySchema};
use rowhouse_search::{OrderedRow, ROW_NAME, document_name};

use super::answer::Data;
use super::request::{Fields, SCORE};

/// The fields in an answer's documents.
pub(super) struct Shape<'a> {
    key: Option<&'a KeySchema>,
    has_row: bool,
    has_score: bool,
    /// The names of key fields that documents have.
    of_key: Vec<&'a str>,
    columns: Vec<&'a Column>,
    /// Columns that are read and not shown.
    also_read: Vec<&'a Column>,
}

impl<'a> Shape<'a> {
    /// Looks the names up.
    ///
    /// # Errors
    /// `InvalidRequest` for a name that no document has.
    pub(super) fn new(
        fields: &Fields,
        key: Option<&'a KeySchema>,
        columns: &'a ColumnSchema,
    ) -> Result<Self> {
        let names = |name: &str| fields.names.iter().any(|other| other == name);
        let is_selected = |name: &str| fields.is_all || names(&document_name(name));
        let key_names = key.iter().flat_map(|key| key.fields()).map(|field| field.name());
        let key_names: Vec<_> = key_names.collect();
        // A column with the same name holds what the key holds a part of.
        let shown = |column: &&Column| is_selected(column.name());
        let own: Vec<_> = columns.columns().iter().collect();
        let unknown = fields.names.iter().find(|name| {
            let of_key = key_names.iter().any(|it| document_name(it) == **name);
            let of_column = own.iter().any(|it| document_name(it.name()) == **name);
            *name != ROW_NAME && !of_key && !of_column
        });
        if let Some(name) = unknown {
            let all = key_names.iter().copied().chain(own.iter().map(|it| it.name()));
            let all: Vec<_> = all.map(document_name).collect();
            return Err(Error::invalid(format!(
                "undefined field in fl: {name}; fields={ROW_NAME}, {SCORE}, {}",
                all.join(", ")
            )));
        }
        Ok(Self {
            key,
            has_row: fields.is_all || names(ROW_NAME),
            has_score: fields.score,
            of_key: key_names.iter().copied().filter(|name| is_selected(name)).collect(),
            columns: own.into_iter().filter(shown).collect(),
            also_read: Vec::new(),
        })
    }

    /// Reads a column too.
    pub(super) fn read_also(&mut self, column: &'a Column) {
        self.also_read.push(column);
    }

    /// Returns the get that reads a row's cells; `None` if none are needed.
    ///
    /// # Errors
    /// `InvalidRequest` for a row that cannot be read.
    pub(super) fn get(&self, row: &Bytes) -> Result<Option<Get>> {
        if self.columns.is_empty() && self.also_read.is_empty() {
            return Ok(None);
        }
        let mut get = Get::new(row.clone())?;
        let mut columns = Columns::all();
        for column in self.columns.iter().chain(&self.also_read) {
            let family = Bytes::copy_from_slice(column.family());
            match column.qualifier() {
                Some(qualifier) => columns.add_column(family, Bytes::copy_from_slice(qualifier)),
                None => columns.add_family(family),
            }
        }
        get.columns = columns;
        Ok(Some(get))
    }

    /// Returns a row's document.
    pub(super) fn document(&self, hit: &OrderedRow, cells: Option<&Row>) -> Vec<(String, Data)> {
        let mut document = Vec::new();
        if self.has_row {
            document.push((ROW_NAME.to_owned(), Data::Text(escape(&hit.row))));
        }
        let values = self.key.and_then(|key| key.decode(&hit.row).ok());
        for name in &self.of_key {
            let value = values.as_ref().and_then(|values| values.get(name));
            let data = value.and_then(Data::of_value);
            document.extend(data.map(|data| (document_name(name).into_owned(), data)));
        }
        for column in &self.columns {
            let data = cells.and_then(|cells| self.column(column, cells));
            let name = document_name(column.name()).into_owned();
            match document.iter_mut().find(|(other, _)| *other == name) {
                Some((_, known)) => data.into_iter().for_each(|data| *known = data),
                None => document.extend(data.map(|data| (name, data))),
            }
        }
        if self.has_score {
            document.push((SCORE.to_owned(), Data::Float(hit.score)));
        }
        document
    }

    /// Returns a column's value: the newest cell's value; for a column with many qualifiers, all
    /// their values.
    fn column(&self, column: &Column, cells: &Row) -> Option<Data> {
        match column.qualifier() {
            Some(qualifier) => {
                let cell = cells.cell(column.family(), qualifier)?;
                Some(match column.decode_value(cell.value()) {
                    Ok(value) => Data::of_value(&value)?,
                    Err(_) => Data::Bytes(cell.value().to_vec()),
                })
            }
            None => {
                let own = cells.cells().filter(|cell| cell.family() == column.family());
                let template = column.template()?;
                let own = own.filter(|cell| template.decode(cell.qualifier()).is_ok());
                let values = own.filter_map(|cell| column.decode_value(cell.value()).ok());
                let values: Vec<_> = values.filter_map(|value| Data::of_value(&value)).collect();
                Some(Data::List(values)).filter(|list| *list != Data::List(Vec::new()))
            }
        }
    }
}
