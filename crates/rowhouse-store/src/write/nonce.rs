//! Increments that were taken, so that one that a client sends again counts once.

use std::collections::HashSet;
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rowhouse_model::Nonce;

/// After so long, or so many, the older half is forgotten. A client gives up before: HBase's stock
/// client repeats a call for twenty minutes at most, with ever longer pauses.
const HALF_LIFE: Duration = Duration::from_secs(20 * 60);
const HALF_LEN_MAX: usize = 1_000_000;

/// Nonces of increments, remembered for [`HALF_LIFE`] at least unless [`HALF_LEN_MAX`] others come
/// in between.
pub(crate) struct Nonces {
    halves: Mutex<Halves>,
}

struct Halves {
    newer: HashSet<Nonce>,
    older: HashSet<Nonce>,
    turned: Instant,
}

impl Nonces {
    pub(crate) fn new() -> Self {
        let halves =
            Halves { newer: HashSet::new(), older: HashSet::new(), turned: Instant::now() };
        Self { halves: Mutex::new(halves) }
    }

    /// Whether the increment of this nonce was taken. The caller holds its row locked, so that
    /// no other is between asking and taking it.
    pub(crate) fn is_taken(&self, nonce: Nonce) -> bool {
        let halves = self.halves.lock();
        halves.newer.contains(&nonce) || halves.older.contains(&nonce)
    }

    /// Remembers that the increment of this nonce was taken.
    pub(crate) fn take(&self, nonce: Nonce) {
        let mut halves = self.halves.lock();
        if halves.newer.len() >= HALF_LEN_MAX || halves.turned.elapsed() >= HALF_LIFE {
            halves.older = std::mem::take(&mut halves.newer);
            halves.turned = Instant::now();
        }
        halves.newer.insert(nonce);
    }
}
