//! Executes a plan by an index: reads entries, and the rows to which they lead, in batches.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use rowhouse_model::{Bytes, Error, ErrorKind, Result};
use rowhouse_schema::{ColumnSchema, Direction, Index, IndexPlan, KeySchema, Plan, RowSequence};

use crate::entries::Written;
use crate::entry_reader::{EntryQuery, EntryReader};
use crate::judge::{EntryOrder, Judge};
use crate::key_instead::KeyRows;
use crate::projection::Projection;
use crate::row::MatchingRow;
use crate::source::{EntryHit, Judged, Reading, Source};

/// Entries in the first batch whose rows are read together; later ones are larger.
const BATCH_FIRST: usize = 16;
const BATCH_MAX: usize = 128;
/// The most batches whose rows are being read.
const FETCHES_MAX: usize = 8;

/// A query by an index.
pub struct IndexQuery {
    /// The template of the table's key.
    pub key: KeySchema,
    /// The table's declared columns.
    pub columns: Option<ColumnSchema>,
    /// Judges entries.
    pub plan: IndexPlan,
    /// The entries to read: the plan's entries, or the entries after a page.
    pub entries: Plan,
    /// The order in which entries are read.
    pub order: EntryOrder,
    /// The plan by the key, whose ranges hold all rows in the answer.
    pub key_plan: Plan,
    /// The row direction.
    pub direction: Direction,
    /// What is returned for each row.
    pub projection: Projection,
    /// The most rows to return.
    pub limit: u64,
}

/// The rows of a query, found by index entries.
pub struct IndexRows<S: Source> {
    judge: Arc<Judge<S>>,
    entry_plan: Plan,
    key_plan: Plan,
    entries: EntryReader<S>,
    ended: bool,
    /// Entries whose rows are to be read next.
    batch: Vec<EntryHit>,
    batch_len: usize,
    /// The rows being read, in entry order.
    fetches: VecDeque<Fetch>,
    rows: VecDeque<MatchingRow>,
    /// How many rows are still to return.
    left: u64,
    unreadable: u64,
    /// Whether the rest is read by the key if the index cannot be read.
    may_go_on_by_key: bool,
    /// The last row in the returned batches, if the rest may be read by the key.
    last_row: Option<Bytes>,
    /// The rest, read by the key.
    by_key: Option<KeyRows<S>>,
    /// The rows to which entries led, if they are to be noted.
    read: Option<Vec<Bytes>>,
}

/// A batch of entries whose rows are being read. Held here and not in a caller's future, so that a
/// caller that drops the future loses no rows.
struct Fetch {
    entries: usize,
    judged: Reading<Judged>,
}

impl<S: Source> IndexRows<S> {
    /// Opens a query's rows. Returns `None` if the index has more entries than are to be sorted.
    ///
    /// # Errors
    /// As for the source.
    pub async fn open(source: S, query: IndexQuery, written: Written) -> Result<Option<Self>> {
        let opened = Self::try_open(source.clone(), query, written).await;
        if let Err(error) = &opened {
            source.report_damage(error);
        }
        opened
    }

    async fn try_open(source: S, query: IndexQuery, written: Written) -> Result<Option<Self>> {
        let IndexQuery {
            key,
            columns,
            plan,
            entries,
            order,
            key_plan,
            direction,
            projection,
            limit,
        } = query;
        let index = plan.index().clone();
        let table = (key.clone(), columns.as_ref());
        let judge = Judge::new(source.clone(), table, plan, (order, direction), projection);
        let (columns, filter) = judge.entry_parts(written.is_of_clients());
        let query = EntryQuery {
            index: index.clone(),
            entries: entries.clone(),
            order,
            key,
            ranges: key_plan.ranges().to_vec(),
            sorts_logically: key_plan.order().sequence() == RowSequence::Merged,
            direction,
            columns,
            filter,
            retains_entries: judge.covers(),
        };
        let Some(reader) = EntryReader::open(source, query, written).await? else {
            return Ok(None);
        };
        Ok(Some(Self {
            judge: Arc::new(judge),
            entry_plan: entries,
            key_plan,
            entries: reader,
            ended: false,
            batch: Vec::new(),
            batch_len: BATCH_FIRST,
            fetches: VecDeque::new(),
            rows: VecDeque::new(),
            left: limit,
            unreadable: 0,
            may_go_on_by_key: false,
            last_row: None,
            by_key: None,
            read: None,
        }))
    }

    /// Returns the same rows; if the index cannot be read, the remaining ones are read by the key.
    /// They are in key order.
    pub fn or_by_key(self) -> Self {
        Self { may_go_on_by_key: true, ..self }
    }

    /// Notes from now on the rows to which entries lead.
    pub fn note_rows(&mut self) {
        self.read = Some(Vec::new());
    }

    /// Takes the noted rows.
    pub fn take_noted(&mut self) -> Vec<Bytes> {
        self.read.take().unwrap_or_default()
    }

    /// The index that is read.
    pub fn index(&self) -> &Index {
        self.judge.plan.index()
    }

    /// The plan by the key.
    pub fn key_plan(&self) -> &Plan {
        &self.key_plan
    }

    /// The plan for the entries that are read.
    pub fn entry_plan(&self) -> &Plan {
        &self.entry_plan
    }

    /// How many rows are omitted so far because a value does not fit the column type.
    pub fn unreadable(&self) -> u64 {
        self.unreadable + self.by_key.as_ref().map_or(0, KeyRows::unreadable)
    }

    /// Returns the next row, or `None` after the last. After an error the rows have ended.
    pub fn poll_row(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<MatchingRow>>> {
        if self.left == 0 {
            return Poll::Ready(Ok(None));
        }
        let mut result = match &mut self.by_key {
            None => ready!(self.poll_matching(context)),
            Some(rows) => ready!(rows.poll_row(context)),
        };
        if let Err(error) = &result
            && let Some(rows) = self.go_on_by_key(error)?
        {
            result = ready!(rows.poll_row(context));
        }
        match result {
            Ok(Some(_)) => self.left -= 1,
            Ok(None) | Err(_) => self.left = 0,
        }
        Poll::Ready(result)
    }

    /// Opens the rows that are left by the key, if an error says that the index, or a row, cannot
    /// be read. Returns `None` if the error is to be returned.
    fn go_on_by_key(&mut self, error: &Error) -> Result<Option<&mut KeyRows<S>>> {
        if !matches!(error.kind(), ErrorKind::Corruption | ErrorKind::Io) {
            return Ok(None);
        }
        self.judge.report_damage(error);
        let may_go_on = std::mem::take(&mut self.may_go_on_by_key);
        let Some(instead) = self.judge.key_instead().filter(|_| may_go_on) else {
            return Ok(None);
        };
        self.fetches.clear();
        let left = std::mem::take(&mut self.left);
        let rows = instead.open(&self.key_plan, self.last_row.as_deref(), left)?;
        self.left = left;
        Ok(Some(self.by_key.insert(rows)))
    }

    fn poll_matching(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<MatchingRow>>> {
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
            if self.may_go_on_by_key
                && let Some(last) = rows.last()
            {
                self.last_row = Some(Bytes::copy_from_slice(last.key()));
            }
            self.rows = rows.into();
            self.unreadable += unreadable;
        }
    }

    /// Starts to read the rows for the next entries: no more than would be returned if all matched.
    fn read_on(&mut self, context: &mut Context<'_>) -> Result<()> {
        while !self.ended && self.fetches.len() < FETCHES_MAX {
            let fetched: usize = self.fetches.iter().map(|fetch| fetch.entries).sum();
            let projection = self.left.saturating_sub(fetched as u64);
            if projection == 0 {
                return Ok(());
            }
            let batch_len = self.batch_len.min(usize::try_from(projection).unwrap_or(usize::MAX));
            if self.batch.len() >= batch_len {
                self.fetch();
                continue;
            }
            match self.entries.poll_hit(context)? {
                Poll::Ready(Some(hit)) => self.batch.push(hit),
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

    /// Starts to read the rows for the entries in the batch.
    fn fetch(&mut self) {
        let hits = std::mem::take(&mut self.batch);
        if hits.is_empty() {
            return;
        }
        if let Some(read) = &mut self.read {
            read.extend(hits.iter().map(|hit| hit.row.clone()));
        }
        self.batch_len = (self.batch_len * 2).min(BATCH_MAX);
        let entries = hits.len();
        let judged = self.judge.start(hits);
        self.fetches.push_back(Fetch { entries, judged });
    }
}
