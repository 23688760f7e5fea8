//! Work that may take longer than a task should, on tokio's threads for blocking work.

use std::cell::Cell;

use tokio::runtime::Handle;
use tokio::task::{JoinError, spawn_blocking};

thread_local! {
    /// Whether the code on this thread does blocking work.
    static IS_BLOCKING: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work` on a blocking thread: on this one, if it is one already.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    if is_blocking() { work() } else { finished(spawn_blocking(work).await) }
}

/// Returns true if this thread does blocking work, within [`block_on`].
pub(crate) fn is_blocking() -> bool {
    IS_BLOCKING.get()
}

/// Runs a future until it ends on this blocking thread, with all blocking work in it. So it waits
/// for no other blocking thread: all threads may run such futures.
pub(crate) fn block_on<T>(future: impl Future<Output = T>) -> T {
    struct Before(bool);
    impl Drop for Before {
        fn drop(&mut self) {
            IS_BLOCKING.set(self.0);
        }
    }
    let _before = Before(IS_BLOCKING.replace(true));
    Handle::current().block_on(future)
}

/// Returns what blocking work returned; a panic in it resumes in the caller.
fn finished<T>(joined: Result<T, JoinError>) -> T {
    match joined.map_err(JoinError::try_into_panic) {
        Ok(done) => done,
        Err(Ok(panic)) => std::panic::resume_unwind(panic),
        Err(Err(_)) => unreachable!("blocking work is never cancelled once it has been started"),
    }
}
