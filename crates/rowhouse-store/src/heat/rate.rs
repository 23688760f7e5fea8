//! How many requests are recorded.

/// The maximum number of requests recorded in a window: 4,000 per second.
const RECORDS_MAX: u32 = 400;
const WINDOW_MILLIS: i64 = 100;
/// The highest power of two for which a recorded request counts.
const SAMPLING_MAX: u32 = 30;

/// Follows the request rate, so that some thousand per second are recorded at most.
#[derive(Debug, Default)]
pub(super) struct Rate {
    start_millis: i64,
    /// Since the window began.
    records: u32,
}

impl Rate {
    /// Counts a recorded request. Returns the power of two for which the next recorded request
    /// counts, given the power for this one.
    pub(super) fn next(&mut self, sampling: u32, now_millis: i64) -> u32 {
        self.records += 1;
        let age = now_millis.saturating_sub(self.start_millis);
        let is_over = !(0..WINDOW_MILLIS).contains(&age);
        if !is_over && self.records < RECORDS_MAX {
            return sampling;
        }
        let records = std::mem::take(&mut self.records);
        self.start_millis = now_millis;
        if !is_over {
            return (sampling + 1).min(SAMPLING_MAX);
        }
        // A slower rate is followed only once less than half the records would do.
        let windows = (age.max(WINDOW_MILLIS) / WINDOW_MILLIS) as u64;
        let requests = (u64::from(records) << sampling) / windows;
        let fits = |sampling: &u32| requests >> sampling < u64::from(RECORDS_MAX) / 2;
        (0..sampling).find(fits).unwrap_or(sampling)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Records requests at a given rate for two seconds; returns how many were recorded in the last
    /// one, and the last power of two.
    fn run(rate: &mut Rate, mut sampling: u32, per_second: u64, from_millis: i64) -> (u64, u32) {
        let mut recorded = 0;
        let mut skipped = 0u64;
        for request in 0..2 * per_second {
            skipped += 1;
            if skipped < 1 << sampling {
                continue;
            }
            skipped = 0;
            recorded += u64::from(request >= per_second);
            sampling = rate.next(sampling, from_millis + (request * 1000 / per_second) as i64);
        }
        (recorded, sampling)
    }

    #[test]
    fn some_thousand_requests_are_recorded_per_second_at_any_rate() {
        let mut rate = Rate::default();
        let (recorded, sampling) = run(&mut rate, 0, 1_000_000, 0);
        assert!((900..=4000).contains(&recorded), "{recorded}");
        assert!((8..=10).contains(&sampling), "{sampling}");
        let (recorded, _) = run(&mut rate, sampling, 10_000_000, 2000);
        assert!((900..=4000).contains(&recorded), "{recorded}");
    }

    #[test]
    fn every_request_is_recorded_again_once_there_are_few() {
        let mut rate = Rate::default();
        let (recorded, sampling) = run(&mut rate, 0, 1000, 0);
        assert_eq!((recorded, sampling), (1000, 0));
        let (_, sampling) = run(&mut rate, sampling, 1_000_000, 2000);
        assert!(sampling > 0);
        assert_eq!(rate.next(sampling, 60_000), 0);
    }
}
