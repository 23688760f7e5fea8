//! Ends a merge early.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rowhouse_model::{Error, ErrorKind, Result};

/// Ends a merge early: reads and writes of parts fail from then on. Clones end the same merge.
#[derive(Clone, Default, Debug)]
pub(crate) struct Stop(Arc<AtomicBool>);

impl Stop {
    pub(crate) fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Returns an error if the merge is to end.
    pub(crate) fn check(&self) -> Result<()> {
        if self.is_stopped() {
            let message = "a merge of segments was ended early";
            return Err(Error::new(ErrorKind::ServerNotRunning, message));
        }
        Ok(())
    }
}
