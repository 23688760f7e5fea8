//! A transaction: reads and writes rows at one sequence, and commits if no other commit has changed
//! them meanwhile.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::iter::once;
use std::sync::Arc;

use rowhouse_model::{
    Bytes, Cell, CellKind, Durability, Error, Get, KeyValue, Mutation, MutationOutcome, Result,
    Row, RowRange, Scan, TableName, Timestamp,
};

use super::admit::admit;
use super::apply::{admit_unlocked, check, lock, requested_durability, strongest};
use super::batch::{Added, Atomicity, Batch};
use super::commit::Committed;
use super::observe::RowToLock;
use super::record::{Attempted, Record};
use crate::catalog::{Catalog, Entries, IndexRead};
use crate::commits::{RowsGuard, Touched};
use crate::engine::Engine;
use crate::memstore::Memstore;
use crate::read::{ReadPoint, ReadRequest};
use crate::region::Region;
use crate::space::Need;
use crate::table::{Table, TableScanner};
use crate::wait_mode::WaitMode;

/// The reads and writes of one [`Store::transact`]. It reads at one read point and sees its own
/// writes; others see them only once all are committed.
///
/// [`Store::transact`]: crate::Store::transact
pub struct Transaction {
    engine: Arc<Engine>,
    /// The read point, at a sequence that no commit has: the transaction's own writes get this
    /// sequence, in private memstores.
    point: Arc<ReadPoint>,
    /// The tables at the read point.
    served: Arc<Entries>,
    own: HashMap<(u64, Bytes), Arc<Memstore>>,
    now: Timestamp,
    /// By region and row, the lowest timestamp that the transaction's own deletes do not cover.
    floors: HashMap<(u64, Bytes), Timestamp>,
    /// The rows and ranges that it has read or written, by region.
    touched: BTreeMap<u64, Vec<Touched>>,
    writes: Vec<(Arc<Region>, Vec<Cell>)>,
    durability: Vec<Durability>,
    deletes_only: bool,
}

/// The outcome of a commit.
#[derive(Debug, PartialEq)]
pub(crate) enum Ended {
    Committed,
    /// Another commit has changed, or may have changed, something that the transaction read or
    /// wrote.
    Conflict,
}

/// How far a commit came with the rows locked.
enum Attempt {
    Committed(Committed),
    Conflict,
    /// The record has to be made again with these rows locked, which observers or indexes write.
    Unlocked(Vec<RowToLock>),
}

impl Transaction {
    pub(crate) fn begin(engine: &Arc<Engine>, catalog: &Catalog) -> Self {
        engine.recent_writes.begin(&engine.freeze_latch);
        let (point, served) = catalog.read_point_of_own(engine);
        Self {
            engine: Arc::clone(engine),
            point: Arc::new(point),
            served,
            own: HashMap::new(),
            now: engine.timestamps.issue(),
            floors: HashMap::new(),
            touched: BTreeMap::new(),
            writes: Vec::new(),
            durability: Vec::new(),
            deletes_only: true,
        }
    }

    /// Returns true if the transaction read a table that is newer than the read point: it has to
    /// begin again.
    pub(crate) fn has_missed_table(&self) -> bool {
        self.point.has_missed_table()
    }

    /// Reads one row.
    ///
    /// # Errors
    /// As [`Table::get_at`].
    pub fn get(&mut self, table: &Table, get: &Get) -> Result<Row> {
        let row = table.get_at(get, &self.point)?;
        self.touch_row(table.region_of(get.row()), get.row());
        Ok(row)
    }

    /// Reads a row range, in key order. The entire range counts as read, even if the caller stops
    /// early, so a narrower range conflicts with fewer commits. The transaction's writes while the
    /// scanner is open may or may not be visible to it.
    ///
    /// # Errors
    /// As [`Table::scan_at`].
    pub fn scan(&mut self, table: &Arc<Table>, scan: Scan) -> Result<TableScanner> {
        self.note_read(table, &scan.range);
        table.scan_at(scan, &self.point)
    }

    /// Returns the read point, which shows the transaction's writes so far, for reads by
    /// [`Table::get_at`] and [`Table::scan_at`]. They do not count as transaction reads until
    /// [`Transaction::note_read`] or [`Transaction::note_row_read`] notes them.
    pub fn read_point(&self) -> Arc<ReadPoint> {
        Arc::clone(&self.point)
    }

    /// Returns a table and the index table that holds the entries at the read point; `None` if the
    /// index was not ready there. Entries for rows that the transaction writes appear only when it
    /// commits: see [`Transaction::written_rows`].
    ///
    /// # Errors
    /// As [`Store::index_read_point`].
    ///
    /// [`Store::index_read_point`]: crate::Store::index_read_point
    pub fn index_read(&self, table: &TableName, index: &str) -> Result<Option<IndexRead>> {
        self.served.index_read(&self.point, table, index)
    }

    /// Returns the rows in a table that the transaction has written so far.
    pub fn written_rows(&self, table: &TableName) -> BTreeSet<Bytes> {
        let writes = self.writes.iter().filter(|(region, _)| region.info().table == *table);
        let cells = writes.flat_map(|(_, cells)| cells);
        cells.map(|cell| cell.as_bytes().slice_ref(cell.row())).collect()
    }

    /// Counts a range of a table as read.
    pub fn note_read(&mut self, table: &Table, range: &RowRange) {
        // Commits are recorded under the current regions, not the regions of the table that was
        // looked up.
        for region in table.regions_now() {
            let range = range.intersect(&region.info().range);
            if !range.is_empty() {
                self.touched.entry(region.id()).or_default().push(Touched::Range(range));
            }
        }
    }

    /// Counts a row of a table as read.
    pub fn note_row_read(&mut self, table: &Table, row: &[u8]) {
        self.touch_row(table.region_of(row), row);
    }

    /// Changes a row. The transaction sees the change at once, others once it is committed. Returns
    /// the new cells for an increment or append.
    ///
    /// A row that others write meanwhile counts as read: the transaction is retried. A cell without
    /// a timestamp replaces the current one, even if that is newer than the clock, and is not
    /// hidden by a delete in the same transaction. (Frequent increments advance a counter's
    /// timestamp past the clock.)
    ///
    /// # Errors
    /// As [`Region::mutate`], except for errors that only the commit can find.
    pub fn mutate(
        &mut self,
        table: &Table,
        mutation: impl Into<Mutation>,
    ) -> Result<MutationOutcome> {
        let mutation = mutation.into();
        table.check_enabled()?;
        let served =
            table.write_at(mutation.row(), |region| region.check_serving().map(|()| region))?;
        let region = served.at_point(&self.point, mutation.row());
        check(&region, &mutation)?;
        if mutation.nonce().is_some() {
            return Err(Error::invalid(
                "a transaction cannot have nonces: it is retried as a whole",
            ));
        }
        let after = {
            let rows = &self.engine.row_locks;
            rows.lock(once((region.id(), &mutation.row()[..])), WaitMode::Blocking).done().after()
        };
        let at = self.now.max(self.not_before(&region, &mutation)?);
        let timestamps = &self.engine.timestamps;
        let at = match mutation {
            Mutation::Delete(_) => at.max(after.covering),
            _ if at < after.distinct => at.max(timestamps.issue_put(after)),
            _ => at,
        };
        let (outcome, cells) = {
            let mut batch = Batch::new(&region, Atomicity::AsOne, at).at_point(&self.point);
            let Added { outcome, .. } = batch.add(&region, &mutation)?;
            (outcome, batch.into_record().cells.cells())
        };
        self.touch_row(&region, mutation.row());
        self.durability.push(requested_durability(&region, &mutation));
        if matches!(mutation, Mutation::Delete(_)) {
            let next = at.saturating_add(1);
            if at == self.now {
                self.now = self.engine.timestamps.issue_from(next);
            }
            self.floors.insert((region.id(), mutation.row().clone()), next);
        } else {
            self.deletes_only = false;
        }
        for cell in &cells {
            self.show(&region, cell)?;
        }
        self.writes.push((region, cells));
        Ok(outcome)
    }

    /// Returns the lowest timestamp at which a mutation's cells take effect.
    fn not_before(&self, region: &Region, mutation: &Mutation) -> Result<Timestamp> {
        let floor = self.floors.get(&(region.id(), mutation.row().clone())).copied();
        let floor = floor.unwrap_or(Timestamp::MIN);
        if mutation.is_read_modify_write() {
            // The cells are made newer than the ones they replace anyway.
            return Ok(floor);
        }
        let mut get = Get::new(mutation.row().clone())?;
        let of_family = |cell: &&Cell| {
            matches!(cell.kind(), CellKind::DeleteFamily | CellKind::DeleteFamilyVersion)
        };
        // Add whole families last: a column added after the family would narrow it.
        let (families, columns): (Vec<&Cell>, Vec<&Cell>) =
            mutation.cells().iter().partition(of_family);
        for cell in columns {
            let bytes = cell.as_bytes();
            get = get.column(bytes.slice_ref(cell.family()), bytes.slice_ref(cell.qualifier()));
        }
        for cell in families {
            get = get.family(cell.as_bytes().slice_ref(cell.family()));
        }
        let request = ReadRequest::at_point(&get, &self.point);
        let row = region.read_whole(&ReadRequest { is_counted: false, ..request })?;
        Ok(row.cells().map(KeyValue::timestamp).fold(floor, Timestamp::max))
    }

    fn touch_row(&mut self, region: &Region, row: &[u8]) {
        self.touched.entry(region.id()).or_default().push(Touched::Row(row.to_vec()));
    }

    /// Makes a cell it writes visible to the transaction.
    fn show(&mut self, region: &Region, cell: &Cell) -> Result<()> {
        let family = region.family(cell.family())?;
        let Self { own, point, .. } = self;
        let sequence = point.sequence();
        let memstore = own
            .entry((family.region_id(), family.name().clone()))
            .or_insert_with(|| Arc::make_mut(point).add_memstore(family));
        memstore.insert(cell.as_bytes(), sequence);
        Ok(())
    }

    /// Commits the writes, unless others have meanwhile written something that the transaction read
    /// or wrote.
    pub(crate) fn commit(self) -> Result<Ended> {
        if self.writes.is_empty() {
            // All reads were at one read point.
            return Ok(Ended::Committed);
        }
        let engine = &self.engine;
        let need = if self.deletes_only { Need::Delete } else { Need::Room };
        for (region, _) in &self.writes {
            admit(region, need, WaitMode::Blocking)?.done();
        }
        let mut more = Vec::new();
        for attempt in 0.. {
            match self.attempt(&more, attempt)? {
                Attempt::Conflict => return Ok(Ended::Conflict),
                Attempt::Committed(committed) => {
                    self.writes.iter().for_each(|(region, cells)| region.count_written(cells));
                    committed.wait(engine)?;
                    break;
                }
                Attempt::Unlocked(rows) => {
                    admit_unlocked(&rows, self.writes.iter().map(|(region, _)| &**region))?;
                    more.extend(rows);
                }
            }
        }
        Ok(Ended::Committed)
    }

    /// Commits with the rows locked that it writes, and `more`, which the observers write.
    fn attempt(&self, more: &[RowToLock], attempt: usize) -> Result<Attempt> {
        let engine = &self.engine;
        let rows = self
            .writes
            .iter()
            .flat_map(|(region, cells)| cells.iter().map(move |cell| (region.id(), cell.row())));
        // Lock the rows as well: a writer that reads a row under the row lock must not miss this
        // commit.
        let mut rows = lock(engine, rows, more, attempt, WaitMode::Blocking).done();
        if self.writes.iter().any(|(region, _)| moves(region)) {
            return Ok(Attempt::Conflict);
        }
        // Later additions to these rows follow the transaction's own cells.
        self.note_timestamps(&mut rows);
        let mut regions: Vec<&Region> = self.writes.iter().map(|(region, _)| &**region).collect();
        regions.dedup_by_key(|region| region.id());
        let written = self.record().and_then(|record| {
            record.complete(engine, &mut rows, |record| {
                // No other commit may come between the check and this one.
                let _latch = engine.freeze_latch.write();
                if self.conflicts(&regions) {
                    return Ok(Attempted::Done(Ok(Attempt::Conflict)));
                }
                let record = record.check(engine)?;
                Ok(record.map(|record| record.log(engine).map(Attempt::Committed)))
            })
        });
        match written {
            Ok(Attempted::Done(attempt)) => attempt,
            Ok(Attempted::Again(rows)) => Ok(Attempt::Unlocked(rows)),
            Err(error) => self.refused(error, &regions),
        }
    }

    /// Returns true if another commit may have changed something that the transaction has read or
    /// written, or if one of its own regions moves. The caller holds the freeze latch for writing.
    fn conflicts(&self, own: &[&Region]) -> bool {
        let touched = self.touched.iter();
        let touched =
            touched.flat_map(|(region, all)| all.iter().map(|touched| (*region, touched)));
        own.iter().any(|region| moves(region))
            || self.engine.recent_writes.may_have_changed(touched, self.point.sequence())
    }

    /// The outcome of an attempt that an observer or an index refuses: a conflict if what the
    /// transaction has seen is no longer so, as that may be why it requested what is refused.
    fn refused(&self, error: Error, own: &[&Region]) -> Result<Attempt> {
        let _latch = self.engine.freeze_latch.write();
        if self.conflicts(own) { Ok(Attempt::Conflict) } else { Err(error) }
    }

    /// Records the timestamps that later writes to the transaction's rows must follow.
    fn note_timestamps(&self, rows: &mut RowsGuard<'_>) {
        let timestamps = &self.engine.timestamps;
        let cells = self.writes.iter().flat_map(|(_, cells)| cells);
        for (nth, cell) in cells.enumerate() {
            let at = cell.timestamp();
            // A timestamp in the far future was chosen by the caller: it hides the cells it hides,
            // and later writes do not follow it.
            if at < self.now || !timestamps.may_be_own(at) {
                continue;
            }
            timestamps.note_ahead(at);
            match cell.kind() {
                CellKind::Put => rows.note_put(nth, at),
                _ => rows.note_delete(nth, at),
            }
        }
    }

    fn record(&self) -> Result<Record<'_>> {
        let mut record = Record::new(strongest(self.durability.iter().copied()), self.now);
        record.cells.touched = Some(&self.touched);
        for (region, cells) in &self.writes {
            for cell in cells {
                record.push(region, region.family(cell.family())?, cell, None);
            }
        }
        Ok(record)
    }
}

/// Whether a region was replaced by others or is about to be.
fn moves(region: &Region) -> bool {
    region.is_replaced() || region.topology_lock.is_locked()
}

impl Drop for Transaction {
    fn drop(&mut self) {
        self.engine.recent_writes.end();
    }
}
