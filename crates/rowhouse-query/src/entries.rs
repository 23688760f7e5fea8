//! An index's entries, including entries for rows that a transaction has written, or that a client
//! which maintains indexes is writing.

use std::cmp::Ordering;
use std::collections::{BTreeSet, VecDeque};
use std::task::{Context, Poll, ready};

use rowhouse_model::{Bytes, Cell, CellKind, Error, Get, Result, Row, RowRange, Timestamp, escape};
use rowhouse_schema::{
    Direction, ENTRY_FAMILY, Entry, EntryHeader, Index, IndexPlan, Plan, RowSequence,
};

use crate::plan_rows::PlanRows;
use crate::source::{EntryHit, Source};

/// What a transaction or a client has written, and the entries read do not show.
#[derive(Default)]
pub struct Written {
    /// Rows. The entries read for these rows are from before the write.
    rows: BTreeSet<Bytes>,
    /// The entries that these rows have, in any order.
    entries: Vec<EntryHit>,
    /// Whether clients keep the index.
    is_of_clients: bool,
}

impl Written {
    /// Creates it for rows that were written; [`Written::gets`] and [`Written::add_rows`] follow.
    /// Entries that clients maintain have cells with any qualifiers, and they may include rows from
    /// an earlier declaration.
    pub fn new(rows: BTreeSet<Bytes>, is_of_clients: bool) -> Self {
        Self { rows, entries: Vec::new(), is_of_clients }
    }

    /// Returns the reads for the rows of a query by an index; the row entries are computed from
    /// them.
    ///
    /// # Errors
    /// As for the keys of gets.
    pub fn gets(&self, plan: &IndexPlan) -> Result<Vec<Get>> {
        self.rows_of(plan).map(|row| get(plan, row)).collect()
    }

    /// Adds the entries in `ranges` that these rows have: the answers to [`Written::gets`].
    ///
    /// # Errors
    /// `InvalidRequest` for a row whose entry is too long; where clients keep the index, such a row
    /// has none.
    pub fn add_rows(&mut self, plan: &IndexPlan, ranges: &Plan, rows: Vec<Row>) -> Result<()> {
        let keys: Vec<_> = self.rows_of(plan).cloned().collect();
        for (key, row) in keys.into_iter().zip(rows) {
            let entries = match plan.index().entries(&key, &row) {
                Err(_) if self.is_of_clients => Vec::new(),
                entries => entries?,
            };
            self.add(key, entries, plan, ranges)?;
        }
        Ok(())
    }

    pub(crate) fn is_of_clients(&self) -> bool {
        self.is_of_clients
    }

    fn rows_of<'a>(&'a self, plan: &'a IndexPlan) -> impl Iterator<Item = &'a Bytes> {
        let of_query = |row: &&Bytes| RowRange::one_contains(plan.row_plan().ranges(), row);
        self.rows.iter().filter(of_query)
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
            let value = header.clone();
            let cell =
                Cell::new(entry.key, ENTRY_FAMILY, "", Timestamp::MIN, CellKind::Put, value)?;
            self.entries.push(EntryHit {
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

/// Entries in a plan's order or its reverse.
pub(crate) struct MergedEntries<S: Source> {
    index: Index,
    read: PlanRows<S>,
    written: BTreeSet<Bytes>,
    is_of_clients: bool,
    /// Entries for written rows that are still to come.
    own: VecDeque<EntryHit>,
    /// An entry that was read and comes after the first in `own`.
    next: Option<EntryHit>,
    is_merged: bool,
    direction: Direction,
}

impl<S: Source> MergedEntries<S> {
    pub(crate) fn new(
        read: PlanRows<S>,
        index: &Index,
        written: Written,
        direction: Direction,
    ) -> Self {
        let is_merged = read.plan().order().sequence() == RowSequence::Merged;
        let Written { rows: written, entries: mut own, is_of_clients } = written;
        let mut merged = Self {
            index: index.clone(),
            read,
            written,
            is_of_clients,
            own: VecDeque::new(),
            next: None,
            is_merged,
            direction,
        };
        own.sort_by(|one, other| merged.compare(one, other));
        merged.own = own.into();
        merged
    }

    /// Returns the next entry.
    pub(crate) fn poll_hit(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<EntryHit>>> {
        while self.next.is_none() {
            let Some(entry) = ready!(self.read.poll_row(context))? else { break };
            let entry = entry.row;
            let row = match self.index.row_key(entry.key()) {
                Ok(row) => Bytes::from(row),
                Err(_) if self.is_of_clients => continue,
                Err(why) => {
                    let index = self.index.name();
                    let row = escape(entry.key());
                    return Poll::Ready(Err(Error::corruption(format!(
                        "a row of index {index} is no entry: {why}: row={row}"
                    ))));
                }
            };
            if !self.written.contains(&row) {
                self.next = Some(EntryHit { row, entry, is_own: false });
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
    fn compare(&self, one: &EntryHit, other: &EntryHit) -> Ordering {
        let one = one.entry.key();
        let other = other.entry.key();
        let template = self.index.template();
        let order = match (self.is_merged, template.logical_key(one), template.logical_key(other)) {
            (true, Ok(logical), Ok(others)) => logical.cmp(&others).then_with(|| one.cmp(other)),
            _ => one.cmp(other),
        };
        if self.direction == Direction::Reverse { order.reverse() } else { order }
    }
}
