//! Builds a commit's log record: the cells of the mutations in the log's encoding.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use rowhouse_model::{Bytes, Cell, CellRef, Error, ErrorKind, Nonce, Result, Timestamp, escape};

use crate::background::Work;
use crate::commits::{Buffering, Touched};
use crate::engine::Engine;
use crate::family::FamilyStore;
use crate::read::Pending;
use crate::wal::{RecordBody, SealedRecord};

/// Collects a commit's cells. They are copied once, into the record, and inserted into the
/// memstores from there.
#[derive(Default)]
pub(crate) struct RecordBuilder<'a> {
    body: RecordBody,
    /// The cells of indexes in memory, in the same encoding. They are not logged.
    unlogged: RecordBody,
    parts: Vec<Part<'a>>,
    /// The nonces of the increments and appends.
    pub(crate) nonces: Vec<Nonce>,
    /// The rows on which the record depends, by region id, besides the rows that it changes.
    pub(crate) reads: Vec<(u64, Touched)>,
    /// What its transaction has read or written, by region id.
    pub(crate) touched: Option<&'a BTreeMap<u64, Vec<Touched>>>,
    /// The shortest period of the counters in it; `None` before the first.
    period: Option<Duration>,
    /// Some cells are not counters that may stay out of the log.
    must_log: bool,
}

/// The cells in a record up to which [`RecordBuilder::fill`] has come: the part, and where the
/// part's bytes end.
#[derive(Default)]
pub(crate) struct Filled {
    part: usize,
    end: usize,
}

/// Consecutive cells of one family.
struct Part<'a> {
    family: &'a FamilyStore,
    /// They are in the log record.
    is_logged: bool,
    /// Their byte offsets in the record, or in the cells that are not logged.
    begin: usize,
    end: usize,
}

impl<'a> RecordBuilder<'a> {
    /// Adds a cell, with timestamp `at` instead of the cell's own if given.
    pub(crate) fn push(&mut self, family: &'a FamilyStore, cell: &Cell, at: Option<Timestamp>) {
        self.must_log = true;
        self.push_cell(family, cell, at);
    }

    /// Adds a counter's new cell, which may stay out of the log for `period`.
    pub(crate) fn push_counter(&mut self, family: &'a FamilyStore, cell: &Cell, period: Duration) {
        self.period = Some(self.period.map_or(period, |shortest| shortest.min(period)));
        self.push_cell(family, cell, None);
    }

    fn push_cell(&mut self, family: &'a FamilyStore, cell: &Cell, at: Option<Timestamp>) {
        if !self.parts.last().is_some_and(|part| std::ptr::eq(part.family, family)) {
            let is_logged = family.in_memory().is_none();
            let body = if is_logged { &mut self.body } else { &mut self.unlogged };
            body.group(family.region_id(), family.name());
            let begin = body.buffer_len();
            self.parts.push(Part { family, is_logged, begin, end: begin });
        }
        let part = self.parts.last_mut().expect("one was begun above");
        let body = if part.is_logged { &mut self.body } else { &mut self.unlogged };
        body.cell(cell.as_bytes(), at.map(Timestamp::as_millis));
        part.end = body.buffer_len();
    }

    /// Returns the part's cells from a byte offset on.
    fn cells_of(&self, part: &Part<'_>, begin: usize) -> impl Iterator<Item = &[u8]> {
        let body = if part.is_logged { &self.body } else { &self.unlogged };
        body.cells(begin, part.end)
    }

    /// Returns the name of a family that was dropped since its cells were added, if there is one.
    /// None can be dropped while the freeze latch is held.
    pub(crate) fn dropped_family(&self) -> Option<&Bytes> {
        let dropped = self.parts.iter().find(|part| part.family.is_dropped());
        dropped.map(|part| part.family.name())
    }

    /// Checks that no family was dropped since its cells were added, as [`dropped_family`] does.
    ///
    /// [`dropped_family`]: RecordBuilder::dropped_family
    ///
    /// # Errors
    /// `NoSuchColumnFamily`.
    pub(crate) fn check_families(&self) -> Result<()> {
        match self.dropped_family() {
            None => Ok(()),
            Some(family) => Err(Error::new(
                ErrorKind::NoSuchColumnFamily,
                format!("Column family {} was deleted meanwhile", escape(family)),
            )),
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// Returns true if the record has cells for the log: others than cells of indexes in memory.
    pub(crate) fn has_logged(&self) -> bool {
        self.parts.iter().any(|part| part.is_logged)
    }

    /// Returns the bytes of the record so far, with the cells that are not logged.
    pub(crate) fn len(&self) -> usize {
        self.body.len() + self.unlogged.len()
    }

    /// Adds the cells to `pending`, except the cells that earlier calls with the same `filled`
    /// added.
    pub(crate) fn fill(&self, pending: &mut Pending, filled: &mut Filled) {
        for (nth, part) in self.parts.iter().enumerate().skip(filled.part) {
            let begin = if nth == filled.part { filled.end.max(part.begin) } else { part.begin };
            for key_value in self.cells_of(part, begin) {
                pending.insert(part.family, key_value);
            }
            *filled = Filled { part: nth, end: part.end };
        }
    }

    /// Returns the record's cells in rows that `is_selected` accepts, by region id and row key.
    pub(crate) fn pending(&self, is_selected: impl Fn(u64, &[u8]) -> bool) -> Option<Pending> {
        let mut pending = None;
        for part in &self.parts {
            let region = part.family.region_id();
            let cells = self.cells_of(part, part.begin);
            for key_value in cells.filter(|cell| is_selected(region, row_of(cell))) {
                pending.get_or_insert_with(Pending::default).insert(part.family, key_value);
            }
        }
        pending
    }

    /// Returns the rows that hold the record's cells, with their region ids; a row may appear more
    /// than once.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (u64, &[u8])> {
        self.parts.iter().flat_map(|part| {
            let cells = self.cells_of(part, part.begin);
            cells.map(|key_value| (part.family.region_id(), row_of(key_value)))
        })
    }

    /// Returns the record's cells in a region, in families that `is_selected` accepts, by row.
    pub(crate) fn cells_by_row(
        &self,
        region: u64,
        is_selected: impl Fn(&[u8]) -> bool,
    ) -> BTreeMap<&[u8], Vec<(&FamilyStore, CellRef<'_>)>> {
        let is_of_it =
            |part: &&Part<'_>| part.family.region_id() == region && is_selected(part.family.name());
        let mut rows: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for part in self.parts.iter().filter(is_of_it) {
            for key_value in self.cells_of(part, part.begin) {
                let cell = CellRef::from_checked(key_value, 0);
                rows.entry(cell.key.row).or_default().push((part.family, cell));
            }
        }
        rows
    }

    /// Returns copies of the record's cells.
    pub(crate) fn cells(&self) -> Vec<Cell> {
        let cells = self.parts.iter().flat_map(|part| self.cells_of(part, part.begin));
        cells.map(|cell| Cell::from_checked(Bytes::copy_from_slice(cell), 0)).collect()
    }

    /// Returns for how long the record may stay out of the log: it has counters of one row and
    /// nothing else, and depends on no other row. A record of several rows would not survive as a
    /// whole, and the log would not have the counters on which it depends.
    pub(crate) fn buffered(&self) -> Option<Duration> {
        let period = self.period.filter(|_| !self.must_log && self.reads.is_empty())?;
        let mut rows = self.rows();
        let first = rows.next();
        rows.all(|row| Some(row) == first).then_some(period)
    }

    /// Adds counters of earlier increments to the log record alone: the memstores have them. They
    /// go before the record's own cells, which may replace one of them.
    pub(crate) fn carry(&mut self, carried: RecordBody) {
        let moved = self.body.put_first(carried);
        for part in self.parts.iter_mut().filter(|part| part.is_logged) {
            part.begin += moved;
            part.end += moved;
        }
    }

    /// Completes the record: no cell can be added any more. `carried` are the nonces of the carried
    /// counters; `millis` is the time of the commit, for followers.
    pub(crate) fn seal(
        self,
        carried: impl Iterator<Item = Nonce> + Clone,
        millis: Option<i64>,
    ) -> SealedBuilder<'a> {
        SealedBuilder {
            record: self.body.seal(carried.chain(self.nonces.iter().copied()), millis),
            unlogged: self.unlogged,
            parts: self.parts,
            nonces: self.nonces,
        }
    }
}

fn row_of(key_value: &[u8]) -> &[u8] {
    CellRef::from_checked(key_value, 0).key.row
}

/// A complete record, with the families that the cells belong to.
pub(crate) struct SealedBuilder<'a> {
    pub(crate) record: SealedRecord,
    unlogged: RecordBody,
    pub(crate) nonces: Vec<Nonce>,
    parts: Vec<Part<'a>>,
}

impl SealedBuilder<'_> {
    fn cells_of(&self, part: &Part<'_>) -> impl Iterator<Item = &[u8]> {
        let logged = part.is_logged.then(|| self.record.cells(part.begin, part.end));
        let unlogged = (!part.is_logged).then(|| self.unlogged.cells(part.begin, part.end));
        logged.into_iter().flatten().chain(unlogged.into_iter().flatten())
    }

    /// Returns the rows that hold the record's cells, with their region ids; a row may appear more
    /// than once.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (u64, &[u8])> {
        self.parts.iter().flat_map(|part| {
            let cells = self.cells_of(part);
            cells.map(|key_value| (part.family.region_id(), row_of(key_value)))
        })
    }

    /// Notes that the log does not have the record, which has counters of one row alone. Called
    /// before the record is visible: a reader of the counter must know that the log may lack it.
    #[cold]
    pub(crate) fn note_counters(&self, engine: &Engine, buffering: Buffering) {
        let Some((region, row)) = self.rows().next() else { return };
        let cells = self.parts.iter().flat_map(|part| self.cells_of(part));
        let now = Instant::now();
        if engine.counters.note(region, row, cells, &self.nonces, buffering, now) {
            engine.counter_work.push(Work::LogCounters);
        }
    }

    /// Requests that older versions of the counters leave the memory, if there are many.
    #[cold]
    pub(crate) fn compact_counters(&self, engine: &Engine) {
        self.parts.iter().for_each(|part| part.family.request_memory_compaction(&engine.queue));
    }

    /// Inserts the cells into their memstores. Those in families that `is_unlogged` selects are
    /// flushed when the store is closed.
    pub(crate) fn insert(
        &self,
        engine: &Engine,
        sequence: u64,
        is_unlogged: impl Fn(&FamilyStore) -> bool,
    ) {
        for part in &self.parts {
            let memstore = part.family.active();
            let cells = self.cells_of(part);
            let added = cells.map(|key_value| memstore.insert(key_value, sequence)).sum();
            if part.is_logged && is_unlogged(part.family) {
                memstore.set_unlogged();
            }
            engine.after_insert(part.family, &memstore, added);
        }
    }
}
