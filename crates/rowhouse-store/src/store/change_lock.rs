//! The lock that serializes changes to tables and namespaces.

use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

use crate::observer::Noted;
use crate::side_effects::SideEffects;

/// The lock for changes. Observers are notified about a change after it is released.
pub(super) struct ChangeLock {
    lock: Mutex<()>,
    effects: Arc<SideEffects>,
}

/// Prevents changes to tables while it lives.
pub(crate) struct Changing<'a> {
    guard: Option<MutexGuard<'a, ()>>,
    effects: &'a SideEffects,
}

impl ChangeLock {
    pub(super) fn new(effects: Arc<SideEffects>) -> Self {
        Self { lock: Mutex::default(), effects }
    }

    pub(super) fn lock(&self) -> Changing<'_> {
        Changing { guard: Some(self.lock.lock()), effects: &self.effects }
    }
}

impl Drop for Changing<'_> {
    fn drop(&mut self) {
        let noted = self.effects.observers.take_noted();
        drop(self.guard.take());
        noted.iter().for_each(Noted::notify);
    }
}
