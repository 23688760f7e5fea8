//! A region server's worker threads.

use std::sync::Arc;

use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinError;

use crate::limits::{READERS_MIN, READERS_PER_PROCESSOR, WORKERS_MAX};

/// A region server's worker threads. At most [`WORKERS_MAX`] calls run at once, and of the calls
/// that read much only a few for each processor, so that others are not slowed down; the rest waits
/// in arrival order, one call at a time for each connection. Threads start on demand and end when
/// idle.
pub(crate) struct Workers {
    threads: Arc<Semaphore>,
    readers: Arc<Semaphore>,
}

impl Default for Workers {
    fn default() -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let readers = (processors * READERS_PER_PROCESSOR).max(READERS_MIN);
        Self {
            threads: Arc::new(Semaphore::new(WORKERS_MAX)),
            readers: Arc::new(Semaphore::new(readers)),
        }
    }
}

/// The right to use a thread.
pub(crate) struct Permits {
    _thread: OwnedSemaphorePermit,
    _reader: Option<OwnedSemaphorePermit>,
}

/// The invariant for semaphores that are never closed.
const OPEN: &str = "an open semaphore";

impl Workers {
    /// Waits for a thread for a call, which may read much. One call on a connection waits at a
    /// time: it holds `turn` meanwhile, so that a connection with many calls delays others only by
    /// that one.
    pub(crate) async fn admit(&self, is_reader: bool, turn: &Mutex<()>) -> Permits {
        if let Some(permits) = self.try_admit(is_reader) {
            return permits;
        }
        let _turn = turn.lock().await;
        let reader = if is_reader {
            Some(Arc::clone(&self.readers).acquire_owned().await.expect(OPEN))
        } else {
            None
        };
        let thread = Arc::clone(&self.threads).acquire_owned().await.expect(OPEN);
        Permits { _thread: thread, _reader: reader }
    }

    fn try_admit(&self, is_reader: bool) -> Option<Permits> {
        let reader = if is_reader {
            Some(Arc::clone(&self.readers).try_acquire_owned().ok()?)
        } else {
            None
        };
        let thread = Arc::clone(&self.threads).try_acquire_owned().ok()?;
        Some(Permits { _thread: thread, _reader: reader })
    }
}

impl Permits {
    /// Runs part of a call on a thread.
    ///
    /// # Errors
    /// The panic in which the call ended.
    pub(crate) async fn run<T: Send + 'static>(
        self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, JoinError> {
        let ran = tokio::task::spawn_blocking(move || {
            let done = work();
            drop(self);
            done
        });
        ran.await
    }
}
