//! Limits the rate at which compactions write.

use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rowhouse_model::Result;

use super::Candidates;
use crate::compaction_policy::Policy;

/// Time between two checks while waiting.
const WAIT_SLICE: Duration = Duration::from_millis(50);

/// Time between two rate adjustments.
const TUNE_PERIOD: Duration = Duration::from_secs(1);

/// The rate limiter shared by all background compactions.
#[derive(Default)]
pub(crate) struct Pace {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Bytes per second; `None` for no limit.
    rate: Option<u64>,
    tuned: Option<Instant>,
    /// When all bytes requested so far will have been written at this rate.
    free: Option<Instant>,
}

impl Pace {
    /// Waits until `bytes` more may be written.
    ///
    /// # Errors
    /// The error from `check`, which is called every 50 ms.
    pub(crate) fn wait_for(
        &self,
        candidates: &Candidates<'_>,
        bytes: u64,
        check: impl Fn() -> Result<()>,
    ) -> Result<()> {
        let begin = self.reserve(candidates, bytes, Instant::now());
        loop {
            check()?;
            let left = begin.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(());
            }
            std::thread::sleep(left.min(WAIT_SLICE));
        }
    }

    /// Returns when writing `bytes` may begin.
    fn reserve(&self, candidates: &Candidates<'_>, bytes: u64, now: Instant) -> Instant {
        let mut state = self.state.lock();
        if state.tuned.is_none_or(|tuned| now.duration_since(tuned) >= TUNE_PERIOD) {
            state.tuned = Some(now);
            state.rate =
                rate(candidates.settings.compaction.bytes_per_second, pressure(candidates));
        }
        let begin = state.free.map_or(now, |free| free.max(now));
        let took = state.rate.map_or(0.0, |rate| bytes as f64 / rate as f64);
        state.free = Some(begin + Duration::from_secs_f64(took));
        begin
    }
}

/// Returns the highest pressure on any family: how close the files are to blocking writers, from 0
/// to 1.
fn pressure(candidates: &Candidates<'_>) -> f64 {
    let families = candidates.families.read();
    let pressures =
        families.values().map(|family| pressure_of(family.read_amplification(), family.policy()));
    pressures.fold(0.0, f64::max)
}

/// HBase's measure: 0 up to the minimum file count for a compaction, 1 where writers wait.
fn pressure_of(files: usize, policy: &Policy) -> f64 {
    if files >= policy.files_blocking {
        return 1.0;
    }
    let above = files.saturating_sub(policy.files_min);
    above as f64 / (policy.files_blocking.saturating_sub(policy.files_min)).max(1) as f64
}

/// Returns the limit in bytes per second under a pressure: once to twice the setting, and none from
/// half the way to where writers wait. HBase's `PressureAwareCompactionThroughputController` uses
/// the whole way, but then a lagging compaction is still slow when writers begin to wait for it:
/// they were seen to stall for seconds.
fn rate(limit: Option<u64>, pressure: f64) -> Option<u64> {
    let limit = limit.filter(|_| pressure < 0.5)?;
    Some(((limit as f64 * (1.0 + 2.0 * pressure)) as u64).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Settings;

    #[test]
    fn pace_doubles_half_the_way_to_where_writers_wait_and_is_free_from_there() {
        let policy = Policy::new(&Settings::default());
        let rate_at = |files| rate(Some(100), pressure_of(files, &policy));
        assert_eq!([0, 3, 6, 9].map(rate_at), [Some(100), Some(100), Some(146), Some(192)]);
        assert_eq!([10, 16, 40].map(rate_at), [None, None, None]);
        assert_eq!(rate(None, 0.0), None);
        assert_eq!(rate(Some(0), 0.0), Some(1));
        let never_merged = Policy { files_min: usize::MAX, ..policy };
        assert_eq!(pressure_of(15, &never_merged), 0.0);
    }
}
