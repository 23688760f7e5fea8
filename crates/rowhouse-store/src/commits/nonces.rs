//! Nonces from accepted increments and appends, so that a client's retry is applied once.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rowhouse_model::Nonce;

/// Age, or nonce count, after which the older half is dropped. Clients give up earlier: HBase's
/// stock client retries a call for at most twenty minutes, with growing pauses.
const HALF_LIFE: Duration = Duration::from_secs(20 * 60);
const HALF_LEN_MAX: usize = 1_000_000;

/// Remembers the nonces from increments and appends for at least [`HALF_LIFE`], unless
/// [`HALF_LEN_MAX`] others come in between.
pub(crate) struct Nonces {
    halves: Mutex<Halves>,
}

/// Nonces with the sequence at which their mutation became visible.
struct Halves {
    newer: HashMap<Nonce, u64>,
    older: HashMap<Nonce, u64>,
    turned: Instant,
}

impl Nonces {
    pub(crate) fn new() -> Self {
        let halves =
            Halves { newer: HashMap::new(), older: HashMap::new(), turned: Instant::now() };
        Self { halves: Mutex::new(halves) }
    }

    /// Returns the sequence at which the mutation with this nonce was accepted, if it was. The
    /// caller holds the row lock, so that no other call comes between this check and
    /// [`Nonces::take`].
    pub(crate) fn taken_at(&self, nonce: Nonce) -> Option<u64> {
        let halves = self.halves.lock();
        halves.newer.get(&nonce).or_else(|| halves.older.get(&nonce)).copied()
    }

    /// Remembers that the mutation with this nonce was accepted.
    pub(crate) fn take(&self, nonce: Nonce, sequence: u64) {
        let mut halves = self.halves.lock();
        if halves.newer.len() >= HALF_LEN_MAX || halves.turned.elapsed() >= HALF_LIFE {
            halves.older = std::mem::take(&mut halves.newer);
            halves.turned = Instant::now();
        }
        halves.newer.insert(nonce, sequence);
    }
}
