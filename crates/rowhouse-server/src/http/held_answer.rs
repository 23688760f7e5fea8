//! Ends connections whose clients do not take an answer while calls wait for memory.

use std::sync::Arc;

use tokio::sync::Notify;
use tokio::task::AbortHandle;

use crate::limits::WEB_WRITE_WAIT;
use crate::memory::CallMemory;

/// A request's connection.
#[derive(Clone, Default)]
pub(crate) struct Connection {
    pub(crate) ended: Arc<Notify>,
}

impl Connection {
    /// Ends the connection if `calls` wait for memory and the answer that is returned with this is
    /// there for longer than [`WEB_WRITE_WAIT`]. In HTTP/2 a client stops an answer by a window of
    /// 0, without a write that waits.
    pub(crate) fn hold_answer(&self, calls: &Arc<CallMemory>) -> HeldAnswer {
        let ended = Arc::clone(&self.ended);
        let calls = Arc::clone(calls);
        let watch = tokio::spawn(async move {
            loop {
                tokio::time::sleep(WEB_WRITE_WAIT).await;
                if calls.waiting() > 0 {
                    return ended.notify_one();
                }
            }
        });
        HeldAnswer(watch.abort_handle())
    }
}

/// Stops watching an answer.
pub(crate) struct HeldAnswer(AbortHandle);

impl Drop for HeldAnswer {
    fn drop(&mut self) {
        self.0.abort();
    }
}
