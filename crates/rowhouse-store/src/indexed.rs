//! The tables that have indexes, and the tables in which the entries lie.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use rowhouse_model::{
    Bytes, Columns, Error, ErrorKind, Result, TableDescriptor, TableName, escape,
};
use rowhouse_schema::{
    INDEX_STATE_ATTRIBUTE, Index, IndexOf, IndexSchema, IndexState, KeyMismatch, QUEUE_FAMILY,
    index_damage,
};

use crate::engine::Engine;
use crate::erased::Erased;
use crate::table::Table;

/// The indexes for every table that declares some.
pub(crate) struct IndexedTables {
    by_name: HashMap<TableName, Result<IndexedTable>>,
}

/// A table's indexes.
#[derive(Clone)]
pub(crate) struct IndexedTable {
    pub(crate) indexes: Vec<MaintainedIndex>,
    /// The columns that decide the entries in any index.
    pub(crate) columns: Columns,
    /// `columns` names single columns alone.
    pub(crate) has_single_columns: bool,
    /// The copies, which have all cells in the rows.
    pub(crate) copies: Vec<MaintainedIndex>,
    /// The full-text indexes, whose tables have queues with changed rows and no entries.
    pub(crate) searches: Vec<MaintainedIndex>,
}

/// An index whose entries are rows in a table.
#[derive(Clone)]
pub(crate) struct MaintainedIndex {
    pub(crate) index: Index,
    /// The entry table. After a split it leads to the new regions.
    pub(crate) table: Arc<Table>,
    damage: Option<KnownDamage>,
    /// The index is in memory alone, and off.
    is_off_in_memory: bool,
}

/// The damage to an index that is not rebuilt yet.
#[derive(Clone)]
struct KnownDamage {
    why: String,
    /// The index is not being built yet: writes to its table now are dropped later.
    is_off: bool,
    /// The store rebuilds it without a request.
    is_temporary: bool,
}

impl MaintainedIndex {
    /// `is_small` returns true if the base table is small, so that damage to the index is
    /// temporary.
    fn new(index: Index, table: &Arc<Table>, is_small: impl FnOnce() -> bool) -> Self {
        let damage = index_damage(table.descriptor()).map(|why| {
            let state = IndexState::of_table(table.descriptor());
            // A copy is not repaired in place, but replaced, once its base table has been read.
            let is_replaced = index.is_copy() && matches!(state, Ok(IndexState::Repairing));
            let is_off = is_replaced || matches!(state, Ok(IndexState::Off(_)));
            KnownDamage { why, is_off, is_temporary: !is_off || is_small() }
        });
        let is_off_in_memory = index.is_in_memory()
            && matches!(IndexState::of_table(table.descriptor()), Ok(IndexState::Off(_)));
        Self { index, table: Arc::clone(table), damage, is_off_in_memory }
    }

    /// Returns true if the index is not maintained, because the index data is damaged and not yet
    /// rebuilt, or because it is in memory and off.
    pub(crate) fn is_off(&self) -> bool {
        self.is_off_in_memory || self.damage.as_ref().is_some_and(|damage| damage.is_off)
    }

    /// Refuses a new value for a unique index whose data is damaged, until it is rebuilt: another
    /// row may have the value.
    ///
    /// # Errors
    /// `RegionTooBusy` if the index will be built without a request, otherwise `Corruption`.
    pub(crate) fn check_takes_values(&self) -> Result<()> {
        let Some(KnownDamage { why, is_temporary, .. }) = &self.damage else { return Ok(()) };
        let index = self.index.name();
        let table = self.table.name();
        Err(if *is_temporary {
            Error::new(
                ErrorKind::RegionTooBusy,
                format!(
                    "a new value of unique index {index} cannot be checked while the index is \
                     built anew, try again later: table={table}, damage={why}"
                ),
            )
        } else {
            Error::corruption(format!(
                "a new value of unique index {index} cannot be checked before `repair_index` has \
                 built the index anew: table={table}, damage={why}"
            ))
        })
    }

    /// Returns entries by their rows.
    ///
    /// # Errors
    /// `Corruption` for an entry that does not fit the template.
    pub(crate) fn by_row(&self, entries: Vec<Bytes>) -> Result<BTreeMap<Bytes, Vec<Bytes>>> {
        let mut by_row: BTreeMap<Bytes, Vec<Bytes>> = BTreeMap::new();
        for entry in entries {
            let row = self.index.row_key(&entry);
            let row = row.map_err(|why| not_an_entry(&self.table, &entry, &why))?;
            by_row.entry(row.into()).or_default().push(entry);
        }
        Ok(by_row)
    }
}

impl IndexedTables {
    /// Returns the indexes for these tables; `None` if none has one. Damaged indexes on tables with
    /// up to `rebuild_bytes_max` bytes are rebuilt without a request.
    pub(crate) fn of(
        tables: &BTreeMap<TableName, Arc<Table>>,
        rebuild_bytes_max: u64,
    ) -> Option<Self> {
        let indexed = |table: &Arc<Table>| {
            let indexes = match table.indexes() {
                Ok(None) => return None,
                Ok(Some(schema)) => {
                    IndexedTable::of(table.name(), schema, tables, rebuild_bytes_max)
                }
                Err(error) => Err(error),
            };
            Some((table.name().clone(), indexes))
        };
        let by_name: HashMap<_, _> = tables.values().filter_map(indexed).collect();
        (!by_name.is_empty()).then_some(Self { by_name })
    }

    /// Returns a table's current indexes; `None` if it has none.
    ///
    /// # Errors
    /// As [`IndexedTables::get`].
    pub(crate) fn of_table(engine: &Engine, table: &TableName) -> Result<Option<IndexedTable>> {
        let indexed = engine.indexed.load_full();
        let Some(indexed) = indexed.as_deref() else { return Ok(None) };
        Ok(indexed.get::<Self>().get(table)?.cloned())
    }

    /// Installs them as the indexes for the engine's tables.
    pub(crate) fn install(indexed: Option<Self>, engine: &Engine) {
        engine.indexed.store(indexed.map(|indexed| Arc::new(Erased::new(indexed))));
    }

    /// Returns a table's indexes; `None` if it has none.
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
        rebuild_bytes_max: u64,
    ) -> Result<Self> {
        let mut columns: Option<Columns> = None;
        let mut indexes = Vec::new();
        let mut copies = Vec::new();
        let mut searches = Vec::new();
        for index in schema.indexes() {
            let name = index.table_name(base)?;
            let table = tables.get(&name).ok_or_else(|| {
                Error::corruption(format!("the table of an index is missing: table={name}"))
            })?;
            let is_small =
                || tables.get(base).is_some_and(|it| it.stored_bytes() <= rebuild_bytes_max);
            let maintained = MaintainedIndex::new(index.clone(), table, is_small);
            if index.search().is_some() {
                searches.push(maintained);
                continue;
            }
            if index.is_copy() {
                copies.push(maintained);
                continue;
            }
            match &mut columns {
                None => columns = Some(index.columns().clone()),
                Some(columns) => columns.include(index.columns()),
            }
            indexes.push(maintained);
        }
        let columns = columns.unwrap_or_else(Columns::all);
        let has_single_columns =
            !columns.is_all() && columns.families().all(|(_, names)| !names.is_all());
        Ok(Self { indexes, columns, has_single_columns, copies, searches })
    }

    /// Returns true if all indexes are in memory: a change needs the log no more than without them.
    pub(crate) fn is_in_memory(&self) -> bool {
        self.all().all(|maintained| maintained.index.is_in_memory())
    }

    /// All indexes.
    pub(crate) fn all(&self) -> impl Iterator<Item = &MaintainedIndex> {
        self.indexes.iter().chain(&self.copies).chain(&self.searches)
    }

    /// Returns an index by name.
    pub(crate) fn find(&self, name: &str) -> Option<&MaintainedIndex> {
        self.all().find(|maintained| maintained.index.name() == name)
    }
}

/// Returns a table's descriptor when the store is opened: an index in memory has no entries then.
pub(crate) fn opened(table: &TableDescriptor) -> TableDescriptor {
    let table = table.clone();
    if !is_in_memory(&table) {
        return table;
    }
    let building = IndexState::Building { next_row: Bytes::new() };
    table.attribute(INDEX_STATE_ATTRIBUTE, building.to_string())
}

/// Returns true if a table belongs to an index that is in memory alone.
pub(crate) fn is_in_memory(table: &TableDescriptor) -> bool {
    IndexOf::of_table(table).ok().flatten().is_some_and(|of| of.is_in_memory)
}

/// Refuses something that is done to tables with files.
///
/// # Errors
/// `Unsupported` for a table that belongs to an index in memory.
pub(crate) fn refuse_in_memory(table: &TableDescriptor, refused: &str) -> Result<()> {
    match IndexOf::of_table(table)? {
        Some(of) if of.is_in_memory => Err(Error::unsupported(format!(
            "the entries of index {of} are in memory alone, and cannot be {refused}: table={}",
            table.name()
        ))),
        _ => Ok(()),
    }
}

/// Whether a table belongs to a full-text index.
pub(crate) fn is_search_table(table: &TableDescriptor) -> bool {
    let of = IndexOf::of_table(table).ok().flatten();
    // A copy has the same families as the base table; other index tables have one for the entries.
    of.is_some_and(|of| !of.is_copy) && table.find_family(QUEUE_FAMILY.as_bytes()).is_ok()
}

/// Returns true if a table belongs to an index which the base table declares: all cells in it can
/// be made from the base table's cells.
pub(crate) fn is_declared_index<'t>(
    table: &TableDescriptor,
    find: impl Fn(&TableName) -> Option<&'t TableDescriptor>,
) -> bool {
    let declares = |of: IndexOf| {
        let schema = IndexSchema::of_table(find(&of.table)?).ok()??;
        let index = schema.index(&of.index).ok()?;
        Some(index.table_name(&of.table).ok()? == *table.name())
    };
    IndexOf::of_table(table).ok().flatten().and_then(declares) == Some(true)
}

/// Returns true if a table's index is off because the index data is damaged: it is neither read nor
/// maintained.
pub(crate) fn is_off_by_damage(table: &TableDescriptor) -> bool {
    index_damage(table).is_some() && matches!(IndexState::of_table(table), Ok(IndexState::Off(_)))
}

/// Returns the error for a row in an index table that is no entry.
pub(crate) fn not_an_entry(entries: &Table, row: &[u8], why: &KeyMismatch) -> Error {
    let name = entries.name();
    let row = escape(row);
    Error::corruption(format!("a row of {name} is no entry: {why}: row={row}"))
}

pub(crate) fn no_indexes(table: &TableName) -> Error {
    Error::invalid(format!("table {table} declares no indexes"))
}
