//! One moment of the whole store, held.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rowhouse_model::{Bytes, Error, ErrorKind, Result};

use crate::engine::Engine;
use crate::family::{FamilyStore, Parts};

/// A moment to read at: every read at it sees the mutations that were visible when it was taken,
/// over all tables, and none that came later. It holds the files and memstores there were, so merges
/// neither wait for it nor take anything from it; what they free becomes free with it.
/// [`Settings::scan_age_max`] is how long it may be used.
///
/// [`Settings::scan_age_max`]: crate::Settings::scan_age_max
pub struct ReadPoint {
    sequence: u64,
    parts: HashMap<(u64, Bytes), Arc<Parts>>,
    taken: Instant,
    age_max: Duration,
}

impl ReadPoint {
    pub(crate) fn take(engine: &Engine) -> Self {
        let families = engine.families.read();
        let (sequence, parts) = loop {
            let sequence = engine.mvcc.visible();
            let held = families
                .iter()
                .map(|(key, family)| Some((key.clone(), family.parts_at(sequence)?)))
                .collect::<Option<HashMap<_, _>>>();
            if let Some(parts) = held {
                break (sequence, parts);
            }
        };
        Self { sequence, parts, taken: Instant::now(), age_max: engine.settings.scan_age_max }
    }

    /// The sequence number of the last mutation it sees.
    pub fn sequence(&self) -> u64 {
        self.sequence
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
    /// The read point is too old, or older than the table.
    pub(super) fn parts(&self, family: &FamilyStore) -> Result<Option<Arc<Parts>>> {
        match self {
            Self::Sequence(sequence) => Ok(family.parts_at(*sequence)),
            Self::Point(point) => {
                point.check_age()?;
                let key = (family.region_id(), family.name().clone());
                let parts = point.parts.get(&key).map(Arc::clone);
                let younger =
                    || Error::invalid("the table was made after the read point was taken");
                parts.ok_or_else(younger).map(Some)
            }
        }
    }
}
