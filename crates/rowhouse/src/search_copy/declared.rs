//! What a copy declares.

use rowhouse_model::{
    Bytes, Columns, Error, FamilyDescriptor, Result, TableDescriptor, TableName, escape,
};
use rowhouse_schema::{
    COLUMNS_ATTRIBUTE, Column, ColumnSchema, Index, IndexSchema, KEY_ATTRIBUTE, KeySchema,
    LAYOUT_ATTRIBUTE, check_declarations, layout_of,
};

use super::{Origin, SCANNED_ATTRIBUTE, SOURCE_ATTRIBUTE};
use crate::spec::with_indexes;

/// What a copy declares, and what it has from a row.
pub(super) struct Declared {
    pub(super) key: KeySchema,
    /// The columns that the indexes name, and no others: a condition on another column would find
    /// nothing.
    pub(super) columns: ColumnSchema,
    indexes: String,
    /// The index names.
    pub(super) index_names: Vec<String>,
    origin: Origin,
    /// The table layout, if it ever had another key or other columns.
    layout: Option<Bytes>,
}

/// The declarations that a caller gives, instead of the source's declarations.
#[derive(Default)]
pub(super) struct Given {
    pub(super) key: Option<String>,
    pub(super) columns: Option<String>,
    pub(super) indexes: Vec<String>,
}

impl Declared {
    /// Returns the declaration for a copy of `source`, which replaces `before`.
    ///
    /// # Errors
    /// `InvalidRequest` if neither the caller nor the source declares key and columns, for an index
    /// with another kind, and for mistakes in declarations.
    pub(super) fn of(
        source: &TableDescriptor,
        given: &Given,
        origin: Origin,
        before: Option<&TableDescriptor>,
    ) -> Result<Self> {
        let name = source.name();
        let undeclared = |what: &str| {
            Error::invalid(format!("the table declares no {what}, so it must be given: {name}"))
        };
        let key = match &given.key {
            Some(key) => Some(KeySchema::parse(key)?),
            None => KeySchema::of_table(source)?,
        };
        let key = key.ok_or_else(|| undeclared("key"))?;
        let columns = match &given.columns {
            Some(columns) => Some(ColumnSchema::parse(columns)?),
            None => ColumnSchema::of_table(source)?,
        };
        let columns = columns.ok_or_else(|| undeclared("columns"))?;
        columns.check_families(source)?;
        let indexes = given.indexes.join("\n");
        let declared = IndexSchema::parse(&indexes, Some(&key), Some(&columns))?;
        if declared.indexes().is_empty() {
            return Err(Error::invalid(format!("the build names no full-text index: {name}")));
        }
        let mut searched = Vec::new();
        for index in declared.indexes() {
            searched.extend(columns_of(index)?);
        }
        let text =
            columns.columns().iter().filter(|it| searched.iter().any(|name| *name == it.name()));
        let text: Vec<_> = text.map(Column::to_string).collect();
        let columns = ColumnSchema::parse(&text.join("; "))?;
        let index_names = declared.indexes().iter().map(|index| index.name().to_owned()).collect();
        let mut copy = Self { key, columns, indexes, index_names, origin, layout: None };
        copy.layout = before.and_then(|before| copy.layout_after(before));
        check_declarations(&copy.finished(copy.started(name.clone())?)?)?;
        Ok(copy)
    }

    /// Returns the table that a build fills.
    pub(super) fn started(&self, name: TableName) -> Result<TableDescriptor> {
        let table = TableDescriptor::new(name)
            .attribute(KEY_ATTRIBUTE, self.key.to_stored())
            .attribute(COLUMNS_ATTRIBUTE, self.columns.to_stored())
            .attribute(SOURCE_ATTRIBUTE, self.origin.url.clone())
            .attribute(SCANNED_ATTRIBUTE, self.origin.scanned_millis.to_string());
        let table = match &self.layout {
            Some(layout) => table.attribute(LAYOUT_ATTRIBUTE, layout.clone()),
            None => table,
        };
        self.columns.columns().iter().try_fold(table, |table, column| {
            let family = FamilyDescriptor::new(column.family().to_vec())?.versions(1);
            // Added again, it is the same.
            Ok(table.family(family))
        })
    }

    /// Returns the table once it has the rows: with the indexes, and read-only.
    pub(super) fn finished(&self, started: TableDescriptor) -> Result<TableDescriptor> {
        with_indexes(started.attribute("READONLY", "true"), &self.indexes)
    }

    /// The cells that the copy has from a row, and perhaps more: a family with a template is read
    /// as a whole.
    pub(super) fn reads(&self) -> Columns {
        let mut columns = Columns::all();
        let (named, templates): (Vec<_>, Vec<_>) =
            self.columns.columns().iter().partition(|column| column.qualifier().is_some());
        for column in named {
            let qualifier = column.qualifier().unwrap_or_default().to_vec();
            columns.add_column(column.family().to_vec(), qualifier);
        }
        // Last: a column added to a whole family would narrow it.
        templates.iter().for_each(|column| columns.add_family(column.family().to_vec()));
        columns
    }

    /// Returns a new layout if the key or the columns differ from those before, so that handles
    /// with the old ones are refused.
    fn layout_after(&self, before: &TableDescriptor) -> Option<Bytes> {
        let is_same = |name: &str, now: String| {
            before.attributes.get(name.as_bytes()).is_some_and(|stored| *stored == now)
        };
        if is_same(KEY_ATTRIBUTE, self.key.to_stored())
            && is_same(COLUMNS_ATTRIBUTE, self.columns.to_stored())
        {
            layout_of(before).cloned()
        } else {
            Some(self.origin.scanned_millis.to_string().into())
        }
    }
}

/// Returns the column names in a full-text index.
fn columns_of(index: &Index) -> Result<impl Iterator<Item = &str>> {
    let search = index.search().ok_or_else(|| {
        Error::invalid(format!(
            "a copy has full-text indexes only, NAME search FIELDS: index={}",
            escape(index.name().as_bytes())
        ))
    })?;
    // `tagged.tag` is a field in the `tagged` qualifiers.
    let column = |name: &'_ str| name.find('.').unwrap_or(name.len());
    Ok(search.fields().iter().map(move |field| &field.name()[..column(field.name())]))
}
