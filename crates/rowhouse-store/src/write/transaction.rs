//! A transaction: reads and writes of rows at one sequence, held against what others wrote meanwhile.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use rowhouse_model::{
    Bytes, Cell, CellKind, Durability, Error, Get, KeyValue, Mutation, MutationOutcome, Result,
    Row, Scan, Timestamp,
};

use super::admit::admit;
use super::apply::{asked, check, strongest};
use super::batch::{Atomicity, Batch};
use super::commit;
use super::recent::Touched;
use super::record_builder::RecordBuilder;
use super::wait_mode::WaitMode;
use crate::catalog::Catalog;
use crate::engine::Engine;
use crate::memstore::Memstore;
use crate::read::ReadPoint;
use crate::region::Region;
use crate::space::Need;
use crate::table::{Table, TableScanner};

/// Reads and writes of one [`Store::transact`]. It reads at one moment, and sees what it has written
/// itself; nobody else sees that before all of it is committed.
///
/// [`Store::transact`]: crate::Store::transact
pub struct Transaction {
    engine: Arc<Engine>,
    /// The moment, at a sequence that no commit has: its own writes stand there, in memstores of its
    /// own.
    point: Arc<ReadPoint>,
    own: HashMap<(u64, Bytes), Arc<Memstore>>,
    now: Timestamp,
    /// What is written to a row from here on is not hidden by what the transaction has deleted of it.
    floors: HashMap<(u64, Bytes), Timestamp>,
    /// What it has read or written, by region.
    touched: BTreeMap<u64, Vec<Touched>>,
    writes: Vec<(Arc<Region>, Vec<Cell>)>,
    durability: Vec<Durability>,
    deletes_only: bool,
}

/// What became of a transaction.
#[derive(Debug, PartialEq)]
pub(crate) enum Ended {
    Committed,
    /// Something that it read or wrote was written by others meanwhile, or may have been.
    Overtaken,
}

impl Transaction {
    pub(crate) fn begin(engine: &Arc<Engine>, catalog: &Catalog) -> Self {
        engine.recent_writes.begin(engine);
        let point = loop {
            // A number without a commit, as that of a write that the log refused.
            let sequence = engine.mvcc.reserve();
            engine.mvcc.publish(sequence);
            if let Some(point) = ReadPoint::at(engine, catalog, sequence) {
                break Arc::new(point);
            }
        };
        Self {
            engine: Arc::clone(engine),
            point,
            own: HashMap::new(),
            now: engine.timestamps.issue(),
            floors: HashMap::new(),
            touched: BTreeMap::new(),
            writes: Vec::new(),
            durability: Vec::new(),
            deletes_only: true,
        }
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

    /// Reads a range of rows, in key order. All of the range counts as read, whether or not the caller
    /// comes to its end: a narrow one is changed by fewer others. What is written while it is open may
    /// be seen or not.
    ///
    /// # Errors
    /// As [`Table::scan_at`].
    pub fn scan(&mut self, table: &Arc<Table>, scan: Scan) -> Result<TableScanner> {
        // Commits are noted under the regions there are, not those that the table was looked up with.
        for region in table.regions_now() {
            let range = scan.range.intersect(&region.info().range);
            if !range.is_empty() {
                self.touched.entry(region.id()).or_default().push(Touched::Range(range));
            }
        }
        table.scan_at(scan, &self.point)
    }

    /// Changes a row, for this transaction to see at once and for all others once it is committed. An
    /// increment or append gives its new cells back.
    ///
    /// A row that others write meanwhile counts as one that was read: the transaction begins again. What
    /// has no timestamp of its own takes the place of what is there, even of a cell that is newer than
    /// the clock, and is not hidden by a delete of the same transaction. (Counters run ahead of the clock
    /// when they are counted often.)
    ///
    /// # Errors
    /// As [`Region::mutate`], without what only the commit can find.
    pub fn mutate(
        &mut self,
        table: &Table,
        mutation: impl Into<Mutation>,
    ) -> Result<MutationOutcome> {
        let mutation = mutation.into();
        table.check_enabled()?;
        let served = table.at(mutation.row(), |region| region.check_serving().map(|()| region))?;
        let region = served.at_point(&self.point, mutation.row());
        check(&region, &mutation)?;
        if mutation.nonce().is_some() {
            return Err(Error::invalid("a transaction has no nonces: it is repeated as a whole"));
        }
        let after = {
            let rows = &self.engine.row_locks;
            rows.lock_one(region.id(), mutation.row(), WaitMode::Blocking).done().after()
        };
        let at = self.now.max(self.not_before(&region, &mutation)?);
        let timestamps = &self.engine.timestamps;
        let at = match mutation {
            Mutation::Delete(_) => at.max(after.covering),
            _ if at < after.distinct => at.max(timestamps.issue_put(after)),
            _ => at,
        };
        let (outcome, cells) = {
            let mut batch = Batch::new(&region, Atomicity::AsOne);
            batch.now = at;
            batch.point = Some(&self.point);
            let outcome = batch.add(&mutation)?;
            (outcome, batch.into_cells())
        };
        self.touch_row(&region, mutation.row());
        self.durability.push(asked(&region, &mutation));
        if matches!(mutation, Mutation::Delete(_)) {
            let behind = at.saturating_add(1);
            if at == self.now {
                self.now = self.engine.timestamps.issue_from(behind);
            }
            self.floors.insert((region.id(), mutation.row().clone()), behind);
        } else {
            self.deletes_only = false;
        }
        for cell in &cells {
            self.show(&region, cell)?;
        }
        self.writes.push((region, cells));
        Ok(outcome)
    }

    /// The least timestamp at which what a mutation writes is in force.
    fn not_before(&self, region: &Region, mutation: &Mutation) -> Result<Timestamp> {
        let floor = self.floors.get(&(region.id(), mutation.row().clone())).copied();
        let floor = floor.unwrap_or(Timestamp::MIN);
        if mutation.is_delta() {
            // It minds what it grows from.
            return Ok(floor);
        }
        let mut get = Get::new(mutation.row().clone())?;
        let of_family = |cell: &&Cell| {
            matches!(cell.kind(), CellKind::DeleteFamily | CellKind::DeleteFamilyVersion)
        };
        // Whole families last: a column named behind its family would narrow it.
        let (families, columns): (Vec<&Cell>, Vec<&Cell>) =
            mutation.cells().iter().partition(of_family);
        for cell in columns {
            let bytes = cell.as_bytes();
            get = get.column(bytes.slice_ref(cell.family()), bytes.slice_ref(cell.qualifier()));
        }
        for cell in families {
            get = get.family(cell.as_bytes().slice_ref(cell.family()));
        }
        let row = region.read(&get, Some(&self.point))?;
        Ok(row.cells().map(KeyValue::timestamp).fold(floor, Timestamp::max))
    }

    fn touch_row(&mut self, region: &Region, row: &[u8]) {
        self.touched.entry(region.id()).or_default().push(Touched::Row(row.to_vec()));
    }

    /// Has this transaction see a cell that it writes.
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

    /// Makes what was written seen by all, unless others have written meanwhile what this transaction
    /// has read or written.
    pub(crate) fn commit(self) -> Result<Ended> {
        if self.writes.is_empty() {
            // Everything was read at one moment.
            return Ok(Ended::Committed);
        }
        let engine = &self.engine;
        let need = if self.deletes_only { Need::Delete } else { Need::Room };
        for (region, _) in &self.writes {
            admit(region, need)?;
        }
        let committed = {
            let rows = self.writes.iter().flat_map(|(region, cells)| {
                cells.iter().map(move |cell| (region.id(), cell.row()))
            });
            // Who reads a row with it locked must not be overtaken either.
            let mut rows = engine.row_locks.lock(rows, WaitMode::Blocking).done();
            // Nobody else commits between the check and the commit.
            let _latch = engine.freeze_latch.write();
            let moves = |region: &Region| region.is_moved() || region.moving.is_locked();
            if self.writes.iter().any(|(region, _)| moves(region)) {
                return Ok(Ended::Overtaken);
            }
            self.writes.iter().try_for_each(|(region, _)| region.check_serving())?;
            let touched = self.touched.iter();
            let touched =
                touched.flat_map(|(region, all)| all.iter().map(|touched| (*region, touched)));
            if engine.recent_writes.may_have_changed(touched, self.point.sequence()) {
                return Ok(Ended::Overtaken);
            }
            let durability = strongest(self.durability.iter().copied());
            let committed = commit::commit(engine, self.record()?, durability)?;
            let cells = self.writes.iter().flat_map(|(_, cells)| cells);
            for (nth, cell) in cells.enumerate() {
                let at = cell.timestamp();
                // What was deleted up to some time in the future hides what it hides.
                if at < self.now || !engine.timestamps.may_be_own(at) {
                    continue;
                }
                engine.timestamps.note_ahead(at);
                match cell.kind() {
                    CellKind::Put => rows.note_put(nth, at),
                    _ => rows.note_delete(nth, at),
                }
            }
            committed
        };
        committed.wait(engine)?;
        Ok(Ended::Committed)
    }

    fn record(&self) -> Result<RecordBuilder<'_>> {
        let mut record = RecordBuilder::default();
        for (region, cells) in &self.writes {
            for cell in cells {
                record.push(region.family(cell.family())?, cell, None);
            }
        }
        Ok(record)
    }
}

impl Drop for Transaction {
    fn drop(&mut self) {
        self.engine.recent_writes.end();
    }
}
