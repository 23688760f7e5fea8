//! Index tables: a salvage copies no entries. The new store creates them with the tables that
//! declare the indexes, and builds the indexes once it is opened.

use std::collections::BTreeMap;
use std::sync::Arc;

use rowhouse_model::{Error, Result, TableDescriptor, TableName};
use rowhouse_schema::{INDEX_OF_ATTRIBUTE, IndexOf, IndexSchema};

use crate::indexed::is_search_table;
use crate::manifest::{ManifestState, TableEntry};
use crate::store::without_index;

/// Removes from `state` the index tables that other tables declare, and returns them by their ids.
/// Other tables with entries become independent tables: a copy may have the only rows that are
/// left. Full-text index tables would be of no use.
pub(super) fn take_index_tables(
    state: &mut ManifestState,
    lost: &mut Vec<Error>,
) -> BTreeMap<u64, Arc<TableEntry>> {
    let declared: Vec<TableName> =
        state.tables.values().flat_map(|table| index_tables_of(&table.descriptor)).collect();
    let mut taken = BTreeMap::new();
    for (id, mut table) in std::mem::take(&mut state.tables) {
        let descriptor = &table.descriptor;
        if !descriptor.attributes.contains_key(INDEX_OF_ATTRIBUTE.as_bytes()) {
            state.tables.insert(id, table);
        } else if declared.contains(descriptor.name()) || is_search_table(descriptor) {
            taken.insert(id, table);
        } else {
            lost.push(index_of_none(descriptor));
            let plain = without_index(descriptor.clone());
            Arc::make_mut(&mut table).descriptor = plain;
            state.tables.insert(id, table);
        }
    }
    taken
}

/// Returns the names of a table's index tables. Creating the table reports a declaration that
/// cannot be read.
fn index_tables_of(table: &TableDescriptor) -> Vec<TableName> {
    let names = || -> Result<Vec<_>> {
        let schema = IndexSchema::of_table(table)?;
        let indexes = schema.as_ref().map(IndexSchema::indexes).unwrap_or_default();
        indexes.iter().map(|index| index.table_name(table.name())).collect()
    };
    names().unwrap_or_default()
}

fn index_of_none(table: &TableDescriptor) -> Error {
    let index = match IndexOf::of_table(table) {
        Ok(Some(of)) => format!(", index={of}"),
        Ok(None) | Err(_) => String::new(),
    };
    Error::corruption(format!(
        "no table declares the index whose entries a table has, it becomes a table of its own: \
         table={}{index}",
        table.name()
    ))
}
