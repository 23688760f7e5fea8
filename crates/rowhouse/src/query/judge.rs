//! From the entries of an index to rows: an entry that is certain and covers the query is the
//! answer, any other is judged against its row.

use std::sync::Arc;

use rowhouse_model::{
    Bytes, Cell, CellKind, Columns, Error, Filter, Get, Key, KeyValue, Result, Row, Timestamp,
};
use rowhouse_schema::{
    Column, Direction, ENTRY_FAMILY, EntryHeader, IndexPlan, KeySchema, PlanPart,
};

use super::QueryRow;
use super::parts::together;
use super::plan_rows::add_condition_columns;
use crate::backend::IndexReadPoint;
use crate::table::Table;

/// Turns entries into the rows of a query. Judging has no side effects; the reads are at one read
/// point, or are given.
pub(super) struct Judge {
    table: Table,
    schema: KeySchema,
    pub(super) plan: IndexPlan,
    direction: Direction,
    order: EntryOrder,
    /// The requested columns.
    wanted: Columns,
    /// The reads of each row.
    parts: Vec<PlanPart>,
    /// The requested columns that the entries hold, if these can be the answer.
    covered: Option<Vec<CoveredColumn>>,
    /// Whether entries are rows of a copy and have all cells of the row that are read.
    is_copied: bool,
    at: Option<Arc<IndexReadPoint>>,
}

/// The order in which entries are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EntryOrder {
    /// Of the index, as the query asks with `using`.
    Index,
    /// Of the index, which is also that of the keys of the rows.
    Key,
    /// Of the keys of the rows: entries are collected and sorted, and only one of each row is kept.
    Sorted,
}

/// A covered column.
struct CoveredColumn {
    /// Its position in the declaration of the index.
    at: usize,
    column: Column,
    name: Bytes,
}

/// An entry, and the key of its row.
pub(super) struct Found {
    pub(super) row: Bytes,
    pub(super) entry: Row,
    /// Whether the entry was computed from a row that the transaction has written.
    pub(super) is_own: bool,
}

/// The rows of a batch of entries.
#[derive(Default)]
pub(super) struct Judged {
    pub(super) rows: Vec<QueryRow>,
    /// The number of rows with an invalid value in a column that decides.
    pub(super) unreadable: u64,
}

impl Judge {
    /// `wanted` are the requested columns. Entries can be the answer only at a read point.
    pub(super) fn new(
        table: &Table,
        plan: IndexPlan,
        (order, direction): (EntryOrder, Direction),
        wanted: Columns,
        at: Option<Arc<IndexReadPoint>>,
    ) -> Result<Self> {
        let mut read = wanted.clone();
        add_condition_columns(&mut read, plan.row_plan());
        if order != EntryOrder::Sorted {
            add_index_columns(&mut read, table, &plan);
        }
        if let Some(at) = at.as_ref().filter(|_| read.is_all() && reads_apart(&plan)) {
            // Name the families, so that the general read excludes those with their own read.
            at.rows.families().for_each(|family| read.add_family(family.clone()));
        }
        let parts = plan.row_plan().parts(&read);
        // Not to sort whole rows in memory.
        let is_copied = plan.index().is_copy()
            && at.is_some()
            && order != EntryOrder::Sorted
            && parts.len() == 1;
        let is_covered = !plan.index().is_copy() && at.is_some() && plan.is_covered(&wanted);
        let covered = is_covered.then(|| covered_columns(&plan, &wanted));
        let (table, schema) = (table.clone(), table.key_schema()?.clone());
        Ok(Self { table, schema, plan, direction, order, wanted, parts, covered, is_copied, at })
    }

    /// What is needed of entries: the columns and the filter.
    pub(super) fn entry_parts(&self, kept_by_clients: bool) -> (Columns, Option<Filter>) {
        match self.parts.first() {
            Some(part) if self.is_copied => (part.columns.clone(), part.filter.clone()),
            _ if self.plan.index().is_copy() => (Columns::all(), Some(Filter::FirstKeyOnly)),
            _ => (self.entry_columns(kept_by_clients), None),
        }
    }

    /// The columns of entries that are needed. An entry that clients keep consists of cells with
    /// any qualifiers.
    fn entry_columns(&self, kept_by_clients: bool) -> Columns {
        let mut columns = Columns::all();
        if kept_by_clients {
            columns.add_family(ENTRY_FAMILY);
            return columns;
        }
        columns.add_column(ENTRY_FAMILY, "");
        for covered in self.covered.iter().flatten() {
            columns.add_column(ENTRY_FAMILY, covered.name.clone());
        }
        columns
    }

    /// Returns whether entries can be the answer, without their rows.
    pub(super) fn covers(&self) -> bool {
        self.covered.is_some()
    }

    /// Returns the rows of entries, each as it is now.
    pub(super) async fn rows_by_gets(self: Arc<Self>, found: Vec<Found>) -> Result<Judged> {
        let parts = self.parts.len();
        let gets = found.iter().flat_map(|found| self.gets(&found.row));
        let gets = gets.collect::<Result<Vec<_>>>()?;
        let mut read = self.table.get_many(gets).await.into_iter();
        let mut judged = Judged::default();
        for found in found {
            let row = read.by_ref().take(parts).collect::<Result<Vec<_>>>()?;
            self.judge(found, row, &mut judged)?;
        }
        Ok(judged)
    }

    /// Returns the rows of entries, read at the read point on this thread.
    pub(super) fn rows_at_point(&self, found: Vec<Found>) -> Result<Judged> {
        let mut judged = Judged::default();
        let Some(at) = &self.at else { return Ok(judged) };
        // Entries were read before, and can only have become less certain since.
        let now = at.now_millis();
        for found in found {
            if self.is_copied && !found.is_own {
                let row = under_key(&found.entry, &found.row)?;
                self.judge(found, vec![row], &mut judged)?;
                continue;
            }
            if let Some(row) = self.of_entry(&found, now)? {
                judged.rows.extend(self.row(found, row));
                continue;
            }
            let gets = self.gets(&found.row).map(|get| at.rows.get(&get?));
            let row = gets.collect::<Result<Vec<_>>>()?;
            self.judge(found, row, &mut judged)?;
        }
        Ok(judged)
    }

    /// Returns whether rows are read at a read point, in a few microseconds each.
    pub(super) fn is_at_point(&self) -> bool {
        self.at.is_some()
    }

    /// The reads of a row.
    fn gets(&self, row: &Bytes) -> impl Iterator<Item = Result<Get>> {
        self.parts.iter().map(move |part| {
            let mut get = Get::new(row.clone())?;
            get.columns = part.columns.clone();
            get.filter = part.filter.clone().map(Box::new);
            Ok(get)
        })
    }

    /// Returns the requested cells of an entry that is certain and covers them; without any cell if
    /// the row has none of them.
    fn of_entry(&self, found: &Found, now: i64) -> Result<Option<Row>> {
        let Some(covered) = &self.covered else { return Ok(None) };
        let Some(header) = found.entry.value(ENTRY_FAMILY, "") else { return Ok(None) };
        let header = EntryHeader::decode(&header)?;
        if !header.is_certain_at(now) {
            return Ok(None);
        }
        let mut cells = Vec::with_capacity(covered.len());
        for CoveredColumn { at, column, name } in covered {
            let Some(timestamp) = header.timestamps.get(*at).copied().flatten() else { continue };
            let value = found.entry.value(ENTRY_FAMILY, name).ok_or_else(|| {
                Error::corruption(format!(
                    "an entry lacks a covered cell: index={}, column={}",
                    self.plan.index().name(),
                    column.name()
                ))
            })?;
            let family = Bytes::copy_from_slice(column.family());
            let qualifier = Bytes::copy_from_slice(column.qualifier().unwrap_or_default());
            let (at, row) = (Timestamp::from_millis(timestamp)?, found.row.clone());
            cells.push(Cell::new(row, family, qualifier, at, CellKind::Put, value)?);
        }
        Ok(Some(Row::new(cells)))
    }

    /// Adds the row of an entry if the row matches the query, and has the entry as the first one
    /// that leads to it.
    fn judge(&self, found: Found, row: Vec<Row>, judged: &mut Judged) -> Result<()> {
        let parts: Vec<_> = row.into_iter().filter(|part| !part.is_empty()).collect();
        if parts.is_empty() {
            return Ok(());
        }
        let row = together(parts);
        match self.plan.matches_row(&found.row, &row) {
            Ok(true) => {}
            Ok(false) => return Ok(()),
            Err(_) => {
                judged.unreadable += 1;
                return Ok(());
            }
        }
        if self.order != EntryOrder::Sorted {
            let entries = self.plan.index().entries(&found.row, &row)?;
            let first = self.plan.first_matching(&entries, self.direction);
            if first.is_none_or(|first| first.key != found.entry.key()) {
                return Ok(());
            }
        }
        let shows = |cell: &KeyValue<'_>| {
            self.plan.row_plan().shows(&self.wanted, cell.family(), cell.qualifier())
        };
        let row = if row.cells().all(|cell| shows(&cell)) {
            row
        } else {
            Row::new(row.cells().filter(shows).map(|cell| cell.to_cell()).collect())
        };
        judged.rows.extend(self.row(found, row));
        Ok(())
    }

    /// Returns the row of a query with these cells, if there are any.
    fn row(&self, found: Found, row: Row) -> Option<QueryRow> {
        if row.is_empty() {
            return None;
        }
        let is_position = self.order == EntryOrder::Index;
        let values = self.schema.decode(row.key());
        let columns = Arc::clone(self.table.declared_columns());
        let entry = is_position.then(|| Bytes::copy_from_slice(found.entry.key()));
        Some(QueryRow::new(row, values, columns, entry))
    }
}

/// Returns the cells of a row under another key.
fn under_key(row: &Row, key: &Bytes) -> Result<Row> {
    let cells = row.cells().map(|cell| {
        let cell = cell.to_cell();
        Cell::from_parts(Key { row: key, ..cell.key() }, cell.value(), cell.tags())
    });
    Ok(Row::new(cells.collect::<Result<_>>()?))
}

/// Whether a family has a read of its own.
fn reads_apart(plan: &IndexPlan) -> bool {
    !plan.row_plan().qualifiers().is_empty()
}

/// Adds the columns that the entries are made of. Those of the condition of the index are among
/// those of the query, from which it follows.
fn add_index_columns(columns: &mut Columns, table: &Table, plan: &IndexPlan) {
    let Some(declared) = table.declared_columns().declared() else { return };
    for field in plan.index().template().fields() {
        let name = field.name().split('.').next().unwrap_or_default();
        let Ok(column) = declared.column(name) else { continue };
        let family = Bytes::copy_from_slice(column.family());
        match column.qualifier() {
            Some(qualifier) if columns.has_column(&family, qualifier) => {}
            Some(qualifier) => columns.add_column(family, Bytes::copy_from_slice(qualifier)),
            None if columns.is_all() => {}
            None => columns.add_family(family),
        }
    }
}

/// Returns the requested ones of the covered columns, in the order of cells.
fn covered_columns(plan: &IndexPlan, wanted: &Columns) -> Vec<CoveredColumn> {
    let index = plan.index();
    let columns = index.covered_columns().iter().zip(index.covers()).enumerate();
    let columns = columns.filter(|(_, (column, _))| {
        wanted.has_column(column.family(), column.qualifier().unwrap_or_default())
    });
    let mut columns: Vec<_> = columns
        .map(|(at, (column, name))| CoveredColumn {
            at,
            column: column.clone(),
            name: name.clone().into(),
        })
        .collect();
    columns.sort_by(|a, b| {
        let place = |it: &CoveredColumn| -> (Vec<u8>, Vec<u8>) {
            let column = &it.column;
            (column.family().to_vec(), column.qualifier().unwrap_or_default().to_vec())
        };
        place(a).cmp(&place(b))
    });
    columns
}
