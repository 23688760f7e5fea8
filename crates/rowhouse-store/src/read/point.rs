//! One moment of the whole store, held.

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

/// A moment to read at: every read at it sees the mutations that were visible when it was taken,
/// over all tables, and none that came later. It holds the files and memstores there were, so merges
/// neither wait for it nor take anything from it; what they free becomes free with it.
/// [`Settings::scan_age_max`] is how long it may be used.
///
/// [`Settings::scan_age_max`]: crate::Settings::scan_age_max
#[derive(Clone)]
pub struct ReadPoint {
    sequence: u64,
    super_version: HashMap<(u64, Bytes), Arc<SuperVersion>>,
    /// What was served: regions that others come in the place of go with the last point.
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

    /// The moment at which `sequence` was the last, if all families can be read at it.
    pub(crate) fn at(engine: &Engine, catalog: &Catalog, sequence: u64) -> Option<Self> {
        // Not while regions come in the place of others.
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

    /// Adds a memstore of its own to what it sees of a family.
    pub(crate) fn add_memstore(&mut self, family: &FamilyStore) -> Arc<Memstore> {
        let memstore = Arc::new(Memstore::default());
        let key = (family.region_id(), family.name().clone());
        if let Some(super_version) = self.super_version.get_mut(&key) {
            Arc::make_mut(super_version).frozen.push(Arc::clone(&memstore));
        }
        memstore
    }

    /// What it sees of a family, however old it is; none of a family that is younger.
    pub(crate) fn super_version_of(&self, family: &FamilyStore) -> Option<&Arc<SuperVersion>> {
        self.super_version.get(&(family.region_id(), family.name().clone()))
    }

    /// The sequence number of the last mutation it sees.
    pub fn sequence(&self) -> u64 {
        self.sequence
    }

    /// Whether the region was there.
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

/// What a read goes by.
#[derive(Clone, Copy)]
pub(crate) enum At<'a> {
    /// What is visible up to a sequence, of what there is now.
    Sequence(u64),
    Point(&'a ReadPoint),
}

impl<'a> At<'a> {
    /// What is held, or now.
    pub(super) fn of(engine: &Engine, point: Option<&'a ReadPoint>) -> Self {
        point.map_or_else(|| Self::Sequence(engine.mvcc.visible()), Self::Point)
    }

    pub(super) fn sequence(&self) -> u64 {
        match self {
            Self::Sequence(sequence) => *sequence,
            Self::Point(point) => point.sequence,
        }
    }

    /// What there is to read of a family; `None` when the sequence is too old by now.
    ///
    /// # Errors
    /// The read point is too old, or older than the table; the region is not served any more.
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
