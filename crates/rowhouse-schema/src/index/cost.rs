//! What it costs to read a query by an index, in cells that a scan by the key reads in the same
//! time.

use super::IndexPlan;

/// The most entries that a reader collects before it reads the first of their rows.
pub const COLLECTED_ENTRIES_MAX: usize = 100_000;

/// The cost of reading a row to which an entry leads.
const CELLS_OF_ROW: f64 = 20.0;
/// The cost of reading by an index at all: its read point, and a second scan.
const CELLS_OF_INDEX: f64 = 100.0;
/// An index is read if the key costs more than this many times as much: estimates are rough, and a
/// scan by the key costs no memory.
const MARGIN: f64 = 2.0;

/// The estimated cost of reading a query by an index.
///
/// ```
/// use rowhouse_model::Columns;
/// use rowhouse_schema::{ColumnSchema, IndexCost, IndexSchema, KeySchema, Predicate, TimeZone};
///
/// let key = KeySchema::parse("[user string]")?;
/// let columns = ColumnSchema::parse("d:s sender string")?;
/// let indexes = IndexSchema::parse("by_sender [sender]", Some(&key), Some(&columns))?;
/// let query = Predicate::parse("sender = 'eve'")?;
/// let index = indexes.index("by_sender")?;
/// let plan = index.plan(&key, &columns, &query, &TimeZone::UTC, &Columns::all())?;
///
/// let cost = IndexCost { entry_cells: 10, streams: true, is_covered: false };
/// assert_eq!(cost.entries(&plan), 10);
/// assert_eq!(cost.cells(&plan, u64::MAX), 310.0);
/// assert!(IndexCost::is_clearly_less(310.0, 1000.0) && !IndexCost::is_clearly_less(310.0, 600.0));
/// # Ok::<(), rowhouse_model::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct IndexCost {
    /// The cells of the index's table in the ranges of the plan.
    pub entry_cells: u64,
    /// Whether rows are read as their entries come; otherwise all entries are collected first.
    pub streams: bool,
    /// Whether entries that are certain are the answer without their rows.
    pub is_covered: bool,
}

impl IndexCost {
    /// Returns about how many entries the plan reads if it reads all of them.
    pub fn entries(&self, plan: &IndexPlan) -> u64 {
        self.entry_cells.div_ceil(1 + plan.index().covers().len() as u64)
    }

    /// Returns whether there are few enough entries to be read in this way.
    pub fn is_possible(&self, plan: &IndexPlan) -> bool {
        self.streams || self.entries(plan) <= COLLECTED_ENTRIES_MAX as u64
    }

    /// Returns the cost of up to `limit` rows.
    pub fn cells(&self, plan: &IndexPlan, limit: u64) -> f64 {
        let entries = self.entries(plan);
        let rows = entries.min(limit) as f64;
        let entry_cells = self.entry_cells as f64;
        let read =
            if self.streams { entry_cells * rows / entries.max(1) as f64 } else { entry_cells };
        let fetched = if self.is_covered { 0.0 } else { rows * CELLS_OF_ROW };
        CELLS_OF_INDEX + read + fetched
    }

    /// Returns the cost of reading so many entries, and the row of each if `fetches`.
    pub(crate) fn of_entries(entries: f64, fetches: bool) -> f64 {
        let fetched = if fetches { entries * CELLS_OF_ROW } else { 0.0 };
        CELLS_OF_INDEX + entries + fetched
    }

    /// Returns the cost of up to `limit` rows by the key, whose ranges hold `key_cells` cells, for
    /// a query that indexes with these numbers of entries can serve.
    pub fn of_key(key_cells: u64, limit: u64, entries: impl Iterator<Item = u64>) -> f64 {
        // No index has fewer entries than the query has rows.
        match entries.min().filter(|rows| *rows > limit) {
            Some(rows) => key_cells as f64 * limit as f64 / rows as f64,
            None => key_cells as f64,
        }
    }

    /// Returns whether an index costs so much less than the key that it is read.
    pub fn is_clearly_less(index: f64, key: f64) -> bool {
        index * MARGIN < key
    }

    /// Returns whether no index can cost clearly less than a key with this cost.
    pub fn is_key_cheap(key: f64) -> bool {
        !Self::is_clearly_less(CELLS_OF_INDEX, key)
    }
}
