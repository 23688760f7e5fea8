//! The tables that have indexes, and the tables in which the entries lie.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use rowhouse_model::{Bytes, Columns, Error, Result, TableDescriptor, TableName, escape};
use rowhouse_schema::{Index, IndexOf, IndexSchema, QUEUE_FAMILY};

use crate::engine::Engine;
use crate::erased::Erased;
use crate::table::Table;

/// The indexes of every table that declares some.
pub(crate) struct IndexedTables {
    by_name: HashMap<TableName, Result<IndexedTable>>,
}

/// The indexes of a table.
#[derive(Clone)]
pub(crate) struct IndexedTable {
    pub(crate) indexes: Vec<KeptIndex>,
    /// The columns that decide the entries of any of them.
    pub(crate) columns: Columns,
    /// The copies, which have all cells of the rows.
    pub(crate) copies: Vec<KeptIndex>,
    /// The full-text indexes, whose tables have queues of changed rows and no entries.
    pub(crate) searches: Vec<KeptIndex>,
}

/// An index whose entries are rows of a table.
#[derive(Clone)]
pub(crate) struct KeptIndex {
    pub(crate) index: Index,
    /// The table of the entries. After a split it leads to the new regions.
    pub(crate) table: Arc<Table>,
}

impl KeptIndex {
    /// Returns entries by their rows.
    ///
    /// # Errors
    /// `Corruption` for an entry that does not fit the template.
    pub(crate) fn by_row(&self, entries: Vec<Bytes>) -> Result<BTreeMap<Bytes, Vec<Bytes>>> {
        let mut by_row: BTreeMap<Bytes, Vec<Bytes>> = BTreeMap::new();
        for entry in entries {
            let row = self.index.row_key(&entry).map_err(|why| {
                let (name, entry) = (self.table.name(), escape(&entry));
                Error::corruption(format!("a row of {name} is no entry: {why}: row={entry}"))
            })?;
            by_row.entry(row.into()).or_default().push(entry);
        }
        Ok(by_row)
    }
}

impl IndexedTables {
    /// Returns the indexes of these tables; `None` if none has one.
    pub(crate) fn of(tables: &BTreeMap<TableName, Arc<Table>>) -> Option<Self> {
        let indexed = |table: &Arc<Table>| {
            let found = match table.indexes() {
                Ok(None) => return None,
                Ok(Some(schema)) => IndexedTable::of(table.name(), schema, tables),
                Err(error) => Err(error),
            };
            Some((table.name().clone(), found))
        };
        let by_name: HashMap<_, _> = tables.values().filter_map(indexed).collect();
        (!by_name.is_empty()).then_some(Self { by_name })
    }

    /// Returns the indexes of a table as they are now; `None` if it has none.
    ///
    /// # Errors
    /// As [`IndexedTables::get`].
    pub(crate) fn of_table(engine: &Engine, table: &TableName) -> Result<Option<IndexedTable>> {
        let indexed = engine.indexed.load_full();
        let Some(indexed) = indexed.as_deref() else { return Ok(None) };
        Ok(indexed.get::<Self>().get(table)?.cloned())
    }

    /// Makes them those of the engine's tables.
    pub(crate) fn install(indexed: Option<Self>, engine: &Engine) {
        engine.indexed.store(indexed.map(|indexed| Arc::new(Erased::new(indexed))));
    }

    /// Returns the indexes of a table; `None` if it has none.
    ///
    /// # Errors
    /// `Unsupported` for indexes that a newer version declared: the table cannot be written.
    pub(crate) fn get(&self, table: &TableName) -> Result<Option<&IndexedTable>> {
        match self.by_name.get(table) {
            None => Ok(None),
            Some(Ok(indexed)) => Ok(Some(indexed)),
            Some(Err(error)) => {
                Err(error.clone().with_context(format_args!("indexes of table {table}")))
            }
        }
    }
}

impl IndexedTable {
    fn of(
        base: &TableName,
        schema: &IndexSchema,
        tables: &BTreeMap<TableName, Arc<Table>>,
    ) -> Result<Self> {
        let mut columns: Option<Columns> = None;
        let (mut indexes, mut copies, mut searches) = (Vec::new(), Vec::new(), Vec::new());
        for index in schema.indexes() {
            let name = index.table_name(base)?;
            let table = tables.get(&name).ok_or_else(|| {
                Error::corruption(format!("the table of an index is missing: table={name}"))
            })?;
            let kept = KeptIndex { index: index.clone(), table: Arc::clone(table) };
            if index.search().is_some() {
                searches.push(kept);
                continue;
            }
            if index.is_copy() {
                copies.push(kept);
                continue;
            }
            match &mut columns {
                None => columns = Some(index.columns().clone()),
                Some(columns) => columns.include(index.columns()),
            }
            indexes.push(kept);
        }
        Ok(Self { indexes, columns: columns.unwrap_or_else(Columns::all), copies, searches })
    }

    /// All of them.
    pub(crate) fn all(&self) -> impl Iterator<Item = &KeptIndex> {
        self.indexes.iter().chain(&self.copies).chain(&self.searches)
    }

    /// Returns an index by its name.
    pub(crate) fn find(&self, name: &str) -> Option<&KeptIndex> {
        self.all().find(|kept| kept.index.name() == name)
    }
}

/// Whether a table is that of a full-text index.
pub(crate) fn is_search_table(table: &TableDescriptor) -> bool {
    let of = IndexOf::of_table(table).ok().flatten();
    // A copy has the families of its base table; other index tables have one for their entries.
    of.is_some_and(|of| !of.is_copy) && table.find_family(QUEUE_FAMILY.as_bytes()).is_ok()
}

pub(crate) fn no_indexes(table: &TableName) -> Error {
    Error::invalid(format!("table {table} declares no indexes"))
}
