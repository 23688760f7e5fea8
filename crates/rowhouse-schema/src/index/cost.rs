//! What it costs to read a query by an index, in cells that a scan by the key reads in the same
//! time.

use rowhouse_model::Columns;

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
    /// The cells of the index's table in the ranges of the plan.
    entry_cells: u64,
    /// Cells of an entry.
    cells_of_entry: u64,
    /// Whether rows are read as their entries come; otherwise all entries are collected first.
    streams: bool,
    /// Whether entries that are certain are the answer without their rows.
    is_covered: bool,
}

/// How a query is read, and what it would cost by the key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CheapestWay {
    /// The position of the index; `None` for the key.
    pub chosen: Option<usize>,
    /// The cost by the key, in cells.
    pub key_cells: f64,
}

impl IndexCost {
    /// Returns the cost of a plan that reads so many cells of the index's table, for a query of
    /// these columns. Entries are read in the order of the key, or else are sorted.
    pub fn new(plan: &IndexPlan, entry_cells: u64, requested: &Columns) -> Self {
        let streams = plan.is_in_key_order();
        // Rows of a copy are not retained to be sorted.
        let can_cover = streams || !plan.index().is_copy();
        Self {
            entry_cells,
            cells_of_entry: 1 + plan.index().covers().len() as u64,
            streams,
            is_covered: can_cover && plan.is_covered(requested),
        }
    }

    /// Returns the cost of the same plan with this number of entries.
    pub(crate) fn with_entries(self, entries: u64) -> Self {
        Self { entry_cells: entries.saturating_mul(self.cells_of_entry), ..self }
    }

    /// Whether entries that are certain are the answer without their rows.
    pub fn is_covered(&self) -> bool {
        self.is_covered
    }

    /// Whether reading ends with the limit of the query; otherwise all entries are read.
    pub(crate) fn streams(&self) -> bool {
        self.streams
    }

    /// Returns about how many entries there are.
    pub fn entries(&self) -> u64 {
        self.entry_cells.div_ceil(self.cells_of_entry)
    }

    /// Returns whether there are few enough entries to be read in this way.
    pub fn is_possible(&self) -> bool {
        self.streams || self.entries() <= COLLECTED_ENTRIES_MAX as u64
    }

    /// Returns the cost of up to `limit` rows, in cells.
    pub fn cells(&self, limit: u64) -> f64 {
        let entries = self.entries();
        let rows = entries.min(limit) as f64;
        let entry_cells = self.entry_cells as f64;
        let read =
            if self.streams { entry_cells * rows / entries.max(1) as f64 } else { entry_cells };
        let fetched = if self.is_covered { 0.0 } else { rows * CELLS_OF_ROW };
        CELLS_OF_INDEX + read + fetched
    }

    /// Returns whether no index can be chosen over a key whose ranges hold so many cells: then
    /// nothing has to be estimated.
    pub fn is_key_cheap(key_cells: u64) -> bool {
        CELLS_OF_INDEX * MARGIN >= key_cells as f64
    }

    /// Chooses how up to `limit` rows are read: by the key, whose ranges hold `key_cells` cells, or
    /// by one of the indexes. `None` stands for an index that cannot serve the query.
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
