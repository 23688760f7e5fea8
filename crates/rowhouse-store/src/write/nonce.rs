//! Increments and appends that were taken, so that one that a client sends again counts once.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rowhouse_model::Nonce;

/// After so long, or so many, the older half is forgotten. A client gives up before: HBase's stock
/// client repeats a call for twenty minutes at most, with ever longer pauses.
const HALF_LIFE: Duration = Duration::from_secs(20 * 60);
const HALF_LEN_MAX: usize = 1_000_000;

/// Nonces of increments and appends, remembered for [`HALF_LIFE`] at least unless [`HALF_LEN_MAX`]
/// others come in between.
pub(crate) struct Nonces {
    halves: Mutex<Halves>,
}

/// Each with the sequence at which what was taken became visible.
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

    /// The sequence at which the change of this nonce was taken, if it was. The caller holds its row
    /// locked, so that no other is between asking and taking it.
    pub(crate) fn taken_at(&self, nonce: Nonce) -> Option<u64> {
        let halves = self.halves.lock();
        halves.newer.get(&nonce).or_else(|| halves.older.get(&nonce)).copied()
    }

    /// Remembers that the change of this nonce was taken.
    pub(crate) fn take(&self, nonce: Nonce, sequence: u64) {
        let mut halves = self.halves.lock();
        if halves.newer.len() >= HALF_LEN_MAX || halves.turned.elapsed() >= HALF_LIFE {
            halves.older = std::mem::take(&mut halves.newer);
            halves.turned = Instant::now();
        }
        halves.newer.insert(nonce, sequence);
    }
}
