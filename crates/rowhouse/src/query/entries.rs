//! The entries of an index, among them those of rows that a transaction has written, or that a
//! client which keeps indexes is writing.

use std::cmp::Ordering;
use std::collections::{BTreeSet, VecDeque};
use std::task::{Context, Poll, ready};

use rowhouse_model::{Bytes, Cell, CellKind, Get, Result, Row, RowRange, Timestamp};
use rowhouse_schema::{
    Direction, ENTRY_FAMILY, Entry, EntryHeader, Index, IndexPlan, Plan, RowSequence,
};

use super::judge::Found;
use super::plan_rows::PlanRows;
use crate::backend::TableReadPoint;
use crate::table::Table;

/// What a transaction or a client has written, and the entries read do not show.
#[derive(Default)]
pub(super) struct Written {
    /// Rows. The entries read of these rows are those before the write.
    rows: BTreeSet<Bytes>,
    /// The entries that these rows have, in any order.
    entries: Vec<Found>,
    /// Whether clients keep the index.
    is_of_clients: bool,
}

impl Written {
    /// Computes the entries of `rows` in `ranges` of the plan, from the rows as they are seen at a
    /// read point.
    pub(super) fn new(
        rows: BTreeSet<Bytes>,
        plan: &IndexPlan,
        ranges: &Plan,
        at: &TableReadPoint,
    ) -> Result<Self> {
        let mut written = Self { rows, ..Self::default() };
        for row in written.rows_of(plan) {
            let entries = plan.index().entries(&row, &at.get(&get(plan, &row)?)?)?;
            written.add(row, entries, plan, ranges)?;
        }
        Ok(written)
    }

    /// Reads the rows that clients are writing, where these keep the index. They are read before
    /// the entries: those of a write that has ended are there.
    pub(super) async fn by_clients(table: &Table, plan: &IndexPlan, ranges: &Plan) -> Result<Self> {
        let Some(rows) = table.backend().unsettled_rows(table.name()).await? else {
            return Ok(Self::default());
        };
        let rows = rows.into_iter().collect();
        let mut written = Self { rows, is_of_clients: true, ..Self::default() };
        let rows = written.rows_of(plan);
        let gets = rows.iter().map(|row| get(plan, row)).collect::<Result<Vec<_>>>()?;
        for (row, cells) in rows.into_iter().zip(table.get_many(gets).await) {
            // A row whose entry is too long has none.
            let entries = plan.index().entries(&row, &cells?).unwrap_or_default();
            written.add(row, entries, plan, ranges)?;
        }
        Ok(written)
    }

    /// Whether clients keep the index: its entries have cells with any qualifiers, and there may be
    /// rows of an earlier declaration among them.
    pub(super) fn is_of_clients(&self) -> bool {
        self.is_of_clients
    }

    fn rows_of(&self, plan: &IndexPlan) -> Vec<Bytes> {
        let of_query = |row: &&Bytes| RowRange::one_contains(plan.row_plan().ranges(), row);
        self.rows.iter().filter(of_query).cloned().collect()
    }

    fn add(
        &mut self,
        row: Bytes,
        entries: Vec<Entry>,
        plan: &IndexPlan,
        ranges: &Plan,
    ) -> Result<()> {
        // They have not been written, so their rows are looked at.
        let header = EntryHeader { certain_until: -1, timestamps: Vec::new() }.encode();
        for entry in entries {
            if !RowRange::one_contains(ranges.ranges(), &entry.key) || !plan.holds(&entry.key) {
                continue;
            }
            let (at, kind) = (Timestamp::MIN, CellKind::Put);
            let cell = Cell::new(entry.key, ENTRY_FAMILY, "", at, kind, header.clone())?;
            self.entries.push(Found {
                row: row.clone(),
                entry: Row::new(vec![cell]),
                is_own: true,
            });
        }
        Ok(())
    }
}

fn get(plan: &IndexPlan, row: &Bytes) -> Result<Get> {
    let mut get = Get::new(row.clone())?;
    get.columns = plan.index().columns().clone();
    Ok(get)
}

/// Entries in the order of a plan or its reverse.
pub(super) struct MergedEntries {
    index: Index,
    read: PlanRows,
    written: BTreeSet<Bytes>,
    is_of_clients: bool,
    /// Entries of written rows that are still to come.
    own: VecDeque<Found>,
    /// An entry that was read and comes after the first of `own`.
    next: Option<Found>,
    is_merged: bool,
    direction: Direction,
}

impl MergedEntries {
    pub(super) fn new(
        read: PlanRows,
        index: &Index,
        written: Written,
        direction: Direction,
    ) -> Self {
        let is_merged = read.plan().order().sequence() == RowSequence::Merged;
        let Written { rows: written, entries: mut own, is_of_clients } = written;
        let (index, next) = (index.clone(), None);
        let mut merged = Self {
            index,
            read,
            written,
            is_of_clients,
            own: VecDeque::new(),
            next,
            is_merged,
            direction,
        };
        own.sort_by(|one, other| merged.compare(one, other));
        merged.own = own.into();
        merged
    }

    /// Returns the next entry.
    pub(super) fn poll_found(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<Found>>> {
        while self.next.is_none() {
            let Some(entry) = ready!(self.read.poll_row(context))? else { break };
            let entry = entry.into_row();
            let row = match self.index.row_key(entry.key()) {
                Ok(row) => Bytes::from(row),
                Err(_) if self.is_of_clients => continue,
                Err(error) => return Poll::Ready(Err(error.into())),
            };
            if !self.written.contains(&row) {
                self.next = Some(Found { row, entry, is_own: false });
            }
        }
        let is_own_next = match (self.own.front(), &self.next) {
            (Some(own), Some(next)) => self.compare(own, next).is_lt(),
            (own, _) => own.is_some(),
        };
        let next = if is_own_next { self.own.pop_front() } else { self.next.take() };
        Poll::Ready(Ok(next))
    }

    /// Compares two entries in the order in which they come.
    fn compare(&self, one: &Found, other: &Found) -> Ordering {
        let (one, other) = (one.entry.key(), other.entry.key());
        let template = self.index.template();
        let order = match (self.is_merged, template.logical_key(one), template.logical_key(other)) {
            (true, Ok(logical), Ok(others)) => logical.cmp(&others).then_with(|| one.cmp(other)),
            _ => one.cmp(other),
        };
        if self.direction == Direction::Reverse { order.reverse() } else { order }
    }
}
