//! Read points: snapshots that cover the whole store.

use std::any::Any;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use arc_swap::Guard;
use parking_lot::RwLock;
use rowhouse_model::{Bytes, Error, ErrorKind, Result};

use super::ReadContext;
use super::family::Query;
use super::pending::Pending;
use super::trace::ReadTrace;
use crate::family::{Families, FamilyStore, SuperVersion};
use crate::memstore::Memstore;
use crate::reader_memory::{MemoryHolder, Over, Registered};
use crate::retention::Retention;

/// A read point over all tables: every read at it sees the mutations that were visible when it was
/// taken and no later ones. It holds the memstores and files from that time, so compactions neither
/// wait for it nor take anything from it; the disk space for files they replace is freed when the
/// read point is dropped. [`Settings::scan_age_max`] limits how long it may be used. A family that
/// was added to a table since has no cells at it.
///
/// When readers hold too much memory ([`Settings::reader_memstore_bytes_max`]), it continues in the
/// files that replace flushed memstores. From then on it refuses reads that could see cells that a
/// flush drops: raw reads, reads with an upper time bound, and reads from a family whose
/// declaration has changed or that was dropped.
///
/// [`Settings::scan_age_max`]: crate::Settings::scan_age_max
/// [`Settings::reader_memstore_bytes_max`]: crate::Settings::reader_memstore_bytes_max
#[derive(Clone)]
pub struct ReadPoint {
    held: Arc<Registered<HeldFamilies>>,
    /// Memstores that only this point reads.
    own: HashMap<FamilyKey, Arc<Memstore>>,
    /// The catalog at that time; keeps replaced regions alive until the last read point is dropped.
    _served: Arc<dyn Any + Send + Sync>,
    taken: Instant,
    age_max: Duration,
    trace: Option<Arc<ReadTrace>>,
}

/// Region id and family name.
type FamilyKey = (u64, Bytes);

struct HeldFamilies {
    sequence: u64,
    families: RwLock<BTreeMap<FamilyKey, HeldFamily>>,
    /// Set when a read finds a table that is newer.
    missed_table: AtomicBool,
}

struct HeldFamily {
    super_version: Arc<SuperVersion>,
    /// The retention under which flushes dropped cells from memstores that files have replaced.
    dropped_by: Vec<Retention>,
    /// Set once it has dropped memstores that it needed.
    ended: Option<Over>,
}

impl ReadPoint {
    /// Takes a read point at `sequence` over `families`; returns `None` if a family can no longer
    /// be read there. Keeps `served` alive. The caller holds the freeze latch for reading: it
    /// excludes freezing, so that a memstore flush knows this point.
    pub(crate) fn at(
        context: &ReadContext<'_>,
        families: &Families,
        served: Arc<dyn Any + Send + Sync>,
        sequence: u64,
    ) -> Option<Self> {
        let families = families.iter();
        let families = families
            .map(|(key, family)| {
                let super_version = Guard::into_inner(family.super_version_at(sequence)?);
                // A flush that has begun does not know this point. It may drop cells visible at
                // sequences below its last sequence.
                let is_known =
                    super_version.frozen.iter().all(|frozen| frozen.last_sequence() <= sequence);
                is_known.then_some(())?;
                Some((
                    key.clone(),
                    HeldFamily { super_version, dropped_by: Vec::new(), ended: None },
                ))
            })
            .collect::<Option<_>>()?;
        let families = RwLock::new(families);
        let missed_table = AtomicBool::new(false);
        let held = HeldFamilies { sequence, families, missed_table };
        Some(Self {
            held: Arc::new(context.reader_memory.register(sequence, held)),
            own: HashMap::new(),
            _served: served,
            taken: Instant::now(),
            age_max: context.age_max,
            trace: None,
        })
    }

    /// Adds a private memstore to this read point's super version of a family.
    pub(crate) fn add_memstore(&mut self, family: &FamilyStore) -> Arc<Memstore> {
        Arc::clone(self.own.entry(key_of(family)).or_default())
    }

    /// Returns this read point's super version of a family without checking the age, for a copy of
    /// all cells.
    ///
    /// # Errors
    /// The family is newer, or a flush has dropped cells that a raw read may see.
    pub(crate) fn super_version_of(&self, family: &FamilyStore) -> Result<Arc<SuperVersion>> {
        self.find(family, |_| false)
    }

    /// Returns the same read point, at which reads add to a trace. They are slower, and keep the
    /// memstores with which they began.
    #[must_use]
    pub fn traced(&self, trace: &Arc<ReadTrace>) -> Self {
        Self { trace: Some(Arc::clone(trace)), ..self.clone() }
    }

    /// Returns the trace to which reads add, if there is one.
    pub(crate) fn trace(&self) -> Option<&Arc<ReadTrace>> {
        self.trace.as_ref()
    }

    /// Returns the sequence number of the last mutation that this read point sees.
    pub fn sequence(&self) -> u64 {
        self.held.sequence
    }

    /// Whether a read at this point has failed because the table was created later, or the table's
    /// rows were replaced as a whole.
    pub(crate) fn has_missed_table(&self) -> bool {
        self.held.missed_table.load(Ordering::Relaxed)
    }

    /// True if any family in a region existed when the read point was taken.
    pub(crate) fn has_seen(&self, families: &[Arc<FamilyStore>]) -> bool {
        let held = self.held.families.read();
        families.iter().any(|family| held.contains_key(&key_of(family)))
    }

    /// Returns this read point's super version of a family. `sees_nothing` returns true if the read
    /// sees no cell that a flush dropped under a retention.
    fn find(
        &self,
        family: &FamilyStore,
        sees_nothing: impl Fn(&Retention) -> bool,
    ) -> Result<Arc<SuperVersion>> {
        let key = key_of(family);
        let super_version = {
            let held = self.held.families.read();
            match held.get(&key) {
                Some(family) => {
                    family.check(sees_nothing)?;
                    Arc::clone(&family.super_version)
                }
                None if holds_region(&held, family.region_id()) => Arc::new(SuperVersion::empty()),
                None => {
                    self.held.missed_table.store(true, Ordering::Relaxed);
                    return Err(Error::invalid("the table was created after the read point"));
                }
            }
        };
        let Some(own) = self.own.get(&key) else { return Ok(super_version) };
        let mut super_version = SuperVersion::clone(&super_version);
        super_version.frozen.push(Arc::clone(own));
        Ok(Arc::new(super_version))
    }

    fn check_age(&self) -> Result<()> {
        let age = self.taken.elapsed();
        if age <= self.age_max {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::UnknownScanner,
            format!("the read point is too old: age={age:?}, max={:?}", self.age_max),
        ))
    }
}

impl HeldFamily {
    /// Refuses a read that may see cells that are no longer held.
    fn check(&self, sees_nothing: impl Fn(&Retention) -> bool) -> Result<()> {
        if let Some(over) = self.ended {
            return Err(over.error(ErrorKind::UnknownScanner, "the read point"));
        }
        if self.dropped_by.iter().all(sees_nothing) {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::UnknownScanner,
            "the read point has released memstores to free memory, and their files lack cells that this read may see",
        ))
    }

    /// Replaces flushed memstores by their files where these show the same cells at `sequence`.
    fn follow_flushes(&mut self, sequence: u64) {
        if !memstores_of(&self.super_version).any(|memstore| memstore.held_bytes() > 0) {
            return;
        }
        let mut files = self.super_version.files.clone();
        let mut left = Vec::new();
        for memstore in memstores_of(&self.super_version) {
            // The memstore was empty when the read point was taken.
            if memstore.first_sequence().is_none_or(|first| first > sequence) {
                continue;
            }
            match memstore.flushed() {
                Some(flushed) if flushed.readable_from <= sequence => {
                    if flushed.readable_from > 0 && !self.dropped_by.contains(&flushed.retention) {
                        self.dropped_by.push(flushed.retention);
                    }
                    // Several memstores may be in one file.
                    if let Some(file) = &flushed.file
                        && !files.iter().any(|have| Arc::ptr_eq(have, file))
                    {
                        files.push(Arc::clone(file));
                    }
                }
                _ => left.push(Arc::clone(memstore)),
            }
        }
        let readable_from = self.super_version.readable_from;
        let super_version =
            SuperVersion { active: Arc::default(), frozen: left, files, readable_from };
        self.super_version = Arc::new(super_version);
    }

    /// Drops all memstores if only readers hold any, and refuses later reads.
    fn end(&mut self, over: Over) {
        if memstores_of(&self.super_version).all(|memstore| memstore.held_bytes() == 0) {
            return;
        }
        self.super_version = Arc::new(SuperVersion::empty());
        self.ended = Some(over);
    }
}

impl MemoryHolder for HeldFamilies {
    fn release_memory(&self, over: Option<Over>) {
        for family in self.families.write().values_mut() {
            family.follow_flushes(self.sequence);
            if let Some(over) = over {
                family.end(over);
            }
        }
    }
}

/// Whether any family in a region is held: one that is not was added later.
fn holds_region(held: &BTreeMap<FamilyKey, HeldFamily>, region: u64) -> bool {
    let next = held.range((region, Bytes::new())..).next();
    next.is_some_and(|((next, _), _)| *next == region)
}

fn memstores_of(super_version: &SuperVersion) -> impl Iterator<Item = &Arc<Memstore>> {
    super_version.frozen.iter().chain([&super_version.active])
}

fn key_of(family: &FamilyStore) -> FamilyKey {
    (family.region_id(), family.name().clone())
}

/// The read point for one read.
#[derive(Clone, Copy)]
pub(crate) enum ReadAt<'a> {
    /// The current super version, up to this sequence.
    Sequence(u64),
    Point(&'a ReadPoint),
    /// The current super version with the cells of a commit that is being prepared.
    Pending(&'a Pending),
}

impl<'a> ReadAt<'a> {
    /// Returns `point`, or the current read point.
    pub(super) fn of(context: &ReadContext<'_>, point: Option<&'a ReadPoint>) -> Self {
        point.map_or_else(|| Self::Sequence(context.mvcc.visible()), Self::Point)
    }

    pub(super) fn sequence(&self) -> u64 {
        match self {
            Self::Sequence(sequence) => *sequence,
            Self::Point(point) => point.sequence(),
            Self::Pending(_) => Pending::SEQUENCE,
        }
    }

    /// Returns the trace to which reads add, if there is one.
    #[inline]
    pub(super) fn trace(&self) -> Option<&'a Arc<ReadTrace>> {
        match self {
            Self::Point(point) => point.trace(),
            Self::Sequence(_) | Self::Pending(_) => None,
        }
    }

    /// Returns a family's super version; `None` if the sequence is no longer readable.
    ///
    /// # Errors
    /// The read point is too old, older than the table, or has released memstores with cells that
    /// the read may see; the region is no longer served.
    pub(super) fn super_version(
        &self,
        family: &FamilyStore,
        query: &Query<'_>,
    ) -> Result<Option<Guard<Arc<SuperVersion>>>> {
        match self {
            Self::Sequence(sequence) => super_version_at(family, *sequence),
            Self::Point(point) => {
                point.check_age()?;
                let sees_nothing =
                    |dropped_by: &Retention| query.sees_nothing_dropped(family, dropped_by);
                point.find(family, sees_nothing).map(Guard::from_inner).map(Some)
            }
            Self::Pending(pending) => super_version_with(family, pending),
        }
    }
}

/// What there is to read from a family at a sequence; `None` when that is too old by now.
///
/// # Errors
/// The region is not served any more.
pub(super) fn super_version_at(
    family: &FamilyStore,
    sequence: u64,
) -> Result<Option<Guard<Arc<SuperVersion>>>> {
    match family.super_version_at(sequence) {
        None if family.is_dropped() => Err(Error::new(
            ErrorKind::NotServingRegion,
            "other regions have replaced the region meanwhile",
        )),
        super_version => Ok(super_version),
    }
}

/// Returns the current super version with the cells of a commit that is being prepared. Apart from
/// the other reads, which are hot.
#[cold]
fn super_version_with(
    family: &FamilyStore,
    pending: &Pending,
) -> Result<Option<Guard<Arc<SuperVersion>>>> {
    let current = super_version_at(family, Pending::SEQUENCE)?;
    Ok(current.map(|current| {
        let mut super_version = SuperVersion::clone(&current);
        pending.add_to(family, &mut super_version);
        Guard::from_inner(Arc::new(super_version))
    }))
}
