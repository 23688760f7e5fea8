//! Read points: snapshots of the whole store.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use arc_swap::Guard;
use rowhouse_model::{Bytes, Error, ErrorKind, Result};

use crate::catalog::{Catalog, Entries};
use crate::engine::Engine;
use crate::family::{FamilyStore, SuperVersion};
use crate::memstore::Memstore;
use crate::region::Region;

/// A read point over all tables: every read at it sees the mutations that were visible when it was
/// taken and no later ones. It holds the memstores and files of that time, so compactions neither
/// wait for it nor take anything from it; the disk space of files they replace is freed when the
/// read point is dropped. [`Settings::scan_age_max`] limits how long it may be used.
///
/// [`Settings::scan_age_max`]: crate::Settings::scan_age_max
#[derive(Clone)]
pub struct ReadPoint {
    sequence: u64,
    super_version: HashMap<(u64, Bytes), Arc<SuperVersion>>,
    /// The catalog at that time; keeps replaced regions alive until the last read point is dropped.
    _served: Arc<Entries>,
    taken: Instant,
    age_max: Duration,
}

impl ReadPoint {
    pub(crate) fn take(engine: &Engine, catalog: &Catalog) -> Self {
        loop {
            if let Some(point) = Self::at(engine, catalog, engine.mvcc.visible()) {
                return point;
            }
        }
    }

    /// Takes a read point at `sequence`; returns `None` if a family can no longer be read there.
    pub(crate) fn at(engine: &Engine, catalog: &Catalog, sequence: u64) -> Option<Self> {
        // Exclude replacement of regions.
        let _latch = engine.freeze_latch.read();
        let served = catalog.entries();
        let families = engine.families.read();
        let super_version = families.iter();
        let super_version = super_version
            .map(|(key, family)| {
                Some((key.clone(), Guard::into_inner(family.super_version_at(sequence)?)))
            })
            .collect::<Option<_>>()?;
        let age_max = engine.settings.scan_age_max;
        Some(Self { sequence, super_version, _served: served, taken: Instant::now(), age_max })
    }

    /// Adds a private memstore to its super version of a family.
    pub(crate) fn add_memstore(&mut self, family: &FamilyStore) -> Arc<Memstore> {
        let memstore = Arc::new(Memstore::default());
        let key = (family.region_id(), family.name().clone());
        if let Some(super_version) = self.super_version.get_mut(&key) {
            Arc::make_mut(super_version).frozen.push(Arc::clone(&memstore));
        }
        memstore
    }

    /// Returns its super version of a family, without checking the age; `None` if the family is
    /// newer.
    pub(crate) fn super_version_of(&self, family: &FamilyStore) -> Option<&Arc<SuperVersion>> {
        self.super_version.get(&(family.region_id(), family.name().clone()))
    }

    /// Returns the sequence number of the last mutation it sees.
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    /// Whether the region existed when the read point was taken.
    pub(crate) fn has_seen(&self, region: &Region) -> bool {
        let mut families = region.families().iter();
        families
            .any(|family| self.super_version.contains_key(&(region.id(), family.name().clone())))
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

/// The read point of one read.
#[derive(Clone, Copy)]
pub(crate) enum ReadAt<'a> {
    /// The current super version, up to this sequence.
    Sequence(u64),
    Point(&'a ReadPoint),
}

impl<'a> ReadAt<'a> {
    /// Returns `point`, or the current read point.
    pub(super) fn of(engine: &Engine, point: Option<&'a ReadPoint>) -> Self {
        point.map_or_else(|| Self::Sequence(engine.mvcc.visible()), Self::Point)
    }

    pub(super) fn sequence(&self) -> u64 {
        match self {
            Self::Sequence(sequence) => *sequence,
            Self::Point(point) => point.sequence,
        }
    }

    /// Returns the super version of a family; `None` if the sequence is no longer readable.
    ///
    /// # Errors
    /// The read point is too old, or older than the table; the region is no longer served.
    pub(super) fn super_version(
        &self,
        family: &FamilyStore,
    ) -> Result<Option<Guard<Arc<SuperVersion>>>> {
        match self {
            Self::Sequence(sequence) => match family.super_version_at(*sequence) {
                None if family.is_dropped() => Err(Error::new(
                    ErrorKind::NotServingRegion,
                    "others came in the place of the region meanwhile",
                )),
                super_version => Ok(super_version),
            },
            Self::Point(point) => {
                point.check_age()?;
                let key = (family.region_id(), family.name().clone());
                let super_version = point.super_version.get(&key).map(Arc::clone);
                let younger =
                    || Error::invalid("the table was made after the read point was taken");
                super_version.map(Guard::from_inner).ok_or_else(younger).map(Some)
            }
        }
    }
}
