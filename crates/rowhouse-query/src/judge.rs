//! From index entries to rows: an entry that is certain and covers the query is the answer, any
//! other is judged against its row.

use std::sync::Arc;

use rowhouse_model::{Bytes, Cell, Columns, Error, Filter, Get, Key, KeyValue, Result, Row};
use rowhouse_schema::{
    ColumnFilter, ColumnSchema, Direction, ENTRY_FAMILY, Index, IndexPlan, KeySchema, PlanPart,
};

use crate::covered::{Covered, header_column};
use crate::key_instead::KeyInstead;
use crate::parts::together;
use crate::projection::Projection;
use crate::row::MatchingRow;
use crate::source::{EntryHit, JudgeRows, Judged, Reading, Source};

/// Turns entries into a query's rows. Judging has no side effects; the reads are at one read point,
/// or are given.
pub(crate) struct Judge<S> {
    source: S,
    key: KeySchema,
    pub(crate) plan: IndexPlan,
    direction: Direction,
    order: EntryOrder,
    projection: Projection,
    /// The reads for each row.
    parts: Vec<PlanPart>,
    /// How entries are the answer, if they can be.
    covered: Option<Covered>,
    /// True if entries are copied rows and have all row cells that are read.
    is_copied: bool,
}

/// The order in which entries are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryOrder {
    /// Index order, as the query requests with `using`.
    Index,
    /// Index order, which is also the order of the row keys.
    Key,
    /// Row key order: entries are collected and sorted, and only one per row is retained.
    Sorted,
}

impl EntryOrder {
    /// Returns the order in which a plan's entries are read for rows in key order.
    pub(crate) fn of_key(plan: &IndexPlan) -> Self {
        if plan.is_in_key_order() { Self::Key } else { Self::Sorted }
    }
}

impl<S: Source> Judge<S> {
    /// `projection` are the requested columns. Entries can be the answer only at a read point.
    pub(crate) fn new(
        source: S,
        (key, columns): (KeySchema, Option<&ColumnSchema>),
        plan: IndexPlan,
        (order, direction): (EntryOrder, Direction),
        projection: Projection,
    ) -> Self {
        let parts = if projection.keys_only && plan.row_plan().qualifiers().is_empty() {
            key_parts(&plan, &projection, columns, order)
        } else {
            let mut columns_read = projection.columns.clone();
            if order != EntryOrder::Sorted {
                add_index_columns(&mut columns_read, columns, &plan);
            }
            let read = Projection { columns: columns_read, keys_only: false };
            read.parts(plan.row_plan(), &source.families())
        };
        let is_at_point = source.now_millis().is_some();
        // Not to sort whole rows in memory.
        let is_copied = plan.index().is_copy()
            && is_at_point
            && order != EntryOrder::Sorted
            && parts.len() == 1;
        let covered = if is_at_point { Covered::new(&plan, &projection) } else { None };
        Self { source, key, plan, direction, order, projection, parts, covered, is_copied }
    }

    /// What is required from entries: the columns and the filter.
    pub(crate) fn entry_parts(&self, is_of_clients: bool) -> (Columns, Option<Filter>) {
        match self.parts.first() {
            Some(part) if self.is_copied => (part.columns.clone(), part.filter.clone()),
            _ if self.plan.index().is_copy() => entry_header(self.plan.index()),
            _ => (self.entry_columns(is_of_clients), None),
        }
    }

    /// The required entry columns. An entry that clients maintain consists of cells with any
    /// qualifiers.
    fn entry_columns(&self, is_of_clients: bool) -> Columns {
        let mut columns = Columns::all();
        if is_of_clients {
            columns.add_family(ENTRY_FAMILY);
            return columns;
        }
        self.covered.as_ref().map_or_else(header_column, Covered::entry_columns)
    }

    /// Returns true if entries can be the answer, without their rows.
    pub(crate) fn covers(&self) -> bool {
        self.covered.is_some()
    }

    /// Starts to judge entries.
    pub(crate) fn start(self: &Arc<Self>, hits: Vec<EntryHit>) -> Reading<Judged> {
        self.source.judge(Arc::<Self>::clone(self), hits)
    }

    /// Returns what reads the rows by the key at the same read point; `None` without one.
    pub(crate) fn key_instead(&self) -> Option<KeyInstead<S>> {
        self.source.now_millis()?;
        let source = self.source.clone();
        let key = self.key.clone();
        Some(KeyInstead {
            source,
            key,
            projection: self.projection.clone(),
            direction: self.direction,
        })
    }

    /// Reports an error from the reads: an index with damaged entries is put off.
    pub(crate) fn report_damage(&self, error: &Error) {
        self.source.report_damage(error);
    }

    /// The reads for a row.
    fn gets(&self, row: &Bytes) -> impl Iterator<Item = Result<Get>> {
        self.parts.iter().map(move |part| {
            let mut get = Get::new(row.clone())?;
            get.columns = part.columns.clone();
            get.filter = part.filter.clone().map(Box::new);
            Ok(get)
        })
    }

    /// Adds the row for an entry if the row matches the query, and has the entry as the first one
    /// that leads to it.
    fn judge(&self, hit: EntryHit, row: Vec<Row>, judged: &mut Judged) -> Result<()> {
        let parts: Vec<_> = row.into_iter().filter(|part| !part.is_empty()).collect();
        if parts.is_empty() {
            return Ok(());
        }
        let row = together(parts);
        match self.plan.matches_row(&hit.row, &row) {
            Ok(true) => {}
            Ok(false) => return Ok(()),
            Err(_) => {
                judged.unreadable += 1;
                return Ok(());
            }
        }
        if self.order != EntryOrder::Sorted {
            let entries = self.plan.index().entries(&hit.row, &row)?;
            let first = self.plan.first_matching(&entries, self.direction);
            if first.is_none_or(|first| first.key != hit.entry.key()) {
                return Ok(());
            }
        }
        let shows = |cell: &KeyValue<'_>| {
            self.plan.row_plan().shows(&self.projection.columns, cell.family(), cell.qualifier())
        };
        let row = if row.cells().all(|cell| shows(&cell)) {
            row
        } else {
            Row::new(row.cells().filter(shows).map(|cell| cell.to_cell()).collect())
        };
        judged.rows.extend(self.row(hit, row));
        Ok(())
    }

    /// Whether an entry that is certain shows that the row is there.
    fn is_there_by_entry(&self) -> bool {
        self.projection.keys_only && self.projection.columns.is_all() && self.covered.is_some()
    }

    /// Returns a query row with these cells, if it is there.
    fn row(&self, hit: EntryHit, row: Row) -> Option<MatchingRow> {
        if row.is_empty() && !self.is_there_by_entry() {
            return None;
        }
        let is_position = self.order == EntryOrder::Index;
        let values = self.key.decode(&hit.row);
        let entry = is_position.then(|| Bytes::copy_from_slice(hit.entry.key()));
        let key = row.is_empty().then_some(hit.row);
        Some(MatchingRow { row, key, values, entry })
    }
}

impl<S: Source> JudgeRows for Judge<S> {
    fn gets_of(&self, hits: &[EntryHit]) -> Result<Vec<Get>> {
        hits.iter().flat_map(|hit| self.gets(&hit.row)).collect()
    }

    fn rows_of(&self, hits: Vec<EntryHit>, rows: Vec<Result<Row>>) -> Result<Judged> {
        let mut rows = rows.into_iter();
        let mut judged = Judged::default();
        for hit in hits {
            let row = rows.by_ref().take(self.parts.len()).collect::<Result<Vec<_>>>()?;
            self.judge(hit, row, &mut judged)?;
        }
        Ok(judged)
    }

    fn rows_at_point(
        &self,
        hits: Vec<EntryHit>,
        get: &dyn Fn(&Get) -> Result<Row>,
    ) -> Result<Judged> {
        let mut judged = Judged::default();
        // Entries were read before, and can only have become less certain since.
        let Some(now) = self.source.now_millis() else { return Ok(judged) };
        for hit in hits {
            if self.is_copied && !hit.is_own {
                let row = under_key(&hit.entry, &hit.row)?;
                self.judge(hit, vec![row], &mut judged)?;
                continue;
            }
            if let Some(covered) = &self.covered
                && let Some(row) = covered.cells(&hit, now)?
            {
                judged.rows.extend(self.row(hit, row));
                continue;
            }
            let row = self.gets(&hit.row).map(|request| get(&request?));
            let row = row.collect::<Result<Vec<_>>>()?;
            self.judge(hit, row, &mut judged)?;
        }
        Ok(judged)
    }
}

/// Returns what is read from entries that only lead to rows: columns and a filter.
pub(crate) fn entry_header(index: &Index) -> (Columns, Option<Filter>) {
    if index.is_copy() {
        return (Columns::all(), Some(Filter::FirstKeyOnly));
    }
    (header_column(), None)
}

/// Returns a row's cells under another key.
fn under_key(row: &Row, key: &Bytes) -> Result<Row> {
    let cells = row.cells().map(|cell| {
        let cell = cell.to_cell();
        Cell::from_parts(Key { row: key, ..cell.key() }, cell.value(), cell.tags())
    });
    Ok(Row::new(cells.collect::<Result<_>>()?))
}

/// Returns the reads that decide about a row where only the key is required.
fn key_parts(
    plan: &IndexPlan,
    projection: &Projection,
    columns: Option<&ColumnSchema>,
    order: EntryOrder,
) -> Vec<PlanPart> {
    let mut parts = vec![projection.first_key()];
    let mut read = plan.row_plan().column_filter().map(ColumnFilter::reads).unwrap_or_default();
    if order != EntryOrder::Sorted {
        for (family, qualifier) in index_columns(columns, plan) {
            match qualifier {
                Some(qualifier) if !read.is_all() && read.has_column(&family, &qualifier) => {}
                Some(qualifier) => read.add_column(family, qualifier),
                None => read.add_family(family),
            }
        }
    }
    if !read.is_all() {
        parts.push(PlanPart { columns: read, filter: None });
    }
    parts
}

/// Adds the columns that the entries are made of to the columns that are read. The columns in the
/// index condition are among the query's columns: the condition follows from the query.
fn add_index_columns(columns: &mut Columns, declared: Option<&ColumnSchema>, plan: &IndexPlan) {
    if columns.is_all() {
        return;
    }
    for (family, qualifier) in index_columns(declared, plan) {
        match qualifier {
            Some(qualifier) if columns.has_column(&family, &qualifier) => {}
            Some(qualifier) => columns.add_column(family, qualifier),
            None => columns.add_family(family),
        }
    }
}

/// Returns the columns that index entries are made of: a family, and a qualifier if it has only
/// one.
fn index_columns(
    declared: Option<&ColumnSchema>,
    plan: &IndexPlan,
) -> impl Iterator<Item = (Bytes, Option<Bytes>)> {
    let names = plan.index().template().fields().iter().map(|field| {
        let name = field.name();
        name.split_once('.').map_or(name, |(column, _)| column)
    });
    names.filter_map(move |name| {
        let column = declared?.column(name).ok()?;
        let qualifier = column.qualifier().map(Bytes::copy_from_slice);
        Some((Bytes::copy_from_slice(column.family()), qualifier))
    })
}
