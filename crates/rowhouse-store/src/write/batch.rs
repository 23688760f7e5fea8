//! Turns mutations into the cells they write and collects these into log records.

use std::collections::HashMap;
use std::sync::Arc;
use std::vec::IntoIter;

use rowhouse_model::{
    Cell, CellKind, Delete, Durability, Error, ErrorKind, Get, KeyValue, Mutation, MutationOutcome,
    Put, Result, Row, Timestamp, escape, tags_with_ttl,
};

use super::apply::{asked, check, is_delete};
use super::commit::{self, Committed};
use super::delta::{CELL_LEN_LEN, Delta};
use super::index::{self, EntryChanges};
use super::observe::{self, Observed, RowToLock, Watched};
use super::record_builder::{Filled, RecordBuilder};
use crate::commits::RowsGuard;
use crate::family::FamilyStore;
use crate::read::{Pending, ReadPoint};
use crate::region::Region;

/// Limit of a record's cells in bytes, unless a single mutation has more, so that a batch of any
/// size fits the log.
const RECORD_BYTES_MAX: usize = 8 << 20;

/// The atomicity of a batch's mutations.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Atomicity {
    /// Independent mutations: one that reads its row sees the effect of those before it, and a
    /// refused one does not affect the others.
    Each,
    /// One record for all, or none. A mutation that reads its row sees the effect of those before
    /// it.
    Together,
    /// One record for all, or none. A mutation that reads its row sees it as it was before all of
    /// them: HBase's RowMutations.
    AsOne,
}

/// Collects mutations into log records. Independent mutations share a record while they have the
/// same durability and none of them has to read the effect of an earlier one.
pub(super) struct Batch<'a> {
    /// The region of the mutation being added.
    pub(super) region: &'a Region,
    atomicity: Atomicity,
    /// Whether independent mutations have records of their own, because an index may refuse one.
    are_alone: bool,
    /// The regions of `record`.
    regions: Vec<&'a Region>,
    pub(super) now: Timestamp,
    /// Lower limit for the timestamps of puts: a condition has read a cell with this timestamp.
    pub(super) seen: Timestamp,
    /// The newest timestamp that the last mutation was given, if later writes to its row must
    /// follow it.
    stamped: Option<Timestamp>,
    /// The read point for its reads, if not the current one.
    pub(super) point: Option<&'a ReadPoint>,
    /// Cells of the record that reads have to see.
    pending: Option<Pending>,
    filled: Filled,
    /// The locks of the rows that it writes and reads.
    pub(super) rows: RowsGuard<'a>,
    /// Rows that observers write and that are not locked.
    pub(super) rows_to_lock: Vec<RowToLock>,
    record: RecordBuilder<'a>,
    pub(super) durability: Durability,
    /// Indexes of the mutations in `record`, if they are independent.
    pub(super) waiting: Vec<usize>,
    pub(super) committed: Committed,
    /// The errors of mutations that could not be committed, by index.
    failed: Vec<(usize, Error)>,
}

impl<'a> Batch<'a> {
    pub(super) fn new(region: &'a Region, atomicity: Atomicity) -> Self {
        Self {
            region,
            atomicity,
            are_alone: atomicity == Atomicity::Each && observe::may_refuse_one(region),
            regions: Vec::new(),
            now: Timestamp::MIN,
            seen: Timestamp::MIN,
            stamped: None,
            point: None,
            pending: None,
            filled: Filled::default(),
            rows: RowsGuard::None,
            rows_to_lock: Vec::new(),
            record: RecordBuilder::default(),
            durability: Durability::UseDefault,
            waiting: Vec::new(),
            committed: Committed::nothing(),
            failed: Vec::new(),
        }
    }

    /// Adds the mutations of observers to a record, at timestamp `at` or later. Their rows are
    /// locked by `rows`.
    pub(super) fn extend(
        record: RecordBuilder<'a>,
        regions: Vec<&'a Region>,
        additions: &'a [(Arc<Region>, Mutation)],
        rows: &mut RowsGuard<'_>,
        at: Timestamp,
    ) -> Result<(RecordBuilder<'a>, Vec<&'a Region>)> {
        let Some(&region) = regions.first() else { return Ok((record, regions)) };
        let mut batch = Self { record, regions, ..Self::new(region, Atomicity::Together) };
        for (region, mutation) in additions {
            check(region, mutation)?;
            let engine = region.engine();
            let row = engine.row_locks.place(region.id(), mutation.row());
            batch.region = region;
            batch.now = at.max(match is_delete(mutation) {
                true => engine.timestamps.issue_delete(rows.after_of(row)),
                false => engine.timestamps.issue_put(rows.after_of(row)),
            });
            batch.add(mutation)?;
            match batch.stamped.take() {
                _ if is_delete(mutation) => rows.note_delete_of(row, batch.now),
                Some(at) => rows.note_put_of(row, at),
                None => {}
            }
        }
        Ok((batch.record, batch.regions))
    }

    /// Records the timestamp that the last mutation gave to the `nth` locked row: later puts and
    /// deletes of the row must follow it if it is ahead of the clock, or belongs to a version that
    /// must stay a version of its own.
    pub(super) fn note_timestamp(&mut self, nth: usize, mutation: &Mutation) {
        match self.stamped.take() {
            _ if is_delete(mutation) => self.rows.note_delete(nth, self.now),
            Some(at) => self.rows.note_put(nth, at),
            None => {}
        }
    }

    /// Discards the collected cells.
    pub(super) fn discard(&mut self) {
        self.record = RecordBuilder::default();
        (self.pending, self.filled) = (None, Filled::default());
        self.regions.clear();
        self.waiting.clear();
        self.stamped = None;
    }

    pub(super) fn add(&mut self, mutation: &Mutation) -> Result<MutationOutcome> {
        if self.atomicity == Atomicity::Each {
            self.begin_record_for(mutation);
        }
        match mutation {
            Mutation::Put(put) => self.put(put),
            Mutation::Delete(delete) => self.delete(delete),
            Mutation::Increment(increment) => self.delta(&increment.into()),
            Mutation::Append(append) => self.delta(&append.into()),
        }
    }

    /// Begins a new record if the mutation cannot go into the current one.
    fn begin_record_for(&mut self, mutation: &Mutation) {
        let durability = asked(self.region, mutation);
        let bytes = || mutation.cells().iter().map(|cell| cell.as_bytes().len()).sum::<usize>();
        // A large mutation gets a record of its own, so that the bytes before it do not count.
        let is_full = || match self.record.len() {
            0 => false,
            len => len + bytes() > RECORD_BYTES_MAX,
        };
        if durability != self.durability || self.are_alone || is_full() {
            self.write_or_fail();
            self.durability = durability;
        }
    }

    fn put(&mut self, put: &Put) -> Result<MutationOutcome> {
        if let Some(max) = self.region.cell_bytes_max() {
            put.cells().iter().try_for_each(|cell| check_len(cell, max))?;
        }
        let now = self.now.max(self.seen);
        match put.ttl_millis {
            None => put.cells().iter().try_for_each(|cell| self.push_stamped(cell, now))?,
            Some(millis) => self.push_living(put.cells(), millis, now)?,
        }
        Ok(MutationOutcome::default())
    }

    fn delete(&mut self, delete: &Delete) -> Result<MutationOutcome> {
        let markers = if delete.cells().is_empty() {
            self.row_markers(delete)?
        } else {
            self.markers(delete)?
        };
        match delete.ttl_millis {
            None => markers.iter().try_for_each(|marker| self.push_stamped(marker, self.now))?,
            Some(millis) => self.push_living(&markers, millis, self.now)?,
        }
        Ok(MutationOutcome::default())
    }

    /// Returns a marker for each family.
    fn row_markers(&self, delete: &Delete) -> Result<Vec<Cell>> {
        let (at, kind) = (delete.timestamp, CellKind::DeleteFamily);
        let families = self.region.families().iter();
        families.map(|family| Cell::new(delete.row(), family.name(), b"", at, kind, b"")).collect()
    }

    /// Returns the delete's markers. Those for a newest version get that version's timestamp.
    fn markers(&mut self, delete: &Delete) -> Result<Vec<Cell>> {
        let cells = delete.cells();
        // The k-th such marker of a column stands for its k-th newest version.
        let mut columns: HashMap<_, NewestVersions> = HashMap::new();
        for cell in cells.iter().filter(|cell| means_newest(cell)) {
            columns.entry((cell.family(), cell.qualifier())).or_default().asked += 1;
        }
        if columns.is_empty() {
            return Ok(cells.to_vec());
        }
        self.settle();
        let mut markers = Vec::with_capacity(cells.len());
        for cell in cells {
            let column = columns.get_mut(&(cell.family(), cell.qualifier()));
            let Some(column) = column.filter(|_| means_newest(cell)) else {
                markers.push(cell.clone());
                continue;
            };
            let found = match &mut column.found {
                Some(found) => found,
                None => column.found.insert(self.newest(cell, column.asked)?),
            };
            markers.push(cell.with_timestamp(found.next().unwrap_or(self.now)));
        }
        Ok(markers)
    }

    /// Makes the batch's earlier writes visible to the next read, if its atomicity requires that.
    fn settle(&mut self) {
        match self.atomicity {
            Atomicity::Each => self.write_or_fail(),
            Atomicity::AsOne => {}
            Atomicity::Together if self.record.is_empty() => {}
            Atomicity::Together => {
                self.record.fill(self.pending.get_or_insert_default(), &mut self.filled);
            }
        }
    }

    /// Returns the timestamps of the newest `versions` versions of the cell's column.
    fn newest(&self, cell: &Cell, versions: u32) -> Result<IntoIter<Timestamp>> {
        let get = Get::new(cell.row_bytes())?
            .column(cell.family().to_vec(), cell.qualifier().to_vec())
            .versions(versions);
        let row = self.read(&get)?;
        Ok(row.cells().map(KeyValue::timestamp).collect::<Vec<_>>().into_iter())
    }

    fn delta(&mut self, delta: &Delta<'_>) -> Result<MutationOutcome> {
        let get = delta.get()?;
        self.settle();
        let taken = delta.nonce.and_then(|nonce| self.region.engine().nonces.taken_at(nonce));
        if let Some(sequence) = taken {
            return self.repeat(delta, &get, sequence);
        }
        let cell_bytes_max = self.region.cell_bytes_max();
        let cell_bytes_max = cell_bytes_max.unwrap_or(self.region.engine().settings.cell_bytes_max);
        let cells = delta.read_modify_write(&self.read(&get)?, self.now, cell_bytes_max)?;
        for cell in &cells {
            self.note_issued_timestamp(self.region.family(cell.family())?, cell.timestamp());
            self.push(cell, None)?;
        }
        self.record.nonces.extend(delta.nonce);
        let row = if delta.return_results { Row::new(cells) } else { Row::default() };
        Ok(MutationOutcome { row })
    }

    /// Returns the result of an increment or append that was accepted at `sequence`.
    fn repeat(&self, delta: &Delta<'_>, get: &Get, sequence: u64) -> Result<MutationOutcome> {
        let row = match delta.return_results {
            true => self.region.read_row_as_of(get, sequence)?,
            false => Row::default(),
        };
        Ok(MutationOutcome { row })
    }

    /// Returns the results of the mutations if they are a retry of an atomic call accepted before;
    /// `None` if they are new. A retry writes nothing, not even its puts.
    pub(super) fn repeat_all<'m>(
        &self,
        mutations: impl Iterator<Item = &'m Mutation> + Clone,
    ) -> Result<Option<Vec<MutationOutcome>>> {
        let nonces = &self.region.engine().nonces;
        let mut named = mutations.clone().filter_map(Mutation::nonce);
        let Some(sequence) = named.find_map(|nonce| nonces.taken_at(nonce)) else {
            return Ok(None);
        };
        let repeat = |mutation: &Mutation| {
            let delta: Delta<'_> = match mutation {
                Mutation::Put(_) | Mutation::Delete(_) => return Ok(MutationOutcome::default()),
                Mutation::Increment(increment) => increment.into(),
                Mutation::Append(append) => append.into(),
            };
            self.repeat(&delta, &delta.get()?, sequence)
        };
        mutations.map(repeat).collect::<Result<_>>().map(Some)
    }

    fn read(&self, get: &Get) -> Result<Row> {
        match (&self.pending, self.point) {
            (Some(pending), _) => self.region.read_row_pending(get, pending),
            (None, Some(point)) => self.region.read(get, Some(point)),
            (None, None) => self.region.read_row(get),
        }
    }

    /// Returns the collected cells instead of writing them.
    pub(super) fn into_cells(self) -> Vec<Cell> {
        self.record.cells()
    }

    /// Adds cells with a TTL of `millis`.
    fn push_living(&mut self, cells: &[Cell], millis: i64, now: Timestamp) -> Result<()> {
        let tagged = |cell: &Cell| {
            Cell::from_parts(cell.key(), cell.value(), &tags_with_ttl(cell.tags(), millis))
        };
        // Build all of them first: a refused mutation must leave none of its cells.
        let cells = cells.iter().map(tagged).collect::<Result<Vec<_>>>()?;
        cells.iter().try_for_each(|cell| self.push_stamped(cell, now))
    }

    /// Adds a cell, at `now` if it has no timestamp of its own.
    fn push_stamped(&mut self, cell: &Cell, now: Timestamp) -> Result<()> {
        self.push(cell, cell.timestamp().is_latest().then_some(now))
    }

    /// Records a timestamp that was given to a cell.
    fn note_issued_timestamp(&mut self, family: &FamilyStore, at: Timestamp) {
        let timestamps = &self.region.engine().timestamps;
        let is_ahead = timestamps.is_ahead(at);
        let counts = match at == self.now {
            true => is_ahead || family.has_versions(),
            false => is_ahead && timestamps.may_be_own(at),
        };
        if counts {
            if is_ahead {
                timestamps.note_ahead(at);
            }
            self.stamped = self.stamped.max(Some(at));
        }
    }

    fn push(&mut self, cell: &Cell, at: Option<Timestamp>) -> Result<()> {
        let family = self.region.family(cell.family())?;
        if let Some(at) = at {
            self.note_issued_timestamp(family, at);
        }
        self.record.push(family, cell, at);
        if !self.regions.last().is_some_and(|last| std::ptr::eq(*last, self.region)) {
            self.regions.push(self.region);
        }
        Ok(())
    }

    /// Commits the collected cells, with those that observers and indexes add. If these are of rows
    /// that are not locked, commits nothing and leaves the rows in `rows_to_lock`.
    pub(super) fn write(&mut self) -> Result<()> {
        // The record borrows what is added to it.
        let (additions, entries);
        let mut record = std::mem::take(&mut self.record);
        let mut regions = std::mem::take(&mut self.regions);
        let engine = self.region.engine();
        let Some(watched) = Watched::of(engine) else { return self.commit(record, &regions) };
        let _steady = observe::hold_steady(&regions);
        match watched.ask(&record, &regions, &self.rows)? {
            Observed::Nothing => additions = Vec::new(),
            Observed::Additions(found) => additions = found,
            Observed::Unlocked(rows) => {
                self.rows_to_lock = rows;
                return Ok(());
            }
        }
        let _steady_too = observe::hold_steady_too(&additions);
        (record, regions) = Batch::extend(record, regions, &additions, &mut self.rows, self.now)?;
        let copies = watched.regions_to_level(&record, &regions)?;
        let _steady_copies = observe::hold_copies_steady(&copies);
        self.rows_to_lock = watched.level(&record, &regions, &copies)?;
        if !self.rows_to_lock.is_empty() {
            return Ok(());
        }
        match watched.entries(&record, &regions, &mut self.rows, self.now)? {
            EntryChanges::Cells(found) => entries = found,
            EntryChanges::Unlocked(rows) => {
                self.rows_to_lock = rows;
                return Ok(());
            }
        }
        (record, regions) = index::extend(record, regions, &entries)?;
        if watched.needs_log(&additions, &regions)? {
            self.durability = observe::durability(self.durability);
        }
        match self.commit(record, &regions) {
            Err(error) if error.kind() == ErrorKind::NotServingRegion => {
                let additions = additions.iter().map(|(region, it)| (region, it.row().clone()));
                let entries = entries.iter().map(|(region, cell)| (region, cell.row_bytes()));
                self.rows_to_lock = observe::out_of_service(additions.chain(entries));
                if self.rows_to_lock.is_empty() { Err(error) } else { Ok(()) }
            }
            Err(error) => Err(error),
            Ok(()) => {
                index::count_added(&additions, &entries);
                Ok(())
            }
        }
    }

    fn commit(&mut self, record: RecordBuilder<'_>, regions: &[&Region]) -> Result<()> {
        let engine = self.region.engine();
        // Taken only now, not while the batch reads: a thread that wants the latch exclusively
        // waits for every commit.
        let _latch = engine.freeze_latch.read();
        regions.iter().try_for_each(|region| region.check_serving())?;
        let committed = commit::commit(engine, record, self.durability)?;
        let before = std::mem::replace(&mut self.committed, Committed::nothing());
        self.committed = before.and(committed);
        Ok(())
    }

    /// Commits the collected cells; on an error their mutations fail.
    pub(super) fn write_or_fail(&mut self) {
        let waiting = std::mem::take(&mut self.waiting);
        match self.write() {
            Err(error) => self.fail(waiting, &error),
            Ok(()) if self.rows_to_lock.is_empty() => {}
            Ok(()) => self.waiting = waiting,
        }
    }

    fn fail(&mut self, places: impl IntoIterator<Item = usize>, error: &Error) {
        let failed = places.into_iter().map(|at| (at, error.clone()));
        self.failed.extend(failed);
    }

    /// Returns the errors of the mutations whose record could not be committed, by index.
    pub(super) fn take_failed(&mut self) -> Vec<(usize, Error)> {
        std::mem::take(&mut self.failed)
    }
}

/// The newest versions of a column, consumed one by one by the markers that stand for them.
#[derive(Default)]
struct NewestVersions {
    /// Number of versions requested.
    asked: u32,
    found: Option<IntoIter<Timestamp>>,
}

/// Refuses a cell larger than its table allows, with HBase's message.
fn check_len(cell: &Cell, bytes_max: usize) -> Result<()> {
    let len = cell.as_bytes().len() + CELL_LEN_LEN;
    if len <= bytes_max {
        return Ok(());
    }
    let at = match cell.timestamp() {
        at if at.is_latest() => "LATEST_TIMESTAMP".to_owned(),
        at => at.as_millis().to_string(),
    };
    Err(Error::invalid(format!(
        "Cell[{}/{}:{}/{at}/Put/vlen={}/seqid=0] with size {len} exceeds limit of {bytes_max} bytes",
        escape(cell.row()),
        escape(cell.family()),
        escape(cell.qualifier()),
        cell.value().len()
    )))
}

/// Whether the cell is a marker of its column's newest version, without a timestamp.
fn means_newest(cell: &Cell) -> bool {
    cell.kind() == CellKind::DeleteVersion && cell.timestamp().is_latest()
}
