//! Retry decisions, as a pure function, and the waiting between attempts.

use std::time::Duration;

use rowhouse_model::{CellKind, Error, ErrorKind, Mutation, Result};
use tokio::time::{Instant, sleep};
use uuid::Uuid;

use crate::Settings;

/// HBase's waits before the first, second, … retry, as multiples of the pause.
const BACKOFF: [u32; 13] = [1, 2, 3, 5, 10, 20, 40, 100, 100, 100, 100, 200, 200];
/// A wait's random share, so that clients do not retry simultaneously.
const JITTER: f64 = 0.01;

/// Longer timeouts count as unlimited: 30 years.
const FOREVER: Duration = Duration::from_secs(30 * 365 * 24 * 60 * 60);

/// Returns the instant `wait` from now.
pub(crate) fn from_now(wait: Duration) -> Instant {
    Instant::now() + wait.min(FOREVER)
}

/// A failed call.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub(crate) error: Error,
    /// Whether the server may nevertheless have executed the call.
    pub(crate) maybe_done: bool,
}

impl Failure {
    /// Builds the failure for a call that was not sent.
    pub(crate) fn before(error: Error) -> Self {
        Self { error, maybe_done: false }
    }

    /// Builds the failure for a call that was sent, with unknown outcome.
    pub(crate) fn unknown(error: Error) -> Self {
        Self { error, maybe_done: true }
    }

    /// Builds a failure from the server's answer.
    pub(crate) fn answered(error: Error) -> Self {
        use ErrorKind::*;
        let refused = matches!(
            error.kind(),
            WrongRegion | NotServingRegion | RegionTooBusy | ResponseTooLarge | ServerNotRunning
        );
        Self { error, maybe_done: !refused }
    }

    /// Returns true if a retry cannot help.
    pub(crate) fn is_final(&self, settings: &Settings) -> bool {
        let left = Duration::MAX;
        let best = RetryContext { failures: 0, repeatable: true, left, chance: 0.0 };
        decide(self, best, settings) == Verdict::GiveUp
    }

    /// Returns true if the server's or region's cached location may be wrong.
    pub(crate) fn is_misplaced(&self) -> bool {
        use ErrorKind::*;
        matches!(
            self.error.kind(),
            WrongRegion | NotServingRegion | ServerNotRunning | Connection | Timeout
        )
    }
}

/// The decision after a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Return the failure to the caller.
    GiveUp,
    /// Retry after this wait, with a new lookup if the location may be wrong.
    Again(Duration),
}

/// A failure's circumstances.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RetryContext {
    /// Earlier failures in the same operation.
    pub(crate) failures: u32,
    /// Whether the call is idempotent.
    pub(crate) repeatable: bool,
    /// The operation's remaining time.
    pub(crate) left: Duration,
    /// A random number from 0 to 1.
    pub(crate) chance: f64,
}

/// Decides whether to retry after a failure.
pub(crate) fn decide(failure: &Failure, situation: RetryContext, settings: &Settings) -> Verdict {
    use ErrorKind::*;
    if failure.maybe_done && !situation.repeatable {
        return Verdict::GiveUp;
    }
    let wait = match failure.error.kind() {
        // Actions that did not fit into an answer are retried immediately: each answer completes
        // some.
        ResponseTooLarge => Duration::ZERO,
        // A moved region is usually already served elsewhere, and reopening a scanner needs no
        // wait.
        WrongRegion | NotServingRegion | UnknownScanner | ScannerReset | OutOfOrderScanner
            if situation.failures == 0 =>
        {
            Duration::ZERO
        }
        WrongRegion | NotServingRegion | RegionTooBusy | ServerNotRunning | UnknownScanner
        | ScannerReset | OutOfOrderScanner | Connection | Timeout | Io => {
            backoff(settings.retry_pause, situation.failures, situation.chance)
        }
        // Neither a retry nor a new lookup changes these answers. The enum is non-exhaustive: new
        // kinds are not retried until they are added here.
        _ => return Verdict::GiveUp,
    };
    if situation.failures >= settings.retries_max || wait >= situation.left {
        return Verdict::GiveUp;
    }
    Verdict::Again(wait)
}

/// Returns the wait after this number of earlier failures.
pub(crate) fn backoff(pause: Duration, failures: u32, chance: f64) -> Duration {
    let at = (failures as usize).min(BACKOFF.len() - 1);
    pause.saturating_mul(BACKOFF[at]).min(FOREVER).mul_f64(1.0 + JITTER * chance.clamp(0.0, 1.0))
}

/// Returns a random number from 0 to 1.
pub(crate) fn chance() -> f64 {
    f64::from(Uuid::new_v4().as_u128() as u32) / f64::from(u32::MAX)
}

/// One operation's attempts.
pub(crate) struct Attempts<'a> {
    settings: &'a Settings,
    end: Instant,
    failures: u32,
}

impl<'a> Attempts<'a> {
    pub(crate) fn new(settings: &'a Settings) -> Self {
        Self { settings, end: from_now(settings.operation_timeout), failures: 0 }
    }

    /// Returns when the operation's time ends.
    pub(crate) fn end(&self) -> Instant {
        self.end
    }

    /// Returns the deadline for a call that starts now.
    pub(crate) fn deadline(&self) -> Instant {
        self.end.min(from_now(self.settings.call_timeout))
    }

    /// Resets failures and time after progress.
    pub(crate) fn progress(&mut self) {
        *self = Self::new(self.settings);
    }

    /// Resets the time, but not the failures, after an answer without progress.
    pub(crate) fn extend_deadline(&mut self) {
        self.end = from_now(self.settings.operation_timeout);
    }

    /// Decides whether to retry after a failure.
    pub(crate) fn judge(&self, failure: &Failure, repeatable: bool) -> Verdict {
        let situation = RetryContext {
            failures: self.failures,
            repeatable,
            left: self.end.saturating_duration_since(Instant::now()),
            chance: chance(),
        };
        decide(failure, situation, self.settings)
    }

    /// Waits before the next attempt.
    ///
    /// # Errors
    /// The failure, if there is no further attempt.
    pub(crate) async fn wait(&mut self, failure: Failure, repeatable: bool) -> Result<()> {
        match self.judge(&failure, repeatable) {
            Verdict::GiveUp => Err(failure.error),
            Verdict::Again(wait) => {
                tracing::debug!(error = %failure.error, ?wait, failures = self.failures, "again");
                self.sleep(wait).await;
                Ok(())
            }
        }
    }

    /// Counts a failure and waits.
    pub(crate) async fn sleep(&mut self, wait: Duration) {
        self.failures += 1;
        if !wait.is_zero() {
            sleep(wait).await;
        }
    }
}

/// Returns true if a mutation is safe to retry.
pub(crate) fn is_repeatable(mutation: &Mutation) -> bool {
    match mutation {
        Mutation::Put(_) => true,
        // Their nonce makes a retry safe.
        Mutation::Increment(_) | Mutation::Append(_) => true,
        Mutation::Delete(delete) => !delete
            .cells()
            .iter()
            .any(|cell| cell.kind() == CellKind::DeleteVersion && cell.timestamp().is_latest()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: RetryContext = RetryContext {
        failures: 0,
        repeatable: true,
        left: Duration::from_secs(1000),
        chance: 0.0,
    };

    fn failure(kind: ErrorKind, maybe_done: bool) -> Failure {
        Failure { error: Error::new(kind, "m"), maybe_done }
    }

    fn verdict(kind: ErrorKind, situation: RetryContext) -> Verdict {
        decide(&failure(kind, true), situation, &Settings::default())
    }

    fn again(millis: u64) -> Verdict {
        Verdict::Again(Duration::from_millis(millis))
    }

    #[test]
    fn waits_are_hbases() {
        let waits: Vec<_> = (0..14)
            .map(|failures| backoff(Duration::from_millis(100), failures, 0.0).as_millis())
            .collect();
        let expected =
            [100, 200, 300, 500, 1000, 2000, 4000, 10000, 10000, 10000, 10000, 20000, 20000, 20000];
        assert_eq!(waits, expected);
        assert_eq!(backoff(Duration::from_millis(100), 0, 1.0), Duration::from_millis(101));
    }

    #[test]
    fn permanent_errors_are_not_retried() {
        for kind in [
            ErrorKind::TableNotFound,
            ErrorKind::InvalidRequest,
            ErrorKind::NoSuchColumnFamily,
            ErrorKind::Protocol,
            ErrorKind::Unsupported,
        ] {
            assert_eq!(verdict(kind, FIRST), Verdict::GiveUp, "{kind:?}");
        }
    }

    #[test]
    fn moved_region_is_retried_immediately_and_then_after_waits() {
        assert_eq!(verdict(ErrorKind::NotServingRegion, FIRST), again(0));
        let second = RetryContext { failures: 1, ..FIRST };
        assert_eq!(verdict(ErrorKind::NotServingRegion, second), again(200));
        assert_eq!(verdict(ErrorKind::RegionTooBusy, FIRST), again(100));
        assert_eq!(verdict(ErrorKind::Connection, FIRST), again(100));
    }

    #[test]
    fn non_idempotent_call_is_retried_only_if_not_executed() {
        let once = RetryContext { repeatable: false, ..FIRST };
        let settings = Settings::default();
        let timeout = failure(ErrorKind::Timeout, true);
        assert_eq!(decide(&timeout, once, &settings), Verdict::GiveUp);
        let unsent = failure(ErrorKind::Connection, false);
        assert_eq!(decide(&unsent, once, &settings), again(100));
        let busy = Failure::answered(Error::new(ErrorKind::RegionTooBusy, "m"));
        assert_eq!(decide(&busy, once, &settings), again(100));
        let io = Failure::answered(Error::new(ErrorKind::Io, "m"));
        assert_eq!(decide(&io, once, &settings), Verdict::GiveUp);
    }

    #[test]
    fn limits_can_be_as_long_as_can_be() {
        let settings = Settings {
            operation_timeout: Duration::MAX,
            call_timeout: Duration::MAX,
            retry_pause: Duration::MAX,
            ..Settings::default()
        };
        assert!(Attempts::new(&settings).deadline() > Instant::now());
        assert!(backoff(settings.retry_pause, 20, 1.0) > FOREVER);
    }

    #[test]
    fn tries_and_time_come_to_an_end() {
        let last = RetryContext { failures: 15, ..FIRST };
        assert_eq!(verdict(ErrorKind::Connection, last), Verdict::GiveUp);
        let late = RetryContext { left: Duration::from_millis(100), ..FIRST };
        assert_eq!(verdict(ErrorKind::Connection, late), Verdict::GiveUp);
    }
}
