//! The followers of changes: which part of the log they need, and which table a region belonged to
//! (decision 0096).
//!
//! Without followers no log is retained, and a commit loads one flag. What is written without them
//! is which table a region belonged to before it moved to another one, for as long as the log names
//! it: a follower may come later with an older position.

mod file;

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use parking_lot::Mutex;
use rowhouse_model::{ChangePosition, Error, Result, TableName};

use crate::disk::Disk;
use crate::manifest::RetiredRegion;
use crate::wal::{ClosedSegment, RetainedSegment};

/// The most registered followers, each of which is written with every save of another.
const FOLLOWERS_MAX: usize = 1000;

/// The followers of a store.
pub(crate) struct Followers {
    disk: Arc<dyn Disk>,
    is_active: AtomicBool,
    state: Mutex<State>,
    /// How often regions were removed or changed their tables.
    version: AtomicU64,
    /// Tables whose unlogged writes were reported.
    skipped: Mutex<HashSet<u64>>,
}

/// The contents of the file.
#[derive(Clone, Debug, Default, PartialEq)]
struct State {
    registered: BTreeMap<String, Registered>,
    retained: Vec<RetainedSegment>,
    emptied: Vec<Emptied>,
    owners: Vec<Owner>,
    /// The names that tables had, oldest first.
    names: Vec<FormerName>,
    /// The segments that open readers are in, by reader. Not in the file.
    readers: BTreeMap<u64, u64>,
    next_reader: u64,
}

/// A registered follower.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Registered {
    pub(crate) table_id: u64,
    pub(crate) table: TableName,
    pub(crate) position: ChangePosition,
    pub(crate) saved_millis: i64,
}

/// A segment without a commit that an open removed. Positions in it are at the end of the segment
/// before.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Emptied {
    number: u64,
    epoch: u64,
    /// The segment before; 0 if there was none.
    previous: u64,
}

/// A region that was removed, or that changed its table.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Owner {
    region: u64,
    table_id: u64,
    /// The last sequence number up to which the region belonged to the table.
    last_sequence: u64,
}

/// A name that a table had: it was dropped, or got another name.
#[derive(Clone, Debug, PartialEq)]
struct FormerName {
    table_id: u64,
    name: TableName,
    /// The last sequence number up to which the table is known to have had the name.
    last_sequence: u64,
}

impl Followers {
    /// Reads the followers that are registered.
    ///
    /// # Errors
    /// `Io`; `Unsupported` for a file from a newer version.
    pub(crate) fn open(disk: Arc<dyn Disk>, now_millis: i64) -> Result<Self> {
        let mut state = file::read(&disk, now_millis)?;
        let is_active = !state.registered.is_empty();
        if !is_active {
            // Readers without a name have ended.
            let inactive = state.clone().without_followers();
            if inactive != state {
                file::write(&*disk, &inactive)?;
                state = inactive;
            }
        }
        let is_active = AtomicBool::new(is_active);
        let state = Mutex::new(state);
        let skipped = Mutex::default();
        Ok(Self { disk, is_active, state, version: AtomicU64::new(0), skipped })
    }

    /// Returns true if there is a follower.
    #[inline]
    pub(crate) fn is_active(&self) -> bool {
        self.is_active.load(Ordering::Relaxed)
    }

    /// Takes over the state of the log at an open: segments without commits that it removes, the
    /// `live` segments, and those that are released or retained and still `exist`.
    pub(crate) fn note_opened(
        &self,
        emptied: &[(u64, u64)],
        live: &[u64],
        exist: impl Fn(u64) -> bool,
    ) -> Result<()> {
        if !self.is_active() {
            return Ok(());
        }
        self.change(|state| {
            state.retained.retain(|it| !live.contains(&it.segment.number));
            let missing = state.retained.iter().rposition(|it| !exist(it.segment.number));
            // A removal was interrupted.
            state.retained.drain(..missing.map_or(0, |last| last + 1));
            let retained = state.retained.last().map_or(0, |it| it.segment.number);
            let previous = live.last().copied().unwrap_or(retained);
            for &(number, epoch) in emptied {
                state.emptied.retain(|it| (it.number, it.epoch) != (number, epoch));
                state.emptied.push(Emptied { number, epoch, previous });
            }
            Ok(())
        })
    }

    /// Returns the retained segments, oldest first.
    pub(crate) fn retained(&self) -> Vec<RetainedSegment> {
        self.state.lock().retained.clone()
    }

    /// Records the segments among those about to be released that followers need. Returns them with
    /// those retained before. The segments after them begin with commit `first_sequence`.
    pub(crate) fn retain(
        &self,
        released: &[ClosedSegment],
        first_sequence: u64,
        now_millis: i64,
    ) -> Result<Vec<RetainedSegment>> {
        self.change(|state| {
            let needed_from = state.needed_from().unwrap_or(u64::MAX);
            let last = state.retained.last().map_or(0, |it| it.segment.number);
            for &segment in released.iter().filter(|it| it.number > last) {
                if segment.number >= needed_from {
                    let since_millis = now_millis;
                    state.retained.push(RetainedSegment { segment, since_millis });
                } else {
                    state.pass(segment.number);
                }
            }
            let first = state.retained.first().map(|it| it.segment.first_sequence);
            state.forget_owners(first.unwrap_or(first_sequence));
            Ok(state.retained.clone())
        })
    }

    /// Returns the number of the first segment that a follower needs; `None` without followers.
    pub(crate) fn needed_from(&self) -> Option<u64> {
        self.state.lock().needed_from()
    }

    /// Notes that retained segments up to `removed` were removed. The log begins with commit
    /// `first_sequence`.
    pub(crate) fn trimmed(&self, removed: u64, first_sequence: u64) -> Result<()> {
        self.change(|state| {
            // Later ones stay: another thread may be about to release a segment that it has noted.
            state.retained.retain(|it| it.segment.number > removed);
            state.pass(removed);
            state.forget_owners(first_sequence);
            Ok(())
        })
    }

    /// Records the tables of regions that an edit is about to remove, or to give to another table
    /// or name. Commits in a region that is removed have sequence numbers up to `reserved` so far;
    /// the last commit in one that stays is at most at `synced`, which survives a power cut.
    ///
    /// Without followers a region that is removed is recorded only if it had another table before,
    /// which must not be taken for its last; a position before its removal is lost.
    pub(crate) fn retire(
        &self,
        regions: Vec<RetiredRegion>,
        reserved: u64,
        synced: u64,
    ) -> Result<()> {
        if regions.is_empty() {
            return Ok(());
        }
        let changed = self.change(|state| {
            let is_active = state.is_active();
            let moved: HashSet<u64> = state.owners.iter().map(|it| it.region).collect();
            for RetiredRegion { region, table_id, table, stays } in regions {
                if is_active || stays || moved.contains(&region) {
                    let last_sequence = if stays { synced } else { reserved };
                    state.owners.push(Owner { region, table_id, last_sequence });
                    state.add_name(table_id, table, last_sequence);
                }
            }
            Ok(())
        });
        self.version.fetch_add(1, Ordering::AcqRel);
        changed
    }

    /// Returns a number that changes when a region is removed, or changes its table or its name.
    pub(crate) fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// Returns the table that a region belonged to at a sequence number, if it has left it since.
    pub(crate) fn owner_at(&self, region: u64, sequence: u64) -> Option<u64> {
        let state = self.state.lock();
        let mut owners = state.owners.iter();
        let owner = owners.find(|it| it.region == region && sequence <= it.last_sequence);
        owner.map(|owner| owner.table_id)
    }

    /// Returns the table to which a region that no longer exists belonged last.
    pub(crate) fn last_owner(&self, region: u64) -> Option<u64> {
        let state = self.state.lock();
        let owner = state.owners.iter().rev().find(|it| it.region == region);
        owner.map(|owner| owner.table_id)
    }

    /// Notes that commits up to `last_sequence` may name these regions, which an edit has removed:
    /// writers went on until then.
    pub(crate) fn note_last_sequence(&self, regions: &[u64], last_sequence: u64) {
        let mut state = self.state.lock();
        for region in regions {
            // Only the last: a region that changed its table has an earlier one before.
            let last = state.owners.iter_mut().rev().find(|it| it.region == *region);
            if let Some(owner) = last {
                owner.last_sequence = owner.last_sequence.max(last_sequence);
            }
        }
    }

    /// Returns the name that a table had at a sequence number, if it has left it since.
    pub(crate) fn name_at(&self, table_id: u64, sequence: u64) -> Option<TableName> {
        let state = self.state.lock();
        let mut names = state.names.iter();
        let found = names.find(|it| it.table_id == table_id && sequence <= it.last_sequence);
        found.map(|it| it.name.clone())
    }

    /// Returns the last name of a table that no longer exists.
    pub(crate) fn last_name(&self, table_id: u64) -> Option<TableName> {
        let state = self.state.lock();
        let found = state.names.iter().rev().find(|it| it.table_id == table_id);
        found.map(|it| it.name.clone())
    }

    /// Returns the segment before the one of a position, if an open removed that one because it
    /// had no commit; 0 if there was none before.
    pub(crate) fn previous_of_emptied(&self, position: &ChangePosition) -> Option<u64> {
        let state = self.state.lock();
        let mut emptied = state.emptied.iter();
        let found = emptied.find(|it| (it.number, it.epoch) == (position.segment, position.epoch));
        found.map(|it| it.previous)
    }

    /// Registers a follower, or changes the position that it saved.
    ///
    /// # Errors
    /// `InvalidRequest` if there are too many; `Io`.
    pub(crate) fn save(&self, name: &str, follower: Registered) -> Result<()> {
        self.change(|state| {
            let len = state.registered.len();
            if len >= FOLLOWERS_MAX && !state.registered.contains_key(name) {
                return Err(Error::invalid(format!(
                    "too many followers: followers={len}, max={FOLLOWERS_MAX}"
                )));
            }
            state.registered.insert(name.to_owned(), follower);
            Ok(())
        })
    }

    /// Removes a registered follower. Returns false if there is none with this name.
    pub(crate) fn remove(&self, name: &str) -> Result<bool> {
        self.change(|state| Ok(state.registered.remove(name).is_some()))
    }

    /// Returns a registered follower.
    pub(crate) fn find(&self, name: &str) -> Option<Registered> {
        self.state.lock().registered.get(name).cloned()
    }

    /// Returns the registered followers by name.
    pub(crate) fn registered(&self) -> BTreeMap<String, Registered> {
        self.state.lock().registered.clone()
    }

    /// Counts a reader in a segment as a follower. Returns the reader's number.
    pub(crate) fn add_reader(&self, segment: u64) -> u64 {
        let mut state = self.state.lock();
        state.next_reader += 1;
        let reader = state.next_reader;
        state.readers.insert(reader, segment);
        self.is_active.store(true, Ordering::Relaxed);
        reader
    }

    /// Notes the segment that a reader has reached.
    pub(crate) fn move_reader(&self, reader: u64, segment: u64) {
        self.state.lock().readers.insert(reader, segment);
    }

    /// Ends a reader.
    pub(crate) fn remove_reader(&self, reader: u64) -> Result<()> {
        self.change(|state| {
            state.readers.remove(&reader);
            Ok(())
        })
    }

    /// Logs, once for each table, that a write without a log is not followed.
    #[cold]
    pub(crate) fn note_skipped(&self, table_id: u64, table: &TableName) {
        if self.skipped.lock().insert(table_id) {
            tracing::warn!(%table, "writes with SKIP_WAL are not followed");
        }
    }

    /// Changes the state, and writes the file before the change takes effect.
    fn change<T>(&self, change: impl FnOnce(&mut State) -> Result<T>) -> Result<T> {
        let mut state = self.state.lock();
        let mut changed = state.clone();
        let result = change(&mut changed)?;
        let is_active = changed.is_active();
        if !is_active {
            changed = changed.without_followers();
        }
        if !changed.has_same_file(&state) {
            file::write(&*self.disk, &changed)?;
        }
        *state = changed;
        self.is_active.store(is_active, Ordering::Relaxed);
        Ok(result)
    }
}

impl State {
    /// Returns true if the file has the same contents for both.
    fn has_same_file(&self, other: &Self) -> bool {
        self.registered == other.registered
            && self.retained == other.retained
            && self.emptied == other.emptied
            && self.owners == other.owners
            && self.names == other.names
    }

    fn is_active(&self) -> bool {
        !self.registered.is_empty() || !self.readers.is_empty()
    }

    /// Returns what is left once there is no follower.
    fn without_followers(self) -> Self {
        let Self { owners, names, next_reader, .. } = self;
        Self { owners, names, next_reader, ..Self::default() }
    }

    /// Notes that a table had a name up to a sequence number.
    fn add_name(&mut self, table_id: u64, name: TableName, last_sequence: u64) {
        let known = self.names.iter_mut().rev().find(|it| it.table_id == table_id);
        match known.filter(|known| known.name == name) {
            Some(known) => known.last_sequence = known.last_sequence.max(last_sequence),
            None => self.names.push(FormerName { table_id, name, last_sequence }),
        }
    }

    /// Notes that segment `number` is gone: a position before it is lost.
    fn pass(&mut self, number: u64) {
        self.emptied.retain(|it| it.previous >= number);
    }

    /// Forgets the regions that no commit from `first_sequence` on can name.
    fn forget_owners(&mut self, first_sequence: u64) {
        self.owners.retain(|it| it.last_sequence >= first_sequence);
        let tables: HashSet<u64> = self.owners.iter().map(|it| it.table_id).collect();
        self.names.retain(|it| it.last_sequence >= first_sequence || tables.contains(&it.table_id));
    }

    fn needed_from(&self) -> Option<u64> {
        let registered = self.registered.values().map(|it| self.segment_of(&it.position));
        registered.chain(self.readers.values().copied()).min()
    }

    /// Returns the segment from which a position's changes are read.
    fn segment_of(&self, position: &ChangePosition) -> u64 {
        let mut emptied = self.emptied.iter();
        let found = emptied.find(|it| (it.number, it.epoch) == (position.segment, position.epoch));
        found.map_or(position.segment, |it| it.previous + 1)
    }
}
