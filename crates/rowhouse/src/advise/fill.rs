//! Writes a workload's rows to a table under a design.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use rowhouse_model::{Bytes, Durability, Error, Mutation, Put, RegionSwitch, Result};
use rowhouse_schema::{Design, Spread, Workload};

use crate::admin::{CompactionKind, CompactionState};
use crate::database::Database;
use crate::spec::TableSpec;
use crate::table::Table;

/// The table name.
pub(super) const TABLE: &str = "simulated";
/// Rows in a batch.
const BATCH: u64 = 1000;

/// A table with a workload's rows.
pub(super) struct Filled {
    pub(super) table: Table,
    /// Different keys.
    pub(super) rows: u64,
    /// Bytes in all cells that were written.
    pub(super) bytes: u64,
}

/// Creates the table with the regions from `spread`, writes the rows in time order, and compacts
/// it, so that what questions read depends on the seed alone.
pub(super) async fn fill(
    database: &Database,
    workload: &Workload,
    design: &Design,
    spread: &Spread,
) -> Result<Filled> {
    let table = create(database, design, spread).await?;
    let mut keys = HashSet::new();
    let mut bytes = 0;
    let rows = workload.rows();
    for begin in (0..rows).step_by(BATCH as usize) {
        let mut puts = Vec::new();
        for number in begin..rows.min(begin + BATCH) {
            let record = workload.record(number)?;
            let key = design.key_of(&record, number)?;
            keys.insert(hash_of(&key));
            let cells = design.cells(&key, &record)?;
            let cells = cells.to_cells();
            bytes += cells.iter().map(|cell| cell.as_bytes().len() as u64).sum::<u64>();
            let mut put = Put::of_cells(key, cells)?;
            // The store is temporary.
            put.durability = Durability::SkipWal;
            puts.push(Mutation::from(put));
        }
        for written in table.batch(puts).await {
            written?;
        }
    }
    let indexes = design.indexes().iter().map(|index| index_table(index.name()));
    for name in [TABLE.to_owned()].into_iter().chain(indexes) {
        compact(database, &name).await?;
    }
    Ok(Filled { table, rows: keys.len() as u64, bytes })
}

/// The table name for an index.
pub(super) fn index_table(index: &str) -> String {
    format!("{TABLE}.{index}")
}

async fn create(database: &Database, design: &Design, spread: &Spread) -> Result<Table> {
    let mut spec = TableSpec::new(TABLE).key(&design.key().to_string());
    for family in design.families() {
        spec = spec.family(&family);
    }
    if let Some(columns) = design.columns() {
        spec = spec.columns(&columns.to_string());
    }
    for index in design.indexes() {
        spec = spec.index(&index.to_string());
    }
    let splits = spread.tables.iter().map(|table| table.splits.clone());
    let mut splits = splits.collect::<Vec<Vec<Bytes>>>().into_iter();
    let spec = spec.splits(splits.next().unwrap_or_default());
    let table = database.create_table(spec).await?;
    for (index, splits) in design.indexes().iter().zip(splits) {
        split(database, &index_table(index.name()), splits).await?;
    }
    // The model has decided where regions divide.
    database.admin().set_region_switch(RegionSwitch::Split, false).await?;
    Ok(table)
}

/// Splits a table's only region at these rows.
async fn split(database: &Database, name: &str, splits: Vec<Bytes>) -> Result<()> {
    let table = database.table(name).await?;
    for at in splits {
        let regions = table.regions().await?;
        let last = regions.last().ok_or_else(|| Error::invalid("a table without regions"))?;
        database.admin().split_region(last, Some(at)).await?;
    }
    Ok(())
}

async fn compact(database: &Database, name: &str) -> Result<()> {
    let admin = database.admin();
    admin.flush(name).await?;
    admin.compact(name, None, CompactionKind::Major).await?;
    while admin.compaction_state(name).await? != CompactionState::None {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    Ok(())
}

fn hash_of(key: &Bytes) -> u64 {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    hasher.finish()
}
