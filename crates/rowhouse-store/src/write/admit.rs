//! Admission of writes: waits for disk space, memory and compactions before a write begins.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rowhouse_model::{Error, ErrorKind, Result, escape};

use crate::background::Work;
use crate::engine::Engine;
use crate::family::FamilyStore;
use crate::region::Region;
use crate::space::Need;
use crate::wait_mode::{NonBlocking, WaitMode};

/// Checks that there is room for a write, and waits for it if `wait_mode` allows.
///
/// # Errors
/// `RegionTooBusy` if flushes and compactions have not made room in time, or the disk is full;
/// `ServerNotRunning` once the store is closing.
pub(crate) fn admit(region: &Region, need: Need, wait_mode: WaitMode) -> Result<NonBlocking<()>> {
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
        |family: &Arc<FamilyStore>| ahead(family).is_some() || holds_writers(engine, family);
    // A thread that holds the latch exclusively makes every commit wait, possibly for a log sync.
    let would_wait = engine.freeze_latch.is_locked_exclusive()
        || is_memory_full(engine)
        || region.families().iter().any(is_held);
    Ok(if would_wait { NonBlocking::WouldBlock } else { NonBlocking::Done(()) })
}

fn is_memory_full(engine: &Engine) -> bool {
    engine.memory.bytes() >= engine.settings.memstore_bytes_max
}

fn wait_for_memory(engine: &Engine) -> Result<()> {
    if !is_memory_full(engine) {
        return Ok(());
    }
    // Also after a failed flush: the disk may have space again.
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

fn holds_writers(engine: &Engine, family: &FamilyStore) -> bool {
    family.holds_writers(engine.settings.memstore_flush_bytes)
}

/// Waits until the family has few enough files that the full memstore can be flushed.
fn wait_for_files(region: &Region, family: &FamilyStore) -> Result<()> {
    let engine = region.engine();
    if !holds_writers(engine, family) {
        return Ok(());
    }
    // The flush may have been postponed for long enough.
    family.request_flush(&engine.queue);
    let ready = || !holds_writers(engine, family) || engine.check_open().is_err();
    if !engine.memory.wait_until(ready, engine.settings.busy_wait) {
        return Err(Error::new(
            ErrorKind::RegionTooBusy,
            format!(
                "too many files, a compaction must end first: region={}, family={}, files={}, \
                 max={}",
                region.display_name(),
                escape(family.name()),
                family.read_amplification(),
                family.policy().files_blocking
            ),
        ));
    }
    engine.check_open()
}

/// Maximum fill rate of a memstore, in bytes per second, one file before writers are held. Two
/// files before that it is four times as high, and so on by the square.
const SLOW_BYTES_PER_SECOND: f64 = (32 << 20) as f64;

/// Minimum delay for a writer: shorter waits would affect more writes. And the maximum: there may
/// be fewer files afterwards.
const AHEAD_MIN: Duration = Duration::from_millis(10);
const AHEAD_MAX: Duration = Duration::from_millis(100);

/// Returns how long a write waits so that the family's memstore fills more slowly when compactions
/// lag. Many short waits are better than one that lasts until a compaction ends.
fn ahead(family: &FamilyStore) -> Option<Duration> {
    let rate = fill_rate(family.read_amplification(), family.policy().files_blocking)?;
    let memstore = family.active();
    let due = memstore.started() + Duration::from_secs_f64(memstore.bytes() as f64 / rate);
    let ahead = due.saturating_duration_since(Instant::now());
    (ahead >= AHEAD_MIN).then(|| ahead.min(AHEAD_MAX))
}

/// Returns the permitted fill rate of a memstore, in bytes per second; `None` for no limit, up to
/// three quarters of the files at which writers are held.
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
        // A flush added files although writers were held.
        assert_eq!(mib(17), Some(14));
        assert_eq!(fill_rate(1000, usize::MAX), None);
        // With so few files there is no range in which writers are slowed.
        assert_eq!(fill_rate(2, 3), None);
    }
}
