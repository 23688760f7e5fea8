//! The index entries that may lead to rows of a query, in the order in which the rows are read.

use std::future::poll_fn;
use std::task::{Context, Poll};

use rowhouse_model::{Bytes, Columns, Filter, Result, Row, RowRange, Scan};
use rowhouse_schema::{COLLECTED_ENTRIES_MAX, Direction, Index, KeySchema, Plan};

use crate::entries::{MergedEntries, Written};
use crate::judge::EntryOrder;
use crate::plan_rows::{KeyQuery, PlanRows};
use crate::source::{EntryHit, ReadFrom, Source};

/// What is read from an index.
pub(crate) struct EntryQuery {
    pub(crate) index: Index,
    /// The plan for the entries to read.
    pub(crate) entries: Plan,
    pub(crate) order: EntryOrder,
    /// The template of the table's key.
    pub(crate) key: KeySchema,
    /// The ranges that hold all rows in the answer, in key order.
    pub(crate) ranges: Vec<RowRange>,
    /// Whether rows are sorted by their keys without the computed fields.
    pub(crate) sorts_logically: bool,
    pub(crate) direction: Direction,
    /// The required entry cells.
    pub(crate) columns: Columns,
    pub(crate) filter: Option<Filter>,
    /// True if the cells of sorted entries are required.
    pub(crate) retains_entries: bool,
}

/// Entries in the order in which their rows are read.
pub(crate) struct EntryReader<S: Source> {
    query: EntryQuery,
    entries: Entries<S>,
}

enum Entries<S: Source> {
    /// Read on demand.
    Read(Box<MergedEntries<S>>),
    /// Collected and sorted.
    Sorted(std::vec::IntoIter<EntryHit>),
}

impl<S: Source> EntryReader<S> {
    /// Opens an index's entries. Returns `None` if they must be sorted and are too many or too
    /// large.
    pub(crate) async fn open(
        source: S,
        query: EntryQuery,
        written: Written,
    ) -> Result<Option<Self>> {
        let mut scan = Scan::all();
        scan.columns = query.columns.clone();
        scan.filter = query.filter.clone().map(Box::new);
        scan.reversed = query.direction == Direction::Reverse;
        let entries = KeyQuery {
            key: query.index.template().clone(),
            plan: query.entries.clone(),
            scan,
            keys_only: false,
            limit: u64::MAX,
            with_misfits: false,
        };
        let bytes_max = source.sorted_bytes_max();
        let read = PlanRows::open(source, ReadFrom::Entries, entries).await?;
        let read = MergedEntries::new(read, &query.index, written, query.direction);
        let entries = match query.order {
            EntryOrder::Index | EntryOrder::Key => Entries::Read(Box::new(read)),
            EntryOrder::Sorted => match sorted(read, &query, bytes_max).await? {
                Some(sorted) => Entries::Sorted(sorted.into_iter()),
                None => return Ok(None),
            },
        };
        Ok(Some(Self { query, entries }))
    }

    /// Waits for the next entry of [`EntryReader::poll_hit`].
    pub(crate) async fn next(&mut self) -> Result<Option<EntryHit>> {
        poll_fn(|context| match self.poll_hit(context) {
            Ok(hit) => hit.map(Ok),
            Err(error) => Poll::Ready(Err(error)),
        })
        .await
    }

    /// Returns the next entry that may lead to a row in the answer.
    pub(crate) fn poll_hit(&mut self, context: &mut Context<'_>) -> Result<Poll<Option<EntryHit>>> {
        let entries = match &mut self.entries {
            Entries::Sorted(sorted) => return Ok(Poll::Ready(sorted.next())),
            Entries::Read(entries) => entries,
        };
        loop {
            let Poll::Ready(hit) = entries.poll_hit(context)? else { return Ok(Poll::Pending) };
            let Some(hit) = hit else { return Ok(Poll::Ready(None)) };
            if self.query.may_match(&hit.row) {
                return Ok(Poll::Ready(Some(hit)));
            }
            if self.query.is_past(&hit.row) {
                return Ok(Poll::Ready(None));
            }
        }
    }
}

/// Reads all entries, and sorts them by row key, one entry per row; `None` if there are too many.
async fn sorted(
    mut entries: MergedEntries<impl Source>,
    query: &EntryQuery,
    bytes_max: usize,
) -> Result<Option<Vec<EntryHit>>> {
    let mut sorted = Vec::new();
    let mut bytes = 0;
    while let Some(mut hit) = poll_fn(|context| entries.poll_hit(context)).await? {
        if !query.may_match(&hit.row) {
            continue;
        }
        if !query.retains_entries {
            hit.entry = Row::default();
        }
        let logical = if query.sorts_logically {
            Some(query.key.logical_key(&hit.row)?.into_owned())
        } else {
            None
        };
        bytes += size_of::<(Option<Vec<u8>>, EntryHit)>() + hit.row.len();
        bytes += hit.entry.byte_len() as usize + logical.as_ref().map_or(0, Vec::len);
        if sorted.len() == COLLECTED_ENTRIES_MAX || bytes > bytes_max {
            return Ok(None);
        }
        sorted.push((logical, hit));
    }
    sorted.sort_by(|(logical, hit), (others, other)| {
        logical.cmp(others).then_with(|| hit.row.cmp(&other.row))
    });
    sorted.dedup_by(|(_, hit), (_, other)| hit.row == other.row);
    let sorted = sorted.into_iter().map(|(_, hit)| hit);
    Ok(Some(match query.direction {
        Direction::Forward => sorted.collect(),
        Direction::Reverse => sorted.rev().collect(),
    }))
}

impl EntryQuery {
    /// Returns true if the rows of all further entries are after the ranges.
    fn is_past(&self, row: &Bytes) -> bool {
        let first = self.ranges.first();
        let last = self.ranges.last();
        self.order == EntryOrder::Key
            && match self.direction {
                Direction::Forward => {
                    last.is_some_and(|last| !last.stop.is_empty() && row[..] >= last.stop[..])
                }
                Direction::Reverse => first.is_some_and(|first| row[..] < first.start[..]),
            }
    }

    /// Returns true if an entry's row is in the ranges.
    fn may_match(&self, row: &Bytes) -> bool {
        let after = self.ranges.partition_point(|range| range.start[..] <= row[..]);
        after.checked_sub(1).is_some_and(|at| self.ranges[at].contains(row))
    }
}
