//! Limits how often failed authentications are logged.

use std::time::{Duration, Instant};

/// The interval in which [`LINES_MAX`] lines are logged.
const INTERVAL: Duration = Duration::from_secs(1);
const LINES_MAX: u32 = 10;

/// Decides which failures are logged, so that they do not fill the disk.
#[derive(Debug, Default)]
pub(crate) struct FailureLog {
    since: Option<Instant>,
    lines: u32,
    omitted: u64,
}

impl FailureLog {
    /// Returns how many failures were omitted before this one; `None` if this one is omitted.
    pub(crate) fn admit(&mut self, now: Instant) -> Option<u64> {
        if self.since.is_none_or(|since| now.saturating_duration_since(since) >= INTERVAL) {
            self.since = Some(now);
            self.lines = 0;
        }
        if self.lines == LINES_MAX {
            self.omitted += 1;
            return None;
        }
        self.lines += 1;
        Some(std::mem::take(&mut self.omitted))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_limited_and_omitted_failures_are_counted() {
        let mut log = FailureLog::default();
        let begin = Instant::now();
        let admitted = (0..50).filter(|_| log.admit(begin) == Some(0)).count();
        assert_eq!(admitted, LINES_MAX as usize);
        assert_eq!(log.admit(begin + INTERVAL), Some(40));
        assert_eq!(log.admit(begin + INTERVAL), Some(0));
    }
}
