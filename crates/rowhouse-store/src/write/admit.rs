//! What a write waits for before it begins: room on the disk, in memory, and among the files.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rowhouse_model::{Error, ErrorKind, Result, escape};

use super::wait_mode::{NonBlocking, WaitMode};
use crate::background::Work;
use crate::engine::Engine;
use crate::family::FamilyStore;
use crate::region::Region;
use crate::space::Need;

/// Sees to it that there is room for a write, and waits for it where `wait_mode` allows.
///
/// # Errors
/// `RegionTooBusy` when flushes and merges have not made room in time, or the disk is full;
/// `ServerNotRunning` once the store is closing.
pub(crate) fn admit_with(
    region: &Region,
    need: Need,
    wait_mode: WaitMode,
) -> Result<NonBlocking<()>> {
    let engine = region.engine();
    engine.check_open()?;
    engine.space.check(&*engine.disk, need)?;
    if wait_mode == WaitMode::Blocking {
        wait_for_memory(engine)?;
        for family in region.families() {
            if let Some(ahead) = ahead(family) {
                std::thread::sleep(ahead);
            }
            wait_for_files(region, family)?;
        }
        return Ok(NonBlocking::Done(()));
    }
    let is_held =
        |family: &Arc<FamilyStore>| ahead(family).is_some() || family.holds_writers(engine);
    // Whoever has the gate to itself has every commit wait, for a sync perhaps.
    let would_wait = engine.freeze_latch.is_locked_exclusive()
        || is_memory_full(engine)
        || region.families().iter().any(is_held);
    Ok(if would_wait { NonBlocking::WouldBlock } else { NonBlocking::Done(()) })
}

/// The same, as long as it takes.
pub(crate) fn admit(region: &Region, need: Need) -> Result<()> {
    admit_with(region, need, WaitMode::Blocking).map(NonBlocking::done)
}

fn is_memory_full(engine: &Engine) -> bool {
    engine.memory.bytes() >= engine.settings.memstore_bytes_max
}

fn wait_for_memory(engine: &Engine) -> Result<()> {
    if !is_memory_full(engine) {
        return Ok(());
    }
    // Also when an earlier flush failed: the disk may have room again.
    engine.queue.push(Work::RelieveMemory);
    if engine.memory.wait_below(engine.settings.memstore_bytes_max, engine.settings.busy_wait) {
        return Ok(());
    }
    Err(Error::new(
        ErrorKind::RegionTooBusy,
        format!(
            "memstores are full: bytes={}, max={}",
            engine.memory.bytes(),
            engine.settings.memstore_bytes_max
        ),
    ))
}

/// Waits until a full memstore of the family does not have to wait for files to be merged.
fn wait_for_files(region: &Region, family: &FamilyStore) -> Result<()> {
    let engine = region.engine();
    if !family.holds_writers(engine) {
        return Ok(());
    }
    // In case the flush has been put off for long enough.
    family.request_flush(engine);
    let ready = || !family.holds_writers(engine) || engine.check_open().is_err();
    if !engine.memory.wait_until(ready, engine.settings.busy_wait) {
        return Err(Error::new(
            ErrorKind::RegionTooBusy,
            format!(
                "too many files to write another before some are merged: region={}, \
                 family={}, files={}, max={}",
                region.shown(),
                escape(family.name()),
                family.read_amplification(),
                family.policy().files_blocking
            ),
        ));
    }
    engine.check_open()
}

/// How fast a memstore may be filled, in bytes a second, one file before writers are held. Two before that it is
/// four times as fast, and so on by the square.
const SLOW_BYTES_PER_SECOND: f64 = (32 << 20) as f64;

/// What a writer has to be ahead by before it waits: shorter waits would meet more of the writes. And what it waits
/// at most: there may be fewer files by then.
const AHEAD_MIN: Duration = Duration::from_millis(10);
const AHEAD_MAX: Duration = Duration::from_millis(100);

/// How long a write waits so that, where merges lag behind, the memstore of the family is filled more slowly: many
/// writes that wait a little are better than one that waits until a merge has ended.
fn ahead(family: &FamilyStore) -> Option<Duration> {
    let rate = fill_rate(family.read_amplification(), family.policy().files_blocking)?;
    let memstore = family.active();
    let due = memstore.begun() + Duration::from_secs_f64(memstore.bytes() as f64 / rate);
    let ahead = due.saturating_duration_since(Instant::now());
    (ahead >= AHEAD_MIN).then(|| ahead.min(AHEAD_MAX))
}

/// Bytes a second that may be written to a memstore beside so many files; `None` for no limit: that is up to
/// three quarters of the files that hold writers.
fn fill_rate(files: usize, files_blocking: usize) -> Option<f64> {
    let free = files_blocking - files_blocking / 4;
    if files < free || files_blocking == usize::MAX {
        return None;
    }
    let share = (files + 1 - free) as f64 / (files_blocking - free).max(1) as f64;
    Some(SLOW_BYTES_PER_SECOND / (share * share))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writers_are_slowed_by_the_square_over_the_last_quarter_of_the_files_that_hold_them() {
        let mib = |files| fill_rate(files, 16).map(|rate| (rate / f64::from(1 << 20)) as u64);
        assert_eq!([0, 11].map(mib), [None, None]);
        assert_eq!([12, 13, 14, 15].map(mib), [512, 128, 56, 32].map(Some));
        // Where a flush came in although writers were held.
        assert_eq!(mib(17), Some(14));
        assert_eq!(fill_rate(1000, usize::MAX), None);
        // With hardly any there is no slow way to where writers are held.
        assert_eq!(fill_rate(2, 3), None);
    }
}
