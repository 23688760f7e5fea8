//! Executes a plan by an index: reads entries, and the rows to which they lead, in batches.

use std::collections::VecDeque;
use std::future::{poll_fn, ready};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use rowhouse_model::{Bytes, Columns, Error, ErrorKind, Result, Row, Scan};
use rowhouse_schema::{
    COLLECTED_ENTRIES_MAX, Direction, Index, IndexPlan, KeySchema, Plan, RowSequence,
};

use super::QueryRow;
use super::entries::{MergedEntries, Written};
use super::judge::{EntryOrder, Found, Judge, Judged};
use super::parts::ScanBy;
use super::plan_rows::PlanRows;
use crate::backend::{GETS_INLINE_MAX, IndexReadPoint, ReadAhead, TableReadPoint};
use crate::table::Table;

/// Entries in the first batch whose rows are read together; later ones are larger.
const BATCH_FIRST: usize = 16;
const BATCH_MAX: usize = 128;
/// The most batches whose rows are being read.
const FETCHES_MAX: usize = 8;

/// A query by an index.
pub(super) struct IndexQuery {
    /// Judges entries.
    pub(super) plan: IndexPlan,
    /// The entries to read: those of the plan, or those after a page.
    pub(super) entries: Plan,
    pub(super) order: EntryOrder,
    /// The plan by the key, whose ranges hold all rows of the answer.
    pub(super) key_plan: Plan,
    pub(super) direction: Direction,
    /// The requested columns.
    pub(super) wanted: Columns,
    pub(super) limit: u64,
}

/// The rows of a query, found by the entries of an index.
pub(super) struct IndexRows {
    judge: Arc<Judge>,
    entry_plan: Plan,
    key_plan: Plan,
    entries: Entries,
    ended: bool,
    /// Entries whose rows are to be read next.
    batch: Vec<Found>,
    batch_len: usize,
    /// The rows being read, in the order of their entries.
    fetches: VecDeque<Fetch>,
    rows: VecDeque<QueryRow>,
    /// The number of rows still to return.
    left: u64,
    unreadable: u64,
    /// The rows to which entries led, if they are to be noted.
    read: Option<Vec<Bytes>>,
    ahead: Arc<ReadAhead>,
}

enum Entries {
    /// Read on demand.
    Read(Box<MergedEntries>),
    /// Collected and sorted.
    Sorted(std::vec::IntoIter<Found>),
}

/// A batch of entries whose rows are being read. Kept here and not in the future of a caller, so
/// that a caller that drops the future loses no rows.
struct Fetch {
    entries: usize,
    judged: Pin<Box<dyn Future<Output = Result<Judged>> + Send + Sync>>,
}

impl IndexRows {
    /// Opens the rows of a query at a read point if one is given, or each as it is now. Returns
    /// `None` if the index has more entries than are to be sorted.
    pub(super) async fn open(
        table: &Table,
        query: IndexQuery,
        at: Option<IndexReadPoint>,
        written: Written,
    ) -> Result<Option<Self>> {
        let IndexQuery { plan, entries, order, key_plan, direction, wanted, limit } = query;
        let (index, at) = (plan.index().clone(), at.map(Arc::new));
        let judge = Judge::new(table, plan, (order, direction), wanted, at.clone())?;
        let mut scan = Scan::all();
        let (columns, filter) = judge.entry_parts(written.is_of_clients());
        (scan.columns, scan.filter) = (columns, filter.map(Box::new));
        scan.reversed = direction == Direction::Reverse;
        let point = at.as_deref().map(IndexReadPoint::entries);
        let read = open_entries(table, &index, entries.clone(), scan, point).await?;
        let keys = match order {
            EntryOrder::Index | EntryOrder::Key => {
                Entries::Read(Box::new(MergedEntries::new(read, &index, written, direction)))
            }
            EntryOrder::Sorted => {
                let keeps_entries = judge.covers();
                let read = MergedEntries::new(read, &index, written, direction);
                let sorted = sorted(read, &key_plan, table.key_schema()?, keeps_entries);
                let Some(mut sorted) = sorted.await? else { return Ok(None) };
                if direction == Direction::Reverse {
                    sorted.reverse();
                }
                Entries::Sorted(sorted.into_iter())
            }
        };
        Ok(Some(Self {
            judge: Arc::new(judge),
            entry_plan: entries,
            key_plan,
            entries: keys,
            ended: false,
            batch: Vec::new(),
            batch_len: BATCH_FIRST,
            fetches: VecDeque::new(),
            rows: VecDeque::new(),
            left: limit,
            unreadable: 0,
            read: None,
            ahead: ReadAhead::of_processors(),
        }))
    }

    /// Notes from now on the rows to which entries lead.
    pub(super) fn note_rows(&mut self) {
        self.read = Some(Vec::new());
    }

    /// Takes the noted rows.
    pub(super) fn take_noted(&mut self) -> Vec<Bytes> {
        self.read.take().unwrap_or_default()
    }

    pub(super) fn index(&self) -> &Index {
        self.judge.plan.index()
    }

    pub(super) fn key_plan(&self) -> &Plan {
        &self.key_plan
    }

    pub(super) fn entry_plan(&self) -> &Plan {
        &self.entry_plan
    }

    /// The number of rows omitted so far because a value does not fit the type of its column.
    pub(super) fn unreadable(&self) -> u64 {
        self.unreadable
    }

    pub(super) fn poll_row(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<QueryRow>>> {
        if self.left == 0 {
            return Poll::Ready(Ok(None));
        }
        let found = ready!(self.poll_matching(context));
        match found {
            Ok(Some(_)) => self.left -= 1,
            Ok(None) | Err(_) => self.left = 0,
        }
        Poll::Ready(found)
    }

    fn poll_matching(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<QueryRow>>> {
        loop {
            if let Some(row) = self.rows.pop_front() {
                return Poll::Ready(Ok(Some(row)));
            }
            self.read_on(context)?;
            let Some(fetch) = self.fetches.front_mut() else {
                return if self.ended { Poll::Ready(Ok(None)) } else { Poll::Pending };
            };
            let judged = ready!(fetch.judged.as_mut().poll(context));
            self.fetches.pop_front();
            let Judged { rows, unreadable } = judged?;
            self.rows = rows.into();
            self.unreadable += unreadable;
        }
    }

    /// Starts to read the rows of the next entries: of no more than would be returned if all
    /// matched.
    fn read_on(&mut self, context: &mut Context<'_>) -> Result<()> {
        while !self.ended && self.fetches.len() < FETCHES_MAX {
            let fetched: usize = self.fetches.iter().map(|fetch| fetch.entries).sum();
            let wanted = self.left.saturating_sub(fetched as u64);
            if wanted == 0 {
                return Ok(());
            }
            let batch_len = self.batch_len.min(usize::try_from(wanted).unwrap_or(usize::MAX));
            if self.batch.len() >= batch_len {
                self.fetch();
                continue;
            }
            match self.poll_entry(context)? {
                Poll::Ready(Some(found)) => self.batch.push(found),
                Poll::Ready(None) => {
                    self.ended = true;
                    self.fetch();
                }
                Poll::Pending => {
                    if self.fetches.is_empty() {
                        self.fetch();
                    }
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Starts to read the rows of the entries of the batch.
    fn fetch(&mut self) {
        let found = std::mem::take(&mut self.batch);
        if found.is_empty() {
            return;
        }
        if let Some(read) = &mut self.read {
            read.extend(found.iter().map(|found| found.row.clone()));
        }
        self.batch_len = (self.batch_len * 2).min(BATCH_MAX);
        let (entries, judge) = (found.len(), Arc::clone(&self.judge));
        let judged: Pin<Box<dyn Future<Output = _> + Send + Sync>> = match judge.is_at_point() {
            true if entries <= GETS_INLINE_MAX => Box::pin(ready(judge.rows_at_point(found))),
            true => {
                let read = self.ahead.ask(move || judge.rows_at_point(found));
                Box::pin(async move { read.await? })
            }
            false => {
                let read = tokio::spawn(judge.rows_by_gets(found));
                Box::pin(async move {
                    match read.await.map_err(tokio::task::JoinError::try_into_panic) {
                        Ok(judged) => judged,
                        Err(Ok(panic)) => std::panic::resume_unwind(panic),
                        Err(Err(_)) => Err(Error::new(
                            ErrorKind::ServerNotRunning,
                            "the runtime that read rows for a query was shut down",
                        )),
                    }
                })
            }
        };
        self.fetches.push_back(Fetch { entries, judged });
    }

    /// Returns the next entry that may lead to a row of the answer.
    fn poll_entry(&mut self, context: &mut Context<'_>) -> Result<Poll<Option<Found>>> {
        let entries = match &mut self.entries {
            Entries::Sorted(sorted) => return Ok(Poll::Ready(sorted.next())),
            Entries::Read(entries) => entries,
        };
        loop {
            let Poll::Ready(found) = entries.poll_found(context)? else { return Ok(Poll::Pending) };
            let Some(found) = found else { return Ok(Poll::Ready(None)) };
            if holds(&self.key_plan, &found.row) {
                return Ok(Poll::Ready(Some(found)));
            }
        }
    }
}

/// Opens the entries of an index, at a read point if one is given.
async fn open_entries(
    table: &Table,
    index: &Index,
    plan: Plan,
    scan: Scan,
    at: Option<TableReadPoint>,
) -> Result<PlanRows> {
    let entries = table.scans_of(index.table_name(table.name())?);
    PlanRows::open(&entries, index.template(), plan, scan, u64::MAX, false, ScanBy::Point(at)).await
}

/// Reads all entries, and sorts them in the order of the keys of their rows, one of each row;
/// `None` if there are too many. `keeps_entries` tells whether their cells are needed.
async fn sorted(
    mut entries: MergedEntries,
    key_plan: &Plan,
    key: &KeySchema,
    keeps_entries: bool,
) -> Result<Option<Vec<Found>>> {
    let is_merged = key_plan.order().sequence() == RowSequence::Merged;
    let mut sorted = Vec::new();
    while let Some(mut found) = poll_fn(|context| entries.poll_found(context)).await? {
        if !holds(key_plan, &found.row) {
            continue;
        }
        if sorted.len() == COLLECTED_ENTRIES_MAX {
            return Ok(None);
        }
        if !keeps_entries {
            found.entry = Row::default();
        }
        let logical = match is_merged {
            true => Some(key.logical_key(&found.row)?.into_owned()),
            false => None,
        };
        sorted.push((logical, found));
    }
    sorted.sort_by(|(logical, found), (others, other)| {
        logical.cmp(others).then_with(|| found.row.cmp(&other.row))
    });
    sorted.dedup_by(|(_, found), (_, other)| found.row == other.row);
    Ok(Some(sorted.into_iter().map(|(_, found)| found).collect()))
}

/// Returns whether a row is in the ranges of a plan.
fn holds(plan: &Plan, row: &Bytes) -> bool {
    let ranges = plan.ranges();
    let behind = ranges.partition_point(|range| range.start[..] <= row[..]);
    behind.checked_sub(1).is_some_and(|at| ranges[at].contains(row))
}
