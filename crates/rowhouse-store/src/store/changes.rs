//! Followers of changes (decision 0096).

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rowhouse_model::{
    Bytes, Cell, Change, ChangePosition, Error, ErrorKind, FollowerStatus, Get, Result,
    RowOfChange, RowRange, Scan, TableName, Timestamp, WholeTableChange, WholeTableChangeKind,
    check_follower_name,
};

use rowhouse_schema::IndexOf;

use super::Store;
use crate::engine::Engine;
use crate::flush;
use crate::followers::Registered;
use crate::manifest::ManifestState;
use crate::table::{Table, TableScanner};
use crate::wal::{Commit, LogReader, Logged, Record, TableRecord, begin_of, check_continues};

/// Where a follower of a table begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangesFrom {
    /// With the changes that are synced from now on.
    Now,
    /// With a copy of the table, and the changes after it.
    Copy,
    /// After a position.
    Position(ChangePosition),
}

/// The changes to a store or a table, in commit order. A change is read once it is synced: a
/// default put within [`Settings::wal_sync_interval`](crate::Settings::wal_sync_interval), a synced
/// one at once.
///
/// It counts as a follower: the log that it has not read is retained, within
/// [`Settings::followers_bytes_max`](crate::Settings::followers_bytes_max).
pub struct Changes {
    store: Store,
    reader: LogReader,
    /// The position after the last change that was returned.
    returned: ChangePosition,
    /// Rows of the record that was read last.
    pending: VecDeque<RowOfChange>,
    /// How many rows of the next record were delivered before.
    skip: u32,
    /// The table that is followed; `None` to follow all. A commit is one of the table that had the
    /// name then.
    table: Option<TableName>,
    tables: RegionTables,
    copy: Option<Copying>,
    /// The number of this reader among the followers, and the segment that they know.
    reader_id: u64,
    segment: u64,
}

/// The tables of regions, as far as known.
#[derive(Default)]
struct RegionTables {
    version: u64,
    /// By region, for commits after those that were read.
    tables: HashMap<u64, Arc<TableOfRegion>>,
}

/// The table of a region, and the table's name.
struct TableOfRegion {
    id: u64,
    name: TableName,
}

/// A copy in progress.
struct Copying {
    scan: TableScanner,
    sequence: u64,
    /// The position from which changes continue.
    begin: ChangePosition,
    /// The last row that was returned; empty before the first.
    last: Bytes,
}

impl Store {
    /// Returns the changes to all tables after a position, index tables included.
    ///
    /// # Errors
    /// `PositionLost` if the changes after the position are no longer retained, or the position is
    /// that of another store; `InvalidRequest` for a position in a copy.
    pub fn changes(&self, from: &ChangePosition) -> Result<Changes> {
        if from.copied.is_some() {
            return Err(Error::invalid(format!("a copy is one of a table: position={from}")));
        }
        Changes::new(self, from, None)
    }

    /// Returns the changes to a table.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use rowhouse_model::{Change, Durability, FamilyDescriptor, Put, TableDescriptor, TableName};
    /// use rowhouse_store::{ChangesFrom, Store};
    ///
    /// # let dir = tempfile::tempdir().unwrap();
    /// let store = Store::open(dir.path())?;
    /// let name = TableName::parse("mail")?;
    /// let mail = TableDescriptor::new(name.clone()).family(FamilyDescriptor::new("d")?);
    /// store.create_table(mail, &[])?;
    ///
    /// let mut changes = store.table_changes(&name, &ChangesFrom::Now)?;
    /// let mut put = Put::new("bob")?.add("d", "subject", "hello")?;
    /// put.durability = Durability::FsyncWal;
    /// store.table(&name)?.mutate(&put.into())?;
    /// let Some(Change::Row(row)) = changes.next(Duration::ZERO)? else { panic!() };
    /// assert_eq!((&row.row[..], row.cells[0].value()), (&b"bob"[..], &b"hello"[..]));
    /// # Ok::<(), rowhouse_model::Error>(())
    /// ```
    ///
    /// # Errors
    /// `TableNotFound` for a table that does not exist, except for a position after which it was
    /// dropped; `Unsupported` for the table of an index; `PositionLost` if the changes after the
    /// position are no longer retained, or the position is that of another store.
    pub fn table_changes(&self, table: &TableName, from: &ChangesFrom) -> Result<Changes> {
        self.inner.engine.check_open()?;
        self.check_followed(table)?;
        match from {
            ChangesFrom::Now => Changes::new(self, &self.changes_end()?, Some(table)),
            ChangesFrom::Copy => {
                let copy = Copying::begin(self, table, None, Bytes::new())?;
                let mut changes = Changes::new(self, &copy.begin, Some(table))?;
                changes.copy = Some(copy);
                Ok(changes)
            }
            ChangesFrom::Position(from) => {
                let mut changes = Changes::new(self, &from.after_copy(), Some(table))?;
                if let Some(row) = &from.copied {
                    let begin = Some(from.after_copy());
                    changes.copy = Some(Copying::begin(self, table, begin, row.clone())?);
                }
                Ok(changes)
            }
        }
    }

    /// Returns the changes to a table, as [`Store::table_changes`] does, for a follower with a name
    /// if there is one. Without `from` it continues after the position that it saved last. A name
    /// that is not known is registered, as [`Store::save_follower`] does.
    ///
    /// # Errors
    /// As [`Store::table_changes`] and [`Store::save_follower`]; `InvalidRequest` without
    /// `from` if no position was saved.
    pub fn follow(
        &self,
        table: &TableName,
        follower: Option<&str>,
        from: Option<&ChangesFrom>,
    ) -> Result<Changes> {
        self.inner.engine.check_open()?;
        let registered = follower.and_then(|name| self.inner.engine.followers.find(name));
        let is_registered = registered.is_some();
        let saved = registered.map(|follower| ChangesFrom::Position(follower.position));
        let Some(from) = from.or(saved.as_ref()) else {
            return Err(Error::invalid(format!(
                "there is no follower with a saved position, say from where it begins: follower={}",
                follower.unwrap_or_default()
            )));
        };
        let changes = self.table_changes(table, from)?;
        if let Some(name) = follower.filter(|_| !is_registered) {
            self.save_follower(name, table, &changes.position())?;
        }
        Ok(changes)
    }

    /// Returns the position after all changes that are synced.
    ///
    /// # Errors
    /// `ServerNotRunning` once the store is closed.
    pub fn changes_end(&self) -> Result<ChangePosition> {
        self.inner.engine.check_open()?;
        Ok(self.inner.engine.wal().readable_end())
    }

    /// Returns a row as it was before a change, with all versions that are still there.
    ///
    /// # Errors
    /// `UnknownScanner` if a flush or compaction has dropped cells that the row had then, or the
    /// row has been flushed since; `TableNotFound`.
    pub fn row_before(&self, change: &RowOfChange) -> Result<rowhouse_model::Row> {
        let mut get = Get::new(change.row.clone())?;
        get.versions = u32::MAX;
        let table = self.table(&change.table)?;
        let sequence = change.sequence.saturating_sub(1);
        let families = table.region_of(&change.row).families().iter().cloned();
        let engine = &self.inner.engine;
        let point = self.inner.tables.catalog.read_point_before(engine, sequence, families);
        let point = point.ok_or_else(|| {
            let message = format!(
                "the cells that the row had before the change are no longer retained: table={}, \
                 sequence={sequence}",
                change.table
            );
            Error::new(ErrorKind::UnknownScanner, message)
        })?;
        table.get_at(&get, &point)
    }

    /// Registers a follower of a table under a name, with the position after which it continues,
    /// or saves the position of a registered one. The log after the position is retained until the
    /// follower saves a later one or is dropped, also while it is not connected, within
    /// [`Settings::followers_bytes_max`](crate::Settings::followers_bytes_max) and
    /// [`Settings::followers_age_max`](crate::Settings::followers_age_max).
    ///
    /// # Errors
    /// `InvalidRequest` for an invalid name, for the name of a follower of another table, and if
    /// there are 1,000 followers; `PositionLost`; `TableNotFound`; `Io`.
    pub fn save_follower(
        &self,
        name: &str,
        table: &TableName,
        position: &ChangePosition,
    ) -> Result<()> {
        check_follower_name(name)?;
        self.check_followed(table)?;
        let engine = &self.inner.engine;
        let known = engine.followers.find(name);
        if let Some(other) = known.as_ref().filter(|known| known.table != *table) {
            return Err(Error::invalid(format!(
                "the follower is one of another table: follower={name}, table={}",
                other.table
            )));
        }
        // The position must be readable, and no region may change its table unnoticed meanwhile.
        let reader = Changes::new(self, &position.after_copy(), Some(table))?;
        let table_id = match (self.table(table), known) {
            (Ok(table), _) => table.id(),
            (Err(_), Some(known)) => known.table_id,
            (Err(error), None) => return Err(error),
        };
        let saved_millis = engine.timestamps.now_millis();
        let position = position.clone();
        let table = table.clone();
        engine.followers.save(name, Registered { table_id, table, position, saved_millis })?;
        drop(reader);
        Ok(())
    }

    /// Removes a registered follower; the log that it alone needed goes with it.
    ///
    /// # Errors
    /// `InvalidRequest` if there is none with this name; `Io`.
    pub fn drop_follower(&self, name: &str) -> Result<()> {
        let engine = &self.inner.engine;
        engine.check_open()?;
        if !engine.followers.remove(name)? {
            return Err(Error::invalid(format!("there is no follower {name}")));
        }
        flush::trim_retained(engine)
    }

    /// Returns the registered followers by name, with their lag: the log is read for each.
    pub fn followers(&self) -> Vec<FollowerStatus> {
        let engine = &self.inner.engine;
        let registered = engine.followers.registered().into_iter();
        registered.map(|(name, follower)| self.status_of(name, follower)).collect()
    }

    fn status_of(&self, name: String, follower: Registered) -> FollowerStatus {
        let Registered { table, position, saved_millis, .. } = follower;
        let engine = &self.inner.engine;
        let resolved = resolve(engine, &position.after_copy());
        let bytes = resolved.as_ref().ok().and_then(|at| engine.wal().bytes_after(at));
        let mut lag_millis = 0;
        if let Ok(at) = &resolved
            && bytes.is_some_and(|bytes| bytes > 0)
        {
            let mut reader = LogReader::new(at.clone());
            let next = reader.next(engine.wal(), &*engine.disk, || u64::MAX);
            let made = next.ok().flatten().and_then(|logged| time_of(&logged.record));
            let now = engine.timestamps.now_millis();
            lag_millis = made.map_or(0, |made| u64::try_from(now - made).unwrap_or(0));
        }
        let is_lost = bytes.is_none();
        let lag_bytes = bytes.unwrap_or(0);
        FollowerStatus { name, table, position, saved_millis, lag_bytes, lag_millis, is_lost }
    }

    /// Refuses a table that has no followers of its own.
    fn check_followed(&self, table: &TableName) -> Result<()> {
        if table.is_system() {
            return Err(Error::unsupported(format!("{table} is no table with changes to follow")));
        }
        match self.table(table) {
            Ok(found) if !matches!(IndexOf::of_table(found.descriptor()), Ok(None)) => {
                Err(Error::unsupported(format!(
                    "an index table has no followers, follow its table: table={table}"
                )))
            }
            // It may have been dropped after the position.
            _ => Ok(()),
        }
    }
}

fn time_of(record: &Record) -> Option<i64> {
    match record {
        Record::Commit(commit) => commit.millis,
        Record::Table(table) => Some(table.millis),
        Record::Begin { .. } | Record::Edited(_) => None,
    }
}

/// Returns the place where a position's changes are read: the next segment if an open removed the
/// position's own, which had no commit.
fn resolve(engine: &Engine, position: &ChangePosition) -> Result<ChangePosition> {
    let Some(previous) = engine.followers.previous_of_emptied(position) else {
        return Ok(position.clone());
    };
    let next = engine.wal().segment_after(previous);
    let next = next.ok_or_else(|| position.lost("the log no longer has the segment"))?;
    check_continues(&*engine.disk, engine.wal(), &next, previous, position)?;
    Ok(begin_of(&next))
}

impl Changes {
    fn new(store: &Store, from: &ChangePosition, table: Option<&TableName>) -> Result<Self> {
        let engine = &store.inner.engine;
        engine.check_open()?;
        // The first follower must not miss a region that is being removed.
        let changing = (!engine.followers.is_active()).then(|| store.inner.tables.changing.lock());
        let from = resolve(engine, from)?;
        let reader_id = engine.followers.add_reader(from.segment);
        drop(changing);
        let table = table.cloned();
        let changes = Self {
            store: store.clone(),
            skip: from.rows,
            returned: from.clone(),
            segment: from.segment,
            reader: LogReader::new(ChangePosition { rows: 0, ..from.clone() }),
            pending: VecDeque::new(),
            table,
            tables: RegionTables::default(),
            copy: None,
            reader_id,
        };
        let engine = &changes.store.inner.engine;
        let (end, _) = engine.wal().appended_end();
        let is_after = from.segment == end.segment && from.offset > end.offset;
        if is_after || engine.wal().bytes_after(&from).is_none() {
            let why = if is_after { "the log ends before it" } else { "the log does not have it" };
            return Err(from.lost(why));
        }
        Ok(changes)
    }

    /// Returns the next change; `None` if none is synced within `wait`.
    ///
    /// # Errors
    /// `PositionLost` if the changes are no longer retained; `ServerNotRunning` once the store is
    /// closed; `Corruption`, `Io`.
    pub fn next(&mut self, wait: Duration) -> Result<Option<Change>> {
        let deadline = Instant::now() + wait;
        loop {
            if let Some(change) = self.next_now()? {
                return Ok(Some(change));
            }
            if Instant::now() >= deadline {
                return Ok(None);
            }
            let engine = &self.store.inner.engine;
            let until = deadline.min(Instant::now() + CLOSED_CHECK);
            engine.wal().wait_readable(self.reader.position(), until);
            // A synced record is visible within the moment.
            std::thread::sleep(VISIBLE_WAIT);
        }
    }

    /// Returns the next change; `None` if none is synced now, or after some megabytes of changes of
    /// other tables, which [`Changes::position`] has passed then. It does not wait.
    ///
    /// # Errors
    /// As [`Changes::next`].
    pub fn next_now(&mut self) -> Result<Option<Change>> {
        self.store.inner.engine.check_open()?;
        let next = match self.next_copied()? {
            Some(copied) => Some(copied),
            None => self.next_logged()?,
        };
        match &next {
            Some(change) => self.returned = change.position().clone(),
            // The records that were read since are of other tables.
            None if self.copy.is_none() => self.returned = self.reader.position().clone(),
            None => {}
        }
        Ok(next)
    }

    fn next_logged(&mut self) -> Result<Option<Change>> {
        let mut passed = 0;
        while passed < PASSED_BYTES_MAX {
            if let Some(row) = self.pending.pop_front() {
                return Ok(Some(Change::Row(row)));
            }
            let engine = &self.store.inner.engine;
            let next = self.reader.next(engine.wal(), &*engine.disk, || engine.mvcc.visible())?;
            let Some(logged) = next else { return Ok(None) };
            passed += self.reader.position().offset.saturating_sub(logged.at.offset);
            self.note_segment();
            if let Some(change) = self.take(logged)? {
                return Ok(Some(change));
            }
        }
        Ok(self.pending.pop_front().map(Change::Row))
    }

    /// Returns the position after the last change that was returned.
    pub fn position(&self) -> ChangePosition {
        match &self.copy {
            Some(copy) => copy.begin.in_copy(copy.last.clone()),
            None => self.returned.clone(),
        }
    }

    /// Begins a copy of the table, after which the changes from now on follow: for a follower that
    /// has read that the table changed as a whole.
    ///
    /// # Errors
    /// `TableNotFound`, `TableNotEnabled`; `InvalidRequest` if all tables are followed.
    pub fn copy_again(&mut self) -> Result<()> {
        let Some(table) = &self.table else {
            return Err(Error::invalid("a copy is one of a table"));
        };
        let copy = Copying::begin(&self.store, table, None, Bytes::new())?;
        self.reader = LogReader::new(copy.begin.clone());
        self.pending.clear();
        self.skip = 0;
        self.returned = copy.begin.in_copy(Bytes::new());
        self.copy = Some(copy);
        self.note_segment();
        Ok(())
    }

    fn note_segment(&mut self) {
        let segment = self.reader.position().segment;
        if segment != self.segment {
            self.segment = segment;
            self.store.inner.engine.followers.move_reader(self.reader_id, segment);
        }
    }

    fn take(&mut self, logged: Logged) -> Result<Option<Change>> {
        match logged.record {
            Record::Commit(commit) => {
                self.pending = self.rows_of(commit, &logged.at)?;
                Ok(None)
            }
            Record::Table(change) => Ok(self.take_table(change)),
            Record::Begin { .. } | Record::Edited(_) => Ok(None),
        }
    }

    fn take_table(&mut self, change: TableRecord) -> Option<Change> {
        let TableRecord { mut kind, table_id, millis, table } = change;
        // The record is written before the table is dropped, which may have failed: its rows are
        // there, and are to be copied.
        let is_there = |state: &ManifestState| {
            state.tables.get(&table_id).is_some_and(|it| *it.descriptor.name() == table)
        };
        if kind == WholeTableChangeKind::Dropped && self.store.inner.engine.manifest.read(is_there)
        {
            kind = WholeTableChangeKind::Restored;
        }
        if self.table.as_ref().is_some_and(|followed| *followed != table) {
            return None;
        }
        let time = Timestamp::from_millis(millis.max(0)).unwrap_or(Timestamp::MIN);
        let read_point = self.store.inner.engine.mvcc.visible();
        let position = self.reader.position().clone();
        Some(Change::Table(WholeTableChange { position, time, table, kind, read_point }))
    }

    /// Returns the rows of a commit that were not delivered.
    fn rows_of(&mut self, commit: Commit, at: &ChangePosition) -> Result<VecDeque<RowOfChange>> {
        let Commit { sequence, millis, groups, .. } = commit;
        let time = millis.and_then(|millis| Timestamp::from_millis(millis.max(0)).ok());
        let mut places: HashMap<(u64, Bytes), usize> = HashMap::new();
        let mut rows: Vec<(Arc<TableOfRegion>, Bytes, Vec<Cell>)> = Vec::new();
        for (region, _, cells) in groups {
            let engine = &self.store.inner.engine;
            let table = self.tables.table_of(engine, region, sequence);
            let table = table.ok_or_else(|| at.lost("a region's table is unknown"))?;
            for cell in cells {
                let row = cell.row_bytes();
                let is_same = rows.last().is_some_and(|it| (it.0.id, &it.1) == (table.id, &row));
                let place = if is_same {
                    rows.len() - 1
                } else {
                    *places.entry((table.id, row.clone())).or_insert_with(|| {
                        rows.push((Arc::clone(&table), row, Vec::new()));
                        rows.len() - 1
                    })
                };
                rows[place].2.push(cell);
            }
        }
        let skip = std::mem::take(&mut self.skip);
        let mut left = VecDeque::new();
        for (nth, (table, row, cells)) in (1..).zip(rows) {
            let is_other = self.table.as_ref().is_some_and(|followed| *followed != table.name);
            if nth <= skip || is_other {
                continue;
            }
            let table = table.name.clone();
            let position = ChangePosition { rows: nth, ..at.clone() };
            left.push_back(RowOfChange { position, sequence, time, table, row, cells });
        }
        if let Some(last) = left.back_mut() {
            last.position = self.reader.position().clone();
        }
        Ok(left)
    }

    fn next_copied(&mut self) -> Result<Option<Change>> {
        let Some(copy) = &mut self.copy else { return Ok(None) };
        let row = match copy.scan.next() {
            // Readers held too much memory, the read point is too old, or the table changed as a
            // whole: the copy goes on at a newer one.
            Err(error) if error.kind() == ErrorKind::UnknownScanner => {
                let table = self.table.as_ref().expect("a copy is one of a table");
                let begin = copy.begin.clone();
                *copy = Copying::begin(&self.store, table, Some(begin), copy.last.clone())?;
                copy.scan.next()?
            }
            row => row?,
        };
        let Some(row) = row else {
            let begin = copy.begin.clone();
            self.copy = None;
            return Ok(Some(Change::CopyEnded(begin)));
        };
        copy.last = Bytes::copy_from_slice(row.key());
        let table = self.table.clone();
        Ok(Some(Change::Copied(RowOfChange {
            position: copy.begin.in_copy(copy.last.clone()),
            sequence: copy.sequence,
            time: None,
            table: table.expect("a copy is one of a table"),
            row: copy.last.clone(),
            cells: row.to_cells(),
        })))
    }
}

/// Bytes of the log that a reader passes at once without a change of the followed table.
const PASSED_BYTES_MAX: u64 = 16 << 20;

/// How often a waiting reader looks whether the store was closed.
const CLOSED_CHECK: Duration = Duration::from_millis(200);

/// How long a reader waits for a synced record to become visible.
const VISIBLE_WAIT: Duration = Duration::from_micros(50);

impl Drop for Changes {
    fn drop(&mut self) {
        let engine = &self.store.inner.engine;
        if engine.check_open().is_err() {
            // Another process may have the directory.
            return;
        }
        let removed = engine.followers.remove_reader(self.reader_id);
        if let Err(error) = removed.and_then(|()| flush::trim_retained(engine)) {
            tracing::warn!(%error, "the log that a follower has left cannot be removed");
        }
    }
}

impl Copying {
    /// Begins a copy after row `last`, empty for the whole table. Changes continue at `begin`, or
    /// where the log ends now.
    fn begin(
        store: &Store,
        table: &TableName,
        begin: Option<ChangePosition>,
        last: Bytes,
    ) -> Result<Self> {
        let engine = &store.inner.engine;
        let found = store.table(table)?;
        found.check_enabled()?;
        flush_unlogged(engine, &found)?;
        let (point, tables, position) = store.inner.tables.catalog.read_point_at_end(engine)?;
        let found = tables.table(table)?;
        let mut scan = Scan::all();
        if !last.is_empty() {
            scan.range = RowRange { start: RowRange::row(&last).stop, stop: Bytes::new() };
        }
        scan.raw = true;
        scan.versions = u32::MAX;
        scan.cache_blocks = false;
        let point = Arc::new(point);
        let sequence = point.sequence();
        let scan = found.scan_at(scan, &point)?;
        Ok(Self { scan, sequence, begin: begin.unwrap_or(position), last })
    }
}

/// Flushes the memstores of a table that have cells which are not logged: a copy has nothing that a
/// crash can take.
fn flush_unlogged(engine: &Engine, table: &Table) -> Result<()> {
    let families = table.regions().iter().flat_map(|region| region.families());
    let unlogged = families.filter(|family| family.has_unlogged());
    unlogged.into_iter().try_for_each(|family| flush::flush(engine, family))
}

impl RegionTables {
    /// Returns the table that a region belonged to at a sequence number, with the name that it had
    /// then; `None` if that is unknown.
    fn table_of(
        &mut self,
        engine: &Engine,
        region: u64,
        sequence: u64,
    ) -> Option<Arc<TableOfRegion>> {
        let followers = &engine.followers;
        loop {
            let version = followers.version();
            if version != self.version {
                *self = Self { version, ..Self::default() };
            }
            if let Some(table) = self.tables.get(&region) {
                return Some(Arc::clone(table));
            }
            let owner = followers.owner_at(region, sequence);
            let live = || engine.manifest.read(|state| state.table_id_of(region));
            // Writers went on while the edit that removed the region was written.
            let id = owner.or_else(live).or_else(|| followers.last_owner(region));
            let former = id.and_then(|id| followers.name_at(id, sequence));
            let is_former = owner.is_some() || former.is_some();
            let name = id.and_then(|id| {
                let live = || engine.manifest.read(|state| state.name_of(id));
                former.or_else(live).or_else(|| followers.last_name(id))
            });
            if followers.version() != version {
                continue;
            }
            let table = Arc::new(TableOfRegion { id: id?, name: name? });
            // Later sequence numbers may have another table or name.
            if !is_former {
                self.tables.insert(region, Arc::clone(&table));
            }
            return Some(table);
        }
    }
}
