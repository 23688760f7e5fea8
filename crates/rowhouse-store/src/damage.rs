//! Damage that reads have found: files whose bytes are not the bytes that were written, and index
//! tables whose contents cannot be decoded. `store/index_damage.rs` puts the indexes off
//! (`docs/decisions/0067-indexes.md`).

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::error::Error as StdError;
use std::fmt;
use std::sync::OnceLock;

use parking_lot::{Condvar, Mutex};
use rowhouse_model::{Error, ErrorKind, Result};

/// The known damage, and which part the index states do not show yet.
#[derive(Default)]
pub(crate) struct Damage {
    state: Mutex<State>,
    changed: Condvar,
    settle: OnceLock<Settle>,
}

/// Makes the index states show all damage.
type Settle = Box<dyn Fn() -> Result<()> + Send + Sync>;

#[derive(Default)]
struct State {
    /// The damaged files that exist, by id, each with the first error.
    files: BTreeMap<u64, String>,
    unsettled: Unsettled,
    closed: bool,
}

/// Damage that the index states do not show yet.
#[derive(Clone, Default)]
pub(crate) struct Unsettled {
    /// Damaged files, by id.
    pub(crate) files: BTreeSet<u64>,
    /// Index tables whose contents are damaged, by id, each with the reason.
    pub(crate) tables: BTreeMap<u64, String>,
}

impl Unsettled {
    fn is_empty(&self) -> bool {
        self.files.is_empty() && self.tables.is_empty()
    }
}

impl Damage {
    /// Notes that a file is damaged. Returns the error, marked as belonging to a noted file.
    pub(crate) fn note_file(&self, id: u64, error: Error) -> Error {
        let State { files, unsettled, .. } = &mut *self.state.lock();
        if let Entry::Vacant(place) = files.entry(id) {
            place.insert(error.to_string());
            unsettled.files.insert(id);
            self.changed.notify_one();
        }
        error.clone().with_source(NotedFile(error))
    }

    /// Notes that the data in an index table is damaged.
    pub(crate) fn note_table(&self, table_id: u64, error: &Error) {
        let mut state = self.state.lock();
        state.unsettled.tables.entry(table_id).or_insert_with(|| error.to_string());
        self.changed.notify_one();
    }

    /// Forgets a file, which does not exist any more. Returns true if it was damaged.
    pub(crate) fn forget_file(&self, id: u64) -> bool {
        let mut state = self.state.lock();
        state.unsettled.files.remove(&id);
        state.files.remove(&id).is_some()
    }

    /// Returns the error for the first damaged file among these.
    pub(crate) fn first_of(&self, mut files: impl Iterator<Item = u64>) -> Option<String> {
        let state = self.state.lock();
        if state.files.is_empty() {
            return None;
        }
        files.find_map(|id| state.files.get(&id).cloned())
    }

    /// Returns true if a file is damaged.
    pub(crate) fn has_file(&self, id: u64) -> bool {
        self.state.lock().files.contains_key(&id)
    }

    /// Returns the damage that is not settled.
    pub(crate) fn unsettled(&self) -> Unsettled {
        self.state.lock().unsettled.clone()
    }

    /// Records that damage is settled.
    pub(crate) fn set_settled(&self, settled: &Unsettled) {
        let unsettled = &mut self.state.lock().unsettled;
        unsettled.files.retain(|file| !settled.files.contains(file));
        unsettled.tables.retain(|table, _| !settled.tables.contains_key(table));
    }

    /// Counts all damaged files as not settled: files have got to other tables.
    pub(crate) fn check_again(&self) {
        let mut state = self.state.lock();
        state.unsettled.files = state.files.keys().copied().collect();
        self.changed.notify_one();
    }

    /// Sets what settles damage.
    pub(crate) fn set_settle(&self, settle: Settle) {
        assert!(self.settle.set(settle).is_ok(), "it is set once");
    }

    /// Settles the damage that was noted before this call. No row may be locked.
    ///
    /// # Errors
    /// `Io` from the manifest; `ServerNotRunning`.
    pub(crate) fn settle(&self) -> Result<()> {
        match self.settle.get() {
            Some(settle) if self.has_unsettled() => settle(),
            _ => Ok(()),
        }
    }

    pub(crate) fn has_unsettled(&self) -> bool {
        !self.state.lock().unsettled.is_empty()
    }

    /// Waits until there is damage to settle; returns `false` once closed.
    pub(crate) fn wait(&self) -> bool {
        let mut state = self.state.lock();
        while !state.closed && state.unsettled.is_empty() {
            self.changed.wait(&mut state);
        }
        !state.closed
    }

    /// Ends the waits.
    pub(crate) fn close(&self) {
        self.state.lock().closed = true;
        self.changed.notify_all();
    }
}

/// The source of an error from a noted file.
#[derive(Debug)]
struct NotedFile(Error);

impl fmt::Display for NotedFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl StdError for NotedFile {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source()
    }
}

/// Returns true if an error says that stored bytes are damaged, not that they cannot be read now.
pub(crate) fn is_damage(error: &Error) -> bool {
    error.kind() == ErrorKind::Corruption || is_of_noted_file(error)
}

/// Returns true if an error says that stored bytes cannot be read, now or ever.
pub fn is_unreadable(error: &Error) -> bool {
    error.kind() == ErrorKind::Io || is_damage(error)
}

/// Returns true if an error comes from a damaged file, which is noted.
pub(crate) fn is_of_noted_file(error: &Error) -> bool {
    let mut next: Option<&(dyn StdError + 'static)> = Some(error);
    while let Some(error) = next {
        if error.is::<NotedFile>() {
            return true;
        }
        next = error.source();
    }
    false
}
