//! The lock that serializes changes to tables and namespaces.

use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

use crate::engine::Engine;
use crate::observer::Noted;

/// The lock for changes. Observers are notified about a change after it is released.
pub(super) struct ChangeLock {
    lock: Mutex<()>,
    engine: Arc<Engine>,
}

/// Prevents changes to tables while it lives.
pub(crate) struct Changing<'a> {
    guard: Option<MutexGuard<'a, ()>>,
    engine: &'a Engine,
}

impl ChangeLock {
    pub(super) fn new(engine: Arc<Engine>) -> Self {
        Self { lock: Mutex::default(), engine }
    }

    pub(super) fn lock(&self) -> Changing<'_> {
        Changing { guard: Some(self.lock.lock()), engine: &self.engine }
    }
}

impl Drop for Changing<'_> {
    fn drop(&mut self) {
        let noted = self.engine.observers.take_noted();
        drop(self.guard.take());
        noted.iter().for_each(Noted::notify);
    }
}
