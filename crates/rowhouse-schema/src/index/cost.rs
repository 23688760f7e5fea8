//! What it costs to read a query by an index, in cells that a scan by the key reads in the same
//! time.

use rowhouse_model::Columns;

use super::plan::IndexPlan;

/// The most entries that a reader collects before it reads the first row.
pub const COLLECTED_ENTRIES_MAX: usize = 100_000;

/// The cost of reading a row to which an entry leads.
const CELLS_OF_ROW: f64 = 20.0;
/// What reading by an index costs at all: the read point, and a second scan.
const CELLS_OF_INDEX: f64 = 100.0;
/// An index is read if the key costs more than this many times as much: estimates are rough, and a
/// scan by the key costs no memory.
const MARGIN: f64 = 2.0;

/// What reading a query by an index costs, estimated.
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
/// let cost = IndexCost::new(&plan, 10, &Columns::all());
/// assert_eq!(cost.entries(), 10);
/// assert_eq!(cost.cells(u64::MAX), 310.0);
/// // The key costs 1,000 cells, or 600.
/// assert_eq!(IndexCost::choose(1_000, u64::MAX, &[Some(cost)]).chosen, Some(0));
/// assert_eq!(IndexCost::choose(600, u64::MAX, &[Some(cost)]).chosen, None);
/// # Ok::<(), rowhouse_model::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct IndexCost {
    /// The index table's cells in the plan's ranges.
    entry_cells: u64,
    /// Cells in an entry.
    cells_of_entry: u64,
    /// True if rows are read as their entries come; otherwise all entries are collected first.
    streams: bool,
    /// True if entries that are certain are the answer without their rows.
    is_covered: bool,
}

/// How a query is read, and what it would cost by the key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CheapestWay {
    /// The index's position; `None` for the key.
    pub chosen: Option<usize>,
    /// The cost by the key, in cells.
    pub key_cells: f64,
}

impl IndexCost {
    /// Returns the cost for a plan that reads so many cells from the index table, for a query on
    /// these columns. Entries are read in key order, or else are sorted.
    pub fn new(plan: &IndexPlan, entry_cells: u64, requested: &Columns) -> Self {
        let streams = plan.is_in_key_order();
        // Rows from a copy are not retained to be sorted.
        let can_cover = streams || !plan.index().is_copy();
        Self {
            entry_cells,
            cells_of_entry: 1 + plan.index().covers().len() as u64,
            streams,
            is_covered: can_cover && plan.is_covered(requested),
        }
    }

    /// Returns the cost for the same plan with this entry count.
    pub(crate) fn with_entries(self, entries: u64) -> Self {
        Self { entry_cells: entries.saturating_mul(self.cells_of_entry), ..self }
    }

    /// True if entries that are certain are the answer without their rows.
    pub fn is_covered(&self) -> bool {
        self.is_covered
    }

    /// True if reading ends with the query's limit; otherwise all entries are read.
    pub(crate) fn streams(&self) -> bool {
        self.streams
    }

    /// Returns about how many entries there are.
    pub fn entries(&self) -> u64 {
        self.entry_cells.div_ceil(self.cells_of_entry)
    }

    /// Returns true if there are few enough entries to be read in this way.
    pub fn is_possible(&self) -> bool {
        self.streams || self.entries() <= COLLECTED_ENTRIES_MAX as u64
    }

    /// Returns the cost for up to `limit` rows, in cells.
    pub fn cells(&self, limit: u64) -> f64 {
        let entries = self.entries();
        let rows = entries.min(limit) as f64;
        let entry_cells = self.entry_cells as f64;
        let read =
            if self.streams { entry_cells * rows / entries.max(1) as f64 } else { entry_cells };
        let fetched = if self.is_covered { 0.0 } else { rows * CELLS_OF_ROW };
        CELLS_OF_INDEX + read + fetched
    }

    /// Returns true if no index can be chosen over a key whose ranges hold so many cells: then
    /// nothing has to be estimated.
    pub fn is_key_cheap(key_cells: u64) -> bool {
        CELLS_OF_INDEX * MARGIN >= key_cells as f64
    }

    /// Chooses how up to `limit` rows are read: by the key, whose ranges hold `key_cells` cells, or
    /// by an index. `None` stands for an index that cannot serve the query.
    pub fn choose(key_cells: u64, limit: u64, indexes: &[Option<Self>]) -> CheapestWay {
        // No index has fewer entries than the query has rows.
        let rows = indexes.iter().flatten().map(Self::entries).min();
        let key_cells = match rows.filter(|rows| *rows > limit) {
            Some(rows) => key_cells as f64 * limit as f64 / rows as f64,
            None => key_cells as f64,
        };
        let possible = indexes.iter().enumerate().filter_map(|(at, cost)| {
            let cost = cost.filter(Self::is_possible)?;
            Some((at, cost.cells(limit)))
        });
        let least = possible.reduce(|least, next| if next.1 < least.1 { next } else { least });
        let chosen = least.filter(|(_, cells)| cells * MARGIN < key_cells).map(|(at, _)| at);
        CheapestWay { chosen, key_cells }
    }
}
