//! Steady families: flushes and compactions do not change the rows they show (decision 0067).
//!
//! What a row shows changes through writes and as time passes. In HBase a flush or compaction can
//! change it as well, because it drops cells that a delete or an expiry would have uncovered, or
//! drops a delete marker that covers a put outside the inputs. Code that derives something from
//! rows, as observers and indexes do, declares the families steady:
//!
//! - [`DropLimits`] limits what a flush or compaction drops, and records what it has dropped.
//! - [`FamilyStore::install`] installs the outcome while no observed write is between its reads and
//!   its commit, unless a cell that came in meanwhile makes the dropped cells matter. The caller
//!   then runs once more and drops less.
//!
//! Locks are taken in this order: rows, `Engine::replacing`, the latches here, the freeze latch.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use parking_lot::{RwLock, RwLockReadGuard, RwLockWriteGuard};
use rowhouse_model::Result;

use super::FamilyStore;
use crate::compaction_policy::OtherFiles;
use crate::memstore::Memstore;
use crate::retention::Retention;
use crate::store_file::{FileSummary, StoreFile};

/// Whether a family is steady, and the latch that makes it so.
#[derive(Default)]
pub(super) struct Steady {
    is_on: AtomicBool,
    /// Whether delete markers stay: the family has a copy, or is one (decision 0071).
    keeps_markers: AtomicBool,
    /// Held shared by observed writes from before their reads until their cells are in memstores,
    /// and exclusively to install files.
    latch: RwLock<()>,
    #[cfg(test)]
    before_install: parking_lot::Mutex<Option<Box<dyn FnOnce() + Send>>>,
}

/// Prevents flushes and compactions in steady families from being installed while it lives.
#[must_use]
pub(crate) struct SteadyGuard<'a>(#[expect(dead_code, reason = "held")] Vec<Latched<'a>>);

type Latched<'a> = RwLockReadGuard<'a, ()>;

/// The inputs to a flush or a compaction.
#[derive(Clone, Copy)]
pub(crate) enum Inputs<'a> {
    Memstores(&'a [Arc<Memstore>]),
    Files(&'a [Arc<StoreFile>]),
}

/// The cells that a flush or compaction in a steady family may drop, and the cells that it has
/// dropped.
pub(crate) struct DropLimits {
    retention: Retention,
    /// No put outside the inputs is older. Lower than every timestamp to keep all markers.
    earliest_put: i64,
    /// The files outside the inputs that have version markers: the versions in their rows must
    /// stay. `None` to keep all surplus versions.
    version_markers: Option<OtherFiles>,
    /// Ids of files that have none of the rows whose markers are dropped.
    apart: Vec<u64>,
    /// The highest timestamp of a dropped marker.
    marker_dropped: Option<i64>,
    surplus_dropped: bool,
}

impl SteadyGuard<'_> {
    /// Latches all families in a record's regions, before the record is observed. A thread that has
    /// a guard, or holds the freeze latch, must not call this.
    pub(crate) fn of<'a>(families: impl Iterator<Item = &'a Arc<FamilyStore>>) -> SteadyGuard<'a> {
        let mut families: Vec<_> = families.filter(|family| family.is_steady()).collect();
        // Each once and in one order: where an installation waits, a further shared latch waits for
        // it.
        families.sort_by_key(|family| (family.region_id(), family.name()));
        families.dedup_by(|a, b| Arc::ptr_eq(a, b));
        SteadyGuard(families.into_iter().map(|family| family.steady.latch.read()).collect())
    }

    /// Latches all families in the regions that observers write, beside the record's guard. A
    /// thread that holds the freeze latch must not call this.
    pub(crate) fn of_additions<'a>(
        families: impl Iterator<Item = &'a Arc<FamilyStore>>,
    ) -> SteadyGuard<'a> {
        let families = families.filter(|family| family.is_steady());
        // Passes installations that wait: such an installation may wait for this thread.
        SteadyGuard(families.map(|family| family.steady.latch.read_recursive()).collect())
    }
}

/// Keeps observed writes to steady families from coming between their reads and their commits while
/// files from outside the store are added.
#[must_use]
pub(crate) struct LoadGuard<'a>(
    #[expect(dead_code, reason = "held")] Vec<RwLockWriteGuard<'a, ()>>,
);

impl LoadGuard<'_> {
    /// Waits until no observed write to these families is under way. A thread that has a guard, or
    /// holds the freeze latch, must not call this.
    pub(crate) fn of<'a>(families: impl Iterator<Item = &'a Arc<FamilyStore>>) -> LoadGuard<'a> {
        let mut families: Vec<_> = families.filter(|family| family.is_steady()).collect();
        families.sort_by_key(|family| (family.region_id(), family.name()));
        families.dedup_by(|a, b| Arc::ptr_eq(a, b));
        let Some((first, others)) = families.split_first() else { return LoadGuard(Vec::new()) };
        loop {
            // New writes to the first family wait from here on.
            let mut guards = vec![first.steady.latch.write()];
            // But not without end: a write may hold another one and wait for the first.
            let wait = Duration::from_millis(5);
            guards.extend(others.iter().map_while(|other| other.steady.latch.try_write_for(wait)));
            if guards.len() == families.len() {
                return LoadGuard(guards);
            }
        }
    }
}

impl FamilyStore {
    /// Whether flushes and compactions leave what rows show.
    #[inline]
    pub(crate) fn is_steady(&self) -> bool {
        self.steady.is_on.load(Ordering::Acquire)
    }

    /// Declares whether the family is steady. On return, flushes and compactions that are under way
    /// obey. The caller must hold neither the freeze latch nor a guard, except for a new family.
    pub(crate) fn set_steady(&self, on: bool) {
        if self.is_steady() != on {
            let _latch = self.steady.latch.write();
            self.steady.is_on.store(on, Ordering::Release);
        }
    }

    /// Whether flushes and compactions keep all delete markers without a time to live.
    pub(crate) fn keeps_markers(&self) -> bool {
        self.steady.keeps_markers.load(Ordering::Acquire)
    }

    /// Declares whether a steady family keeps delete markers. The caller may declare that it does
    /// as with [`FamilyStore::set_steady`], and that it does not at any time.
    pub(crate) fn set_keeps_markers(&self, on: bool) {
        if self.keeps_markers() != on {
            let _latch = on.then(|| self.steady.latch.write());
            self.steady.keeps_markers.store(on, Ordering::Release);
        }
    }

    /// Installs the outcome of a flush or compaction that dropped cells within `limits`, while no
    /// observed write to the family is under way. Returns `false`, without running `install`, if
    /// the family is steady and the rows would show something else.
    pub(crate) fn install(
        &self,
        limits: Option<&DropLimits>,
        inputs: Inputs<'_>,
        install: impl FnOnce() -> Result<()>,
    ) -> Result<bool> {
        #[cfg(test)]
        if let Some(hook) = { self.steady.before_install.lock().take() } {
            hook();
        }
        let _latch = self.steady.latch.write();
        if self.is_steady() {
            // A run without limits began before the family was steady.
            let Some(limits) = limits else { return Ok(false) };
            if !limits.are_respected(self, inputs)? {
                return Ok(false);
            }
        }
        install().map(|()| true)
    }

    /// Runs `hook` before the next installation, after the inputs were read.
    #[cfg(test)]
    pub(crate) fn before_install(&self, hook: impl FnOnce() + Send + 'static) {
        *self.steady.before_install.lock() = Some(Box::new(hook));
    }

    /// Returns the memstores and files that are not among `inputs`.
    fn outside(&self, inputs: Inputs<'_>) -> (Vec<Arc<Memstore>>, Vec<Arc<StoreFile>>) {
        let super_version = self.super_version();
        let mut memstores = super_version.frozen.clone();
        memstores.push(Arc::clone(&super_version.active));
        let mut files = super_version.files.clone();
        match inputs {
            Inputs::Memstores(read) => {
                memstores.retain(|memstore| !read.iter().any(|read| Arc::ptr_eq(memstore, read)));
            }
            Inputs::Files(read) => {
                files.retain(|file| !read.iter().any(|read| read.id() == file.id()));
            }
        }
        (memstores, files)
    }
}

impl DropLimits {
    /// Returns the limits for a run that begins. In major rows, files whose ids are in `apart` have
    /// no cells.
    pub(crate) fn find(family: &FamilyStore, inputs: Inputs<'_>, apart: Vec<u64>) -> Result<Self> {
        let (memstores, files) = family.outside(inputs);
        let has_versions = memstores.iter().any(|memstore| memstore.has_version_markers());
        let with_markers = files.iter().filter(|file| file.may_have_version_markers());
        let facts: Vec<FileSummary<'_>> =
            with_markers.map(|file| file.facts(family.range())).collect();
        let limits = Self::keeping_all(family);
        let earliest_put = if family.keeps_markers() {
            i64::MIN
        } else {
            earliest_put(&memstores, &files, &apart)?
        };
        Ok(Self {
            earliest_put,
            version_markers: (!has_versions).then(|| OtherFiles::of(&facts)),
            apart,
            ..limits
        })
    }

    /// Returns limits for a run that drops only cells which cannot matter any more.
    pub(crate) fn keeping_all(family: &FamilyStore) -> Self {
        Self {
            retention: family.retention(),
            earliest_put: i64::MIN,
            version_markers: None,
            apart: Vec::new(),
            marker_dropped: None,
            surplus_dropped: false,
        }
    }

    /// As `self`, but keeps the surplus versions in all rows if `keeps`.
    pub(crate) fn keeping_surplus_if(mut self, keeps: bool) -> Self {
        self.version_markers = self.version_markers.filter(|_| !keeps);
        self
    }

    /// Whether surplus versions in `row` may be dropped. Must be called with rows in order.
    pub(crate) fn drops_surplus_of(&mut self, row: &[u8]) -> bool {
        self.version_markers.as_mut().is_some_and(|others| !others.may_hold(row))
    }

    /// Whether a delete marker may be dropped from a row without cells in other files; notes it.
    pub(crate) fn drop_marker(&mut self, timestamp: i64) -> bool {
        let drops = timestamp < self.earliest_put;
        if drops {
            self.marker_dropped = self.marker_dropped.max(Some(timestamp));
        }
        drops
    }

    /// Notes that a surplus version was dropped.
    pub(crate) fn note_surplus(&mut self) {
        self.surplus_dropped = true;
    }

    /// Whether the dropped cells do not matter to the cells that are now outside `inputs`.
    fn are_respected(&self, family: &FamilyStore, inputs: Inputs<'_>) -> Result<bool> {
        let (memstores, files) = family.outside(inputs);
        if self.retention != family.retention() {
            return Ok(false);
        }
        if self.surplus_dropped {
            let known = |file: &StoreFile| {
                self.version_markers
                    .as_ref()
                    .is_some_and(|others| others.ids().contains(&file.id()))
            };
            if memstores.iter().any(|memstore| memstore.has_version_markers())
                || files.iter().any(|file| file.may_have_version_markers() && !known(file))
            {
                return Ok(false);
            }
        }
        match self.marker_dropped {
            None => Ok(true),
            Some(_) if family.keeps_markers() => Ok(false),
            Some(dropped) => Ok(dropped < earliest_put(&memstores, &files, &self.apart)?),
        }
    }
}

/// Returns a lower bound for put timestamps, except in files that `apart` names.
fn earliest_put(
    memstores: &[Arc<Memstore>],
    files: &[Arc<StoreFile>],
    apart: &[u64],
) -> Result<i64> {
    let mut earliest = i64::MAX;
    for memstore in memstores {
        earliest = earliest.min(memstore.earliest_put());
    }
    for file in files.iter().filter(|file| !apart.contains(&file.id())) {
        earliest = earliest.min(file.earliest_put()?);
    }
    Ok(earliest)
}
